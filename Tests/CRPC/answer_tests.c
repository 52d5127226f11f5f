#include "raw.h"

// Answers as a foreign server might give them, seen by the client.

typedef struct scene {
    rig *rig;
    raw *raw;
    peer *peer;
    call *call;
} scene;

/// A client whose request has arrived at a server played by hand.
static scene begin(void) {
    rig_setup setup = rig_defaults();
    setup.has_no_listener = true;
    setup.client.message_bytes_max = 100;
    setup.client.header_bytes_max = 1000;
    scene scene = {.rig = rig_start(&setup)};
    scene.raw = raw_listen(scene.rig);
    scene.peer = rig_connect_to(scene.rig, scene.raw->port);
    REQUIRE(scene.peer != NULL);
    raw_accept(scene.raw);
    scene.call = call_unary(scene.peer, METHOD_UNARY, "question");
    UNTIL(scene.rig, raw_read(scene.raw) && raw_find_end(scene.raw, 1) != NULL && scene.peer->opens == 1);
    return scene;
}

static void end(scene *scene) {
    raw_free(scene->raw);
    rig_end(scene->rig);
}

static void send_answer_head(scene *scene, uint8_t flags) {
    raw_entry entries[] = {{":status", "200"}, {"content-type", "application/grpc"}, {"x-head", "1"}};
    raw_send_headers(scene->raw, flags, 1, entries, 3);
}

static void send_trailers(scene *scene, const char *status) {
    raw_entry entries[] = {{"grpc-status", status}, {"x-tail", "2"}};
    raw_send_headers(scene->raw, NGHTTP2_FLAG_END_STREAM, 1, entries, 2);
}

static void expect_end(scene *scene, int status, bool is_from_server) {
    UNTIL(scene->rig, scene->call->closes == 1);
    EXPECT_EQUAL(scene->call->status, status);
    EXPECT_EQUAL(scene->call->is_from_server, is_from_server);
    EXPECT(is_from_server || scene->call->text_length > 0);
    EXPECT(!scene->call->is_unprocessed);
}

TEST(a_request_is_written_as_grpc_says) {
    scene scene = begin();
    const raw_frame *head = raw_find(scene.raw, NGHTTP2_HEADERS, 1);
    static const char *const entries[][2] = {
        {":method", "POST"}, {":scheme", "http"}, {":path", "/test.Calls/Unary"}, {":authority", "test.local"},
        {"te", "trailers"}, {"content-type", "application/grpc"}, {"user-agent", "grpc-vestibule/1"}};
    for (size_t i = 0; i < 7; i++) EXPECT(raw_frame_has(head, entries[i][0], entries[i][1]));
    EXPECT(memmem(head->payload, head->length, "grpc-timeout", 12) == NULL);
    EXPECT_EQUAL(raw_data_length(scene.raw, 1), CRPC_PREFIX_LENGTH + 8);
    send_answer_head(&scene, 0);
    raw_send_message(scene.raw, 0, 1, "answer");
    send_trailers(&scene, "0");
    expect_end(&scene, 0, true);
    EXPECT_TEXT(scene.call->received, scene.call->received_length, "answer");
    EXPECT(metadata_has(scene.call->head, scene.call->head_length, "x-head", "1"));
    EXPECT(metadata_has(scene.call->trailers, scene.call->trailers_length, "x-tail", "2"));
    EXPECT_EQUAL(metadata_count(scene.call->trailers, scene.call->trailers_length), 1);
    end(&scene);
}

TEST(values_that_do_not_repeat_stay_out_of_the_table) {
    scene scene = begin();
    static const char *const names[] = {
        "traceparent", "tracestate", "x-request-id", "vestibule-caller-proof", "vestibule-client-address"};
    size_t table_bytes = 0;
    for (int turn = 1; turn <= 30; turn++) {
        uint8_t metadata[1024];
        size_t length = 0;
        char value[64];
        (void)snprintf(value, sizeof value, "a value of call %d, which is none of the others'", turn);
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) length = metadata_add(metadata, length, names[i], value);
        length = metadata_add(metadata, length, "x-repeated", "the same each time");
        uint64_t deadline_ns = crpc_loop_now_ns(scene.rig->loop) + 20000000000u + (uint64_t)turn * 1000;
        REQUIRE(call_open_with(scene.peer, rig_paths[METHOD_UNARY], deadline_ns, metadata, length) != NULL);
        int32_t id = 1 + 2 * turn;
        UNTIL(scene.rig, raw_read(scene.raw) && raw_find(scene.raw, NGHTTP2_HEADERS, id) != NULL);
        const raw_frame *head = raw_find(scene.raw, NGHTTP2_HEADERS, id);
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) EXPECT(raw_frame_has(head, names[i], value));
        EXPECT(raw_frame_has(head, "x-repeated", "the same each time"));
        size_t bytes = nghttp2_hd_inflate_get_dynamic_table_size(scene.raw->inflater);
        // The first call brings the names; nothing comes after it.
        if (turn > 1 && !EXPECT_EQUAL(bytes, table_bytes)) test_note("call %d", turn);
        table_bytes = bytes;
    }
    end(&scene);
}

TEST(http_errors_become_statuses) {
    static const struct {
        const char *http;
        int status;
    } cases[] = {{"404", 12}, {"503", 14}, {"401", 16}, {"500", 2}, {"302", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int ends = 0; ends < 2; ends++) {
            scene scene = begin();
            raw_entry entries[] = {{":status", cases[i].http}, {"content-type", "text/html"}};
            raw_send_headers(scene.raw, ends ? NGHTTP2_FLAG_END_STREAM : 0, 1, entries, 2);
            if (!ends) raw_send_data(scene.raw, NGHTTP2_FLAG_END_STREAM, 1, "<html>", 6);
            expect_end(&scene, cases[i].status, false);
            EXPECT_EQUAL(scene.call->headers, 0);
            EXPECT_EQUAL(scene.call->messages, 0);
            end(&scene);
        }
    }
}

TEST(interim_answers_are_skipped) {
    scene scene = begin();
    raw_entry interim[] = {{":status", "103"}, {"link", "x"}};
    raw_send_headers(scene.raw, 0, 1, interim, 2);
    raw_send_headers(scene.raw, 0, 1, interim, 2);
    send_answer_head(&scene, 0);
    raw_send_message(scene.raw, 0, 1, "answer");
    send_trailers(&scene, "0");
    expect_end(&scene, 0, true);
    EXPECT_EQUAL(scene.call->headers, 1);
    EXPECT(!metadata_has(scene.call->head, scene.call->head_length, "link", "x"));
    end(&scene);
}

TEST(an_answer_of_another_content_type_or_encoding_is_refused) {
    static const raw_entry cases[] = {{"content-type", "text/plain"}, {"grpc-encoding", "snappy"}, {"x-none", ""}};
    for (int i = 0; i < 3; i++) {
        scene scene = begin();
        raw_entry entries[] = {
            {":status", "200"}, {cases[i][0], cases[i][1]}, {i == 1 ? "content-type" : "x-more", "application/grpc"}};
        raw_send_headers(scene.raw, 0, 1, entries, 3);
        expect_end(&scene, i == 1 ? 13 : 2, false);
        EXPECT_EQUAL(scene.call->headers, 0);
        UNTIL(scene.rig, raw_read(scene.raw) && raw_find(scene.raw, NGHTTP2_RST_STREAM, 1) != NULL);
        EXPECT_EQUAL(raw_error(raw_find(scene.raw, NGHTTP2_RST_STREAM, 1)), NGHTTP2_CANCEL);
        end(&scene);
    }
}

TEST(a_stream_that_ends_without_a_status_is_unknown) {
    scene scene = begin();
    send_answer_head(&scene, 0);
    raw_send_message(scene.raw, NGHTTP2_FLAG_END_STREAM, 1, "answer");
    expect_end(&scene, 2, false);
    EXPECT_EQUAL(scene.call->messages, 1);
    end(&scene);
}

TEST(a_message_without_a_status_is_no_status) {
    scene scene = begin();
    send_answer_head(&scene, 0);
    raw_entry entries[] = {{"grpc-message", "no status"}, {"x-tail", "2"}};
    raw_send_headers(scene.raw, NGHTTP2_FLAG_END_STREAM, 1, entries, 2);
    expect_end(&scene, 2, false);
    EXPECT(memmem(scene.call->text, scene.call->text_length, "no status", 9) == NULL);
    end(&scene);
}

TEST(a_status_that_is_no_number_is_unknown) {
    static const char *const texts[] = {"", "x", "-1", "00", "1 2", "99999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        scene scene = begin();
        send_answer_head(&scene, 0);
        send_trailers(&scene, texts[i]);
        expect_end(&scene, 2, true);
        end(&scene);
    }
}

TEST(the_status_of_an_answer_stands_in_its_trailers_only) {
    scene scene = begin();
    raw_entry entries[] = {
        {":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "0"}, {"grpc-message", "fine"}};
    raw_send_headers(scene.raw, 0, 1, entries, 4);
    UNTIL(scene.rig, scene.call->headers == 1);
    raw_send_reset(scene.raw, 1, NGHTTP2_INTERNAL_ERROR);
    expect_end(&scene, 13, false);
    end(&scene);
}

TEST(an_ok_after_half_a_message_is_no_ok) {
    scene scene = begin();
    send_answer_head(&scene, 0);
    raw_send_data(scene.raw, 0, 1, "\0\0\0\0\12half", 9);
    send_trailers(&scene, "0");
    expect_end(&scene, 13, false);
    EXPECT_EQUAL(scene.call->messages, 0);
    end(&scene);
}

TEST(an_error_after_half_a_message_is_that_error) {
    scene scene = begin();
    send_answer_head(&scene, 0);
    raw_send_data(scene.raw, 0, 1, "\0\0\0\0\12half", 9);
    send_trailers(&scene, "10");
    expect_end(&scene, 10, true);
    end(&scene);
}

TEST(trailers_end_a_call_whose_client_still_sends) {
    scene scene = begin();
    call *call = call_open(scene.peer, METHOD_STREAM, 0);
    EXPECT_EQUAL(call_send_text(call, "first of many"), CRPC_OK);
    UNTIL(scene.rig, raw_read(scene.raw) && raw_data_length(scene.raw, 3) > 0);
    raw_entry entries[] = {{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "7"}};
    raw_send_headers(scene.raw, NGHTTP2_FLAG_END_STREAM, 3, entries, 3);
    // The server does not reset the stream, as it may not.
    UNTIL(scene.rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 7);
    EXPECT(call->is_from_server);
    UNTIL(scene.rig, raw_read(scene.raw) && raw_find(scene.raw, NGHTTP2_RST_STREAM, 3) != NULL);
    raw_close(scene.raw, false);
    end(&scene);
}

TEST(resets_become_statuses) {
    static const struct {
        uint32_t error;
        int status;
        bool is_unprocessed;
    } cases[] = {
        {NGHTTP2_REFUSED_STREAM, 14, true}, {NGHTTP2_CANCEL, 1, false}, {NGHTTP2_ENHANCE_YOUR_CALM, 8, false},
        {NGHTTP2_INTERNAL_ERROR, 13, false}, {NGHTTP2_NO_ERROR, 13, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scene scene = begin();
        raw_send_reset(scene.raw, 1, cases[i].error);
        UNTIL(scene.rig, scene.call->closes == 1);
        EXPECT_EQUAL(scene.call->status, cases[i].status);
        EXPECT_EQUAL(scene.call->is_unprocessed, cases[i].is_unprocessed);
        EXPECT(!scene.call->is_from_server);
        EXPECT(scene.call->text_length > 0);
        end(&scene);
    }
}

TEST(messages_the_client_does_not_take_end_the_call) {
    static const struct {
        const char *bytes;
        size_t length;
        int status;
    } cases[] = {{"\0\0\0\0\145", 5, 8}, {"\2\0\0\0\0", 5, 13}, {"\1\0\0\0\1x", 6, 13}};
    for (size_t i = 0; i < 3; i++) {
        scene scene = begin();
        send_answer_head(&scene, 0);
        raw_send_data(scene.raw, 0, 1, cases[i].bytes, cases[i].length);
        expect_end(&scene, cases[i].status, false);
        EXPECT_EQUAL(scene.call->messages, 0);
        // What was on its way is dropped.
        raw_send_message(scene.raw, 0, 1, "late");
        send_trailers(&scene, "0");
        rig_run_ms(scene.rig, 10);
        EXPECT_EQUAL(scene.peer->closes, 0);
        end(&scene);
    }
}

TEST(metadata_over_the_clients_limit_ends_the_call) {
    static char value[1200];
    memset(value, 'v', sizeof value - 1);
    for (int in_trailers = 0; in_trailers < 2; in_trailers++) {
        scene scene = begin();
        raw_entry head[] = {
            {":status", "200"}, {"content-type", "application/grpc"}, {"x-pad", in_trailers ? "" : value}};
        raw_send_headers(scene.raw, 0, 1, head, 3);
        if (in_trailers) {
            raw_entry tail[] = {{"grpc-message", "a message"}, {"x-pad", value}, {"grpc-status", "0"}};
            raw_send_headers(scene.raw, NGHTTP2_FLAG_END_STREAM, 1, tail, 3);
        }
        expect_end(&scene, 8, false);
        end(&scene);
    }
}

TEST(goaway_refuses_what_is_past_it_and_lets_the_rest_finish) {
    scene scene = begin();
    call *second = call_unary(scene.peer, METHOD_UNARY, "second");
    UNTIL(scene.rig, raw_read(scene.raw) && raw_find_end(scene.raw, 3) != NULL);
    raw_send_goaway(scene.raw, 1, NGHTTP2_NO_ERROR);
    UNTIL(scene.rig, second->closes == 1 && scene.peer->drainings == 1);
    EXPECT_EQUAL(second->status, 14);
    EXPECT(second->is_unprocessed);
    EXPECT_EQUAL(scene.call->closes, 0);
    EXPECT(!crpc_connection_has_room(scene.peer->connection));
    EXPECT(call_open(scene.peer, METHOD_UNARY, 0) == NULL);
    EXPECT_EQUAL(scene.rig->last_error, CRPC_ERROR_CLOSED);
    send_answer_head(&scene, 0);
    raw_send_message(scene.raw, 0, 1, "answer");
    send_trailers(&scene, "0");
    expect_end(&scene, 0, true);
    UNTIL(scene.rig, scene.peer->closes == 1);
    EXPECT_EQUAL(scene.peer->error, CRPC_OK);
    end(&scene);
}

TEST(a_request_that_never_went_out_because_of_goaway_is_unprocessed) {
    scene scene = begin();
    raw_send_goaway(scene.raw, 1, NGHTTP2_NO_ERROR);
    // Opened before the client reads the GOAWAY, sent after it.
    call *second = call_unary(scene.peer, METHOD_UNARY, "second");
    UNTIL(scene.rig, second->closes == 1);
    EXPECT_EQUAL(second->status, 14);
    EXPECT(second->is_unprocessed);
    end(&scene);
}

TEST(a_peer_that_breaks_http2_loses_the_connection) {
    static const struct {
        uint8_t type, flags;
        int32_t id;
        const char *payload;
        size_t length;
    } cases[] = {
        {NGHTTP2_DATA, 0, 0, "x", 1},                             // on no stream
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 2, "\210", 1}, // on a stream that nobody opened
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, "\377\377\377\377\377\377", 6}, // no such entry
        {NGHTTP2_SETTINGS, 0, 0, "\0\4\377\377\377\377", 6},       // a window over the maximum
        {NGHTTP2_PING, 0, 0, "1234567", 7},                       // seven bytes
        {NGHTTP2_WINDOW_UPDATE, 0, 0, "\0\0\0\0", 4},              // by nothing
        {NGHTTP2_PUSH_PROMISE, NGHTTP2_FLAG_END_HEADERS, 1, "\0\0\0\2", 4},
        {NGHTTP2_CONTINUATION, 0, 1, "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scene scene = begin();
        raw_send_frame(scene.raw, cases[i].type, cases[i].flags, cases[i].id, cases[i].payload, cases[i].length);
        UNTIL(scene.rig, scene.peer->closes == 1);
        if (!EXPECT_EQUAL(scene.peer->error, CRPC_ERROR_PROTOCOL)) test_note("case %zu", i);
        EXPECT_EQUAL(scene.call->status, 14);
        UNTIL(scene.rig, raw_read(scene.raw) && raw_find(scene.raw, NGHTTP2_GOAWAY, 0) != NULL);
        EXPECT(raw_error(raw_find(scene.raw, NGHTTP2_GOAWAY, 0)) != NGHTTP2_NO_ERROR);
        end(&scene);
    }
}

TEST(an_answer_that_is_no_http2_loses_the_connection) {
    rig_setup setup = rig_defaults();
    setup.has_no_listener = true;
    rig *rig = rig_start(&setup);
    raw *raw = raw_listen(rig);
    peer *peer = rig_connect_to(rig, raw->port);
    call *call = call_unary(peer, METHOD_UNARY, "x");
    raw_accept_silently(raw);
    static const char answer[] = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n";
    raw_send(raw, answer, sizeof answer - 1);
    UNTIL(rig, peer->closes == 1);
    EXPECT_EQUAL(peer->error, CRPC_ERROR_PROTOCOL);
    EXPECT_EQUAL(peer->opens, 0);
    EXPECT_EQUAL(call->status, 14);
    raw_free(raw);
    rig_end(rig);
}
