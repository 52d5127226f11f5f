#include "raw.h"

#include <sys/socket.h>

// How calls end when nobody finishes them: deadlines and resets, on each side.

static uint64_t ms_since(uint64_t start) { return now_ms() - start; }

TEST(a_deadline_ends_the_call_on_the_client) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    uint64_t start = now_ms();
    call *call = call_open(peer, METHOD_HOLD, 60);
    EXPECT_EQUAL(call_send_text(call, "x"), CRPC_OK);
    EXPECT_EQUAL(call_half_close(call), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT(ms_since(start) >= 59 && ms_since(start) < 20000);
    EXPECT_EQUAL(call->deadlines, 1);
    EXPECT_EQUAL(call->status, 4);
    EXPECT(!call->is_from_server && !call->is_unprocessed);
    EXPECT(call->text_length > 0);
    struct call *server = rig_server_call(rig);
    UNTIL(rig, server->closes == 1);
    EXPECT_EQUAL(server->error, NGHTTP2_CANCEL);
    rig_end(rig);
}

TEST(a_deadline_travels_to_the_server_and_fires_there) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    uint64_t start = now_ms();
    raw_send_request(raw, 0, 1, rig_paths[METHOD_HOLD], "grpc-timeout", "60m");
    UNTIL(rig, rig->server_call_count == 1);
    call *server = rig_server_call(rig);
    EXPECT(server->deadline_ns > start * 1000000 && server->deadline_ns <= (now_ms() + 61) * 1000000);
    UNTIL(rig, server->deadlines == 1);
    EXPECT(ms_since(start) >= 59 && ms_since(start) < 20000);
    EXPECT_EQUAL(server->closes, 0); // the server answers as it sees fit
    EXPECT_EQUAL(call_finish(server, 4, "too late"), CRPC_OK);
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL && server->closes == 1);
    EXPECT(raw_frame_has(raw_find_end(raw, 1), "grpc-status", "4"));
    rig_run_ms(rig, 20);
    EXPECT_EQUAL(server->deadlines, 1);
    raw_free(raw);
    rig_end(rig);
}

/// A call with a deadline, whose server resets it with CANCEL; `is_late`: the reset is read once the deadline has passed,
/// in the same turn.
static int status_after_reset(uint32_t timeout_ms, bool is_late) {
    rig_setup setup = rig_defaults();
    setup.has_no_listener = true;
    rig *rig = rig_start(&setup);
    raw *raw = raw_listen(rig);
    peer *peer = rig_connect_to(rig, raw->port);
    raw_accept(raw);
    UNTIL(rig, peer->opens == 1);
    call *call = call_open(peer, METHOD_HOLD, timeout_ms);
    uint64_t start = now_ms();
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_HEADERS, 1) != NULL);
    raw_send_reset(raw, 1, NGHTTP2_CANCEL);
    while (is_late && now_ms() - start < timeout_ms + 5) {}
    UNTIL(rig, call->closes == 1);
    int status = call->status;
    EXPECT(!call->is_from_server && call->text_length > 0);
    raw_free(raw);
    rig_end(rig);
    return status;
}

TEST(a_server_that_cancels_at_the_deadline_is_too_late) {
    EXPECT_EQUAL(status_after_reset(1000, true), CRPC_STATUS_DEADLINE_EXCEEDED);
    EXPECT_EQUAL(status_after_reset(60000, false), CRPC_STATUS_CANCELLED);
    EXPECT_EQUAL(status_after_reset(0, false), CRPC_STATUS_CANCELLED);
}

TEST(a_deadline_that_passed_as_the_connection_broke_is_told) {
    rig_setup setup = rig_defaults();
    setup.has_no_listener = true;
    rig *rig = rig_start(&setup);
    raw *raw = raw_listen(rig);
    peer *peer = rig_connect_to(rig, raw->port);
    raw_accept(raw);
    UNTIL(rig, peer->opens == 1);
    uint64_t deadline_ns = crpc_loop_now_ns(rig->loop) + 100000000u;
    call *call = call_open_with(peer, rig_paths[METHOD_HOLD], deadline_ns, NULL, 0);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_HEADERS, 1) != NULL);
    raw_close(raw, false);
    while (crpc_clock_ns() < deadline_ns + 1000000) {} // so that one turn finds both
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->deadlines, 1);
    EXPECT_EQUAL(call->status, CRPC_STATUS_DEADLINE_EXCEEDED);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_timeout_is_sent_as_what_is_left) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_open(peer, METHOD_HOLD, 5000);
    UNTIL(rig, rig->server_call_count == 1);
    uint64_t now = now_ms() * 1000000;
    EXPECT(rig_server_call(rig)->deadline_ns > now + 3000000000u);
    EXPECT(rig_server_call(rig)->deadline_ns < now + 5100000000u);
    // One that has passed is sent as the shortest, and ends at once.
    struct call *past = call_open_with(peer, rig_paths[METHOD_HOLD], 1, NULL, 0);
    UNTIL(rig, past->closes == 1);
    EXPECT_EQUAL(past->status, 4);
    call_reset(call, NGHTTP2_CANCEL);
    UNTIL(rig, call->closes == 1);
    rig_end(rig);
}

TEST(a_finished_call_has_no_deadline_any_more) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_open(peer, METHOD_UNARY, 250);
    EXPECT_EQUAL(call_send_text(call, "x"), CRPC_OK);
    EXPECT_EQUAL(call_half_close(call), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    rig_run_ms(rig, 300);
    EXPECT_EQUAL(call->deadlines, 0);
    EXPECT_EQUAL(rig_server_call(rig)->deadlines, 0);
    rig_end(rig);
}

TEST(a_deadline_ends_a_call_that_waits_for_the_connection) {
    rig_setup setup = rig_defaults();
    setup.has_no_listener = true;
    rig *rig = rig_start(&setup);
    raw *raw = raw_listen(rig);
    // Nobody accepts, and the queue of the kernel is full soon: these connections stay where they are.
    peer *peers[12];
    for (int i = 0; i < 12; i++) peers[i] = rig_connect_to(rig, raw->port);
    call *call = call_open(peers[11], METHOD_UNARY, 50);
    uint64_t start = now_ms();
    UNTIL(rig, call->closes == 1);
    EXPECT(ms_since(start) < 2000);
    EXPECT_EQUAL(call->status, 4);
    EXPECT_EQUAL(call->deadlines, 1);
    raw_free(raw);
    rig_end(rig);
}

/// A client whose server takes nothing off its socket, with a call that waits behind what the socket does not take.
static raw *begin_stalled(rig *rig, peer **result) {
    raw *raw = raw_listen(rig);
    int small = 4096;
    REQUIRE(setsockopt(raw->listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
    peer *peer = rig_connect_to(rig, raw->port);
    raw_accept(raw);
    static const uint8_t window[] = {0, 4, 0x7f, 0xff, 0xff, 0xff};
    raw_send_frame(raw, NGHTTP2_SETTINGS, 0, 0, window, sizeof window);
    raw_send_window_update(raw, 0, 0x7fff0000);
    UNTIL(rig, peer->opens == 1);
    call *call = call_open(peer, METHOD_STREAM, 0);
    static uint8_t bytes[1 << 20];
    for (int i = 0; i < 16; i++) EXPECT_EQUAL(call_send(call, bytes, sizeof bytes), CRPC_OK);
    rig_run_ms(rig, 100); // the kernel makes its buffers larger for a while
    UNTIL(rig, crpc_driver_of(peer->connection)->out.rest_length > 0);
    *result = peer;
    return raw;
}

TEST(a_deadline_ends_a_call_on_a_connection_that_is_stuck) {
    rig_setup setup = rig_defaults();
    setup.has_no_listener = true;
    rig *rig = rig_start(&setup);
    peer *peer;
    raw *raw = begin_stalled(rig, &peer);
    uint64_t start = now_ms();
    call *call = call_open(peer, METHOD_UNARY, 50);
    UNTIL(rig, call->closes == 1);
    EXPECT(ms_since(start) < 2000);
    EXPECT_EQUAL(call->status, 4);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_reset_ends_a_call_on_a_connection_that_is_stuck) {
    rig_setup setup = rig_defaults();
    setup.has_no_listener = true;
    rig *rig = rig_start(&setup);
    peer *peer;
    raw *raw = begin_stalled(rig, &peer);
    call *stuck = rig->client_calls[0];
    call_reset(stuck, NGHTTP2_CANCEL);
    EXPECT_EQUAL(stuck->closes, 0);
    UNTIL(rig, stuck->closes == 1);
    EXPECT_EQUAL(stuck->status, 1);
    EXPECT_EQUAL(peer->closes, 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_client_resets_a_call) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_open(peer, METHOD_HOLD, 0);
    EXPECT_EQUAL(call_send_text(call, "x"), CRPC_OK);
    UNTIL(rig, rig->server_call_count == 1 && rig_server_call(rig)->messages == 1);
    call_reset(call, NGHTTP2_CANCEL);
    EXPECT_EQUAL(call->closes, 0); // not from inside
    EXPECT_EQUAL(call_send_text(call, "late"), CRPC_ERROR_CLOSED);
    EXPECT_EQUAL(call_half_close(call), CRPC_ERROR_CLOSED);
    call_reset(call, NGHTTP2_INTERNAL_ERROR); // the first counts
    rig_turn(rig);
    EXPECT_EQUAL(call->closes, 1);
    EXPECT_EQUAL(call->status, 1);
    EXPECT(!call->is_from_server && !call->is_unprocessed);
    UNTIL(rig, rig_server_call(rig)->closes == 1);
    EXPECT_EQUAL(rig_server_call(rig)->error, NGHTTP2_CANCEL);
    rig_end(rig);
}

TEST(a_call_reset_before_it_was_sent_is_cancelled_and_not_to_be_tried_again) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    call_reset(call, NGHTTP2_CANCEL);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 1);
    EXPECT(!call->is_unprocessed);
    rig_run_ms(rig, 10);
    EXPECT_EQUAL(rig->server_call_count, 0);
    rig_end(rig);
}

TEST(a_call_reset_while_connecting_ends_in_this_turn_or_the_next) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_connect(rig);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    call_reset(call, NGHTTP2_CANCEL);
    EXPECT_EQUAL(call->closes, 0);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 1);
    struct call *next = call_unary(peer, METHOD_UNARY, "next");
    UNTIL(rig, next->closes == 1);
    EXPECT_EQUAL(next->status, 0);
    rig_end(rig);
}

TEST(a_server_resets_a_call) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 1);
    struct call *server = rig_server_call(rig);
    EXPECT_EQUAL(call_send_text(server, "dropped with it"), CRPC_OK);
    call_reset(server, NGHTTP2_INTERNAL_ERROR);
    EXPECT_EQUAL(server->closes, 0);
    EXPECT_EQUAL(call_finish(server, 0, ""), CRPC_ERROR_CLOSED);
    rig_turn(rig);
    EXPECT_EQUAL(server->closes, 1);
    EXPECT_EQUAL(server->error, NGHTTP2_INTERNAL_ERROR);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 13);
    EXPECT_EQUAL(call->messages, 0);
    rig_end(rig);
}

static void reset_at_event(call *call, rig_event event) {
    rig_event *wanted = call->rig->note;
    if (event == *wanted && event != EVENT_CLOSE && call->is_server) call_reset(call, NGHTTP2_CANCEL);
}

TEST(a_server_may_reset_in_any_callback) {
    static const rig_event events[] = {EVENT_CALL, EVENT_MESSAGE, EVENT_HALF_CLOSE, EVENT_DEADLINE};
    for (size_t i = 0; i < 4; i++) {
        rig *rig = rig_start(NULL);
        rig_event event = events[i];
        rig->note = &event;
        rig->react = reset_at_event;
        peer *peer = rig_open(rig);
        call *call = call_open(peer, METHOD_HOLD, event == EVENT_DEADLINE ? 30 : 0);
        if (event == EVENT_MESSAGE) EXPECT_EQUAL(call_send_text(call, "two messages"), CRPC_OK);
        if (event == EVENT_MESSAGE) EXPECT_EQUAL(call_send_text(call, "in one frame"), CRPC_OK);
        EXPECT_EQUAL(call_half_close(call), CRPC_OK);
        UNTIL(rig, call->closes == 1 && rig->server_call_count == 1 && rig_server_call(rig)->closes == 1);
        EXPECT(call->status == 1 || call->status == 4);
        EXPECT(rig_server_call(rig)->messages <= 1);
        rig_end(rig);
    }
}

static void finish_in_call(call *call, rig_event event) {
    if (event == EVENT_CALL) EXPECT_EQUAL(call_finish(call, 9, "at once"), CRPC_OK);
}

TEST(a_server_may_finish_while_the_call_is_told) {
    rig *rig = rig_start(NULL);
    rig->react = finish_in_call;
    peer *peer = rig_open(rig);
    call *call = call_open(peer, METHOD_HOLD, 5000);
    EXPECT_EQUAL(call_send_text(call, "unwanted"), CRPC_OK);
    UNTIL(rig, call->closes == 1 && rig_server_call(rig)->closes == 1);
    EXPECT_EQUAL(call->status, 9);
    EXPECT_EQUAL(rig_server_call(rig)->messages, 0);
    EXPECT_EQUAL(rig_server_call(rig)->error, 0);
    rig_end(rig);
}

/// Touches every other call of the connection from a closing callback.
static void touch_others(call *call, rig_event event) {
    rig *rig = call->rig;
    if (event != EVENT_CLOSE) return;
    struct call **calls = call->is_server ? rig->server_calls : rig->client_calls;
    size_t count = call->is_server ? rig->server_call_count : rig->client_call_count;
    for (size_t i = 0; i < count; i++) {
        struct call *other = calls[i];
        if (other->stream == NULL || other->peer != call->peer) continue;
        (void)call_send_text(other, "from a closing callback");
        if (i % 2 == 0) call_reset(other, NGHTTP2_CANCEL);
    }
    if (!call->is_server) EXPECT(call_open(call->peer, METHOD_HOLD, 0) == NULL);
}

TEST(closing_callbacks_may_touch_the_other_calls) {
    for (int by_server = 0; by_server < 2; by_server++) {
        rig *rig = rig_start(NULL);
        peer *peer = rig_open(rig);
        for (int i = 0; i < 4; i++) (void)call_open(peer, METHOD_HOLD, 0);
        UNTIL(rig, rig->server_call_count == 4);
        rig->react = touch_others;
        peer_close(by_server ? rig_server_peer(rig) : peer);
        UNTIL(rig, peer->closes == 1 && rig_server_peer(rig)->closes == 1);
        rig_run_ms(rig, 5); // whatever was left of it would be seen now
        rig_end(rig);
    }
}
