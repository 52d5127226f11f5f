#include "raw.h"

// Handlers that outlive their streams: a client that ends its calls in any way and begins others cannot have more of them
// than its share.

static rig_setup with_slow_handlers(uint32_t streams_max) {
    rig_setup setup = rig_defaults();
    setup.server.streams_max = streams_max;
    setup.outlive_streams = true;
    return setup;
}

/// Begins a call and waits until it has begun, or was refused; whether it began.
static bool begin(raw *raw, int32_t id) {
    size_t before = raw->rig->server_call_count;
    raw_send_request(raw, 0, id, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(raw->rig, raw->rig->server_call_count > before || (raw_read(raw) && raw_find_end(raw, id) != NULL));
    return raw->rig->server_call_count > before;
}

TEST(handlers_of_streams_that_have_ended_are_bounded_by_connection) {
    rig_setup setup = with_slow_handlers(5);
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig), *bystander = raw_connect(rig);
    int32_t id = 1;
    for (; id < 2 * 10; id += 2) {
        EXPECT(begin(raw, id));
        raw_send_reset(raw, id, NGHTTP2_CANCEL);
        UNTIL(rig, rig_server_call(rig)->closes == 1);
    }
    EXPECT_EQUAL(rig->listener->service.call_count, 0);
    EXPECT_EQUAL(rig->listener->service.handler_count, 10);
    EXPECT_EQUAL(rig->loop->turn.stats.handlers, 10);
    EXPECT(!begin(raw, id));
    EXPECT(raw_frame_has(raw_find_end(raw, id), "grpc-status", "8"));
    EXPECT_EQUAL(rig->loop->turn.stats.calls_shed, 1);
    EXPECT(begin(bystander, 1));
    // For each that ends, another may begin.
    call_end_handler(rig->server_calls[3]);
    EXPECT(begin(raw, id + 2));
    EXPECT(!begin(raw, id + 4));
    raw_free(raw);
    raw_free(bystander);
    rig_end(rig);
}

TEST(a_client_at_its_limit_may_end_a_call_and_begin_another) {
    rig_setup setup = with_slow_handlers(2);
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    EXPECT(begin(raw, 1) && begin(raw, 3));
    raw_send_reset(raw, 1, NGHTTP2_CANCEL);
    EXPECT(begin(raw, 5));
    raw_free(raw);
    rig_end(rig);
}

TEST(handlers_are_bounded_on_all_connections_together) {
    rig_setup setup = with_slow_handlers(100);
    setup.calls_max = 4;
    rig *rig = rig_start(&setup);
    for (int i = 0; i < 4; i++) {
        raw *raw = raw_connect(rig);
        EXPECT(begin(raw, 1));
        raw_free(raw);
        UNTIL(rig, rig_server_call(rig)->closes == 1);
    }
    // Their connections are gone, and they run.
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == 0);
    EXPECT_EQUAL(rig->listener->service.handler_count, 4);
    raw *raw = raw_connect(rig);
    EXPECT(!begin(raw, 1));
    for (int i = 0; i < 4; i++) call_end_handler(rig->server_calls[i]);
    EXPECT_EQUAL(rig->listener->service.handler_count, 0);
    EXPECT(begin(raw, 3));
    raw_free(raw);
    rig_end(rig);
}

TEST(handlers_may_end_after_their_listener) {
    rig_setup setup = with_slow_handlers(5);
    rig *rig = rig_start(&setup);
    raw *first = raw_connect(rig), *second = raw_connect(rig);
    EXPECT(begin(first, 1) && begin(first, 3) && begin(second, 1));
    call_end_handler(rig->server_calls[0]); // before its stream
    raw_free(first);
    UNTIL(rig, rig->server_calls[1]->closes == 1);
    rig_free_listener(rig);
    EXPECT_EQUAL(rig->loop->turn.stats.handlers, 2);
    for (int i = 1; i < 3; i++) call_end_handler(rig->server_calls[i]);
    EXPECT_EQUAL(rig->loop->turn.stats.handlers, 0);
    raw_free(second);
    rig_end(rig);
}

/// Calls whose request never comes take places, and cost their client nothing but their heads.
TEST(calls_without_a_request_leave_places_and_end_in_time) {
    rig_setup setup = rig_defaults();
    setup.calls_max = 1000;
    setup.server.message_timeout_ms = 500;
    rig *rig = rig_start(&setup);
    peer *honest = rig_open(rig);
    raw *strangers[4];
    for (int i = 0; i < 4; i++) {
        strangers[i] = raw_connect(rig);
        for (int32_t id = 1; id <= 500; id += 2)
            raw_send_request(strangers[i], 0, id, rig_paths[METHOD_UNARY], NULL, NULL);
        rig_run_ms(rig, 30);
        (void)raw_read(strangers[i]);
        raw_forget(strangers[i]);
    }
    EXPECT(rig->listener->service.call_count >= 500 && rig->listener->service.call_count < 1000);
    call *call = call_unary(honest, METHOD_UNARY, "x");
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    UNTIL(rig, rig->listener->service.call_count == 0);
    EXPECT_EQUAL(rig->listener->service.handler_count, 0);
    for (int i = 0; i < 4; i++) raw_free(strangers[i]);
    rig_end(rig);
}
