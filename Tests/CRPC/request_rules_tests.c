#include "raw.h"
#include "http/bytes.h"
#include "http2/request_rules.h"

#include <stdio.h>

// Which requests are HTTP, and what becomes of those that are not.

/// Looks at fields, "name: value\n" each, with the trailers behind an empty line. Whether it is a request.
static bool is_request(const char *text) {
    crpc_request_state state;
    crpc_authority authority;
    crpc_request_begin(&state);
    bool is_trailer = false;
    for (const char *line = text, *end; *line != 0; line = end + 1) {
        end = strchr(line, '\n');
        REQUIRE(end != NULL);
        if (end == line) {
            if (!crpc_request_has_head(&state)) return false;
            is_trailer = true;
            continue;
        }
        const char *colon = strchr(line + 1, ':');
        REQUIRE(colon != NULL && colon < end);
        // At the memory's end, so that nothing is read past it.
        size_t name_length = (size_t)(colon - line), value_length = (size_t)(end - colon - 2);
        uint8_t *value = malloc(value_length + 1);
        REQUIRE(value != NULL);
        memcpy(value + 1, colon + 2, value_length);
        crpc_entry field = {(const uint8_t *)line, value + 1, name_length, value_length};
        int header = crpc_header_named(&crpc_grpc_names, field.name, name_length);
        bool is_right = crpc_request_takes_field(&state, &authority, header, &field, is_trailer);
        free(value);
        if (!is_right) return false;
    }
    return is_trailer || crpc_request_has_head(&state);
}

#define FIELDS ":method: POST\n:scheme: http\n:path: /a.b/C\n"
#define HEAD FIELDS ":authority: test.local\n"

TEST(requests_have_each_pseudo_header_once_and_first) {
    EXPECT(is_request(HEAD));
    EXPECT(is_request(FIELDS "host: test.local\n"));
    EXPECT(is_request(HEAD "host: test.local\nte: trailers\nx: y\n"));
    EXPECT(!is_request(FIELDS));
    EXPECT(!is_request(":method: POST\n:scheme: http\n:authority: a\n"));
    EXPECT(!is_request(":method: POST\n:path: /\n:authority: a\n"));
    EXPECT(!is_request(":scheme: http\n:path: /\n:authority: a\n"));
    EXPECT(!is_request(HEAD ":path: /a.b/C\n"));
    EXPECT(!is_request(HEAD ":method: POST\n"));
    EXPECT(!is_request(HEAD ":status: 200\n"));
    EXPECT(!is_request(HEAD ":protocol: websocket\n"));
    EXPECT(!is_request(HEAD ":x: y\n"));
    EXPECT(!is_request(":method: POST\nx: y\n:scheme: http\n:path: /\n:authority: a\n"));
    EXPECT(!is_request(HEAD "\n:path: /\n"));
    EXPECT(is_request(HEAD "\nx: y\n"));
    EXPECT(!is_request(FIELDS "host: a\nhost: a\n"));
}

TEST(a_host_is_the_authority) {
    EXPECT(is_request(HEAD "host: TEST.Local\n"));
    EXPECT(!is_request(HEAD "host: test.locax\n"));
    EXPECT(!is_request(HEAD "host: test.local:80\n"));
    EXPECT(!is_request(HEAD "host: test.loca\n"));
    EXPECT(!is_request(HEAD "host: est.local\n"));
    EXPECT(!is_request(HEAD "host: \n"));
    for (size_t length = 250; length < 260; length++) {
        char name[261] = "", text[1024];
        memset(name, 'n', length);
        (void)snprintf(text, sizeof text, FIELDS ":authority: %s\n", name);
        EXPECT(is_request(text));
        (void)snprintf(text, sizeof text, FIELDS ":authority: %s\nhost: %s\n", name, name);
        EXPECT_EQUAL(is_request(text), length <= CRPC_AUTHORITY_MAX);
        name[length - 1] = 'm';
        (void)snprintf(text, sizeof text, FIELDS ":authority: %.*sn\nhost: %s\n", (int)length - 1, name, name);
        EXPECT(!is_request(text));
    }
}

TEST(what_says_one_thing_is_said_once) {
    static const char *const once[] = {"content-type: application/grpc\n", "grpc-timeout: 1S\n", "grpc-encoding: gzip\n",
        "content-length: 5\n"};
    for (size_t i = 0; i < sizeof once / sizeof once[0]; i++) {
        char text[512];
        (void)snprintf(text, sizeof text, HEAD "%s", once[i]);
        EXPECT(is_request(text));
        (void)snprintf(text, sizeof text, HEAD "%sx: y\n%s", once[i], once[i]);
        EXPECT(!is_request(text));
        (void)snprintf(text, sizeof text, HEAD "%s\n%s", once[i], once[i]); // in the trailers
        EXPECT(!is_request(text));
    }
    EXPECT(is_request(HEAD "grpc-accept-encoding: gzip\ngrpc-accept-encoding: identity\nx: y\nx: y\n"));
}

TEST(requests_have_methods_schemes_and_paths_that_go_together) {
    EXPECT(is_request(":method: OPTIONS\n:scheme: https\n:path: *\n:authority: a\n"));
    EXPECT(!is_request(":method: POST\n:scheme: https\n:path: *\n:authority: a\n"));
    EXPECT(!is_request(":method: POST\n:scheme: HTTP\n:path: a\n:authority: a\n"));
    EXPECT(is_request(":method: POST\n:scheme: grpc+x\n:path: a\n:authority: a\n"));
    EXPECT(!is_request(":method: POST\n:scheme: 1x\n:path: /\n:authority: a\n"));
    EXPECT(is_request(":method: !#$%&'*+-.^_`|~09azAZ\n:scheme: http\n:path: /\n:authority: a\n"));
    EXPECT(!is_request(":method: P\xc3ST\n:scheme: http\n:path: /\n:authority: a\n"));
    EXPECT(!is_request(":method: P(T\n:scheme: http\n:path: /\n:authority: a\n"));
    EXPECT(!is_request(":method: PO ST\n:scheme: http\n:path: /\n:authority: a\n"));
    EXPECT(!is_request(":method: POST\n:scheme: http\n:path: /a b\n:authority: a\n"));
    EXPECT(!is_request(":method: POST\n:scheme: http\n:path: \n:authority: a\n"));
    EXPECT(!is_request(":method: POST\n:scheme: http\n:path: /\n:authority: a b\n"));
    EXPECT(is_request(":method: CONNECT\n:authority: a\n"));
    EXPECT(!is_request(":method: CONNECT\n:authority: a\n:path: /\n"));
    EXPECT(!is_request(":method: CONNECT\nhost: a\n"));
}

TEST(fields_have_names_and_values_that_may_be_there) {
    static const char *const wrong[] = {
        "X: y\n", "x y: z\n", "x\x01: y\n", "x\xc3: y\n", "x:  y\n", "x: y \n", "x: \ty\n", "x: y\x01z\n", "x: y\x7fz\n",
        "x: a long value with a \x1b that is not the first of eight\n",
        "x: another that has its fault at the end \x7f\n", "te: gzip\n", "te: trailers, gzip\n", "connection: close\n",
        "keep-alive: 1\n", "proxy-connection: x\n", "transfer-encoding: chunked\n", "upgrade: h2c\n",
        "content-length: \n", "content-length: 1x\n", "content-length: -1\n", "content-length: 1\ncontent-length: 1\n",
        "content-length: 9223372036854775808\n",
    };
    static const char *const right[] = {
        "x: \n", "x: y z\n", "x: y\tz\n", "x: \xc3\xa9\n", "!#$%&'*+-.^_`|~: 9\n", "te: Trailers\n", "content-length: 0\n",
        "content-length: 9223372036854775807\n", "x: a long value with a \t that is not the first of eight\n",
    };
    char text[512];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        (void)snprintf(text, sizeof text, HEAD "%s", wrong[i]);
        if (!EXPECT(!is_request(text))) test_note("%s", wrong[i]);
        (void)snprintf(text, sizeof text, HEAD "\n%s", wrong[i]);
        if (!EXPECT(!is_request(text))) test_note("%s", wrong[i]);
    }
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        (void)snprintf(text, sizeof text, HEAD "%s", right[i]);
        if (!EXPECT(is_request(text))) test_note("%s", right[i]);
    }
    crpc_request_state state;
    crpc_authority authority;
    crpc_request_begin(&state);
    crpc_entry nameless = {(const uint8_t *)"", (const uint8_t *)"x", 0, 1};
    int header = crpc_header_named(&crpc_grpc_names, nameless.name, 0);
    EXPECT(!crpc_request_takes_field(&state, &authority, header, &nameless, false));
}

/// RFC 9110 section 5.5 and RFC 9113 section 8.2.1 for values, RFC 9113 section 8.3.1 for paths; bytes of other alphabets are
/// let through.
static bool may_be(uint8_t c, bool is_path, bool is_at_an_end) {
    if (c == ' ' || c == '\t') return !is_path && !is_at_an_end;
    return c > ' ' && c != 0x7f;
}

TEST(every_byte_of_values_and_paths_is_judged) {
    for (size_t length = 1; length <= 40; length++) {
        for (size_t at = 0; at < length; at++) {
            for (int c = 0; c < 256; c++) {
                uint8_t text[41];
                memset(text, '/', sizeof text);
                text[at] = (uint8_t)c;
                crpc_request_state state;
                crpc_authority authority;
                crpc_request_begin(&state);
                crpc_entry path = {(const uint8_t *)":path", text, 5, length};
                crpc_entry value = {(const uint8_t *)"x", text, 1, length};
                REQUIRE(crpc_request_takes_field(&state, &authority, CRPC_HEADER_PATH, &path, false) ==
                        may_be((uint8_t)c, true, false));
                REQUIRE(crpc_request_takes_field(&state, &authority, CRPC_HEADER_APPLICATION, &value, false) ==
                        may_be((uint8_t)c, false, at == 0 || at + 1 == length));
            }
        }
    }
}

/// A client that has sent a request's head with one more field, and waits for what becomes of it.
static raw *begin(rig *rig, const char *path, const char *name, const char *value, uint8_t flags) {
    raw *raw = raw_connect(rig);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_SETTINGS, 0) != NULL);
    raw_send_request(raw, flags, 1, path, name, value);
    return raw;
}

static void expect_break(raw *raw, size_t calls) {
    rig *rig = raw->rig;
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_RST_STREAM, 1) != NULL);
    EXPECT_EQUAL(raw_error(raw_find(raw, NGHTTP2_RST_STREAM, 1)), NGHTTP2_PROTOCOL_ERROR);
    EXPECT(raw_find(raw, NGHTTP2_HEADERS, 1) == NULL);
    EXPECT_EQUAL(rig->server_call_count, calls);
    for (size_t i = 0; i < calls; i++) EXPECT_EQUAL(rig->server_calls[i]->messages, 0);
    // The connection goes on.
    raw_send_request(raw, 0, 3, rig_paths[METHOD_UNARY], NULL, NULL);
    raw_send_message(raw, NGHTTP2_FLAG_END_STREAM, 3, "still here");
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 3) != NULL);
    for (size_t i = 0; i < calls; i++) EXPECT_EQUAL(rig->server_calls[i]->closes, 1);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_control_character_is_found_wherever_it_stands) {
    uint8_t text[80];
    for (size_t length = 0; length <= sizeof text; length++) {
        memset(text, 0x80, sizeof text);
        EXPECT_EQUAL(crpc_find_control(text, text + length) - text, length);
        for (size_t place = 0; place < length; place++)
            for (unsigned byte = 0; byte < 256; byte++) {
                memset(text, place % 2 == 0 ? 0x80 : ' ', sizeof text);
                text[place] = (uint8_t)byte;
                bool is_control = byte < 0x20 || byte == 0x7f;
                EXPECT(crpc_find_control(text, text + length) == text + (is_control ? place : length));
            }
    }
}

TEST(a_request_with_a_field_that_may_not_be_there_is_reset) {
    rig *rig = rig_start(NULL);
    expect_break(begin(rig, rig_paths[METHOD_UNARY], "connection", "close", NGHTTP2_FLAG_END_STREAM), 0);
}

TEST(a_request_without_a_whole_head_is_reset) {
    rig *rig = rig_start(NULL);
    expect_break(begin(rig, "no-slash", NULL, NULL, NGHTTP2_FLAG_END_STREAM), 0);
}

TEST(trailers_that_do_not_end_the_request_reset_it) {
    rig *rig = rig_start(NULL);
    raw *raw = begin(rig, rig_paths[METHOD_STREAM], NULL, NULL, 0);
    raw_entry entry = {"x", "y"};
    raw_send_headers(raw, 0, 1, &entry, 1);
    expect_break(raw, 1);
}

TEST(trailers_that_may_not_be_there_reset_the_request) {
    rig *rig = rig_start(NULL);
    raw *raw = begin(rig, rig_paths[METHOD_STREAM], NULL, NULL, 0);
    raw_entry entry = {":path", "/"};
    raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 1, &entry, 1);
    expect_break(raw, 1);
}

TEST(a_request_longer_than_it_said_is_reset) {
    rig *rig = rig_start(NULL);
    raw *raw = begin(rig, rig_paths[METHOD_UNARY], "content-length", "6", 0);
    raw_send_message(raw, 0, 1, "too long");
    expect_break(raw, 1);
}

TEST(a_request_shorter_than_it_said_is_reset_and_not_answered) {
    rig *rig = rig_start(NULL);
    raw *raw = begin(rig, rig_paths[METHOD_UNARY], "content-length", "100", 0);
    raw_send_message(raw, NGHTTP2_FLAG_END_STREAM, 1, "short");
    expect_break(raw, 1);
}

TEST(a_head_that_announces_data_and_ends_is_reset) {
    rig *rig = rig_start(NULL);
    expect_break(begin(rig, rig_paths[METHOD_UNARY], "content-length", "1", NGHTTP2_FLAG_END_STREAM), 0);
}

TEST(a_request_as_long_as_it_said_is_answered) {
    rig *rig = rig_start(NULL);
    raw *raw = begin(rig, rig_paths[METHOD_UNARY], "content-length", "10", 0);
    raw_send_message(raw, NGHTTP2_FLAG_END_STREAM, 1, "whole");
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL);
    EXPECT(raw_frame_has(raw_find_end(raw, 1), "grpc-status", "0"));
    raw_free(raw);
    rig_end(rig);
}
