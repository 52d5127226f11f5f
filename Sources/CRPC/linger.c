#include "internal.h"

#include <sys/socket.h>
#include <unistd.h>

// A socket that is closed while bytes of the peer are unread is reset, and the peer may lose what we said last: why it
// was dismissed, or the end of an answer. So the sending half is closed, and the rest read and dropped for a while.
// The reading goes past TLS: nobody decrypts what nobody reads.

typedef struct lingering {
    crpc_loop *loop;
    crpc_link link; // in loop->lingering
    crpc_watch *watch;
    crpc_timer *timer;
    int fd;
    size_t dropped_bytes;
} lingering;

static void end(void *context) {
    lingering *socket = context;
    crpc_link_remove(&socket->link);
    socket->loop->lingering_count -= 1;
    crpc_watch_free(socket->watch);
    crpc_timer_free(socket->timer);
    (void)close(socket->fd);
    free(socket);
}

static void drop(void *context, int ready) {
    (void)ready;
    lingering *socket = context;
    ssize_t count = recv(socket->fd, socket->loop->read_buffer, CRPC_READ_BUFFER, MSG_DONTWAIT);
    if (count > 0) socket->dropped_bytes += (size_t)count;
    // An error that only says "not now" comes with no readiness, so that any is the end.
    if (count <= 0 || socket->dropped_bytes > CRPC_LINGER_BYTES_MAX) end(socket);
}

void crpc_linger(crpc_loop *loop, int fd) {
    lingering *socket = NULL;
    if (loop->lingering_count < CRPC_LINGERING_MAX && shutdown(fd, SHUT_WR) == 0)
        socket = calloc(1, sizeof *socket);
    if (socket == NULL) {
        (void)close(fd);
        return;
    }
    socket->loop = loop;
    socket->fd = fd;
    crpc_link_append(&loop->lingering, &socket->link);
    loop->lingering_count += 1;
    bool ok = crpc_timer_new(loop, end, socket, &socket->timer) == CRPC_OK &&
              crpc_timer_set(socket->timer, loop->now_ns + CRPC_LINGER_MS * 1000000ull) == CRPC_OK &&
              crpc_watch_new(loop, fd, CRPC_READABLE, drop, socket, &socket->watch) == CRPC_OK;
    if (!ok) end(socket); // then it is closed at once
}

void crpc_linger_end_all(crpc_loop *loop) {
    while (!crpc_link_is_empty(&loop->lingering)) end(CRPC_CONTAINER(loop->lingering.next, lingering, link));
}
