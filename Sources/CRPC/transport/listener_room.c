#include "transport/listener.h"

#include "transport/linger.h"

#include <poll.h>
#include <sys/socket.h>

// A connection is taken while there is room, or one that makes room: the one that has had no call for longest, or else has
// been at its handshake for longest, but neither before CRPC_ROOM_AFTER_MS. Until there is one, new ones wait in the
// kernel. Where file descriptors run out before places do, it is the same.

static void listener_set_accepting(crpc_listener *listener, bool accepting) {
    if (accepting == listener->is_accepting || listener->watch.function == NULL) return;
    if (crpc_watch_set_interest(&listener->watch, accepting ? CRPC_READABLE : 0) == CRPC_OK)
        listener->is_accepting = accepting;
}

static bool listener_has_room(const crpc_listener *listener) {
    return listener->service.connection_count - listener->leaving_count < listener->options.connections_max;
}

static crpc_driver *listener_first_idle(const crpc_link *idle) {
    return crpc_link_is_empty(idle) ? NULL : CRPC_CONTAINER(idle->next, crpc_driver, idle);
}

static crpc_driver *listener_first_shaking(const crpc_listener *listener) {
    return crpc_link_is_empty(&listener->shaking) ? NULL
                                                  : CRPC_CONTAINER(listener->shaking.next, crpc_driver, shaking);
}

/// When a connection may make room for another; never, if there is none.
static uint64_t listener_leaves_ns(const crpc_driver *driver) {
    return driver == NULL ? UINT64_MAX : driver->idle_ns + CRPC_ROOM_AFTER_MS * 1000000ull;
}

void crpc_listener_update_accepting(crpc_listener *listener) {
    if (listener->watch.function == NULL) return;
    uint64_t now = listener->loop->turn.now_ns, due = listener->paused_until_ns;
    if (!listener_has_room(listener)) {
        uint64_t idle = listener_leaves_ns(listener_first_idle(&listener->idle));
        uint64_t shaking = listener_leaves_ns(listener_first_shaking(listener));
        uint64_t leaves = idle < shaking ? idle : shaking;
        if (leaves > due) due = leaves;
    }
    // The socket stays readable: without a pause this would spin, which is still better than to stop for ever where there
    // is no memory for the timer.
    bool waits = due > now && (due == UINT64_MAX || crpc_timer_set(&listener->resume, due) == CRPC_OK);
    listener_set_accepting(listener, !waits);
}

// ---- What its connections are at ----

/// A connection's handshake is done, or it has ended.
static void listener_note_handshake(crpc_listener *listener, crpc_driver *driver) {
    if (crpc_link_is_empty(&driver->shaking)) return;
    crpc_link_remove(&driver->shaking);
    listener->shaking_count -= 1;
}

/// It has a call: it makes room for none.
static void listener_note_busy(crpc_driver *driver) {
    crpc_link_remove(&driver->idle);
    crpc_link_remove(&driver->idle_of_address);
}

/// It has no call, or none any more: it is the last that would make room for another one.
static void listener_note_idle(crpc_driver *driver) {
    crpc_listener *listener = driver->listener;
    driver->idle_ns = listener->loop->turn.now_ns;
    crpc_link_append(&listener->idle, &driver->idle);
    crpc_link_append(&driver->address->idle, &driver->idle_of_address);
    if (!listener->is_accepting) crpc_listener_update_accepting(listener);
}

static void listener_on_settings(crpc_h2 *h2) {
    crpc_driver *driver = crpc_driver_of_h2(h2);
    listener_note_handshake(driver->listener, driver);
}
static void listener_on_idle(crpc_h2 *h2) { listener_note_idle(crpc_driver_of_h2(h2)); }
static void listener_on_busy(crpc_h2 *h2) { listener_note_busy(crpc_driver_of_h2(h2)); }

const crpc_h2_below crpc_listener_below = {
    .on_settings = listener_on_settings, .on_idle = listener_on_idle, .on_busy = listener_on_busy};

static void listener_on_h1_ready(crpc_h1 *h1) {
    crpc_driver *driver = crpc_driver_of_h1(h1);
    listener_note_handshake(driver->listener, driver);
}
static void listener_on_h1_idle(crpc_h1 *h1) { listener_note_idle(crpc_driver_of_h1(h1)); }
static void listener_on_h1_busy(crpc_h1 *h1) { listener_note_busy(crpc_driver_of_h1(h1)); }

const crpc_h1_below crpc_listener_h1_below = {
    .on_ready = listener_on_h1_ready, .on_idle = listener_on_h1_idle, .on_busy = listener_on_h1_busy};

void crpc_listener_keep(crpc_listener *listener, crpc_driver *driver) {
    crpc_link_append(&listener->connections, &driver->link);
    listener->service.connection_count += 1;
    crpc_count(&listener->loop->turn.stats.server_connections_opened, 1);
    if (listener->shaking_count >= listener->options.handshakes_max && !crpc_link_is_empty(&listener->shaking)) {
        crpc_driver *oldest = CRPC_CONTAINER(listener->shaking.next, crpc_driver, shaking);
        listener_note_handshake(listener, oldest);
        crpc_count(&listener->loop->turn.stats.handshakes_dropped, 1);
        oldest->protocol->fail(oldest, CRPC_ERROR_CLOSED);
    }
    driver->idle_ns = listener->loop->turn.now_ns;
    crpc_link_append(&listener->shaking, &driver->shaking);
    listener->shaking_count += 1;
}

void crpc_listener_forget(crpc_listener *listener, crpc_driver *driver) {
    listener_note_handshake(listener, driver);
    listener_note_busy(driver);
    crpc_link_remove(&driver->link);
    if (driver->address != NULL) crpc_addresses_give_back(&listener->addresses, driver->address);
    listener->service.connection_count -= 1;
    if (driver->end.is_leaving) listener->leaving_count -= 1;
    crpc_count(&listener->loop->turn.stats.server_connections_closed, 1);
    crpc_listener_update_accepting(listener);
    bool is_empty = listener->is_draining && listener->service.connection_count == 0 && !listener->loop->turn.is_ending;
    if (is_empty && listener->service.callbacks->on_empty != NULL)
        listener->service.callbacks->on_empty(listener->service.server);
}

// ---- Making room ----

/// Ends a connection so that another one can be taken.
static void listener_send_away(crpc_listener *listener, crpc_driver *driver) {
    driver->end.is_leaving = true;
    listener->leaving_count += 1;
    if (crpc_link_is_empty(&driver->shaking)) {
        listener_note_busy(driver);
        crpc_count(&listener->loop->turn.stats.connections_evicted, 1);
        driver->protocol->make_room(driver);
    } else {
        listener_note_handshake(listener, driver);
        crpc_count(&listener->loop->turn.stats.handshakes_dropped, 1);
        driver->protocol->fail(driver, CRPC_ERROR_CLOSED);
    }
}

/// Sends one away that may be.
static bool listener_send_one_away(crpc_listener *listener, bool lingers) {
    crpc_driver *idle = listener_first_idle(&listener->idle), *shaking = listener_first_shaking(listener);
    uint64_t now = listener->loop->turn.now_ns;
    crpc_driver *leaving = listener_leaves_ns(idle) <= now ? idle : listener_leaves_ns(shaking) <= now ? shaking : NULL;
    if (leaving == NULL) return false;
    leaving->end.is_forced = !lingers;
    listener_send_away(listener, leaving);
    return true;
}

bool crpc_listener_makes_room(crpc_listener *listener) {
    return listener_has_room(listener) || listener_send_one_away(listener, true);
}

bool crpc_listener_frees_file(crpc_listener *listener) {
    struct pollfd waiting = {.fd = listener->fd, .events = POLLIN};
    if (poll(&waiting, 1, 0) <= 0) return false;
    // One that leaves already gives up its file with this turn.
    return listener->leaving_count > 0 || crpc_linger_end_oldest(listener->loop) || listener_send_one_away(listener, false);
}

/// Whether an address may have the connection that was counted last. One that has too many loses its own idle ones first.
static bool listener_may_have_more(crpc_listener *listener, const crpc_address *address) {
    uint32_t most = listener->options.connections_per_address_max;
    if (most == 0 || address->count <= most) return true;
    if (crpc_link_is_empty(&address->idle)) return false;
    crpc_driver *idle = CRPC_CONTAINER(address->idle.next, crpc_driver, idle_of_address);
    if (listener_leaves_ns(idle) > listener->loop->turn.now_ns) return false;
    listener_send_away(listener, idle);
    return true;
}

crpc_address *crpc_listener_take_address(crpc_listener *listener, const struct sockaddr_storage *from) {
    crpc_address *address = crpc_addresses_take(&listener->addresses, from);
    if (address == NULL || listener_may_have_more(listener, address)) return address;
    crpc_count(&listener->loop->turn.stats.connections_refused, 1);
    crpc_addresses_give_back(&listener->addresses, address);
    return NULL;
}

bool crpc_listener_place(crpc_listener *listener, crpc_driver *driver, const struct sockaddr_storage *from) {
    struct sockaddr_storage own = {0};
    socklen_t length = sizeof own;
    if (from == NULL && getpeername(driver->fd, (struct sockaddr *)&own, &length) != 0) return false;
    driver->address = crpc_listener_take_address(listener, from != NULL ? from : &own);
    if (driver->address != NULL && from != NULL) crpc_socket_write_peer(from, driver->peer);
    return driver->address != NULL;
}

bool crpc_listener_can_take(const crpc_listener *listener) {
    uint64_t now = listener->loop->turn.now_ns;
    return listener_has_room(listener) || listener_leaves_ns(listener_first_idle(&listener->idle)) <= now ||
           listener_leaves_ns(listener_first_shaking(listener)) <= now;
}
