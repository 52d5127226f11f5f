#include "layer.h"
#include "test.h"

// Messages in a stream of bytes. Each input is fed whole, byte by byte, and cut in two at every offset: what comes out
// is the same.

enum { MESSAGE_MAX = 70000, OUTCOME_MAX = 160000 };

/// What came out: each message's flag, length and bytes one after the other, then the error if there was one.
typedef struct outcome {
    uint8_t *bytes;
    size_t length;
    int error;
    bool is_between;
} outcome;

static void append(outcome *outcome, const void *bytes, size_t length) {
    REQUIRE(outcome->length + length <= OUTCOME_MAX);
    if (length > 0) memcpy(outcome->bytes + outcome->length, bytes, length);
    outcome->length += length;
}

/// Feeds one piece from memory of exactly its size, so that a read past its end is seen.
static void feed(crpc_deframer *deframer, const uint8_t *bytes, size_t length, outcome *outcome) {
    uint8_t *piece = malloc(length == 0 ? 1 : length);
    REQUIRE(piece != NULL);
    if (length > 0) memcpy(piece, bytes, length);
    const uint8_t *at = piece;
    size_t left = length;
    for (;;) {
        crpc_message message;
        int found = crpc_deframer_next(deframer, &at, &left, &message);
        if (found < 0 && outcome->error == 0) outcome->error = found;
        if (found <= 0) break;
        uint8_t flag = message.compressed;
        append(outcome, &flag, 1);
        append(outcome, &message.length, sizeof message.length);
        append(outcome, message.bytes, message.length);
    }
    EXPECT(outcome->error != 0 || left == 0);
    EXPECT(at + left == piece + length);
    free(piece);
}

static outcome begin(void) {
    outcome outcome = {.bytes = malloc(OUTCOME_MAX)};
    REQUIRE(outcome.bytes != NULL);
    return outcome;
}

static outcome deframe(const uint8_t *bytes, size_t length, uint32_t max, const size_t *cuts, size_t cut_count) {
    crpc_deframer deframer;
    outcome outcome = begin();
    crpc_deframer_init(&deframer, max);
    size_t from = 0;
    for (size_t i = 0; i < cut_count; i++) {
        feed(&deframer, bytes + from, cuts[i] - from, &outcome);
        from = cuts[i];
    }
    feed(&deframer, bytes + from, length - from, &outcome);
    outcome.is_between = crpc_deframer_is_between_messages(&deframer);
    crpc_deframer_reset(&deframer);
    return outcome;
}

static outcome deframe_bytewise(const uint8_t *bytes, size_t length, uint32_t max) {
    crpc_deframer deframer;
    outcome outcome = begin();
    crpc_deframer_init(&deframer, max);
    for (size_t i = 0; i < length; i++) feed(&deframer, bytes + i, 1, &outcome);
    outcome.is_between = crpc_deframer_is_between_messages(&deframer);
    crpc_deframer_reset(&deframer);
    return outcome;
}

static void expect_same(const outcome *actual, const outcome *expected) {
    EXPECT_BYTES(actual->bytes, actual->length, expected->bytes, expected->length);
    EXPECT_EQUAL(actual->error, expected->error);
    EXPECT_EQUAL(actual->is_between, expected->is_between);
}

static size_t put_message(uint8_t *target, bool compressed, const char *text, size_t length) {
    crpc_prefix_write(target, compressed, (uint32_t)length);
    if (length > 0) memcpy(target + CRPC_PREFIX_LENGTH, text, length);
    return CRPC_PREFIX_LENGTH + length;
}

/// Checks the outcome whole, then that every way of cutting gives the same.
static void check(const uint8_t *bytes, size_t length, uint32_t max, int error, bool is_between) {
    outcome whole = deframe(bytes, length, max, NULL, 0);
    EXPECT_EQUAL(whole.error, error);
    EXPECT_EQUAL(whole.is_between, is_between);
    outcome bytewise = deframe_bytewise(bytes, length, max);
    expect_same(&bytewise, &whole);
    for (size_t cut = 0; cut <= length; cut++) {
        outcome halves = deframe(bytes, length, max, &cut, 1);
        expect_same(&halves, &whole);
        free(halves.bytes);
        if (test_has_failed()) test_note("cut at %zu of %zu", cut, length);
    }
    free(bytewise.bytes);
    free(whole.bytes);
}

TEST(a_prefix_is_a_flag_and_a_big_endian_length) {
    uint8_t prefix[CRPC_PREFIX_LENGTH];
    crpc_prefix_write(prefix, false, 0);
    EXPECT_BYTES(prefix, sizeof prefix, "\0\0\0\0\0", 5);
    crpc_prefix_write(prefix, true, 0x01020304);
    EXPECT_BYTES(prefix, sizeof prefix, "\1\1\2\3\4", 5);
    crpc_prefix_write(prefix, false, UINT32_MAX);
    EXPECT_BYTES(prefix, sizeof prefix, "\0\377\377\377\377", 5);
}

TEST(messages_come_out_as_they_went_in_however_they_are_cut) {
    uint8_t bytes[128];
    size_t length = put_message(bytes, false, "first", 5);
    length += put_message(bytes + length, false, "", 0);
    length += put_message(bytes + length, true, "second, longer", 14);
    length += put_message(bytes + length, false, "", 0);
    outcome whole = deframe(bytes, length, 100, NULL, 0);
    outcome wanted = begin();
    const char *const texts[] = {"first", "", "second, longer", ""};
    for (size_t i = 0; i < 4; i++) {
        uint8_t flag = i == 2;
        size_t text_length = strlen(texts[i]);
        append(&wanted, &flag, 1);
        append(&wanted, &text_length, sizeof text_length);
        append(&wanted, texts[i], text_length);
    }
    EXPECT_BYTES(whole.bytes, whole.length, wanted.bytes, wanted.length);
    free(whole.bytes);
    free(wanted.bytes);
    check(bytes, length, 100, CRPC_OK, true);
}

TEST(every_pair_of_cuts_gives_the_same_messages) {
    uint8_t bytes[64];
    size_t length = put_message(bytes, false, "abc", 3);
    length += put_message(bytes + length, true, "", 0);
    length += put_message(bytes + length, false, "0123456789", 10);
    outcome whole = deframe(bytes, length, 10, NULL, 0);
    for (size_t first = 0; first <= length; first++) {
        for (size_t second = first; second <= length; second++) {
            outcome cut = deframe(bytes, length, 10, (size_t[]){first, second}, 2);
            expect_same(&cut, &whole);
            free(cut.bytes);
        }
    }
    free(whole.bytes);
}

TEST(a_stream_that_ends_inside_a_message_is_not_between_messages) {
    uint8_t bytes[32];
    size_t length = put_message(bytes, false, "message", 7);
    check(bytes, 0, 100, CRPC_OK, true);
    for (size_t end = 1; end < length; end++) check(bytes, end, 100, CRPC_OK, false);
    check(bytes, length, 100, CRPC_OK, true);
}

TEST(a_message_of_the_maximum_passes_and_one_byte_more_does_not) {
    uint8_t bytes[64];
    size_t length = put_message(bytes, false, "12345678", 8);
    check(bytes, length, 8, CRPC_OK, true);
    check(bytes, length, 7, CRPC_ERROR_LIMIT, false);
    length = put_message(bytes, false, "", 0);
    check(bytes, length, 0, CRPC_OK, true);
    length = put_message(bytes, false, "1", 1);
    check(bytes, length, 0, CRPC_ERROR_LIMIT, false);
}

TEST(a_length_over_the_maximum_fails_before_its_bytes_arrive) {
    check((const uint8_t *)"\0\377\377\377\377", 5, MESSAGE_MAX, CRPC_ERROR_LIMIT, false);
    check((const uint8_t *)"\0\0\1\21\161", 5, MESSAGE_MAX, CRPC_ERROR_LIMIT, false); // 70001
    check((const uint8_t *)"\0\0\1\21\160", 5, MESSAGE_MAX, CRPC_OK, false);
}

TEST(flags_other_than_0_and_1_fail_and_nothing_leads_out_of_it) {
    uint8_t bytes[64];
    for (int flag = 2; flag < 256; flag++) {
        size_t length = put_message(bytes, false, "good", 4);
        bytes[length] = (uint8_t)flag;
        memset(bytes + length + 1, 0, 4);
        length += CRPC_PREFIX_LENGTH;
        length += put_message(bytes + length, false, "after", 5);
        check(bytes, length, 100, CRPC_ERROR_PROTOCOL, false);
    }
}

TEST(a_deframer_that_was_reset_is_as_new) {
    crpc_deframer deframer;
    crpc_message message;
    crpc_deframer_init(&deframer, 10);
    const uint8_t *bytes = (const uint8_t *)"\2\0\0\0\0";
    size_t length = 5;
    EXPECT_EQUAL(crpc_deframer_next(&deframer, &bytes, &length, &message), CRPC_ERROR_PROTOCOL);
    EXPECT(!crpc_deframer_is_between_messages(&deframer));
    crpc_deframer_reset(&deframer);
    EXPECT(crpc_deframer_is_between_messages(&deframer));
    bytes = (const uint8_t *)"\0\0\0\0\13";
    length = 5;
    EXPECT_EQUAL(crpc_deframer_next(&deframer, &bytes, &length, &message), CRPC_ERROR_LIMIT); // the maximum stays
    crpc_deframer_reset(&deframer);
    bytes = (const uint8_t *)"\0\0\0\0\2ok";
    length = 7;
    EXPECT_EQUAL(crpc_deframer_next(&deframer, &bytes, &length, &message), 1);
    EXPECT_TEXT(message.bytes, message.length, "ok");
    crpc_deframer_reset(&deframer);
}

TEST(a_message_that_lies_whole_in_the_given_bytes_is_not_copied) {
    crpc_deframer deframer;
    crpc_message message;
    crpc_deframer_init(&deframer, 10);
    const uint8_t start[] = "\0\0\0\0\2ok";
    const uint8_t *bytes = start;
    size_t length = 7;
    EXPECT_EQUAL(crpc_deframer_next(&deframer, &bytes, &length, &message), 1);
    EXPECT(message.bytes == start + CRPC_PREFIX_LENGTH);
    EXPECT(deframer.buffer == NULL);
    crpc_deframer_reset(&deframer);
}

TEST(memory_grows_with_what_arrives_and_not_with_what_is_announced) {
    crpc_deframer deframer;
    crpc_message message;
    crpc_deframer_init(&deframer, 1u << 30);
    const uint8_t *bytes = (const uint8_t *)"\0\100\0\0\0";
    size_t length = 5;
    EXPECT_EQUAL(crpc_deframer_next(&deframer, &bytes, &length, &message), 0);
    EXPECT_EQUAL(deframer.capacity, 0);
    uint8_t piece[1000] = {0};
    for (size_t received = 0; received < 100000; received += sizeof piece) {
        bytes = piece;
        length = sizeof piece;
        EXPECT_EQUAL(crpc_deframer_next(&deframer, &bytes, &length, &message), 0);
        EXPECT(deframer.capacity <= 2 * (received + sizeof piece));
    }
    crpc_deframer_reset(&deframer);
}

TEST(a_large_message_in_uneven_pieces_is_put_together) {
    static uint8_t bytes[CRPC_PREFIX_LENGTH + MESSAGE_MAX];
    crpc_prefix_write(bytes, false, MESSAGE_MAX);
    for (size_t i = 0; i < MESSAGE_MAX; i++) bytes[CRPC_PREFIX_LENGTH + i] = (uint8_t)(i * 31 + i / 256);
    outcome whole = deframe(bytes, sizeof bytes, MESSAGE_MAX, NULL, 0);
    EXPECT_EQUAL(whole.length, 1 + sizeof(size_t) + MESSAGE_MAX);
    static size_t cuts[MESSAGE_MAX];
    size_t count = 0;
    for (size_t at = 1, step = 1; at < sizeof bytes; at += step, step = step * 7 % 4093 + 1) cuts[count++] = at;
    outcome cut = deframe(bytes, sizeof bytes, MESSAGE_MAX, cuts, count);
    expect_same(&cut, &whole);
    free(cut.bytes);
    free(whole.bytes);
}
