#include "crpc_call_stats.h"
#include "grpc/call.h"
#include "grpc/header_names.h"
#include "grpc/held_calls.h"
#include "http/bytes.h"
#include "http2/huffman.h"

#include <string.h>

// A server's side of calls: heads of requests, calls that begin, callbacks to their handlers.

// ---- The head of a request ----

/// Whether gzip is among names parted by commas, with or without spaces around them.
static bool server_names_gzip(const uint8_t *value, size_t length) {
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
static bool server_is_grpc(const uint8_t *value, size_t length) {
    static const char grpc[] = "application/grpc";
    size_t known = sizeof grpc - 1;
    if (length < known || memcmp(value, grpc, known) != 0) return false;
    size_t rest = length - known;
    const uint8_t *suffix = value + known;
    return rest == 0 || suffix[0] == ';' ||
           (rest >= 6 && memcmp(suffix, "+proto", 6) == 0 && (rest == 6 || suffix[6] == ';'));
}

/// Keeps a field that is not of a call's metadata, unless it is known that this is one. By itself, so that the fields of calls
/// pay nothing for it.
__attribute__((noinline)) static int server_keep_other(crpc_stream *stream, const crpc_entry *field) {
    if (stream->head.is_grpc || !crpc_service_takes_exchanges(crpc_call_connection(stream)->service)) return CRPC_OK;
    stream->head.has_others = true;
    return crpc_call_append_field(stream, field);
}

static int server_on_field(crpc_h2_stream *h2_stream, int header, const crpc_entry *field) {
    crpc_stream *stream = crpc_stream_of(h2_stream);
    const uint8_t *value = field->value;
    size_t length = field->value_length;
    if (h2_stream->remote.state != CRPC_REMOTE_HEAD) return CRPC_OK; // a request's trailers are not told
    switch (header) {
    case CRPC_HEADER_APPLICATION: return crpc_call_append_field(stream, field);
    case CRPC_HEADER_PATH:
        stream->head.method = crpc_paths_find(&crpc_call_connection(stream)->service->paths, value, length);
        return stream->head.method < 0 ? server_keep_other(stream, field) : CRPC_OK;
    case CRPC_HEADER_METHOD:
        stream->head.is_post = crpc_equals(value, length, "POST");
        if (stream->head.is_post) return CRPC_OK; // as each call's is
        stream->head.is_head = crpc_equals(value, length, "HEAD");
        return server_keep_other(stream, field);
    case CRPC_HEADER_CONTENT_TYPE:
        stream->head.is_grpc = stream->head.is_post && server_is_grpc(value, length);
        return stream->head.is_grpc ? CRPC_OK : server_keep_other(stream, field);
    case CRPC_HEADER_GRPC_TIMEOUT:
        stream->head.is_timeout_bad = crpc_timeout_parse(value, length, &stream->head.timeout_ns) != CRPC_OK;
        return server_keep_other(stream, field);
    case CRPC_HEADER_GRPC_ENCODING:
        stream->head.encoding = crpc_encoding_named(value, length);
        return server_keep_other(stream, field);
    case CRPC_HEADER_GRPC_ACCEPT_ENCODING:
        stream->head.accepts_gzip = server_names_gzip(value, length);
        return server_keep_other(stream, field);
    case CRPC_HEADER_EXPECT:
        stream->head.expects_continue = crpc_equals(value, length, "100-continue");
        return CRPC_OK;
    default: return CRPC_OK;
    }
}

/// The block of a call has metadata alone: what came before it was known to be one is taken out.
static void server_drop_others(crpc_stream *stream) {
    size_t offset = 0, end = 0, begin = 0;
    crpc_entry field;
    while (crpc_metadata_next(stream->block, stream->block_length, &offset, &field)) {
        size_t size = offset - begin;
        if (!crpc_metadata_is_reserved(field.name, field.name_length)) {
            memmove(stream->block + end, stream->block + begin, size);
            end += size;
        }
        begin = offset;
    }
    stream->block_length = end;
}

/// Answers a request that never becomes a call.
static void server_refuse(crpc_stream *stream, int code, const char *message) {
    crpc_status status = {.code = code, .message = (const uint8_t *)message, .message_length = strlen(message)};
    stream->outcome.is_refused = stream->h2.local.is_cut_short = true;
    (void)crpc_stream_finish(stream, &status); // if it cannot be said, the stream is reset
}

static void server_refuse_http(crpc_stream *stream, const char *http_status, const char *text) {
    stream->outcome.is_refused = stream->h2.local.is_cut_short = true;
    crpc_call_answer_plain(stream, http_status, text);
}

static void server_shed(crpc_stream *stream, const char *text) {
    crpc_count(&stream->h2.h2->turn->stats.calls_shed, 1);
    server_refuse(stream, CRPC_STATUS_RESOURCE_EXHAUSTED, text);
}

static void server_begin_call(crpc_stream *stream) {
    crpc_connection *connection = crpc_call_connection(stream);
    crpc_service *service = connection->service;
    if (stream->head.has_others) server_drop_others(stream);
    bool has_deadline = stream->head.timeout_ns != UINT64_MAX;
    if (has_deadline) stream->deadline_ns = crpc_call_now_ns(stream) + stream->head.timeout_ns;
    if (has_deadline && crpc_call_set_deadline(stream, stream->deadline_ns) != CRPC_OK) {
        server_refuse(stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    crpc_request request = {
        .method = (uint32_t)stream->head.method,
        .deadline_ns = stream->deadline_ns,
        .metadata = stream->block,
        .metadata_length = stream->block_length,
        .accepts_gzip = stream->head.accepts_gzip,
        .handlers = connection->handlers,
    };
    service->call_count += 1;
    crpc_handler_begin(connection->handlers);
    void *call = service->callbacks->on_call(service->server, connection->context, stream, &request);
    stream->call = call;
    if (call == NULL) {
        service->call_count -= 1;
        crpc_handler_ended(connection->handlers);
        server_refuse(stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "the server takes no more calls now");
        return;
    }
    // The callee has a copy of the metadata, which may be much longer than what came of it (RFC 7541 section 7.3).
    stream->in.kept_bytes += stream->block_length;
    crpc_hold(connection, stream->block_length);
}

static void server_take_request(crpc_stream *stream, bool is_last) {
    crpc_connection *connection = crpc_call_connection(stream);
    const crpc_service *service = connection->service;
    uint32_t others = connection->h2.stream_count - 1;
    bool is_call = stream->head.is_grpc; // which only POST is
    if (!crpc_authority_is_served(&connection->h2.remote.authority, &service->names)) {
        stream->h2.remote.reads_on = !is_call && crpc_service_takes_exchanges(service);
        server_refuse_http(stream, "421", "this server does not answer to that name\n");
    } else if (!is_call && crpc_service_takes_exchanges(service)) {
        crpc_call_exchange(stream, is_last);
    } else if (stream->h2.remote.is_head_too_large) {
        server_refuse(stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "the request's metadata is too large");
    } else if (!is_call && stream->head.method < 0) {
        server_refuse_http(stream, "404", "there is no such gRPC method\n");
    } else if (!stream->head.is_post) {
        server_refuse_http(stream, "405", "gRPC calls are POST requests\n");
    } else if (!stream->head.is_grpc) {
        server_refuse_http(stream, "415", "the content type of gRPC calls is application/grpc\n");
    } else if (stream->head.method < 0) {
        server_refuse(stream, CRPC_STATUS_UNIMPLEMENTED, "no such method");
    } else if (stream->head.encoding == CRPC_ENCODING_UNKNOWN) {
        server_refuse(stream, CRPC_STATUS_UNIMPLEMENTED, "the message encoding is not supported");
    } else if (stream->head.is_timeout_bad) {
        server_refuse(stream, CRPC_STATUS_INTERNAL, "malformed grpc-timeout");
    } else if (!crpc_service_has_place(service, service->call_count, others)) {
        server_shed(stream, "the server has too many calls in flight");
    } else if (!crpc_handlers_have_room(connection->handlers, connection->h2.limits.streams_max)) {
        server_shed(stream, "too many calls that have ended are still being handled");
    } else if (crpc_holds_too_much(connection)) {
        server_shed(stream, "too many bytes are held for the client");
    } else {
        server_begin_call(stream);
    }
    crpc_call_drop_block(stream);
}

// ---- The end of a request ----

static void server_on_end_stream(crpc_h2_stream *h2_stream) {
    crpc_stream *stream = crpc_stream_of(h2_stream);
    if (!crpc_h2_stream_is_half_closed(h2_stream)) crpc_h2_stream_set_remote(h2_stream, CRPC_REMOTE_CLOSED);
    if (!crpc_call_takes_messages(stream) || stream->in.is_end_told) return;
    stream->in.is_end_told = true;
    if (stream->exchanged.is_it) {
        crpc_exchange_on_end(stream);
        return;
    }
    if (crpc_deframer_is_between_messages(&stream->deframer)) {
        crpc_call_connection(stream)->service->callbacks->on_half_close(stream->call);
    } else {
        crpc_call_refuse_broken(stream, CRPC_ERROR_PROTOCOL);
    }
}

static void server_on_head(crpc_h2_stream *h2_stream, bool ends_stream) {
    crpc_stream *stream = crpc_stream_of(h2_stream);
    if (h2_stream->remote.state == CRPC_REMOTE_HEAD) {
        crpc_h2_stream_set_remote(h2_stream, CRPC_REMOTE_BODY);
        stream->head.is_request = true;
        server_take_request(stream, ends_stream);
    }
    if (ends_stream) server_on_end_stream(h2_stream);
}

// ---- Callbacks to the handler ----

static void server_refuse_message(crpc_stream *stream, int status, const char *text) {
    if (stream->exchanged.is_it) { // it has no words for that
        crpc_stream_reset(stream, CRPC_H2_ENHANCE_YOUR_CALM);
        return;
    }
    if (!crpc_h2_stream_is_finished(&stream->h2)) stream->h2.local.is_cut_short = true;
    crpc_status refusal = {.code = status, .message = (const uint8_t *)text, .message_length = strlen(text)};
    (void)crpc_stream_finish(stream, &refusal); // if it cannot be said, the stream is reset
}

static void server_tell_message(crpc_stream *stream, const crpc_message *message, bool is_last) {
    const crpc_connection *connection = crpc_call_connection(stream);
    if (is_last) {
        crpc_h2_stream_set_remote(&stream->h2, CRPC_REMOTE_CLOSED);
        stream->in.is_end_told = true;
    }
    connection->service->callbacks->on_message(stream->call, message, is_last);
    // A handler that reads as fast as messages come may go on.
    if (stream->in.unread_bytes > 0 && crpc_call_takes_messages(stream) && crpc_holds_too_much(connection))
        server_refuse_message(stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "too many messages wait to be read");
}

static void server_tell_writable(crpc_stream *stream) {
    const crpc_server_callbacks *callbacks = crpc_call_connection(stream)->service->callbacks;
    if (stream->exchanged.is_it) {
        callbacks->exchange.on_exchange_writable(stream->call);
    } else {
        callbacks->on_writable(stream->call);
    }
}

static void server_tell_deadline(crpc_stream *stream) {
    if (!crpc_h2_stream_is_finished(&stream->h2)) {
        stream->h2.local.is_cut_short = true;
        // The client set a deadline that nobody could keep. The end of the connection, if any, follows with this turn.
        if (crpc_h2_stream_is_rapid(&stream->h2)) (void)crpc_h2_stream_charge(&stream->h2);
    }
    const crpc_server_callbacks *callbacks = crpc_call_connection(stream)->service->callbacks;
    if (stream->exchanged.is_it) {
        callbacks->exchange.on_exchange_deadline(stream->call);
    } else {
        callbacks->on_deadline(stream->call);
    }
}

static void server_tell_close(crpc_stream *stream, void *call, uint32_t error) {
    crpc_service *service = crpc_call_connection(stream)->service;
    service->call_count -= 1;
    if (stream->h2.h2->turn->is_ending) return;
    if (stream->exchanged.is_it) {
        bool is_complete = error == CRPC_H2_NO_ERROR && stream->h2.local.state == CRPC_LOCAL_FINISHED &&
                           stream->out.queued_bytes == 0;
        service->callbacks->exchange.on_exchange_close(call, is_complete);
    } else {
        service->callbacks->on_close(call, error);
    }
}

/// Counts a request that has ended, whether or not it became a call.
static void server_count(const crpc_stream *stream) {
    const crpc_service *service = crpc_call_connection(stream)->service;
    if (service->calls == NULL || !stream->head.is_request || stream->exchanged.is_it) return;
    // Without a status it ended otherwise than we said: by the client, or for a fault of ours.
    int status = stream->outcome.grpc_status >= 0                     ? stream->outcome.grpc_status
                 : stream->h2.local.state == CRPC_LOCAL_RESET ? CRPC_STATUS_INTERNAL
                                                              : CRPC_STATUS_CANCELLED;
    uint32_t row = stream->head.method < 0 ? UINT32_MAX : (uint32_t)stream->head.method;
    crpc_call_table_count(service->calls, row, status, stream->h2.h2->turn->stamp_ns - stream->h2.began_ns);
}

static int server_on_data(crpc_h2_stream *h2_stream, const uint8_t *bytes, size_t length, bool ends_stream) {
    crpc_stream *stream = crpc_stream_of(h2_stream);
    return h2_stream->remote.reads_on ? crpc_exchange_on_data(stream, bytes, length, ends_stream)
                                      : crpc_call_on_data(h2_stream, bytes, length, ends_stream);
}

static void server_on_answered(crpc_h2_stream *h2_stream) {
    crpc_stream *stream = crpc_stream_of(h2_stream);
    server_count(stream);
    stream->head.is_request = false; // it is counted
    crpc_exchange_on_answered(stream);
}

static void server_on_close(crpc_h2_stream *h2_stream, uint32_t error) {
    server_count(crpc_stream_of(h2_stream));
    crpc_call_on_close(h2_stream, error);
}

static const crpc_role server_role = {
    .above = {
        .stream_size = sizeof(crpc_stream),
        .names = &crpc_grpc_names,
        .on_begin = crpc_call_on_begin,
        .on_field = server_on_field,
        .on_head = server_on_head,
        .on_data = server_on_data,
        .on_end_stream = server_on_end_stream,
        .on_body = crpc_call_on_body,
        .on_answered = server_on_answered,
        .on_close = server_on_close,
        .on_free = crpc_call_on_free,
        .on_settings = crpc_connection_on_settings,
        .on_goaway = crpc_connection_on_goaway,
        .on_sweep = crpc_connection_on_sweep,
    },
    .tell_message = server_tell_message,
    .tell_writable = server_tell_writable,
    .tell_deadline = server_tell_deadline,
    .tell_close = server_tell_close,
    .refuse_message = server_refuse_message,
};

// ---- The beginning of a connection ----

int crpc_connection_begin_server(
    crpc_connection *connection, crpc_service *service, const crpc_limits *limits, const crpc_h2_below *below,
    bool is_encrypted) {
    crpc_huffman_prepare();
    connection->role = &server_role;
    connection->service = service;
    connection->is_encrypted = is_encrypted;
    connection->handlers = crpc_handlers_new(service);
    if (connection->handlers == NULL) return CRPC_ERROR_MEMORY;
    int error = crpc_h2_begin(&connection->h2, service->turn, limits, true, &server_role.above, below);
    if (error != CRPC_OK) crpc_handlers_leave(connection->handlers);
    return error;
}
