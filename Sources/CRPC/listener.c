#include "huffman.h"
#include "internal.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

/// Connections accepted in one turn, so that calls on those there are not held up.
enum { ACCEPTS_PER_TURN_MAX = 64 };
/// How long accepting pauses when file descriptors ran out.
enum { ACCEPT_PAUSE_MS = 100 };

// ---- Paths ----

/// The table's keys are ours, so nobody can aim at it. Eight bytes at a time: one by one, each would wait for the
/// multiplication of the one before.
static size_t hash(const uint8_t *text, size_t length) {
    enum { STEP = 8 };
    const uint64_t factor = 0x9e3779b97f4a7c15u; // 2^64 divided by the golden ratio
    uint64_t value = length, more;
    for (; length >= STEP; text += STEP, length -= STEP) {
        memcpy(&more, text, STEP);
        value = (value ^ more) * factor;
        value ^= value >> 32;
    }
    for (more = 0; length > 0; length--) more = more << 8 | text[length - 1];
    value = (value ^ more) * factor;
    return (size_t)(value ^ value >> 32);
}

int crpc_listener_find(const crpc_listener *listener, const uint8_t *path, size_t length) {
    size_t mask = listener->path_capacity - 1;
    for (size_t i = hash(path, length) & mask;; i = (i + 1) & mask) {
        const struct crpc_path *entry = &listener->paths[i];
        if (entry->text == NULL) return -1;
        if (entry->length == length && memcmp(entry->text, path, length) == 0) return (int)entry->index;
    }
}

static int add_paths(crpc_listener *listener, const char *const *paths, uint32_t count) {
    size_t capacity = 16;
    while (capacity < (size_t)count * 2 + 1) capacity *= 2; // never more than half full
    listener->paths = calloc(capacity, sizeof *listener->paths);
    if (listener->paths == NULL) return CRPC_ERROR_MEMORY;
    listener->path_capacity = capacity;
    for (uint32_t index = 0; index < count; index++) {
        size_t length = strlen(paths[index]);
        size_t i = hash((const uint8_t *)paths[index], length) & (capacity - 1);
        while (listener->paths[i].text != NULL) i = (i + 1) & (capacity - 1);
        listener->paths[i].text = strdup(paths[index]);
        if (listener->paths[i].text == NULL) return CRPC_ERROR_MEMORY;
        listener->paths[i].length = length;
        listener->paths[i].index = index;
    }
    return CRPC_OK;
}

// ---- Accepting ----

// A connection is taken while there is room, or one that makes room: the one that has had no call for longest, or else has
// been at its handshake for longest, but neither before CRPC_ROOM_AFTER_MS. Until there is one, new ones wait in the
// kernel.

static void set_accepting(crpc_listener *listener, bool accepting) {
    if (accepting == listener->is_accepting || listener->watch == NULL) return;
    if (crpc_watch_set_interest(listener->watch, accepting ? CRPC_READABLE : 0) == CRPC_OK)
        listener->is_accepting = accepting;
}

static bool has_room(const crpc_listener *listener) {
    return listener->connection_count - listener->leaving_count < listener->options.connections_max;
}

static crpc_connection *first_idle(const crpc_link *idle) {
    return crpc_link_is_empty(idle) ? NULL : CRPC_CONTAINER(idle->next, crpc_connection, idle);
}

static crpc_connection *first_shaking(const crpc_listener *listener) {
    return crpc_link_is_empty(&listener->shaking) ? NULL
                                                  : CRPC_CONTAINER(listener->shaking.next, crpc_connection, shaking);
}

/// When a connection may make room for another; never, if there is none.
static uint64_t leaves_ns(const crpc_connection *connection) {
    return connection == NULL ? UINT64_MAX : connection->idle_ns + CRPC_ROOM_AFTER_MS * 1000000ull;
}

/// Sees to it that connections are accepted when they can be taken.
static void update_accepting(crpc_listener *listener) {
    if (listener->watch == NULL) return;
    uint64_t now = listener->loop->now_ns, due = listener->paused_until_ns;
    if (!has_room(listener)) {
        uint64_t idle = leaves_ns(first_idle(&listener->idle)), shaking = leaves_ns(first_shaking(listener));
        uint64_t leaves = idle < shaking ? idle : shaking;
        if (leaves > due) due = leaves;
    }
    // The socket stays readable: without a pause this would spin, which is still better than to stop for ever where there
    // is no memory for the timer.
    bool waits = due > now && (due == UINT64_MAX || crpc_timer_set(listener->resume, due) == CRPC_OK);
    set_accepting(listener, !waits);
}

static void resume_accepting(void *context) { update_accepting(context); }

/// Ends a connection so that another one can be taken.
static void send_away(crpc_listener *listener, crpc_connection *connection) {
    connection->is_leaving = true;
    listener->leaving_count += 1;
    if (crpc_link_is_empty(&connection->shaking)) {
        crpc_listener_note_busy(connection);
        crpc_count(&listener->loop->stats.connections_evicted, 1);
        crpc_connection_make_room(connection);
    } else {
        crpc_listener_note_handshake(listener, connection);
        crpc_count(&listener->loop->stats.handshakes_dropped, 1);
        crpc_connection_break(connection, CRPC_ERROR_CLOSED);
    }
}

/// Whether another connection can be taken, for which one is sent away if need be.
static bool makes_room(crpc_listener *listener) {
    if (has_room(listener)) return true;
    crpc_connection *idle = first_idle(&listener->idle), *shaking = first_shaking(listener);
    uint64_t now = listener->loop->now_ns;
    crpc_connection *leaving = leaves_ns(idle) <= now ? idle : leaves_ns(shaking) <= now ? shaking : NULL;
    if (leaving != NULL) send_away(listener, leaving);
    return leaving != NULL;
}

/// Whether an address may have the connection that was counted last. One that has too many loses its own idle ones first.
static bool may_have_more(crpc_listener *listener, const crpc_address *address) {
    uint32_t most = listener->options.connections_per_address_max;
    if (most == 0 || address->count <= most) return true;
    if (crpc_link_is_empty(&address->idle)) return false;
    crpc_connection *idle = CRPC_CONTAINER(address->idle.next, crpc_connection, idle_of_address);
    if (leaves_ns(idle) > listener->loop->now_ns) return false;
    send_away(listener, idle);
    return true;
}

/// Makes a connection of an accepted socket, or closes it.
static void take_in(crpc_listener *listener, int fd, const struct sockaddr_storage *from) {
    crpc_address *address = crpc_addresses_take(&listener->addresses, from);
    bool may_come = address != NULL && may_have_more(listener, address);
    if (address != NULL && !may_come) crpc_count(&listener->loop->stats.connections_refused, 1);
    if (!may_come || !makes_room(listener)) {
        if (address != NULL) crpc_addresses_give_back(&listener->addresses, address);
        (void)close(fd);
        return;
    }
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)crpc_connection_accept(listener, fd, from, address);
}

/// Whether another connection could be taken now.
static bool can_take(const crpc_listener *listener) {
    uint64_t now = listener->loop->now_ns;
    return has_room(listener) || leaves_ns(first_idle(&listener->idle)) <= now || leaves_ns(first_shaking(listener)) <= now;
}

/// Accepts what waits, at most so many. Whether none waits any more.
static bool accept_at_most(crpc_listener *listener, int most) {
    for (int i = 0; i < most && can_take(listener); i++) {
        struct sockaddr_storage from = {0};
        socklen_t length = sizeof from;
        int fd = accept4(listener->fd, (struct sockaddr *)&from, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            take_in(listener, fd, &from);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            listener->paused_until_ns = listener->loop->now_ns + ACCEPT_PAUSE_MS * 1000000ull;
            return false;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return true;
        }
    }
    return false;
}

static void accept_some(void *context, int ready) {
    (void)ready;
    crpc_listener *listener = context;
    (void)accept_at_most(listener, ACCEPTS_PER_TURN_MAX);
    update_accepting(listener);
}

void crpc_listener_note_idle(crpc_listener *listener, crpc_connection *connection) {
    connection->idle_ns = listener->loop->now_ns;
    crpc_link_append(&listener->idle, &connection->idle);
    crpc_link_append(&connection->address->idle, &connection->idle_of_address);
    if (!listener->is_accepting) update_accepting(listener);
}

void crpc_listener_keep(crpc_listener *listener, crpc_connection *connection) {
    crpc_link_append(&listener->connections, &connection->link);
    listener->connection_count += 1;
    crpc_count(&listener->loop->stats.server_connections_opened, 1);
    if (listener->shaking_count >= listener->options.handshakes_max && !crpc_link_is_empty(&listener->shaking)) {
        crpc_connection *oldest = CRPC_CONTAINER(listener->shaking.next, crpc_connection, shaking);
        crpc_listener_note_handshake(listener, oldest);
        crpc_count(&listener->loop->stats.handshakes_dropped, 1);
        crpc_connection_break(oldest, CRPC_ERROR_CLOSED);
    }
    connection->idle_ns = listener->loop->now_ns;
    crpc_link_append(&listener->shaking, &connection->shaking);
    listener->shaking_count += 1;
}

void crpc_listener_note_handshake(crpc_listener *listener, crpc_connection *connection) {
    if (crpc_link_is_empty(&connection->shaking)) return;
    crpc_link_remove(&connection->shaking);
    listener->shaking_count -= 1;
}

void crpc_listener_forget(crpc_listener *listener, crpc_connection *connection) {
    crpc_listener_note_handshake(listener, connection);
    crpc_listener_note_busy(connection);
    crpc_link_remove(&connection->link);
    crpc_addresses_give_back(&listener->addresses, connection->address);
    listener->connection_count -= 1;
    if (connection->is_leaving) listener->leaving_count -= 1;
    crpc_count(&listener->loop->stats.server_connections_closed, 1);
    update_accepting(listener);
    bool is_empty = listener->is_draining && listener->connection_count == 0 && !listener->loop->is_ending;
    if (is_empty && listener->callbacks->on_empty != NULL) listener->callbacks->on_empty(listener->server);
}

static void stop_accepting(crpc_listener *listener) {
    listener->is_draining = true;
    listener->is_accepting = false;
    if (listener->resume != NULL) crpc_timer_cancel(listener->resume);
    crpc_watch_free(listener->watch);
    listener->watch = NULL;
    if (listener->fd >= 0) (void)close(listener->fd);
    listener->fd = -1;
}

static void destroy(crpc_listener *listener) {
    stop_accepting(listener);
    crpc_link_remove(&listener->link);
    while (!crpc_link_is_empty(&listener->connections)) {
        crpc_connection *connection = CRPC_CONTAINER(listener->connections.next, crpc_connection, link);
        connection->is_forced = true;
        crpc_connection_destroy(connection);
    }
    crpc_handlers_orphan(listener);
    crpc_addresses_end(&listener->addresses);
    crpc_timer_free(listener->resume);
    crpc_tls_free(listener->options.tls);
    for (size_t i = 0; i < listener->path_capacity; i++) free(listener->paths[i].text);
    free(listener->paths);
    free(listener);
}

int crpc_listener_new(
    crpc_loop *loop, const crpc_listener_options *options, const char *const *paths, uint32_t path_count,
    const crpc_server_callbacks *callbacks, void *server, crpc_listener **result) {
    if (path_count > CRPC_METHODS_MAX) return CRPC_ERROR_ARGUMENT;
    crpc_huffman_prepare();
    crpc_listener *listener = calloc(1, sizeof *listener);
    if (listener == NULL) return CRPC_ERROR_MEMORY;
    listener->loop = loop;
    listener->options = *options;
    listener->options.address = NULL; // not used past this function
    if (options->held_bytes_max == 0) listener->options.held_bytes_max = UINT64_MAX;
    listener->callbacks = callbacks;
    listener->server = server;
    listener->fd = -1;
    crpc_link_init(&listener->connections);
    crpc_link_init(&listener->shaking);
    crpc_link_init(&listener->idle);
    crpc_link_init(&listener->handlers);
    crpc_link_append(&loop->listeners, &listener->link);
    listener->options.tls = crpc_tls_retain(options->tls);
    int error = options->tls != NULL && listener->options.tls == NULL ? CRPC_ERROR_MEMORY : CRPC_OK;
    if (error == CRPC_OK) error = crpc_addresses_begin(&listener->addresses, options->connections_max);
    if (error == CRPC_OK) error = add_paths(listener, paths, path_count);
    if (error == CRPC_OK) error = crpc_timer_new(loop, resume_accepting, listener, &listener->resume);
    if (error == CRPC_OK)
        error = crpc_socket_listen(
            options->address, options->port, options->shared_port, options->joins_port, &listener->fd, &listener->port);
    if (error == CRPC_OK)
        error = crpc_watch_new(loop, listener->fd, CRPC_READABLE, accept_some, listener, &listener->watch);
    if (error != CRPC_OK) {
        int saved = errno;
        destroy(listener);
        errno = saved;
        return error;
    }
    listener->is_accepting = true;
    *result = listener;
    return CRPC_OK;
}

uint16_t crpc_listener_port(const crpc_listener *listener) { return listener->port; }
uint32_t crpc_listener_connection_count(const crpc_listener *listener) { return listener->connection_count; }

void crpc_listener_set_tls(crpc_listener *listener, crpc_tls *tls) {
    crpc_tls *copy = crpc_tls_retain(tls);
    if (copy == NULL) return; // the old rules stay
    crpc_tls_free(listener->options.tls);
    listener->options.tls = copy;
}

void crpc_listener_drain(crpc_listener *listener) {
    // Who is in the kernel's queue would be reset: it thinks that it is connected, and may have sent a request.
    if (!listener->is_draining) (void)accept_at_most(listener, CRPC_BACKLOG_MAX);
    stop_accepting(listener);
    for (crpc_link *link = listener->connections.next; link != &listener->connections; link = link->next)
        crpc_connection_drain(CRPC_CONTAINER(link, crpc_connection, link));
}

void crpc_listener_free(crpc_listener *listener) {
    if (listener->loop->callback_depth > 0) crpc_die("a listener is freed inside a callback of a connection");
    destroy(listener);
}
