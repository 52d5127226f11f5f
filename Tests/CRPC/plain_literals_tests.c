#include "http2/huffman.h"
#include "http2/plain_literals.h"
#include "raw.h"

// Header blocks made plain before nghttp2 gets them: what becomes of the RFC's examples, what is left alone, and that
// servers take such requests whatever they are cut into.

enum { BYTES_MAX = 1 << 16 };

typedef struct bytes {
    uint8_t at[BYTES_MAX];
    size_t length;
} bytes;

static void add(bytes *bytes, const char *more, size_t length) {
    REQUIRE(bytes->length + length <= BYTES_MAX);
    memcpy(bytes->at + bytes->length, more, length);
    bytes->length += length;
}
#define ADD(bytes, text) add((bytes), (text), sizeof(text) - 1)

static void add_frame(bytes *bytes, uint8_t type, uint8_t flags, const char *payload, size_t length) {
    const char head[] = {(char)(length >> 16), (char)(length >> 8), (char)length, (char)type, (char)flags, 0, 0, 0, 1};
    add(bytes, head, sizeof head);
    add(bytes, payload, length);
}
#define ADD_BLOCK(bytes, block) \
    add_frame((bytes), NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, (block), sizeof(block) - 1)

/// What is made of the bytes, part by part, in memory whose bounds are watched. Its length, 0 for nothing.
static size_t rewrite(const bytes *came, size_t first_head, bytes *plain) {
    bool has_changed = false;
    crpc_known_literals known = {0};
    plain->length = 0;
    crpc_huffman_prepare();
    for (size_t at = 0, taken; at < came->length; at += taken, first_head = 0) {
        size_t length = came->length - at;
        uint8_t *exact = malloc(length + 1), *target = malloc(crpc_plain_literals_room(length));
        REQUIRE(exact != NULL && target != NULL);
        memcpy(exact + 1, came->at + at, length);
        size_t written = crpc_plain_literals(&known, exact + 1, length, first_head, target, &taken);
        REQUIRE(taken > 0 && taken <= length);
        if (written == 0) {
            add(plain, (const char *)exact + 1, taken);
        } else {
            add(plain, (const char *)target, written);
            has_changed = true;
        }
        free(exact);
        free(target);
    }
    crpc_known_literals_end(&known);
    return has_changed ? plain->length : 0;
}

static void expect_same(const bytes *came) {
    bytes plain;
    EXPECT_EQUAL(rewrite(came, 0, &plain), 0);
}

#define WWW "\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"
#define PLAIN_WWW "\x0fwww.example.com"

TEST(the_rfcs_requests_become_those_without_coding) {
    // RFC 7541 appendix C.4 becomes appendix C.3, but for strings that are short.
    bytes came = {.length = 0}, wanted = {.length = 0}, plain;
    ADD_BLOCK(&came, "\x82\x86\x84\x41" WWW);
    ADD_BLOCK(&wanted, "\x82\x86\x84\x41" PLAIN_WWW);
    ADD_BLOCK(&came, "\x82\x86\x84\xbe\x58\x86\xa8\xeb\x10\x64\x9c\xbf");
    ADD_BLOCK(&wanted, "\x82\x86\x84\xbe\x58\x86\xa8\xeb\x10\x64\x9c\xbf");
    ADD_BLOCK(&came, "\x82\x87\x85\xbf\x40\x88\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f\x89\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf");
    ADD_BLOCK(&wanted, "\x82\x87\x85\xbf\x40\x0a" "custom-key" "\x0c" "custom-value");
    REQUIRE(rewrite(&came, 0, &plain) > 0);
    EXPECT_BYTES(plain.at, plain.length, wanted.at, wanted.length);
}

TEST(the_rfcs_answers_become_those_without_coding) {
    // Appendix C.6 becomes appendix C.5.
    bytes came = {.length = 0}, wanted = {.length = 0}, plain;
    ADD_BLOCK(
        &came,
        "\x48\x82\x64\x02\x58\x85\xae\xc3\x77\x1a\x4b\x61\x96\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\x04\x0b\x81"
        "\x66\xe0\x82\xa6\x2d\x1b\xff\x6e\x91\x9d\x29\xad\x17\x18\x63\xc7\x8f\x0b\x97\xc8\xe9\xae\x82\xae\x43\xd3");
    ADD_BLOCK(
        &wanted, "\x48\x82\x64\x02\x58\x85\xae\xc3\x77\x1a\x4b\x61\x1d" "Mon, 21 Oct 2013 20:13:21 GMT"
                 "\x6e\x17" "https://www.example.com");
    ADD_BLOCK(&came, "\x48\x83\x64\x0e\xff\xc1\xc0\xbf");
    ADD_BLOCK(&wanted, "\x48\x83\x64\x0e\xff\xc1\xc0\xbf");
    REQUIRE(rewrite(&came, 0, &plain) > 0);
    EXPECT_BYTES(plain.at, plain.length, wanted.at, wanted.length);
}

TEST(what_lies_around_header_blocks_stays) {
    bytes came = {.length = 0}, wanted = {.length = 0}, plain;
    ADD(&came, "the end of a frame");
    size_t first_head = came.length;
    add(&wanted, (const char *)came.at, came.length);
    for (int i = 0; i < 2; i++) {
        ADD_BLOCK(&came, "\x82\x3f\x0d\x1f\x35" WWW "\x00\x01x" WWW "\x10\x01x\x01y\xff\x80\x01");
        ADD_BLOCK(&wanted, "\x82\x3f\x0d\x1f\x35" PLAIN_WWW "\x00\x01x" PLAIN_WWW "\x10\x01x\x01y\xff\x80\x01");
        add_frame(&came, NGHTTP2_DATA, NGHTTP2_FLAG_END_HEADERS, "\x41" WWW, 14); // no block
        add_frame(&wanted, NGHTTP2_DATA, NGHTTP2_FLAG_END_HEADERS, "\x41" WWW, 14);
        uint8_t flags = NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_PRIORITY;
        add_frame(&came, NGHTTP2_HEADERS, flags, "\x41" "1234\x41" WWW, 19);
        add_frame(&wanted, NGHTTP2_HEADERS, flags, "\x41" "1234\x41" PLAIN_WWW, 22);
    }
    ADD(&came, "\0\0\x0e\1\4\0\0\0\1\x41\x8c\xf1\xe3\xc2"); // not whole
    ADD(&wanted, "\0\0\x0e\1\4\0\0\0\1\x41\x8c\xf1\xe3\xc2");
    REQUIRE(rewrite(&came, first_head, &plain) > 0);
    EXPECT_BYTES(plain.at, plain.length, wanted.at, wanted.length);
    EXPECT_EQUAL(rewrite(&came, came.length, &plain), 0);
    EXPECT_EQUAL(rewrite(&came, came.length + 100, &plain), 0);
}

TEST(frames_that_are_unusual_stay) {
    static const struct {
        uint8_t type, flags;
        const char *payload;
        size_t length;
    } cases[] = {
        {NGHTTP2_HEADERS, 0, "\x41" WWW, 14}, // goes on in CONTINUATION
        {NGHTTP2_CONTINUATION, NGHTTP2_FLAG_END_HEADERS, "\x41" WWW, 14},
        {NGHTTP2_PUSH_PROMISE, NGHTTP2_FLAG_END_HEADERS, "\x41" WWW, 14},
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_PADDED, "\1\x41" WWW "\0", 16},
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_PRIORITY, "\x41" WWW, 4},
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, "\x41" WWW "\x41", 15},              // ends inside a field
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, "\x41" WWW "\x41\x8c\xf1", 17},      // ends inside a string
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, "\x41" WWW "\x41\x7f\x80", 17},      // ends inside an integer
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, "\x41" WWW "\xff\x80\x80\x80\x80\x80\x80\x80\0", 23}, // too long
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, "\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\0", 14},
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, "\x41\x8c\xf1\xe3\xc2\xe5\xff\xff\xff\xff\xab\x90\xf4\xff", 14},
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bytes came = {.length = 0};
        add_frame(&came, cases[i].type, cases[i].flags, cases[i].payload, cases[i].length);
        expect_same(&came);
        if (test_has_failed()) test_note("case %zu", i);
    }
}

/// A block with one string that is coded, of so many zeros: five bits each.
static void add_zeros(bytes *bytes, size_t coded_length) {
    static char block[20000];
    size_t length = 0, rest = coded_length - 0x7f;
    REQUIRE(coded_length % 5 == 0 && coded_length >= 0x7f && coded_length < sizeof block - 8);
    block[length++] = 0x41;
    block[length++] = (char)0xff;
    for (; rest >= 0x80; rest >>= 7) block[length++] = (char)(0x80 | (rest & 0x7f));
    block[length++] = (char)rest;
    memset(block + length, 0, coded_length);
    add_frame(bytes, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, block, length + coded_length);
}

TEST(frames_that_would_become_too_large_stay) {
    // 16,379 bytes of payload are left for the string, whose length takes three, behind one byte.
    bytes came = {.length = 0}, plain;
    add_zeros(&came, 10235); // 16,376 characters
    EXPECT_EQUAL(rewrite(&came, 0, &plain), 9 + 1 + 3 + 16376);
    came.length = 0;
    add_zeros(&came, 10240); // 16,384 characters
    expect_same(&came);
    came.length = 0;
    add_frame(&came, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, "\x41" WWW, 14);
    add_zeros(&came, 10240);
    EXPECT_EQUAL(rewrite(&came, 0, &plain), came.length + 3); // the other is rewritten nonetheless
    came.length = 0;
    add_zeros(&came, 16385); // larger than it may be already
    expect_same(&came);
}

TEST(what_is_long_and_stays_is_not_copied) {
    static const char message[CRPC_PLAIN_COPY_MAX + 1];
    bytes came = {.length = 0}, plain;
    crpc_known_literals known = {0}; // no string is long enough
    size_t ends[4], taken;
    uint8_t *target = malloc(crpc_plain_literals_room(BYTES_MAX));
    REQUIRE(target != NULL);
    crpc_huffman_prepare();
    for (size_t i = 0; i < 4; i++) { // a long frame and a head, twice
        if (i % 2 == 0) add_frame(&came, NGHTTP2_DATA, 0, message, sizeof message);
        if (i % 2 == 1) ADD_BLOCK(&came, "\x41" WWW);
        ends[i] = came.length;
    }
    for (size_t i = 0; i < 4; i++) {
        size_t start = i == 0 ? 0 : ends[i - 1];
        size_t written = crpc_plain_literals(&known, came.at + start, came.length - start, 0, target, &taken);
        EXPECT_EQUAL(taken, ends[i] - start);
        EXPECT_EQUAL(written, i % 2 == 0 ? 0 : taken + 3);
    }
    free(target);
    EXPECT_EQUAL(rewrite(&came, 0, &plain), came.length + 6);
    // Less than that is.
    came.length = 0;
    ADD_BLOCK(&came, "\x41" WWW);
    add_frame(&came, NGHTTP2_DATA, 0, message, CRPC_PLAIN_COPY_MAX - 9);
    ADD_BLOCK(&came, "\x41" WWW);
    target = malloc(crpc_plain_literals_room(came.length));
    REQUIRE(target != NULL);
    EXPECT_EQUAL(crpc_plain_literals(&known, came.at, came.length, 0, target, &taken), came.length + 6);
    EXPECT_EQUAL(taken, came.length);
    free(target);
}

TEST(strings_may_have_any_length) {
    for (size_t count = 1; count < 400; count++) {
        char text[400], block[500];
        bytes came = {.length = 0}, plain;
        memset(text, 'a', count);
        // 'a' has the code 00011.
        size_t coded = (count * 5 + 7) / 8, length = 0;
        block[length++] = 0x41;
        if (coded < 0x7f) {
            block[length++] = (char)(0x80 | coded);
        } else {
            block[length++] = (char)0xff;
            if (coded - 0x7f >= 0x80) block[length++] = (char)(0x80 | ((coded - 0x7f) & 0x7f));
            block[length++] = (char)(coded - 0x7f >= 0x80 ? (coded - 0x7f) >> 7 : coded - 0x7f);
        }
        memset(block + length, 0, coded);
        for (size_t bit = 0; bit < coded * 8; bit++)
            if (bit >= count * 5 || bit % 5 >= 3) block[length + bit / 8] |= (char)(0x80 >> bit % 8);
        add_frame(&came, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, block, length + coded);
        bool is_short = coded < CRPC_PLAIN_LITERAL_MIN;
        REQUIRE((rewrite(&came, 0, &plain) == 0) == is_short);
        if (is_short) continue;
        nghttp2_hd_inflater *inflater;
        REQUIRE(nghttp2_hd_inflate_new(&inflater) == 0);
        nghttp2_nv field;
        int flags = 0;
        EXPECT_EQUAL(
            nghttp2_hd_inflate_hd2(inflater, &field, &flags, plain.at + 9, plain.length - 9, 1), plain.length - 9);
        EXPECT_BYTES(field.value, field.valuelen, text, count);
        nghttp2_hd_inflate_del(inflater);
    }
}

/// Two calls whose heads have coded strings: the first puts them into the dynamic table, the second has them from there.
static void add_calls(bytes *bytes, int32_t id) {
    static const char first[] = "\x83\x86\x04\x11/test.Calls/Unary\x41" WWW "\x0f\x10\x10" "application/grpc"
                                "\x40\x88\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f\x89\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf";
    static const char second[] = "\x83\x86\x04\x11/test.Calls/Unary\xbf\x0f\x10\x10" "application/grpc\xbe";
    for (int i = 0; i < 2; i++, id += 2) {
        size_t head = bytes->length;
        if (i == 0) ADD_BLOCK(bytes, first);
        if (i == 1) ADD_BLOCK(bytes, second);
        size_t data = bytes->length;
        add_frame(bytes, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, "\0\0\0\0\2hi", 7);
        bytes->at[head + 7] = bytes->at[data + 7] = (uint8_t)(id >> 8);
        bytes->at[head + 8] = bytes->at[data + 8] = (uint8_t)id;
    }
}

TEST(requests_with_coded_strings_arrive_whatever_they_are_cut_into) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_SETTINGS, 0) != NULL);
    bytes calls = {.length = 0};
    add_calls(&calls, 1);
    size_t length = calls.length;
    int32_t id = 1;
    for (size_t piece = 1; piece <= length; piece++, id += 4) {
        calls.length = 0;
        add_calls(&calls, id);
        // First every cut into two, by twos, then pieces of the same length.
        size_t parts = piece % 2 == 0 && piece < length ? 2 : (length + piece - 1) / piece;
        for (size_t part = 0, at = 0; part < parts; part++) {
            size_t count = part == parts - 1 ? length - at : piece;
            raw_send(raw, calls.at + at, count);
            at += count;
            rig_turn(rig);
        }
        UNTIL(rig, raw_read(raw) && raw_find_end(raw, id + 2) != NULL);
        raw_forget(raw);
        for (size_t i = rig->server_call_count - 2; i < rig->server_call_count; i++) {
            const call *call = rig->server_calls[i];
            EXPECT(metadata_has(call->head, call->head_length, "custom-key", "custom-value"));
            EXPECT_EQUAL(metadata_count(call->head, call->head_length), 1);
            EXPECT_TEXT(call->received, call->received_length, "hi");
        }
    }
    EXPECT_EQUAL(rig->server_call_count, 2 * length);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_client_whose_strings_do_not_decode_loses_the_connection) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_SETTINGS, 0) != NULL);
    bytes calls = {.length = 0};
    add_calls(&calls, 1);
    ADD_BLOCK(&calls, "\x41" WWW "\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\0");
    calls.at[calls.length - 14 - 14 - 1] = 5; // the stream
    raw_send(raw, calls.at, calls.length);
    UNTIL(rig, raw_read(raw) && raw->has_ended);
    EXPECT_EQUAL(raw_error(raw_find(raw, NGHTTP2_GOAWAY, 0)), NGHTTP2_COMPRESSION_ERROR);
    EXPECT_EQUAL(rig->server_call_count, 2);
    raw_free(raw);
    rig_end(rig);
}

TEST(metadata_of_many_lengths_arrives_as_it_was_sent) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    static uint8_t block[RIG_TEXT_MAX + 64];
    static char text[RIG_TEXT_MAX + 1];
    for (size_t length = 1; length < RIG_TEXT_MAX; length += 1 + length / 7) {
        // Text whose codes have many lengths, other text for each call.
        for (size_t i = 0; i < length; i++) text[i] = (char)('!' + (i * 31 + i / 7 + length) % 94);
        text[length] = 0;
        call *call = call_open_with(peer, rig_paths[METHOD_HOLD], 0, block, metadata_add(block, 0, "x-token", text));
        REQUIRE(call != NULL);
        size_t before = rig->server_call_count;
        UNTIL(rig, rig->server_call_count == before + 1);
        struct call *server = rig_server_call(rig);
        EXPECT(metadata_has(server->head, server->head_length, "x-token", text));
        EXPECT_EQUAL(call_finish(server, 0, ""), CRPC_OK);
        UNTIL(rig, call->closes == 1);
    }
    rig_end(rig);
}
