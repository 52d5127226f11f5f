#include "http2/http2_connection.h"
#include "http2/session.h"

#include <stdlib.h>
#include <string.h>

// The life of a stream: taken from the connection's spare ones, ended once, put back.

const uint8_t crpc_local_moves[CRPC_LOCAL_STATES] = {
    [CRPC_LOCAL_IDLE] = CRPC_TO(CRPC_LOCAL_OPEN) | CRPC_TO(CRPC_LOCAL_FINISHED) | CRPC_TO(CRPC_LOCAL_RESET),
    [CRPC_LOCAL_OPEN] = CRPC_TO(CRPC_LOCAL_FINISHED) | CRPC_TO(CRPC_LOCAL_RESET),
    [CRPC_LOCAL_FINISHED] = CRPC_TO(CRPC_LOCAL_RESET),
};

const uint8_t crpc_remote_moves[CRPC_REMOTE_STATES] = {
    [CRPC_REMOTE_HEAD] = CRPC_TO(CRPC_REMOTE_BODY) | CRPC_TO(CRPC_REMOTE_CLOSED) | CRPC_TO(CRPC_REMOTE_RESET),
    [CRPC_REMOTE_BODY] = CRPC_TO(CRPC_REMOTE_CLOSED) | CRPC_TO(CRPC_REMOTE_RESET),
    [CRPC_REMOTE_CLOSED] = CRPC_TO(CRPC_REMOTE_RESET),
};

crpc_h2_stream *crpc_h2_stream_begin(crpc_h2 *h2, int32_t id) {
    crpc_h2_stream *stream = h2->free_streams;
    if (stream != NULL) {
        h2->free_streams = stream->next_free;
        h2->free_stream_count -= 1;
        memset(stream, 0, sizeof *stream);
    } else {
        stream = calloc(1, h2->above->stream_size);
        if (stream == NULL) return NULL;
    }
    stream->h2 = h2;
    stream->id = id;
    stream->began_ns = h2->turn->now_ns;
    crpc_request_begin(&stream->remote.request);
    crpc_link_append(&h2->streams, &stream->link);
    if (h2->stream_count == 0 && h2->below != NULL && h2->below->on_busy != NULL) h2->below->on_busy(h2);
    h2->stream_count += 1;
    h2->due_ns[CRPC_DUE_IDLE] = 0;
    crpc_loop_stats *stats = &h2->turn->stats;
    crpc_count(h2->is_server ? &stats->server_streams_opened : &stats->client_streams_opened, 1);
    h2->above->on_begin(stream);
    return stream;
}

/// The last stream has ended: idle time or the end of a drain follow from it.
static void stream_note_last_end(crpc_h2 *h2) {
    if (crpc_h2_is_broken(h2)) return;
    if (crpc_h2_is_draining(h2)) {
        crpc_h2_mark(h2); // it closes once all is sent
        return;
    }
    if (h2->below != NULL && h2->below->on_idle != NULL) h2->below->on_idle(h2);
    if (h2->limits.idle_timeout_ms != 0) crpc_h2_limit(h2, CRPC_DUE_IDLE, h2->limits.idle_timeout_ms);
}

void crpc_h2_stream_end(crpc_h2_stream *stream, uint32_t error) {
    crpc_h2 *h2 = stream->h2;
    crpc_loop_stats *stats = &h2->turn->stats;
    crpc_link_remove(&stream->link);
    if (h2->remote.in_block == stream) h2->remote.in_block = NULL;
    h2->stream_count -= 1;
    crpc_count(h2->is_server ? &stats->server_streams_closed : &stats->client_streams_closed, 1);
    h2->above->on_close(stream, error);
    if (h2->free_stream_count >= CRPC_FREE_STREAMS_MAX || h2->state == CRPC_H2_CLOSED) {
        h2->above->on_free(stream);
        free(stream);
    } else {
        stream->next_free = h2->free_streams;
        h2->free_streams = stream;
        h2->free_stream_count += 1;
    }
    if (h2->stream_count == 0) stream_note_last_end(h2);
}

void crpc_h2_stream_reset(crpc_h2_stream *stream, uint32_t error) {
    if (stream->local.state == CRPC_LOCAL_RESET) return;
    crpc_h2_stream_set_local(stream, CRPC_LOCAL_RESET);
    stream->local.reset_error = error;
    if (crpc_session_rst_stream(stream, error) != CRPC_OK) crpc_h2_break(stream->h2, CRPC_ERROR_MEMORY);
    crpc_h2_mark(stream->h2);
}

void crpc_h2_stream_resume(crpc_h2_stream *stream) {
    if (stream->local.is_deferred) {
        stream->local.is_deferred = false;
        crpc_session_resume(stream);
    }
    crpc_h2_mark(stream->h2);
}

bool crpc_h2_stream_charge(crpc_h2_stream *stream) {
    if (stream->remote.is_charged) return true;
    stream->remote.is_charged = true;
    return crpc_h2_charge(stream->h2, CRPC_COST_RESET);
}
