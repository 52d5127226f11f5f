#include "raw.h"

#include <stdio.h>

// What a peer can make us hold by taking nothing, or by sending nothing to its end: bounded in bytes and in time.

static const uint8_t no_window[] = {0, 4, 0, 0, 0, 0};
static uint8_t bytes[100000];

static rig_setup with_buffer(uint32_t bytes_max) {
    rig_setup setup = rig_defaults();
    setup.server.buffered_bytes_max = bytes_max;
    return setup;
}

/// A client that gives streams no window, with so many calls.
static raw *connect_without_window(rig *rig, int32_t calls) {
    raw *raw = raw_connect(rig);
    raw_send_frame(raw, NGHTTP2_SETTINGS, 0, 0, no_window, sizeof no_window);
    for (int32_t i = 0; i < calls; i++)
        raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, 2 * i + 1, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == (size_t)calls);
    return raw;
}

TEST(answers_that_wait_for_a_window_are_bounded_in_bytes) {
    rig_setup setup = with_buffer(250000);
    rig *rig = rig_start(&setup);
    raw *raw = connect_without_window(rig, 20);
    size_t taken = 0;
    for (size_t i = 0; i < 20; i++) {
        int error = call_send(rig->server_calls[i], bytes, sizeof bytes);
        EXPECT(error == (i < 3 ? CRPC_OK : CRPC_ERROR_LIMIT));
        taken += error == CRPC_OK;
        if (error == CRPC_OK) EXPECT_EQUAL(call_finish(rig->server_calls[i], 0, ""), CRPC_OK);
    }
    EXPECT_EQUAL(taken, 3);
    EXPECT(rig_server_peer(rig)->connection->held.bytes < 250000 + 2 * sizeof bytes);
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 39) != NULL);
    for (int32_t id = 7; id <= 39; id += 2) EXPECT(raw_frame_has(raw_find_end(raw, id), "grpc-status", "8"));
    // And calls that begin now do not become any.
    raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, 41, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 41) != NULL);
    EXPECT(raw_frame_has(raw_find_end(raw, 41), "grpc-status", "8"));
    EXPECT_EQUAL(rig->server_call_count, 20);
    // Once the client takes what is there, all is as before.
    for (int32_t id = 1; id <= 5; id += 2) raw_send_window_update(raw, id, 1 << 20);
    raw_send_window_update(raw, 0, 1 << 20);
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) && raw_find_end(raw, 3) && raw_find_end(raw, 5));
    EXPECT_EQUAL(raw_data_length(raw, 1), sizeof bytes + CRPC_PREFIX_LENGTH);
    EXPECT_EQUAL(rig_server_peer(rig)->connection->held.bytes, 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(what_is_held_is_counted_down_however_a_call_ends) {
    rig_setup setup = with_buffer(1 << 20);
    rig *rig = rig_start(&setup);
    raw *raw = connect_without_window(rig, 3);
    const crpc_connection *connection = rig_server_peer(rig)->connection;
    for (size_t i = 0; i < 3; i++) EXPECT_EQUAL(call_send(rig->server_calls[i], bytes, 1000), CRPC_OK);
    raw_send_request(raw, 0, 7, rig_paths[METHOD_HOLD], NULL, NULL);
    raw_send_data(raw, 0, 7, "\0\0\0\1\0half", 9);
    UNTIL(rig, rig->server_call_count == 4 && connection->held.bytes == 3 * 1005 + 9);
    call_reset(rig->server_calls[0], NGHTTP2_CANCEL);
    EXPECT_EQUAL(connection->held.bytes, 2 * 1005 + 9);
    raw_send_reset(raw, 3, NGHTTP2_CANCEL);
    UNTIL(rig, rig->server_calls[1]->closes == 1);
    EXPECT_EQUAL(connection->held.bytes, 1005 + 9);
    raw_send_reset(raw, 7, NGHTTP2_CANCEL);
    UNTIL(rig, rig->server_calls[3]->closes == 1);
    EXPECT_EQUAL(connection->held.bytes, 1005);
    raw_send_window_update(raw, 5, 1000);
    UNTIL(rig, raw_read(raw) && connection->held.bytes == 5);
    raw_free(raw);
    rig_end(rig);
}

TEST(messages_that_are_not_whole_are_bounded_in_bytes) {
    rig_setup setup = with_buffer(100000);
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    static uint8_t part[CRPC_PREFIX_LENGTH + 10000];
    crpc_prefix_write(part, false, 20000);
    for (int32_t id = 1; id <= 39; id += 2) {
        raw_send_request(raw, 0, id, rig_paths[METHOD_UNARY], NULL, NULL);
        raw_send_data(raw, 0, id, part, sizeof part);
    }
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 39) != NULL);
    const crpc_connection *connection = rig_server_peer(rig)->connection;
    EXPECT(connection->held.bytes <= 100000 + sizeof part);
    EXPECT(raw_frame_has(raw_find_end(raw, 39), "grpc-status", "8"));
    EXPECT(raw_find_end(raw, 1) == NULL);
    // Those that were begun in time go on as long as others do not add to them.
    for (int32_t id = 3; id <= 5; id += 2) raw_send_reset(raw, id, NGHTTP2_CANCEL); // the whole message counts, too
    raw_send_data(raw, NGHTTP2_FLAG_END_STREAM, 1, part + CRPC_PREFIX_LENGTH, 10000);
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL);
    EXPECT(raw_frame_has(raw_find_end(raw, 1), "grpc-status", "0"));
    raw_free(raw);
    rig_end(rig);
}

TEST(an_answer_that_nobody_takes_is_given_up) {
    rig_setup setup = rig_defaults();
    setup.server.answer_stall_timeout_ms = 200;
    rig *rig = rig_start(&setup);
    raw *raw = connect_without_window(rig, 4);
    for (size_t i = 0; i < 4; i++) EXPECT_EQUAL(call_send(rig->server_calls[i], bytes, i < 3 ? 1000 : 60000), CRPC_OK);
    for (size_t i = 0; i < 4; i++)
        if (i != 2) EXPECT_EQUAL(call_finish(rig->server_calls[i], 0, ""), CRPC_OK);
    // The first is not taken, the second by less than the least; the third has not ended, so that it may wait; the fourth is
    // taken slowly.
    uint64_t start = now_ms();
    for (int i = 0; i < 12; i++) {
        raw_send_window_update(raw, 3, 10);
        raw_send_window_update(raw, 7, CRPC_STREAM_PROGRESS_MIN);
        rig_run_ms(rig, 40);
        if (rig->server_calls[0]->closes == 0) EXPECT(now_ms() - start < 400);
    }
    for (size_t i = 0; i < 2; i++) {
        EXPECT_EQUAL(rig->server_calls[i]->closes, 1);
        EXPECT_EQUAL(rig->server_calls[i]->error, NGHTTP2_CANCEL);
        const raw_frame *reset = raw_read(raw) ? raw_find(raw, NGHTTP2_RST_STREAM, 1 + 2 * (int32_t)i) : NULL;
        EXPECT_EQUAL(raw_error(reset), NGHTTP2_CANCEL);
    }
    EXPECT_EQUAL(rig->server_calls[2]->closes, 0);
    EXPECT_EQUAL(rig->server_calls[3]->closes, 0);
    UNTIL(rig, rig->server_calls[3]->closes == 1);
    EXPECT_EQUAL(rig->server_calls[2]->closes, 0);
    EXPECT(!raw->has_ended);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_stream_that_is_full_and_not_taken_is_given_up) {
    rig_setup setup = rig_defaults();
    setup.server.answer_stall_timeout_ms = 200;
    rig *rig = rig_start(&setup);
    raw *raw = connect_without_window(rig, 4);
    // None of them has ended. Over the high-water mark the first is not taken, the second by less than the least, the fourth
    // slowly; the third has little.
    for (size_t i = 0; i < 4; i++) EXPECT_EQUAL(call_send(rig->server_calls[i], bytes, i != 2 ? 70000 : 1000), CRPC_OK);
    uint64_t start = now_ms();
    for (int i = 0; rig->server_calls[0]->closes + rig->server_calls[1]->closes < 2 && now_ms() - start < 1000; i++) {
        raw_send_window_update(raw, 3, 10);
        if (i < 12) raw_send_window_update(raw, 7, CRPC_STREAM_PROGRESS_MIN);
        rig_run_ms(rig, 40);
    }
    for (size_t i = 0; i < 2; i++) {
        EXPECT_EQUAL(rig->server_calls[i]->closes, 1);
        EXPECT_EQUAL(rig->server_calls[i]->error, NGHTTP2_CANCEL);
    }
    EXPECT_EQUAL(rig->server_calls[3]->closes, 0);
    UNTIL(rig, rig->server_calls[3]->closes == 1);
    EXPECT_EQUAL(rig->server_calls[2]->closes, 0);
    EXPECT_EQUAL(rig->loop->turn.stats.held_bytes, 1005);
    raw_free(raw);
    rig_end(rig);
}

TEST(an_answer_that_waits_for_the_socket_is_not_given_up) {
    rig_setup setup = with_buffer(64 << 20);
    setup.server.answer_stall_timeout_ms = 200;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    static const uint8_t window[] = {0, 4, 0x7f, 0xff, 0xff, 0xff};
    raw_send_frame(raw, NGHTTP2_SETTINGS, 0, 0, window, sizeof window);
    raw_send_window_update(raw, 0, 0x7fff0000);
    for (int32_t id = 1; id <= 3; id += 2)
        raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, id, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == 2);
    static uint8_t megabyte[1 << 20];
    for (size_t i = 0; i < 2; i++) {
        for (int j = 0; j < 12; j++) EXPECT_EQUAL(call_send(rig->server_calls[i], megabyte, sizeof megabyte), CRPC_OK);
        EXPECT_EQUAL(call_finish(rig->server_calls[i], 0, ""), CRPC_OK);
    }
    rig_run_ms(rig, 900); // the client takes nothing, as one whose link is slow while the kernel has much for it
    EXPECT(rig_server_peer(rig)->connection->h2.remote.is_blocked);
    for (size_t i = 0; i < 2; i++) REQUIRE(rig->server_calls[i]->closes == 0);
    for (uint64_t start = now_ms(); rig->server_calls[0]->closes + rig->server_calls[1]->closes < 2;) {
        (void)recv(raw->fd, megabyte, sizeof megabyte, 0);
        rig_turn(rig);
        REQUIRE(now_ms() - start < RIG_PATIENCE_MS);
    }
    for (size_t i = 0; i < 2; i++) EXPECT_EQUAL(rig->server_calls[i]->error, 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(small_answers_are_counted_with_what_they_take) {
    rig *rig = rig_start(NULL);
    raw *raw = connect_without_window(rig, 1);
    for (int i = 0; i < 100; i++) EXPECT_EQUAL(call_send(rig->server_calls[0], "x", 1), CRPC_OK);
    EXPECT_EQUAL(rig->loop->turn.stats.held_bytes, 100 * 6 + 99 * CRPC_MESSAGE_OVERHEAD);
    EXPECT_EQUAL(rig->server_calls[0]->stream->out.queued_bytes, 600);
    raw_send_window_update(raw, 1, 300);
    UNTIL(rig, raw_read(raw) && raw_data_length(raw, 1) == 300);
    EXPECT_EQUAL(rig->loop->turn.stats.held_bytes, 300 + 50 * CRPC_MESSAGE_OVERHEAD);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_message_must_be_whole_in_time) {
    rig_setup setup = rig_defaults();
    setup.server.message_timeout_ms = 200;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    for (int32_t id = 1; id <= 5; id += 2) raw_send_request(raw, 0, id, rig_paths[METHOD_STREAM], NULL, NULL);
    raw_send_data(raw, 0, 1, "\0\0", 2);
    raw_send_data(raw, 0, 3, "\0\0\0\0\12", 5);
    UNTIL(rig, rig->server_call_count == 3);
    uint64_t start = now_ms();
    crpc_stream_consume_manually(rig->server_calls[2]->stream); // as who takes many messages does
    // The second gets a byte now and then; the third is quiet between its messages.
    raw_send_message(raw, 0, 5, "whole");
    for (int i = 0; i < 6; i++) {
        raw_send_data(raw, 0, 3, "x", 1);
        rig_run_ms(rig, 40);
    }
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL && raw_find_end(raw, 3) != NULL);
    EXPECT(now_ms() - start >= 190 && now_ms() - start < 600);
    EXPECT(raw_frame_has(raw_find_end(raw, 1), "grpc-status", "4"));
    EXPECT(raw_frame_has(raw_find_end(raw, 3), "grpc-status", "4"));
    rig_run_ms(rig, 200);
    EXPECT_EQUAL(rig->server_calls[2]->closes, 0);
    raw_send_message(raw, NGHTTP2_FLAG_END_STREAM, 5, "and another");
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 5) != NULL);
    EXPECT(raw_frame_has(raw_find_end(raw, 5), "grpc-status", "0"));
    raw_free(raw);
    rig_end(rig);
}

TEST(a_client_gives_up_a_message_that_its_server_does_not_finish) {
    rig_setup setup = rig_defaults();
    setup.has_no_listener = true;
    setup.client.message_timeout_ms = 100;
    rig *rig = rig_start(&setup);
    raw *raw = raw_listen(rig);
    peer *peer = rig_connect_to(rig, raw->port);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    raw_accept(raw);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_HEADERS, 1) != NULL);
    static const raw_entry head[] = {{":status", "200"}, {"content-type", "application/grpc"}};
    raw_send_headers(raw, 0, 1, head, 2);
    raw_send_data(raw, 0, 1, "\0\0\0\1\0half", 9);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 4);
    EXPECT(!call->is_from_server);
    UNTIL(rig, peer->connection->held.bytes == 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(answers_that_wait_for_the_socket_are_bounded_in_number) {
    rig_setup setup = rig_defaults();
    setup.server.queued_frames_max = 200;
    setup.server.credit_max = 1 << 20;
    setup.server.ping_interval_min_ms = 0;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    static const uint8_t window[] = {0, 4, 0x7f, 0xff, 0xff, 0xff};
    raw_send_frame(raw, NGHTTP2_SETTINGS, 0, 0, window, sizeof window);
    raw_send_window_update(raw, 0, 0x7fff0000);
    raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, 1, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == 1);
    // The socket is full; the client reads nothing, and resets its own calls by breaking their rules.
    static uint8_t much[1 << 20];
    for (int i = 0; i < 12; i++) EXPECT_EQUAL(call_send(rig_server_call(rig), much, sizeof much), CRPC_OK);
    crpc_connection *connection = rig_server_peer(rig)->connection;
    UNTIL(rig, crpc_driver_of(connection)->out.rest_length > 0);
    for (int32_t id = 3; id < 2 * 900 && crpc_listener_connection_count(rig->listener) == 1; id += 2) {
        raw_send_request(raw, 0, id, rig_paths[METHOD_HOLD], NULL, NULL);
        raw_send_window_update(raw, id, 0x7fffffff);
        if (id % 100 == 1) rig_turn(rig);
    }
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == 0);
    EXPECT(rig->server_call_count < 600);
    raw_free(raw);
    rig_end(rig);
}
