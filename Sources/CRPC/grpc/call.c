#include "grpc/call.h"

#include "grpc/held_calls.h"

#include <stdlib.h>
#include <string.h>

static void call_on_deadline(void *context) {
    crpc_stream *stream = context;
    if (stream->call != NULL) crpc_call_connection(stream)->role->tell_deadline(stream);
}

void crpc_call_on_begin(crpc_h2_stream *h2_stream) {
    crpc_stream *stream = crpc_stream_of(h2_stream);
    memset(&stream->call, 0, sizeof *stream - offsetof(crpc_stream, call));
    stream->head.method = -1;
    stream->head.timeout_ns = UINT64_MAX;
    stream->outcome.grpc_status = -1;
    // It is as new after each call, but before the first.
    uint32_t message_max = h2_stream->h2->limits.message_bytes_max;
    if (stream->deframer.message_max != message_max) crpc_deframer_init(&stream->deframer, message_max);
}

void crpc_call_drop_queue(crpc_stream *stream) {
    if (stream->out.first == NULL) return; // as with most
    crpc_connection *connection = crpc_call_connection(stream);
    while (stream->out.first != NULL) {
        crpc_outgoing *outgoing = stream->out.first;
        stream->out.first = outgoing->next;
        free(outgoing->memory);
        if (outgoing == &stream->inline_outgoing) continue;
        crpc_let_go(connection, CRPC_MESSAGE_OVERHEAD);
        free(outgoing);
    }
    stream->out.last = NULL;
    crpc_let_go(connection, stream->out.queued_bytes);
    stream->out.queued_bytes = 0;
}

void crpc_call_drop_partial(crpc_stream *stream) {
    const crpc_deframer *deframer = &stream->deframer;
    bool is_new = deframer->buffer == NULL && deframer->prefix_length == 0 && !deframer->failed;
    if (is_new && stream->in.partial_bytes == 0) return; // as with most
    crpc_deframer_reset(&stream->deframer);
    crpc_let_go(crpc_call_connection(stream), stream->in.partial_bytes);
    stream->in.partial_bytes = 0;
}

void crpc_call_drop_block(crpc_stream *stream) {
    enum { BLOCK_KEPT_MAX = 1024 };
    stream->block_length = 0;
    if (stream->block_capacity <= BLOCK_KEPT_MAX) return;
    free(stream->block);
    stream->block = NULL;
    stream->block_capacity = 0;
}

int crpc_call_append_field(crpc_stream *stream, const crpc_entry *field) {
    size_t size = CRPC_ENTRY_OVERHEAD + field->name_length + field->value_length;
    size_t needed = stream->block_length + size;
    if (needed > stream->block_capacity) {
        size_t capacity = stream->block_capacity == 0 ? 512 : stream->block_capacity;
        while (capacity < needed) capacity *= 2;
        uint8_t *block = realloc(stream->block, capacity);
        if (block == NULL) return CRPC_ERROR_MEMORY;
        stream->block = block;
        stream->block_capacity = capacity;
    }
    stream->block_length += crpc_metadata_put(stream->block + stream->block_length, field);
    return CRPC_OK;
}

// ---- The end ----

void crpc_call_tell_close(crpc_stream *stream, uint32_t error) {
    crpc_connection *connection = crpc_call_connection(stream);
    void *call = stream->call;
    stream->call = NULL;
    crpc_timer_end(&stream->deadline);
    crpc_let_go(connection, stream->in.unread_bytes + stream->in.kept_bytes); // the callee does, in what follows
    stream->in.unread_bytes = stream->in.kept_bytes = 0;
    if (call != NULL) connection->role->tell_close(stream, call, error);
}

void crpc_call_on_close(crpc_h2_stream *h2_stream, uint32_t error) {
    crpc_stream *stream = crpc_stream_of(h2_stream);
    crpc_connection *connection = crpc_call_connection(stream);
    connection->held.unreleased_bytes -= stream->in.unreleased_bytes;
    connection->dropped_bytes -= stream->exchanged.dropped_bytes;
    if (connection->held.withheld_bytes > 0) crpc_h2_mark(&connection->h2); // some may be given back
    crpc_call_tell_close(stream, error);
    crpc_call_drop_queue(stream);
    crpc_call_drop_partial(stream);
    if (stream->out.trailers != NULL) free(stream->out.trailers);
    if (stream->outcome.message != NULL) free(stream->outcome.message);
    stream->out.trailers = NULL;
    stream->outcome.message = NULL;
    crpc_call_drop_block(stream);
}

void crpc_call_on_free(crpc_h2_stream *h2_stream) { free(crpc_stream_of(h2_stream)->block); }

int crpc_call_set_deadline(crpc_stream *stream, uint64_t deadline_ns) {
    crpc_timer_init(&stream->deadline, &crpc_call_connection(stream)->deadlines, call_on_deadline, stream);
    return crpc_timer_set(&stream->deadline, deadline_ns);
}

void crpc_stream_reset(crpc_stream *stream, uint32_t error) {
    if (stream->h2.local.state == CRPC_LOCAL_RESET) return;
    crpc_call_connection(stream)->told.owes_closes = true; // now, and not when the peer's socket takes the frame
    crpc_call_drop_queue(stream);
    crpc_h2_stream_reset(&stream->h2, error);
}

/// Whether what is queued waits for the socket, or for its turn, and not for the peer's windows: a slow link, whose time
/// `write_stall_timeout_ms` bounds for the whole connection.
static bool call_awaits_socket(const crpc_stream *stream) {
    const crpc_h2 *h2 = stream->h2.h2;
    size_t queued = stream->out.queued_bytes, least = queued < CRPC_STREAM_PROGRESS_MIN ? queued : CRPC_STREAM_PROGRESS_MIN;
    return h2->remote.is_blocked || crpc_session_window(&stream->h2) >= least;
}

void crpc_call_sweep(crpc_stream *stream) {
    const crpc_connection *connection = crpc_call_connection(stream);
    const crpc_limits *limits = &connection->h2.limits;
    uint64_t now = crpc_call_now_ns(stream), stall_ns = crpc_ns_of_ms(limits->answer_stall_timeout_ms);
    uint64_t message_ns = crpc_ns_of_ms(limits->message_timeout_ms), much_ns = connection->held.much_ns;
    bool is_server = connection->h2.is_server, is_finished = crpc_h2_stream_is_finished(&stream->h2);
    // A streaming call may wait for its client, but not with all that a stream may queue.
    bool is_stuck = is_server && stream->out.queued_bytes > 0 && (is_finished || stream->out.was_full);
    if (is_stuck && call_awaits_socket(stream)) stream->out.moved_ns = now;
    uint64_t unread_ns = stream->in.read_ns > much_ns ? stream->in.read_ns : much_ns;
    // A request of one message has no handler yet that could end it, and takes a place among the calls.
    bool is_awaited = is_server && stream->call != NULL && !stream->in.consumes_manually && !is_finished &&
                      !crpc_h2_stream_is_half_closed(&stream->h2) && stream->in.partial_bytes == 0;
    bool is_unread = much_ns != 0 && stream->in.unread_bytes > 0 && !is_finished;
    if (is_stuck && now - stream->out.moved_ns >= stall_ns) {
        crpc_stream_reset(stream, CRPC_H2_CANCEL);
    } else if (is_unread && now - unread_ns >= stall_ns) {
        connection->role->refuse_message(
            stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "messages wait for too long, and too many with them");
    } else if (stream->h2.remote.reads_on) {
        crpc_exchange_sweep(stream);
    } else if (stream->in.partial_bytes > 0 && now - stream->in.partial_ns >= message_ns) {
        connection->role->refuse_message(
            stream, CRPC_STATUS_DEADLINE_EXCEEDED, "the message took too long to arrive");
        crpc_call_drop_partial(stream);
    } else if (is_awaited && now - stream->h2.began_ns >= 2 * message_ns) {
        connection->role->refuse_message(
            stream, CRPC_STATUS_DEADLINE_EXCEEDED, "the request took too long to arrive");
    }
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
