#include "rig_exchanges.h"

#include <stdio.h>

// Exchanges on HTTP/2: requests that are no gRPC calls, and their answers.

static rig *start(void) {
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    return rig_start(&setup);
}

static const raw_frame *wait_for_end(raw *raw, int32_t id) {
    UNTIL(raw->rig, raw_read(raw) && raw_find_end(raw, id) != NULL);
    return raw_find_end(raw, id);
}

static void expect_answer(raw *raw, int32_t id, const char *status, size_t length) {
    (void)wait_for_end(raw, id);
    const raw_frame *head = raw_find(raw, NGHTTP2_HEADERS, id);
    if (!EXPECT(raw_frame_has(head, ":status", status))) test_note("%.*s", (int)head->length, head->payload);
    EXPECT_EQUAL(raw_data_length(raw, id), length);
}

/// A request whose exchange the test answers.
static exchange *begin(raw *raw, uint8_t flags, int32_t id, const char *method, const char *target) {
    size_t before = raw->rig->exchange_count;
    raw_send_exchange(raw, flags, id, method, target, NULL, NULL);
    UNTIL(raw->rig, raw->rig->exchange_count > before);
    return rig_exchange(raw->rig);
}

// ---- The request ----

TEST(a_request_that_is_no_call_is_an_exchange) {
    rig *rig = start();
    raw *raw = raw_connect(rig);
    raw_entry entries[] = {
        {":method", "PUT"}, {":scheme", "http"}, {":path", "/a/b?c=d"}, {":authority", "Test.local:80"},
        {"grpc-timeout", "1S"}, {"content-type", "application/json"}, {"content-length", "0"}, {"te", "trailers"},
        {"cookie", "a=1"}, {"x-one", "1"}, {"cookie", "b=2"}, {"expect", "100-continue"}};
    raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 1, entries, 12);
    UNTIL(rig, rig->exchange_count == 1);
    exchange *exchange = rig_exchange(rig);
    EXPECT_EQUAL(exchange->version, 20);
    EXPECT_EQUAL(exchange->fault, CRPC_FAULT_NONE);
    EXPECT(strcmp(exchange->method, "PUT") == 0 && strcmp(exchange->target, "/a/b?c=d") == 0);
    EXPECT(strcmp(exchange->authority, "Test.local:80") == 0);
    EXPECT(exchange->is_last);
    EXPECT_EQUAL(exchange->content_length, 0);
    EXPECT_EQUAL(metadata_count(exchange->fields, exchange->fields_length), 4);
    EXPECT(metadata_has(exchange->fields, exchange->fields_length, "grpc-timeout", "1S"));
    EXPECT(metadata_has(exchange->fields, exchange->fields_length, "content-type", "application/json"));
    EXPECT(metadata_has(exchange->fields, exchange->fields_length, "cookie", "a=1; b=2"));
    EXPECT(metadata_has(exchange->fields, exchange->fields_length, "x-one", "1"));
    EXPECT_EQUAL(exchange_respond(exchange, 204, ""), CRPC_OK);
    expect_answer(raw, 1, "204", 0);
    EXPECT(!raw_frame_has(raw_find(raw, NGHTTP2_HEADERS, 1), "content-length", "0")); // RFC 9110 section 8.6
    UNTIL(rig, exchange->closes == 1);
    EXPECT(exchange->is_complete);
    raw_free(raw);
    rig_end(rig);
}

TEST(calls_and_exchanges_of_one_path_are_told_apart) {
    rig *rig = start();
    raw *raw = raw_connect(rig);
    // The same path by Connect, and by gRPC with its fields before and behind its content type.
    raw_entry json[] = {
        {":method", "POST"}, {":scheme", "http"}, {":path", rig_paths[METHOD_UNARY]}, {":authority", "a"},
        {"content-type", "application/json"}};
    raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 1, json, 5);
    raw_entry before[] = {
        {":method", "POST"}, {":scheme", "http"}, {":path", rig_paths[METHOD_UNARY]}, {":authority", "a"},
        {"x-one", "1"}, {"grpc-timeout", "5S"}, {"grpc-accept-encoding", "gzip"}, {"x-two", "2"},
        {"content-type", "application/grpc"}};
    raw_send_headers(raw, 0, 3, before, 9);
    raw_send_message(raw, NGHTTP2_FLAG_END_STREAM, 3, "call");
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 3) != NULL && rig->exchange_count == 1);
    EXPECT(strcmp(rig_exchange(rig)->target, rig_paths[METHOD_UNARY]) == 0);
    EXPECT(strcmp(rig_exchange(rig)->method, "POST") == 0);
    call *call = rig_server_call(rig);
    EXPECT_EQUAL(metadata_count(call->head, call->head_length), 2);
    EXPECT(metadata_has(call->head, call->head_length, "x-two", "2"));
    EXPECT(call->deadline_ns != 0 && call->accepts_gzip);
    EXPECT(raw_frame_has(raw_find_end(raw, 3), "grpc-status", "0"));
    // A gRPC call to an unknown path gets a gRPC status.
    raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, 5, "/no/such", NULL, NULL);
    EXPECT(raw_frame_has(wait_for_end(raw, 5), "grpc-status", "12"));
    EXPECT_EQUAL(rig->exchange_count, 1);
    EXPECT_EQUAL(exchange_respond(rig_exchange(rig), 200, "json"), CRPC_OK);
    expect_answer(raw, 1, "200", 4);
    raw_free(raw);
    rig_end(rig);
}

TEST(heads_past_the_limits_are_told_as_faults) {
    static char target[CRPC_TARGET_MAX + 2], value[17000];
    rig *rig = start();
    raw *raw = raw_connect(rig);
    memset(target, 'a', sizeof target - 1);
    target[0] = '/';
    memset(value, 'v', sizeof value - 1);
    raw_send_exchange(raw, NGHTTP2_FLAG_END_STREAM, 1, "GET", target, NULL, NULL);
    raw_send_exchange(raw, NGHTTP2_FLAG_END_STREAM, 3, "GET", "/now", "x", value);
    raw_entry many[104 + 1];
    for (size_t i = 0; i < 105; i++) memcpy(many[i], (raw_entry){"x", "1"}, sizeof many[i]);
    static const raw_entry first[] = {
        {":method", "GET"}, {":scheme", "http"}, {":path", "/fields"}, {":authority", "test.local"}};
    memcpy(many, first, sizeof first);
    raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 5, many, 105);
    raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 7, many, 104);
    UNTIL(rig, rig->exchange_count == 4);
    EXPECT_EQUAL(rig->exchanges[0]->fault, CRPC_FAULT_TARGET_TOO_LONG);
    EXPECT_EQUAL(rig->exchanges[1]->fault, CRPC_FAULT_HEAD_TOO_LARGE);
    EXPECT_EQUAL(rig->exchanges[2]->fault, CRPC_FAULT_HEAD_TOO_LARGE);
    EXPECT_EQUAL(rig->exchanges[3]->fault, CRPC_FAULT_NONE);
    for (size_t i = 0; i < 4; i++)
        if (i != 1) EXPECT_EQUAL(exchange_respond(rig->exchanges[i], 400, ""), CRPC_OK);
    for (int32_t id = 1; id <= 7; id += 2) (void)wait_for_end(raw, id);
    raw_free(raw);
    rig_end(rig);
}

TEST(targets_and_hosts_that_no_route_can_take_are_faults) {
    static char long_host[300];
    rig *rig = start();
    raw *raw = raw_connect(rig);
    memset(long_host, 'h', sizeof long_host - 1);
    static const struct {
        const char *method, *target;
        crpc_fault fault;
    } cases[] = {
        {"GET", "/a#b", CRPC_FAULT_MALFORMED}, {"GET", "/\xc3\xa4", CRPC_FAULT_MALFORMED},
        {"OPTIONS", "*", CRPC_FAULT_NONE},     {"GET", "/%c3", CRPC_FAULT_NONE},
    };
    for (size_t i = 0; i < 4; i++) {
        exchange *exchange = begin(raw, NGHTTP2_FLAG_END_STREAM, 1 + 2 * (int32_t)i, cases[i].method, cases[i].target);
        EXPECT_EQUAL(exchange->fault, cases[i].fault);
        EXPECT_EQUAL(exchange_respond(exchange, 400, ""), CRPC_OK);
    }
    raw_entry entries[] = {{":method", "GET"}, {":scheme", "http"}, {":path", "/x"}, {":authority", long_host}};
    raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 9, entries, 4);
    raw_entry connect[] = {{":method", "CONNECT"}, {":authority", "a:1"}};
    raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 11, connect, 2);
    raw_entry host[] = {{":method", "GET"}, {":scheme", "http"}, {":path", "/x"}, {"host", "only.host"}};
    raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 13, host, 4);
    UNTIL(rig, rig->exchange_count == 7);
    EXPECT_EQUAL(rig->exchanges[4]->fault, CRPC_FAULT_HOST_MALFORMED);
    EXPECT_EQUAL(rig->exchanges[5]->fault, CRPC_FAULT_METHOD_UNKNOWN);
    EXPECT(strcmp(rig->exchanges[6]->authority, "only.host") == 0);
    raw_free(raw);
    rig_end(rig);
}

// ---- The body of a request ----

TEST(a_body_is_told_as_it_comes_and_answered) {
    rig *rig = start();
    raw *raw = raw_connect(rig);
    raw_send_exchange(raw, 0, 1, "POST", "/echo", "content-length", "9");
    raw_send_data(raw, 0, 1, "abc", 3);
    UNTIL(rig, rig->exchange_count == 1 && rig_exchange(rig)->body_length == 3);
    EXPECT_EQUAL(rig_exchange(rig)->content_length, 9);
    EXPECT(rig->loop->turn.stats.held_bytes >= 3); // what is kept stays counted
    raw_send_data(raw, 0, 1, "def", 3);
    raw_send_data(raw, NGHTTP2_FLAG_END_STREAM, 1, "ghi", 3);
    expect_answer(raw, 1, "200", 9);
    EXPECT(rig_exchange(rig)->has_ended);
    UNTIL(rig, rig_exchange(rig)->closes == 1);
    EXPECT_EQUAL(rig->loop->turn.stats.held_bytes, 0);
    // An end without data, and trailers, which are not told.
    raw_send_exchange(raw, 0, 3, "POST", "/echo", NULL, NULL);
    raw_send_data(raw, 0, 3, "xy", 2);
    raw_send_data(raw, NGHTTP2_FLAG_END_STREAM, 3, "", 0);
    expect_answer(raw, 3, "200", 2);
    raw_send_exchange(raw, 0, 5, "POST", "/echo", NULL, NULL);
    raw_send_data(raw, 0, 5, "z", 1);
    raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 5, (raw_entry[]){{"x-tail", "1"}}, 1);
    expect_answer(raw, 5, "200", 1);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_body_that_is_not_as_long_as_it_said_resets_its_stream) {
    rig *rig = start();
    raw *raw = raw_connect(rig);
    raw_send_exchange(raw, 0, 1, "POST", "/hold", "content-length", "4");
    raw_send_data(raw, NGHTTP2_FLAG_END_STREAM, 1, "abc", 3);
    raw_send_exchange(raw, 0, 3, "POST", "/hold", "content-length", "2");
    raw_send_data(raw, 0, 3, "abc", 3);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_RST_STREAM, 3) != NULL && rig->exchange_count == 2);
    for (size_t i = 0; i < 2; i++) {
        UNTIL(rig, rig->exchanges[i]->closes == 1);
        EXPECT(!rig->exchanges[i]->has_ended && !rig->exchanges[i]->is_complete);
        EXPECT_EQUAL(raw_error(raw_find(raw, NGHTTP2_RST_STREAM, 1 + 2 * (int32_t)i)), NGHTTP2_PROTOCOL_ERROR);
    }
    raw_free(raw);
    rig_end(rig);
}

TEST(a_client_sends_as_much_as_is_taken_off) {
    static uint8_t bytes[16384];
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    setup.server.stream_window_bytes = sizeof bytes;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    exchange *exchange = begin(raw, 0, 1, "POST", "/slow");
    raw_send_data(raw, 0, 1, bytes, sizeof bytes);
    UNTIL(rig, exchange->body_length == sizeof bytes);
    rig_run_ms(rig, 20);
    EXPECT(raw_read(raw) && raw_find(raw, NGHTTP2_WINDOW_UPDATE, 1) == NULL);
    EXPECT_EQUAL(exchange_consume(exchange, sizeof bytes, false), CRPC_OK);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_WINDOW_UPDATE, 1) != NULL);
    raw_send_data(raw, NGHTTP2_FLAG_END_STREAM, 1, bytes, 100);
    UNTIL(rig, exchange->has_ended);
    EXPECT_EQUAL(exchange_consume(exchange, SIZE_MAX, false), CRPC_OK); // more than there is counts no more than that
    EXPECT_EQUAL(exchange_respond(exchange, 200, "ok"), CRPC_OK);
    expect_answer(raw, 1, "200", 2);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_client_that_makes_us_hold_too_much_is_told) {
    static uint8_t bytes[16384];
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    setup.server.buffered_bytes_max = 40000;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    raw_send_exchange(raw, 0, 1, "POST", "/echo", NULL, NULL);
    for (int i = 0; i < 3; i++) raw_send_data(raw, 0, 1, bytes, sizeof bytes);
    UNTIL(rig, rig->exchange_count == 1 && rig_exchange(rig)->consume_error != CRPC_OK);
    EXPECT_EQUAL(rig_exchange(rig)->consume_error, CRPC_ERROR_LIMIT);
    // Others on the connection wait until it has let go; one that only pushes is reset.
    raw_send_exchange(raw, NGHTTP2_FLAG_END_STREAM, 3, "GET", "/now", NULL, NULL);
    expect_answer(raw, 3, "503", 38);
    EXPECT_EQUAL(exchange_respond(rig_exchange(rig), 413, ""), CRPC_OK);
    expect_answer(raw, 1, "413", 0);
    UNTIL(rig, rig_exchange(rig)->closes == 1);
    raw_send_exchange(raw, 0, 5, "POST", "/slow", NULL, NULL);
    for (int i = 0; i < 3; i++) raw_send_data(raw, 0, 5, bytes, sizeof bytes);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_RST_STREAM, 5) != NULL);
    EXPECT_EQUAL(raw_error(raw_find(raw, NGHTTP2_RST_STREAM, 5)), NGHTTP2_ENHANCE_YOUR_CALM);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_body_that_takes_too_long_is_told_and_may_be_answered) {
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    setup.server.body_timeout_ms = 60;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    exchange *slow = begin(raw, 0, 1, "POST", "/echo");
    exchange *stream = begin(raw, 0, 3, "POST", "/stream");
    exchange_set_body_deadline_ms(stream, 0);
    UNTIL(rig, slow->broken != 0);
    EXPECT_EQUAL(slow->broken, CRPC_ERROR_TIMEOUT);
    expect_answer(raw, 1, "408", 8);
    rig_run_ms(rig, 60);
    EXPECT_EQUAL(stream->broken, 0);
    raw_send_data(raw, NGHTTP2_FLAG_END_STREAM, 3, "late", 4);
    UNTIL(rig, stream->has_ended);
    EXPECT_EQUAL(exchange_respond(stream, 200, ""), CRPC_OK);
    expect_answer(raw, 3, "200", 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_client_that_asks_before_it_sends_is_told_to_go_on) {
    rig *rig = start();
    raw *raw = raw_connect(rig);
    raw_send_exchange(raw, 0, 1, "POST", "/echo", "expect", "100-continue");
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_HEADERS, 1) != NULL);
    EXPECT(raw_frame_has(raw_find(raw, NGHTTP2_HEADERS, 1), ":status", "100"));
    raw_forget(raw);
    raw_send_data(raw, NGHTTP2_FLAG_END_STREAM, 1, "body", 4);
    expect_answer(raw, 1, "200", 4);
    // A request with an immediate response gets no 100.
    raw_send_exchange(raw, 0, 3, "POST", "/now", "expect", "100-continue");
    expect_answer(raw, 3, "200", 3);
    raw_free(raw);
    rig_end(rig);
}

// ---- Answers ----

TEST(answers_have_what_http_wants) {
    rig *rig = start();
    raw *raw = raw_connect(rig);
    raw_send_exchange(raw, NGHTTP2_FLAG_END_STREAM, 1, "GET", "/now", NULL, NULL);
    raw_send_exchange(raw, NGHTTP2_FLAG_END_STREAM, 3, "HEAD", "/now", NULL, NULL);
    expect_answer(raw, 1, "200", 3);
    expect_answer(raw, 3, "200", 0);
    for (int32_t id = 1; id <= 3; id += 2) {
        const raw_frame *head = raw_find(raw, NGHTTP2_HEADERS, id);
        EXPECT(raw_frame_has(head, "content-length", "3") && raw_frame_has(head, "content-type", "text/plain"));
        EXPECT(memmem(head->payload, head->length, "\ndate: ", 7) != NULL);
    }
    exchange *exchange = begin(raw, NGHTTP2_FLAG_END_STREAM, 5, "GET", "/x");
    uint8_t fields[128];
    size_t length = metadata_add(fields, 0, "connection", "close");
    EXPECT_EQUAL(exchange_respond_with(exchange, 200, fields, length, NULL, 0), CRPC_ERROR_ARGUMENT);
    length = metadata_add(fields, 0, "x-one", "two\r\nthree: 3");
    EXPECT_EQUAL(exchange_respond_with(exchange, 200, fields, length, NULL, 0), CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(exchange_respond_with(exchange, 200, fields, length - 1, NULL, 0), CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(exchange_respond(exchange, 100, ""), CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(exchange_send(exchange, "x", 1), CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(exchange_finish(exchange, NULL, 0), CRPC_ERROR_ARGUMENT);
    length = metadata_add(fields, 0, "grpc-status", "0"); // a field as any other here
    EXPECT_EQUAL(exchange_respond_with(exchange, 304, fields, length, NULL, 0), CRPC_OK);
    EXPECT_EQUAL(exchange_respond(exchange, 200, ""), CRPC_ERROR_CLOSED);
    expect_answer(raw, 5, "304", 0);
    EXPECT(raw_frame_has(raw_find(raw, NGHTTP2_HEADERS, 5), "grpc-status", "0"));
    raw_free(raw);
    rig_end(rig);
}

TEST(usual_names_and_those_like_them_are_sent_as_they_are) {
    static const char *const names[] = {
        "content-type", "x-request-id", "cache-control", "referrer-policy", "x-content-type-options",
        "content-security-policy", "content-typo", "y-request-id", "cache-contro1", "referrer-polic", "content-security-policies"};
    enum { NAMES = sizeof names / sizeof names[0] };
    rig *rig = start();
    raw *raw = raw_connect(rig);
    exchange *exchange = begin(raw, NGHTTP2_FLAG_END_STREAM, 1, "GET", "/x");
    uint8_t fields[NAMES * 64];
    size_t length = 0;
    for (size_t i = 0; i < NAMES; i++) length = metadata_add(fields, length, names[i], names[NAMES - 1 - i]);
    EXPECT_EQUAL(exchange_respond_with(exchange, 200, fields, length, "x", 1), CRPC_OK);
    memset(fields, 0, sizeof fields); // nothing of them is needed any more
    expect_answer(raw, 1, "200", 1);
    for (size_t i = 0; i < NAMES; i++)
        EXPECT(raw_frame_has(raw_find(raw, NGHTTP2_HEADERS, 1), names[i], names[NAMES - 1 - i]));
    static const char *const bad[][2] = {
        {"Content-Type", "x"}, {"x-request_iD", "x"}, {"cache control", "x"}, {"content-type", "a\nb"},
        {"x-request-id", " x"}, {"cache-control", "x\t"}, {"content-type", "\x7f"}};
    exchange = begin(raw, NGHTTP2_FLAG_END_STREAM, 3, "GET", "/x");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        length = metadata_add(fields, 0, bad[i][0], bad[i][1]);
        EXPECT_EQUAL(exchange_respond_with(exchange, 200, fields, length, NULL, 0), CRPC_ERROR_ARGUMENT);
    }
    raw_free(raw);
    rig_end(rig);
}

TEST(ids_of_requests_drive_nothing_out_of_the_table) {
    rig *rig = start();
    raw *raw = raw_connect(rig);
    size_t size = 0;
    for (int32_t id = 1; id < 100; id += 2) {
        char text[33];
        uint8_t fields[128];
        (void)snprintf(text, sizeof text, "%032d", id);
        size_t length = metadata_add(fields, metadata_add(fields, 0, "x-request-id", text), "cache-control", "no-store");
        exchange *exchange = begin(raw, NGHTTP2_FLAG_END_STREAM, id, "GET", "/x");
        EXPECT_EQUAL(exchange_respond_with(exchange, 200, fields, length, NULL, 0), CRPC_OK);
        expect_answer(raw, id, "200", 0);
        EXPECT(raw_frame_has(raw_find(raw, NGHTTP2_HEADERS, id), "x-request-id", text));
        size_t now = nghttp2_hd_inflate_get_dynamic_table_size(raw->inflater);
        if (id == 1) size = now;
        EXPECT(now <= size + 4 * (32 + 4 + CRPC_DATE_LENGTH)); // each second has another date
        EXPECT(now > 0);
    }
    raw_free(raw);
    rig_end(rig);
}

TEST(a_body_is_sent_in_parts_with_trailers_behind_it) {
    static uint8_t bytes[40000];
    rig *rig = start();
    raw *raw = raw_connect(rig);
    exchange *exchange = begin(raw, NGHTTP2_FLAG_END_STREAM, 1, "GET", "/x");
    EXPECT_EQUAL(exchange_send_head(exchange, 200, -1), CRPC_OK);
    EXPECT_EQUAL(exchange_send_head(exchange, 200, -1), CRPC_ERROR_CLOSED);
    EXPECT_EQUAL(exchange_respond(exchange, 200, ""), CRPC_ERROR_CLOSED);
    EXPECT_EQUAL(exchange_send(exchange, bytes, sizeof bytes), CRPC_OK);
    EXPECT(exchange_is_writable(exchange));
    EXPECT_EQUAL(exchange_send(exchange, bytes, sizeof bytes), CRPC_OK);
    EXPECT(!exchange_is_writable(exchange));
    UNTIL(rig, raw_read(raw) && raw_data_length(raw, 1) == 65535); // the client's window
    EXPECT_EQUAL(exchange->writables, 1);
    uint8_t trailers[128];
    size_t length = metadata_add(trailers, 0, "x-tail", "1");
    length = metadata_add(trailers, length, "connection", "close"); // left out
    EXPECT_EQUAL(exchange_finish(exchange, trailers, length), CRPC_OK);
    EXPECT_EQUAL(exchange_send(exchange, bytes, 1), CRPC_ERROR_CLOSED);
    EXPECT_EQUAL(exchange_finish(exchange, NULL, 0), CRPC_ERROR_CLOSED);
    raw_send_window_update(raw, 0, 1 << 20);
    raw_send_window_update(raw, 1, 1 << 20);
    EXPECT(raw_frame_has(wait_for_end(raw, 1), "x-tail", "1"));
    EXPECT(!raw_frame_has(raw_find_end(raw, 1), "connection", "close"));
    EXPECT_EQUAL(raw_data_length(raw, 1), 2 * sizeof bytes);
    UNTIL(rig, exchange->closes == 1);
    EXPECT(exchange->is_complete);
    raw_free(raw);
    rig_end(rig);
}

TEST(an_answer_is_as_long_as_its_head_says) {
    rig *rig = start();
    raw *raw = raw_connect(rig);
    exchange *exact = begin(raw, NGHTTP2_FLAG_END_STREAM, 1, "GET", "/x");
    EXPECT_EQUAL(exchange_send_head(exact, 200, 4), CRPC_OK);
    EXPECT_EQUAL(exchange_send(exact, "abcde", 5), CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(exchange_send(exact, "abcd", 4), CRPC_OK);
    EXPECT_EQUAL(exchange_finish(exact, NULL, 0), CRPC_OK);
    expect_answer(raw, 1, "200", 4);
    EXPECT(raw_frame_has(raw_find(raw, NGHTTP2_HEADERS, 1), "content-length", "4"));
    exchange *shorter = begin(raw, NGHTTP2_FLAG_END_STREAM, 3, "GET", "/x");
    EXPECT_EQUAL(exchange_send_head(shorter, 200, 4), CRPC_OK);
    EXPECT_EQUAL(exchange_finish(shorter, NULL, 0), CRPC_ERROR_ARGUMENT);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_RST_STREAM, 3) != NULL);
    UNTIL(rig, shorter->closes == 1);
    EXPECT(!shorter->is_complete);
    exchange *head = begin(raw, NGHTTP2_FLAG_END_STREAM, 5, "HEAD", "/x");
    EXPECT_EQUAL(exchange_send_head(head, 200, 4), CRPC_OK);
    EXPECT_EQUAL(exchange_send(head, "abcd", 4), CRPC_OK); // dropped
    EXPECT_EQUAL(exchange_finish(head, NULL, 0), CRPC_OK);
    expect_answer(raw, 5, "200", 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(what_nobody_takes_gets_503) {
    rig *rig = start();
    raw *raw = raw_connect(rig);
    raw_send_exchange(raw, NGHTTP2_FLAG_END_STREAM, 1, "GET", "/null", NULL, NULL);
    expect_answer(raw, 1, "503", 38);
    EXPECT_EQUAL(rig->loop->turn.stats.handlers, 0);
    raw_free(raw);
    rig_end(rig);
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    setup.calls_max = 1;
    rig = rig_start(&setup);
    raw = raw_connect(rig);
    exchange *exchange = begin(raw, NGHTTP2_FLAG_END_STREAM, 1, "GET", "/hold");
    raw_send_exchange(raw, NGHTTP2_FLAG_END_STREAM, 3, "GET", "/now", NULL, NULL);
    expect_answer(raw, 3, "503", 38);
    EXPECT_EQUAL(rig->loop->turn.stats.calls_shed, 1);
    EXPECT_EQUAL(exchange_respond(exchange, 200, ""), CRPC_OK);
    UNTIL(rig, exchange->closes == 1);
    raw_send_exchange(raw, NGHTTP2_FLAG_END_STREAM, 5, "GET", "/now", NULL, NULL);
    expect_answer(raw, 5, "200", 3);
    raw_free(raw);
    rig_end(rig);
}

// ---- Time, and the end ----

TEST(a_deadline_is_told_once_and_may_be_moved) {
    rig *rig = start();
    raw *raw = raw_connect(rig);
    exchange *exchange = begin(raw, NGHTTP2_FLAG_END_STREAM, 1, "GET", "/hold");
    EXPECT_EQUAL(exchange_set_deadline_ms(exchange, 10), CRPC_OK);
    EXPECT_EQUAL(exchange_set_deadline_ms(exchange, 0), CRPC_OK);
    rig_run_ms(rig, 30);
    EXPECT_EQUAL(exchange->deadlines, 0);
    EXPECT_EQUAL(exchange_set_deadline_ms(exchange, 10), CRPC_OK);
    UNTIL(rig, exchange->deadlines == 1);
    EXPECT_EQUAL(exchange_respond(exchange, 504, ""), CRPC_OK);
    expect_answer(raw, 1, "504", 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(exchanges_end_with_resets_of_either_side_and_with_their_connection) {
    rig *rig = start();
    raw *raw = raw_connect(rig);
    exchange *ours = begin(raw, NGHTTP2_FLAG_END_STREAM, 1, "GET", "/hold");
    exchange *theirs = begin(raw, NGHTTP2_FLAG_END_STREAM, 3, "GET", "/hold");
    exchange *last = begin(raw, 0, 5, "POST", "/hold");
    exchange_reset(ours);
    UNTIL(rig, ours->closes == 1 && raw_read(raw) && raw_find(raw, NGHTTP2_RST_STREAM, 1) != NULL);
    EXPECT_EQUAL(raw_error(raw_find(raw, NGHTTP2_RST_STREAM, 1)), NGHTTP2_INTERNAL_ERROR);
    raw_send_reset(raw, 3, NGHTTP2_CANCEL);
    UNTIL(rig, theirs->closes == 1);
    raw_close(raw, false);
    UNTIL(rig, last->closes == 1);
    EXPECT(!ours->is_complete && !theirs->is_complete && !last->is_complete);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_drain_lets_exchanges_end) {
    rig *rig = start();
    raw *raw = raw_connect(rig);
    exchange *exchange = begin(raw, 0, 1, "POST", "/hold");
    rig_drain(rig);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_GOAWAY, 0) != NULL);
    raw_send_data(raw, NGHTTP2_FLAG_END_STREAM, 1, "x", 1);
    UNTIL(rig, exchange->has_ended);
    EXPECT_EQUAL(exchange_respond(exchange, 200, "done"), CRPC_OK);
    expect_answer(raw, 1, "200", 4);
    UNTIL(rig, rig->server_peers[0]->closes == 1);
    EXPECT(exchange->is_complete);
    raw_free(raw);
    rig_end(rig);
}

TEST(dates_are_written_as_http_has_them) {
    char text[CRPC_DATE_LENGTH];
    crpc_date_write(784111777, text); // RFC 9110 section 5.6.7
    EXPECT_TEXT(text, sizeof text, "Sun, 06 Nov 1994 08:49:37 GMT");
    crpc_date_write(0, text);
    EXPECT_TEXT(text, sizeof text, "Thu, 01 Jan 1970 00:00:00 GMT");
    crpc_date_write(1709164800, text);
    EXPECT_TEXT(text, sizeof text, "Thu, 29 Feb 2024 00:00:00 GMT");
}
