#include "fuzz.h"
#include "http2/huffman.h"
#include "http2/plain_literals.h"

// Whole connections for two sessions of nghttp2: one gets the bytes as they come, the other what the guard and the
// rewriting of header blocks make of them, cut into reads at any place. Both tell the same, send the same, and fail alike.
//
// The input: a byte that chooses how it is cut into reads (0: all at once; else by bytes of the input's end), then steps, of
// which the first byte's lower four bits choose a frame: 0 to 8 a head made by nghttp2's deflater of fields, 9 to 11 DATA,
// 12 PING, 13 SETTINGS, 14 any frame, 15 the deflater's table size. The upper four bits are flags: END_STREAM, PRIORITY or
// padding, CONTINUATION, and a bit that is flipped.

enum { CONNECTION_MAX = 1 << 17, FRAME_MAX = 16384, FIELDS_MAX = 7, READ_MAX = 65536, LOG_MAX = 1 << 21 };

/// One of the sessions, and what it told and sent.
typedef struct side {
    nghttp2_session *session;
    uint8_t *log;
    size_t length;
} side;

static void note(side *side, const void *bytes, size_t length) {
    CHECK(side->length + length <= LOG_MAX);
    if (length > 0) memcpy(side->log + side->length, bytes, length);
    side->length += length;
}

static void note_numbers(side *side, char kind, uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t numbers[] = {(uint32_t)kind, a, b, c};
    note(side, numbers, sizeof numbers);
}

static int on_header(
    nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length, const uint8_t *value,
    size_t value_length, uint8_t flags, void *user) {
    (void)session;
    note_numbers(user, 'H', (uint32_t)frame->hd.stream_id, (uint32_t)name_length, flags);
    note(user, name, name_length);
    note(user, value, value_length);
    return 0;
}

static int on_data(
    nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes, size_t length, void *user) {
    (void)session;
    note_numbers(user, 'D', (uint32_t)id, (uint32_t)length, flags);
    note(user, bytes, length);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    (void)session;
    note_numbers(user, 'F', (uint32_t)frame->hd.stream_id, frame->hd.type, frame->hd.flags);
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t error, void *user) {
    (void)session;
    note_numbers(user, 'C', (uint32_t)id, error, 0);
    return 0;
}

static void begin(side *side) {
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    CHECK(nghttp2_session_callbacks_new(&callbacks) == 0 && nghttp2_option_new(&option) == 0);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_option_set_no_http_messaging(option, 1);
    CHECK(nghttp2_session_server_new2(&side->session, callbacks, side, option) == 0);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    if (side->log == NULL) side->log = malloc(LOG_MAX); // kept for the next input
    CHECK(side->log != NULL);
    side->length = 0;
}

static void note_sent(side *side) {
    const uint8_t *bytes;
    for (ssize_t length; (length = nghttp2_session_mem_send(side->session, &bytes)) > 0;) {
        note_numbers(side, 'S', (uint32_t)length, 0, 0);
        note(side, bytes, (size_t)length);
    }
}

// ---- What comes ----

typedef struct script {
    uint8_t bytes[CONNECTION_MAX];
    size_t length;
    nghttp2_hd_deflater *deflater;
    uint8_t next_id;
} script;

static void put_frame(script *script, uint8_t type, uint8_t flags, uint8_t id, const uint8_t *payload, size_t length) {
    if (script->length + CRPC_FRAME_HEAD + length > CONNECTION_MAX) return;
    const uint8_t head[CRPC_FRAME_HEAD] = {
        (uint8_t)(length >> 16), (uint8_t)(length >> 8), (uint8_t)length, type, flags, 0, 0, 0, id};
    memcpy(script->bytes + script->length, head, sizeof head);
    if (length > 0) memcpy(script->bytes + script->length + sizeof head, payload, length);
    script->length += sizeof head + length;
}

/// A header block: a byte of how many fields there are, and for each how its name is chosen and its value made.
static size_t put_block(fuzz_input *input, nghttp2_hd_deflater *deflater, uint8_t *target) {
    static char names[][24] = {":path", "authorization", "x-a", "grpc-timeout", "cookie", "x-much-longer-name-here",
                               ":authority", "te"};
    static uint8_t values[FIELDS_MAX][4096];
    nghttp2_nv fields[FIELDS_MAX];
    size_t count = fuzz_take_byte(input) % FIELDS_MAX + 1u;
    for (size_t i = 0; i < count; i++) {
        uint8_t choice = fuzz_take_byte(input), size = fuzz_take_byte(input);
        const uint8_t *bytes;
        size_t given = fuzz_take(input, size & 0x1f, &bytes), length = (size_t)(size >> 5) * (choice & 0x40 ? 512 : 32);
        // What is given, and then letters, so that values may be long though the input is short.
        for (size_t at = 0; at < length; at++) values[i][at] = (uint8_t) "abcdefghijklmnopqrstuvwxyz-._/0"[(at * 7 + size) % 31];
        if (given > 0) memcpy(values[i], bytes, given);
        if (given > length) length = given;
        char *name = names[choice & 7];
        uint8_t flags = choice & 0x80 ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;
        fields[i] = (nghttp2_nv){(uint8_t *)name, values[i], strlen(name), length, flags};
    }
    ssize_t made = nghttp2_hd_deflate_hd(deflater, target, FRAME_MAX, fields, count);
    return made < 0 ? 0 : (size_t)made;
}

static void put_head(fuzz_input *input, script *script, uint8_t step) {
    static uint8_t memory[FRAME_MAX + 64];
    uint8_t *block = memory + 32, flags = step & 0x10 ? NGHTTP2_FLAG_END_STREAM : 0;
    size_t length = put_block(input, script->deflater, block), padding = 0;
    if ((step & 0x80) && length > 0) block[fuzz_take_byte(input) % length] ^= (uint8_t)(1u << (length & 7));
    if (length > FRAME_MAX - 64) length = FRAME_MAX - 64;
    uint8_t how = step & 0x20 ? fuzz_take_byte(input) : 0;
    if (how & 1) { // PRIORITY
        block -= 5;
        memcpy(block, "\0\0\0\0\20", 5);
        length += 5;
        flags |= NGHTTP2_FLAG_PRIORITY;
    }
    if (how & 2) {
        padding = (how >> 2) % 24;
        *--block = (uint8_t)padding;
        memset(block + 1 + length, 0, padding);
        length += 1 + padding;
        flags |= NGHTTP2_FLAG_PADDED;
    }
    uint8_t id = how & 0x80 && script->next_id > 2 ? (uint8_t)(script->next_id - 2) : script->next_id;
    if (id == script->next_id && script->next_id < 250) script->next_id = (uint8_t)(script->next_id + 2);
    size_t cut = step & 0x40 && length > 0 ? fuzz_take_byte(input) % length : length;
    put_frame(script, NGHTTP2_HEADERS, flags | (cut == length ? NGHTTP2_FLAG_END_HEADERS : 0), id, block, cut);
    if (cut < length) put_frame(script, NGHTTP2_CONTINUATION, NGHTTP2_FLAG_END_HEADERS, id, block + cut, length - cut);
}

static void put_step(fuzz_input *input, script *script) {
    static const uint8_t zeros[4096];
    uint8_t step = fuzz_take_byte(input);
    const uint8_t *bytes;
    switch (step & 15) {
    case 9: case 10: case 11:
        put_frame(script, NGHTTP2_DATA, step & 0x10 ? NGHTTP2_FLAG_END_STREAM : step & 0x20 ? NGHTTP2_FLAG_PADDED : 0,
                  fuzz_take_byte(input), zeros, (size_t)fuzz_take_byte(input) * (step & 0x40 ? 16 : 1));
        break;
    case 12: put_frame(script, NGHTTP2_PING, 0, 0, (const uint8_t *)"12345678", 8); break;
    case 13: {
        size_t count = fuzz_take(input, 6, &bytes);
        put_frame(script, NGHTTP2_SETTINGS, 0, 0, bytes, count);
        break;
    }
    case 14: {
        uint8_t type = fuzz_take_byte(input), flags = fuzz_take_byte(input), id = fuzz_take_byte(input);
        size_t count = fuzz_take(input, fuzz_take_byte(input), &bytes);
        put_frame(script, type % 12, flags, id, bytes, count);
        break;
    }
    case 15: CHECK(nghttp2_hd_deflate_change_table_size(script->deflater, fuzz_take_byte(input) * 16u) == 0); break;
    default: put_head(input, script, step);
    }
}

static void write_script(fuzz_input *input, script *script) {
    static const char start[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    script->length = sizeof start - 1;
    script->next_id = 1;
    memcpy(script->bytes, start, script->length);
    CHECK(nghttp2_hd_deflate_new(&script->deflater, 4096) == 0);
    while (input->length > 0 && script->length < CONNECTION_MAX - FRAME_MAX) put_step(input, script);
    nghttp2_hd_deflate_del(script->deflater);
}

// ---- The connection ----

/// As a connection hands on what was read. nghttp2's error, or 0.
static ssize_t give_plain(
    side *side, crpc_known_literals *known, const uint8_t *bytes, size_t length, size_t first_head) {
    while (length > 0) {
        uint8_t *part = malloc(crpc_plain_literals_room(length)); // whose bounds are watched
        CHECK(part != NULL);
        size_t taken, written = crpc_plain_literals(known, bytes, length, first_head, part, &taken);
        size_t count = written > 0 ? written : taken;
        ssize_t outcome = nghttp2_session_mem_recv(side->session, written > 0 ? part : bytes, count);
        free(part);
        if (outcome < 0) return outcome;
        CHECK((size_t)outcome == count);
        bytes += taken;
        length -= taken;
        first_head = 0;
    }
    return 0;
}

/// A guard with bounds that nothing reaches.
static void begin_guard(crpc_guard *guard) {
    static crpc_limits limits;
    crpc_limits_default(&limits);
    limits.credit_max = 1u << 30;
    limits.header_bytes_max = 1u << 24;
    limits.continuations_max = CONNECTION_MAX;
    limits.ping_interval_min_ms = 0;
    crpc_guard_begin(guard, &limits, true, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static side sides[2];
    static script script;
    crpc_guard guard;
    crpc_huffman_prepare();
    fuzz_input input = {bytes, length};
    uint8_t pace = fuzz_take_byte(&input);
    write_script(&input, &script);
    for (int i = 0; i < 2; i++) begin(&sides[i]);
    begin_guard(&guard);
    crpc_known_literals known = {0};
    for (size_t at = 0, cuts = 0; at < script.length; cuts++) {
        size_t left = script.length - at, count = READ_MAX;
        if (pace != 0 && length > 0) count = (bytes[length - 1 - cuts % length] % pace) * (cuts % 3 == 0 ? 64u : 1u) + 1;
        if (count > left) count = left;
        if (count > READ_MAX) count = READ_MAX;
        uint8_t *piece = malloc(count);
        CHECK(piece != NULL);
        memcpy(piece, script.bytes + at, count);
        at += count;
        size_t first_head = crpc_guard_next_head(&guard, piece, count);
        CHECK(crpc_guard_look(&guard, piece, count, 0, true) == CRPC_VERDICT_FINE);
        ssize_t outcome = nghttp2_session_mem_recv(sides[0].session, piece, count);
        ssize_t plain_outcome = give_plain(&sides[1], &known, piece, count, first_head);
        free(piece);
        CHECK(outcome == (ssize_t)count ? plain_outcome == 0 : outcome == plain_outcome);
        for (int i = 0; i < 2 && outcome >= 0; i++) note_sent(&sides[i]);
        if (outcome < 0) break;
    }
    CHECK(sides[0].length == sides[1].length && memcmp(sides[0].log, sides[1].log, sides[0].length) == 0);
    for (int i = 0; i < 2; i++) nghttp2_session_del(sides[i].session);
    crpc_known_literals_end(&known);
    return 0;
}
