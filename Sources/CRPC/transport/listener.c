#include "transport/listener.h"

#include "transport/linger.h"
#include "transport/proxy_header.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// Connections accepted in one turn, so that calls on those there are not held up.
enum { ACCEPTS_PER_TURN_MAX = 64 };
/// How long accepting pauses when file descriptors, or the kernel's memory, ran out and nothing could be given up.
enum { ACCEPT_PAUSE_MS = 100 };

// ---- Accepting ----

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

/// Sees to it that connections are accepted when they can be taken.
static void listener_update_accepting(crpc_listener *listener) {
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

static void listener_resume_accepting(void *context) { listener_update_accepting(context); }

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
    if (!listener->is_accepting) listener_update_accepting(listener);
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

/// Whether another connection can be taken, for which one is sent away if need be.
static bool listener_makes_room(crpc_listener *listener) {
    return listener_has_room(listener) || listener_send_one_away(listener, true);
}

/// Gives up a file for a connection that waits, if one does and there is one: a socket that lingers, at once, or a connection with
/// the end of this turn. Where accept says that there are no files, it has not looked whether anybody waits.
static bool listener_frees_file(crpc_listener *listener) {
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

/// Counts a connection from an address, if that may have it. NULL if not, or without memory.
static crpc_address *listener_take_address(crpc_listener *listener, const struct sockaddr_storage *from) {
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
    driver->address = listener_take_address(listener, from != NULL ? from : &own);
    if (driver->address != NULL && from != NULL) crpc_socket_write_peer(from, driver->peer);
    return driver->address != NULL;
}

/// Makes a connection of an accepted socket, or closes it.
static void listener_take_in(crpc_listener *listener, int fd, const struct sockaddr_storage *from) {
    bool is_proxy = crpc_proxy_networks_have(listener->proxies, listener->options.proxy_count, from);
    crpc_address *address = is_proxy ? NULL : listener_take_address(listener, from);
    bool may_come = is_proxy || address != NULL;
    if (!may_come || !listener_makes_room(listener)) {
        if (address != NULL) crpc_addresses_give_back(&listener->addresses, address);
        (void)close(fd);
        return;
    }
    crpc_socket_set_nodelay(fd);
    if (crpc_driver_accept(listener, fd, from, address) != CRPC_OK && address != NULL)
        crpc_addresses_give_back(&listener->addresses, address);
}

/// Whether another connection could be taken now.
static bool listener_can_take(const crpc_listener *listener) {
    uint64_t now = listener->loop->turn.now_ns;
    return listener_has_room(listener) || listener_leaves_ns(listener_first_idle(&listener->idle)) <= now ||
           listener_leaves_ns(listener_first_shaking(listener)) <= now;
}

/// Accepts what waits, at most so many. Whether none waits any more.
static bool listener_accept_at_most(crpc_listener *listener, int most) {
    for (int i = 0; i < most && listener_can_take(listener); i++) {
        struct sockaddr_storage from = {0};
        socklen_t length = sizeof from;
        int fd = accept4(listener->fd, (struct sockaddr *)&from, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            listener_take_in(listener, fd, &from);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            bool is_out_of_files = errno == EMFILE || errno == ENFILE;
            if (!is_out_of_files || !listener_frees_file(listener))
                listener->paused_until_ns = listener->loop->turn.now_ns + ACCEPT_PAUSE_MS * 1000000ull;
            return false;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return true;
        }
    }
    return false;
}

static void listener_accept_some(void *context, int ready) {
    (void)ready;
    crpc_listener *listener = context;
    (void)listener_accept_at_most(listener, ACCEPTS_PER_TURN_MAX);
    listener_update_accepting(listener);
}

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
    listener_update_accepting(listener);
    bool is_empty = listener->is_draining && listener->service.connection_count == 0 && !listener->loop->turn.is_ending;
    if (is_empty && listener->service.callbacks->on_empty != NULL)
        listener->service.callbacks->on_empty(listener->service.server);
}

static void listener_stop_accepting(crpc_listener *listener) {
    listener->is_draining = true;
    listener->is_accepting = false;
    crpc_timer_cancel(&listener->resume);
    crpc_watch_end(&listener->watch);
    if (listener->fd >= 0) (void)close(listener->fd);
    listener->fd = -1;
}

static void listener_destroy(crpc_listener *listener) {
    listener_stop_accepting(listener);
    crpc_link_remove(&listener->resident.link);
    while (!crpc_link_is_empty(&listener->connections)) {
        crpc_driver *driver = CRPC_CONTAINER(listener->connections.next, crpc_driver, link);
        driver->end.is_forced = true;
        crpc_driver_end(driver);
    }
    crpc_service_end(&listener->service);
    crpc_addresses_end(&listener->addresses);
    free(listener->proxies);
    crpc_tls_free(listener->options.tls);
    free(listener);
}

static void listener_end_with_loop(crpc_resident *resident) {
    listener_destroy(CRPC_CONTAINER(resident, crpc_listener, resident));
}

/// Makes what it needs and listens. On errors what was made is left to the caller.
static int listener_begin(crpc_listener *listener, crpc_tls *tls) {
    crpc_loop *loop = listener->loop;
    const crpc_listener_options *options = &listener->options;
    listener->options.tls = crpc_tls_retain(tls);
    int error = tls != NULL && listener->options.tls == NULL ? CRPC_ERROR_MEMORY : CRPC_OK;
    if (error == CRPC_OK && options->checks_names)
        error = crpc_names_begin(&listener->service.names, options->names, options->name_count);
    if (error == CRPC_OK && options->proxy_count > 0) {
        listener->proxies = calloc(options->proxy_count, sizeof *listener->proxies);
        if (listener->proxies == NULL) return CRPC_ERROR_MEMORY;
        memcpy(listener->proxies, options->proxies, options->proxy_count * sizeof *listener->proxies);
    }
    if (error == CRPC_OK) error = crpc_addresses_begin(&listener->addresses, options->connections_max);
    if (error == CRPC_OK)
        error = crpc_socket_listen(
            options->address, options->port, options->shared_port, options->joins_port, &listener->fd, &listener->port);
    if (error == CRPC_OK)
        error = crpc_watch_begin(&listener->watch, loop, listener->fd, CRPC_READABLE, listener_accept_some, listener);
    return error;
}

int crpc_listener_new(
    crpc_loop *loop, const crpc_listener_options *options, const char *const *paths, uint32_t path_count,
    const crpc_server_callbacks *callbacks, void *server, crpc_listener **result) {
    if (path_count > CRPC_METHODS_MAX) return CRPC_ERROR_ARGUMENT;
    crpc_listener *listener = calloc(1, sizeof *listener);
    if (listener == NULL) return CRPC_ERROR_MEMORY;
    listener->loop = loop;
    listener->options = *options;
    listener->fd = -1;
    crpc_link_init(&listener->connections);
    crpc_link_init(&listener->shaking);
    crpc_link_init(&listener->idle);
    crpc_timer_init(&listener->resume, &loop->timers, listener_resume_accepting, listener);
    listener->resident.end = listener_end_with_loop;
    crpc_link_init(&listener->resident.link);
    crpc_link_append(&loop->turn.residents, &listener->resident.link);
    int error = crpc_service_begin(&listener->service, &loop->turn, paths, path_count, callbacks, server);
    listener->service.calls_max = options->calls_max;
    if (options->held_bytes_max != 0) listener->service.held_bytes_max = options->held_bytes_max;
    listener->service.calls = options->calls;
    listener->options.tls = NULL; // until there is a reference
    if (error == CRPC_OK) error = listener_begin(listener, options->tls);
    listener->options.address = NULL; // the caller's, as are these
    listener->options.names = NULL;
    listener->options.proxies = NULL;
    if (error != CRPC_OK) {
        int saved = errno;
        listener_destroy(listener);
        errno = saved;
        return error;
    }
    listener->is_accepting = true;
    *result = listener;
    return CRPC_OK;
}

uint16_t crpc_listener_port(const crpc_listener *listener) { return listener->port; }
uint32_t crpc_listener_connection_count(const crpc_listener *listener) { return listener->service.connection_count; }

void crpc_listener_set_tls(crpc_listener *listener, crpc_tls *tls) {
    crpc_tls *copy = crpc_tls_retain(tls);
    if (copy == NULL) return; // the old rules stay
    crpc_tls_free(listener->options.tls);
    listener->options.tls = copy;
}

void crpc_listener_drain(crpc_listener *listener) {
    // Who is in the kernel's queue would be reset: it thinks that it is connected, and may have sent a request.
    if (!listener->is_draining) (void)listener_accept_at_most(listener, CRPC_BACKLOG_MAX);
    listener_stop_accepting(listener);
    for (crpc_link *link = listener->connections.next; link != &listener->connections; link = link->next) {
        crpc_driver *driver = CRPC_CONTAINER(link, crpc_driver, link);
        driver->protocol->drain(driver);
    }
}

void crpc_listener_free(crpc_listener *listener) {
    if (listener->loop->turn.callback_depth > 0) crpc_die("a listener is freed inside a callback of a connection");
    listener_destroy(listener);
}
