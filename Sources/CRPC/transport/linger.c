#include "transport/linger.h"

#include "crpc_connect.h"
#include "loop/loop.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct lingering {
    crpc_loop *loop;
    crpc_resident resident;
    crpc_link link; // in the loop's, the oldest first
    crpc_watch watch;
    crpc_timer timer;
    int fd;
    crpc_network network; // of the peer
    size_t dropped_bytes, bytes_max;
} lingering;

static void linger_end(lingering *socket) {
    crpc_link_remove(&socket->resident.link);
    crpc_link_remove(&socket->link);
    socket->loop->lingering_count -= 1;
    crpc_watch_end(&socket->watch);
    crpc_timer_cancel(&socket->timer);
    (void)close(socket->fd);
    free(socket);
}

static void linger_on_timer(void *context) { linger_end(context); }

static void linger_end_with_loop(crpc_resident *resident) { linger_end(CRPC_CONTAINER(resident, lingering, resident)); }

static void linger_drop(void *context, int ready) {
    (void)ready;
    lingering *socket = context;
    ssize_t count = recv(socket->fd, socket->loop->read_buffer, CRPC_READ_BUFFER, MSG_DONTWAIT);
    if (count > 0) socket->dropped_bytes += (size_t)count;
    // An error that only says "not now" comes with no readiness, so that any is the end.
    if (count <= 0 || socket->dropped_bytes > socket->bytes_max) linger_end(socket);
}

bool crpc_linger_end_oldest(crpc_loop *loop) {
    if (crpc_link_is_empty(&loop->lingering)) return false;
    linger_end(CRPC_CONTAINER(loop->lingering.next, lingering, link));
    return true;
}

/// Ends the oldest of a network's, else the oldest: a client that has many ends its own.
static void linger_make_room(crpc_loop *loop, crpc_network network) {
    for (crpc_link *link = loop->lingering.next; link != &loop->lingering; link = link->next) {
        lingering *socket = CRPC_CONTAINER(link, lingering, link);
        if (socket->network.bits != network.bits || socket->network.is_v4 != network.is_v4) continue;
        linger_end(socket);
        return;
    }
    (void)crpc_linger_end_oldest(loop);
}

void crpc_linger(crpc_loop *loop, int fd, crpc_network network, bool leaves_rest) {
    lingering *socket = NULL;
    if (loop->lingering_count >= CRPC_LINGERING_MAX) linger_make_room(loop, network);
    if (shutdown(fd, SHUT_WR) == 0) socket = calloc(1, sizeof *socket);
    if (socket == NULL) {
        (void)close(fd);
        return;
    }
    socket->loop = loop;
    socket->fd = fd;
    socket->network = network;
    socket->bytes_max = leaves_rest ? CRPC_LINGER_BODY_BYTES_MAX : CRPC_LINGER_BYTES_MAX;
    socket->resident.end = linger_end_with_loop;
    crpc_link_init(&socket->resident.link);
    crpc_link_append(&loop->turn.residents, &socket->resident.link);
    crpc_link_init(&socket->link);
    crpc_link_append(&loop->lingering, &socket->link);
    loop->lingering_count += 1;
    crpc_timer_init(&socket->timer, &loop->timers, linger_on_timer, socket);
    uint32_t ms = leaves_rest ? CRPC_LINGER_BODY_MS : CRPC_LINGER_MS;
    bool ok = crpc_timer_set(&socket->timer, loop->turn.now_ns + crpc_ns_of_ms(ms)) == CRPC_OK &&
              crpc_watch_begin(&socket->watch, loop, fd, CRPC_READABLE, linger_drop, socket) == CRPC_OK;
    if (!ok) linger_end(socket); // then it is closed at once
}
