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
