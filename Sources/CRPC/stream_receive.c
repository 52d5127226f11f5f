#include "internal.h"

#include <stdio.h>

// What arrives: header blocks, messages, the end of the peer's half.

static bool equals(const uint8_t *text, size_t length, const char *wanted) {
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

// ---- Header blocks ----

static int append_entry(crpc_stream *stream, const crpc_entry *entry) {
    size_t size = CRPC_ENTRY_OVERHEAD + entry->name_length + entry->value_length;
    size_t needed = stream->block_length + size;
    if (needed > stream->block_capacity) {
        size_t capacity = stream->block_capacity == 0 ? 512 : stream->block_capacity;
        while (capacity < needed) capacity *= 2;
        uint8_t *block = realloc(stream->block, capacity);
        if (block == NULL) return CRPC_ERROR_MEMORY;
        stream->block = block;
        stream->block_capacity = capacity;
    }
    stream->block_length += crpc_metadata_put(stream->block + stream->block_length, entry);
    return CRPC_OK;
}

static crpc_encoding encoding_named(const uint8_t *value, size_t length) {
    if (equals(value, length, "gzip")) return CRPC_ENCODING_GZIP;
    return equals(value, length, "identity") ? CRPC_ENCODING_IDENTITY : CRPC_ENCODING_UNKNOWN;
}

/// Whether gzip is among names parted by commas, with or without spaces around them.
static bool names_gzip(const uint8_t *value, size_t length) {
    static const char gzip[] = "gzip";
    for (size_t start = 0; start < length;) {
        const uint8_t *comma = memchr(value + start, ',', length - start);
        size_t end = comma == NULL ? length : (size_t)(comma - value), next = end + 1;
        while (start < end && value[start] == ' ') start += 1;
        while (end > start && value[end - 1] == ' ') end -= 1;
        if (end - start == sizeof gzip - 1 && memcmp(value + start, gzip, sizeof gzip - 1) == 0) return true;
        start = next;
    }
    return false;
}

/// Only protobuf messages are spoken here: application/grpc, …+proto, and either with parameters.
static bool is_grpc_request(const uint8_t *value, size_t length) {
    static const char grpc[] = "application/grpc";
    size_t known = sizeof grpc - 1;
    if (length < known || memcmp(value, grpc, known) != 0) return false;
    size_t rest = length - known;
    const uint8_t *suffix = value + known;
    return rest == 0 || suffix[0] == ';' ||
           (rest >= 6 && memcmp(suffix, "+proto", 6) == 0 && (rest == 6 || suffix[6] == ';'));
}

static void take_request_header(crpc_stream *stream, crpc_header header, const uint8_t *value, size_t length) {
    switch (header) {
    case CRPC_HEADER_PATH:
        stream->method = crpc_listener_find(stream->connection->listener, value, length);
        break;
    case CRPC_HEADER_METHOD:
        stream->method_is_post = equals(value, length, "POST");
        stream->method_is_head = equals(value, length, "HEAD");
        break;
    case CRPC_HEADER_CONTENT_TYPE: stream->content_type_is_grpc = is_grpc_request(value, length); break;
    case CRPC_HEADER_GRPC_TIMEOUT:
        stream->is_timeout_bad = crpc_timeout_parse(value, length, &stream->timeout_ns) != CRPC_OK;
        break;
    case CRPC_HEADER_GRPC_ENCODING: stream->encoding = encoding_named(value, length); break;
    case CRPC_HEADER_GRPC_ACCEPT_ENCODING: stream->accepts_gzip = names_gzip(value, length); break;
    default: break;
    }
}

static int take_status_message(crpc_stream *stream, const uint8_t *value, size_t length) {
    free(stream->status_message);
    stream->status_message_length = 0;
    stream->status_message = malloc(length + 1);
    if (stream->status_message == NULL) return CRPC_ERROR_MEMORY;
    stream->status_message_length = crpc_percent_decode(value, length, stream->status_message);
    return CRPC_OK;
}

static int take_response_header(crpc_stream *stream, crpc_header header, const uint8_t *value, size_t length) {
    int status;
    switch (header) {
    case CRPC_HEADER_STATUS: stream->http_status = crpc_status_parse(value, length); break;
    case CRPC_HEADER_GRPC_STATUS:
        if (stream->is_local_end) break;
        status = crpc_status_parse(value, length);
        stream->grpc_status = status < 0 ? CRPC_STATUS_UNKNOWN : status; // as gRPC says of what it does not define
        break;
    case CRPC_HEADER_GRPC_MESSAGE: return stream->is_local_end ? CRPC_OK : take_status_message(stream, value, length);
    case CRPC_HEADER_GRPC_ENCODING: stream->encoding = encoding_named(value, length); break;
    case CRPC_HEADER_CONTENT_TYPE:
        stream->content_type_is_grpc = length >= 16 && memcmp(value, "application/grpc", 16) == 0;
        break;
    default: break;
    }
    return CRPC_OK;
}

int crpc_stream_on_header(crpc_stream *stream, crpc_header header, const crpc_entry *entry) {
    stream->header_bytes += entry->name_length + entry->value_length + CRPC_ENTRY_COST;
    if (stream->header_bytes > stream->connection->limits.header_bytes_max || entry->name_length > UINT16_MAX)
        stream->is_header_too_large = 1;
    if (stream->is_header_too_large) return CRPC_OK; // counted, answered when the block ends, and not kept
    bool is_request = stream->connection->listener != NULL;
    if (is_request && stream->has_received_head) return CRPC_OK; // nobody asks for a request's trailers
    if (header == CRPC_HEADER_METADATA) return append_entry(stream, entry);
    if (!is_request) return take_response_header(stream, header, entry->value, entry->value_length);
    take_request_header(stream, header, entry->value, entry->value_length);
    return CRPC_OK;
}

// ---- Server: the head of a request ----

static void begin_call(crpc_stream *stream) {
    crpc_connection *connection = stream->connection;
    crpc_listener *listener = connection->listener;
    uint64_t now = connection->loop->now_ns;
    if (stream->timeout_ns != UINT64_MAX) stream->deadline_ns = now + stream->timeout_ns;
    if (stream->timeout_ns != UINT64_MAX && crpc_stream_set_deadline(stream, stream->deadline_ns) != CRPC_OK) {
        crpc_stream_refuse(stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    crpc_request request = {
        .method = (uint32_t)stream->method,
        .deadline_ns = stream->deadline_ns,
        .metadata = stream->block,
        .metadata_length = stream->block_length,
        .accepts_gzip = stream->accepts_gzip,
        .handlers = connection->handlers,
    };
    listener->call_count += 1;
    crpc_handler_begin(connection->handlers);
    void *call = listener->callbacks->on_call(listener->server, connection->context, stream, &request);
    stream->call = call;
    if (call == NULL) {
        listener->call_count -= 1;
        crpc_handler_ended(connection->handlers);
        crpc_stream_refuse(stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "the server takes no more calls now");
        return;
    }
    // The callee has a copy of the metadata, which may be much longer than what came of it (RFC 7541 section 7.3).
    stream->kept_bytes += stream->block_length;
    crpc_hold(connection, stream->block_length);
}

static void shed(crpc_stream *stream, const char *text) {
    crpc_count(&stream->connection->loop->stats.calls_shed, 1);
    crpc_stream_refuse(stream, CRPC_STATUS_RESOURCE_EXHAUSTED, text);
}

static void on_request(crpc_stream *stream) {
    const crpc_listener *listener = stream->connection->listener;
    uint32_t others = stream->connection->stream_count - 1;
    bool is_call = stream->method_is_post && stream->content_type_is_grpc;
    if (stream->is_header_too_large) {
        crpc_stream_refuse(stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "the request's metadata is too large");
    } else if (!is_call && stream->method < 0) {
        crpc_stream_refuse_http(stream, "404", "there is no such gRPC method\n");
    } else if (!stream->method_is_post) {
        crpc_stream_refuse_http(stream, "405", "gRPC calls are POST requests\n");
    } else if (!stream->content_type_is_grpc) {
        crpc_stream_refuse_http(stream, "415", "the content type of gRPC calls is application/grpc\n");
    } else if (stream->method < 0) {
        crpc_stream_refuse(stream, CRPC_STATUS_UNIMPLEMENTED, "no such method");
    } else if (stream->encoding == CRPC_ENCODING_UNKNOWN) {
        crpc_stream_refuse(stream, CRPC_STATUS_UNIMPLEMENTED, "the message encoding is not supported");
    } else if (stream->is_timeout_bad) {
        crpc_stream_refuse(stream, CRPC_STATUS_INTERNAL, "malformed grpc-timeout");
    } else if (!crpc_listener_has_place(listener, listener->call_count, others)) {
        shed(stream, "the server has too many calls in flight");
    } else if (!crpc_handlers_have_room(stream->connection)) {
        shed(stream, "too many calls that have ended are still being handled");
    } else if (crpc_holds_too_much(stream->connection)) {
        shed(stream, "too many bytes are held for the client");
    } else {
        begin_call(stream);
    }
    crpc_stream_drop_block(stream);
}

// ---- Client: the head of an answer, and trailers ----

/// Drops what the server said of the status.
static void forget_status(crpc_stream *stream) {
    if (stream->is_local_end) return;
    free(stream->status_message);
    stream->status_message = NULL;
    stream->status_message_length = 0;
    stream->grpc_status = -1;
}

static void end_locally(crpc_stream *stream, int status, const char *message) {
    if (stream->grpc_status >= 0) return;
    forget_status(stream); // its message may have come already
    stream->grpc_status = status;
    stream->is_local_end = true;
    stream->status_message = (uint8_t *)strdup(message);
    if (stream->status_message != NULL) stream->status_message_length = strlen(message);
    crpc_stream_reset(stream, NGHTTP2_CANCEL);
}

static void on_response(crpc_stream *stream, bool ends_stream) {
    crpc_connection *connection = stream->connection;
    if (!ends_stream) forget_status(stream); // it stands in the last block only: a stream may end badly after its head
    if (stream->is_header_too_large) {
        end_locally(stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "the answer's metadata is too large");
    } else if (stream->http_status >= 100 && stream->http_status < 200) {
        stream->http_status = 0; // an interim answer: the real one follows
        stream->block_length = 0;
        stream->header_bytes = 0;
    } else if (!ends_stream) {
        stream->has_received_head = true;
        if (stream->http_status != 200) {
            end_locally(stream, crpc_status_from_http(stream->http_status), "the server answered with an HTTP error");
        } else if (!stream->content_type_is_grpc) {
            end_locally(stream, CRPC_STATUS_UNKNOWN, "the answer's content type is not application/grpc");
        } else if (stream->encoding == CRPC_ENCODING_UNKNOWN) {
            end_locally(stream, CRPC_STATUS_INTERNAL, "the answer's message encoding was not asked for");
        } else if (stream->call != NULL) {
            connection->callbacks->on_headers(stream->call, stream->block, stream->block_length);
        }
        stream->block_length = 0; // the trailers are put together anew
        stream->header_bytes = 0;
    }
}

int crpc_stream_on_head(crpc_stream *stream, bool ends_stream) {
    if (stream->connection->listener == NULL) {
        on_response(stream, ends_stream);
    } else if (!stream->has_received_head) {
        stream->has_received_head = true;
        on_request(stream);
    }
    if (ends_stream) crpc_stream_on_half_close(stream);
    return CRPC_OK;
}

// ---- Messages ----

void crpc_stream_refuse_message(crpc_stream *stream, int status, const char *text) {
    if (stream->connection->listener == NULL) {
        end_locally(stream, status, text);
        return;
    }
    if (!stream->is_finished) stream->is_cut_short = true;
    crpc_status refusal = {.code = status, .message = (const uint8_t *)text, .message_length = strlen(text)};
    (void)crpc_stream_finish(stream, &refusal); // if it cannot be said, the stream is reset
}

/// A message that breaks gRPC wastes a call, and whoever sends it pays for that.
static void refuse_broken_message(crpc_stream *stream, int error) {
    if (stream->connection->listener != NULL && error != CRPC_ERROR_MEMORY)
        (void)crpc_stream_charge(stream); // if the connection ends for it, then with this turn
    int status = error == CRPC_ERROR_LIMIT || error == CRPC_ERROR_MEMORY ? CRPC_STATUS_RESOURCE_EXHAUSTED
                                                                         : CRPC_STATUS_INTERNAL;
    crpc_stream_refuse_message(
        stream, status,
        error == CRPC_ERROR_LIMIT    ? "the message is larger than the limit"
        : error == CRPC_ERROR_MEMORY ? "out of memory"
                                     : "a message's prefix is malformed");
}

/// Whether messages still go anywhere.
static bool is_listening(const crpc_stream *stream) {
    if (stream->call == NULL || stream->is_reset) return false;
    return stream->connection->listener == NULL || !stream->is_finished;
}

void crpc_stream_release(crpc_stream *stream) {
    // A message that is being put together is held back only while there are others to take off first: nobody could
    // take off this one, and it may be larger than the window.
    crpc_connection *connection = stream->connection;
    size_t held = is_listening(stream) ? stream->unread_bytes : 0;
    if (held > 0) held += stream->deframer.prefix_length + stream->deframer.received;
    if (stream->unreleased_bytes <= held) return;
    size_t released = stream->unreleased_bytes - held;
    if (nghttp2_session_consume_stream(connection->session, stream->id, released) != 0)
        crpc_connection_break(connection, CRPC_ERROR_MEMORY);
    stream->unreleased_bytes = held;
    connection->unreleased_bytes -= released;
    crpc_connection_mark(connection);
}

/// Counts what has come of a message that is not whole. False if the connection holds too much already, in which case
/// the call is refused.
static bool hold_partial(crpc_stream *stream) {
    crpc_connection *connection = stream->connection;
    size_t held = stream->deframer.prefix_length + stream->deframer.received;
    if (held == stream->partial_bytes) return true;
    bool is_over = held > stream->partial_bytes && crpc_holds_too_much(connection);
    if (stream->partial_bytes == 0 || held < stream->partial_bytes) stream->partial_ns = connection->loop->now_ns;
    crpc_hold(connection, held - stream->partial_bytes); // modulo 2^n, where it is less
    stream->partial_bytes = held;
    return !is_over;
}

/// Counts a message that is told. Without word from the callee that it was taken off, it is held: as one of many, or as the
/// whole request of a call that is being answered.
static void count_message(crpc_stream *stream, size_t length, bool is_last) {
    crpc_let_go(stream->connection, stream->partial_bytes); // it is whole now
    stream->partial_bytes = 0;
    if (stream->consumes_manually) {
        if (stream->unread_bytes == 0) stream->read_ns = stream->connection->loop->now_ns;
        stream->unread_bytes += length + CRPC_MESSAGE_OVERHEAD;
        crpc_hold(stream->connection, length + CRPC_MESSAGE_OVERHEAD);
    } else if (is_last && stream->connection->listener != NULL) {
        stream->kept_bytes += length;
        crpc_hold(stream->connection, length);
    }
}

static void take_messages(crpc_stream *stream, const uint8_t *bytes, size_t length, bool ends_stream) {
    crpc_connection *connection = stream->connection;
    while (is_listening(stream)) {
        crpc_message message;
        int found = crpc_deframer_next(&stream->deframer, &bytes, &length, &message);
        if (found == 0) break;
        if (found < 0) {
            refuse_broken_message(stream, found);
            break;
        }
        if (message.compressed && stream->encoding != CRPC_ENCODING_GZIP) {
            refuse_broken_message(stream, CRPC_ERROR_PROTOCOL);
            break;
        }
        bool is_last = ends_stream && length == 0;
        count_message(stream, message.length, is_last);
        if (connection->listener == NULL) {
            connection->callbacks->on_message(stream->call, &message);
        } else {
            if (is_last) stream->is_half_closed = stream->is_told_half_closed = true;
            connection->listener->callbacks->on_message(stream->call, &message, is_last);
            // A handler that reads as fast as messages come may go on.
            if (stream->unread_bytes > 0 && is_listening(stream) && crpc_holds_too_much(connection))
                crpc_stream_refuse_message(
                    stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "too many messages wait to be read");
        }
    }
}

int crpc_stream_on_data(crpc_stream *stream, const uint8_t *bytes, size_t length, bool ends_stream) {
    if (stream->consumes_manually) {
        stream->unreleased_bytes += length;
        stream->connection->unreleased_bytes += length;
    } else if (nghttp2_session_consume_stream(stream->connection->session, stream->id, length) != 0) {
        return CRPC_ERROR_MEMORY;
    }
    stream->is_receiving = true;
    take_messages(stream, bytes, length, ends_stream);
    stream->is_receiving = false;
    crpc_deframer_trim(&stream->deframer);
    if (!hold_partial(stream) && is_listening(stream))
        crpc_stream_refuse_message(stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "too many messages are being received");
    if (!is_listening(stream)) crpc_stream_drop_partial(stream);
    if (stream->consumes_manually) crpc_stream_release(stream);
    return CRPC_OK;
}

/// Client: the answer is complete.
static void on_answered(crpc_stream *stream) {
    if (stream->grpc_status == 0 && !crpc_deframer_is_between_messages(&stream->deframer)) {
        forget_status(stream);
        end_locally(stream, CRPC_STATUS_INTERNAL, "the answer ended inside a message");
    }
    // What is left of the request is of no interest any more, and the server need not say so.
    if (!stream->is_finished) crpc_stream_reset(stream, NGHTTP2_NO_ERROR);
}

void crpc_stream_on_half_close(crpc_stream *stream) {
    stream->is_half_closed = true;
    if (!is_listening(stream)) return;
    if (stream->connection->listener == NULL) {
        on_answered(stream);
        return;
    }
    if (stream->is_told_half_closed) return;
    stream->is_told_half_closed = true;
    if (crpc_deframer_is_between_messages(&stream->deframer)) {
        stream->connection->listener->callbacks->on_half_close(stream->call);
    } else {
        refuse_broken_message(stream, CRPC_ERROR_PROTOCOL);
    }
}
