#include "raw.h"

#include <stdio.h>

// PINGs that ask whether the peer is there, on both sides, and how often a server may be asked; connections that grow old.

static size_t count_pings(const raw *raw) {
    size_t count = 0;
    for (size_t i = 0; i < raw->count; i++)
        count += raw->frames[i].type == NGHTTP2_PING && (raw->frames[i].flags & NGHTTP2_FLAG_ACK) == 0;
    return count;
}

static bool says(const raw_frame *goaway, const char *reason) {
    size_t length = strlen(reason);
    return goaway != NULL && goaway->length == 8 + length && memcmp(goaway->payload + 8, reason, length) == 0;
}

/// Acknowledges the PINGs that came from `known` on.
static size_t answer_pings(raw *raw, size_t known) {
    for (; known < raw->count; known++)
        if (raw->frames[known].type == NGHTTP2_PING && (raw->frames[known].flags & NGHTTP2_FLAG_ACK) == 0)
            raw_send_frame(raw, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, raw->frames[known].payload, 8);
    return known;
}

static rig_setup asking_client(void) {
    rig_setup setup = rig_defaults();
    setup.has_no_listener = true;
    setup.client.keepalive_interval_ms = 50;
    setup.client.keepalive_timeout_ms = 100;
    return setup;
}

TEST(a_client_notices_a_server_that_is_stuck) {
    rig_setup setup = asking_client();
    rig *rig = rig_start(&setup);
    raw *raw = raw_listen(rig);
    peer *peer = rig_connect_to(rig, raw->port);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    raw_accept(raw);
    UNTIL(rig, raw_read(raw) && count_pings(raw) == 1);
    UNTIL(rig, raw_read(raw) && peer->closes == 1 && raw->has_ended);
    EXPECT_EQUAL(peer->error, CRPC_ERROR_TIMEOUT);
    EXPECT_EQUAL(call->status, 14);
    EXPECT(!call->is_unprocessed);
    EXPECT(says(raw_find(raw, NGHTTP2_GOAWAY, 0), "ping_timeout"));
    EXPECT_EQUAL(raw_error(raw_find(raw, NGHTTP2_GOAWAY, 0)), NGHTTP2_NO_ERROR);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_client_keeps_a_server_that_answers_its_pings) {
    rig_setup setup = asking_client();
    rig *rig = rig_start(&setup);
    raw *raw = raw_listen(rig);
    peer *peer = rig_connect_to(rig, raw->port);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    raw_accept(raw);
    size_t known = 0;
    UNTIL(rig, raw_read(raw) && (known = answer_pings(raw, known)) > 0 && count_pings(raw) == 4);
    EXPECT_EQUAL(peer->closes + call->closes, 0);
    // Whatever comes is as good as an answer.
    uint64_t end = now_ms() + 300;
    while (now_ms() < end) {
        raw_send_frame(raw, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
        rig_run_ms(rig, 20);
        (void)raw_read(raw);
    }
    EXPECT_EQUAL(peer->closes, 0);
    EXPECT(count_pings(raw) <= 5);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_client_without_calls_asks_only_if_it_is_told_to) {
    for (int always = 0; always < 2; always++) {
        rig_setup setup = asking_client();
        setup.client.keepalive_without_calls = always;
        rig *rig = rig_start(&setup);
        raw *raw = raw_listen(rig);
        peer *peer = rig_connect_to(rig, raw->port);
        raw_accept(raw);
        UNTIL(rig, peer->opens == 1);
        if (always) {
            UNTIL(rig, raw_read(raw) && peer->closes == 1);
            EXPECT_EQUAL(count_pings(raw), 1);
        } else {
            rig_run_ms(rig, 200);
            EXPECT(raw_read(raw) && count_pings(raw) == 0);
            // With a call it does.
            EXPECT(call_open(peer, METHOD_HOLD, 0) != NULL);
            UNTIL(rig, raw_read(raw) && count_pings(raw) == 1);
        }
        raw_free(raw);
        rig_end(rig);
    }
}

TEST(a_server_notices_a_client_that_is_gone) {
    rig_setup setup = rig_defaults();
    setup.server.keepalive_interval_ms = 50;
    setup.server.keepalive_timeout_ms = 100;
    rig *rig = rig_start(&setup);
    raw *silent = raw_connect(rig), *good = raw_connect(rig);
    raw_send_request(silent, 0, 1, rig_paths[METHOD_HOLD], NULL, NULL);
    size_t known = 0;
    UNTIL(rig, raw_read(good) && (known = answer_pings(good, known)) > 0 && raw_read(silent) && silent->has_ended);
    EXPECT(says(raw_find(silent, NGHTTP2_GOAWAY, 0), "ping_timeout"));
    EXPECT_EQUAL(rig_server_call(rig)->error, NGHTTP2_CANCEL);
    UNTIL(rig, raw_read(good) && (known = answer_pings(good, known)) > 0 && count_pings(good) >= 3);
    EXPECT(!good->has_ended);
    raw_free(silent);
    raw_free(good);
    rig_end(rig);
}

TEST(a_client_that_pings_too_often_is_dismissed) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    raw_send_request(raw, 0, 1, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == 1);
    for (int i = 0; i < 3; i++) { // the first, and two strikes
        raw_send_frame(raw, NGHTTP2_PING, 0, 0, "12345678", 8);
        rig_run_ms(rig, 5);
    }
    EXPECT(raw_read(raw) && !raw->has_ended);
    // What is sent wipes them out.
    EXPECT_EQUAL(call_send_text(rig_server_call(rig), "x"), CRPC_OK);
    UNTIL(rig, raw_read(raw) && raw_data_length(raw, 1) > 0);
    for (int i = 0; i < 3; i++) {
        raw_send_frame(raw, NGHTTP2_PING, 0, 0, "12345678", 8);
        rig_run_ms(rig, 5);
    }
    EXPECT(raw_read(raw) && !raw->has_ended);
    raw_send_frame(raw, NGHTTP2_PING, 0, 0, "12345678", 8);
    UNTIL(rig, raw_read(raw) && raw->has_ended);
    EXPECT_EQUAL(raw_error(raw_find(raw, NGHTTP2_GOAWAY, 0)), NGHTTP2_ENHANCE_YOUR_CALM);
    EXPECT(says(raw_find(raw, NGHTTP2_GOAWAY, 0), "too_many_pings"));
    raw_free(raw);
    rig_end(rig);
}

TEST(pings_that_keep_the_interval_are_answered) {
    rig_setup setup = rig_defaults();
    setup.server.ping_interval_min_ms = 20;
    for (int permits = 0; permits < 2; permits++) {
        setup.server.permits_pings_without_calls = permits;
        rig *rig = rig_start(&setup);
        raw *raw = raw_connect(rig);
        UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_SETTINGS, 0) != NULL);
        for (int i = 0; i < 5 && !raw->has_ended; i++) {
            raw_send_frame(raw, NGHTTP2_PING, 0, 0, "12345678", 8);
            rig_run_ms(rig, 25);
            (void)raw_read(raw);
        }
        // Without calls the interval is two hours, unless it is permitted.
        EXPECT_EQUAL(raw->has_ended, !permits);
        raw_free(raw);
        rig_end(rig);
    }
}

TEST(a_client_learns_that_it_pings_too_often) {
    static const uint8_t goaway[] = "\0\0\0\1\0\0\0\13too_many_pings", other[] = "\0\0\0\1\0\0\0\13too_many_frames";
    for (int pings = 0; pings < 2; pings++) {
        rig_setup setup = rig_defaults();
        setup.has_no_listener = true;
        rig *rig = rig_start(&setup);
        raw *raw = raw_listen(rig);
        peer *peer = rig_connect_to(rig, raw->port);
        call *call = call_unary(peer, METHOD_HOLD, "x");
        raw_accept(raw);
        UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_HEADERS, 1) != NULL);
        EXPECT(!crpc_connection_has_pinged_too_often(peer->connection));
        const uint8_t *payload = pings ? goaway : other;
        raw_send_frame(raw, NGHTTP2_GOAWAY, 0, 0, payload, (pings ? sizeof goaway : sizeof other) - 1);
        UNTIL(rig, peer->drainings == 1);
        REQUIRE(peer->connection != NULL);
        EXPECT_EQUAL(crpc_connection_has_pinged_too_often(peer->connection), pings);
        raw_close(raw, false);
        UNTIL(rig, peer->closes == 1);
        EXPECT_EQUAL(call->status, 14);
        raw_free(raw);
        rig_end(rig);
    }
}

TEST(an_old_connection_is_drained) {
    rig_setup setup = rig_defaults();
    setup.server.connection_age_max_ms = 200;
    setup.server.connection_age_grace_ms = 300;
    rig *rig = rig_start(&setup);
    uint64_t start = now_ms();
    raw *raw = raw_connect(rig);
    raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, 1, rig_paths[METHOD_HOLD], NULL, NULL);
    raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, 3, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == 2 && raw_read(raw) && raw_find(raw, NGHTTP2_GOAWAY, 0) != NULL);
    EXPECT(now_ms() - start >= 178 && now_ms() - start < 300);
    const raw_frame *goaway = raw_find(raw, NGHTTP2_GOAWAY, 0);
    EXPECT_EQUAL(raw_error(goaway), NGHTTP2_NO_ERROR);
    EXPECT_BYTES(goaway->payload, 4, "\177\377\377\377", 4); // the first of two
    rig_run_ms(rig, 150);
    EXPECT_EQUAL(call_finish(rig->server_calls[0], 0, ""), CRPC_OK);
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL);
    UNTIL(rig, raw_read(raw) && raw->has_ended); // the other call had its grace
    EXPECT(now_ms() - start >= 470);
    EXPECT_EQUAL(rig->server_calls[1]->error, NGHTTP2_CANCEL);
    raw_free(raw);
    rig_end(rig);
}

TEST(connections_of_one_age_do_not_go_together) {
    rig_setup setup = rig_defaults();
    setup.server.connection_age_max_ms = 1000000;
    rig *rig = rig_start(&setup);
    uint64_t least = UINT64_MAX, most = 0, now = crpc_loop_now_ns(rig->loop);
    for (int i = 0; i < 20; i++) {
        (void)rig_open(rig);
        uint64_t age_ms = (rig_server_peer(rig)->connection->h2.due_ns[CRPC_DUE_AGE] - now) / 1000000;
        least = age_ms < least ? age_ms : least;
        most = age_ms > most ? age_ms : most;
    }
    EXPECT(least >= 900000 && most <= 1105000);
    EXPECT(most - least > 20000);
    rig_end(rig);
}
