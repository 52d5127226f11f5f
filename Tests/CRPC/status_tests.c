#include "layer.h"
#include "test.h"

#include <stdio.h>

// grpc-status and grpc-message.

static size_t encode(const void *text, size_t length, uint8_t *target) {
    uint8_t *exact = malloc(length == 0 ? 1 : length), *room = malloc(length == 0 ? 1 : length * 3);
    REQUIRE(exact != NULL && room != NULL);
    if (length > 0) memcpy(exact, text, length);
    size_t count = crpc_percent_encode(exact, length, room);
    memcpy(target, room, count);
    free(room);
    free(exact);
    return count;
}

static size_t decode(const void *text, size_t length, uint8_t *target) {
    uint8_t *exact = malloc(length == 0 ? 1 : length), *room = malloc(length == 0 ? 1 : length);
    REQUIRE(exact != NULL && room != NULL);
    if (length > 0) memcpy(exact, text, length);
    size_t count = crpc_percent_decode(exact, length, room);
    memcpy(target, room, count);
    free(room);
    free(exact);
    return count;
}

TEST(messages_are_percent_encoded) {
    static const struct {
        const char *text, *encoded;
    } cases[] = {
        {"", ""}, {"plain", "plain"}, {"two words", "two words"}, {"~", "~"}, {"100%", "100%25"}, {"\x7f", "%7F"},
        {"line\nbreak", "line%0Abreak"}, {"\t", "%09"}, {"caf\xc3\xa9", "caf%C3%A9"}, {"\xff", "%FF"}, {"%41", "%2541"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t target[64];
        size_t length = encode(cases[i].text, strlen(cases[i].text), target);
        EXPECT_TEXT(target, length, cases[i].encoded);
        length = decode(target, length, target);
        EXPECT_TEXT(target, length, cases[i].text);
    }
}

TEST(every_byte_survives_encoding_and_is_printable_in_between) {
    uint8_t all[256], encoded[768], decoded[768];
    for (int i = 0; i < 256; i++) all[i] = (uint8_t)i;
    size_t length = encode(all, sizeof all, encoded);
    for (size_t i = 0; i < length; i++) EXPECT(encoded[i] >= 0x20 && encoded[i] <= 0x7e);
    EXPECT_BYTES(decoded, decode(encoded, length, decoded), all, sizeof all);
    for (size_t start = 0; start < sizeof all; start++) {
        for (size_t end = start; end <= sizeof all; end += 17) {
            length = encode(all + start, end - start, encoded);
            EXPECT_BYTES(decoded, decode(encoded, length, decoded), all + start, end - start);
        }
    }
}

TEST(what_is_no_escape_stays_as_it_is) {
    static const struct {
        const char *text, *decoded;
    } cases[] = {
        {"%", "%"}, {"%%", "%%"}, {"%4", "%4"}, {"a%", "a%"}, {"%zz", "%zz"}, {"%4g", "%4g"}, {"%g4", "%g4"},
        {"%%41", "%A"},
        {"%41", "A"}, {"%4a%4A", "JJ"}, {"%C3%a9", "\xc3\xa9"}, {"% 41", "% 41"}, {"%2541", "%41"}, {"%+1", "%+1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t target[64];
        size_t length = decode(cases[i].text, strlen(cases[i].text), target);
        if (!EXPECT_TEXT(target, length, cases[i].decoded)) test_note("in %s", cases[i].text);
    }
}

TEST(a_message_cut_at_any_offset_decodes_to_the_front_of_the_whole) {
    static const char text[] = "a%41%zz%C3%A9 %%25 %4";
    uint8_t whole[64], part[64];
    size_t whole_length = decode(text, sizeof text - 1, whole);
    for (size_t cut = 0; cut < sizeof text; cut++) {
        // An escape that the cut took apart, at most two bytes, stays as it is.
        bool is_front = false;
        for (size_t tail = 0; tail <= 2 && tail <= cut; tail++) {
            size_t length = decode(text, cut - tail, part);
            if (length > whole_length || memcmp(part, whole, length) != 0) continue;
            memcpy(part + length, text + cut - tail, tail);
            uint8_t actual[64];
            size_t actual_length = decode(text, cut, actual);
            is_front = is_front || (actual_length == length + tail && memcmp(actual, part, actual_length) == 0);
        }
        if (!EXPECT(is_front)) test_note("cut at %zu", cut);
    }
}

TEST(status_numbers_are_read_strictly) {
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        {"0", 0}, {"1", 1}, {"16", 16}, {"17", 17}, {"200", 200}, {"999999999", 999999999}, {"", -1}, {"00", -1},
        {"01", -1}, {"1000000000", -1}, {"-1", -1}, {"+1", -1}, {" 1", -1}, {"1 ", -1}, {"1x", -1}, {"x", -1},
        {"1.0", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length = strlen(cases[i].text);
        if (!EXPECT_EQUAL(crpc_status_parse((const uint8_t *)cases[i].text, length), cases[i].status))
            test_note("%s", cases[i].text);
    }
    for (int status = 0; status <= 1000; status++) {
        char text[16];
        int length = snprintf(text, sizeof text, "%d", status);
        EXPECT_EQUAL(crpc_status_parse((const uint8_t *)text, (size_t)length), status);
    }
}

TEST(http_statuses_stand_for_the_statuses_that_grpc_says) {
    static const int table[][2] = {{400, 13}, {401, 16}, {403, 7},  {404, 12}, {429, 14}, {502, 14}, {503, 14},
                                   {504, 14}, {500, 2},  {200, 2},  {302, 2},  {418, 2},  {-1, 2},   {0, 2}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        EXPECT_EQUAL(crpc_status_from_http(table[i][0]), table[i][1]);
}

TEST(http2_errors_stand_for_the_statuses_that_grpc_says) {
    static const struct {
        uint32_t error;
        int status;
    } table[] = {
        {NGHTTP2_NO_ERROR, 13}, {NGHTTP2_PROTOCOL_ERROR, 13}, {NGHTTP2_INTERNAL_ERROR, 13},
        {NGHTTP2_FLOW_CONTROL_ERROR, 13}, {NGHTTP2_SETTINGS_TIMEOUT, 13}, {NGHTTP2_FRAME_SIZE_ERROR, 13},
        {NGHTTP2_REFUSED_STREAM, 14}, {NGHTTP2_CANCEL, 1},
        {NGHTTP2_COMPRESSION_ERROR, 13}, {NGHTTP2_CONNECT_ERROR, 13}, {NGHTTP2_ENHANCE_YOUR_CALM, 8},
        {NGHTTP2_INADEQUATE_SECURITY, 7}, {12345, 13},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        EXPECT_EQUAL(crpc_status_from_http2_error(table[i].error), table[i].status);
}

TEST(every_error_has_a_text_of_its_own) {
    for (int error = CRPC_ERROR_ADDRESS_IN_USE; error <= 0; error++) {
        EXPECT(strcmp(crpc_error_text(error), "unknown error") != 0);
        for (int other = error + 1; other <= 0; other++)
            EXPECT(strcmp(crpc_error_text(error), crpc_error_text(other)) != 0);
    }
    EXPECT_TEXT(crpc_error_text(-1000), strlen(crpc_error_text(-1000)), "unknown error");
    EXPECT_TEXT(crpc_error_text(1), strlen(crpc_error_text(1)), "unknown error");
}
