#include "fuzz.h"

// The same bytes whole and in pieces: the same messages and the same error come out.

typedef struct digest {
    uint64_t value; // of flags, lengths and bytes, in order
    size_t count;
    int error;
    bool is_between;
} digest;

static void mix(digest *digest, uint8_t byte) { digest->value = (digest->value ^ byte) * 1099511628211u; }

static void feed(crpc_deframer *deframer, const uint8_t *bytes, size_t length, uint32_t max, digest *digest) {
    // Memory of exactly that size, so that a read past its end is seen.
    uint8_t *piece = malloc(length == 0 ? 1 : length);
    CHECK(piece != NULL);
    if (length > 0) memcpy(piece, bytes, length);
    const uint8_t *at = piece;
    size_t left = length;
    for (;;) {
        crpc_message message;
        int found = crpc_deframer_next(deframer, &at, &left, &message);
        CHECK(at >= piece && at + left == piece + length);
        if (found < 0 && digest->error == 0) digest->error = found;
        if (found <= 0) break;
        CHECK(digest->error == 0 && message.length <= max);
        digest->count += 1;
        mix(digest, message.compressed);
        for (int i = 0; i < 4; i++) mix(digest, (uint8_t)(message.length >> 8 * i));
        for (size_t i = 0; i < message.length; i++) mix(digest, message.bytes[i]);
    }
    CHECK(digest->error != 0 || left == 0);
    CHECK(deframer->capacity <= max);
    free(piece);
}

static digest deframe(const uint8_t *bytes, size_t length, uint32_t max, const uint8_t *sizes, size_t size_count) {
    crpc_deframer deframer;
    digest digest = {.value = 14695981039346656037u};
    crpc_deframer_init(&deframer, max);
    for (size_t i = 0; i < size_count && length > 0; i++) {
        size_t size = sizes[i] < length ? sizes[i] : length;
        feed(&deframer, bytes, size, max, &digest);
        bytes += size;
        length -= size;
    }
    feed(&deframer, bytes, length, max, &digest);
    digest.is_between = crpc_deframer_is_between_messages(&deframer);
    crpc_deframer_reset(&deframer);
    return digest;
}

static void check_same(const digest *one, const digest *other) {
    CHECK(one->value == other->value && one->count == other->count);
    CHECK(one->error == other->error && one->is_between == other->is_between);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    fuzz_input input = {bytes, length};
    uint32_t max = (uint32_t)fuzz_take_byte(&input) << 4;
    const uint8_t *sizes;
    size_t size_count = fuzz_take(&input, fuzz_take_byte(&input) & 15, &sizes);
    digest whole = deframe(input.bytes, input.length, max, NULL, 0);
    digest pieces = deframe(input.bytes, input.length, max, sizes, size_count);
    check_same(&whole, &pieces);
    static const uint8_t ones[4096] = {[0 ... 4095] = 1};
    digest bytewise = deframe(input.bytes, input.length, max, ones, sizeof ones);
    check_same(&whole, &bytewise);
    return 0;
}
