#include "http1/head.h"
#include "http/syntax.h"
#include "http2/request_rules.h"
#include "rig_exchanges.h"

#include <stdio.h>

// What both protocols take for an authority, a token and a Content-Length: one table for each, and both are asked.

static crpc_h1_head_limits limits = {.bytes_max = 16384, .fields_max = 100};

/// Whether HTTP/1.x takes a request with a method, a Host and one more line.
static bool is_taken_by_http_1(const char *method, const char *host, const char *line) {
    static uint8_t room[CRPC_H1_HEAD_ROOM];
    char text[1024];
    int length = snprintf(text, sizeof text, "%s / HTTP/1.1\r\nHost: %s\r\n%s\r\n", method, host, line);
    crpc_h1_head head;
    return crpc_h1_read_head(&limits, (uint8_t *)text, (size_t)length, room, &head) == CRPC_H1_WHOLE;
}

static bool takes(crpc_request_state *state, crpc_authority *authority, const char *name, const char *value) {
    crpc_entry field = {(const uint8_t *)name, (const uint8_t *)value, strlen(name), strlen(value)};
    int header = crpc_header_named(&crpc_grpc_names, field.name, field.name_length);
    return crpc_request_takes_field(state, authority, header, &field, false);
}

/// The same of HTTP/2, with its authority as `:authority` or as `host`.
static bool is_taken_by_http_2(
    const char *method, const char *authority_name, const char *authority, const char *name, const char *value) {
    crpc_request_state state;
    crpc_authority kept = {0};
    crpc_request_begin(&state);
    return takes(&state, &kept, ":method", method) && takes(&state, &kept, ":scheme", "https") &&
           takes(&state, &kept, ":path", "/") && takes(&state, &kept, authority_name, authority) &&
           takes(&state, &kept, name, value) && crpc_request_has_head(&state);
}

static const struct {
    const char *text;
    bool is_right;
} authorities[] = {
    {"localhost", true}, {"localhost:1", true}, {"localhost:", true}, {"a.example:8080", true}, {"127.0.0.1:80", true},
    {"[::1]", true}, {"[::1]:8080", true}, {"[::ffff:1.2.3.4]", true}, {"a%41", true}, {"x,y", true}, {"x_y", true},
    {"a@localhost", false}, {"evil@", false}, {"@", false}, {"::::", false}, {":80", false}, {"localhost:1:2", false},
    {"localhost:x", false}, {"localhost:-1", false}, {"::1", false}, {"[::1", false}, {"[]", false}, {"[x]", false},
    {"[::1]x", false}, {"x[y]", false}, {"x%4", false}, {"x%zz", false}, {"x/y", false}, {"x y", false}, {"x?y", false},
    {"x#y", false}, {"x\\y", false}, {"http://x", false}, {"\xc3\xa4", false}, {"user:secret@localhost", false},
};

TEST(both_protocols_take_the_same_authorities) {
    for (size_t i = 0; i < sizeof authorities / sizeof authorities[0]; i++) {
        const char *text = authorities[i].text;
        bool is_right = authorities[i].is_right;
        bool is_well = EXPECT_EQUAL(is_taken_by_http_1("GET", text, ""), is_right);
        is_well = EXPECT_EQUAL(is_taken_by_http_2("GET", ":authority", text, "x", "y"), is_right) && is_well;
        is_well = EXPECT_EQUAL(is_taken_by_http_2("GET", "host", text, "x", "y"), is_right) && is_well;
        if (!is_well) test_note("the authority is \"%s\"", text);
    }
}

TEST(both_protocols_take_the_same_tokens) {
    static const struct {
        const char *text;
        bool is_right;
    } tokens[] = {
        {"x", true}, {"brew", true}, {"!#$%&'*+-.^_`|~09az", true}, {"x y", false}, {"x(", false}, {"x\"", false},
        {"x/y", false}, {"x\x01", false}, {"x\x7f", false}, {"x\xc3\xa4", false}, {"x@y", false}, {"x,y", false},
    };
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        char line[64];
        const char *text = tokens[i].text;
        (void)snprintf(line, sizeof line, "%s: y\r\n", text);
        bool is_right = tokens[i].is_right;
        bool is_well = EXPECT_EQUAL(is_taken_by_http_1("GET", "a", line), is_right);
        is_well = EXPECT_EQUAL(is_taken_by_http_2("GET", ":authority", "a", text, "y"), is_right) && is_well;
        is_well = EXPECT_EQUAL(is_taken_by_http_1(text, "a", ""), is_right) && is_well;
        is_well = EXPECT_EQUAL(is_taken_by_http_2(text, ":authority", "a", "x", "y"), is_right) && is_well;
        if (!is_well) test_note("the token is \"%s\"", text);
    }
    EXPECT(is_taken_by_http_1("BREW", "a", "X-Y: z\r\n"));
    EXPECT(is_taken_by_http_2("BREW", ":authority", "a", "x-y", "z"));
    EXPECT(!is_taken_by_http_2("BREW", ":authority", "a", "X-Y", "z")); // RFC 9113 section 8.2.1
}

TEST(both_protocols_take_the_same_lengths) {
    static const struct {
        const char *text;
        bool is_right;
    } lengths[] = {
        {"0", true}, {"5", true}, {"0005", true}, {"9223372036854775807", true}, {"9223372036854775808", false},
        {"99999999999999999999", false}, {"", false}, {"-1", false}, {"+1", false}, {"1x", false}, {"0x1", false},
        {"1, 1", false}, {"1.0", false}, {"1e3", false}, {"\xd9\xa1", false},
    };
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        char line[64];
        const char *text = lengths[i].text;
        (void)snprintf(line, sizeof line, "Content-Length: %s\r\n", text);
        bool is_right = lengths[i].is_right;
        bool is_well = EXPECT_EQUAL(is_taken_by_http_1("PUT", "a", line), is_right);
        is_well = EXPECT_EQUAL(is_taken_by_http_2("PUT", ":authority", "a", "content-length", text), is_right) && is_well;
        if (!is_well) test_note("the length is \"%s\"", text);
    }
}

TEST(requests_for_malformed_authorities_are_refused_by_both_protocols) {
    static const char *const malformed[] = {"a@localhost", "evil@", "::::", "localhost:1:2"};
    enum { COUNT = sizeof malformed / sizeof malformed[0] };
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    rig *rig = rig_start(&setup);
    raw *http2 = raw_connect(rig);
    for (size_t i = 0; i < COUNT; i++) {
        int32_t id = 1 + 2 * (int32_t)i;
        raw_entry entries[] = {{":method", "GET"}, {":scheme", "http"}, {":path", "/now"}, {":authority", malformed[i]}};
        raw_send_headers(http2, NGHTTP2_FLAG_END_STREAM, id, entries, 4);
        UNTIL(rig, raw_read(http2) && raw_find(http2, NGHTTP2_RST_STREAM, id) != NULL);
        EXPECT_EQUAL(raw_error(raw_find(http2, NGHTTP2_RST_STREAM, id)), NGHTTP2_PROTOCOL_ERROR);
        EXPECT_EQUAL(rig->exchange_count, i);
        char text[200];
        (void)snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", malformed[i]);
        raw *http1 = raw_connect_with(rig, text);
        UNTIL(rig, rig->exchange_count == i + 1);
        EXPECT_EQUAL(rig_exchange(rig)->fault, CRPC_FAULT_HOST_MALFORMED);
        EXPECT_EQUAL(exchange_respond(rig_exchange(rig), 400, ""), CRPC_OK);
        UNTIL(rig, raw_read(http1) && http1->has_ended);
        raw_free(http1);
    }
    EXPECT(!http2->has_ended);
    raw_free(http2);
    rig_end(rig);
}
