#include "crpc_limits.h"
#include "http1/chunks.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

// Chunked bodies: what comes of them, whole, byte by byte, and cut at every offset.

enum { BODY_MAX = 65536 };

typedef struct outcome {
    crpc_chunk_state state;
    size_t used, body_length;
    uint32_t cost;
    char body[BODY_MAX];
} outcome;

/// Reads a piece, until the body has ended or it is used up.
static void read_piece(crpc_chunks *chunks, outcome *outcome, const char *text, size_t length) {
    uint8_t *bytes = malloc(length + 1); // what is read past its end is seen
    REQUIRE(bytes != NULL);
    memcpy(bytes, text, length);
    bytes = realloc(bytes, length > 0 ? length : 1);
    size_t used = 0;
    while (used < length && chunks->state < CRPC_CHUNK_WHOLE) {
        if (chunks->state == CRPC_CHUNK_DATA) {
            size_t part = chunks->left < length - used ? (size_t)chunks->left : length - used;
            if (outcome->body_length + part <= BODY_MAX) memcpy(outcome->body + outcome->body_length, bytes + used, part);
            outcome->body_length += part;
            crpc_chunks_take_data(chunks, part);
            used += part;
        } else {
            used += crpc_chunks_read(chunks, bytes + used, length - used);
        }
    }
    free(bytes);
    outcome->used += used;
    outcome->state = chunks->state;
    outcome->cost = chunks->cost;
}

static outcome *read_cut(const char *text, size_t length, size_t piece, size_t first) {
    static outcome outcome;
    memset(&outcome, 0, sizeof outcome);
    crpc_chunks chunks = {0};
    if (first > 0) read_piece(&chunks, &outcome, text, first);
    for (size_t at = first; at < length && chunks.state < CRPC_CHUNK_WHOLE; at += piece)
        read_piece(&chunks, &outcome, text + at, length - at < piece ? length - at : piece);
    return &outcome;
}

static void expect(const char *text, size_t length, crpc_chunk_state state, const char *body, size_t used, uint32_t cost) {
    for (size_t cut = 0; cut <= length + 1; cut++) {
        // Whole, then cut at each offset, then byte by byte.
        outcome *outcome = read_cut(text, length, cut == length + 1 ? 1 : length + 1, cut > length ? 0 : cut);
        EXPECT_EQUAL(outcome->state, state);
        EXPECT_TEXT(outcome->body, outcome->body_length, body);
        EXPECT_EQUAL(outcome->used, used);
        EXPECT_EQUAL(outcome->cost, cost);
        if (!test_has_failed()) continue;
        test_note("%s, cut at %zu", text, cut);
        return;
    }
}

static void expect_whole(const char *text, const char *body, uint32_t cost) {
    char followed[256];
    size_t length = strlen(text);
    memcpy(followed, text, length);
    memcpy(followed + length, "GET", 3);
    expect(followed, length + 3, CRPC_CHUNK_WHOLE, body, length, cost);
}

TEST(h1_chunks_are_put_together) {
    expect_whole("0\r\n\r\n", "", 0);
    expect_whole("0000000000000000\r\n\r\n", "", 0);
    expect_whole("10\r\n0123456789abcdef\r\n0\r\n\r\n", "0123456789abcdef", 0);
}

TEST(h1_trailers_with_other_names_are_dropped) {
    expect_whole("0\r\nHos: 1\r\nHosts: 2\r\nContent-Length2: 3\r\nTransfer-Encodings: 4\r\n\r\n", "", 4);
}

TEST(h1_extensions_and_trailers_are_dropped_and_cost_something) {
    expect_whole("3\r\nabc\r\n1;a=\"b;\\\"c\x80\";d;e=f\r\n\r\r\n0;last\r\nX-A:\r\nb: \tc\x80\r\n\r\n", "abc\r", 6);
}

TEST(h1_chunks_that_are_none_break_the_body) {
    static const char *const broken[] = {
        "\r\n", "\n", "g", "x1", "-1", "+1", "0x1\r\n", " 1\r\n", "1 \r\n", "1 ;a\r\n", "1\n", "1\r\r\n", "1\rX", "1;a\n",
        "1;\x01", "1;\x7f", "1;a\rb", "1;\r\n", "1;;a\r\n", "1; a\r\n", "1;a \r\n", "1;a=\r\n", "1;a= b", "1;a=b=c", "1;=b", "1;\xd7=b",
        "1;a=\"b\r", "1;a=\"\\\r", "1;a=\"\x01", "1;a=\"b\"c", "1;a=b\"c", "1;a=\xd7", "00000000000000000", "fffffffffffffff0\r\n", "8000000000000000\r\n", "1\r\nab\r\n",
        "1\r\na\n", "1\r\na\rX", "1\r\na0\r\n", "0\r\n\n", "0\r\n\rX", "0\r\n:", "0\r\n a", "0\r\na b", "0\r\na\r\n", "0\r\na:\n",
        "0\r\na: \x01", "0\r\na: b\rc", "0\r\na: b\r\n\n", "0\r\n\t", "0\r\nContent-Length: 1\r\n",
        "0\r\na: b\r\ntransfer-ENCODING:", "0\r\nHost:x\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        outcome *outcome = read_cut(broken[i], strlen(broken[i]), SIZE_MAX / 2, 0);
        EXPECT_EQUAL(outcome->state, CRPC_CHUNK_BROKEN);
        outcome = read_cut(broken[i], strlen(broken[i]), 1, 0);
        EXPECT_EQUAL(outcome->state, CRPC_CHUNK_BROKEN);
        if (test_has_failed()) test_note("%s", broken[i]);
    }
}

TEST(h1_the_largest_chunk_is_one) {
    crpc_chunks chunks = {0};
    static const char text[] = "7fffffffffffffff\r\n";
    EXPECT_EQUAL(crpc_chunks_read(&chunks, (const uint8_t *)text, sizeof text - 1), sizeof text - 1);
    EXPECT_EQUAL(chunks.state, CRPC_CHUNK_DATA);
    EXPECT_EQUAL(chunks.left, INT64_MAX);
}

/// A text of a beginning, so many letters, and an end.
static char *long_text(const char *before, size_t count, const char *after) {
    size_t begin = strlen(before);
    char *text = malloc(begin + count + strlen(after) + 1);
    REQUIRE(text != NULL);
    memcpy(text, before, begin);
    memset(text + begin, 'a', count);
    memcpy(text + begin + count, after, strlen(after) + 1);
    return text;
}

static void expect_long(const char *before, size_t count, const char *after, crpc_chunk_state state) {
    char *text = long_text(before, count, after);
    EXPECT_EQUAL(read_cut(text, strlen(text), SIZE_MAX / 2, 0)->state, state);
    free(text);
}

TEST(h1_extensions_and_trailers_are_bounded) {
    expect_long("1;", CRPC_CHUNK_EXTENSION_MAX, "\r\na\r\n0\r\n\r\n", CRPC_CHUNK_WHOLE);
    expect_long("1;", CRPC_CHUNK_EXTENSION_MAX + 1, "\r\na\r\n0\r\n\r\n", CRPC_CHUNK_BROKEN);
    // "a:" and the CR LF of two lines.
    expect_long("0\r\na:", CRPC_CHUNK_TRAILERS_MAX - 6, "\r\n\r\n", CRPC_CHUNK_WHOLE);
    expect_long("0\r\na:", CRPC_CHUNK_TRAILERS_MAX - 5, "\r\n\r\n", CRPC_CHUNK_BROKEN);
}

TEST(h1_short_chunks_cost_something) {
    static const char shorter[] = "f\r\n0123456789abcde\r\n1\r\nx\r\n10\r\n0123456789abcdef\r\n";
    EXPECT_EQUAL(read_cut(shorter, sizeof shorter - 1, SIZE_MAX / 2, 0)->cost, 2 * CRPC_COST_FRAME);
}
