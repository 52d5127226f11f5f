#include "http2/huffman.h"
#include "layer.h"
#include "test.h"

// The decoder of HPACK's strings, against the RFC's examples and against nghttp2's.

enum { TEXT_MAX = 4096 };

/// Decodes in memory whose bounds are watched. The text's length, or -1.
static ssize_t decode(const uint8_t *bytes, size_t length, uint8_t text[TEXT_MAX]) {
    uint8_t *copy = malloc(length + 1), *target = malloc(crpc_huffman_room(length));
    REQUIRE(copy != NULL && target != NULL);
    // At the memory's end, so that nothing is read past it.
    memcpy(copy + 1, bytes, length);
    ssize_t count = crpc_huffman_decode(copy + 1, length, target);
    REQUIRE(count <= TEXT_MAX);
    if (count > 0) memcpy(text, target, (size_t)count);
    free(copy);
    free(target);
    return count;
}

/// Decodes with nghttp2, as a field's value. The text's length, or -1.
static ssize_t decode_with_nghttp2(const uint8_t *bytes, size_t length, uint8_t text[TEXT_MAX]) {
    enum { SHORT_MAX = 126 };
    uint8_t block[4 + SHORT_MAX] = {0, 1, 'x', (uint8_t)(0x80 | length)};
    REQUIRE(length <= SHORT_MAX);
    memcpy(block + 4, bytes, length);
    nghttp2_hd_inflater *inflater;
    REQUIRE(nghttp2_hd_inflate_new(&inflater) == 0);
    nghttp2_nv field = {0};
    int flags = 0;
    ssize_t taken = nghttp2_hd_inflate_hd2(inflater, &field, &flags, block, 4 + length, 1);
    bool is_there = taken >= 0 && (flags & NGHTTP2_HD_INFLATE_EMIT) != 0;
    if (is_there) memcpy(text, field.value, field.valuelen);
    ssize_t count = is_there ? (ssize_t)field.valuelen : -1;
    nghttp2_hd_inflate_del(inflater);
    return count;
}

TEST(strings_decode_as_in_the_rfcs_examples) {
    static const struct {
        const char *bytes, *text;
    } cases[] = { // RFC 7541 appendixes C.4 and C.6
        {"\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff", "www.example.com"},
        {"\xa8\xeb\x10\x64\x9c\xbf", "no-cache"},
        {"\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f", "custom-key"},
        {"\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf", "custom-value"},
        {"\x64\x02", "302"},
        {"\x64\x0e\xff", "307"},
        {"\xae\xc3\x77\x1a\x4b", "private"},
        {"\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\x04\x0b\x81\x66\xe0\x82\xa6\x2d\x1b\xff",
         "Mon, 21 Oct 2013 20:13:21 GMT"},
        {"\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\x04\x0b\x81\x66\xe0\x84\xa6\x2d\x1b\xff",
         "Mon, 21 Oct 2013 20:13:22 GMT"},
        {"\x9d\x29\xad\x17\x18\x63\xc7\x8f\x0b\x97\xc8\xe9\xae\x82\xae\x43\xd3", "https://www.example.com"},
        {"\x9b\xd9\xab", "gzip"},
        {"\x94\xe7\x82\x1d\xd7\xf2\xe6\xc7\xb3\x35\xdf\xdf\xcd\x5b\x39\x60\xd5\xaf\x27\x08\x7f\x36\x72\xc1\xab\x27\x0f"
         "\xb5\x29\x1f\x95\x87\x31\x60\x65\xc0\x03\xed\x4e\xe5\xb1\x06\x3d\x50\x07",
         "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"},
    };
    crpc_huffman_prepare();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t text[TEXT_MAX];
        ssize_t length = decode((const uint8_t *)cases[i].bytes, strlen(cases[i].bytes), text);
        REQUIRE(length >= 0);
        EXPECT_TEXT(text, (size_t)length, cases[i].text);
    }
}

TEST(strings_decode_as_nghttp2_has_them_or_not_at_all) {
    enum { STRINGS = 1 << 17, BYTES_MAX = 40 };
    bool is_known[256] = {false};
    uint8_t text[TEXT_MAX], other[TEXT_MAX], bytes[BYTES_MAX];
    uint64_t state = 7;
    crpc_huffman_prepare();
    for (uint32_t i = 0; i < STRINGS; i++) {
        // First each string of two bytes, which have all codes that are known in them; then longer ones.
        size_t length = 2;
        bytes[0] = (uint8_t)(i >> 8);
        bytes[1] = (uint8_t)i;
        if (i > UINT16_MAX) {
            length = i % (BYTES_MAX + 1);
            for (size_t at = 0; at < length; at++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                bytes[at] = (uint8_t)(state >> 56);
            }
            if (length > 0 && i & 64) bytes[length - 1] |= 7; // else most would have no padding that is right
        }
        ssize_t ours = decode(bytes, length, text), theirs = decode_with_nghttp2(bytes, length, other);
        if (ours >= 0) {
            REQUIRE(ours == theirs && memcmp(text, other, (size_t)ours) == 0);
            for (ssize_t at = 0; at < ours; at++) is_known[text[at]] = true;
        } else if (theirs >= 0 && i > UINT16_MAX) {
            bool has_unknown = false;
            for (ssize_t at = 0; at < theirs; at++) has_unknown = has_unknown || !is_known[other[at]];
            REQUIRE(has_unknown);
        }
    }
    for (const char *c = "abcxyzABCXYZ0123456789 !\"#$%&'()*+,-./:;=>?@[]_|~"; *c != 0; c++) EXPECT(is_known[(uint8_t)*c]);
    for (const char *c = "<\\^`{}\n\x80\xff"; *c != 0; c++) EXPECT(!is_known[(uint8_t)*c]);
}

TEST(strings_with_wrong_padding_do_not_decode) {
    static const struct {
        const char *bytes;
        size_t length;
    } cases[] = {
        {"\x9b\xd9\xab\xff", 4},         // a byte of padding too much
        {"\x64\x0e\xfe", 3},             // not all ones
        {"\x9b\xd9", 2},                 // the last code cut short
        {"\xff\xff\xff\xff", 4},         // the code that ends a string
        {"\x1f\xff\xff\xff\xff\x1f", 6}, // the same, inside of one
        {"\xff", 1},
        {"\0\0\0\0\0\0\0\1", 8},
    };
    uint8_t text[TEXT_MAX];
    crpc_huffman_prepare();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        EXPECT_EQUAL(decode((const uint8_t *)cases[i].bytes, cases[i].length, text), -1);
    EXPECT_EQUAL(decode(text, 0, text), 0);
}

TEST(without_its_table_the_decoder_knows_no_code) {
    uint8_t text[TEXT_MAX];
    EXPECT_EQUAL(decode((const uint8_t *)"\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f", 8, text), -1);
}
