#include "rig_exchanges.h"

// Exchanges on HTTP/2 that are answered before their request has ended: what still comes is read on and dropped, within bounds.

typedef struct scene {
    rig *rig;
    raw *raw;
} scene;

static scene begin(const rig_setup *setup) {
    rig_setup mine = *setup;
    mine.takes_exchanges = true;
    scene scene = {.rig = rig_start(&mine)};
    scene.raw = raw_connect(scene.rig);
    return scene;
}

static void end(const scene *scene) {
    raw_free(scene->raw);
    rig_end(scene->rig);
}

/// A request that is answered at once, and goes on.
static void ask(const scene *scene, int32_t id, const char *target) {
    raw_send_exchange(scene->raw, 0, id, "POST", target, NULL, NULL);
    UNTIL(scene->rig, raw_read(scene->raw) && raw_find_end(scene->raw, id) != NULL);
}

static bool is_reset(const scene *scene, int32_t id) {
    return raw_read(scene->raw) && raw_find(scene->raw, NGHTTP2_RST_STREAM, id) != NULL;
}

static void expect_stop(const scene *scene, int32_t id) {
    UNTIL(scene->rig, is_reset(scene, id));
    EXPECT_EQUAL(raw_error(raw_find(scene->raw, NGHTTP2_RST_STREAM, id)), NGHTTP2_NO_ERROR);
}

static uint64_t open_streams(const scene *scene) {
    const crpc_loop_stats *stats = &scene->rig->loop->turn.stats;
    return stats->server_streams_opened - stats->server_streams_closed;
}

/// What the server has given back of a stream's window, by the frames that came; forgets them.
static size_t take_updates(const scene *scene, int32_t id) {
    size_t given = 0;
    (void)raw_read(scene->raw);
    for (size_t i = 0; i < scene->raw->count; i++) {
        const raw_frame *frame = &scene->raw->frames[i];
        if (frame->type == NGHTTP2_WINDOW_UPDATE && frame->id == id && frame->length == 4)
            given += (size_t)frame->payload[1] << 16 | (size_t)frame->payload[2] << 8 | frame->payload[3];
        EXPECT(frame->type != NGHTTP2_RST_STREAM);
    }
    raw_forget(scene->raw);
    return given;
}

TEST(a_request_that_was_answered_early_may_end) {
    rig_setup setup = rig_defaults();
    scene scene = begin(&setup);
    ask(&scene, 1, "/now");
    // The exchange is over with its answer, the stream is not.
    const exchange *exchange = rig_exchange(scene.rig);
    EXPECT(exchange->closes == 1 && exchange->is_complete);
    EXPECT_EQUAL(scene.rig->loop->turn.stats.handlers, 0);
    EXPECT_EQUAL(scene.rig->loop->turn.stats.held_bytes, 0);
    rig_run_ms(scene.rig, 20);
    EXPECT(!is_reset(&scene, 1));
    EXPECT_EQUAL(open_streams(&scene), 1);
    raw_send_data(scene.raw, 0, 1, "body", 4);
    raw_send_data(scene.raw, NGHTTP2_FLAG_END_STREAM, 1, "body", 4);
    UNTIL(scene.rig, open_streams(&scene) == 0);
    EXPECT_EQUAL(exchange->bodies, 0);
    ask(&scene, 3, "/now");
    raw_send_data(scene.raw, NGHTTP2_FLAG_END_STREAM, 3, "", 0);
    ask(&scene, 5, "/now");
    raw_send_headers(scene.raw, NGHTTP2_FLAG_END_STREAM, 5, (raw_entry[]){{"x-tail", "1"}}, 1);
    ask(&scene, 7, "/null"); // answered by the layer
    raw_send_data(scene.raw, NGHTTP2_FLAG_END_STREAM, 7, "body", 4);
    UNTIL(scene.rig, open_streams(&scene) == 0);
    for (int32_t id = 1; id <= 7; id += 2) EXPECT(!is_reset(&scene, id));
    end(&scene);
}

TEST(an_answer_in_parts_before_the_end_of_the_request_ends_well) {
    rig_setup setup = rig_defaults();
    scene scene = begin(&setup);
    raw_send_exchange(scene.raw, 0, 1, "POST", "/slow", NULL, NULL);
    raw_send_data(scene.raw, 0, 1, "unread", 6);
    UNTIL(scene.rig, scene.rig->exchange_count == 1 && rig_exchange(scene.rig)->body_length == 6);
    exchange *exchange = rig_exchange(scene.rig);
    EXPECT_EQUAL(exchange_send_head(exchange, 200, -1), CRPC_OK);
    EXPECT_EQUAL(exchange_send(exchange, "abc", 3), CRPC_OK);
    uint8_t trailers[64];
    EXPECT_EQUAL(exchange_finish(exchange, trailers, metadata_add(trailers, 0, "x-tail", "1")), CRPC_OK);
    UNTIL(scene.rig, exchange->closes == 1);
    EXPECT(exchange->is_complete);
    EXPECT_EQUAL(scene.rig->loop->turn.stats.held_bytes, 0);
    raw_send_data(scene.raw, NGHTTP2_FLAG_END_STREAM, 1, "more", 4);
    UNTIL(scene.rig, open_streams(&scene) == 0);
    EXPECT(!is_reset(&scene, 1) && raw_frame_has(raw_find_end(scene.raw, 1), "x-tail", "1"));
    EXPECT_EQUAL(exchange->body_length, 6);
    end(&scene);
}

TEST(bodies_of_a_connection_are_dropped_up_to_a_bound_together) {
    enum { LEFT = 4096 };
    static uint8_t bytes[LEFT];
    rig_setup setup = rig_defaults();
    scene scene = begin(&setup);
    for (int32_t id = 1; id <= 3; id += 2) ask(&scene, id, "/now");
    crpc_connection *connection = rig_server_peer(scene.rig)->connection;
    connection->dropped_bytes = CRPC_DROPPED_BODIES_MAX - LEFT; // as if others had dropped so many
    raw_send_data(scene.raw, 0, 1, bytes, LEFT - CRPC_MESSAGE_OVERHEAD);
    rig_run_ms(scene.rig, 20);
    EXPECT(!is_reset(&scene, 1));
    raw_send_data(scene.raw, 0, 3, "x", 1);
    expect_stop(&scene, 3);
    raw_send_data(scene.raw, NGHTTP2_FLAG_END_STREAM, 1, "", 0);
    UNTIL(scene.rig, open_streams(&scene) == 0);
    EXPECT(!is_reset(&scene, 1));
    // What has ended makes room again.
    EXPECT_EQUAL(connection->dropped_bytes, CRPC_DROPPED_BODIES_MAX - LEFT);
    ask(&scene, 5, "/now");
    raw_send_data(scene.raw, 0, 5, bytes, LEFT - CRPC_MESSAGE_OVERHEAD);
    rig_run_ms(scene.rig, 20);
    EXPECT(!is_reset(&scene, 5) && !scene.raw->has_ended);
    raw_send_data(scene.raw, NGHTTP2_FLAG_END_STREAM, 5, "", 0);
    UNTIL(scene.rig, open_streams(&scene) == 0);
    end(&scene);
}

TEST(a_body_is_dropped_up_to_a_bound_and_then_stopped) {
    static uint8_t bytes[16384 - CRPC_MESSAGE_OVERHEAD];
    rig_setup setup = rig_defaults();
    setup.server.stream_window_bytes = 32768;
    setup.server.connection_window_bytes = 65535;
    scene scene = begin(&setup);
    ask(&scene, 1, "/now");
    size_t window = 32768;
    for (size_t sent = 0; sent < CRPC_DROPPED_BODY_MAX; sent += 16384) {
        for (uint64_t begun_ms = now_ms(); window < sizeof bytes && now_ms() < begun_ms + RIG_PATIENCE_MS;) {
            rig_turn(scene.rig);
            window += take_updates(&scene, 1); // what is dropped is given back
        }
        REQUIRE(window >= sizeof bytes);
        raw_send_data(scene.raw, 0, 1, bytes, sizeof bytes);
        window -= sizeof bytes;
        rig_run_ms(scene.rig, 3); // so that it comes as one piece
    }
    rig_run_ms(scene.rig, 20);
    EXPECT(!is_reset(&scene, 1));
    raw_send_data(scene.raw, 0, 1, "x", 1);
    expect_stop(&scene, 1);
    UNTIL(scene.rig, open_streams(&scene) == 0);
    // The connection goes on, with all of its window.
    ask(&scene, 3, "/now");
    raw_send_data(scene.raw, NGHTTP2_FLAG_END_STREAM, 3, bytes, sizeof bytes);
    UNTIL(scene.rig, open_streams(&scene) == 0);
    EXPECT(!is_reset(&scene, 3) && !scene.raw->has_ended);
    end(&scene);
}

TEST(a_crowd_of_small_pieces_is_stopped_sooner) {
    rig_setup setup = rig_defaults();
    scene scene = begin(&setup);
    ask(&scene, 1, "/now");
    size_t pieces = CRPC_DROPPED_BODY_MAX / (CRPC_MESSAGE_OVERHEAD + 1);
    for (size_t i = 0; i < pieces; i++) {
        raw_send_data(scene.raw, 0, 1, "x", 1);
        if (i % 256 == 0) rig_turn(scene.rig);
    }
    rig_run_ms(scene.rig, 20);
    EXPECT(!is_reset(&scene, 1));
    raw_send_data(scene.raw, 0, 1, "x", 1);
    expect_stop(&scene, 1);
    end(&scene);
}

TEST(a_body_that_comes_while_the_answer_waits_is_bounded_too) {
    static uint8_t bytes[16384], answer[70000];
    rig_setup setup = rig_defaults();
    setup.server.stream_window_bytes = 65536;
    scene scene = begin(&setup);
    raw_send_exchange(scene.raw, 0, 1, "POST", "/hold", NULL, NULL);
    UNTIL(scene.rig, scene.rig->exchange_count == 1);
    exchange *exchange = rig_exchange(scene.rig);
    EXPECT_EQUAL(exchange_respond_with(exchange, 200, NULL, 0, answer, sizeof answer), CRPC_OK);
    UNTIL(scene.rig, raw_read(scene.raw) && raw_data_length(scene.raw, 1) == 65535); // the client's windows
    raw_forget(scene.raw);
    size_t sent = 0;
    for (size_t window = 65536; window >= sizeof bytes; window += take_updates(&scene, 1)) { // until no more is given back
        raw_send_data(scene.raw, 0, 1, bytes, sizeof bytes);
        window -= sizeof bytes;
        sent += sizeof bytes;
        rig_run_ms(scene.rig, 5);
    }
    EXPECT(sent > CRPC_DROPPED_BODY_MAX - CRPC_DROPPED_BODY_MAX / 32 && sent <= CRPC_DROPPED_BODY_MAX + 65536); // each piece counts for more
    EXPECT(!is_reset(&scene, 1) && exchange->closes == 0);
    raw_send_window_update(scene.raw, 0, 1 << 20);
    raw_send_window_update(scene.raw, 1, 1 << 20);
    UNTIL(scene.rig, exchange->closes == 1);
    EXPECT(exchange->is_complete);
    expect_stop(&scene, 1);
    EXPECT_EQUAL(raw_data_length(scene.raw, 1), sizeof answer - 65535);
    end(&scene);
}

TEST(a_body_that_trickles_on_after_the_answer_is_stopped) {
    rig_setup setup = rig_defaults();
    setup.server.body_timeout_ms = 100;
    scene scene = begin(&setup);
    raw_send_exchange(scene.raw, 0, 1, "POST", "/stream", NULL, NULL);
    UNTIL(scene.rig, scene.rig->exchange_count == 1);
    exchange_set_body_deadline_ms(rig_exchange(scene.rig), 0); // for as long as it is not answered
    rig_run_ms(scene.rig, 200);
    EXPECT_EQUAL(exchange_respond(rig_exchange(scene.rig), 401, ""), CRPC_OK);
    uint64_t answered_ms = now_ms();
    while (!is_reset(&scene, 1) && now_ms() < answered_ms + RIG_PATIENCE_MS) {
        raw_send_data(scene.raw, 0, 1, "x", 1);
        rig_run_ms(scene.rig, 5);
    }
    expect_stop(&scene, 1);
    EXPECT(now_ms() - answered_ms >= 100);
    UNTIL(scene.rig, open_streams(&scene) == 0);
    end(&scene);
}

TEST(who_ends_an_answered_request_by_a_reset_does_not_pay_for_it) {
    enum { REQUESTS = 200 };
    rig_setup setup = rig_defaults();
    setup.server.credit_max = 2 * REQUESTS + 100; // two frames of each
    setup.server.credit_per_second = 0;
    scene scene = begin(&setup);
    for (int32_t i = 0; i < REQUESTS; i++) {
        ask(&scene, 1 + 2 * i, "/now");
        raw_send_reset(scene.raw, 1 + 2 * i, i % 2 == 0 ? NGHTTP2_CANCEL : NGHTTP2_NO_ERROR);
        raw_forget(scene.raw);
    }
    UNTIL(scene.rig, open_streams(&scene) == 0);
    EXPECT(raw_read(scene.raw) && !scene.raw->has_ended && raw_find(scene.raw, NGHTTP2_GOAWAY, 0) == NULL);
    for (size_t i = 0; i < REQUESTS; i++) EXPECT(scene.rig->exchanges[i]->is_complete);
    end(&scene);
}

TEST(requests_that_never_end_take_their_own_connections_streams_and_nothing_else) {
    enum { STREAMS = 8 };
    rig_setup setup = rig_defaults();
    setup.server.streams_max = STREAMS;
    setup.calls_max = 1;
    scene scene = begin(&setup);
    for (int32_t i = 0; i < STREAMS; i++) {
        ask(&scene, 1 + 2 * i, "/now"); // each finds the one place free
        EXPECT(raw_frame_has(raw_find(scene.raw, NGHTTP2_HEADERS, 1 + 2 * i), ":status", "200"));
    }
    EXPECT_EQUAL(open_streams(&scene), STREAMS);
    raw *other = raw_connect(scene.rig);
    raw_send_exchange(other, NGHTTP2_FLAG_END_STREAM, 1, "GET", "/now", NULL, NULL);
    UNTIL(scene.rig, raw_read(other) && raw_find_end(other, 1) != NULL);
    EXPECT(raw_frame_has(raw_find(other, NGHTTP2_HEADERS, 1), ":status", "200"));
    for (int32_t i = 0; i < STREAMS; i++) raw_send_data(scene.raw, NGHTTP2_FLAG_END_STREAM, 1 + 2 * i, "x", 1);
    UNTIL(scene.rig, open_streams(&scene) == 0);
    for (int32_t i = 0; i < STREAMS; i++) ask(&scene, 17 + 2 * i, "/now");
    EXPECT(raw_frame_has(raw_find(scene.raw, NGHTTP2_HEADERS, 31), ":status", "200"));
    // One past the bound is refused, or the end where the client must know it.
    raw_send_exchange(scene.raw, 0, 33, "POST", "/now", NULL, NULL);
    UNTIL(scene.rig, is_reset(&scene, 33) || raw_find(scene.raw, NGHTTP2_GOAWAY, 0) != NULL);
    EXPECT_EQUAL(scene.rig->exchange_count, 2 * STREAMS + 1);
    raw_free(other);
    end(&scene);
}

TEST(a_drain_waits_for_answered_requests_no_longer_than_their_answers_need) {
    rig_setup setup = rig_defaults(); // whose body and drain have longer than the test's patience
    setup.server.drain_timeout_ms = 4 * RIG_PATIENCE_MS;
    setup.server.body_timeout_ms = 4 * RIG_PATIENCE_MS;
    scene scene = begin(&setup);
    ask(&scene, 1, "/now");
    raw_send_exchange(scene.raw, 0, 3, "POST", "/hold", NULL, NULL);
    UNTIL(scene.rig, scene.rig->exchange_count == 2);
    rig_drain(scene.rig);
    UNTIL(scene.rig, raw_read(scene.raw) && raw_find(scene.raw, NGHTTP2_GOAWAY, 0) != NULL);
    rig_run_ms(scene.rig, 500);
    uint64_t answered_ms = now_ms();
    EXPECT_EQUAL(exchange_respond(rig_exchange(scene.rig), 401, ""), CRPC_OK);
    expect_stop(&scene, 1);
    expect_stop(&scene, 3);
    EXPECT(now_ms() - answered_ms >= 2000);
    UNTIL(scene.rig, scene.rig->server_peers[0]->closes == 1);
    EXPECT(rig_exchange(scene.rig)->is_complete);
    end(&scene);
}

TEST(a_connection_ends_with_answered_requests_on_it) {
    rig_setup setup = rig_defaults();
    scene scene = begin(&setup);
    ask(&scene, 1, "/now");
    raw_send_data(scene.raw, 0, 1, "body", 4);
    raw_close(scene.raw, true);
    UNTIL(scene.rig, scene.rig->server_peers[0]->closes == 1);
    EXPECT(rig_exchange(scene.rig)->is_complete && rig_exchange(scene.rig)->closes == 1);
    end(&scene);
}
