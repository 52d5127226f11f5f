#include "grpc/call.h"
#include "grpc/held_calls.h"
#include "http/bytes.h"

// Messages that arrive, on either side.

crpc_encoding crpc_encoding_named(const uint8_t *value, size_t length) {
    if (crpc_equals(value, length, "gzip")) return CRPC_ENCODING_GZIP;
    return crpc_equals(value, length, "identity") ? CRPC_ENCODING_IDENTITY : CRPC_ENCODING_UNKNOWN;
}

void crpc_call_refuse_broken(crpc_stream *stream, int error) {
    crpc_connection *connection = crpc_call_connection(stream);
    if (connection->h2.is_server && error != CRPC_ERROR_MEMORY)
        (void)crpc_h2_stream_charge(&stream->h2); // if the connection ends for it, then with this turn
    int status = error == CRPC_ERROR_LIMIT || error == CRPC_ERROR_MEMORY ? CRPC_STATUS_RESOURCE_EXHAUSTED
                                                                         : CRPC_STATUS_INTERNAL;
    connection->role->refuse_message(
        stream, status,
        error == CRPC_ERROR_LIMIT    ? "the message is larger than the limit"
        : error == CRPC_ERROR_MEMORY ? "out of memory"
                                     : "a message's prefix is malformed");
}

void crpc_call_release(crpc_stream *stream) {
    // A message that is being put together is held back only while there are others to take off first: nobody could
    // take off this one, and it may be larger than the window.
    crpc_connection *connection = crpc_call_connection(stream);
    size_t held = crpc_call_takes_messages(stream) ? stream->in.unread_bytes : 0;
    if (held > 0) held += stream->deframer.prefix_length + stream->deframer.received;
    if (stream->in.unreleased_bytes <= held) return;
    size_t released = stream->in.unreleased_bytes - held;
    if (crpc_session_give_back_stream(&stream->h2, released) != CRPC_OK)
        crpc_h2_break(&connection->h2, CRPC_ERROR_MEMORY);
    stream->in.unreleased_bytes = held;
    connection->held.unreleased_bytes -= released;
    crpc_h2_mark(&connection->h2);
}

/// Counts what has come of a message that is not whole. False if the connection holds too much already, in which case
/// the call is refused.
static bool receive_hold_partial(crpc_stream *stream) {
    crpc_connection *connection = crpc_call_connection(stream);
    size_t held = stream->deframer.prefix_length + stream->deframer.received;
    if (held == stream->in.partial_bytes) return true;
    bool is_over = held > stream->in.partial_bytes && crpc_holds_too_much(connection);
    if (stream->in.partial_bytes == 0 || held < stream->in.partial_bytes)
        stream->in.partial_ns = crpc_call_now_ns(stream);
    crpc_hold(connection, held - stream->in.partial_bytes); // modulo 2^n, where it is less
    stream->in.partial_bytes = held;
    return !is_over;
}

/// Counts a message that is reported as held: until the callee consumes it or, where it is the whole request of a call that is being
/// answered, until the call ends.
static void receive_count(crpc_stream *stream, size_t length, bool is_last) {
    crpc_connection *connection = crpc_call_connection(stream);
    crpc_let_go(connection, stream->in.partial_bytes); // it is whole now
    stream->in.partial_bytes = 0;
    if (stream->in.consumes_manually) {
        if (stream->in.unread_bytes == 0) stream->in.read_ns = crpc_call_now_ns(stream);
        stream->in.unread_bytes += length + CRPC_MESSAGE_OVERHEAD;
        crpc_hold(connection, length + CRPC_MESSAGE_OVERHEAD);
    } else if (is_last && connection->h2.is_server) {
        stream->in.kept_bytes += length;
        crpc_hold(connection, length);
    }
}

static void receive_messages(crpc_stream *stream, const uint8_t *bytes, size_t length, bool ends_stream) {
    const crpc_role *role = crpc_call_connection(stream)->role;
    while (crpc_call_takes_messages(stream)) {
        crpc_message message;
        int found = crpc_deframer_next(&stream->deframer, &bytes, &length, &message);
        if (found == 0) break;
        if (found > 0 && message.compressed && stream->head.encoding != CRPC_ENCODING_GZIP)
            found = CRPC_ERROR_PROTOCOL;
        if (found < 0) {
            crpc_call_refuse_broken(stream, found);
            break;
        }
        bool is_last = ends_stream && length == 0;
        receive_count(stream, message.length, is_last);
        role->tell_message(stream, &message, is_last);
    }
}

int crpc_call_on_data(crpc_h2_stream *h2_stream, const uint8_t *bytes, size_t length, bool ends_stream) {
    crpc_stream *stream = crpc_stream_of(h2_stream);
    crpc_connection *connection = crpc_call_connection(stream);
    int error = crpc_give_back_or_withhold(connection, stream->in.consumes_manually, length);
    if (error != CRPC_OK) return error;
    if (stream->in.consumes_manually) {
        stream->in.unreleased_bytes += length;
        connection->held.unreleased_bytes += length;
    } else if (crpc_session_give_back_stream(h2_stream, length) != CRPC_OK) {
        return CRPC_ERROR_MEMORY;
    }
    stream->in.is_receiving = true;
    receive_messages(stream, bytes, length, ends_stream);
    stream->in.is_receiving = false;
    crpc_deframer_trim(&stream->deframer);
    if (!receive_hold_partial(stream) && crpc_call_takes_messages(stream))
        connection->role->refuse_message(
            stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "too many messages are being received");
    if (!crpc_call_takes_messages(stream)) crpc_call_drop_partial(stream);
    if (stream->in.consumes_manually) crpc_call_release(stream);
    return CRPC_OK;
}

// ---- What the callee holds ----

void crpc_stream_consume(crpc_stream *stream, size_t length) {
    crpc_connection *connection = crpc_call_connection(stream);
    size_t bytes = length > SIZE_MAX - CRPC_MESSAGE_OVERHEAD ? SIZE_MAX : CRPC_MESSAGE_OVERHEAD + length;
    if (bytes > stream->in.unread_bytes) bytes = stream->in.unread_bytes;
    stream->in.unread_bytes -= bytes;
    stream->in.read_ns = crpc_call_now_ns(stream);
    crpc_let_go(connection, bytes);
    if (connection->held.withheld_bytes > 0) crpc_h2_mark(&connection->h2); // some may be given back
    if (!stream->in.is_receiving) crpc_call_release(stream); // else when all that arrived is looked through
}

void crpc_stream_consume_manually(crpc_stream *stream) { stream->in.consumes_manually = true; }

int crpc_stream_keep(crpc_stream *stream, size_t bytes) {
    crpc_connection *connection = crpc_call_connection(stream);
    if (crpc_holds_too_much(connection)) {
        connection->role->refuse_message(
            stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "too many bytes are held for the client");
        return CRPC_ERROR_LIMIT;
    }
    stream->in.kept_bytes += bytes;
    crpc_hold(connection, bytes);
    return CRPC_OK;
}
