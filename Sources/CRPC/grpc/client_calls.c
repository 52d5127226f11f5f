#include "grpc/call.h"
#include "grpc/header_names.h"
#include "grpc/held_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A client's side of calls: answers that come, and what becomes of calls.

enum { REASON_LENGTH = 96 };

// ---- The head of an answer, and trailers ----

static int client_take_message(crpc_stream *stream, const uint8_t *value, size_t length) {
    free(stream->outcome.message);
    stream->outcome.message_length = 0;
    stream->outcome.message = malloc(length + 1);
    if (stream->outcome.message == NULL) return CRPC_ERROR_MEMORY;
    stream->outcome.message_length = crpc_percent_decode(value, length, stream->outcome.message);
    return CRPC_OK;
}

static int client_on_field(crpc_h2_stream *h2_stream, int header, const crpc_entry *field) {
    crpc_stream *stream = crpc_stream_of(h2_stream);
    const uint8_t *value = field->value;
    size_t length = field->value_length;
    int status;
    switch (header) {
    case CRPC_HEADER_APPLICATION: return crpc_call_append_field(stream, field);
    case CRPC_HEADER_STATUS: stream->outcome.http_status = crpc_status_parse(value, length); break;
    case CRPC_HEADER_GRPC_STATUS:
        if (stream->outcome.is_local) break;
        status = crpc_status_parse(value, length);
        stream->outcome.grpc_status = status < 0 ? CRPC_STATUS_UNKNOWN : status; // as gRPC says of undefined ones
        break;
    case CRPC_HEADER_GRPC_MESSAGE:
        return stream->outcome.is_local ? CRPC_OK : client_take_message(stream, value, length);
    case CRPC_HEADER_GRPC_ENCODING: stream->head.encoding = crpc_encoding_named(value, length); break;
    case CRPC_HEADER_CONTENT_TYPE:
        stream->head.is_grpc = length >= 16 && memcmp(value, "application/grpc", 16) == 0;
        break;
    default: break;
    }
    return CRPC_OK;
}

/// Drops what the server said of the status.
static void client_forget_status(crpc_stream *stream) {
    if (stream->outcome.is_local) return;
    free(stream->outcome.message);
    stream->outcome.message = NULL;
    stream->outcome.message_length = 0;
    stream->outcome.grpc_status = -1;
}

static void client_end_locally(crpc_stream *stream, int status, const char *message) {
    if (stream->outcome.grpc_status >= 0) return;
    client_forget_status(stream); // its message may have come already
    stream->outcome.grpc_status = status;
    stream->outcome.is_local = true;
    stream->outcome.message = (uint8_t *)strdup(message);
    if (stream->outcome.message != NULL) stream->outcome.message_length = strlen(message);
    crpc_stream_reset(stream, CRPC_H2_CANCEL);
}

/// The answer is complete.
static void client_on_end_stream(crpc_h2_stream *h2_stream) {
    crpc_stream *stream = crpc_stream_of(h2_stream);
    if (!crpc_h2_stream_is_half_closed(h2_stream)) crpc_h2_stream_set_remote(h2_stream, CRPC_REMOTE_CLOSED);
    if (!crpc_call_takes_messages(stream)) return;
    bool is_ok = stream->outcome.grpc_status == CRPC_STATUS_OK;
    if (is_ok && !crpc_deframer_is_between_messages(&stream->deframer)) {
        client_forget_status(stream);
        client_end_locally(stream, CRPC_STATUS_INTERNAL, "the answer ended inside a message");
    }
    // What is left of the request is of no interest any more, and the server need not say so.
    if (!crpc_h2_stream_is_finished(h2_stream)) crpc_stream_reset(stream, CRPC_H2_NO_ERROR);
}

/// The head of an answer, with its body to come.
static void client_take_head(crpc_stream *stream) {
    // A second one, or trailers without END_STREAM, are the session's to refuse.
    if (stream->h2.remote.state == CRPC_REMOTE_HEAD) crpc_h2_stream_set_remote(&stream->h2, CRPC_REMOTE_BODY);
    int http_status = stream->outcome.http_status;
    if (http_status != 200) {
        client_end_locally(stream, crpc_status_from_http(http_status), "the server answered with an HTTP error");
    } else if (!stream->head.is_grpc) {
        client_end_locally(stream, CRPC_STATUS_UNKNOWN, "the answer's content type is not application/grpc");
    } else if (stream->head.encoding == CRPC_ENCODING_UNKNOWN) {
        client_end_locally(stream, CRPC_STATUS_INTERNAL, "the answer's message encoding was not asked for");
    } else if (stream->call != NULL) {
        crpc_call_connection(stream)->callbacks->on_headers(stream->call, stream->block, stream->block_length);
    }
    stream->block_length = 0; // the trailers are put together anew
}

static void client_on_head(crpc_h2_stream *h2_stream, bool ends_stream) {
    crpc_stream *stream = crpc_stream_of(h2_stream);
    bool is_interim = stream->outcome.http_status >= 100 && stream->outcome.http_status < 200;
    // The status stands in the last block only: a stream may end badly after its head.
    if (!ends_stream) client_forget_status(stream);
    if (h2_stream->remote.is_head_too_large) {
        client_end_locally(stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "the answer's metadata is too large");
    } else if (is_interim) { // the real one follows
        stream->outcome.http_status = 0;
        stream->block_length = 0;
    } else if (!ends_stream) {
        client_take_head(stream);
    }
    if (ends_stream) client_on_end_stream(h2_stream);
}

// ---- How a call ended ----

/// Whether the deadline that we sent has passed, or is about to. A server that ends the call for it says CANCEL, and may
/// be heard before our own timer fires: in the same turn of the loop, or because its clock runs a little faster or it
/// counts in whole milliseconds.
static bool client_has_reached_deadline(const crpc_stream *stream) {
    enum { SLACK_NS = 2000000, SLACK_PARTS = 1024 };
    bool is_over = stream->h2.local.state == CRPC_LOCAL_RESET || stream->h2.h2->state == CRPC_H2_CLOSED;
    if (stream->deadline_ns == 0 || is_over) return false;
    uint64_t began = stream->h2.began_ns, given = stream->deadline_ns > began ? stream->deadline_ns - began : 0;
    return crpc_clock_ns() + SLACK_NS + given / SLACK_PARTS >= stream->deadline_ns;
}

/// The status of a call for which there is none yet, and a text that says why.
static int client_status_of(const crpc_stream *stream, uint32_t error, char text[REASON_LENGTH]) {
    const crpc_h2 *h2 = stream->h2.h2;
    int http_status = stream->outcome.http_status;
    if (error == CRPC_H2_CANCEL && client_has_reached_deadline(stream)) {
        (void)snprintf(text, REASON_LENGTH, "the deadline passed");
        return CRPC_STATUS_DEADLINE_EXCEEDED;
    }
    if (h2->state == CRPC_H2_CLOSED) {
        (void)snprintf(text, REASON_LENGTH, "the connection ended: %s", crpc_error_text(h2->end.error));
        return CRPC_STATUS_UNAVAILABLE;
    }
    if (http_status != 0 && http_status != 200) {
        (void)snprintf(text, REASON_LENGTH, "the server answered with HTTP status %d", http_status);
        return crpc_status_from_http(http_status);
    }
    if (error != CRPC_H2_NO_ERROR || stream->h2.remote.state == CRPC_REMOTE_RESET) {
        (void)snprintf(text, REASON_LENGTH, "the stream was reset with %s", crpc_h2_error_name(error));
        return crpc_status_from_http2_error(error);
    }
    (void)snprintf(text, REASON_LENGTH, "the server ended the stream without a status");
    return CRPC_STATUS_UNKNOWN;
}

/// The client's status. The server's word counts first, then what was decided here, then what HTTP says.
static crpc_outcome client_outcome_of(const crpc_stream *stream, uint32_t error, char text[REASON_LENGTH]) {
    const crpc_h2 *h2 = stream->h2.h2;
    int status = stream->outcome.grpc_status;
    bool is_unsent = h2->state == CRPC_H2_CLOSED && !h2->is_started;
    crpc_outcome outcome = {
        .status = status,
        .is_from_server = status >= 0 && !stream->outcome.is_local,
        .is_unprocessed = is_unsent || (error == CRPC_H2_REFUSED_STREAM && status < 0),
        .message = stream->outcome.message,
        .message_length = stream->outcome.message_length,
    };
    if (outcome.is_from_server) {
        outcome.metadata = stream->block;
        outcome.metadata_length = stream->block_length;
    }
    bool is_told = outcome.message != NULL || outcome.is_from_server;
    if (status >= 0 && is_told) return outcome; // a message alone says nothing
    text[0] = 0;
    if (status == CRPC_STATUS_DEADLINE_EXCEEDED) {
        (void)snprintf(text, REASON_LENGTH, "the deadline passed");
    } else if (status < 0) {
        outcome.status = client_status_of(stream, error, text);
    }
    outcome.message = (const uint8_t *)text;
    outcome.message_length = strlen(text);
    return outcome;
}

// ---- Callbacks to the caller ----

static void client_tell_message(crpc_stream *stream, const crpc_message *message, bool is_last) {
    (void)is_last; // what ends the call is its status
    crpc_call_connection(stream)->callbacks->on_message(stream->call, message);
}

static void client_tell_writable(crpc_stream *stream) {
    crpc_call_connection(stream)->callbacks->on_writable(stream->call);
}

static void client_tell_deadline(crpc_stream *stream) {
    stream->outcome.grpc_status = CRPC_STATUS_DEADLINE_EXCEEDED;
    stream->outcome.is_local = true;
    crpc_call_connection(stream)->callbacks->on_deadline(stream->call);
    crpc_stream_reset(stream, CRPC_H2_CANCEL);
}

static void client_tell_close(crpc_stream *stream, void *call, uint32_t error) {
    if (stream->h2.h2->turn->is_ending) return;
    char text[REASON_LENGTH];
    crpc_outcome outcome = client_outcome_of(stream, error, text);
    crpc_call_connection(stream)->callbacks->on_close(call, &outcome);
}

static const crpc_role client_role = {
    .above = {
        .stream_size = sizeof(crpc_stream),
        .names = &crpc_grpc_names,
        .on_begin = crpc_call_on_begin,
        .on_field = client_on_field,
        .on_head = client_on_head,
        .on_data = crpc_call_on_data,
        .on_end_stream = client_on_end_stream,
        .on_body = crpc_call_on_body,
        .on_close = crpc_call_on_close,
        .on_free = crpc_call_on_free,
        .on_settings = crpc_connection_on_settings,
        .on_goaway = crpc_connection_on_goaway,
        .on_sweep = crpc_connection_on_sweep,
    },
    .tell_message = client_tell_message,
    .tell_writable = client_tell_writable,
    .tell_deadline = client_tell_deadline,
    .tell_close = client_tell_close,
    .refuse_message = client_end_locally,
};

// ---- The beginning of a connection ----

int crpc_connection_begin_client(
    crpc_connection *connection, crpc_turn *turn, const crpc_limits *limits, const crpc_client_callbacks *callbacks,
    void *context, const char *authority, bool is_encrypted) {
    connection->role = &client_role;
    connection->callbacks = callbacks;
    connection->context = context;
    connection->is_encrypted = is_encrypted;
    connection->authority = strdup(authority);
    if (connection->authority == NULL) return CRPC_ERROR_MEMORY;
    connection->authority_length = strlen(authority);
    int error = crpc_h2_begin(&connection->h2, turn, limits, false, &client_role.above, NULL);
    if (error != CRPC_OK) free(connection->authority);
    return error;
}
