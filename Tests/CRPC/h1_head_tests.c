#include "crpc_metadata.h"
#include "http1/head.h"
#include "http1/head_fields.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Which heads are HTTP/1.x, what they say, and what is wrong with the others: whole, and each beginning of them.

#define HOST "Host: x\r\n"

static const crpc_h1_head_limits usual = {.bytes_max = 16384, .fields_max = 100};

/// Reads from memory that is exactly as long as the text, into a room that is exactly as long as it must be.
static crpc_h1_reading read_head(
    const crpc_h1_head_limits *limits, const char *text, size_t length, crpc_h1_head *head, uint8_t **room) {
    uint8_t *bytes = malloc(length);
    if (*room == NULL) *room = malloc(CRPC_H1_HEAD_ROOM);
    REQUIRE(bytes != NULL && *room != NULL);
    memcpy(bytes, text, length);
    crpc_h1_reading reading = crpc_h1_read_head(limits, bytes, length, *room, head);
    free(bytes); // pointers into it are dead from here on
    return reading;
}

/// Reads each beginning of a text as a connection does, and looks whether it comes to the same.
static void read_each_beginning(
    const crpc_h1_head_limits *limits, const char *text, size_t length, crpc_h1_reading expected, crpc_fault fault) {
    uint8_t *room = NULL;
    size_t more_at = 0;
    for (size_t i = 1; i <= length; i++) {
        crpc_h1_head head;
        bool is_due = text[i - 1] == '\n' || i >= more_at;
        if (!is_due && i > 1000 && i % 97 != 0) continue; // some of very many
        crpc_h1_reading reading = read_head(limits, text, i, &head, &room);
        if (reading != CRPC_H1_MORE && !EXPECT(is_due)) test_note("said after %zu bytes what was not to be known", i);
        if (is_due && reading != CRPC_H1_MORE) {
            EXPECT_EQUAL(reading, expected);
            EXPECT_EQUAL(head.shown.fault, fault);
            free(room);
            return;
        }
        more_at = head.more_at;
        if (!EXPECT(more_at > i)) break;
    }
    EXPECT_EQUAL(expected, CRPC_H1_MORE);
    free(room);
}

static void expect(const char *text, crpc_h1_reading expected, crpc_fault fault) {
    crpc_h1_head head;
    uint8_t *room = NULL;
    crpc_h1_reading reading = read_head(&usual, text, strlen(text), &head, &room);
    free(room);
    EXPECT_EQUAL(reading, expected);
    EXPECT_EQUAL(head.shown.fault, fault);
    if (reading == CRPC_H1_WHOLE) EXPECT_EQUAL(head.length, strlen(text));
    read_each_beginning(&usual, text, strlen(text), expected, fault);
    if (test_has_failed()) test_note("in \"%.60s\"", text);
}
static void expect_whole(const char *text) { expect(text, CRPC_H1_WHOLE, CRPC_FAULT_NONE); }
static void expect_fault(const char *text, crpc_fault fault) { expect(text, CRPC_H1_FAULTY, fault); }

TEST(h1_heads_that_are_http_are_taken) {
    static const char *const heads[] = {
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nhost:x\r\n\r\n",
        "GET / HTTP/1.1\r\nHOST:\t x \t\r\n\r\n",
        "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "DELETE /a;b=c,d/e%20?f=g&h=|^`\"<> HTTP/1.1\r\nHost: x\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
        "OPTIONS http://x HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET HTTPS://X:443/y HTTP/1.1\r\nHost: x:443\r\n\r\n",
        "GET http://x HTTP/1.0\r\n\r\n",
        "PUT /[]{}~ HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n",
        "PATCH / HTTP/1.1\r\nHost: 127.0.0.1:\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a%41_-.~!$&'()*+,;=\r\nContent-Length: 000\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9223372036854775807\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:  CHUNKED\t\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX: a\tb \x80\xff ~\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n!#$%&'*+-.^_`|~09aZ: 1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Type: application/grpc-web\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Type: application/grpc-web+proto\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\r\n",
        "QUERY / HTTP/1.1\r\nHost: x\r\n\r\n",
        "TRACE / HTTP/1.1\r\nHost: x\r\n\r\n",
        "PROPPATCH / HTTP/1.1\r\nHost: x\r\n\r\n",
        "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) expect_whole(heads[i]);
}

TEST(h1_heads_that_are_not_whole_wait) {
    static const char *const heads[] = {
        "\r", "G", "GET", "GET /", "GET / HTTP/1.1", "GET / HTTP/1.1\r", "GET / HTTP/1.1\r\n",
        "GET / HTTP/1.1\r\nHost: x", "GET / HTTP/1.1\r\nHost: x\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r",
        "GET nothing of a target", "GET / HTTP/1.1\r\n a folded line that has not ended",
    };
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) expect(heads[i], CRPC_H1_MORE, CRPC_FAULT_NONE);
}

TEST(h1_request_lines_that_are_none_are_refused) {
    static const char *const lines[] = {
        "GE T / HTTP/1.1\r\n", "G(T / HTTP/1.1\r\n", "GET\x80 / HTTP/1.1\r\n", " / HTTP/1.1\r\n", "BREW * HTTP/1.1\r\n",
        "GET  / HTTP/1.1\r\n", "GET\t/ HTTP/1.1\r\n", "GET /  HTTP/1.1\r\n", "GET / HTTP/1.1 \r\n", "GET / HTTP/1.1\n",
        "GET / HTTP/1.1\r\r\n", "GET /\r\n", "GET\r\n", "GET / \r\n", "GET / HTTP/1.2\r\n", "GET / HTTP/1.9\r\n",
        "GET / HTTP/2.0\r\n", "GET / HTTP/0.9\r\n", "GET / HTTP/1.10\r\n", "GET / HTTP/1.\r\n", "GET / http/1.1\r\n",
        "GET / HTTP/11\r\n", "GET /a b HTTP/1.1\r\n", "GET /a\tb HTTP/1.1\r\n", "GET /\x01 HTTP/1.1\r\n",
        "GET /\x7f HTTP/1.1\r\n", "GET /\xc3\xa4 HTTP/1.1\r\n", "GET /a#b HTTP/1.1\r\n", "GET a HTTP/1.1\r\n",
        "GET * HTTP/1.1\r\n", "OPTIONS ** HTTP/1.1\r\n", "GET ?a HTTP/1.1\r\n", "GET ftp://x/ HTTP/1.1\r\n",
        "GET http:/x HTTP/1.1\r\n", "GET http:// HTTP/1.1\r\n", "GET http:///x HTTP/1.1\r\n", "GET http://a@x/ HTTP/1.1\r\n",
        "GET http://x:y/ HTTP/1.1\r\n", "GET x:443 HTTP/1.1\r\n",
        "\r\n\r\n", "\n", "\rG", " GET / HTTP/1.1\r\n", "\x16\x03\x01\x02", "\r\n ", "\r\nGET / HTTP/1.1\r\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[200];
        bool is_whole = strchr(lines[i], 'H') != NULL;
        (void)snprintf(text, sizeof text, "%s%s", lines[i], is_whole ? HOST "\r\n" : "");
        expect_fault(text, CRPC_FAULT_MALFORMED);
    }
}

TEST(h1_any_token_is_a_method_which_who_answers_knows_or_not) {
    static const char *const methods[] = {
        "BREW", "get", "GETT", "x", "!#$%&'*+-.^_`|~09azAZ", "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345",
    };
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        char text[200];
        (void)snprintf(text, sizeof text, "%s / HTTP/1.1\r\n" HOST "\r\n", methods[i]);
        expect_whole(text);
    }
    expect_fault("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456 / HTTP/1.1\r\n" HOST "\r\n", CRPC_FAULT_METHOD_UNKNOWN);
    expect_fault("CONNECT x:443 HTTP/1.1\r\n" HOST "\r\n", CRPC_FAULT_METHOD_UNKNOWN);
    expect_fault("CONNECT / HTTP/1.1\r\n" HOST "\r\n", CRPC_FAULT_METHOD_UNKNOWN);
}

TEST(h1_field_lines_that_are_none_are_refused) {
    static const char *const lines[] = {
        "X : 1\r\n", "X\t: 1\r\n", " X: 1\r\n", "\tX: 1\r\n", ": 1\r\n", "X\r\n", "X 1\r\n", "X;: 1\r\n", "X\x80: 1\r\n",
        "(X): 1\r\n", "X: a\r\n b\r\n", "X: a\r\n\tb\r\n", "X: a\rb\r\n", "X: a\r\r\n", "X: a\n", "X: \x01\r\n", "X: \x7f\r\n",
        "X: a\x1f z\r\n", "X: 0123456789012345678901234567890123456789\x02 z\r\n", "\rX: 1\r\n", "X: a\r\n\n", "\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[200];
        (void)snprintf(text, sizeof text, "GET / HTTP/1.1\r\n" HOST "%s\r\n", lines[i]);
        expect_fault(text, CRPC_FAULT_MALFORMED);
    }
    static const char zero[] = "GET / HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n";
    read_each_beginning(&usual, zero, sizeof zero - 1, CRPC_H1_FAULTY, CRPC_FAULT_MALFORMED);
}

TEST(h1_there_is_one_host) {
#define WITH(fields) "GET / HTTP/1.1\r\n" fields "\r\n"
    expect_fault(WITH(""), CRPC_FAULT_HOST_COUNT);
    expect_fault(WITH("Accept: */*\r\n"), CRPC_FAULT_HOST_COUNT);
    expect_fault(WITH("Host: x\r\nHost: x\r\n"), CRPC_FAULT_HOST_COUNT);
    expect_fault(WITH("Host: x\r\nX: 1\r\nhOST: y\r\n"), CRPC_FAULT_HOST_COUNT);
    expect_fault("GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n", CRPC_FAULT_HOST_COUNT);
    expect_fault("GET http://x/ HTTP/1.1\r\n\r\n", CRPC_FAULT_HOST_COUNT);
    expect_fault("GET http://x/ HTTP/1.1\r\nHost: y\r\n\r\n", CRPC_FAULT_HOST_MALFORMED);
    static const char *const malformed[] = {
        "x y", "x/y", "a@x", "x, y", "x:1:2", "x:a", "[::1", "::1", "[x]", "[]", "[::1]x", "x%4", "x%zz", "x[y]", "x\\y",
        "x?y", "x#y", "\"x\"", "<x>", "\xc3\xa4", "http://x", "x:-1",
    };
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        char text[200];
        (void)snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", malformed[i]);
        expect_fault(text, CRPC_FAULT_HOST_MALFORMED);
    }
    char longest[300] = "";
    memset(longest, 'a', 255);
    EXPECT(crpc_h1_is_host((const uint8_t *)longest, 255));
    longest[255] = 'a';
    EXPECT(!crpc_h1_is_host((const uint8_t *)longest, 256));
}

TEST(h1_there_is_one_word_for_the_length_of_a_body) {
#define LENGTH(text) WITH(HOST "Content-Length: " text "\r\n")
#define CODING(text) WITH(HOST "Transfer-Encoding: " text "\r\n")
    static const char *const lengths[] = {
        LENGTH(""), LENGTH("+1"), LENGTH("-1"), LENGTH("0x1"), LENGTH("1 2"), LENGTH("1, 1"), LENGTH("1,"), LENGTH("1.0"),
        LENGTH("\"1\""), LENGTH("9223372036854775808"), LENGTH("18446744073709551617"), LENGTH("a"), LENGTH("1_0"),
        WITH(HOST "Content-Length: 1\r\ncontent-length: 1\r\n"), WITH(HOST "Content-Length: 1\r\nContent-Length: 2\r\n"),
    };
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        expect_fault(lengths[i], CRPC_FAULT_CONTENT_LENGTH_INVALID);
    static const char *const invalid[] = {
        CODING(""), CODING("xchunked"), CODING("identity"), CODING("chunked, gzip"), CODING("chunked, chunked"),
        CODING("\"chunked\""), CODING("chunked;q=1"), CODING("chunked,"), CODING(",chunked"), CODING("gzip,,chunked"),
        CODING("chunk ed"), CODING("gzip"), CODING("chunkedx"),
        WITH(HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
        WITH(HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
        WITH(HOST "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"),
        WITH(HOST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"),
        WITH(HOST "Content-Length: x\r\nTransfer-Encoding: chunked\r\n"),
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++)
        expect_fault(invalid[i], CRPC_FAULT_TRANSFER_ENCODING_INVALID);
    expect_fault(CODING("gzip, chunked"), CRPC_FAULT_TRANSFER_ENCODING_UNKNOWN);
    expect_fault(CODING("gzip\r\nTransfer-Encoding: chunked"), CRPC_FAULT_TRANSFER_ENCODING_UNKNOWN);
    expect_fault(CODING("identity, chunked"), CRPC_FAULT_TRANSFER_ENCODING_UNKNOWN);
}

TEST(h1_grpc_itself_is_not_spoken) {
    static const char *const types[] = {
        "application/grpc", "application/grpc+proto", "Application/GRPC;x=y", "application/grpc ; x"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char text[200];
        (void)snprintf(text, sizeof text, "POST / HTTP/1.1\r\n" HOST "Content-Type: %s\r\n\r\n", types[i]);
        expect_fault(text, CRPC_FAULT_VERSION);
    }
}

/// A head with a target, or a field's value, of so many bytes.
static char *long_head(const char *before, size_t count, const char *after) {
    size_t begin = strlen(before);
    char *text = malloc(begin + count + strlen(after) + 1);
    REQUIRE(text != NULL);
    memcpy(text, before, begin);
    memset(text + begin, 'a', count);
    memcpy(text + begin + count, after, strlen(after) + 1);
    return text;
}

static void expect_long(
    const crpc_h1_head_limits *limits, const char *before, size_t count, const char *after, crpc_h1_reading expected,
    crpc_fault fault) {
    char *text = long_head(before, count, after);
    crpc_h1_head head;
    uint8_t *room = NULL;
    EXPECT_EQUAL(read_head(limits, text, strlen(text), &head, &room), expected);
    EXPECT_EQUAL(head.shown.fault, fault);
    free(room);
    read_each_beginning(limits, text, strlen(text), expected, fault);
    if (test_has_failed()) test_note("%s, %zu, %s", before, count, after);
    free(text);
}

TEST(h1_heads_are_bounded) {
    static const char behind[] = " HTTP/1.1\r\n" HOST "\r\n";
    expect_long(&usual, "GET /", CRPC_TARGET_MAX - 1, behind, CRPC_H1_WHOLE, CRPC_FAULT_NONE);
    expect_long(&usual, "GET /", CRPC_TARGET_MAX, behind, CRPC_H1_FAULTY, CRPC_FAULT_TARGET_TOO_LONG);
    expect_long(&usual, "OPTIONS /", CRPC_TARGET_MAX - 1, behind, CRPC_H1_WHOLE, CRPC_FAULT_NONE);
    expect_long(&usual, "GET /", 2 * CRPC_TARGET_MAX, "", CRPC_H1_FAULTY, CRPC_FAULT_TARGET_TOO_LONG);
    expect_long(&usual, "G", 2 * CRPC_TARGET_MAX, "", CRPC_H1_FAULTY, CRPC_FAULT_TARGET_TOO_LONG);
    expect_long(&usual, "GET /#", 200, "\r\n", CRPC_H1_FAULTY, CRPC_FAULT_MALFORMED);
    crpc_h1_head_limits few = {.bytes_max = 64, .fields_max = 3};
    // "Host: x\r\n" is 9 bytes, "X: \r\n" is 5.
    static const char before[] = "GET / HTTP/1.1\r\n" HOST "X: ";
    expect_long(&few, before, 50, "\r\n\r\n", CRPC_H1_WHOLE, CRPC_FAULT_NONE);
    expect_long(&few, before, 51, "\r\n\r\n", CRPC_H1_FAULTY, CRPC_FAULT_HEAD_TOO_LARGE);
    expect_long(&few, before, 52, "\r\n\r\n", CRPC_H1_FAULTY, CRPC_FAULT_HEAD_TOO_LARGE);
    expect_long(&few, before, 53, "\r\n\r\n", CRPC_H1_FAULTY, CRPC_FAULT_HEAD_TOO_LARGE);
    expect_long(&few, before, 80, "", CRPC_H1_FAULTY, CRPC_FAULT_HEAD_TOO_LARGE);
    expect_long(&few, "GET / HTTP/1.1\r\n" HOST "a", 80, "", CRPC_H1_FAULTY, CRPC_FAULT_HEAD_TOO_LARGE);
    expect_long(&few, "GET / HTTP/1.1\r\n" HOST "\x01", 80, "\r\n", CRPC_H1_FAULTY, CRPC_FAULT_HEAD_TOO_LARGE);
    expect_long(&few, "GET / HTTP/1.1\r\n" HOST "\x01", 20, "\r\n", CRPC_H1_FAULTY, CRPC_FAULT_MALFORMED);
    static const char three[] = "GET / HTTP/1.1\r\n" HOST "A: 1\r\nB: 2\r\n";
    expect_long(&few, three, 0, "\r\n", CRPC_H1_WHOLE, CRPC_FAULT_NONE);
    expect_long(&few, three, 0, "C: 3\r\n\r\n", CRPC_H1_FAULTY, CRPC_FAULT_HEAD_TOO_LARGE);
    crpc_h1_head_limits most = {.bytes_max = UINT32_MAX, .fields_max = UINT32_MAX};
    expect_long(&most, before, 4000, "\r\n\r\n", CRPC_H1_WHOLE, CRPC_FAULT_NONE);
}

/// Appends a text so many times.
static size_t append(char *target, size_t length, const char *text, size_t times) {
    size_t count = strlen(text);
    for (size_t i = 0; i < times; i++) memcpy(target + length + i * count, text, count);
    return length + times * count;
}

/// The most that fields take when they are packed: the shortest lines there are, up to the greatest limit.
TEST(h1_packed_fields_have_room) {
    crpc_h1_head_limits most = {.bytes_max = UINT32_MAX, .fields_max = UINT32_MAX};
    size_t lines = (CRPC_H1_FIELDS_MAX - 8) / 4;
    char *text = malloc(CRPC_H1_FIELDS_MAX + CRPC_TARGET_MAX + 200);
    REQUIRE(text != NULL);
    size_t length = append(text, 0, "GET http://x?", 1);
    length = append(text, length, "q", 4 + CRPC_TARGET_MAX - length);
    length = append(text, length, " HTTP/1.1\r\nHost:x\r\n", 1);
    length = append(text, length, "a:\r\n", lines);
    length = append(text, length, "\r\n", 1);
    crpc_h1_head head;
    uint8_t *room = NULL;
    EXPECT_EQUAL(read_head(&most, text, length, &head, &room), CRPC_H1_WHOLE);
    EXPECT_EQUAL(head.shown.fields_length, lines * (CRPC_ENTRY_OVERHEAD + 1));
    EXPECT_EQUAL(head.shown.target_length, CRPC_TARGET_MAX - 8 + 1);
    EXPECT(head.shown.target[0] == '/' && head.shown.target[1] == '?' && head.shown.target >= room);
    EXPECT(head.shown.target >= room + head.shown.fields_length);
    EXPECT(head.shown.target + head.shown.target_length <= room + CRPC_H1_HEAD_ROOM);
    length = append(text, 0, "GET / HTTP/1.1\r\nHost:x\r\n", 1);
    length = append(text, length, "a:\r\n", lines + 1);
    EXPECT_EQUAL(read_head(&most, text, length, &head, &room), CRPC_H1_FAULTY);
    EXPECT_EQUAL(head.shown.fault, CRPC_FAULT_HEAD_TOO_LARGE);
    free(room);
    free(text);
}

TEST(h1_targets_are_told_from_the_slash_on) {
    static const struct {
        const char *line, *target, *authority;
    } cases[] = {
        {"GET /a?b HTTP/1.1\r\n", "/a?b", "x"},       {"GET http://x/a?b HTTP/1.1\r\n", "/a?b", "x"},
        {"GET HTTP://X?b HTTP/1.1\r\n", "/?b", "X"},  {"GET https://x HTTP/1.1\r\n", "/", "x"},
        {"OPTIONS * HTTP/1.1\r\n", "*", "x"},         {"OPTIONS http://x HTTP/1.1\r\n", "*", "x"},
        {"GET //y/a HTTP/1.1\r\n", "//y/a", "x"},     {"OPTIONS http://x/ HTTP/1.1\r\n", "/", "x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200];
        uint8_t *room = malloc(CRPC_H1_HEAD_ROOM);
        crpc_h1_head head;
        size_t length = (size_t)snprintf(text, sizeof text, "%s" HOST "\r\n", cases[i].line);
        EXPECT_EQUAL(crpc_h1_read_head(&usual, (uint8_t *)text, length, room, &head), CRPC_H1_WHOLE);
        EXPECT_TEXT(head.shown.target, head.shown.target_length, cases[i].target);
        EXPECT_TEXT(head.shown.authority, head.shown.authority_length, cases[i].authority);
        free(room);
    }
}
