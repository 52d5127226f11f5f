#include "http2/huffman.h"
#include "http2/known_literals.h"
#include "memory_control.h"
#include "raw.h"

#include <stdio.h>

// Long strings that come again: what is known, what is decoded anew, and what is kept of a connection's.

enum { CODED_MAX = CRPC_KNOWN_LITERAL_MAX + 1, TEXT_MAX = CODED_MAX * 8 / 5 };

typedef struct coded {
    uint8_t bytes[CODED_MAX];
    size_t length;
    char text[TEXT_MAX];
    size_t text_length;
} coded;

/// A string of so many bytes with other letters for another number. 'a' has the code 00011, 'c' 00100 and 'e' 00101.
static coded coded_of(size_t length, unsigned number) {
    static const char letters[] = {'a', 'c', 'e'};
    coded coded = {.length = length, .text_length = length * 8 / 5};
    REQUIRE(length <= CODED_MAX);
    for (size_t i = 0; i < coded.text_length; i++) {
        number = number * 1103515245 + 12345;
        unsigned letter = (number >> 16) % 3;
        coded.text[i] = letters[letter];
        for (size_t bit = 0; bit < 5; bit++)
            if (((3 + letter) >> (4 - bit) & 1) != 0) coded.bytes[(i * 5 + bit) / 8] |= (uint8_t)(0x80 >> (i * 5 + bit) % 8);
    }
    for (size_t bit = coded.text_length * 5; bit < length * 8; bit++) coded.bytes[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
    return coded;
}

/// Decodes from and to memory whose bounds are watched, and expects the text.
static void expect_text(crpc_known_literals *known, const coded *coded) {
    uint8_t *bytes = malloc(coded->length), *target = malloc(crpc_huffman_room(coded->length));
    REQUIRE(bytes != NULL && target != NULL);
    memcpy(bytes, coded->bytes, coded->length);
    crpc_huffman_prepare();
    ssize_t length = crpc_known_literals_decode(known, bytes, coded->length, target);
    REQUIRE(length >= 0);
    EXPECT_BYTES(target, (size_t)length, coded->text, coded->text_length);
    free(bytes);
    free(target);
}

/// Whether a string would not be decoded: then its text is what was put in the place of the one that is kept.
static bool is_known(crpc_known_literals *known, const coded *coded) {
    static uint8_t target[TEXT_MAX + CRPC_HUFFMAN_SLACK];
    bool is_changed = false;
    for (int i = 0; i < CRPC_KNOWN_LITERALS; i++) {
        crpc_known_literal *literal = &known->at[i];
        if (literal->memory == NULL || literal->coded_length != coded->length ||
            memcmp(literal->memory, coded->bytes, coded->length) != 0) continue;
        uint8_t *text = literal->memory + coded->length;
        *text ^= 0x20;
        is_changed = crpc_known_literals_decode(known, coded->bytes, coded->length, target) == (ssize_t)coded->text_length &&
                     target[0] == (uint8_t)(coded->text[0] ^ 0x20);
        *text ^= 0x20;
    }
    return is_changed;
}

TEST(a_long_string_that_comes_again_is_not_decoded_again) {
    crpc_known_literals known = {0};
    coded token = coded_of(400, 1);
    EXPECT(!is_known(&known, &token));
    expect_text(&known, &token);
    EXPECT(is_known(&known, &token));
    expect_text(&known, &token);
    EXPECT(is_known(&known, &token));
    crpc_known_literals_end(&known);
    EXPECT(!is_known(&known, &token));
}

TEST(a_string_that_differs_in_one_letter_is_decoded) {
    crpc_known_literals known = {0};
    coded token = coded_of(100, 1);
    expect_text(&known, &token);
    for (size_t i = 0; i < token.text_length; i++) {
        coded other = token;
        // 'i' has the code 00110, which is none of the others'.
        for (size_t bit = 0; bit < 5; bit++) {
            uint8_t mask = (uint8_t)(0x80 >> (i * 5 + bit) % 8);
            other.bytes[(i * 5 + bit) / 8] &= (uint8_t)~mask;
            if ((6 >> (4 - bit) & 1) != 0) other.bytes[(i * 5 + bit) / 8] |= mask;
        }
        other.text[i] = 'i';
        expect_text(&known, &other);
        expect_text(&known, &token); // in turn, so that it is the one that stays
    }
    EXPECT(is_known(&known, &token));
    coded shorter = coded_of(95, 1); // the same front
    expect_text(&known, &shorter);
    EXPECT(is_known(&known, &shorter));
    EXPECT(is_known(&known, &token));
    crpc_known_literals_end(&known);
}

TEST(a_token_stays_known_while_other_strings_change) {
    crpc_known_literals known = {0};
    coded token = coded_of(400, 1);
    expect_text(&known, &token);
    for (unsigned i = 2; i < 50; i++) {
        coded other = coded_of(64 + i * 7, i);
        expect_text(&known, &other);
        EXPECT(is_known(&known, &other));
        EXPECT(is_known(&known, &token));
        expect_text(&known, &token);
    }
    // Two others in a row are all that is kept.
    coded others[] = {coded_of(400, 98), coded_of(400, 99)};
    for (size_t i = 0; i < 2; i++) expect_text(&known, &others[i]);
    for (size_t i = 0; i < 2; i++) EXPECT(is_known(&known, &others[i]));
    EXPECT(!is_known(&known, &token));
    crpc_known_literals_end(&known);
}

TEST(strings_that_are_short_or_too_long_are_not_kept) {
    static const struct {
        size_t length;
        bool is_kept;
    } cases[] = {
        {0, false}, {1, false}, {CRPC_KNOWN_LITERAL_MIN - 1, false}, {CRPC_KNOWN_LITERAL_MIN, true},
        {CRPC_KNOWN_LITERAL_MAX, true}, {CRPC_KNOWN_LITERAL_MAX + 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        crpc_known_literals known = {0};
        coded coded = coded_of(cases[i].length, 5);
        if (coded.length > 0) expect_text(&known, &coded);
        if (coded.length > 0) expect_text(&known, &coded);
        EXPECT_EQUAL(is_known(&known, &coded), cases[i].is_kept);
        size_t room = known.at[0].room + known.at[1].room;
        EXPECT_EQUAL(room, cases[i].is_kept ? coded.length + coded.text_length : 0);
        crpc_known_literals_end(&known);
    }
}

TEST(what_is_kept_takes_no_more_than_its_maximum) {
    crpc_known_literals known = {0};
    for (size_t length = CRPC_KNOWN_LITERAL_MIN; length <= CRPC_KNOWN_LITERAL_MAX; length += 15) {
        coded coded = coded_of(length, (unsigned)length);
        expect_text(&known, &coded);
    }
    for (int i = 0; i < CRPC_KNOWN_LITERALS; i++)
        EXPECT(known.at[i].room <= CRPC_KNOWN_LITERAL_MAX + CRPC_KNOWN_LITERAL_MAX * 8 / 5);
    const uint8_t *memory[] = {known.at[0].memory, known.at[1].memory};
    for (unsigned i = 0; i < 4; i++) { // shorter ones go where longer ones were
        coded coded = coded_of(300, i);
        expect_text(&known, &coded);
        EXPECT(is_known(&known, &coded));
    }
    for (int i = 0; i < CRPC_KNOWN_LITERALS; i++) EXPECT(known.at[i].memory == memory[i]);
    crpc_known_literals_end(&known);
}

TEST(a_string_that_does_not_decode_is_not_kept) {
    crpc_known_literals known = {0};
    coded token = coded_of(400, 1), broken = token;
    static uint8_t target[TEXT_MAX + CRPC_HUFFMAN_SLACK];
    crpc_huffman_prepare();
    memset(broken.bytes + 200, 0xff, 8);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQUAL(crpc_known_literals_decode(&known, broken.bytes, broken.length, target), -1);
        expect_text(&known, &token);
    }
    crpc_known_literals_end(&known);
}

TEST(without_memory_strings_are_decoded_each_time) {
    crpc_known_literals known = {0};
    coded token = coded_of(400, 1), longer = coded_of(500, 2), other = coded_of(64, 3);
    memory_fail_at(1, false);
    expect_text(&known, &token);
    EXPECT_EQUAL(memory_count(), 1);
    EXPECT(!is_known(&known, &token));
    memory_fail_at(0, false);
    expect_text(&known, &token);
    expect_text(&known, &other); // in the other place
    EXPECT(is_known(&known, &token));
    // What is there stays where a longer one cannot be kept.
    expect_text(&known, &other);
    memory_fail_at(1, false);
    expect_text(&known, &longer);
    EXPECT_EQUAL(memory_count(), 1);
    memory_fail_at(0, false);
    EXPECT(!is_known(&known, &longer));
    EXPECT(is_known(&known, &token));
    crpc_known_literals_end(&known);
}

/// A call whose head has such a token, which no table keeps.
static size_t put_call(uint8_t *target, int32_t id, const coded *token) {
    static const char front[] = "\x83\x86\x04\x11/test.Calls/Unary\x41\x01h\x0f\x10\x10" "application/grpc\x10\x07x-token";
    uint8_t *at = target + 9;
    memcpy(at, front, sizeof front - 1);
    at += sizeof front - 1;
    REQUIRE(token->length >= 0xff && token->length - 0x7f < 1 << 14);
    *at++ = 0xff;
    *at++ = (uint8_t)(0x80 | ((token->length - 0x7f) & 0x7f));
    *at++ = (uint8_t)((token->length - 0x7f) >> 7);
    memcpy(at, token->bytes, token->length);
    at += token->length;
    size_t length = (size_t)(at - target) - 9;
    const uint8_t head[] = {0, (uint8_t)(length >> 8), (uint8_t)length, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 0, 0, 0, (uint8_t)id};
    memcpy(target, head, sizeof head);
    const uint8_t data[] = {0, 0, 7, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 0, 0, 0, (uint8_t)id, 0, 0, 0, 0, 2, 'h', 'i'};
    memcpy(at, data, sizeof data);
    return (size_t)(at - target) + sizeof data;
}

TEST(each_call_of_a_connection_gets_the_token_that_it_came_with) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_SETTINGS, 0) != NULL);
    static uint8_t calls[8 * (CODED_MAX + 128)];
    static const unsigned numbers[] = {1, 1, 2, 1, 3, 2, 2, 1};
    size_t length = 0;
    // Some in one read, and a piece of one in another.
    for (int i = 0; i < 8; i++) {
        coded token = coded_of(400, numbers[i]);
        length += put_call(calls + length, 2 * i + 1, &token);
    }
    size_t cut = length * 5 / 8 + 100;
    raw_send(raw, calls, cut);
    for (int i = 0; i < 3; i++) rig_turn(rig);
    raw_send(raw, calls + cut, length - cut);
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 15) != NULL);
    REQUIRE(rig->server_call_count == 8);
    for (size_t i = 0; i < 8; i++) {
        coded token = coded_of(400, numbers[i]);
        const call *call = rig->server_calls[i];
        char text[TEXT_MAX + 1];
        (void)snprintf(text, sizeof text, "%.*s", (int)token.text_length, token.text);
        EXPECT(metadata_has(call->head, call->head_length, "x-token", text));
    }
    raw_free(raw);
    rig_end(rig);
}
