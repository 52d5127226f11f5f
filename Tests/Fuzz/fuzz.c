#include "fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

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

static void run_job(void *job, void *context) {
    (void)job;
    (void)context;
}

static void stop(void *loop) { crpc_loop_stop(loop); }

void fuzz_scene_begin(fuzz_scene *scene) {
    if (scene->loop == NULL) CHECK(crpc_loop_new(run_job, scene, &scene->loop) == CRPC_OK);
    scene->live_calls = 0;
}

void fuzz_turn(fuzz_scene *scene) {
    static uint8_t dropped[65536];
    atomic_store(&scene->loop->stopping, false);
    crpc_loop_post(scene->loop, stop, scene->loop);
    crpc_loop_run(scene->loop);
    while (scene->fd >= 0 && recv(scene->fd, dropped, sizeof dropped, MSG_DONTWAIT) > 0) continue;
}

void fuzz_send(fuzz_scene *scene, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = send(scene->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno != EAGAIN) return; // the connection is gone
        if (count > 0) {
            bytes += count;
            length -= (size_t)count;
        }
        if (length > 0) fuzz_turn(scene);
    }
}

static void send_in_pieces(fuzz_scene *scene, const uint8_t *bytes, size_t length, unsigned pace) {
    static const size_t sizes[] = {SIZE_MAX, 1, 2, 3, 7, 16, 100, 1000};
    while (length > 0) {
        size_t piece = sizes[pace & 7] < length ? sizes[pace & 7] : length;
        fuzz_send(scene, bytes, piece);
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
// With zeros inside, so that their lengths are told.
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

void fuzz_settle(fuzz_scene *scene) {
    for (int i = 0; i < 4; i++) fuzz_turn(scene);
}

void *fuzz_message(size_t length, uint8_t fill) {
    uint8_t *memory = malloc(CRPC_PREFIX_LENGTH + length);
    CHECK(memory != NULL);
    memset(memory, fill, CRPC_PREFIX_LENGTH + length);
    return memory;
}
