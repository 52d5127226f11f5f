#include "request_oracle.h"
#include "http2/request_rules.h"

// A request, head, data and trailers. Our rules break it where those of request_oracle.c do, which are written from the RFCs.
// Two sessions of nghttp2 see it: one leaves the judgement to ours, the other makes its own; what ours takes it takes as
// well, with the same fields and frames. What becomes of a field that is wrong differs between versions of nghttp2, so
// no more is asked of it.
//
// The input: steps of a byte each. Of its lower two bits 0 is a field, whose name and value follow as a byte that chooses
// one of those below, or past them their length and bytes; 1 ends the block, with END_STREAM if bit 2 is set; 2 is data,
// of as many bytes as the upper five bits say, with END_STREAM if bit 2 is set.

enum { BLOCK_MAX = 8192, TEXT_MAX = 255, LOG_MAX = 1 << 16, STREAM = 1 };

static const char *const names[] = {
    ":method", ":scheme", ":path", ":authority", ":status", ":protocol", ":x", "host", "te", "content-length",
    "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "content-type", "grpc-timeout",
    "x-name", "X-Name", "x name", "", ":", "grpc-message-type", "priority", "grpc-encoding",
};
static const char *const values[] = {
    "POST", "GET", "CONNECT", "OPTIONS", "HEAD", "http", "https", "HTTP", "grpc+x", "1x", "/", "/a.b/C", "*", "a", "test.local",
    "trailers", "Trailers", "0", "5", "31", "+5", "9223372036854775807", "9223372036854775808", "", " ", "\t", " a", "a ",
    "a b", "a\tb", "\x7f", "\x80", "\x01", "A", "TEST.local", "00000000000000000000005", "a@b", "a:1", "a:1:2", "::::", ":1",
    "[::1]:80", "a%41", "a%4",
};
enum { NAME_COUNT = sizeof names / sizeof names[0], VALUE_COUNT = sizeof values / sizeof values[0] };

/// One of the sessions, and what it told.
typedef struct side {
    nghttp2_session *session;
    bool is_ours, is_broken;
    crpc_request_state state;
    crpc_authority authority;
    uint8_t log[LOG_MAX];
    size_t log_length;
} side;

static void note(side *side, uint8_t kind, const uint8_t *bytes, size_t length) {
    CHECK(side->log_length + length + 2 <= LOG_MAX);
    side->log[side->log_length++] = kind;
    if (length > 0) memcpy(side->log + side->log_length, bytes, length);
    side->log_length += length;
}

static int break_request(side *side) {
    side->is_broken = true;
    return nghttp2_submit_rst_stream(side->session, NGHTTP2_FLAG_NONE, STREAM, NGHTTP2_PROTOCOL_ERROR);
}

static int on_header(
    nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length, const uint8_t *value,
    size_t value_length, uint8_t flags, void *user) {
    (void)session;
    (void)flags;
    side *side = user;
    if (side->is_ours) {
        bool is_trailer = frame->headers.cat != NGHTTP2_HCAT_REQUEST;
        crpc_entry field = {name, value, name_length, value_length};
        if (!crpc_request_takes_field(
                &side->state, &side->authority, crpc_header_named(&crpc_grpc_names, name, name_length), &field,
                is_trailer)) {
            CHECK(break_request(side) == 0);
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        }
    }
    note(side, 'N', name, name_length);
    note(side, 'V', value, value_length);
    return 0;
}

static int on_data_chunk(
    nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes, size_t length, void *user) {
    (void)session;
    (void)flags;
    (void)id;
    (void)bytes;
    side *side = user;
    if (!side->is_ours || side->is_broken || crpc_request_takes_data(&side->state, length)) return 0;
    return break_request(side);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    (void)session;
    side *side = user;
    bool ends_stream = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (frame->hd.type != NGHTTP2_HEADERS && (frame->hd.type != NGHTTP2_DATA || !ends_stream)) return 0;
    if (side->is_ours) {
        if (side->is_broken) return 0;
        bool is_head = frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
        bool is_right = is_head ? crpc_request_has_head(&side->state) : ends_stream;
        if (!is_right || (ends_stream && !crpc_request_is_whole(&side->state))) return break_request(side);
    }
    note(side, frame->hd.type == NGHTTP2_HEADERS ? 'H' : 'D', NULL, 0);
    return 0;
}

static int on_frame_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    (void)session;
    side *side = user;
    if (frame->hd.type == NGHTTP2_RST_STREAM) {
        uint8_t error = (uint8_t)frame->rst_stream.error_code;
        note(side, 'R', &error, 1);
    }
    return 0;
}

static void begin(side *side, bool is_ours) {
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    CHECK(nghttp2_session_callbacks_new(&callbacks) == 0 && nghttp2_option_new(&option) == 0);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_sent);
    if (is_ours) nghttp2_option_set_no_http_messaging(option, 1);
    side->log_length = 0;
    side->is_ours = is_ours;
    side->is_broken = false;
    crpc_request_begin(&side->state);
    CHECK(nghttp2_session_server_new2(&side->session, callbacks, side, option) == 0);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
}

static void give(side *side, const uint8_t *bytes, size_t length) {
    CHECK(nghttp2_session_mem_recv(side->session, bytes, length) == (ssize_t)length);
    const uint8_t *sent;
    while (nghttp2_session_mem_send(side->session, &sent) > 0) continue;
}

static size_t take_text(fuzz_input *input, const char *const *known, size_t known_count, const uint8_t **text) {
    uint8_t choice = fuzz_take_byte(input);
    if (choice >= known_count) return fuzz_take(input, fuzz_take_byte(input) % TEXT_MAX, text);
    *text = (const uint8_t *)known[choice];
    return strlen(known[choice]);
}

/// A literal without indexing (RFC 7541 section 6.2.2), with lengths below 254.
static size_t put_field(fuzz_input *input, oracle *oracle, uint8_t *target) {
    const uint8_t *texts[2];
    size_t lengths[2], count = 0;
    lengths[0] = take_text(input, names, NAME_COUNT, &texts[0]);
    lengths[1] = take_text(input, values, VALUE_COUNT, &texts[1]);
    target[count++] = 0;
    oracle_add(oracle, texts[0], lengths[0], texts[1], lengths[1]);
    for (int i = 0; i < 2; i++) {
        target[count++] = (uint8_t)(lengths[i] < 0x7f ? lengths[i] : 0x7f);
        if (lengths[i] >= 0x7f) {
            size_t rest = lengths[i] - 0x7f;
            if (rest >= 0x80) target[count++] = (uint8_t)(0x80 | (rest & 0x7f));
            target[count++] = (uint8_t)(rest >= 0x80 ? rest >> 7 : rest);
        }
        if (lengths[i] > 0) memcpy(target + count, texts[i], lengths[i]);
        count += lengths[i];
    }
    return count;
}

static void give_frame(side sides[2], uint8_t type, uint8_t flags, uint8_t *frame, size_t length) {
    const uint8_t head[] = {0, (uint8_t)(length >> 8), (uint8_t)length, type, flags, 0, 0, 0, STREAM};
    memcpy(frame, head, sizeof head);
    for (int i = 0; i < 2; i++) give(&sides[i], frame, CRPC_FRAME_HEAD + length);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const char start[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    static side sides[2];
    static oracle oracle;
    static uint8_t frame[CRPC_FRAME_HEAD + BLOCK_MAX];
    fuzz_input input = {bytes, length};
    for (int i = 0; i < 2; i++) {
        begin(&sides[i], i == 1);
        give(&sides[i], (const uint8_t *)start, sizeof start - 1);
    }
    oracle_begin(&oracle);
    size_t block_length = 0;
    bool has_head = false;
    while (input.length > 0) {
        uint8_t step = fuzz_take_byte(&input), end = step & 4 ? NGHTTP2_FLAG_END_STREAM : 0;
        if ((step & 3) == 0 && block_length + 2 * (TEXT_MAX + 4) < BLOCK_MAX) {
            block_length += put_field(&input, &oracle, frame + CRPC_FRAME_HEAD + block_length);
        } else if ((step & 3) == 1) {
            give_frame(sides, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | end, frame, block_length);
            oracle_take_block(&oracle, end != 0);
            block_length = 0;
            has_head = true;
        } else if ((step & 3) == 2 && has_head && block_length == 0) {
            memset(frame + CRPC_FRAME_HEAD, 'x', step >> 3);
            give_frame(sides, NGHTTP2_DATA, end, frame, step >> 3);
            oracle_take_data(&oracle, step >> 3, end != 0);
        }
        CHECK(sides[1].is_broken == oracle.is_broken);
    }
    if (!sides[1].is_broken) {
        CHECK(sides[0].log_length == sides[1].log_length);
        CHECK(memcmp(sides[0].log, sides[1].log, sides[0].log_length) == 0);
    }
    for (int i = 0; i < 2; i++) nghttp2_session_del(sides[i].session);
    return 0;
}
