#include "internal.h"
#include "request_rules.h"

#include <stdio.h>

// The life of a stream: taken from the connection's spare ones, ended once, put back.

/// Whether the call has only just begun.
static bool is_young(const crpc_stream *stream) {
    return stream->connection->loop->now_ns - stream->began_ns < CRPC_RAPID_RESET_MS * 1000000ull;
}

bool crpc_stream_charge(crpc_stream *stream) {
    if (stream->is_charged) return true;
    stream->is_charged = true;
    return crpc_guard_charge(stream->connection, CRPC_COST_RESET);
}

static void do_at_deadline(crpc_stream *stream) {
    crpc_connection *connection = stream->connection;
    if (stream->call == NULL) return;
    if (connection->listener != NULL) {
        if (!stream->is_finished) {
            stream->is_cut_short = true;
            if (is_young(stream)) (void)crpc_stream_charge(stream); // the end follows with this turn
        }
        connection->listener->callbacks->on_deadline(stream->call);
        return;
    }
    stream->grpc_status = CRPC_STATUS_DEADLINE_EXCEEDED;
    stream->is_local_end = true;
    connection->callbacks->on_deadline(stream->call);
    crpc_stream_reset(stream, NGHTTP2_CANCEL);
}

static void on_deadline(void *context) {
    crpc_stream *stream = context;
    crpc_loop *loop = stream->connection->loop;
    loop->callback_depth += 1;
    do_at_deadline(stream);
    loop->callback_depth -= 1;
}

crpc_stream *crpc_stream_take(crpc_connection *connection, int32_t id) {
    crpc_stream *stream = connection->free_streams;
    if (stream != NULL) {
        connection->free_streams = stream->next_free;
        connection->free_stream_count -= 1;
    } else {
        stream = calloc(1, sizeof *stream);
        if (stream == NULL) return NULL;
    }
    // What is worth keeping stays: the header block's memory and the timer.
    uint8_t *block = stream->block;
    size_t block_capacity = stream->block_capacity;
    crpc_timer *timer = stream->timer;
    memset(stream, 0, sizeof *stream);
    stream->block = block;
    stream->block_capacity = block_capacity;
    stream->timer = timer;
    stream->connection = connection;
    stream->id = id;
    stream->method = -1;
    stream->timeout_ns = UINT64_MAX;
    crpc_request_begin(&stream->request);
    stream->grpc_status = -1;
    crpc_deframer_init(&stream->deframer, connection->limits.message_bytes_max);
    crpc_link_append(&connection->streams, &stream->link);
    if (connection->stream_count == 0) crpc_listener_note_busy(connection);
    connection->stream_count += 1;
    connection->due_ns[CRPC_DUE_IDLE] = 0;
    stream->began_ns = connection->loop->now_ns;
    crpc_loop_stats *stats = &connection->loop->stats;
    crpc_count(connection->listener != NULL ? &stats->server_streams_opened : &stats->client_streams_opened, 1);
    return stream;
}

static void drop_queue(crpc_stream *stream) {
    if (stream->first == NULL) return; // as with most
    while (stream->first != NULL) {
        crpc_outgoing *outgoing = stream->first;
        stream->first = outgoing->next;
        free(outgoing->memory);
        if (outgoing == &stream->inline_outgoing) continue;
        crpc_let_go(stream->connection, CRPC_MESSAGE_OVERHEAD);
        free(outgoing);
    }
    stream->last = NULL;
    crpc_let_go(stream->connection, stream->queued_bytes);
    stream->queued_bytes = 0;
}

void crpc_stream_drop_partial(crpc_stream *stream) {
    crpc_deframer_reset(&stream->deframer);
    crpc_let_go(stream->connection, stream->partial_bytes);
    stream->partial_bytes = 0;
}

void crpc_stream_free(crpc_stream *stream) {
    drop_queue(stream);
    crpc_stream_drop_partial(stream);
    crpc_timer_free(stream->timer);
    free(stream->trailers);
    free(stream->status_message);
    free(stream->block);
    free(stream);
}

void crpc_stream_drop_block(crpc_stream *stream) {
    enum { BLOCK_KEPT_MAX = 1024 };
    stream->block_length = 0;
    if (stream->block_capacity <= BLOCK_KEPT_MAX) return;
    free(stream->block);
    stream->block = NULL;
    stream->block_capacity = 0;
}

static void recycle(crpc_stream *stream) {
    crpc_connection *connection = stream->connection;
    drop_queue(stream);
    crpc_stream_drop_partial(stream);
    if (stream->timer != NULL) crpc_timer_cancel(stream->timer);
    free(stream->trailers);
    free(stream->status_message);
    stream->trailers = NULL;
    stream->status_message = NULL;
    if (connection->free_stream_count >= CRPC_FREE_STREAMS_MAX || connection->phase == CRPC_CLOSED) {
        crpc_stream_free(stream);
        return;
    }
    crpc_stream_drop_block(stream);
    stream->next_free = connection->free_streams;
    connection->free_streams = stream;
    connection->free_stream_count += 1;
}

/// Client: whether the deadline that we sent has passed, or is about to. A server that ends the call for it says CANCEL, and
/// may be heard before our own timer fires: in the same turn of the loop, or because its clock runs a little faster or
/// it counts in whole milliseconds.
static bool has_reached_deadline(const crpc_stream *stream) {
    enum { SLACK_NS = 2000000, SLACK_PARTS = 1024 };
    if (stream->deadline_ns == 0 || stream->is_reset || stream->connection->phase == CRPC_CLOSED) return false;
    uint64_t given = stream->deadline_ns > stream->began_ns ? stream->deadline_ns - stream->began_ns : 0;
    return crpc_loop_clock_ns() + SLACK_NS + given / SLACK_PARTS >= stream->deadline_ns;
}

/// What the client is told. The server's word counts first, then what was decided here, then what HTTP says.
static crpc_outcome outcome_of(const crpc_stream *stream, uint32_t error, char text[96]) {
    crpc_outcome outcome = {
        .status = stream->grpc_status,
        .is_from_server = stream->grpc_status >= 0 && !stream->is_local_end,
        .is_unprocessed = stream->is_unsent || (error == NGHTTP2_REFUSED_STREAM && stream->grpc_status < 0),
        .message = stream->status_message,
        .message_length = stream->status_message_length,
    };
    if (outcome.is_from_server) {
        outcome.metadata = stream->block;
        outcome.metadata_length = stream->block_length;
    }
    bool is_told = outcome.message != NULL || outcome.is_from_server;
    if (outcome.status >= 0 && is_told) return outcome; // a message alone says nothing
    text[0] = 0;
    if (outcome.status < 0 && error == NGHTTP2_CANCEL && has_reached_deadline(stream))
        outcome.status = CRPC_STATUS_DEADLINE_EXCEEDED;
    if (outcome.status == CRPC_STATUS_DEADLINE_EXCEEDED) {
        (void)snprintf(text, 96, "the deadline passed");
    } else if (outcome.status < 0 && stream->connection->phase == CRPC_CLOSED) {
        outcome.status = CRPC_STATUS_UNAVAILABLE;
        (void)snprintf(text, 96, "the connection ended: %s", crpc_error_text(stream->connection->error));
    } else if (outcome.status < 0 && stream->http_status != 0 && stream->http_status != 200) {
        outcome.status = crpc_status_from_http(stream->http_status);
        (void)snprintf(text, 96, "the server answered with HTTP status %d", stream->http_status);
    } else if (outcome.status < 0 && (error != NGHTTP2_NO_ERROR || stream->is_reset_by_peer)) {
        outcome.status = crpc_status_from_http2_error(error);
        (void)snprintf(text, 96, "the stream was reset with %s", nghttp2_http2_strerror(error));
    } else if (outcome.status < 0) {
        outcome.status = CRPC_STATUS_UNKNOWN;
        (void)snprintf(text, 96, "the server ended the stream without a status");
    }
    outcome.message = (const uint8_t *)text;
    outcome.message_length = strlen(text);
    return outcome;
}

void crpc_stream_tell_close(crpc_stream *stream, uint32_t error) {
    crpc_connection *connection = stream->connection;
    void *call = stream->call;
    stream->call = NULL;
    if (stream->timer != NULL) crpc_timer_cancel(stream->timer);
    crpc_let_go(connection, stream->unread_bytes + stream->kept_bytes); // the callee does, in what follows
    stream->unread_bytes = stream->kept_bytes = 0;
    if (call != NULL && connection->listener != NULL) {
        connection->listener->call_count -= 1;
        if (!connection->loop->is_ending) connection->listener->callbacks->on_close(call, error);
    } else if (call != NULL && !connection->loop->is_ending) {
        char text[96];
        crpc_outcome outcome = outcome_of(stream, error, text);
        connection->callbacks->on_close(call, &outcome);
    }
}

/// Server: counts a request that has ended, whether or not it became a call.
static void count_request(const crpc_stream *stream) {
    const crpc_loop *loop = stream->connection->loop;
    const crpc_listener *listener = stream->connection->listener;
    if (listener->options.calls == NULL || !stream->has_received_head) return;
    // Without a status it ended otherwise than we said: by the client, or for a fault of ours.
    int status = stream->grpc_status >= 0 ? stream->grpc_status
                 : stream->is_reset       ? CRPC_STATUS_INTERNAL
                                          : CRPC_STATUS_CANCELLED;
    uint32_t row = stream->method < 0 ? UINT32_MAX : (uint32_t)stream->method;
    crpc_call_table_count(listener->options.calls, row, status, loop->stamp_ns - stream->began_ns);
}

void crpc_stream_end(crpc_stream *stream, uint32_t error) {
    crpc_connection *connection = stream->connection;
    crpc_loop_stats *stats = &connection->loop->stats;
    crpc_link_remove(&stream->link);
    if (connection->in_block == stream) connection->in_block = NULL;
    connection->stream_count -= 1;
    connection->unreleased_bytes -= stream->unreleased_bytes;
    if (connection->withheld_bytes > 0) crpc_connection_mark(connection); // some may be given back
    if (connection->listener != NULL) {
        crpc_count(&stats->server_streams_closed, 1);
        count_request(stream);
    } else {
        crpc_count(&stats->client_streams_closed, 1);
    }
    crpc_stream_tell_close(stream, error);
    recycle(stream);
    if (connection->phase != CRPC_CLOSED) crpc_connection_stream_ended(connection);
}

int crpc_stream_set_deadline(crpc_stream *stream, uint64_t deadline_ns) {
    if (stream->timer == NULL) {
        // The timer stays with the object, whatever call it serves.
        int error = crpc_timer_new(stream->connection->loop, on_deadline, stream, &stream->timer);
        if (error != CRPC_OK) return error;
    }
    return crpc_timer_set(stream->timer, deadline_ns);
}

void crpc_stream_reset(crpc_stream *stream, uint32_t error) {
    if (stream->is_reset) return;
    stream->is_reset = true;
    stream->is_finished = true;
    stream->reset_error = error;
    stream->connection->owes_closes = true; // now, and not when the peer's socket takes the frame
    drop_queue(stream);
    if (nghttp2_submit_rst_stream(stream->connection->session, NGHTTP2_FLAG_NONE, stream->id, error) != 0)
        crpc_connection_break(stream->connection, CRPC_ERROR_MEMORY);
    crpc_connection_mark(stream->connection);
}

void crpc_stream_sweep(crpc_stream *stream) {
    const crpc_connection *connection = stream->connection;
    uint64_t now = connection->loop->now_ns;
    uint64_t stall_ns = connection->limits.answer_stall_timeout_ms * 1000000ull;
    bool is_server = connection->listener != NULL;
    // A streaming call may wait for its client, but not with all that a stream may queue.
    bool is_stuck = is_server && stream->queued_bytes > 0 && (stream->is_finished || stream->was_full);
    uint64_t unread_ns = stream->read_ns > connection->much_ns ? stream->read_ns : connection->much_ns;
    // A request of one message has no handler yet that could end it, and takes a place among the calls.
    bool is_awaited = is_server && stream->call != NULL && !stream->consumes_manually && !stream->is_half_closed &&
                      !stream->is_finished && stream->partial_bytes == 0;
    bool is_unread = connection->much_ns != 0 && stream->unread_bytes > 0 && !stream->is_finished;
    if (is_stuck && now - stream->moved_ns >= stall_ns) {
        crpc_stream_reset(stream, NGHTTP2_CANCEL);
    } else if (is_unread && now - unread_ns >= stall_ns) {
        crpc_stream_refuse_message(
            stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "messages wait for too long, and too many with them");
    } else if (
        stream->partial_bytes > 0 &&
        now - stream->partial_ns >= connection->limits.message_timeout_ms * 1000000ull) {
        crpc_stream_refuse_message(
            stream, CRPC_STATUS_DEADLINE_EXCEEDED, "the message took too long to arrive");
        crpc_stream_drop_partial(stream);
    } else if (is_awaited && now - stream->began_ns >= connection->limits.message_timeout_ms * 2000000ull) {
        crpc_stream_refuse_message(stream, CRPC_STATUS_DEADLINE_EXCEEDED, "the request took too long to arrive");
    }
}

void crpc_stream_consume(crpc_stream *stream, size_t length) {
    size_t bytes = length > SIZE_MAX - CRPC_MESSAGE_OVERHEAD ? SIZE_MAX : CRPC_MESSAGE_OVERHEAD + length;
    if (bytes > stream->unread_bytes) bytes = stream->unread_bytes;
    stream->unread_bytes -= bytes;
    stream->read_ns = stream->connection->loop->now_ns;
    crpc_let_go(stream->connection, bytes);
    if (stream->connection->withheld_bytes > 0) crpc_connection_mark(stream->connection); // some may be given back
    if (!stream->is_receiving) crpc_stream_release(stream); // else when all that arrived is looked through
}

void crpc_stream_consume_manually(crpc_stream *stream) { stream->consumes_manually = true; }

int crpc_stream_keep(crpc_stream *stream, size_t bytes) {
    if (crpc_holds_too_much(stream->connection)) {
        crpc_stream_refuse_message(
            stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "too many bytes are held for the client");
        return CRPC_ERROR_LIMIT;
    }
    stream->kept_bytes += bytes;
    crpc_hold(stream->connection, bytes);
    return CRPC_OK;
}
