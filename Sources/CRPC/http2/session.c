#include "http2/session.h"

#include <nghttp2/nghttp2.h>
#include <string.h>

// What is asked of nghttp2: bytes in and out, windows, and frames to be sent. It reports to session_events.c.

// The oldest that the tests pass with.
_Static_assert(NGHTTP2_VERSION_NUM >= 0x013400, "nghttp2 1.52 or later is needed");

// Fields are handed on as they are.
_Static_assert(
    sizeof(crpc_sent_field) == sizeof(nghttp2_nv) && offsetof(crpc_sent_field, name) == offsetof(nghttp2_nv, name) &&
        offsetof(crpc_sent_field, value) == offsetof(nghttp2_nv, value) &&
        offsetof(crpc_sent_field, name_length) == offsetof(nghttp2_nv, namelen) &&
        offsetof(crpc_sent_field, value_length) == offsetof(nghttp2_nv, valuelen) &&
        offsetof(crpc_sent_field, flags) == offsetof(nghttp2_nv, flags) &&
        CRPC_FIELD_CONSTANT == (NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE) &&
        CRPC_FIELD_NAMED == NGHTTP2_NV_FLAG_NO_COPY_NAME && CRPC_FIELD_UNIQUE == NGHTTP2_NV_FLAG_NO_INDEX,
    "a field is laid out as nghttp2's");

static int session_error(int64_t failure) {
    return failure == NGHTTP2_ERR_NOMEM ? CRPC_ERROR_MEMORY
           : failure == NGHTTP2_ERR_FLOODED ? CRPC_ERROR_LIMIT
                                            : CRPC_ERROR_PROTOCOL;
}

// ---- The session itself ----

void crpc_session_end(crpc_h2 *h2) {
    nghttp2_session_del(h2->session);
    h2->session = NULL;
}

int crpc_session_receive(crpc_h2 *h2, const uint8_t *bytes, size_t length) {
    ssize_t taken = nghttp2_session_mem_recv(h2->session, bytes, length);
    return taken == (ssize_t)length ? CRPC_OK : session_error(taken);
}

ssize_t crpc_session_next_frame(crpc_h2 *h2, const uint8_t **frame) {
    ssize_t length = nghttp2_session_mem_send(h2->session, frame);
    return length >= 0 ? length : session_error(length);
}

bool crpc_session_wants_write(const crpc_h2 *h2) { return nghttp2_session_want_write(h2->session) != 0; }
bool crpc_session_wants_read(const crpc_h2 *h2) { return nghttp2_session_want_read(h2->session) != 0; }
size_t crpc_session_queued_frames(const crpc_h2 *h2) { return nghttp2_session_get_outbound_queue_size(h2->session); }

size_t crpc_session_window(const crpc_h2_stream *stream) {
    int32_t of_stream = nghttp2_session_get_stream_remote_window_size(stream->h2->session, stream->id);
    int32_t of_connection = nghttp2_session_get_remote_window_size(stream->h2->session);
    int32_t least = of_stream < of_connection ? of_stream : of_connection;
    return least > 0 ? (size_t)least : 0; // SETTINGS may have made a stream's negative, and it is -1 for one that is gone
}

uint32_t crpc_session_streams_max(const crpc_h2 *h2) {
    if (nghttp2_session_check_request_allowed(h2->session) == 0) return 0;
    return nghttp2_session_get_remote_settings(h2->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

// ---- Frames to be sent ----

static ssize_t session_read_body(
    nghttp2_session *session, int32_t id, uint8_t *target, size_t room, uint32_t *flags, nghttp2_data_source *source,
    void *user) {
    (void)session;
    (void)id;
    const crpc_h2 *h2 = user;
    crpc_h2_stream *stream = source->ptr;
    crpc_body next = CRPC_BODY_MORE;
    size_t count = h2->above->on_body(stream, target, room, &next);
    switch (next) {
    case CRPC_BODY_MORE: break;
    case CRPC_BODY_WAITS:
        stream->local.is_deferred = true;
        return NGHTTP2_ERR_DEFERRED;
    case CRPC_BODY_ENDS: *flags |= NGHTTP2_DATA_FLAG_EOF; break;
    case CRPC_BODY_TRAILERS: *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM; break;
    case CRPC_BODY_FAILED: return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    return (ssize_t)count;
}

/// The same fields under nghttp2's name. Its parameter is const.
static const nghttp2_nv *session_fields(const crpc_sent_field *fields) { return (const nghttp2_nv *)(const void *)fields; }

static nghttp2_data_provider session_body_of(crpc_h2_stream *stream) {
    return (nghttp2_data_provider){.source = {.ptr = stream}, .read_callback = session_read_body};
}

int crpc_session_request(crpc_h2_stream *stream, const crpc_sent_field *fields, size_t count) {
    nghttp2_data_provider body = session_body_of(stream);
    int32_t id = nghttp2_submit_request(stream->h2->session, NULL, session_fields(fields), count, &body, stream);
    if (id < 0) return id == NGHTTP2_ERR_NOMEM ? CRPC_ERROR_MEMORY : CRPC_ERROR_CLOSED;
    stream->id = id;
    return CRPC_OK;
}

int crpc_session_answer(crpc_h2_stream *stream, const crpc_sent_field *fields, size_t count, bool has_body) {
    nghttp2_data_provider body = session_body_of(stream);
    int failed = nghttp2_submit_response(
        stream->h2->session, stream->id, session_fields(fields), count, has_body ? &body : NULL);
    return failed == 0 ? CRPC_OK : CRPC_ERROR_MEMORY;
}

int crpc_session_continue(crpc_h2_stream *stream) {
    static const crpc_sent_field status = CRPC_CONSTANT_FIELD(":status", "100");
    int failed = nghttp2_submit_headers(
        stream->h2->session, NGHTTP2_FLAG_NONE, stream->id, NULL, session_fields(&status), 1, NULL);
    return failed == 0 ? CRPC_OK : CRPC_ERROR_MEMORY;
}

int crpc_session_trailers(crpc_h2_stream *stream, const crpc_sent_field *fields, size_t count) {
    int failed = nghttp2_submit_trailer(stream->h2->session, stream->id, session_fields(fields), count);
    return failed == 0 ? CRPC_OK : CRPC_ERROR_MEMORY;
}

int crpc_session_rst_stream(crpc_h2_stream *stream, uint32_t error) {
    int failed = nghttp2_submit_rst_stream(stream->h2->session, NGHTTP2_FLAG_NONE, stream->id, error);
    return failed == 0 ? CRPC_OK : CRPC_ERROR_MEMORY;
}

int crpc_session_ping(crpc_h2 *h2, const uint8_t payload[8]) {
    return nghttp2_submit_ping(h2->session, NGHTTP2_FLAG_NONE, payload) == 0 ? CRPC_OK : CRPC_ERROR_MEMORY;
}

int crpc_session_shutdown_notice(crpc_h2 *h2) {
    return nghttp2_submit_shutdown_notice(h2->session) == 0 ? CRPC_OK : CRPC_ERROR_MEMORY;
}

int crpc_session_goaway(crpc_h2 *h2, uint32_t code, const char *reason) {
    int failed = nghttp2_submit_goaway(
        h2->session, NGHTTP2_FLAG_NONE, h2->remote.last_id, code, (const uint8_t *)reason, strlen(reason));
    return failed == 0 ? CRPC_OK : CRPC_ERROR_MEMORY;
}

void crpc_session_resume(crpc_h2_stream *stream) {
    // It fails only for a stream that is gone already.
    (void)nghttp2_session_resume_data(stream->h2->session, stream->id);
}

int crpc_session_give_back(crpc_h2 *h2, size_t length) {
    return nghttp2_session_consume_connection(h2->session, length) == 0 ? CRPC_OK : CRPC_ERROR_MEMORY;
}

int crpc_session_give_back_stream(crpc_h2_stream *stream, size_t length) {
    int failed = nghttp2_session_consume_stream(stream->h2->session, stream->id, length);
    return failed == 0 ? CRPC_OK : CRPC_ERROR_MEMORY;
}
