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

static void set_accepting(crpc_listener *listener, bool accepting) {
    if (accepting == listener->is_accepting || listener->watch == NULL) return;
    if (crpc_watch_set_interest(listener->watch, accepting ? CRPC_READABLE : 0) == CRPC_OK)
        listener->is_accepting = accepting;
}

static bool has_room(const crpc_listener *listener) {
    return !listener->is_draining && listener->connection_count < listener->options.connections_max;
}

static void resume_accepting(void *context) {
    crpc_listener *listener = context;
    if (has_room(listener)) set_accepting(listener, true);
}

static void accept_some(void *context, int ready) {
    (void)ready;
    crpc_listener *listener = context;
    for (int i = 0; i < ACCEPTS_PER_TURN_MAX && has_room(listener); i++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EINTR || errno == ECONNABORTED) continue;
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                // The socket stays readable: without a pause this would spin, which is still better than to stop for
                // ever where there is no memory for the timer.
                uint64_t due_ns = listener->loop->now_ns + ACCEPT_PAUSE_MS * 1000000ull;
                if (crpc_timer_set(listener->resume, due_ns) == CRPC_OK) set_accepting(listener, false);
            }
            break;
        }
        int on = 1;
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        (void)crpc_connection_accept(listener, fd);
    }
    if (!has_room(listener)) set_accepting(listener, false);
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
    crpc_link_remove(&connection->link);
    listener->connection_count -= 1;
    crpc_count(&listener->loop->stats.server_connections_closed, 1);
    if (has_room(listener) && listener->resume->index == SIZE_MAX) set_accepting(listener, true);
    bool is_empty = listener->is_draining && listener->connection_count == 0;
    if (is_empty && listener->callbacks->on_empty != NULL) listener->callbacks->on_empty(listener->server);
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
    listener->callbacks = callbacks;
    listener->server = server;
    listener->fd = -1;
    crpc_link_init(&listener->connections);
    crpc_link_init(&listener->shaking);
    listener->options.tls = crpc_tls_retain(options->tls);
    int error = options->tls != NULL && listener->options.tls == NULL ? CRPC_ERROR_MEMORY : CRPC_OK;
    if (error == CRPC_OK) error = add_paths(listener, paths, path_count);
    if (error == CRPC_OK) error = crpc_timer_new(loop, resume_accepting, listener, &listener->resume);
    if (error == CRPC_OK)
        error = crpc_socket_listen(
            options->address, options->port, options->shared_port, options->joins_port, &listener->fd, &listener->port);
    if (error == CRPC_OK)
        error = crpc_watch_new(loop, listener->fd, CRPC_READABLE, accept_some, listener, &listener->watch);
    if (error != CRPC_OK) {
        int saved = errno;
        crpc_listener_free(listener);
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

static void stop_accepting(crpc_listener *listener) {
    listener->is_draining = true;
    crpc_watch_free(listener->watch);
    listener->watch = NULL;
    if (listener->fd >= 0) (void)close(listener->fd);
    listener->fd = -1;
}

void crpc_listener_drain(crpc_listener *listener) {
    stop_accepting(listener);
    for (crpc_link *link = listener->connections.next; link != &listener->connections; link = link->next)
        crpc_connection_drain(CRPC_CONTAINER(link, crpc_connection, link));
}

void crpc_listener_free(crpc_listener *listener) {
    stop_accepting(listener);
    while (!crpc_link_is_empty(&listener->connections)) {
        crpc_connection *connection = CRPC_CONTAINER(listener->connections.next, crpc_connection, link);
        connection->is_forced = true;
        crpc_connection_destroy(connection);
    }
    crpc_timer_free(listener->resume);
    crpc_tls_free(listener->options.tls);
    for (size_t i = 0; i < listener->path_capacity; i++) free(listener->paths[i].text);
    free(listener->paths);
    free(listener);
}
