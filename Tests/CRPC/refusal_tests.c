#include "raw.h"

#include <stdio.h>

// Requests that never become calls, and peers that break the protocol, seen by the server.

static void expect_status(raw *raw, int32_t id, const char *status) {
    UNTIL(raw->rig, raw_read(raw) && raw_find_end(raw, id) != NULL);
    const raw_frame *frame = raw_find_end(raw, id);
    if (!EXPECT(raw_frame_has(frame, "grpc-status", status))) test_note("%.*s", (int)frame->length, frame->payload);
    EXPECT(raw_frame_has(frame, ":status", "200"));
    EXPECT(raw_frame_has(frame, "content-type", "application/grpc"));
}

/// The connection still serves.
static void expect_service(raw *raw, int32_t id) {
    raw_send_request(raw, 0, id, rig_paths[METHOD_UNARY], NULL, NULL);
    raw_send_message(raw, NGHTTP2_FLAG_END_STREAM, id, "still here");
    UNTIL(raw->rig, raw_read(raw) && raw_find_end(raw, id) != NULL);
    EXPECT(raw_frame_has(raw_find_end(raw, id), "grpc-status", "0"));
    EXPECT_EQUAL(raw_data_length(raw, id), CRPC_PREFIX_LENGTH + 10);
}

static void send_head(raw *raw, int32_t id, const char *method, const char *content_type) {
    raw_entry entries[] = {
        {":method", method}, {":scheme", "http"}, {":path", rig_paths[METHOD_UNARY]}, {":authority", "a"},
        {"te", "trailers"}, {"content-type", content_type}};
    raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, id, entries, content_type == NULL ? 5 : 6);
}

static void expect_http(raw *raw, int32_t id, const char *status, bool allows) {
    UNTIL(raw->rig, raw_read(raw) && raw_find_end(raw, id) != NULL);
    const raw_frame *head = raw_find(raw, NGHTTP2_HEADERS, id);
    EXPECT(raw_frame_has(head, ":status", status));
    EXPECT(raw_frame_has(head, "content-type", "text/plain; charset=utf-8"));
    EXPECT_EQUAL(raw_frame_has(head, "allow", "POST"), allows);
    char length[24];
    (void)snprintf(length, sizeof length, "%zu", raw_data_length(raw, id));
    EXPECT(raw_frame_has(head, "content-length", length));
    EXPECT(raw_find_end(raw, id)->type == NGHTTP2_DATA);
}

TEST(other_methods_than_post_get_405) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    static const char *const methods[] = {"GET", "PUT", "OPTIONS", "post"};
    for (int i = 0; i < 4; i++) {
        send_head(raw, 1 + 2 * i, methods[i], "application/grpc");
        expect_http(raw, 1 + 2 * i, "405", true);
    }
    expect_service(raw, 101);
    EXPECT_EQUAL(rig->server_call_count, 1);
    raw_free(raw);
    rig_end(rig);
}

TEST(other_content_types_get_415) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    static const char *const types[] = {
        NULL, "", "application/json", "application/grp", "application/grpcx", "application/grpc+json",
        "application/grpc-web", "application/grpc+protobuf", "text/plain", "Application/GRPC"};
    int32_t id = 1;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++, id += 2) {
        send_head(raw, id, "POST", types[i]);
        expect_http(raw, id, "415", false);
    }
    EXPECT_EQUAL(rig->server_call_count, 0);
    static const char *const good[] = {
        "application/grpc", "application/grpc;charset=utf-8", "application/grpc+proto", "application/grpc+proto;x=y"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++, id += 2) {
        send_head(raw, id, "POST", good[i]);
        UNTIL(rig, raw_read(raw) && raw_find_end(raw, id) != NULL);
        EXPECT(raw_frame_has(raw_find_end(raw, id), "grpc-status", "0"));
    }
    raw_free(raw);
    rig_end(rig);
}

TEST(what_is_no_call_of_a_method_gets_404) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    static const char *const methods[] = {"GET", "POST", "DELETE"};
    for (int i = 0; i < 3; i++) {
        raw_entry entries[] = {
            {":method", methods[i]}, {":scheme", "http"}, {":path", "/index.html"}, {":authority", "a"},
            {"content-type", i == 1 ? "text/html" : "application/grpc"}};
        raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 1 + 2 * i, entries, i == 0 ? 4 : 5);
        expect_http(raw, 1 + 2 * i, "404", false);
    }
    expect_service(raw, 101);
    raw_free(raw);
    rig_end(rig);
}

TEST(the_answer_to_head_has_no_body) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    static const char *const paths[] = {"/test.Calls/Unary", "/index.html"}, *const statuses[] = {"405", "404"};
    for (int i = 0; i < 2; i++) {
        raw_entry entries[] = {{":method", "HEAD"}, {":scheme", "http"}, {":path", paths[i]}, {":authority", "a"}};
        raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 1 + 2 * i, entries, 4);
        UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1 + 2 * i) != NULL);
        const raw_frame *head = raw_find_end(raw, 1 + 2 * i);
        EXPECT_EQUAL(head->type, NGHTTP2_HEADERS);
        EXPECT(raw_frame_has(head, ":status", statuses[i]));
        EXPECT(!raw_frame_has(head, "content-length", "0"));
        EXPECT_EQUAL(raw_data_length(raw, 1 + 2 * i), 0);
    }
    expect_service(raw, 101);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_refusal_stops_the_rest_of_the_request) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    raw_entry entries[] = {{":method", "PUT"}, {":scheme", "http"}, {":path", "/x"}, {":authority", "a"}};
    raw_send_headers(raw, 0, 1, entries, 4);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_RST_STREAM, 1) != NULL);
    EXPECT_EQUAL(raw_error(raw_find(raw, NGHTTP2_RST_STREAM, 1)), NGHTTP2_NO_ERROR);
    EXPECT(raw_find_end(raw, 1) != NULL);
    raw_send_request(raw, 0, 3, "/no.Such/Method", NULL, NULL);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_RST_STREAM, 3) != NULL);
    EXPECT_EQUAL(raw_error(raw_find(raw, NGHTTP2_RST_STREAM, 3)), NGHTTP2_NO_ERROR);
    raw_send_message(raw, NGHTTP2_FLAG_END_STREAM, 3, "on its way already");
    expect_service(raw, 5);
    raw_free(raw);
    rig_end(rig);
}

TEST(unknown_paths_are_unimplemented) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    static const char *const paths[] = {
        "/test.Calls/unary", "/test.Calls/Unary/", "/test.Calls/Unar", "/test.Calls", "/", "test.Calls/Unary",
        "/test.Calls/Unary?x=1"};
    int32_t id = 1;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++, id += 2) {
        raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, id, paths[i], NULL, NULL);
        UNTIL(rig, raw_read(raw) && (raw_find_end(raw, id) != NULL || raw_find(raw, NGHTTP2_RST_STREAM, id) != NULL));
        if (paths[i][0] == '/') expect_status(raw, id, "12"); // RFC 9113 section 8.3.1: others are malformed
    }
    expect_service(raw, id);
    EXPECT_EQUAL(rig->server_call_count, 1);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_bad_timeout_or_encoding_refuses_the_call) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    static const char *const cases[][3] = {
        {"grpc-timeout", "1", "13"}, {"grpc-timeout", "", "13"}, {"grpc-timeout", "123456789S", "13"},
        {"grpc-timeout", "1s", "13"}, {"grpc-timeout", "-1S", "13"}, {"grpc-encoding", "snappy", "12"},
        {"grpc-encoding", "", "12"}};
    int32_t id = 1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++, id += 2) {
        raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, id, rig_paths[METHOD_HOLD], cases[i][0], cases[i][1]);
        expect_status(raw, id, cases[i][2]);
    }
    EXPECT_EQUAL(rig->server_call_count, 0);
    raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, id, rig_paths[METHOD_STREAM], "grpc-encoding", "identity");
    expect_status(raw, id, "0");
    raw_free(raw);
    rig_end(rig);
}

TEST(a_request_head_over_the_limit_is_refused) {
    rig_setup setup = rig_defaults();
    setup.server.header_bytes_max = 1000;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    // The six entries of a request and a seventh count for their bytes and 32 each.
    size_t used = 0;
    static const char *const fixed[] = {
        ":method", "POST", ":scheme", "http", ":path", "/test.Calls/Unary", ":authority", "test.local", "te",
        "trailers", "content-type", "application/grpc", "x-pad", ""};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) used += strlen(fixed[i]) + 16;
    char value[1001] = "";
    memset(value, 'v', sizeof value - 1);
    value[1000 - used] = 0;
    raw_send_request(raw, 0, 1, rig_paths[METHOD_UNARY], "x-pad", value);
    raw_send_message(raw, NGHTTP2_FLAG_END_STREAM, 1, "fits");
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL);
    EXPECT(raw_frame_has(raw_find_end(raw, 1), "grpc-status", "0"));
    value[1000 - used] = 'v';
    value[1000 - used + 1] = 0;
    raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, 3, rig_paths[METHOD_UNARY], "x-pad", value);
    expect_status(raw, 3, "8");
    EXPECT_EQUAL(rig->server_call_count, 1);
    expect_service(raw, 5);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_head_of_many_frames_over_the_limit_is_refused) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    static char value[30001];
    memset(value, 'v', sizeof value - 1);
    raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, 1, rig_paths[METHOD_UNARY], "x-pad", value);
    expect_status(raw, 1, "8");
    EXPECT_EQUAL(rig->server_call_count, 0);
    expect_service(raw, 3);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_message_over_the_limit_ends_the_call) {
    rig_setup setup = rig_defaults();
    setup.server.message_bytes_max = 10;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    raw_send_request(raw, 0, 1, rig_paths[METHOD_STREAM], NULL, NULL);
    raw_send_message(raw, 0, 1, "1234567890");
    raw_send_message(raw, 0, 1, "12345678901");
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL);
    EXPECT(raw_frame_has(raw_find_end(raw, 1), "grpc-status", "8"));
    EXPECT_EQUAL(rig_server_call(rig)->messages, 1);
    UNTIL(rig, rig_server_call(rig)->closes == 1);
    expect_service(raw, 3);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_malformed_message_ends_the_call) {
    static const struct {
        const char *bytes;
        size_t length;
    } cases[] = {
        {"\1\0\0\0\1x", 6},   // compressed, though no encoding was named
        {"\2\0\0\0\1x", 6},   // no such flag
        {"\0\0\0\0\2x", 6},   // cut short
        {"\0\0\0", 3},        // in the prefix
    };
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    int32_t id = 1;
    for (size_t i = 0; i < 4; i++, id += 2) {
        raw_send_request(raw, 0, id, rig_paths[METHOD_UNARY], NULL, NULL);
        raw_send_data(raw, NGHTTP2_FLAG_END_STREAM, id, cases[i].bytes, cases[i].length);
        UNTIL(rig, raw_read(raw) && raw_find_end(raw, id) != NULL);
        EXPECT(raw_frame_has(raw_find_end(raw, id), "grpc-status", "13"));
        EXPECT_EQUAL(rig_server_call(rig)->messages, 0);
        EXPECT_EQUAL(rig_server_call(rig)->half_closes, 0);
    }
    expect_service(raw, id);
    raw_free(raw);
    rig_end(rig);
}

TEST(padding_and_empty_frames_change_nothing) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    raw_send_request(raw, 0, 1, rig_paths[METHOD_UNARY], NULL, NULL);
    raw_send_data(raw, 0, 1, "", 0);
    raw_send_data(raw, NGHTTP2_FLAG_PADDED, 1, "\3\0\0\0\0\2o\0\0\0", 10);
    raw_send_data(raw, NGHTTP2_FLAG_PADDED | NGHTTP2_FLAG_END_STREAM, 1, "\2k\0\0", 4);
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL);
    EXPECT(raw_frame_has(raw_find_end(raw, 1), "grpc-status", "0"));
    EXPECT_TEXT(rig_server_call(rig)->received, rig_server_call(rig)->received_length, "ok");
    EXPECT_EQUAL(rig_server_call(rig)->half_closes + rig_server_call(rig)->is_last_told, 1);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_request_may_end_with_trailers) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    raw_send_request(raw, 0, 1, rig_paths[METHOD_UNARY], NULL, NULL);
    raw_send_message(raw, 0, 1, "message");
    raw_entry trailer[] = {{"x-tail", "t"}};
    raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 1, trailer, 1);
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL);
    EXPECT(raw_frame_has(raw_find_end(raw, 1), "grpc-status", "0"));
    EXPECT_EQUAL(rig_server_call(rig)->half_closes, 1);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_request_fed_byte_by_byte_is_the_same) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect_silently(rig);
    uint8_t bytes[512];
    size_t length = 0;
    memcpy(bytes, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
    length = 33;
    static const char *const entries[][2] = {
        {":method", "POST"}, {":scheme", "http"}, {":path", "/test.Calls/Unary"}, {":authority", "a"},
        {"content-type", "application/grpc"}};
    size_t head = length;
    length += 9;
    for (size_t i = 0; i < 5; i++)
        length += raw_put_literal(
            bytes + length, entries[i][0], strlen(entries[i][0]), entries[i][1], strlen(entries[i][1]));
    memcpy(bytes + head, "\0\0\0\1\4\0\0\0\1", 9);
    bytes[head + 2] = (uint8_t)(length - head - 9);
    memcpy(bytes + length, "\0\0\10\0\1\0\0\0\1\0\0\0\0\3abc", 17);
    length += 17;
    for (size_t i = 0; i < length; i++) {
        raw_send(raw, bytes + i, 1);
        rig_turn(rig);
    }
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL);
    EXPECT(raw_frame_has(raw_find_end(raw, 1), "grpc-status", "0"));
    EXPECT_TEXT(rig_server_call(rig)->received, rig_server_call(rig)->received_length, "abc");
    raw_free(raw);
    rig_end(rig);
}

TEST(refused_calls_are_resource_exhausted) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_REFUSED, "x");
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 8);
    EXPECT(call->is_from_server);
    struct call *slow = call_open(peer, METHOD_REFUSED, 50);
    UNTIL(rig, slow->closes == 1);
    EXPECT_EQUAL(slow->status, 8);
    rig_run_ms(rig, 80); // its deadline passes and no callback fires
    EXPECT_EQUAL(rig->server_call_count, 0);
    rig_end(rig);
}
