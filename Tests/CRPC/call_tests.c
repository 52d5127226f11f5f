#include "rig.h"

#include <stdio.h>

// Calls that go well, and the order of what they bring.

TEST(a_unary_call_is_answered) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_UNARY, "hello");
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT(call->is_from_server && !call->is_unprocessed);
    EXPECT_EQUAL(call->headers, 1);
    EXPECT_EQUAL(call->messages, 1);
    EXPECT_TEXT(call->received, call->received_length, "hello");
    EXPECT_EQUAL(call->text_length, 0);
    EXPECT_EQUAL(call->trailers_length, 0);
    struct call *server = rig_server_call(rig);
    UNTIL(rig, server->closes == 1);
    EXPECT_EQUAL(server->error, 0);
    EXPECT_EQUAL(server->method, METHOD_UNARY);
    EXPECT_EQUAL(server->deadline_ns, 0);
    EXPECT_EQUAL(server->messages, 1);
    EXPECT_EQUAL(server->half_closes + server->is_last_told, 1);
    EXPECT_EQUAL(crpc_connection_stream_count(peer->connection), 0);
    rig_end(rig);
}

TEST(calls_opened_before_the_connection_is_ready_wait_for_it) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_connect(rig);
    REQUIRE(peer != NULL);
    EXPECT(crpc_connection_has_room(peer->connection));
    call *first = call_unary(peer, METHOD_UNARY, "1"), *second = call_unary(peer, METHOD_UNARY, "2");
    EXPECT_EQUAL(crpc_connection_stream_count(peer->connection), 2);
    UNTIL(rig, first->closes == 1 && second->closes == 1);
    EXPECT_TEXT(first->received, first->received_length, "1");
    EXPECT_TEXT(second->received, second->received_length, "2");
    rig_end(rig);
}

TEST(an_empty_message_is_a_message) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_UNARY, "");
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT_EQUAL(call->messages, 1);
    EXPECT_EQUAL(call->received_length, 0);
    EXPECT_EQUAL(rig_server_call(rig)->messages, 1);
    rig_end(rig);
}

TEST(a_request_that_ends_without_a_message_is_told_as_its_end) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_open(peer, METHOD_STREAM, 0);
    EXPECT_EQUAL(call_half_close(call), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    struct call *server = rig_server_call(rig);
    EXPECT_EQUAL(server->messages, 0);
    EXPECT_EQUAL(server->half_closes, 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT_EQUAL(call->messages, 0);
    EXPECT_EQUAL(call->headers, 0); // trailers only
    rig_end(rig);
}

TEST(messages_stream_both_ways_in_order) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_open(peer, METHOD_STREAM, 0);
    char wanted[256] = "";
    size_t wanted_length = 0;
    for (int i = 0; i < 20; i++) {
        char text[8];
        int length = snprintf(text, sizeof text, "m%d ", i);
        memcpy(wanted + wanted_length, text, (size_t)length);
        wanted_length += (size_t)length;
        EXPECT_EQUAL(call_send_text(call, text), CRPC_OK);
        if (i % 3 == 0) UNTIL(rig, call->messages == (unsigned)i + 1);
    }
    UNTIL(rig, call->messages == 20);
    EXPECT_EQUAL(call->closes, 0);
    EXPECT_EQUAL(call_half_close(call), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT_BYTES(call->received, call->received_length, wanted, wanted_length);
    struct call *server = rig_server_call(rig);
    EXPECT_BYTES(server->received, server->received_length, wanted, wanted_length);
    EXPECT_EQUAL(server->half_closes + server->is_last_told, 1);
    UNTIL(rig, server->closes == 1);
    EXPECT_EQUAL(server->error, 0);
    rig_end(rig);
}

TEST(large_messages_cross_frames_and_windows) {
    enum { SIZE = 3 << 20 };
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    uint8_t *bytes = malloc(SIZE);
    REQUIRE(bytes != NULL);
    for (size_t i = 0; i < SIZE; i++) bytes[i] = (uint8_t)(i * 7 + i / 255);
    call *call = call_open(peer, METHOD_UNARY, 0);
    EXPECT_EQUAL(call_send(call, bytes, SIZE), CRPC_OK);
    EXPECT_EQUAL(call_half_close(call), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT_BYTES(call->received, call->received_length, bytes, SIZE);
    free(bytes);
    rig_end(rig);
}

TEST(a_server_may_finish_before_the_request_ends) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_open(peer, METHOD_HOLD, 0);
    EXPECT_EQUAL(call_send_text(call, "one"), CRPC_OK);
    UNTIL(rig, rig->server_call_count == 1 && rig_server_call(rig)->messages == 1);
    struct call *server = rig_server_call(rig);
    EXPECT_EQUAL(call_send_text(server, "enough"), CRPC_OK);
    EXPECT_EQUAL(call_finish(server, 0, ""), CRPC_OK);
    UNTIL(rig, call->closes == 1 && server->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT(call->is_from_server);
    EXPECT_TEXT(call->received, call->received_length, "enough");
    EXPECT_EQUAL(server->error, 0);
    EXPECT_EQUAL(server->half_closes, 0);
    // The connection is as good as before.
    struct call *next = call_unary(peer, METHOD_UNARY, "next");
    UNTIL(rig, next->closes == 1);
    EXPECT_EQUAL(next->status, 0);
    rig_end(rig);
}

TEST(a_client_may_half_close_long_before_the_answer) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_HOLD, "question");
    UNTIL(rig, rig->server_call_count == 1 && rig_server_call(rig)->messages == 1);
    struct call *server = rig_server_call(rig);
    UNTIL(rig, server->half_closes == 1 || server->is_last_told);
    rig_run_ms(rig, 20);
    EXPECT_EQUAL(call->closes, 0);
    EXPECT_EQUAL(call_send_headers(server, NULL, 0), CRPC_OK);
    UNTIL(rig, call->headers == 1);
    EXPECT_EQUAL(call->messages, 0);
    EXPECT_EQUAL(call_send_text(server, "answer"), CRPC_OK);
    UNTIL(rig, call->messages == 1);
    EXPECT_EQUAL(call->closes, 0);
    EXPECT_EQUAL(call_finish(server, 0, ""), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    rig_end(rig);
}

TEST(what_is_queued_goes_out_before_the_status) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 1);
    struct call *server = rig_server_call(rig);
    static uint8_t bytes[100000];
    for (int i = 0; i < 8; i++) EXPECT_EQUAL(call_send(server, bytes, sizeof bytes), CRPC_OK);
    EXPECT_EQUAL(call_finish(server, 9, "after all of it"), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->messages, 8);
    EXPECT_EQUAL(call->received_length, 800000);
    EXPECT_EQUAL(call->status, 9);
    EXPECT_TEXT(call->text, call->text_length, "after all of it");
    rig_end(rig);
}

TEST(a_status_without_a_message_comes_in_trailers_only) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 1);
    uint8_t trailing[128];
    size_t length = metadata_add(trailing, 0, "x-reason", "because");
    length = metadata_add(trailing, length, "x-more", "");
    crpc_status status = {
        .code = 5, .message = (const uint8_t *)"caf\xc3\xa9 100%\n", .message_length = 11,
        .details = (const uint8_t *)"\0\1\2\3", .details_length = 4, .metadata = trailing, .metadata_length = length};
    EXPECT_EQUAL(call_finish_with(rig_server_call(rig), &status), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 5);
    EXPECT(call->is_from_server);
    EXPECT_EQUAL(call->headers, 0);
    EXPECT_TEXT(call->text, call->text_length, "caf\xc3\xa9 100%\n");
    EXPECT(metadata_has(call->trailers, call->trailers_length, "x-reason", "because"));
    EXPECT(metadata_has(call->trailers, call->trailers_length, "x-more", ""));
    EXPECT(metadata_has(call->trailers, call->trailers_length, "grpc-status-details-bin", "AAECAw"));
    EXPECT_EQUAL(metadata_count(call->trailers, call->trailers_length), 3);
    rig_end(rig);
}

TEST(metadata_goes_with_request_head_and_trailers) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    uint8_t request[256], head[256], trailing[256];
    size_t request_length = metadata_add(request, 0, "x-one", "1");
    request_length = metadata_add(request, request_length, "x-one", "2");
    request_length = metadata_add(request, request_length, "x-bin", "AAEC");
    call *call = call_open_with(peer, rig_paths[METHOD_HOLD], 0, request, request_length);
    REQUIRE(call != NULL);
    UNTIL(rig, rig->server_call_count == 1);
    struct call *server = rig_server_call(rig);
    EXPECT(metadata_has(server->head, server->head_length, "x-one", "1"));
    EXPECT(metadata_has(server->head, server->head_length, "x-one", "2"));
    EXPECT(metadata_has(server->head, server->head_length, "x-bin", "AAEC"));
    EXPECT(metadata_has(server->head, server->head_length, "user-agent", "grpc-vestibule/1"));
    EXPECT_EQUAL(metadata_count(server->head, server->head_length), 4);
    EXPECT_EQUAL(call_send_headers(server, head, metadata_add(head, 0, "x-head", "h")), CRPC_OK);
    EXPECT_EQUAL(call_send_text(server, "m"), CRPC_OK);
    crpc_status status = {.metadata = trailing, .metadata_length = metadata_add(trailing, 0, "x-tail", "t")};
    EXPECT_EQUAL(call_finish_with(server, &status), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT(metadata_has(call->head, call->head_length, "x-head", "h"));
    EXPECT_EQUAL(metadata_count(call->head, call->head_length), 1);
    EXPECT(metadata_has(call->trailers, call->trailers_length, "x-tail", "t"));
    EXPECT_EQUAL(metadata_count(call->trailers, call->trailers_length), 1);
    rig_end(rig);
}

TEST(metadata_that_may_not_be_sent_is_refused_and_nothing_happens) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    static const char *const entries[][2] = {
        {"Upper", "x"}, {"grpc-status", "0"}, {":path", "/"}, {"te", "x"}, {"name", "line\nbreak"}, {"", "x"}};
    uint8_t block[128];
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        size_t length = metadata_add(block, metadata_add(block, 0, "x-good", "1"), entries[i][0], entries[i][1]);
        EXPECT(call_open_with(peer, rig_paths[METHOD_HOLD], 0, block, length) == NULL);
        EXPECT_EQUAL(rig->last_error, CRPC_ERROR_ARGUMENT);
    }
    size_t length = metadata_add(block, 0, "x-good", "1");
    EXPECT(call_open_with(peer, rig_paths[METHOD_HOLD], 0, block, length - 1) == NULL); // cut short
    EXPECT_EQUAL(rig->last_error, CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(crpc_connection_stream_count(peer->connection), 0);
    call *call = call_open(peer, METHOD_HOLD, 0);
    UNTIL(rig, rig->server_call_count == 1);
    struct call *server = rig_server_call(rig);
    length = metadata_add(block, 0, "Upper", "x");
    EXPECT_EQUAL(call_send_headers(server, block, length), CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(call_send_headers(server, NULL, 0), CRPC_OK);
    EXPECT_EQUAL(call_finish(server, 0, ""), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    rig_end(rig);
}

TEST(nothing_is_sent_after_the_end_of_a_half) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    EXPECT_EQUAL(call_send_text(call, "late"), CRPC_ERROR_CLOSED);
    EXPECT_EQUAL(call_half_close(call), CRPC_ERROR_CLOSED);
    EXPECT(!crpc_stream_is_writable(call->stream));
    UNTIL(rig, rig->server_call_count == 1);
    struct call *server = rig_server_call(rig);
    EXPECT_EQUAL(call_send_headers(server, NULL, 0), CRPC_OK);
    EXPECT_EQUAL(call_send_headers(server, NULL, 0), CRPC_ERROR_CLOSED);
    EXPECT_EQUAL(call_finish(server, 3, "first"), CRPC_OK);
    EXPECT_EQUAL(call_finish(server, 4, "second"), CRPC_ERROR_CLOSED);
    EXPECT_EQUAL(call_send_text(server, "late"), CRPC_ERROR_CLOSED);
    EXPECT(!crpc_stream_is_writable(server->stream));
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 3);
    EXPECT_TEXT(call->text, call->text_length, "first");
    EXPECT_EQUAL(call->messages, 0);
    rig_end(rig);
}

TEST(many_calls_share_a_connection) {
    enum { COUNT = 300 };
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    for (int round = 0; round < 3; round++) {
        call *calls[COUNT];
        char texts[COUNT][8];
        for (int i = 0; i < COUNT; i++) {
            (void)snprintf(texts[i], sizeof texts[i], "%d", i);
            calls[i] = call_unary(peer, METHOD_UNARY, texts[i]);
        }
        for (int i = 0; i < COUNT; i++) {
            UNTIL(rig, calls[i]->closes == 1);
            EXPECT_EQUAL(calls[i]->status, 0);
            EXPECT_TEXT(calls[i]->received, calls[i]->received_length, texts[i]);
        }
    }
    EXPECT_EQUAL(rig->server_call_count, 3 * COUNT);
    rig_end(rig);
}

TEST(calls_over_the_peers_stream_limit_wait_their_turn) {
    rig_setup setup = rig_defaults();
    setup.server.streams_max = 2;
    rig *rig = rig_start(&setup);
    peer *peer = rig_open(rig);
    call *calls[5];
    for (int i = 0; i < 5; i++) {
        EXPECT_EQUAL(crpc_connection_has_room(peer->connection), i < 2);
        calls[i] = call_unary(peer, METHOD_HOLD, "x");
    }
    UNTIL(rig, rig->server_call_count == 2);
    rig_run_ms(rig, 20);
    EXPECT_EQUAL(rig->server_call_count, 2);
    for (size_t i = 0; i < 5; i++) {
        UNTIL(rig, rig->server_call_count > i);
        EXPECT_EQUAL(call_finish(rig->server_calls[i], 0, ""), CRPC_OK);
        UNTIL(rig, calls[i]->closes == 1);
        EXPECT_EQUAL(calls[i]->status, 0);
    }
    EXPECT(crpc_connection_has_room(peer->connection));
    rig_end(rig);
}

TEST(addresses_are_told_in_digits) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    char wanted[CRPC_ADDRESS_LENGTH];
    (void)snprintf(wanted, sizeof wanted, "127.0.0.1:%u", rig->port);
    const char *address = crpc_connection_peer(peer->connection);
    EXPECT_TEXT(address, strlen(address), wanted);
    EXPECT(strncmp(crpc_connection_peer(rig_server_peer(rig)->connection), "127.0.0.1:", 10) == 0);
    EXPECT(!crpc_connection_is_encrypted(peer->connection));
    EXPECT_EQUAL(crpc_listener_connection_count(rig->listener), 1);
    rig_end(rig);
}

TEST(calls_go_over_ipv6_too) {
    rig_setup setup = rig_defaults();
    setup.address = "::1";
    rig *rig = NULL;
    if (rig_try_start(&setup, &rig) == CRPC_ERROR_SYSTEM) return; // a machine without IPv6
    REQUIRE(rig != NULL);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_UNARY, "six");
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT(strncmp(crpc_connection_peer(rig_server_peer(rig)->connection), "[::1]:", 6) == 0);
    rig_end(rig);
}
