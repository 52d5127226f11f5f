#include "fuzz.h"

#include <stdio.h>

_Noreturn void fuzz_fail(const char *text, const char *file, int line) {
    (void)fprintf(stderr, "%s:%d: not so: %s\n", file, line, text);
    abort();
}

uint8_t fuzz_take_byte(fuzz_input *input) {
    const uint8_t *byte;
    return fuzz_take(input, 1, &byte) == 1 ? *byte : 0;
}

size_t fuzz_take(fuzz_input *input, size_t length, const uint8_t **bytes) {
    size_t count = length < input->length ? length : input->length;
    *bytes = input->bytes;
    input->bytes += count;
    input->length -= count;
    return count;
}

void fuzz_scene_begin(fuzz_scene *scene) {
    carrier_begin(&scene->carrier);
    scene->live_calls = 0;
}

void fuzz_turn(fuzz_scene *scene) {
    enum { TURN_NS = 1000000 };
    carrier_turn(&scene->carrier, TURN_NS);
    carrier_take(&scene->carrier, scene->carrier.sent_length);
}

void fuzz_scene_end(fuzz_scene *scene) {
    crpc_turn *turn = &scene->carrier.turn;
    for (int i = 0; i < 4; i++) fuzz_turn(scene); // what was begun is finished
    carrier_cut(&scene->carrier);
    CHECK(scene->carrier.connection == NULL && scene->live_calls == 0);
    CHECK(crpc_link_is_empty(&turn->flushes) && crpc_link_is_empty(&turn->closes));
    CHECK(turn->stats.held_bytes == 0 && turn->stats.handlers == 0);
    CHECK(turn->stats.server_streams_opened == turn->stats.server_streams_closed);
    CHECK(turn->stats.client_streams_opened == turn->stats.client_streams_closed);
    carrier_end(&scene->carrier);
}

static void send_in_pieces(fuzz_scene *scene, const uint8_t *bytes, size_t length, unsigned pace) {
    static const size_t sizes[] = {SIZE_MAX, 1, 2, 3, 7, 16, 100, 1000};
    while (length > 0) {
        size_t piece = sizes[pace & 7] < length ? sizes[pace & 7] : length;
        carrier_feed(&scene->carrier, bytes, piece);
        fuzz_turn(scene);
        bytes += piece;
        length -= piece;
    }
}

/// Header blocks that a fuzzer would take long to find; what follows the choice is appended as it is.
static const char *const request_heads[] = {
    // :method POST, :scheme http, then literals without indexing.
    "\203\206\004\021/test.Calls/Unary\017\020\020application/grpc",
    "\203\206\004\022/test.Calls/Stream\017\020\020application/grpc",
    "\203\206\004\020/test.Calls/Hold\017\020\020application/grpc",
    "\203\206\004\020/test.Calls/None\017\020\020application/grpc",
};
static const char *const answer_heads[] = {
    // :status 200, content-type
    "\210\017\020\020application/grpc",
    "\210\017\020\020application/grpc\000\013grpc-status\0010",
    "\000\013grpc-status\0010",
    "\000\013grpc-status\0015\000\014grpc-message\005oh%20",
};
// The texts contain zeros, so their lengths are listed.
static const size_t answer_head_lengths[] = {20, 20 + 15, 15, 15 + 20};

static size_t put_head(uint8_t *target, unsigned choice, bool is_client) {
    const char *head = is_client ? request_heads[choice & 3] : answer_heads[choice & 3];
    size_t length = is_client ? strlen(head) : answer_head_lengths[choice & 3];
    memcpy(target, head, length);
    return length;
}

static void play_frames(fuzz_scene *scene, fuzz_input *input, bool is_client, unsigned pace) {
    enum { PAYLOAD_MAX = 2048 };
    while (input->length > 0) {
        uint8_t frame[9 + 64 + PAYLOAD_MAX] = {0};
        uint8_t type = fuzz_take_byte(input) % 12, flags = fuzz_take_byte(input), id = fuzz_take_byte(input);
        size_t wanted = (size_t)fuzz_take_byte(input) << 8, length = 0;
        wanted = (wanted | fuzz_take_byte(input)) % PAYLOAD_MAX;
        if (type == NGHTTP2_HEADERS && (flags & 0x40)) {
            flags = (flags & NGHTTP2_FLAG_END_STREAM) | NGHTTP2_FLAG_END_HEADERS;
            length = put_head(frame + 9, fuzz_take_byte(input), is_client);
        }
        const uint8_t *payload;
        size_t count = fuzz_take(input, wanted, &payload);
        if (count > 0) memcpy(frame + 9 + length, payload, count);
        length += count;
        frame[1] = (uint8_t)(length >> 8);
        frame[2] = (uint8_t)length;
        frame[3] = type;
        frame[4] = flags;
        frame[8] = id;
        send_in_pieces(scene, frame, 9 + length, pace);
    }
}

void fuzz_play(fuzz_scene *scene, fuzz_input *input, bool is_client) {
    static const char start[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    enum { PREFACE_LENGTH = 24, START_LENGTH = sizeof start - 1 };
    uint8_t choice = fuzz_take_byte(input);
    unsigned pace = choice >> 2 & 7;
    const uint8_t *from = (const uint8_t *)start + (is_client ? 0 : PREFACE_LENGTH);
    if (choice & 2) send_in_pieces(scene, from, START_LENGTH - (is_client ? 0 : PREFACE_LENGTH), pace);
    if (choice & 1) {
        play_frames(scene, input, is_client, pace);
    } else {
        send_in_pieces(scene, input->bytes, input->length, pace);
    }
}

void *fuzz_message(size_t length, uint8_t fill) {
    uint8_t *memory = malloc(CRPC_PREFIX_LENGTH + length);
    CHECK(memory != NULL);
    memset(memory, fill, CRPC_PREFIX_LENGTH + length);
    return memory;
}
