#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

// The life of a connection: how it begins, drains and ends.

/// Between the two GOAWAYs there is a round trip, which a PING measures, so that calls on their way are taken (RFC 9113
/// section 6.8); from a peer that does not answer it this long. A handshake that is under way has as long to end.
enum { ROUND_TRIP_MAX_MS = 2000 };

/// "goodbye!": what the PING between the GOAWAYs carries.
const uint8_t crpc_goodbye_payload[8] = {'g', 'o', 'o', 'd', 'b', 'y', 'e', '!'};

void crpc_connection_stream_ended(crpc_connection *connection) {
    if (connection->stream_count > 0 || connection->is_broken) return;
    if (connection->listener != NULL && !connection->is_draining)
        crpc_listener_note_idle(connection->listener, connection);
    if (connection->is_draining) {
        crpc_connection_mark(connection); // closes once all is sent
    } else {
        crpc_connection_begin_idling(connection);
    }
}

// ---- The end ----

void crpc_connection_break(crpc_connection *connection, int error) {
    if (connection->is_broken) return;
    connection->is_broken = true;
    connection->error = error;
    crpc_link_append(&connection->loop->closing, &connection->closing);
}

void crpc_connection_close(crpc_connection *connection) { crpc_connection_break(connection, CRPC_ERROR_CLOSED); }

void crpc_connection_drain(crpc_connection *connection) {
    if (connection->is_draining || connection->is_broken) return;
    if (connection->listener != NULL && connection->phase != CRPC_OPEN) {
        // What a client that is told nothing yet may have sent would be lost. It is drained once it is open.
        uint64_t due = crpc_connection_after_ms(connection, ROUND_TRIP_MAX_MS);
        if (due < connection->due_ns[CRPC_DUE_HANDSHAKE]) connection->due_ns[CRPC_DUE_HANDSHAKE] = due;
        crpc_connection_set_timer(connection);
        return;
    }
    connection->is_draining = true;
    connection->due_ns[CRPC_DUE_DRAIN] = crpc_connection_after_ms(connection, connection->limits.drain_timeout_ms);
    if (connection->phase != CRPC_OPEN && connection->stream_count == 0) {
        crpc_connection_break(connection, CRPC_OK);
        return;
    }
    if (connection->listener != NULL) {
        if (nghttp2_submit_shutdown_notice(connection->session) != 0 ||
            nghttp2_submit_ping(connection->session, NGHTTP2_FLAG_NONE, crpc_goodbye_payload) != 0)
            crpc_connection_break(connection, CRPC_ERROR_MEMORY);
        connection->due_ns[CRPC_DUE_GOAWAY] = crpc_connection_after_ms(connection, ROUND_TRIP_MAX_MS);
    }
    crpc_connection_mark(connection);
    crpc_connection_set_timer(connection);
}

void crpc_connection_tell_draining(crpc_connection *connection) {
    if (connection->callbacks == NULL || connection->is_draining_told) return;
    connection->is_draining_told = true;
    connection->callbacks->on_draining(connection->context);
}

void crpc_connection_dismiss(crpc_connection *connection, int error, uint32_t code, const char *reason) {
    if (connection->is_broken) return;
    connection->goaway_code = code;
    connection->goaway_reason = reason;
    // Without memory for it the peer does not learn why.
    if (!connection->is_session_over)
        (void)nghttp2_submit_goaway(
            connection->session, NGHTTP2_FLAG_NONE, connection->last_id, code, (const uint8_t *)reason, strlen(reason));
    crpc_connection_break(connection, error);
}

void crpc_connection_make_room(crpc_connection *connection) {
    crpc_connection_dismiss(connection, CRPC_OK, NGHTTP2_NO_ERROR, "too_many_connections");
}

void crpc_connection_calm(crpc_connection *connection, const char *reason) {
    if (connection->listener != NULL && !connection->is_broken)
        crpc_count(&connection->loop->stats.connections_dismissed, 1);
    crpc_connection_dismiss(connection, CRPC_ERROR_LIMIT, NGHTTP2_ENHANCE_YOUR_CALM, reason);
}

/// Whether what we said last may still be on its way to a peer that is there.
static bool may_be_heard(const crpc_connection *connection) {
    bool is_said = connection->error == CRPC_OK || connection->error == CRPC_ERROR_PROTOCOL ||
                   connection->error == CRPC_ERROR_LIMIT;
    return connection->listener != NULL && is_said && connection->rest_length == 0 && !connection->has_peer_ended &&
           !connection->is_forced;
}

/// Tells the calls, then the connection's user, that this is its end.
static void tell_end(crpc_connection *connection, bool was_open) {
    while (!crpc_link_is_empty(&connection->streams)) {
        crpc_stream *stream = CRPC_CONTAINER(connection->streams.next, crpc_stream, link);
        stream->is_unsent = !was_open;
        crpc_stream_end(stream, NGHTTP2_CANCEL);
    }
    if (connection->callbacks != NULL && was_open)
        crpc_count(&connection->loop->stats.client_connections_closed, 1);
    if (connection->loop->is_ending) return;
    if (connection->callbacks != NULL) {
        connection->callbacks->on_connection_close(connection->context, connection->error);
    } else if (connection->is_open_told) {
        connection->listener->callbacks->on_connection_close(connection->listener->server, connection->context);
    }
}

void crpc_connection_destroy(crpc_connection *connection) {
    crpc_link_remove(&connection->closing);
    connection->is_broken = true;
    if (connection->phase == CRPC_OPEN) crpc_connection_say_goodbye(connection);
    bool was_open = connection->phase == CRPC_OPEN;
    connection->phase = CRPC_CLOSED;
    connection->loop->callback_depth += 1;
    tell_end(connection, was_open);
    connection->loop->callback_depth -= 1;
    crpc_watch_free(connection->watch);
    crpc_timer_free(connection->timer);
    nghttp2_session_del(connection->session);
    crpc_tls_detach(connection);
    if (was_open && may_be_heard(connection)) {
        crpc_linger(connection->loop, connection->fd);
    } else {
        (void)close(connection->fd);
    }
    if (connection->listener != NULL) crpc_listener_forget(connection->listener, connection);
    crpc_link_remove(&connection->link);
    crpc_handlers_leave(connection->handlers);
    while (connection->free_streams != NULL) {
        crpc_stream *stream = connection->free_streams;
        connection->free_streams = stream->next_free;
        crpc_stream_free(stream);
    }
    crpc_link_remove(&connection->dirty); // last, since a call's last callback may have touched its neighbours
    free(connection->rest);
    free(connection->authority);
    free(connection);
}

// ---- The beginning ----

static void begin_open(crpc_connection *connection) {
    connection->phase = CRPC_OPEN;
    crpc_connection_watch_for(connection, CRPC_READABLE);
    crpc_connection_mark(connection);
    crpc_connection_begin_limits(connection);
    if (connection->listener == NULL) { // on_open follows with the server's SETTINGS
        crpc_count(&connection->loop->stats.client_connections_opened, 1);
        return;
    }
    connection->is_open_told = true;
    connection->context = connection->listener->callbacks->on_open(connection->listener->server, connection);
    if (connection->listener->is_draining) crpc_connection_drain(connection);
}

static bool speaks_http2(const SSL *ssl) {
    const unsigned char *protocol;
    unsigned int length;
    SSL_get0_alpn_selected(ssl, &protocol, &length);
    return length == 2 && memcmp(protocol, "h2", 2) == 0;
}

static void shake_hands(crpc_connection *connection, bool is_readable) {
    switch (crpc_tls_shake_hands(connection, is_readable)) {
    case CRPC_HANDSHAKE_READS: crpc_connection_watch_for(connection, CRPC_READABLE); return;
    // What comes meanwhile waits in the kernel.
    case CRPC_HANDSHAKE_WRITES: crpc_connection_watch_for(connection, CRPC_WRITABLE); return;
    case CRPC_HANDSHAKE_FAILED: crpc_connection_break(connection, CRPC_ERROR_TLS); return;
    case CRPC_HANDSHAKE_DONE: break;
    }
    if (!speaks_http2(connection->ssl)) {
        crpc_connection_break(connection, CRPC_ERROR_TLS);
        return;
    }
    begin_open(connection);
    if (!connection->is_broken && crpc_tls_has_more(connection)) crpc_connection_receive(connection);
}

static void finish_connecting(crpc_connection *connection) {
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error != 0) {
        crpc_connection_break(connection, CRPC_ERROR_SYSTEM);
        return;
    }
    if (connection->ssl == NULL) {
        begin_open(connection);
    } else {
        connection->phase = CRPC_HANDSHAKING;
        shake_hands(connection, false);
    }
}

static void on_ready(void *context, int ready) {
    crpc_connection *connection = context;
    if (connection->is_broken) return;
    connection->loop->callback_depth += 1;
    switch (connection->phase) {
    case CRPC_CONNECTING: finish_connecting(connection); break;
    case CRPC_HANDSHAKING: shake_hands(connection, (ready & (CRPC_READABLE | CRPC_FAILED)) != 0); break;
    case CRPC_OPEN:
        if (ready & CRPC_WRITABLE) crpc_connection_mark(connection);
        if (ready & (CRPC_READABLE | CRPC_FAILED)) crpc_connection_receive(connection);
        break;
    case CRPC_CLOSED: break;
    }
    connection->loop->callback_depth -= 1;
}

/// The parts that both sides have. On errors the connection is freed; the socket too.
static int begin(
    crpc_connection *connection, crpc_loop *loop, const crpc_limits *limits, int fd, crpc_tls *tls, const char *name,
    int interest) {
    connection->loop = loop;
    connection->limits = *limits;
    connection->fd = fd;
    crpc_link_init(&connection->link);
    crpc_link_init(&connection->shaking);
    crpc_link_init(&connection->idle);
    crpc_link_init(&connection->idle_of_address);
    crpc_link_init(&connection->dirty);
    crpc_link_init(&connection->closing);
    crpc_link_init(&connection->streams);
    int error = crpc_timer_new(loop, crpc_connection_on_timer, connection, &connection->timer);
    if (error == CRPC_OK && tls != NULL) error = crpc_tls_attach(connection, tls, name);
    if (error == CRPC_OK) error = crpc_session_begin(connection);
    if (error == CRPC_OK) error = crpc_watch_new(loop, fd, interest, on_ready, connection, &connection->watch);
    if (error == CRPC_OK) {
        crpc_guard_begin(connection);
        connection->due_ns[CRPC_DUE_HANDSHAKE] = crpc_connection_after_ms(connection, limits->handshake_timeout_ms);
        error = crpc_timer_set(connection->timer, connection->due_ns[CRPC_DUE_HANDSHAKE]);
    }
    if (error == CRPC_OK) return CRPC_OK;
    int saved = errno;
    crpc_watch_free(connection->watch);
    crpc_timer_free(connection->timer);
    nghttp2_session_del(connection->session);
    crpc_tls_detach(connection);
    (void)close(fd);
    crpc_handlers_leave(connection->handlers);
    free(connection->authority);
    free(connection);
    errno = saved;
    return error;
}

int crpc_connection_accept(
    crpc_listener *listener, int fd, const struct sockaddr_storage *peer, crpc_address *address) {
    int error = CRPC_ERROR_MEMORY;
    crpc_connection *connection = calloc(1, sizeof *connection);
    if (connection != NULL) connection->handlers = crpc_handlers_new(listener);
    if (connection == NULL || connection->handlers == NULL) {
        free(connection);
        (void)close(fd);
    } else {
        connection->listener = listener;
        connection->address = address;
        crpc_socket_write_peer(peer, connection->peer);
        error = begin(
            connection, listener->loop, &listener->options.limits, fd, listener->options.tls, NULL, CRPC_READABLE);
    }
    if (error != CRPC_OK) {
        crpc_addresses_give_back(&listener->addresses, address);
        return error;
    }
    crpc_listener_keep(listener, connection);
    if (connection->ssl == NULL) {
        begin_open(connection);
    } else {
        connection->phase = CRPC_HANDSHAKING;
    }
    return CRPC_OK;
}

int crpc_connection_connect(
    crpc_loop *loop, const char *address, uint16_t port, const char *authority, crpc_tls *tls, const char *tls_name,
    const crpc_limits *limits, const crpc_client_callbacks *callbacks, void *context, crpc_connection **result) {
    if (tls != NULL && tls_name == NULL) return CRPC_ERROR_ARGUMENT;
    crpc_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) return CRPC_ERROR_MEMORY;
    connection->callbacks = callbacks;
    connection->context = context;
    connection->authority = strdup(authority);
    int fd;
    int error = connection->authority == NULL ? CRPC_ERROR_MEMORY : crpc_socket_connect(address, port, &fd);
    if (error != CRPC_OK) {
        free(connection->authority);
        free(connection);
        return error;
    }
    connection->authority_length = strlen(authority);
    bool is_v6 = strchr(address, ':') != NULL;
    (void)snprintf(connection->peer, sizeof connection->peer, is_v6 ? "[%.45s]:%u" : "%.45s:%u", address, (unsigned)port);
    error = begin(connection, loop, limits, fd, tls, tls_name, CRPC_READABLE | CRPC_WRITABLE);
    if (error == CRPC_OK) crpc_link_append(&loop->clients, &connection->link);
    if (error == CRPC_OK) *result = connection;
    return error;
}

const char *crpc_connection_peer(const crpc_connection *connection) { return connection->peer; }
bool crpc_connection_has_pinged_too_often(const crpc_connection *connection) {
    return connection->has_pinged_too_often;
}
bool crpc_connection_is_encrypted(const crpc_connection *connection) { return connection->ssl != NULL; }
uint32_t crpc_connection_stream_count(const crpc_connection *connection) { return connection->stream_count; }

bool crpc_connection_has_room(const crpc_connection *connection) {
    if (connection->is_draining || connection->is_broken) return false;
    uint32_t peer_max =
        nghttp2_session_get_remote_settings(connection->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    return connection->stream_count < peer_max && nghttp2_session_check_request_allowed(connection->session) != 0;
}
