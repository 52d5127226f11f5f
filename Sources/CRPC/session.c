#include "internal.h"
#include "request_rules.h"

/// Answers to SETTINGS and PING that may wait to be sent; past it the connection ends.
enum { ACKNOWLEDGEMENTS_MAX = 256 };

// The oldest that the tests pass with.
_Static_assert(NGHTTP2_VERSION_NUM >= 0x013400, "nghttp2 1.52 or later is needed");

// In nghttp2 since 1.57, and in what distributions mended of earlier ones: weak, so that it may be absent.
__attribute__((weak)) void
nghttp2_option_set_stream_reset_rate_limit(nghttp2_option *option, uint64_t burst, uint64_t rate);
// In newer ones only.
__attribute__((weak)) void
nghttp2_option_set_glitch_rate_limit(nghttp2_option *option, uint64_t burst, uint64_t rate);

// nghttp2's callbacks. They find the stream that a frame is about and hand it on; they never send, flush or destroy.

static crpc_stream *find(nghttp2_session *session, int32_t id) {
    return nghttp2_session_get_stream_user_data(session, id);
}

/// The stream ends, and the peer may not have seen that yet (crpc_guard_settle).
static void expect_late_bytes(crpc_connection *connection, nghttp2_session *session, int32_t id) {
    int32_t left = nghttp2_session_get_stream_local_window_size(session, id);
    uint64_t late = (uint64_t)connection->late_bytes + (left > 0 ? (uint64_t)left : 0);
    uint32_t most = connection->limits.connection_window_bytes;
    connection->late_bytes = late < most ? (uint32_t)late : most;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    crpc_connection *connection = user;
    connection->in_block = NULL;
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
        connection->in_block = find(session, frame->hd.stream_id);
        return 0;
    }
    connection->last_id = frame->hd.stream_id;
    crpc_stream *stream = crpc_stream_take(connection, frame->hd.stream_id);
    if (stream == NULL) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; // resets this stream only
    connection->in_block = stream;
    if (nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream) != 0) {
        crpc_stream_end(stream, NGHTTP2_INTERNAL_ERROR);
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    return 0;
}

/// Server: what came on a stream is no HTTP request (RFC 9113 section 8.1.1). Nothing more of it is looked at. 0 or a
/// fatal error.
static int break_request(nghttp2_session *session, crpc_stream *stream) {
    if (stream->is_request_broken) return 0;
    stream->is_request_broken = true;
    // Not as a reset of ours: the peer made us do it, and pays for it (on_frame_sent).
    return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_PROTOCOL_ERROR) == 0
               ? 0
               : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_header(
    nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
    const uint8_t *value, size_t value_length, uint8_t flags, void *user) {
    (void)flags;
    crpc_connection *connection = user;
    crpc_stream *stream = connection->in_block; // what nghttp2 finds it by costs more than what is done with a header
    if (frame->hd.type != NGHTTP2_HEADERS || stream == NULL) return 0;
    crpc_entry entry = {.name = name, .name_length = name_length, .value = value, .value_length = value_length};
    crpc_header header = crpc_header_named(name, name_length);
    if (connection->listener != NULL) {
        bool is_trailer = frame->headers.cat != NGHTTP2_HCAT_REQUEST;
        if (!crpc_request_takes_field(&stream->request, &connection->authority_seen, header, &entry, is_trailer)) {
            int failure = break_request(session, stream);
            return failure != 0 ? failure : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; // no more of this block
        }
    }
    // A byte can stand for an entry of kilobytes (RFC 7541 section 7.3): what nobody keeps still costs.
    if (stream->is_header_too_large && !crpc_guard_charge(connection, CRPC_COST_FRAME))
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    return crpc_stream_on_header(stream, header, &entry) == CRPC_OK ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

/// Not called for what the session drops.
static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *head, void *user) {
    (void)session;
    crpc_connection *connection = user;
    if (head->type != NGHTTP2_DATA) return 0;
    crpc_guard_note_data(&connection->guard, head->length);
    connection->data_frame_left = (uint32_t)head->length;
    // With padding the message does not end where the frame does; the end is then told by itself.
    connection->data_frame_ends_stream = (head->flags & (NGHTTP2_FLAG_END_STREAM | NGHTTP2_FLAG_PADDED)) ==
                                         NGHTTP2_FLAG_END_STREAM;
    return 0;
}

static int on_data_chunk(
    nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes, size_t length, void *user) {
    (void)flags;
    crpc_connection *connection = user;
    bool is_frame_end = length == connection->data_frame_left;
    connection->data_frame_left -= (uint32_t)(length < connection->data_frame_left ? length : connection->data_frame_left);
    crpc_stream *stream = find(session, id);
    if (crpc_take_in(connection, stream, length) != CRPC_OK) return NGHTTP2_ERR_CALLBACK_FAILURE;
    if (stream == NULL) return nghttp2_session_consume_stream(session, id, length) == 0 ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
    bool ends_stream = is_frame_end && connection->data_frame_ends_stream;
    if (connection->listener != NULL) {
        if (stream->is_request_broken) return 0;
        bool is_right = crpc_request_takes_data(&stream->request, length);
        if (!is_right || (ends_stream && !crpc_request_is_whole(&stream->request))) return break_request(session, stream);
    }
    return crpc_stream_on_data(stream, bytes, length, ends_stream) == CRPC_OK ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static void on_settings(crpc_connection *connection) {
    if (connection->has_settings) return;
    connection->has_settings = true;
    crpc_connection_limit(connection, CRPC_DUE_HANDSHAKE, 0);
    if (connection->listener != NULL) {
        crpc_listener_note_handshake(connection->listener, connection);
        if (connection->stream_count == 0) crpc_listener_note_idle(connection->listener, connection);
        return;
    }
    connection->is_open_told = true;
    connection->callbacks->on_open(connection->context);
}

static void on_goaway(crpc_connection *connection, const nghttp2_goaway *goaway) {
    static const char reason[] = "too_many_pings";
    uint32_t error = goaway->error_code;
    if (connection->callbacks == NULL) return;
    if (error == NGHTTP2_ENHANCE_YOUR_CALM && goaway->opaque_data_len == sizeof reason - 1 &&
        memcmp(goaway->opaque_data, reason, sizeof reason - 1) == 0)
        connection->has_pinged_too_often = true;
    connection->is_draining = true;
    connection->is_goaway_final = true;
    if (error != NGHTTP2_NO_ERROR) connection->is_dismissed = true;
    crpc_connection_tell_draining(connection);
    crpc_connection_mark(connection);
}

/// Whether the peer resets a call that it has just opened and that is not answered. One that was given up after a while,
/// as at a deadline, is not counted: what bounds those is how many handlers may run.
static bool has_wasted_a_call(const crpc_connection *connection, const crpc_stream *stream) {
    return connection->listener != NULL && stream != NULL &&
           connection->loop->now_ns - stream->began_ns < CRPC_RAPID_RESET_MS * 1000000ull;
}

static int on_reset(crpc_connection *connection, crpc_stream *stream) {
    if (stream != NULL) stream->is_half_closed = stream->is_reset_by_peer = true; // nothing more comes on it
    bool is_charged = has_wasted_a_call(connection, stream) && !crpc_stream_charge(stream);
    return is_charged ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

/// A header block is whole: the head of a request or an answer, or trailers.
static int on_block(nghttp2_session *session, crpc_connection *connection, const nghttp2_frame *frame) {
    bool ends_stream = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    crpc_stream *stream = connection->in_block;
    connection->in_block = NULL;
    if (stream == NULL) return 0;
    if (connection->listener != NULL) {
        // Trailers end a request (RFC 9113 section 8.1).
        bool is_head = frame->headers.cat == NGHTTP2_HCAT_REQUEST;
        bool is_right = is_head ? crpc_request_has_head(&stream->request) : ends_stream;
        if (!is_right || (ends_stream && !crpc_request_is_whole(&stream->request))) return break_request(session, stream);
    }
    return crpc_stream_on_head(stream, ends_stream) == CRPC_OK ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

/// A DATA frame that ends its stream is whole.
static int on_data_end(nghttp2_session *session, crpc_connection *connection, crpc_stream *stream) {
    if (stream == NULL || stream->is_request_broken) return 0;
    if (connection->listener != NULL && !crpc_request_is_whole(&stream->request)) return break_request(session, stream);
    crpc_stream_on_half_close(stream);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    crpc_connection *connection = user;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS: return on_block(session, connection, frame);
    case NGHTTP2_DATA:
        if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
        return on_data_end(session, connection, find(session, frame->hd.stream_id));
    case NGHTTP2_RST_STREAM: return on_reset(connection, find(session, frame->hd.stream_id));
    case NGHTTP2_PING:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0 &&
            memcmp(frame->ping.opaque_data, crpc_goodbye_payload, sizeof crpc_goodbye_payload) == 0)
            crpc_connection_note_round_trip(connection);
        return 0;
    case NGHTTP2_SETTINGS:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) on_settings(connection);
        return 0;
    case NGHTTP2_GOAWAY:
        on_goaway(connection, &frame->goaway);
        return 0;
    default: return 0;
    }
}

// It fires for requests that never went out, too: with the error that they were reset with, or REFUSED_STREAM.
static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t error, void *user) {
    crpc_stream *stream = find(session, id);
    if (stream == NULL) return 0;
    if (!stream->is_half_closed) expect_late_bytes(user, session, id);
    (void)nghttp2_session_set_stream_user_data(session, id, NULL);
    crpc_stream_end(stream, error);
    return 0;
}

/// What a reset that we sent costs the peer: nothing where it was of our own will, and not because the peer broke the rules
/// on the stream. One past the greatest number is refused by nghttp2 until the peer has acknowledged our SETTINGS, before
/// which it cannot know better; afterwards it ends the connection.
static int32_t cost_of_reset(
    const crpc_connection *connection, nghttp2_session *session, const nghttp2_frame *frame) {
    const crpc_stream *stream = find(session, frame->hd.stream_id);
    bool is_ours = connection->listener == NULL || frame->rst_stream.error_code == NGHTTP2_NO_ERROR ||
                   (stream != NULL && stream->is_reset);
    if (is_ours) return 0;
    return frame->rst_stream.error_code == NGHTTP2_REFUSED_STREAM ? CRPC_COST_FRAME : CRPC_COST_RESET;
}

/// What HEADERS that we sent bring the peer. A server's client gets it when its call has ended: only then is it known
/// whether the call's handler ended it.
static int32_t gain_of_head(
    const crpc_connection *connection, const crpc_stream *stream, const nghttp2_frame *frame) {
    if (connection->listener == NULL) return CRPC_GAIN_HEADERS;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    if (stream == NULL || stream->is_cut_short) return CRPC_COST_FRAME;
    return frame->headers.cat == NGHTTP2_HCAT_RESPONSE ? CRPC_GAIN_HEADERS : 2 * CRPC_GAIN_HEADERS; // head and trailers
}

static int on_frame_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    crpc_connection *connection = user;
    bool ends_answer = connection->listener != NULL && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    const crpc_stream *stream = ends_answer ? find(session, frame->hd.stream_id) : NULL;
    if (frame->hd.type == NGHTTP2_HEADERS) {
        crpc_guard_earn(connection, gain_of_head(connection, stream, frame));
    } else if (frame->hd.type == NGHTTP2_DATA) {
        crpc_guard_earn(connection, frame->hd.length < CRPC_EARNING_BYTES_MIN ? 0 : CRPC_GAIN_DATA);
    } else if (frame->hd.type == NGHTTP2_RST_STREAM) {
        int32_t cost = cost_of_reset(connection, session, frame);
        if (cost > 0) (void)crpc_guard_charge(connection, cost); // the end follows with this turn
    }
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR)
        connection->is_terminated = true;
    if (stream == NULL || stream->is_half_closed) return 0;
    // RFC 9113 section 8.1: the answer is complete, and the rest of the request is of no interest. Not submitted before
    // the answer is out, since nghttp2 sends nothing more on a stream that it was told to reset.
    return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR) == 0
               ? 0
               : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int set_callbacks(nghttp2_session_callbacks **result) {
    nghttp2_session_callbacks *callbacks;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) return CRPC_ERROR_MEMORY;
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_sent);
    *result = callbacks;
    return CRPC_OK;
}

int crpc_session_begin(crpc_connection *connection) {
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    if (set_callbacks(&callbacks) != CRPC_OK) return CRPC_ERROR_MEMORY;
    if (nghttp2_option_new(&option) != 0) {
        nghttp2_session_callbacks_del(callbacks);
        return CRPC_ERROR_MEMORY;
    }
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_max_outbound_ack(option, ACKNOWLEDGEMENTS_MAX);
    // nghttp2 would end a connection after a thousand resets, and newer ones after some number of what they call glitches,
    // however many calls went well between them, and though a client that is told of a reset late cannot help some. The
    // guard sees the same frames, before the session does, and knows better which are too many.
    if (nghttp2_option_set_stream_reset_rate_limit != NULL)
        nghttp2_option_set_stream_reset_rate_limit(option, UINT32_MAX, UINT32_MAX);
    if (nghttp2_option_set_glitch_rate_limit != NULL)
        nghttp2_option_set_glitch_rate_limit(option, UINT32_MAX, UINT32_MAX);
    bool is_server = connection->listener != NULL;
    if (is_server) nghttp2_option_set_no_http_messaging(option, 1); // see request_rules.h
    int failed = is_server ? nghttp2_session_server_new2(&connection->session, callbacks, connection, option)
                           : nghttp2_session_client_new2(&connection->session, callbacks, connection, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    if (failed != 0) return CRPC_ERROR_MEMORY;
    const crpc_limits *limits = &connection->limits;
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits->stream_window_bytes},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits->header_bytes_max},
        {is_server ? NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS : NGHTTP2_SETTINGS_ENABLE_PUSH,
         is_server ? limits->streams_max : 0},
    };
    if (nghttp2_submit_settings(
            connection->session, NGHTTP2_FLAG_NONE, settings, sizeof settings / sizeof settings[0]) != 0 ||
        nghttp2_session_set_local_window_size(
            connection->session, NGHTTP2_FLAG_NONE, 0, (int32_t)limits->connection_window_bytes) != 0)
        return CRPC_ERROR_MEMORY;
    return CRPC_OK;
}
