#include "raw.h"

#include <stdio.h>

// What is held of requests: messages that no handler reads, metadata, whole messages of calls that are being answered.

enum { SMALL = 6, IN_FRAME = 16380 / SMALL }; // a message of one byte with its prefix, and how many go into a frame

/// Handlers that read only what the test says.
static void read_nothing(call *call, rig_event event) {
    if (event == EVENT_CALL && call->method == METHOD_HOLD) call_consume_manually(call);
}

static rig *start(rig_setup setup) {
    rig *rig = rig_start(&setup);
    rig->react = read_nothing;
    return rig;
}

static rig_setup with_bound(uint32_t bytes_max) {
    rig_setup setup = rig_defaults();
    setup.server.buffered_bytes_max = bytes_max;
    return setup;
}

static void send_small_messages(raw *raw, int32_t id, int count) {
    static uint8_t frame[IN_FRAME * SMALL];
    for (int i = 0; i < IN_FRAME; i++) memcpy(frame + i * SMALL, "\0\0\0\0\1x", SMALL);
    for (; count > 0; count -= IN_FRAME)
        raw_send_data(raw, 0, id, frame, (size_t)(count < IN_FRAME ? count : IN_FRAME) * SMALL);
}

static void expect_service(peer *peer) {
    uint64_t begin = now_ms();
    call *call = call_unary(peer, METHOD_UNARY, "a bystander");
    UNTIL(peer->rig, call->closes == 1);
    EXPECT_EQUAL(call->status, CRPC_STATUS_OK);
    EXPECT(now_ms() - begin < 1000);
}

TEST(messages_that_nobody_reads_are_counted_with_what_they_take) {
    rig *rig = start(with_bound(24 << 20));
    raw *raw = raw_connect(rig);
    for (int32_t id = 1; id <= 3; id += 2) {
        raw_send_request(raw, 0, id, rig_paths[METHOD_HOLD], NULL, NULL);
        send_small_messages(raw, id, 1000);
    }
    UNTIL(rig, rig->server_call_count == 2 && rig->server_calls[1]->messages == 1000);
    const crpc_connection *connection = rig_server_peer(rig)->connection;
    EXPECT_EQUAL(connection->held.bytes, 2 * 1000 * (1 + CRPC_MESSAGE_OVERHEAD));
    EXPECT_EQUAL(rig->loop->turn.stats.held_bytes, connection->held.bytes);
    for (int i = 0; i < 400; i++) call_consume(rig->server_calls[0], 1);
    EXPECT_EQUAL(connection->held.bytes, 1600 * (1 + CRPC_MESSAGE_OVERHEAD));
    raw_send_reset(raw, 1, NGHTTP2_CANCEL);
    UNTIL(rig, rig->server_calls[0]->closes == 1);
    EXPECT_EQUAL(connection->held.bytes, 1000 * (1 + CRPC_MESSAGE_OVERHEAD));
    for (int i = 0; i < 1001; i++) call_consume(rig->server_calls[1], 1); // once too often
    EXPECT_EQUAL(connection->held.bytes, 0);
    raw_free(raw);
    rig_end(rig);
}

static size_t most_held;
static void watch_what_is_held(call *call, rig_event event) {
    read_nothing(call, event);
    const crpc_connection *connection = call->peer->connection;
    if (connection->h2.is_server && connection->held.bytes > most_held) most_held = connection->held.bytes;
}

TEST(a_crowd_of_small_messages_is_bounded_and_others_are_served) {
    enum { BOUND = 1 << 20, STREAMS = 60 };
    rig *rig = start(with_bound(BOUND));
    rig->react = watch_what_is_held;
    peer *bystander = rig_open(rig);
    raw *raw = raw_connect(rig);
    for (int32_t id = 1; id < 2 * STREAMS; id += 2) {
        raw_send_request(raw, 0, id, rig_paths[METHOD_HOLD], NULL, NULL);
        send_small_messages(raw, id, IN_FRAME);
    }
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 2 * STREAMS - 1) != NULL);
    EXPECT(!raw->has_ended);
    EXPECT(most_held > BOUND / 2 && most_held <= BOUND + 2 * (1 + CRPC_MESSAGE_OVERHEAD));
    int refused = 0;
    for (int32_t id = 1; id < 2 * STREAMS; id += 2) {
        const raw_frame *end = raw_find_end(raw, id);
        if (end == NULL) continue;
        refused += 1;
        EXPECT(raw_frame_has(end, "grpc-status", "8"));
    }
    EXPECT(refused >= STREAMS - 4);
    expect_service(bystander);
    // On the same connection, too: who was refused is held no more.
    raw_send_request(raw, 0, 999, rig_paths[METHOD_UNARY], NULL, NULL);
    raw_send_message(raw, NGHTTP2_FLAG_END_STREAM, 999, "x");
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 999) != NULL);
    EXPECT(raw_frame_has(raw_find_end(raw, 999), "grpc-status", "0"));
    raw_free(raw);
    rig_end(rig);
}

TEST(a_client_with_slow_handlers_waits_and_loses_nothing) {
    enum { CALLS = 8, MESSAGES = 100, LENGTH = 1000, BOUND = 300000 };
    static const uint8_t bytes[LENGTH];
    rig_setup setup = with_bound(BOUND);
    setup.server.connection_window_bytes = 100000;
    rig *rig = start(setup);
    rig->react = watch_what_is_held;
    most_held = 0;
    peer *slow = rig_open(rig), *bystander = rig_open(rig);
    call *calls[CALLS];
    for (int i = 0; i < CALLS; i++) {
        calls[i] = call_open(slow, METHOD_HOLD, 0);
        for (int sent = 0; sent < MESSAGES; sent++) EXPECT_EQUAL(call_send(calls[i], bytes, LENGTH), CRPC_OK);
    }
    unsigned before = 0, after = 1;
    uint64_t start = now_ms();
    for (; (after == 0 || after != before) && now_ms() - start < RIG_PATIENCE_MS; rig_run_ms(rig, 50)) {
        before = after;
        after = 0;
        for (size_t i = 0; i < rig->server_call_count; i++) after += rig->server_calls[i]->messages;
    }
    EXPECT(most_held > BOUND / 2 && most_held <= BOUND);
    EXPECT(before < CALLS * MESSAGES); // the rest waits at the client
    EXPECT_EQUAL(after, before);
    expect_service(bystander);
    unsigned taken[CALLS] = {0}, all = 0;
    uint64_t begin = now_ms();
    while (all < CALLS * MESSAGES && now_ms() - begin < RIG_PATIENCE_MS) {
        for (size_t i = 0; i < CALLS && i < rig->server_call_count; i++) {
            if (taken[i] == rig->server_calls[i]->messages) continue;
            call_consume(rig->server_calls[i], LENGTH);
            taken[i] += 1;
            all += 1;
        }
        rig_turn(rig);
    }
    EXPECT_EQUAL(all, CALLS * MESSAGES);
    for (int i = 0; i < CALLS; i++) EXPECT_EQUAL(calls[i]->closes, 0);
    const crpc_connection *connection = rig->server_calls[0]->peer->connection;
    EXPECT_EQUAL(connection->held.withheld_bytes, 0);
    for (int i = 0; i < CALLS; i++) EXPECT_EQUAL(call_finish(rig->server_calls[i], 0, ""), CRPC_OK);
    for (int i = 0; i < CALLS; i++) UNTIL(rig, calls[i]->closes == 1);
    UNTIL(rig, connection->held.bytes == 0);
    rig_end(rig);
}

TEST(the_window_comes_back_however_calls_end) {
    rig_setup setup = with_bound(100000);
    setup.server.connection_window_bytes = 65535;
    rig *rig = start(setup);
    peer *peer = rig_open(rig);
    static const uint8_t bytes[10000];
    for (int round = 0; round < 20; round++) { // each of them would use up the window
        call *call = call_open(peer, METHOD_HOLD, 0);
        for (int i = 0; i < 9; i++) EXPECT_EQUAL(call_send(call, bytes, sizeof bytes), CRPC_OK);
        UNTIL(rig, rig->server_call_count == (size_t)round + 1 && rig_server_call(rig)->messages == 9);
        EXPECT(rig_server_peer(rig)->connection->held.withheld_bytes > 0);
        if (round % 2 == 0) {
            call_reset(call, NGHTTP2_CANCEL);
        } else {
            EXPECT_EQUAL(call_finish(rig_server_call(rig), 0, ""), CRPC_OK);
        }
        UNTIL(rig, call->closes == 1 && rig_server_call(rig)->closes == 1);
        UNTIL(rig, rig_server_peer(rig)->connection->held.withheld_bytes == 0);
    }
    rig_end(rig);
}

TEST(handlers_that_do_not_read_give_way_in_time_where_others_wait) {
    rig_setup setup = with_bound(100000);
    setup.server.answer_stall_timeout_ms = 200;
    rig *rig = start(setup);
    raw *raw = raw_connect(rig);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_SETTINGS, 0) != NULL); // whose windows hold from there on
    rig_run_ms(rig, 10);
    static uint8_t message[CRPC_PREFIX_LENGTH + 10000];
    crpc_prefix_write(message, false, 10000);
    for (int32_t id = 1; id <= 3; id += 2) raw_send_request(raw, 0, id, rig_paths[METHOD_HOLD], NULL, NULL);
    raw_send_data(raw, 0, 1, message, sizeof message);
    rig_run_ms(rig, 500);
    EXPECT_EQUAL(rig->server_calls[0]->closes, 0); // little is held: it may wait
    for (int i = 0; i < 6; i++) raw_send_data(raw, 0, 1, message, sizeof message);
    uint64_t begin = now_ms();
    while (rig->server_calls[0]->closes == 0 && now_ms() - begin < 2000) {
        raw_send_message(raw, 0, 3, "x");
        rig_run_ms(rig, 20);
        call_consume(rig->server_calls[1], 1);
    }
    EXPECT(raw_read(raw) && raw_frame_has(raw_find_end(raw, 1), "grpc-status", "8"));
    EXPECT_EQUAL(rig->server_calls[1]->closes, 0); // it reads
    raw_free(raw);
    rig_end(rig);
}

TEST(metadata_is_counted_and_not_kept_twice) {
    rig *rig = start(with_bound(100000));
    raw *raw = raw_connect(rig);
    static char value[12001];
    memset(value, 'v', sizeof value - 1);
    for (int32_t id = 1; id < 40; id += 2) raw_send_request(raw, 0, id, rig_paths[METHOD_HOLD], "x-big", value);
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 39) != NULL);
    EXPECT_EQUAL(rig->server_call_count, 9);
    EXPECT(raw_frame_has(raw_find_end(raw, 39), "grpc-status", "8"));
    const crpc_connection *connection = rig_server_peer(rig)->connection;
    EXPECT_EQUAL(connection->held.bytes, 9 * rig->server_calls[0]->head_length);
    for (size_t i = 0; i < 9; i++) {
        EXPECT(metadata_has(rig->server_calls[i]->head, rig->server_calls[i]->head_length, "x-big", value));
        EXPECT_EQUAL(rig->server_calls[i]->stream->block_capacity, 0);
    }
    // Nor are trailers of a request.
    raw_entry trailers[] = {{"x-big", value}};
    raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 1, trailers, 1);
    UNTIL(rig, rig->server_calls[0]->half_closes == 1);
    EXPECT_EQUAL(rig->server_calls[0]->stream->block_capacity, 0);
    for (size_t i = 0; i < 9; i++) EXPECT_EQUAL(call_finish(rig->server_calls[i], 0, ""), CRPC_OK);
    UNTIL(rig, rig->listener->service.call_count == 0);
    EXPECT_EQUAL(connection->held.bytes, 0);
    raw_free(raw);
    rig_end(rig);
}

static int kept;
static void keep_messages(call *call, rig_event event) {
    if (event != EVENT_MESSAGE || call->is_last_told) return;
    call->rig->api_depth += 1;
    kept += crpc_stream_keep(call->stream, call->received_length) == CRPC_OK;
    call->rig->api_depth -= 1;
}

TEST(requests_of_calls_that_are_being_answered_are_counted) {
    enum { LENGTH = 10000, BOUND = 10 * LENGTH };
    static uint8_t message[CRPC_PREFIX_LENGTH + LENGTH];
    crpc_prefix_write(message, false, LENGTH);
    for (int is_last = 0; is_last < 2; is_last++) { // with the first, the callee waits for the end
        rig *rig = start(with_bound(BOUND));
        rig->react = keep_messages;
        kept = 0;
        raw *raw = raw_connect(rig);
        for (int32_t id = 1; id < 40; id += 2) {
            raw_send_request(raw, 0, id, rig_paths[METHOD_HOLD], NULL, NULL);
            raw_send_data(raw, is_last ? NGHTTP2_FLAG_END_STREAM : 0, id, message, sizeof message);
        }
        UNTIL(rig, raw_read(raw) && raw_find_end(raw, 39) != NULL);
        const crpc_connection *connection = rig_server_peer(rig)->connection;
        EXPECT_EQUAL(connection->held.bytes, 11 * LENGTH); // the one that went past it was taken
        if (!is_last) EXPECT_EQUAL(kept, 11);
        EXPECT(raw_frame_has(raw_find_end(raw, 39), "grpc-status", "8"));
        raw_send_reset(raw, 1, NGHTTP2_CANCEL);
        UNTIL(rig, rig->server_calls[0]->closes == 1);
        EXPECT_EQUAL(connection->held.bytes, 10 * LENGTH);
        raw_free(raw);
        rig_end(rig);
    }
}

TEST(a_loop_that_holds_much_lets_each_client_have_its_share) {
    static const uint8_t no_window[] = {0, 4, 0, 0, 0, 0};
    static uint8_t bytes[100000];
    rig_setup setup = rig_defaults();
    setup.held_bytes_max = 1000000;
    rig *rig = rig_start(&setup);
    peer *bystander = rig_open(rig);
    raw *greedy[2];
    int taken = 0, refused = 0;
    for (int i = 0; i < 2; i++) {
        greedy[i] = raw_connect(rig);
        raw_send_frame(greedy[i], NGHTTP2_SETTINGS, 0, 0, no_window, sizeof no_window);
        for (int32_t id = 1; id < 40; id += 2)
            raw_send_request(greedy[i], NGHTTP2_FLAG_END_STREAM, id, rig_paths[METHOD_HOLD], NULL, NULL);
        size_t before = rig->server_call_count;
        UNTIL(rig, rig->server_call_count >= before + 20 || (raw_read(greedy[i]) && raw_find_end(greedy[i], 39)));
        for (size_t k = before; k < rig->server_call_count; k++) {
            bool is_taken = call_send(rig->server_calls[k], bytes, sizeof bytes) == CRPC_OK;
            taken += is_taken;
            refused += !is_taken;
        }
    }
    EXPECT(refused > 0);
    EXPECT(taken >= 5 && taken < 10);
    EXPECT(rig->loop->turn.stats.held_bytes > 500000 && rig->loop->turn.stats.held_bytes <= 1000000);
    for (int i = 0; i < 20; i++) expect_service(bystander);
    // One that holds little may also hold a large answer.
    call *call = call_unary(bystander, METHOD_HOLD, "x");
    size_t count = rig->server_call_count;
    UNTIL(rig, rig->server_call_count > count);
    EXPECT_EQUAL(call_send(rig_server_call(rig), bytes, sizeof bytes), CRPC_OK);
    EXPECT_EQUAL(call_finish(rig_server_call(rig), 0, ""), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->received_length, sizeof bytes);
    for (int i = 0; i < 2; i++) raw_free(greedy[i]);
    rig_end(rig);
}

/// Connections that hold nothing count where shares are made, and anybody can open them.
TEST(idle_connections_leave_others_room_for_a_call) {
    enum { IDLE = 40, CALLS = 20, LENGTH = 100000 };
    rig_setup setup = rig_defaults();
    setup.held_bytes_max = 4 << 20;
    rig *rig = rig_start(&setup);
    peer *honest = rig_open(rig);
    raw *greedy = raw_connect(rig), *idle[IDLE];
    static const uint8_t no_window[] = {0, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0, 0, 0, 0};
    raw_send_frame(greedy, NGHTTP2_SETTINGS, 0, 0, no_window, sizeof no_window);
    for (int32_t id = 1; id < 2 * CALLS; id += 2)
        raw_send_request(greedy, NGHTTP2_FLAG_END_STREAM, id, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == CALLS);
    static uint8_t answer[160000];
    for (int i = 0; i < CALLS; i++) (void)call_send(rig->server_calls[i], answer, sizeof answer);
    for (int i = 0; i < IDLE; i++) idle[i] = raw_connect(rig);
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == IDLE + 2);
    EXPECT(rig->loop->turn.stats.held_bytes > setup.held_bytes_max / 2);
    static char text[LENGTH];
    memset(text, 'x', LENGTH);
    call *call = call_open(honest, METHOD_UNARY, 0);
    EXPECT_EQUAL(call_send(call, text, LENGTH), 0);
    call_half_close(call);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    for (int i = 0; i < IDLE; i++) raw_free(idle[i]);
    raw_free(greedy);
    rig_end(rig);
}

/// A stream may live for as long as its client likes.
TEST(a_stream_keeps_no_room_of_a_message_that_was_handed_on) {
    enum { LENGTH = 200000 };
    rig_setup setup = rig_defaults();
    rig *rig = rig_start(&setup);
    peer *peer = rig_open(rig);
    call *call = call_open(peer, METHOD_STREAM, 0);
    static char text[LENGTH];
    EXPECT_EQUAL(call_send(call, text, LENGTH), 0);
    UNTIL(rig, rig->server_call_count == 1 && rig->server_calls[0]->messages == 1);
    EXPECT(rig->server_calls[0]->stream->deframer.capacity <= 4096);
    EXPECT_EQUAL(rig->loop->turn.stats.held_bytes, rig->server_calls[0]->stream->in.kept_bytes);
    call_half_close(call);
    UNTIL(rig, call->closes == 1);
    rig_end(rig);
}
