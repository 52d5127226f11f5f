#include "raw.h"

#include <stdio.h>

// Floods: frames that cost us work and the sender nothing. Each flood ends its own connection, with a reason; the traffic of
// honest clients doesn't.

/// A server that gives so much credit, and none for time.
static rig_setup with_credit(uint32_t credit) {
    rig_setup setup = rig_defaults();
    setup.server.credit_max = credit;
    setup.server.credit_per_second = 0;
    setup.server.ping_interval_min_ms = 0;
    return setup;
}

static bool says(const raw_frame *goaway, const char *reason) {
    size_t length = strlen(reason);
    return goaway != NULL && goaway->length == 8 + length && memcmp(goaway->payload + 8, reason, length) == 0;
}

static void expect_dismissal(raw *raw, const char *reason) {
    UNTIL(raw->rig, raw_read(raw) && raw->has_ended);
    const raw_frame *goaway = raw_find(raw, NGHTTP2_GOAWAY, 0);
    EXPECT_EQUAL(raw_error(goaway), NGHTTP2_ENHANCE_YOUR_CALM);
    if (!EXPECT(says(goaway, reason)) && goaway != NULL)
        test_note("%.*s", (int)goaway->length - 8, goaway->payload + 8);
    EXPECT_EQUAL(crpc_listener_connection_count(raw->rig->listener), 0);
}

TEST(a_flood_of_any_frame_is_dismissed) {
    static const struct {
        uint8_t type, flags;
        int32_t id;
        const char *payload;
        size_t length, cost;
    } cases[] = {
        {NGHTTP2_DATA, 0, 1, "", 0, 1},
        {NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, "\2\0\0", 3, 1},
        {NGHTTP2_PRIORITY, 0, 1, "\0\0\0\0\20", 5, 1},
        {NGHTTP2_PRIORITY, 0, 101, "\0\0\0\0\20", 5, 1}, // on an idle stream
        {NGHTTP2_SETTINGS, 0, 0, "\0\4\0\1\0\0", 6, 10},
        {NGHTTP2_SETTINGS, 0, 0, "", 0, 10},
        {NGHTTP2_PING, 0, 0, "12345678", 8, 2},
        {NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, "12345678", 8, 1},
        {NGHTTP2_WINDOW_UPDATE, 0, 0, "\0\0\0\1", 4, 1},
        {NGHTTP2_WINDOW_UPDATE, 0, 1, "\0\0\0\1", 4, 1},
        {0x10, 0, 0, "\0\0\0\1u=1", 7, 1}, // PRIORITY_UPDATE (RFC 9218)
        {0xfa, 0, 0, "unknown", 7, 1},
        {0xfa, 0, 1, "", 0, 1},
    };
    enum { CREDIT = 400, BEGIN = 3 }; // SETTINGS, its acknowledgement, HEADERS
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig_setup setup = with_credit(CREDIT);
        rig *rig = rig_start(&setup);
        raw *raw = raw_connect(rig);
        UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_SETTINGS, 0) != NULL);
        raw_send_request(raw, 0, 1, rig_paths[METHOD_HOLD], NULL, NULL);
        size_t allowed = (CREDIT - CRPC_COST_SETTINGS - BEGIN) / cases[i].cost;
        for (size_t sent = 0; sent < allowed; sent++) {
            raw_send_frame(raw, cases[i].type, cases[i].flags, cases[i].id, cases[i].payload, cases[i].length);
            if (sent % 50 == 0) rig_turn(rig);
        }
        rig_run_ms(rig, 10);
        bool ok = EXPECT(raw_read(raw) && !raw->has_ended);
        raw_forget(raw);
        for (int more = 0; more < 8; more++)
            raw_send_frame(raw, cases[i].type, cases[i].flags, cases[i].id, cases[i].payload, cases[i].length);
        expect_dismissal(raw, "too_many_frames");
        if (!ok || test_has_failed()) test_note("case %zu", i);
        raw_free(raw);
        rig_end(rig);
    }
}

// What is owed to the streams before it is more than one buffer holds.
TEST(a_flood_that_came_at_once_is_told_why) {
    enum { HEADS = 12000, HEAD = 9 };
    static const uint8_t empty[HEAD] = {0, 0, 0, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM};
    rig_setup setup = rig_defaults();
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    static uint8_t heads[HEADS * HEAD];
    for (uint32_t i = 0; i < HEADS; i++) {
        uint8_t *head = heads + i * HEAD;
        uint32_t id = 2 * i + 1;
        memcpy(head, empty, HEAD);
        head[7] = (uint8_t)(id >> 8);
        head[8] = (uint8_t)id;
    }
    raw_send(raw, heads, sizeof heads);
    UNTIL(rig, raw_read(raw) && raw->has_ended);
    EXPECT(raw_find(raw, NGHTTP2_RST_STREAM, 2 * 5000 + 1) != NULL);
    EXPECT(raw_find(raw, NGHTTP2_GOAWAY, 0) != NULL);
    raw_free(raw);
    rig_end(rig);
}

TEST(credit_comes_back_with_time) {
    rig_setup setup = with_credit(100);
    setup.server.credit_per_second = 1000;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    for (int i = 0; i < 8; i++) {
        for (int frame = 0; frame < 70; frame++) raw_send_frame(raw, 0xfa, 0, 0, "", 0);
        rig_run_ms(rig, 100);
    }
    EXPECT(raw_read(raw) && !raw->has_ended);
    // It does not pile up past the maximum.
    rig_run_ms(rig, 300);
    for (int frame = 0; frame < 250; frame++) raw_send_frame(raw, 0xfa, 0, 0, "", 0);
    expect_dismissal(raw, "too_many_frames");
    raw_free(raw);
    rig_end(rig);
}

/// Makes calls of which one in `nth` is reset at once; the rest run to their end.
static void make_calls(raw *raw, int count, int nth) {
    for (int i = 0; i < count && !raw->has_ended; i++) {
        int32_t id = 2 * i + 1;
        bool is_reset = i % nth == 0;
        raw_send_request(
            raw, is_reset ? 0 : NGHTTP2_FLAG_END_STREAM, id, rig_paths[is_reset ? METHOD_HOLD : METHOD_STREAM], NULL,
            NULL);
        if (is_reset) raw_send_reset(raw, id, NGHTTP2_CANCEL);
        if (i % 10 != 9) continue;
        if (!is_reset) UNTIL(raw->rig, raw_read(raw) && (raw->has_ended || raw_find_end(raw, id) != NULL));
        raw_forget(raw);
    }
}

TEST(a_rapid_reset_is_dismissed) {
    rig_setup setup = with_credit(1000);
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    make_calls(raw, 200, 1);
    expect_dismissal(raw, "too_many_frames");
    EXPECT(rig->server_call_count >= 40 && rig->server_call_count <= 75);
    EXPECT_EQUAL(rig->listener->service.call_count, 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_client_that_cancels_a_fifth_of_its_calls_is_not) {
    rig_setup setup = with_credit(1000);
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    make_calls(raw, 2000, 5);
    EXPECT(raw_read(raw) && !raw->has_ended);
    raw_free(raw);
    rig_end(rig);
}

TEST(calls_given_up_after_a_while_are_no_rapid_reset) {
    rig_setup setup = with_credit(1000);
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    for (int32_t id = 1; id < 2 * 250; id += 2) raw_send_request(raw, 0, id, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == 250);
    rig_run_ms(rig, CRPC_RAPID_RESET_MS + 20);
    for (int32_t id = 1; id < 2 * 250; id += 2) raw_send_reset(raw, id, NGHTTP2_CANCEL);
    UNTIL(rig, rig->listener->service.call_count == 0);
    EXPECT(raw_read(raw) && !raw->has_ended);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_client_that_makes_the_server_reset_is_dismissed) {
    // CVE-2025-8671: what the peer does wrong on a stream, so that we reset it.
    static const struct {
        uint8_t type;
        const char *payload;
        size_t length;
    } cases[] = {
        {NGHTTP2_WINDOW_UPDATE, "\177\377\377\377", 4}, // past the largest window
        {NGHTTP2_WINDOW_UPDATE, "\0\0\0\0", 4},
        {NGHTTP2_HEADERS, "\203", 1}, // a head where trailers may be
        {NGHTTP2_DATA, "\7\0\0\0\0", 5}, // a flag that no message has; not a reset, but an answer
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig_setup setup = with_credit(1000);
        rig *rig = rig_start(&setup);
        raw *raw = raw_connect(rig);
        int32_t id = 1;
        for (; id < 2 * 300 && raw_read(raw) && !raw->has_ended; id += 2) {
            raw_send_request(raw, 0, id, rig_paths[METHOD_HOLD], NULL, NULL);
            raw_send_frame(raw, cases[i].type, 4, id, cases[i].payload, cases[i].length);
            rig_turn(rig);
            (void)raw_read(raw);
            if (raw->count > 200 && !raw->has_ended) raw_forget(raw);
        }
        EXPECT(raw->has_ended);
        uint32_t error = raw_error(raw_find(raw, NGHTTP2_GOAWAY, 0));
        // What breaks the connection's rules ends it as that; whether windows that overflow are a matter of the stream or of
        // the connection is nghttp2's choice (RFC 9113 section 6.9.1), and its versions differ.
        EXPECT(error == NGHTTP2_ENHANCE_YOUR_CALM || error == NGHTTP2_PROTOCOL_ERROR || error == NGHTTP2_FLOW_CONTROL_ERROR);
        if (test_has_failed()) test_note("case %zu", i);
        raw_free(raw);
        rig_end(rig);
    }
}

/// A handler that answers its deadline.
static void answer_deadline(call *call, rig_event event) {
    if (event == EVENT_DEADLINE && call->is_server) (void)call_finish(call, CRPC_STATUS_DEADLINE_EXCEEDED, "too late");
}

TEST(calls_that_are_begun_to_be_ended_by_the_server_are_dismissed) {
    // What makes a server end a call with a status, once its handler runs.
    static const struct {
        const char *timeout, *bytes;
        size_t length;
        uint8_t flags;
    } cases[] = {
        {NULL, "\2\0\0\0\0", 5, 0},                         // a flag that no message has
        {NULL, "\0\377\0\0\0", 5, 0},                       // a message that is too large
        {NULL, "\0", 1, NGHTTP2_FLAG_END_STREAM},            // one that is cut
        {NULL, "\1\0\0\0\1x", 6, 0},                       // compressed, as nobody announced
        {"1n", "\0\0\0", 3, 0},                               // a deadline that has passed
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig_setup setup = with_credit(1000);
        rig *rig = rig_start(&setup);
        rig->react = answer_deadline;
        peer *bystander = rig_open(rig);
        raw *raw = raw_connect(rig);
        for (int32_t id = 1; id < 2 * 300 && raw_read(raw) && !raw->has_ended; id += 2) {
            raw_send_request(
                raw, 0, id, rig_paths[METHOD_HOLD], cases[i].timeout == NULL ? NULL : "grpc-timeout", cases[i].timeout);
            raw_send_data(raw, cases[i].flags, id, cases[i].bytes, cases[i].length);
            rig_turn(rig);
            (void)raw_read(raw);
            if (raw->count > 200 && !raw->has_ended) raw_forget(raw);
        }
        UNTIL(rig, raw_read(raw) && raw->has_ended);
        EXPECT(says(raw_find(raw, NGHTTP2_GOAWAY, 0), "too_many_frames"));
        EXPECT(rig->server_call_count >= 60 && rig->server_call_count <= 110);
        call *call = call_unary(bystander, METHOD_UNARY, "goes on");
        UNTIL(rig, call->closes == 1);
        EXPECT_EQUAL(call->status, CRPC_STATUS_OK);
        if (test_has_failed()) test_note("case %zu", i);
        raw_free(raw);
        rig_end(rig);
    }
}

TEST(refused_calls_earn_no_resets) {
    rig_setup setup = with_credit(1000);
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    int32_t id = 1;
    for (int round = 0; round < 200 && !raw->has_ended; round++) {
        for (int i = 0; i < 5; i++, id += 2)
            raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, id, "/no.Such/Method", NULL, NULL);
        raw_send_request(raw, 0, id, rig_paths[METHOD_HOLD], NULL, NULL);
        raw_send_reset(raw, id, NGHTTP2_CANCEL);
        UNTIL(rig, raw_read(raw) && (raw->has_ended || raw_find_end(raw, id - 2) != NULL));
        if (!raw->has_ended) raw_forget(raw);
        id += 2;
    }
    expect_dismissal(raw, "too_many_frames");
    EXPECT(rig->server_call_count <= 80);
    raw_free(raw);
    rig_end(rig);
}

TEST(calls_that_end_late_or_are_refused_cost_nothing) {
    rig_setup setup = with_credit(300);
    rig *rig = rig_start(&setup);
    rig->react = answer_deadline;
    raw *raw = raw_connect(rig);
    int32_t id = 1;
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < 50; i++, id += 2)
            raw_send_request(
                raw, NGHTTP2_FLAG_END_STREAM, id, i % 2 == 0 ? "/no.Such/Method" : rig_paths[METHOD_HOLD],
                "grpc-timeout", "150m");
        UNTIL(rig, raw_read(raw) && raw_find_end(raw, id - 2) != NULL);
        raw_forget(raw);
    }
    rig_run_ms(rig, 20);
    EXPECT(raw_read(raw) && !raw->has_ended);
    EXPECT(rig_server_peer(rig)->connection->h2.guard.credit > 200);
    raw_free(raw);
    rig_end(rig);
}

TEST(calls_that_come_before_the_limit_is_known_are_refused_and_no_more) {
    rig_setup setup = with_credit(1500);
    setup.server.streams_max = 100;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    for (int32_t id = 1; id < 2 * 400; id += 2)
        raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, id, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_RST_STREAM, 2 * 400 - 1) != NULL);
    EXPECT_EQUAL(rig->server_call_count, 100);
    EXPECT_EQUAL(raw_error(raw_find(raw, NGHTTP2_RST_STREAM, 2 * 400 - 1)), NGHTTP2_REFUSED_STREAM);
    for (size_t i = 0; i < 100; i++) EXPECT_EQUAL(call_finish(rig->server_calls[i], 0, ""), CRPC_OK);
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 2 * 100 - 1) != NULL);
    EXPECT(!raw->has_ended);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_header_block_that_does_not_end_is_dismissed) {
    static uint8_t filler[16384];
    static const struct {
        size_t length;
        int frames;
    } cases[] = {{0, 9}, {1, 9}, {10000, 7}};
    for (size_t i = 0; i < 3; i++) {
        rig *rig = rig_start(NULL);
        raw *raw = raw_connect(rig);
        raw_send_frame(raw, NGHTTP2_HEADERS, 0, 1, "\203", 1);
        for (int frame = 0; frame + 1 < cases[i].frames; frame++)
            raw_send_frame(raw, NGHTTP2_CONTINUATION, 0, 1, filler, i == 0 ? 0 : i == 1 ? 1 : cases[i].length);
        rig_run_ms(rig, 10);
        if (i == 0) EXPECT(raw_read(raw) && !raw->has_ended);
        raw_send_frame(raw, NGHTTP2_CONTINUATION, 0, 1, filler, cases[i].length);
        UNTIL(rig, raw_read(raw) && raw->has_ended);
        if (i == 0) EXPECT(says(raw_find(raw, NGHTTP2_GOAWAY, 0), "header_block_too_large"));
        EXPECT_EQUAL(rig->server_call_count, 0);
        raw_free(raw);
        rig_end(rig);
    }
}

TEST(a_frame_or_block_must_be_whole_in_time) {
    static const struct {
        const char *bytes;
        size_t length;
    } cases[] = {
        {"\0\0", 2},                                 // in a head
        {"\0\0\10\6\0\0\0\0\0" "1234", 13},            // in a PING
        {"\0\0\1\1\0\0\0\0\1\203", 10},               // HEADERS without END_HEADERS
        {"\0\0\1\1\0\0\0\0\1\203\0\0\0\11\0\0\0\0\1", 19}, // and a CONTINUATION
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig_setup setup = rig_defaults();
        setup.server.handshake_timeout_ms = 100;
        rig *rig = rig_start(&setup);
        raw *raw = raw_connect(rig);
        UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_SETTINGS, 0) != NULL);
        uint64_t start = now_ms();
        raw_send(raw, cases[i].bytes, cases[i].length);
        UNTIL(rig, raw_read(raw) && raw->has_ended);
        EXPECT(now_ms() - start >= 90 && now_ms() - start < 1000);
        EXPECT_EQUAL(rig_server_peer(rig)->closes, 1);
        raw_free(raw);
        rig_end(rig);
    }
}

TEST(frames_that_come_in_pieces_are_in_time) {
    rig_setup setup = rig_defaults();
    setup.server.handshake_timeout_ms = 100;
    setup.server.ping_interval_min_ms = 0;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    static const char ping[] = "\0\0\10\6\0\0\0\0\0" "12345678";
    // Never between two frames when it is looked at, but no frame is long in coming.
    raw_send(raw, ping, 5);
    for (int i = 0; i < 10; i++) {
        rig_run_ms(rig, 30);
        raw_send(raw, ping + 5, 12);
        raw_send_frame(raw, 0xfa, 0, 0, "", 0);
        raw_send(raw, ping, 5);
    }
    EXPECT(raw_read(raw) && !raw->has_ended);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_dismissed_client_can_read_why_though_it_goes_on_sending) {
    rig_setup setup = with_credit(100);
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    static const uint8_t unknown[9 + 16384] = {0, 0x40, 0, 0xfa};
    for (int i = 0; i < 40; i++) raw_send(raw, unknown, sizeof unknown); // more than is looked at in a turn
    for (int i = 0; i < 200; i++) raw_send_frame(raw, 0xfa, 0, 0, "", 0);
    for (int i = 0; i < 3; i++) raw_send(raw, unknown, sizeof unknown);
    expect_dismissal(raw, "too_many_frames");
    EXPECT_EQUAL(rig->loop->lingering_count, 1);
    raw_close(raw, false);
    UNTIL(rig, rig->loop->lingering_count == 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_socket_does_not_linger_for_ever) {
    rig_setup setup = with_credit(100);
    rig *rig = rig_start(&setup);
    raw *still = raw_connect(rig), *busy = raw_connect(rig);
    for (int i = 0; i < 200; i++) raw_send_frame(still, 0xfa, 0, 0, "", 0);
    for (int i = 0; i < 200; i++) raw_send_frame(busy, 0xfa, 0, 0, "", 0);
    UNTIL(rig, raw_read(still) && still->has_ended && raw_read(busy) && busy->has_ended);
    EXPECT_EQUAL(rig->loop->lingering_count, 2);
    static const uint8_t unknown[9 + 16384] = {0, 0x40, 0, 0xfa};
    uint64_t start = now_ms();
    for (int i = 0; i < 2 * CRPC_LINGER_BYTES_MAX / 16384; i++) raw_send(busy, unknown, sizeof unknown);
    UNTIL(rig, rig->loop->lingering_count == 1);
    EXPECT(now_ms() - start < CRPC_LINGER_MS);
    UNTIL(rig, rig->loop->lingering_count == 0);
    EXPECT(now_ms() - start >= CRPC_LINGER_MS - 100);
    raw_free(still);
    raw_free(busy);
    rig_end(rig);
}

TEST(a_client_is_safe_from_its_server) {
    rig_setup setup = rig_defaults();
    setup.has_no_listener = true;
    setup.client.credit_max = 200;
    setup.client.credit_per_second = 0;
    rig *rig = rig_start(&setup);
    raw *raw = raw_listen(rig);
    peer *peer = rig_connect_to(rig, raw->port);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    raw_accept(raw);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_HEADERS, 1) != NULL);
    for (int i = 0; i < 220; i++) raw_send_frame(raw, NGHTTP2_PRIORITY, 0, 1, "\0\0\0\0\20", 5);
    UNTIL(rig, peer->closes == 1);
    EXPECT_EQUAL(peer->error, CRPC_ERROR_LIMIT);
    EXPECT_EQUAL(call->status, 14);
    UNTIL(rig, raw_read(raw) && raw->has_ended);
    raw_free(raw);
    rig_end(rig);
}

/// Sends so many DATA frames of a byte on a stream, and lets the server look at them.
static void send_bytes(raw *raw, int32_t id, int count) {
    for (int i = 0; i < count && !raw->has_ended; i++) {
        raw_send_data(raw, 0, id, "x", 1);
        if (i % 50 == 49) rig_turn(raw->rig);
    }
    rig_run_ms(raw->rig, 10);
    (void)raw_read(raw);
}

TEST(data_on_a_stream_that_is_over_costs) {
    rig_setup setup = with_credit(400);
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, 1, rig_paths[METHOD_STREAM], NULL, NULL);
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL);
    send_bytes(raw, 1, 300);
    EXPECT(!raw->has_ended);
    send_bytes(raw, 1, 120);
    send_bytes(raw, 1, 1); // what came in one turn is charged in the next
    expect_dismissal(raw, "too_many_frames");
    raw_free(raw);
    rig_end(rig);
}

TEST(data_that_was_under_way_when_the_server_ended_the_call_is_free) {
    enum { WINDOW = 3000 };
    for (int with_reset = 0; with_reset < 2; with_reset++) {
        rig_setup setup = with_credit(400);
        setup.server.stream_window_bytes = WINDOW;
        rig *rig = rig_start(&setup);
        raw *raw = raw_connect(rig);
        UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_SETTINGS, 0) != NULL);
        raw_send_request(raw, 0, 1, rig_paths[METHOD_HOLD], NULL, NULL);
        UNTIL(rig, rig->server_call_count == 1);
        if (with_reset) {
            call_reset(rig_server_call(rig), NGHTTP2_CANCEL);
        } else {
            EXPECT_EQUAL(call_finish(rig_server_call(rig), 9, "enough"), CRPC_OK);
        }
        UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_RST_STREAM, 1) != NULL);
        // As much as its window let it send before it could know; one byte a frame is the worst that may be.
        send_bytes(raw, 1, WINDOW);
        EXPECT(!raw->has_ended);
        send_bytes(raw, 1, 450);
        send_bytes(raw, 1, 1);
        expect_dismissal(raw, "too_many_frames");
        raw_free(raw);
        rig_end(rig);
    }
}

TEST(a_client_that_resets_its_call_has_nothing_under_way) {
    rig_setup setup = with_credit(400);
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    raw_send_request(raw, 0, 1, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == 1);
    raw_send_reset(raw, 1, NGHTTP2_CANCEL);
    UNTIL(rig, rig_server_call(rig)->closes == 1);
    send_bytes(raw, 1, 450);
    send_bytes(raw, 1, 1);
    expect_dismissal(raw, "too_many_frames");
    raw_free(raw);
    rig_end(rig);
}

TEST(padding_costs_only_where_there_is_nothing_beside_it) {
    enum { PADDING = 255, BYTES = 5 };
    for (size_t cut = 0; cut < 3; cut++) {
        rig_setup setup = with_credit(400);
        rig *rig = rig_start(&setup);
        raw *raw = raw_connect(rig);
        raw_send_request(raw, 0, 1, rig_paths[METHOD_HOLD], NULL, NULL);
        uint8_t frame[CRPC_FRAME_HEAD + 1 + BYTES + PADDING] = {
            0, 1, BYTES, NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 0, 0, 0, 1, PADDING};
        // Whole, cut before the length of the padding, and cut behind it.
        size_t first = cut == 0 ? sizeof frame : CRPC_FRAME_HEAD + cut - 1;
        for (int i = 0; i < 600; i++) {
            raw_send(raw, frame, first);
            if (cut > 0) rig_turn(rig);
            if (cut > 0) raw_send(raw, frame + first, sizeof frame - first);
            if (i % 50 == 0) rig_turn(rig);
        }
        rig_run_ms(rig, 20);
        EXPECT(raw_read(raw) && !raw->has_ended);
        EXPECT_EQUAL(rig_server_call(rig)->messages, 600);
        frame[2] = 0; // the same padding, and no byte
        for (int i = 0; i < 400; i++) raw_send(raw, frame, CRPC_FRAME_HEAD + 1 + PADDING);
        expect_dismissal(raw, "too_many_frames");
        raw_free(raw);
        rig_end(rig);
    }
}
