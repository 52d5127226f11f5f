#include "http2/session.h"

#include <nghttp2/nghttp2.h>
#include <string.h>

// What nghttp2 reports of frames that come and go, and how a session begins with that.

/// Answers to SETTINGS and PING that may wait to be sent; past it the connection ends.
enum { ACKNOWLEDGEMENTS_MAX = 256 };

// In nghttp2 since 1.57, and in what distributions mended of earlier ones: weak, so that it may be absent.
__attribute__((weak)) void
nghttp2_option_set_stream_reset_rate_limit(nghttp2_option *option, uint64_t burst, uint64_t rate);
// In newer ones only.
__attribute__((weak)) void
nghttp2_option_set_glitch_rate_limit(nghttp2_option *option, uint64_t burst, uint64_t rate);

// ---- What comes in ----

// nghttp2's callbacks. They find the stream that a frame is about and hand it on; they never send, flush or destroy.

static crpc_h2_stream *session_find(nghttp2_session *session, int32_t id) {
    return nghttp2_session_get_stream_user_data(session, id);
}

static int session_on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    crpc_h2 *h2 = user;
    h2->remote.in_block = NULL;
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
        crpc_h2_stream *known = session_find(session, frame->hd.stream_id);
        // A request's limit is one for its head and its trailers.
        if (known != NULL && !h2->is_server) known->remote.field_bytes = 0;
        h2->remote.in_block = known;
        return 0;
    }
    h2->remote.last_id = frame->hd.stream_id;
    crpc_h2_stream *stream = crpc_h2_stream_begin(h2, frame->hd.stream_id);
    if (stream == NULL) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; // resets this stream only
    h2->remote.in_block = stream;
    if (nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream) != 0) {
        crpc_h2_stream_end(stream, CRPC_H2_INTERNAL_ERROR);
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    return 0;
}

/// Server: what came on a stream is no HTTP request (RFC 9113 section 8.1.1). Nothing more of it is looked at. 0 or a
/// fatal error.
static int session_refuse_malformed(nghttp2_session *session, crpc_h2_stream *stream) {
    if (stream->remote.is_malformed) return 0;
    stream->remote.is_malformed = true;
    // Not as a reset of ours: the peer made us do it, and pays for it (session_on_frame_sent).
    return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_PROTOCOL_ERROR) == 0
               ? 0
               : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int session_on_header(
    nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
    const uint8_t *value, size_t value_length, uint8_t flags, void *user) {
    (void)flags;
    crpc_h2 *h2 = user;
    crpc_h2_stream *stream = h2->remote.in_block; // what nghttp2 finds it by costs more than what is done with a field
    if (frame->hd.type != NGHTTP2_HEADERS || stream == NULL) return 0;
    crpc_entry field = {.name = name, .name_length = name_length, .value = value, .value_length = value_length};
    int header = crpc_header_named(h2->above->names, name, name_length);
    if (h2->is_server) {
        bool is_trailer = frame->headers.cat != NGHTTP2_HCAT_REQUEST;
        if (!crpc_request_takes_field(&stream->remote.request, &h2->remote.authority, header, &field, is_trailer)) {
            int failure = session_refuse_malformed(session, stream);
            return failure != 0 ? failure : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; // no more of this block
        }
    }
    // A byte can stand for a field of kilobytes (RFC 7541 section 7.3): fields past the limit are dropped, and charged.
    if (stream->remote.is_head_too_large && !crpc_h2_charge(h2, CRPC_COST_FRAME)) return NGHTTP2_ERR_CALLBACK_FAILURE;
    stream->remote.field_bytes += name_length + value_length + CRPC_ENTRY_COST;
    if (stream->remote.field_bytes > h2->limits.header_bytes_max || name_length > UINT16_MAX)
        stream->remote.is_head_too_large = true;
    if (stream->remote.is_head_too_large) return 0;
    return h2->above->on_field(stream, header, &field) == CRPC_OK ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

/// Not called for what the session drops.
static int session_on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *head, void *user) {
    (void)session;
    crpc_h2 *h2 = user;
    if (head->type != NGHTTP2_DATA) return 0;
    crpc_guard_note_data(&h2->guard, head->length);
    h2->remote.data_left = (uint32_t)head->length;
    // With padding the message does not end where the frame does; the end is then told by itself.
    h2->remote.data_ends_stream = (head->flags & (NGHTTP2_FLAG_END_STREAM | NGHTTP2_FLAG_PADDED)) ==
                                  NGHTTP2_FLAG_END_STREAM;
    return 0;
}

static int session_on_data(
    nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes, size_t length, void *user) {
    (void)flags;
    crpc_h2 *h2 = user;
    bool is_frame_end = length == h2->remote.data_left;
    h2->remote.data_left -= (uint32_t)(length < h2->remote.data_left ? length : h2->remote.data_left);
    crpc_h2_stream *stream = session_find(session, id);
    bool ends_stream = is_frame_end && h2->remote.data_ends_stream;
    bool is_dropped = stream == NULL || stream->remote.is_malformed;
    if (!is_dropped && h2->is_server) {
        crpc_request_state *request = &stream->remote.request;
        is_dropped = !crpc_request_takes_data(request, length) || (ends_stream && !crpc_request_is_whole(request));
        if (is_dropped && session_refuse_malformed(session, stream) != 0) return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    if (!is_dropped)
        return h2->above->on_data(stream, bytes, length, ends_stream) == CRPC_OK ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
    bool is_given_back = nghttp2_session_consume_connection(session, length) == 0 &&
                         (stream != NULL || nghttp2_session_consume_stream(session, id, length) == 0);
    return is_given_back ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static void session_on_settings(crpc_h2 *h2) {
    if (h2->remote.has_settings) return;
    h2->remote.has_settings = true;
    h2->due_ns[CRPC_DUE_HANDSHAKE] = 0;
    if (h2->below != NULL && h2->below->on_settings != NULL) h2->below->on_settings(h2);
    if (h2->stream_count == 0 && h2->below != NULL && h2->below->on_idle != NULL) h2->below->on_idle(h2);
    h2->above->on_settings(h2);
}

static void session_on_goaway(crpc_h2 *h2, const nghttp2_goaway *goaway) {
    static const char pings[] = "too_many_pings";
    if (h2->is_server) return;
    if (goaway->error_code == NGHTTP2_ENHANCE_YOUR_CALM && goaway->opaque_data_len == sizeof pings - 1 &&
        memcmp(goaway->opaque_data, pings, sizeof pings - 1) == 0)
        h2->end.pinged_too_often = true;
    if (h2->state < CRPC_H2_FINAL) crpc_h2_set_state(h2, CRPC_H2_FINAL);
    if (goaway->error_code != NGHTTP2_NO_ERROR) h2->end.is_dismissed = true;
    h2->above->on_goaway(h2);
    crpc_h2_mark(h2);
}

static int session_on_rst_stream(crpc_h2 *h2, crpc_h2_stream *stream) {
    if (stream == NULL) return 0;
    if (stream->remote.state != CRPC_REMOTE_RESET) crpc_h2_stream_set_remote(stream, CRPC_REMOTE_RESET);
    // Who is answered before its request has ended may end it this way: nothing is wasted.
    bool is_wasted = h2->is_server && !stream->local.is_answered && crpc_h2_stream_is_rapid(stream);
    return is_wasted && !crpc_h2_stream_charge(stream) ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

/// A header block is whole: the head of a request or an answer, or trailers.
static int session_on_headers(nghttp2_session *session, crpc_h2 *h2, const nghttp2_frame *frame) {
    bool ends_stream = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    crpc_h2_stream *stream = h2->remote.in_block;
    h2->remote.in_block = NULL;
    if (stream == NULL) return 0;
    if (h2->is_server) {
        // Trailers end a request (RFC 9113 section 8.1).
        crpc_request_state *request = &stream->remote.request;
        bool is_head = frame->headers.cat == NGHTTP2_HCAT_REQUEST;
        bool is_right = is_head ? crpc_request_has_head(request) : ends_stream;
        if (!is_right || (ends_stream && !crpc_request_is_whole(request)))
            return session_refuse_malformed(session, stream);
    }
    h2->above->on_head(stream, ends_stream);
    return 0;
}

/// A DATA frame that ends its stream is whole.
static int session_on_end_stream(nghttp2_session *session, crpc_h2 *h2, crpc_h2_stream *stream) {
    if (stream == NULL || stream->remote.is_malformed) return 0;
    if (h2->is_server && !crpc_request_is_whole(&stream->remote.request))
        return session_refuse_malformed(session, stream);
    h2->above->on_end_stream(stream);
    return 0;
}

static int session_on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    crpc_h2 *h2 = user;
    bool is_ack = (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS: return session_on_headers(session, h2, frame);
    case NGHTTP2_DATA:
        if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
        return session_on_end_stream(session, h2, session_find(session, frame->hd.stream_id));
    case NGHTTP2_RST_STREAM: return session_on_rst_stream(h2, session_find(session, frame->hd.stream_id));
    case NGHTTP2_PING:
        if (is_ack && memcmp(frame->ping.opaque_data, crpc_goodbye_payload, sizeof crpc_goodbye_payload) == 0)
            crpc_h2_note_round_trip(h2);
        return 0;
    case NGHTTP2_SETTINGS:
        if (!is_ack) session_on_settings(h2);
        return 0;
    case NGHTTP2_GOAWAY:
        session_on_goaway(h2, &frame->goaway);
        return 0;
    default: return 0;
    }
}

// It fires for requests that never went out, too: with the error that they were reset with, or REFUSED_STREAM.
static int session_on_stream_close(nghttp2_session *session, int32_t id, uint32_t error, void *user) {
    crpc_h2 *h2 = user;
    crpc_h2_stream *stream = session_find(session, id);
    if (stream == NULL) return 0;
    if (!crpc_h2_stream_is_half_closed(stream))
        crpc_guard_expect_late(&h2->guard, nghttp2_session_get_stream_local_window_size(session, id));
    (void)nghttp2_session_set_stream_user_data(session, id, NULL);
    crpc_h2_stream_end(stream, error);
    return 0;
}

// ---- What goes out ----

static int session_on_frame_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    crpc_h2 *h2 = user;
    crpc_guard *guard = &h2->guard;
    bool ends_stream = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    crpc_h2_stream *answered = h2->is_server && ends_stream ? session_find(session, frame->hd.stream_id) : NULL;
    if (frame->hd.type == NGHTTP2_HEADERS) {
        bool is_head = frame->headers.cat == NGHTTP2_HCAT_RESPONSE;
        bool is_cut_short = answered == NULL || answered->local.is_cut_short;
        crpc_guard_earn(guard, crpc_guard_gain_of_headers(guard, ends_stream, is_head, is_cut_short));
    } else if (frame->hd.type == NGHTTP2_DATA) {
        crpc_guard_earn(guard, crpc_guard_gain_of_data(frame->hd.length));
    } else if (frame->hd.type == NGHTTP2_RST_STREAM) {
        const crpc_h2_stream *reset = session_find(session, frame->hd.stream_id);
        bool is_ours = reset != NULL && reset->local.state == CRPC_LOCAL_RESET;
        int32_t cost = crpc_guard_cost_of_reset(guard, frame->rst_stream.error_code, is_ours);
        if (cost > 0) (void)crpc_h2_charge(h2, cost); // the end follows with this turn
        return 0; // its flags mean nothing
    } else if (frame->hd.type == NGHTTP2_GOAWAY) {
        if (frame->goaway.error_code != NGHTTP2_NO_ERROR) h2->end.is_terminated = true;
        return 0;
    } else {
        return 0; // the flag that ends streams is ACK elsewhere
    }
    if (answered == NULL || crpc_h2_stream_is_half_closed(answered)) return 0;
    if (answered->remote.reads_on) {
        answered->local.is_answered = true;
        h2->above->on_answered(answered);
        return 0;
    }
    // RFC 9113 section 8.1: the answer is complete, and the rest of the request is of no interest. Not submitted before
    // the answer is out, since nghttp2 sends nothing more on a stream whose reset was submitted.
    return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, answered->id, NGHTTP2_NO_ERROR) == 0
               ? 0
               : NGHTTP2_ERR_CALLBACK_FAILURE;
}

// ---- The beginning ----

static int session_make_callbacks(nghttp2_session_callbacks **result) {
    nghttp2_session_callbacks *callbacks;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) return CRPC_ERROR_MEMORY;
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, session_on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, session_on_header);
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, session_on_begin_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, session_on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, session_on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, session_on_stream_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, session_on_frame_sent);
    *result = callbacks;
    return CRPC_OK;
}

static int session_make(crpc_h2 *h2) {
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    if (session_make_callbacks(&callbacks) != CRPC_OK) return CRPC_ERROR_MEMORY;
    if (nghttp2_option_new(&option) != 0) {
        nghttp2_session_callbacks_del(callbacks);
        return CRPC_ERROR_MEMORY;
    }
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_max_outbound_ack(option, ACKNOWLEDGEMENTS_MAX);
    // nghttp2 would end a connection after a thousand resets, and newer ones after some number of what they call glitches,
    // however many calls went well between them, and though a client that learns of a reset late cannot avoid some. The
    // guard sees the same frames, before the session does, and knows better which are too many.
    if (nghttp2_option_set_stream_reset_rate_limit != NULL)
        nghttp2_option_set_stream_reset_rate_limit(option, UINT32_MAX, UINT32_MAX);
    if (nghttp2_option_set_glitch_rate_limit != NULL)
        nghttp2_option_set_glitch_rate_limit(option, UINT32_MAX, UINT32_MAX);
    if (h2->is_server) nghttp2_option_set_no_http_messaging(option, 1); // see request_rules.h
    int failed = h2->is_server ? nghttp2_session_server_new2(&h2->session, callbacks, h2, option)
                               : nghttp2_session_client_new2(&h2->session, callbacks, h2, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return failed == 0 ? CRPC_OK : CRPC_ERROR_MEMORY;
}

int crpc_session_begin(crpc_h2 *h2) {
    if (session_make(h2) != CRPC_OK) return CRPC_ERROR_MEMORY;
    const crpc_limits *limits = &h2->limits;
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits->stream_window_bytes},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits->header_bytes_max},
        {h2->is_server ? NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS : NGHTTP2_SETTINGS_ENABLE_PUSH,
         h2->is_server ? limits->streams_max : 0},
    };
    if (nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, settings, sizeof settings / sizeof settings[0]) == 0 &&
        nghttp2_session_set_local_window_size(
            h2->session, NGHTTP2_FLAG_NONE, 0, (int32_t)limits->connection_window_bytes) == 0)
        return CRPC_OK;
    crpc_session_end(h2);
    return CRPC_ERROR_MEMORY;
}
