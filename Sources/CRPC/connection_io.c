#include "internal.h"
#include "plain_literals.h"

#include <errno.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// Reading and writing: between the socket, or TLS on it, and nghttp2's session.

/// Reads of one connection in one turn, so that others get theirs.
enum { READS_PER_TURN_MAX = 4 };
/// Buffers written to one connection in one turn.
enum { WRITES_PER_TURN_MAX = 16 };

// ---- Reading ----

static int error_of(ssize_t failure) {
    return failure == CRPC_IO_ENDED        ? CRPC_ERROR_CLOSED
           : failure == CRPC_IO_TLS_FAILED ? CRPC_ERROR_TLS
                                           : CRPC_ERROR_SYSTEM;
}

static ssize_t socket_failure(void) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? CRPC_IO_WAITS : CRPC_IO_FAILED;
}

ssize_t crpc_socket_read(int fd, uint8_t *target, size_t length) {
    ssize_t count = recv(fd, target, length, 0);
    return count >= 0 ? count : socket_failure();
}

static crpc_reading read_clear(const crpc_connection *connection, uint8_t *target, size_t room) {
    ssize_t count = crpc_socket_read(connection->fd, target, room);
    if (count > 0) return (crpc_reading){.length = (size_t)count, .is_full = (size_t)count == room};
    return (crpc_reading){.has_failed = count != CRPC_IO_WAITS, .failure = (int)count};
}

/// Gives bytes to the session. 0, or nghttp2's error.
static ssize_t give(crpc_connection *connection, const uint8_t *bytes, size_t length) {
    ssize_t taken = nghttp2_session_mem_recv(connection->session, bytes, length);
    return taken == (ssize_t)length ? 0 : taken < 0 ? taken : NGHTTP2_ERR_PROTO;
}

/// Server: the same, with plain strings in header blocks.
static ssize_t give_plain(crpc_connection *connection, const uint8_t *bytes, size_t length, size_t first_head) {
    uint8_t *plain = connection->loop->plain_buffer;
    ssize_t failure = 0;
    while (failure == 0 && length > 0) {
        size_t taken, plain_length = crpc_plain_literals(bytes, length, first_head, plain, &taken);
        failure = plain_length > 0 ? give(connection, plain, plain_length) : give(connection, bytes, taken);
        bytes += taken;
        length -= taken;
        first_head = 0; // a part ends where a frame does
    }
    return failure;
}

/// Hands bytes to the session; false if the connection cannot go on.
static bool take(crpc_connection *connection, const uint8_t *bytes, size_t length) {
    size_t first_head = crpc_guard_next_head(&connection->guard, bytes, length);
    if (!crpc_guard_look(connection, bytes, length)) return false;
    ssize_t failure = connection->listener == NULL ? give(connection, bytes, length)
                                                   : give_plain(connection, bytes, length, first_head);
    if (failure == 0) return !connection->is_broken;
    connection->is_session_over = true;
    if (connection->is_broken) return false; // a callback has said why
    if (failure == NGHTTP2_ERR_FLOODED) {
        crpc_connection_calm(connection, "too_many_answers_wait");
    } else if (failure == NGHTTP2_ERR_NOMEM) {
        crpc_connection_dismiss(connection, CRPC_ERROR_MEMORY, NGHTTP2_INTERNAL_ERROR, "");
    } else {
        crpc_connection_dismiss(connection, CRPC_ERROR_PROTOCOL, NGHTTP2_PROTOCOL_ERROR, "");
    }
    return false;
}

void crpc_connection_receive(crpc_connection *connection) {
    crpc_connection_note_life(connection);
    // Not in the turn in which it came, nor while the peer lets us wait: only with our RST_STREAM is a stream over.
    if (connection->guard.unseen_frames > 0 && connection->rest_length == 0 && !crpc_guard_settle(connection)) return;
    uint8_t *buffer = connection->loop->read_buffer;
    crpc_reading reading = {.is_full = true};
    // What was read is used up, whatever the number: what TLS holds already wakes nobody.
    for (int i = 0; reading.is_full && (i < READS_PER_TURN_MAX || crpc_tls_has_more(connection)); i++) {
        reading = connection->ssl == NULL ? read_clear(connection, buffer, CRPC_READ_BUFFER)
                                          : crpc_tls_read(connection, buffer, CRPC_READ_BUFFER);
        if (connection->is_broken) return;
        if (reading.length > 0) crpc_count(&connection->loop->stats.received_bytes, reading.length);
        if (reading.length > 0 && !take(connection, buffer, reading.length)) return;
        if (reading.has_failed) {
            connection->has_peer_ended = true;
            crpc_connection_break(connection, error_of(reading.failure));
            return;
        }
    }
    if (nghttp2_session_get_outbound_queue_size(connection->session) > connection->limits.queued_frames_max &&
        connection->listener != NULL) {
        crpc_connection_calm(connection, "too_many_answers_wait");
        return;
    }
    crpc_connection_watch_buffers(connection);
    // What came may let TLS write on.
    bool may_write_on = connection->rest_length > 0 && connection->ssl != NULL;
    if (may_write_on || nghttp2_session_want_write(connection->session) ||
        !nghttp2_session_want_read(connection->session))
        crpc_connection_mark(connection);
}

// ---- Writing ----

/// Bytes written, or one of the above.
static ssize_t write_some(crpc_connection *connection, const uint8_t *bytes, size_t length) {
    ssize_t count = connection->ssl != NULL ? crpc_tls_write(connection, bytes, length)
                                            : send(connection->fd, bytes, length, MSG_NOSIGNAL);
    if (connection->ssl == NULL && count < 0) count = socket_failure();
    if (count > 0) crpc_count(&connection->loop->stats.sent_bytes, (uint64_t)count);
    return count;
}

void crpc_connection_watch_for(crpc_connection *connection, int interest) {
    if (crpc_watch_set_interest(connection->watch, interest) != CRPC_OK)
        crpc_connection_break(connection, CRPC_ERROR_SYSTEM);
}

size_t crpc_connection_waiting_bytes(const crpc_connection *connection) {
    int unsent = 0;
    // What the kernel holds is not taken either. Where it does not say how much that is, only ours counts.
    if (ioctl(connection->fd, SIOCOUTQ, &unsent) != 0) unsent = 0;
    return connection->rest_length + (size_t)unsent;
}

/// Bytes wait: the peer must take some in time.
static void begin_stall(crpc_connection *connection) {
    if (connection->due_ns[CRPC_DUE_STALL] != 0) return;
    connection->stalled_bytes = crpc_connection_waiting_bytes(connection);
    crpc_connection_limit(connection, CRPC_DUE_STALL, connection->limits.write_stall_timeout_ms);
}

/// Writes all, or keeps what the socket does not take and waits for it. True if all went.
static bool write_all(crpc_connection *connection, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = write_some(connection, bytes, length);
        if (count == CRPC_IO_WAITS) break;
        if (count <= 0) {
            connection->has_peer_ended = true;
            crpc_connection_break(connection, error_of(count));
            return false;
        }
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
    connection->rest_length = length;
    begin_stall(connection);
    // Half a message of TLS after the handshake keeps OpenSSL from writing until the rest came: room in the socket, which
    // there is, would wake us in vain.
    bool awaits_peer = connection->ssl != NULL && SSL_want_read(connection->ssl);
    crpc_connection_watch_for(connection, awaits_peer ? CRPC_READABLE : CRPC_READABLE | CRPC_WRITABLE);
    return false;
}

static bool write_rest(crpc_connection *connection) {
    if (connection->rest_length == 0) return true;
    size_t length = connection->rest_length;
    connection->rest_length = 0;
    if (!write_all(connection, connection->rest, length)) return false;
    free(connection->rest); // a connection that keeps up holds no buffer
    connection->rest = NULL;
    crpc_connection_watch_for(connection, CRPC_READABLE);
    crpc_connection_limit(connection, CRPC_DUE_STALL, 0);
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

/// Writes the frame that says why the connection ends (RFC 9113 section 6.8), where the session cannot: after a failure
/// nghttp2 promises nothing but that it can be freed. Its length.
static ssize_t put_goaway(const crpc_connection *connection, uint8_t *target) {
    enum { FIXED_LENGTH = 8 };
    const char *reason = connection->goaway_reason == NULL ? "" : connection->goaway_reason;
    size_t length = strlen(reason);
    uint32_t last = (uint32_t)connection->last_id, code = connection->goaway_code;
    const uint8_t fixed[CRPC_FRAME_HEAD + FIXED_LENGTH] = {
        0, 0, (uint8_t)(FIXED_LENGTH + length), NGHTTP2_GOAWAY, 0, 0, 0, 0, 0,
        (uint8_t)(last >> 24), (uint8_t)(last >> 16), (uint8_t)(last >> 8), (uint8_t)last,
        (uint8_t)(code >> 24), (uint8_t)(code >> 16), (uint8_t)(code >> 8), (uint8_t)code};
    memcpy(target, fixed, sizeof fixed);
    memcpy(target + sizeof fixed, reason, length);
    return (ssize_t)(sizeof fixed + length);
}

void crpc_connection_say_goodbye(crpc_connection *connection) {
    // That a peer learns why it is dismissed is a courtesy, so what fails here is not looked at.
    if (connection->rest_length == 0 && !connection->has_peer_ended) {
        uint8_t *buffer = connection->loop->write_buffer;
        ssize_t length = connection->is_session_over ? put_goaway(connection, buffer) : gather(connection);
        if (length > 0) (void)write_some(connection, connection->loop->write_buffer, (size_t)length);
    }
    if (connection->ssl != NULL) (void)SSL_shutdown(connection->ssl);
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

/// Client: says GOAWAY once it drains and its last call has ended. Earlier, a server whose calls are all done might
/// close before it sees those that still wait to go out.
static void submit_last_goaway(crpc_connection *connection) {
    bool is_due = connection->is_draining && !connection->is_goaway_final && connection->stream_count == 0;
    if (connection->callbacks == NULL || !is_due) return;
    connection->is_goaway_final = true;
    if (nghttp2_submit_goaway(connection->session, NGHTTP2_FLAG_NONE, 0, NGHTTP2_NO_ERROR, NULL, 0) != 0)
        crpc_connection_break(connection, CRPC_ERROR_MEMORY);
}

static void flush(crpc_connection *connection) {
    tell_closes(connection);
    if (connection->withheld_bytes > 0 && !connection->is_broken) crpc_give_back(connection);
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
    if (connection->withheld_bytes > 0) crpc_give_back(connection); // answers went, and less is held
    if (nghttp2_session_want_write(connection->session)) {
        crpc_connection_mark(connection);
    } else {
        end_if_done(connection);
    }
    crpc_connection_watch_buffers(connection);
}

void crpc_connection_flush(crpc_connection *connection) {
    connection->loop->callback_depth += 1;
    flush(connection);
    connection->loop->callback_depth -= 1;
}
