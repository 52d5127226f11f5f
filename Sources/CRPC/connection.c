#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

/// Reads of one connection in one turn, so that others get theirs.
enum { READS_PER_TURN_MAX = 4 };
/// Buffers written to one connection in one turn.
enum { WRITES_PER_TURN_MAX = 16 };
/// Between the two GOAWAYs: longer than a round trip, so that calls on their way are taken.
enum { GOAWAY_INTERVAL_MS = 100 };

void crpc_limits_default(crpc_limits *limits) {
    *limits = (crpc_limits){
        .streams_max = 1024,
        .message_bytes_max = 4u << 20,
        .header_bytes_max = 16384,
        .stream_window_bytes = 256u << 10,
        .connection_window_bytes = 1u << 20,
        .handshake_timeout_ms = 10000,
        .idle_timeout_ms = 0,
        .write_stall_timeout_ms = 20000,
        .drain_timeout_ms = 20000,
    };
}

static uint64_t after_ms(const crpc_connection *connection, uint32_t ms) {
    return connection->loop->now_ns + ms * 1000000ull;
}

// ---- Time limits ----

void crpc_connection_set_timer(crpc_connection *connection) {
    const uint64_t dues[] = {
        connection->handshake_due_ns, connection->idle_due_ns, connection->stall_due_ns, connection->drain_due_ns,
        connection->goaway_due_ns,
    };
    uint64_t due = UINT64_MAX;
    for (size_t i = 0; i < sizeof dues / sizeof dues[0]; i++)
        if (dues[i] != 0 && dues[i] < due) due = dues[i];
    if (due == UINT64_MAX) {
        crpc_timer_cancel(connection->timer);
    } else if (crpc_timer_set(connection->timer, due) != CRPC_OK) {
        crpc_connection_break(connection, CRPC_ERROR_MEMORY);
    }
}

static bool is_due(uint64_t due, uint64_t now) { return due != 0 && due <= now; }

static void on_timer(void *context) {
    crpc_connection *connection = context;
    uint64_t now = connection->loop->now_ns;
    if (is_due(connection->handshake_due_ns, now) || is_due(connection->stall_due_ns, now) ||
        is_due(connection->drain_due_ns, now)) {
        crpc_connection_break(connection, CRPC_ERROR_TIMEOUT);
        return;
    }
    if (is_due(connection->idle_due_ns, now)) {
        connection->idle_due_ns = 0;
        crpc_connection_drain(connection);
    }
    if (is_due(connection->goaway_due_ns, now)) {
        connection->goaway_due_ns = 0;
        connection->is_goaway_final = true;
        int32_t last = nghttp2_session_get_last_proc_stream_id(connection->session);
        if (nghttp2_submit_goaway(connection->session, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, NULL, 0) != 0)
            crpc_connection_break(connection, CRPC_ERROR_MEMORY);
        crpc_connection_mark(connection);
    }
    crpc_connection_set_timer(connection);
}

static void begin_idling(crpc_connection *connection) {
    if (connection->limits.idle_timeout_ms == 0) return;
    connection->idle_due_ns = after_ms(connection, connection->limits.idle_timeout_ms);
    crpc_connection_set_timer(connection);
}

void crpc_connection_stream_ended(crpc_connection *connection) {
    if (connection->stream_count > 0 || connection->is_broken) return;
    if (connection->is_draining) {
        crpc_connection_mark(connection); // closes once all is sent
    } else {
        begin_idling(connection);
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
    connection->is_draining = true;
    connection->drain_due_ns = after_ms(connection, connection->limits.drain_timeout_ms);
    if (connection->phase != CRPC_OPEN && connection->stream_count == 0) {
        crpc_connection_break(connection, CRPC_OK);
        return;
    }
    if (connection->listener != NULL) {
        if (nghttp2_submit_shutdown_notice(connection->session) != 0)
            crpc_connection_break(connection, CRPC_ERROR_MEMORY);
        connection->goaway_due_ns = after_ms(connection, GOAWAY_INTERVAL_MS);
    }
    crpc_connection_mark(connection);
    crpc_connection_set_timer(connection);
}

void crpc_connection_tell_draining(crpc_connection *connection) {
    if (connection->callbacks == NULL || connection->is_draining_told) return;
    connection->is_draining_told = true;
    connection->callbacks->on_draining(connection->context);
}

/// Client: says GOAWAY once it drains and its last call has ended. Earlier, a server whose calls are all done might
/// close before it sees those that still wait to go out.
static void submit_last_goaway(crpc_connection *connection) {
    bool is_due = connection->is_draining && !connection->is_goaway_final && connection->stream_count == 0;
    if (connection->callbacks == NULL || !is_due) return;
    connection->is_goaway_final = true;
    if (nghttp2_submit_goaway(connection->session, NGHTTP2_FLAG_NONE, 0, NGHTTP2_NO_ERROR, NULL, 0) != 0)
        crpc_connection_break(connection, CRPC_ERROR_MEMORY);
}

static void say_goodbye(crpc_connection *connection) {
    // One try, without waiting: that a peer which broke the protocol learns why is a courtesy.
    const uint8_t *bytes;
    if (connection->rest_end == 0 && connection->session != NULL && connection->error == CRPC_ERROR_PROTOCOL) {
        ssize_t length = nghttp2_session_mem_send(connection->session, &bytes);
        if (length > 0 && connection->ssl != NULL) (void)SSL_write(connection->ssl, bytes, (int)length);
        if (length > 0 && connection->ssl == NULL) (void)send(connection->fd, bytes, (size_t)length, MSG_NOSIGNAL);
    }
    if (connection->ssl != NULL) (void)SSL_shutdown(connection->ssl);
}

void crpc_connection_destroy(crpc_connection *connection) {
    crpc_link_remove(&connection->closing);
    connection->is_broken = true;
    if (connection->phase == CRPC_OPEN) say_goodbye(connection);
    bool was_open = connection->phase == CRPC_OPEN;
    connection->phase = CRPC_CLOSED;
    while (!crpc_link_is_empty(&connection->streams)) {
        crpc_stream *stream = CRPC_CONTAINER(connection->streams.next, crpc_stream, link);
        stream->is_unsent = !was_open;
        crpc_stream_end(stream, NGHTTP2_CANCEL);
    }
    if (connection->callbacks != NULL) {
        connection->callbacks->on_connection_close(connection->context, connection->error);
    } else if (connection->is_open_told) {
        connection->listener->callbacks->on_connection_close(connection->listener->server, connection->context);
    }
    crpc_watch_free(connection->watch);
    crpc_timer_free(connection->timer);
    nghttp2_session_del(connection->session);
    SSL_free(connection->ssl);
    ERR_clear_error();
    (void)close(connection->fd);
    if (connection->listener != NULL) crpc_listener_forget(connection->listener, connection);
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

// ---- Reading ----

/// What reading and writing come to beside a number of bytes.
enum { ENDED = 0, WOULD_WAIT = -1, SYSTEM_FAILED = -2, TLS_FAILED = -3 };

static int error_of(ssize_t failure) {
    return failure == ENDED ? CRPC_ERROR_CLOSED : failure == TLS_FAILED ? CRPC_ERROR_TLS : CRPC_ERROR_SYSTEM;
}

static ssize_t socket_failure(void) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? WOULD_WAIT : SYSTEM_FAILED;
}

/// SSL_get_error looks at the thread's queue of errors, so this must be empty before each call, whoever left one there.
static ssize_t tls_failure(crpc_connection *connection, int outcome) {
    int error = SSL_get_error(connection->ssl, outcome);
    // A peer that closed without saying so in TLS: HTTP/2 knows by itself whether something is missing.
    bool is_cut = error == SSL_ERROR_SSL && ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
    ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return WOULD_WAIT;
    if (error == SSL_ERROR_ZERO_RETURN || is_cut) return ENDED;
    return error == SSL_ERROR_SSL ? TLS_FAILED : SYSTEM_FAILED;
}

/// Bytes read, or one of the above.
static ssize_t read_some(crpc_connection *connection, uint8_t *target, size_t length) {
    if (connection->ssl == NULL) {
        ssize_t count = recv(connection->fd, target, length, 0);
        return count >= 0 ? count : socket_failure();
    }
    ERR_clear_error();
    int count = SSL_read(connection->ssl, target, (int)length);
    return count > 0 ? count : tls_failure(connection, count);
}

static void receive(crpc_connection *connection) {
    for (int i = 0; i < READS_PER_TURN_MAX || (connection->ssl != NULL && SSL_pending(connection->ssl) > 0); i++) {
        ssize_t count = read_some(connection, connection->loop->read_buffer, CRPC_READ_BUFFER);
        if (count == WOULD_WAIT) break;
        if (count <= 0) {
            crpc_connection_break(connection, error_of(count));
            return;
        }
        ssize_t taken = nghttp2_session_mem_recv(connection->session, connection->loop->read_buffer, (size_t)count);
        if (connection->is_broken) return;
        if (taken != count) {
            crpc_connection_break(
                connection, taken == NGHTTP2_ERR_NOMEM ? CRPC_ERROR_MEMORY : CRPC_ERROR_PROTOCOL);
            return;
        }
        if (connection->ssl == NULL && count < CRPC_READ_BUFFER) break;
    }
    if (nghttp2_session_want_write(connection->session) || !nghttp2_session_want_read(connection->session))
        crpc_connection_mark(connection);
}

// ---- Writing ----

/// Bytes written, or one of the above.
static ssize_t write_some(crpc_connection *connection, const uint8_t *bytes, size_t length) {
    if (connection->ssl == NULL) {
        ssize_t count = send(connection->fd, bytes, length, MSG_NOSIGNAL);
        return count >= 0 ? count : socket_failure();
    }
    ERR_clear_error();
    int count = SSL_write(connection->ssl, bytes, (int)length);
    return count > 0 ? count : tls_failure(connection, count);
}

static void set_interest(crpc_connection *connection, int interest) {
    if (crpc_watch_set_interest(connection->watch, interest) != CRPC_OK)
        crpc_connection_break(connection, CRPC_ERROR_SYSTEM);
}

/// Writes all, or keeps what the socket does not take and waits for it. True if all went.
static bool write_all(crpc_connection *connection, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = write_some(connection, bytes, length);
        if (count == WOULD_WAIT) break;
        if (count <= 0) {
            crpc_connection_break(connection, error_of(count));
            return false;
        }
        connection->stall_due_ns = 0;
        bytes += count;
        length -= (size_t)count;
    }
    if (length == 0) return true;
    if (connection->rest == NULL) connection->rest = malloc(CRPC_WRITE_BUFFER + CRPC_WRITE_SLACK);
    if (connection->rest == NULL) {
        crpc_connection_break(connection, CRPC_ERROR_MEMORY);
        return false;
    }
    memmove(connection->rest, bytes, length);
    connection->rest_start = 0;
    connection->rest_end = length;
    if (connection->stall_due_ns == 0)
        connection->stall_due_ns = after_ms(connection, connection->limits.write_stall_timeout_ms);
    set_interest(connection, CRPC_READABLE | CRPC_WRITABLE);
    crpc_connection_set_timer(connection);
    return false;
}

static bool write_rest(crpc_connection *connection) {
    if (connection->rest_end == 0) return true;
    size_t length = connection->rest_end;
    connection->rest_end = 0;
    if (!write_all(connection, connection->rest, length)) return false;
    free(connection->rest); // a connection that keeps up holds no buffer
    connection->rest = NULL;
    set_interest(connection, CRPC_READABLE);
    crpc_connection_set_timer(connection);
    return true;
}

/// Gathers frames. The bytes gathered, or a negative error.
static ssize_t gather(crpc_connection *connection) {
    uint8_t *buffer = connection->loop->write_buffer;
    size_t used = 0;
    while (used < CRPC_WRITE_BUFFER) {
        const uint8_t *frame;
        ssize_t length = nghttp2_session_mem_send(connection->session, &frame);
        if (length < 0) return length == NGHTTP2_ERR_NOMEM ? CRPC_ERROR_MEMORY : CRPC_ERROR_PROTOCOL;
        if (length == 0) break;
        if ((size_t)length > CRPC_WRITE_BUFFER + CRPC_WRITE_SLACK - used) return CRPC_ERROR_LIMIT;
        memcpy(buffer + used, frame, (size_t)length);
        used += (size_t)length;
    }
    return (ssize_t)used;
}

static void tell_writable(crpc_connection *connection) {
    if (!connection->owes_writable) return;
    connection->owes_writable = false;
    for (crpc_link *link = connection->streams.next; link != &connection->streams; link = link->next) {
        crpc_stream *stream = CRPC_CONTAINER(link, crpc_stream, link);
        if (!stream->owes_writable) continue;
        stream->owes_writable = false;
        if (stream->call == NULL || stream->is_finished) continue;
        if (connection->listener != NULL) {
            connection->listener->callbacks->on_writable(stream->call);
        } else {
            connection->callbacks->on_writable(stream->call);
        }
    }
}

static void tell_closes(crpc_connection *connection) {
    if (!connection->owes_closes) return;
    connection->owes_closes = false;
    for (crpc_link *link = connection->streams.next; link != &connection->streams; link = link->next) {
        crpc_stream *stream = CRPC_CONTAINER(link, crpc_stream, link);
        if (stream->is_reset) crpc_stream_tell_close(stream, stream->reset_error);
    }
}

/// Closes a connection that has nothing left to do.
static void end_if_done(crpc_connection *connection) {
    if (!nghttp2_session_want_read(connection->session)) {
        // A GOAWAY went out or came, and no stream is left.
        crpc_connection_break(
            connection, connection->is_terminated  ? CRPC_ERROR_PROTOCOL
                        : connection->is_dismissed ? CRPC_ERROR_CLOSED
                                                   : CRPC_OK);
    } else if (connection->is_draining && connection->is_goaway_final && connection->stream_count == 0) {
        crpc_connection_break(connection, CRPC_OK);
    }
}

void crpc_connection_flush(crpc_connection *connection) {
    tell_closes(connection);
    if (connection->is_draining) crpc_connection_tell_draining(connection);
    if (connection->phase != CRPC_OPEN || connection->is_broken || !write_rest(connection)) return;
    submit_last_goaway(connection);
    for (int i = 0; i < WRITES_PER_TURN_MAX; i++) {
        ssize_t length = gather(connection);
        if (length < 0) {
            crpc_connection_break(connection, (int)length);
            return;
        }
        if (length == 0) break;
        bool all = write_all(connection, connection->loop->write_buffer, (size_t)length);
        tell_writable(connection);
        if (!all) return;
        if (length < CRPC_WRITE_BUFFER) break;
    }
    if (nghttp2_session_want_write(connection->session)) {
        crpc_connection_mark(connection);
    } else {
        end_if_done(connection);
    }
}

// ---- The beginning ----

static void begin_open(crpc_connection *connection) {
    connection->phase = CRPC_OPEN;
    set_interest(connection, CRPC_READABLE);
    crpc_connection_mark(connection);
    if (connection->stream_count == 0) begin_idling(connection);
    if (connection->listener == NULL) return; // on_open follows with the server's SETTINGS
    connection->is_open_told = true;
    connection->context = connection->listener->callbacks->on_open(connection->listener->server, connection);
    if (connection->listener->is_draining) crpc_connection_drain(connection);
}

static void shake_hands(crpc_connection *connection) {
    ERR_clear_error();
    int outcome = SSL_do_handshake(connection->ssl);
    if (outcome == 1) {
        const unsigned char *protocol;
        unsigned int length;
        SSL_get0_alpn_selected(connection->ssl, &protocol, &length);
        if (length == 2 && memcmp(protocol, "h2", 2) == 0) {
            begin_open(connection);
        } else {
            crpc_connection_break(connection, CRPC_ERROR_TLS);
        }
        return;
    }
    int error = SSL_get_error(connection->ssl, outcome);
    ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ) {
        set_interest(connection, CRPC_READABLE);
    } else if (error == SSL_ERROR_WANT_WRITE) {
        set_interest(connection, CRPC_READABLE | CRPC_WRITABLE);
    } else {
        crpc_connection_break(connection, CRPC_ERROR_TLS);
    }
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
        shake_hands(connection);
    }
}

static void on_ready(void *context, int ready) {
    crpc_connection *connection = context;
    if (connection->is_broken) return;
    switch (connection->phase) {
    case CRPC_CONNECTING: finish_connecting(connection); break;
    case CRPC_HANDSHAKING: shake_hands(connection); break;
    case CRPC_OPEN:
        if (ready & CRPC_WRITABLE) crpc_connection_mark(connection);
        if (ready & (CRPC_READABLE | CRPC_FAILED)) receive(connection);
        break;
    case CRPC_CLOSED: break;
    }
}

/// The parts that both sides have. On errors the connection is freed; the socket too.
static int begin(
    crpc_connection *connection, crpc_loop *loop, const crpc_limits *limits, int fd, crpc_tls *tls, const char *name,
    int interest) {
    connection->loop = loop;
    connection->limits = *limits;
    connection->fd = fd;
    crpc_link_init(&connection->link);
    crpc_link_init(&connection->dirty);
    crpc_link_init(&connection->closing);
    crpc_link_init(&connection->streams);
    int error = crpc_timer_new(loop, on_timer, connection, &connection->timer);
    if (error == CRPC_OK && tls != NULL) error = crpc_tls_begin(tls, fd, name, &connection->ssl);
    if (error == CRPC_OK) error = crpc_session_begin(connection);
    if (error == CRPC_OK) error = crpc_watch_new(loop, fd, interest, on_ready, connection, &connection->watch);
    if (error == CRPC_OK) {
        connection->handshake_due_ns = after_ms(connection, limits->handshake_timeout_ms);
        error = crpc_timer_set(connection->timer, connection->handshake_due_ns);
    }
    if (error == CRPC_OK) return CRPC_OK;
    int saved = errno;
    crpc_watch_free(connection->watch);
    crpc_timer_free(connection->timer);
    nghttp2_session_del(connection->session);
    SSL_free(connection->ssl);
    ERR_clear_error();
    (void)close(fd);
    free(connection->authority);
    free(connection);
    errno = saved;
    return error;
}

int crpc_connection_accept(crpc_listener *listener, int fd) {
    crpc_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) {
        (void)close(fd);
        return CRPC_ERROR_MEMORY;
    }
    connection->listener = listener;
    crpc_socket_peer(fd, connection->peer);
    int error = begin(
        connection, listener->loop, &listener->options.limits, fd, listener->options.tls, NULL, CRPC_READABLE);
    if (error != CRPC_OK) return error;
    crpc_link_append(&listener->connections, &connection->link);
    listener->connection_count += 1;
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
    (void)snprintf(connection->peer, sizeof connection->peer, "%.45s:%u", address, (unsigned)port);
    error = begin(connection, loop, limits, fd, tls, tls_name, CRPC_READABLE | CRPC_WRITABLE);
    if (error == CRPC_OK) *result = connection;
    return error;
}

const char *crpc_connection_peer(const crpc_connection *connection) { return connection->peer; }
bool crpc_connection_is_encrypted(const crpc_connection *connection) { return connection->ssl != NULL; }
uint32_t crpc_connection_stream_count(const crpc_connection *connection) { return connection->stream_count; }

bool crpc_connection_has_room(const crpc_connection *connection) {
    if (connection->is_draining || connection->is_broken) return false;
    uint32_t peer_max =
        nghttp2_session_get_remote_settings(connection->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    return connection->stream_count < peer_max && nghttp2_session_check_request_allowed(connection->session) != 0;
}
