#include "h1_scene.h"
#include "memory_control.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

// What a client of HTTP/1.x may have us do, hold and wait for; and every allocation failing in turn.

#define HOST "Host: x\r\n"
#define GET "GET / HTTP/1.1\r\n" HOST "\r\n"
#define CHUNKED "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"

static crpc_limits limits_of(void) {
    crpc_limits limits;
    crpc_limits_default(&limits);
    return limits;
}

static void begin(h1_scene *scene, const crpc_limits *limits) { REQUIRE(h1_scene_begin(scene, limits) == CRPC_OK); }

/// Expects that the connection is there until a moment, and not from then on.
static void expect_end_after(h1_scene *scene, uint64_t ms, int error) {
    h1_scene_turn(scene, ms - 1);
    EXPECT(scene->h1 != NULL);
    h1_scene_turn(scene, 1);
    EXPECT(scene->h1 == NULL);
    EXPECT_EQUAL(scene->error, error);
}

// ---- Time ----

TEST(h1_who_never_says_anything_is_left_without_a_word) {
    h1_scene scene;
    begin(&scene, NULL);
    expect_end_after(&scene, 10000, CRPC_OK);
    EXPECT_EQUAL(scene.sent_length, 0);
    EXPECT_EQUAL(scene.told_count, 0);
    h1_scene_end(&scene);
}

TEST(h1_the_first_head_has_its_time_in_all) {
    h1_scene scene;
    begin(&scene, NULL);
    h1_scene_turn(&scene, 9000);
    h1_scene_ask(&scene, "GET / HT"); // which gives it no other while
    h1_scene_turn(&scene, 999);
    EXPECT_EQUAL(scene.told_count, 0);
    h1_scene_turn(&scene, 1);
    REQUIRE(scene.told_count == 1);
    EXPECT_EQUAL(h1_scene_last(&scene)->fault, CRPC_FAULT_HEAD_TIMEOUT);
    EXPECT(scene.h1 == NULL);
    h1_scene_end(&scene);
}

TEST(h1_a_head_has_its_time) {
    static const char *const beginnings[] = {"G", "GET /a HTTP/1.1\r\n" HOST "X: ", "\r\nG"};
    for (int i = 0; i < 3; i++) {
        h1_scene scene;
        begin(&scene, NULL);
        h1_scene_ask(&scene, GET);
        h1_scene_turn(&scene, 30000);
        h1_scene_ask(&scene, beginnings[i]);
        h1_scene_turn(&scene, 9000);
        if (i == 1) h1_scene_ask(&scene, "more\r\nY: "); // which gives it no other while
        h1_scene_turn(&scene, 999);
        EXPECT_EQUAL(scene.told_count, 1);
        h1_scene_turn(&scene, 1);
        REQUIRE(scene.told_count == 2);
        EXPECT_EQUAL(h1_scene_last(&scene)->fault, CRPC_FAULT_HEAD_TIMEOUT);
        if (i == 1) EXPECT_TEXT(h1_scene_last(&scene)->target, strlen(h1_scene_last(&scene)->target), "/a");
        EXPECT(h1_has_sent(&scene, "connection: close\r\n"));
        EXPECT(scene.h1 == NULL);
        h1_scene_end(&scene);
    }
}

TEST(h1_an_idle_connection_has_its_time) {
    h1_scene scene;
    begin(&scene, NULL);
    h1_scene_ask(&scene, GET);
    expect_end_after(&scene, 60000, CRPC_OK);
    EXPECT_EQUAL(h1_count_answers(&scene), 1);
    h1_scene_end(&scene);
    crpc_limits limits = limits_of();
    limits.idle_timeout_ms = 7000; // the shorter one of two
    begin(&scene, &limits);
    h1_scene_ask(&scene, GET);
    expect_end_after(&scene, 7000, CRPC_OK);
    h1_scene_end(&scene);
}

TEST(h1_a_body_has_its_time) {
    h1_scene scene;
    begin(&scene, NULL);
    h1_scene_ask(&scene, "POST / HTTP/1.1\r\n" HOST "Content-Length: 100\r\n\r\n");
    for (int i = 0; i < 29; i++) {
        h1_scene_turn(&scene, 1000);
        h1_scene_ask(&scene, "x");
    }
    h1_scene_turn(&scene, 999);
    EXPECT_EQUAL(h1_scene_last(&scene)->broken, 0);
    h1_scene_turn(&scene, 1);
    EXPECT_EQUAL(h1_scene_last(&scene)->broken, CRPC_ERROR_TIMEOUT);
    EXPECT_EQUAL(h1_scene_last(&scene)->body_length, 29);
    EXPECT(h1_has_sent(&scene, "HTTP/1.1 408 Request Timeout\r\n"));
    EXPECT(scene.h1 == NULL);
    h1_scene_end(&scene);
}

TEST(h1_a_body_that_nobody_wants_has_its_time) {
    h1_scene scene;
    begin(&scene, NULL);
    scene.answering = H1_AT_ONCE;
    h1_scene_ask(&scene, "POST / HTTP/1.1\r\n" HOST "Content-Length: 100\r\n\r\n");
    EXPECT_EQUAL(h1_scene_last(&scene)->closes, 1);
    expect_end_after(&scene, 30000, CRPC_OK);
    h1_scene_end(&scene);
}

TEST(h1_a_handler_may_give_a_body_another_time) {
    static const char head[] = "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\n";
    h1_scene scene;
    begin(&scene, NULL);
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, head);
    h1_told *told = h1_scene_last(&scene);
    crpc_exchange_set_body_deadline(told->exchange, 0);
    h1_scene_turn(&scene, 100000);
    EXPECT_EQUAL(told->broken, 0);
    crpc_exchange_set_body_deadline(told->exchange, scene.turn.now_ns + 5000000);
    h1_scene_turn(&scene, 4);
    EXPECT_EQUAL(told->broken, 0);
    h1_scene_turn(&scene, 1);
    EXPECT_EQUAL(told->broken, CRPC_ERROR_TIMEOUT);
    h1_scene_end(&scene);
    // Once there is an answer, what is left of the body has the ordinary time.
    begin(&scene, NULL);
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, head);
    crpc_exchange_set_body_deadline(h1_scene_last(&scene)->exchange, 0);
    h1_scene_turn(&scene, 100000);
    EXPECT_EQUAL(h1_answer(h1_scene_last(&scene), "x"), CRPC_OK);
    h1_scene_turn(&scene, 0);
    EXPECT_EQUAL(h1_scene_last(&scene)->closes, 1);
    expect_end_after(&scene, 30000, CRPC_OK);
    h1_scene_end(&scene);
    // A deadline for a body that has come is none for the next one.
    begin(&scene, NULL);
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, GET);
    crpc_exchange_set_body_deadline(h1_scene_last(&scene)->exchange, scene.turn.now_ns + 5000000);
    EXPECT_EQUAL(scene.h1->due_ns[CRPC_H1_DUE_BODY], 0);
    h1_scene_end(&scene);
}

TEST(h1_a_deadline_is_told_and_changes_nothing_else) {
    h1_scene scene;
    begin(&scene, NULL);
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, GET);
    h1_told *told = h1_scene_last(&scene);
    EXPECT_EQUAL(crpc_exchange_set_deadline(told->exchange, scene.turn.now_ns + 5000000), CRPC_OK);
    h1_scene_turn(&scene, 4);
    EXPECT_EQUAL(told->deadlines, 0);
    h1_scene_turn(&scene, 1);
    EXPECT_EQUAL(told->deadlines, 1);
    EXPECT_EQUAL(crpc_exchange_set_deadline(told->exchange, scene.turn.now_ns + 5000000), CRPC_OK);
    EXPECT_EQUAL(crpc_exchange_set_deadline(told->exchange, 0), CRPC_OK);
    h1_scene_turn(&scene, 100000); // neither is the connection idle
    EXPECT_EQUAL(told->deadlines, 1);
    EXPECT_EQUAL(h1_answer(told, "late"), CRPC_OK);
    h1_scene_turn(&scene, 0);
    EXPECT(told->is_complete && scene.h1 != NULL);
    h1_scene_end(&scene);
}

TEST(h1_so_many_requests_are_all) {
    crpc_limits limits = limits_of();
    limits.requests_per_connection_max = 3;
    h1_scene scene;
    begin(&scene, &limits);
    h1_scene_ask(&scene, GET GET GET GET);
    EXPECT_EQUAL(scene.told_count, 3);
    EXPECT_EQUAL(h1_count_answers(&scene), 3);
    EXPECT(h1_has_sent(&scene, "connection: close\r\n\r\nGET / 0"));
    EXPECT(scene.h1 == NULL);
    h1_scene_end(&scene);
}

// ---- Draining ----

TEST(h1_a_drain_ends_who_is_idle_at_once) {
    h1_scene scene;
    begin(&scene, NULL);
    h1_scene_ask(&scene, GET);
    h1_scene_turn(&scene, CRPC_H1_LEAVE_MS);
    crpc_h1_drain(scene.h1);
    h1_scene_turn(&scene, 0);
    EXPECT(scene.h1 == NULL);
    EXPECT_EQUAL(scene.error, CRPC_OK);
    h1_scene_end(&scene);
}

TEST(h1_a_drain_waits_for_a_request_that_may_be_on_its_way) {
    h1_scene scene;
    begin(&scene, NULL);
    h1_scene_ask(&scene, GET);
    h1_scene_turn(&scene, CRPC_H1_LEAVE_MS - 100);
    crpc_h1_drain(scene.h1);
    h1_scene_turn(&scene, 99);
    EXPECT(scene.h1 != NULL);
    h1_scene_forget_sent(&scene);
    h1_scene_ask(&scene, GET);
    EXPECT_EQUAL(h1_count_answers(&scene), 1);
    EXPECT(h1_has_sent(&scene, "connection: close\r\n"));
    EXPECT(scene.h1 == NULL);
    h1_scene_end(&scene);
    begin(&scene, NULL);
    h1_scene_ask(&scene, GET);
    crpc_h1_drain(scene.h1);
    expect_end_after(&scene, CRPC_H1_LEAVE_MS, CRPC_OK);
    h1_scene_end(&scene);
}

TEST(h1_a_drain_answers_what_has_come) {
    h1_scene scene;
    begin(&scene, NULL);
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, GET GET GET);
    crpc_h1_drain(scene.h1);
    crpc_h1_drain(scene.h1);
    for (size_t i = 1; i <= 3; i++) {
        h1_scene_turn(&scene, 1000);
        REQUIRE(scene.told_count == i);
        EXPECT(!h1_has_sent(&scene, "connection: close"));
        EXPECT_EQUAL(h1_answer(h1_scene_last(&scene), "x"), CRPC_OK);
    }
    h1_scene_turn(&scene, 0);
    EXPECT_EQUAL(h1_count_answers(&scene), 3);
    EXPECT(h1_has_sent(&scene, "connection: close\r\n"));
    EXPECT(scene.h1 == NULL);
    h1_scene_end(&scene);
    // The same where all came at once and are answered at once.
    begin(&scene, NULL);
    crpc_h1_drain(scene.h1);
    h1_scene_ask(&scene, GET "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\na" CHUNKED "1\r\nb\r\n0\r\n\r\n" GET);
    EXPECT_EQUAL(h1_count_answers(&scene), 4);
    EXPECT(scene.h1 == NULL);
    h1_scene_end(&scene);
}

TEST(h1_a_drain_does_not_wait_for_ever) {
    h1_scene scene;
    begin(&scene, NULL);
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, GET);
    crpc_h1_drain(scene.h1);
    expect_end_after(&scene, 20000, CRPC_ERROR_TIMEOUT);
    EXPECT(!h1_scene_last(&scene)->is_complete);
    h1_scene_end(&scene);
}

TEST(h1_an_old_connection_drains) {
    crpc_limits limits = limits_of();
    limits.connection_age_max_ms = 100000;
    limits.keep_alive_timeout_ms = 0;
    h1_scene scene;
    begin(&scene, &limits);
    for (int i = 0; i < 89; i++) {
        h1_scene_turn(&scene, 1000);
        h1_scene_ask(&scene, GET);
    }
    EXPECT(scene.h1 != NULL);
    EXPECT(!h1_has_sent(&scene, "connection: close"));
    for (int i = 0; i < 220 && scene.h1 != NULL; i++) {
        h1_scene_turn(&scene, 100);
        h1_scene_ask(&scene, GET);
    }
    EXPECT(h1_has_sent(&scene, "connection: close"));
    EXPECT(scene.h1 == NULL);
    EXPECT_EQUAL(h1_count_answers(&scene), scene.told_count);
    h1_scene_end(&scene);
}

// ---- Work ----

TEST(h1_a_flood_of_tiny_chunks_is_dismissed) {
    crpc_limits limits = limits_of();
    limits.credit_max = 100;
    h1_scene scene;
    begin(&scene, &limits);
    h1_scene_ask(&scene, CHUNKED);
    for (int i = 0; i < 99; i++) h1_scene_ask(&scene, "1\r\nx\r\n");
    EXPECT(scene.h1 != NULL);
    EXPECT_EQUAL(h1_scene_last(&scene)->body_length, 99);
    h1_scene_ask(&scene, "1\r\nx\r\n");
    EXPECT(scene.h1 == NULL);
    EXPECT_EQUAL(scene.error, CRPC_ERROR_LIMIT);
    EXPECT_EQUAL(scene.turn.stats.connections_dismissed, 1);
    h1_scene_end(&scene);
}

TEST(h1_credit_comes_back_with_time_and_with_answers) {
    crpc_limits limits = limits_of();
    limits.credit_max = 100;
    limits.credit_per_second = 100;
    h1_scene scene;
    begin(&scene, &limits);
    for (int i = 0; i < 300; i++) h1_scene_ask(&scene, GET);
    EXPECT_EQUAL(scene.h1->credit.left, 100);
    h1_scene_ask(&scene, CHUNKED);
    for (int i = 0; i < 29; i++) {
        h1_scene_turn(&scene, 1000);
        for (int k = 0; k < 95; k++) h1_scene_ask(&scene, "1\r\nx\r\n");
    }
    EXPECT(scene.h1 != NULL);
    h1_scene_end(&scene);
}

TEST(h1_many_short_chunks_are_told_together) {
    h1_scene scene;
    begin(&scene, NULL);
    char text[6001];
    for (int i = 0; i < 1000; i++) memcpy(text + 6 * i, "1\r\nx\r\n", 7);
    h1_scene_say(&scene, CHUNKED);
    h1_scene_say(&scene, text);
    h1_scene_ask(&scene, "0\r\n\r\n");
    EXPECT_EQUAL(h1_scene_last(&scene)->body_length, 1000);
    EXPECT_EQUAL(h1_scene_last(&scene)->body_pieces, 2); // and the end
    EXPECT(h1_scene_last(&scene)->is_complete);
    h1_scene_end(&scene);
}

TEST(h1_a_head_in_tiny_pieces_costs_something) {
    crpc_limits limits = limits_of();
    limits.credit_max = 100;
    h1_scene scene;
    begin(&scene, &limits);
    for (int i = 0; i < 101; i++) h1_scene_ask(&scene, i == 0 ? "GET /" : "x");
    EXPECT(scene.h1 != NULL);
    h1_scene_ask(&scene, "x");
    EXPECT(scene.h1 == NULL);
    EXPECT_EQUAL(scene.error, CRPC_ERROR_LIMIT);
    h1_scene_end(&scene);
}

// ---- Memory ----

TEST(h1_an_idle_connection_holds_nothing) {
    h1_scene scene;
    begin(&scene, NULL);
    h1_scene_ask(&scene, "GET / HT");
    EXPECT_EQUAL(scene.turn.stats.held_bytes, CRPC_BUFFER_BYTES);
    h1_scene_ask(&scene, "TP/1.1\r\n" HOST "\r\n");
    EXPECT_EQUAL(scene.turn.stats.held_bytes, 0);
    EXPECT(scene.h1->waiting.bytes == NULL && scene.h1->output.bytes == NULL);
    EXPECT_EQUAL(scene.service.buffers.count, 2);
    memory_fail_at(0, false);
    for (int i = 0; i < 10; i++) h1_scene_ask(&scene, GET);
    EXPECT_EQUAL(memory_count(), 0); // nothing is allocated for a request
    h1_scene_end(&scene);
}

TEST(h1_a_handler_that_does_not_read_holds_the_client_up) {
    crpc_limits limits = limits_of();
    limits.stream_window_bytes = 30000;
    h1_scene scene;
    begin(&scene, &limits);
    scene.reads_slowly = true;
    static char bytes[100000];
    h1_scene_ask(&scene, "POST / HTTP/1.1\r\n" HOST "Content-Length: 100000\r\n\r\n");
    h1_scene_feed(&scene, bytes, sizeof bytes);
    h1_scene_turn(&scene, 0);
    h1_told *told = h1_scene_last(&scene);
    EXPECT_EQUAL(told->body_length, 30000);
    EXPECT_EQUAL(scene.turn.stats.held_bytes, 30000);
    EXPECT_EQUAL(crpc_h1_read_room(scene.h1), 0);
    EXPECT_EQUAL(crpc_exchange_consume(told->exchange, 10000, false), CRPC_OK);
    h1_scene_turn(&scene, 0);
    EXPECT_EQUAL(told->body_length, 40000);
    EXPECT_EQUAL(crpc_exchange_consume(told->exchange, 30000, true), CRPC_OK);
    EXPECT_EQUAL(scene.turn.stats.held_bytes, 30000); // it is still there
    scene.reads_slowly = false;
    h1_scene_turn(&scene, 0);
    EXPECT_EQUAL(told->body_length, 100000);
    EXPECT(told->is_complete);
    EXPECT_EQUAL(scene.turn.stats.held_bytes, 0);
    h1_scene_end(&scene);
}

TEST(h1_a_window_less_than_what_comes_with_a_head_holds_the_client_up_all_the_same) {
    crpc_limits limits = limits_of();
    limits.stream_window_bytes = 1000;
    h1_scene scene;
    begin(&scene, &limits);
    scene.reads_slowly = true;
    static char bytes[100000];
    int length = snprintf(bytes, sizeof bytes, "POST / HTTP/1.1\r\n" HOST "Content-Length: 1000000\r\n\r\n");
    h1_scene_feed(&scene, bytes, sizeof bytes); // the first read has head and body in it
    h1_scene_turn(&scene, 0);
    EXPECT_EQUAL(h1_scene_last(&scene)->body_length, CRPC_H1_PIPELINED_MAX - (size_t)length);
    EXPECT_EQUAL(crpc_h1_read_room(scene.h1), 0);
    EXPECT_EQUAL(crpc_exchange_consume(h1_scene_last(&scene)->exchange, CRPC_H1_PIPELINED_MAX, false), CRPC_OK);
    EXPECT_EQUAL(crpc_h1_read_room(scene.h1), 1000);
    h1_scene_end(&scene);
}

TEST(h1_what_is_kept_is_bounded) {
    crpc_limits limits = limits_of();
    limits.buffered_bytes_max = 50000;
    h1_scene scene;
    begin(&scene, &limits);
    scene.answering = H1_BY_HAND;
    static char bytes[60000];
    h1_scene_ask(&scene, "POST / HTTP/1.1\r\n" HOST "Content-Length: 60000\r\n\r\n");
    scene.reads_slowly = true;
    h1_scene_feed(&scene, bytes, sizeof bytes);
    h1_told *told = h1_scene_last(&scene);
    EXPECT_EQUAL(told->body_length, 60000);
    EXPECT_EQUAL(crpc_exchange_consume(told->exchange, 60000, true), CRPC_ERROR_LIMIT);
    EXPECT_EQUAL(crpc_exchange_respond(told->exchange, 413, NULL, 0, NULL, 0), CRPC_OK); // what it keeps does not hinder it
    h1_scene_turn(&scene, 0);
    EXPECT(told->is_complete);
    h1_scene_end(&scene);
}

TEST(h1_what_is_kept_may_be_given_up) {
    h1_scene scene;
    begin(&scene, NULL);
    scene.answering = H1_BY_HAND;
    scene.keeps = true;
    h1_scene_ask(&scene, "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello");
    EXPECT_EQUAL(scene.turn.stats.held_bytes, 5);
    crpc_exchange_release(h1_scene_last(&scene)->exchange, 2);
    EXPECT_EQUAL(scene.turn.stats.held_bytes, 3);
    crpc_exchange_release(h1_scene_last(&scene)->exchange, 100);
    EXPECT_EQUAL(scene.turn.stats.held_bytes, 0);
    h1_scene_end(&scene);
}

TEST(h1_an_answer_that_nobody_takes_is_bounded) {
    crpc_limits limits = limits_of();
    limits.buffered_bytes_max = 50000;
    h1_scene scene;
    begin(&scene, &limits);
    scene.answering = H1_BY_HAND;
    scene.is_socket_full = true;
    h1_scene_ask(&scene, GET);
    h1_told *told = h1_scene_last(&scene);
    EXPECT_EQUAL(crpc_exchange_send_head(told->exchange, 200, NULL, 0, -1), CRPC_OK);
    int error = CRPC_OK, pieces = 0;
    for (; error == CRPC_OK && pieces < 100; pieces++) error = crpc_exchange_send(told->exchange, calloc(1, 1000), 0, 1000);
    EXPECT_EQUAL(error, CRPC_ERROR_LIMIT);
    EXPECT_EQUAL(pieces, 47);
    h1_scene_turn(&scene, 0);
    EXPECT(scene.h1 == NULL);
    EXPECT(!told->is_complete);
    h1_scene_end(&scene);
}

// ---- Numbers ----

TEST(h1_requests_past_the_greatest_number_of_calls_are_shed) {
    h1_scene scene;
    begin(&scene, NULL);
    scene.service.calls_max = 0;
    h1_scene_ask(&scene, GET "POST / HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nab" GET);
    EXPECT_EQUAL(scene.told_count, 0);
    EXPECT_EQUAL(h1_count_answers(&scene), 3);
    EXPECT(h1_has_sent(&scene, "HTTP/1.1 503 Service Unavailable\r\n"));
    EXPECT_EQUAL(scene.turn.stats.calls_shed, 3);
    EXPECT(scene.h1 != NULL);
    scene.service.calls_max = 1;
    h1_scene_ask(&scene, GET);
    EXPECT_EQUAL(scene.told_count, 1);
    h1_scene_end(&scene);
}

TEST(h1_handlers_that_run_on_are_bounded) {
    crpc_limits limits = limits_of();
    limits.streams_max = 2;
    h1_scene scene;
    begin(&scene, &limits);
    scene.keeps_handlers = true;
    for (int i = 0; i < 6; i++) h1_scene_ask(&scene, GET);
    EXPECT_EQUAL(scene.told_count, 4);
    EXPECT_EQUAL(scene.turn.stats.calls_shed, 2);
    h1_handler_ended(scene.told[0]);
    h1_scene_ask(&scene, GET);
    EXPECT_EQUAL(scene.told_count, 5);
    h1_scene_end(&scene);
}

TEST(h1_a_server_that_takes_no_request_refuses_it) {
    h1_scene scene;
    begin(&scene, NULL);
    scene.answering = H1_REFUSES;
    h1_scene_ask(&scene, GET);
    EXPECT(h1_has_sent(&scene, "HTTP/1.1 503 Service Unavailable\r\n"));
    EXPECT_EQUAL(scene.turn.stats.handlers, 0);
    EXPECT(scene.h1 != NULL);
    h1_scene_end(&scene);
}

TEST(h1_requests_for_other_names_are_misdirected) {
    h1_scene scene;
    begin(&scene, NULL);
    static const char *const names[] = {"api.example.org"};
    REQUIRE(crpc_names_begin(&scene.service.names, names, 1) == CRPC_OK);
    h1_scene_ask(&scene, "GET / HTTP/1.1\r\nHost: API.example.org:8080\r\n\r\n" GET);
    EXPECT_EQUAL(scene.told_count, 2);
    h1_scene_ask(&scene, "GET / HTTP/1.1\r\nHost: rebound.example.com\r\n\r\n");
    EXPECT(h1_has_sent(&scene, "HTTP/1.1 421 Misdirected Request\r\n"));
    h1_scene_forget_sent(&scene);
    h1_scene_ask(&scene, "GET http://rebound.example.com/ HTTP/1.1\r\nHost: rebound.example.com\r\n\r\n");
    EXPECT(h1_has_sent(&scene, "HTTP/1.1 421 Misdirected Request\r\n"));
    h1_scene_forget_sent(&scene);
    h1_scene_ask(&scene, "GET / HTTP/1.0\r\n\r\n");
    EXPECT(h1_has_sent(&scene, "HTTP/1.1 421 Misdirected Request\r\n"));
    EXPECT_EQUAL(scene.told_count, 2);
    EXPECT(scene.h1 == NULL); // HTTP/1.0
    h1_scene_end(&scene);
}

// ---- Allocations that fail ----

static bool serve_all_shapes(void) {
    h1_scene scene;
    static char body[9000];
    memset(body, 'b', sizeof body - 1);
    if (h1_scene_begin(&scene, NULL) != CRPC_OK) {
        h1_scene_end(&scene);
        return false;
    }
    h1_scene_say(&scene, "GET /a HTTP/1.1\r\nHo");
    h1_scene_ask(&scene, "st: x\r\n\r\n" GET GET "POST / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 1\r\n\r\n");
    h1_scene_ask(&scene, "x" CHUNKED "3\r\nabc\r\n0\r\n\r\n");
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, "GET / HTTP/1.1\r\n" HOST "TE: trailers\r\n\r\n" GET);
    if (scene.h1 != NULL && h1_scene_last(&scene)->exchange != NULL) {
        crpc_exchange *exchange = h1_scene_last(&scene)->exchange;
        uint8_t trailers[32];
        (void)crpc_exchange_send_head(exchange, 200, NULL, 0, -1);
        (void)crpc_exchange_send(exchange, strdup("hello"), 0, 5);
        (void)crpc_exchange_finish(exchange, trailers, h1_pack(trailers, "a: b\n"));
        h1_scene_turn(&scene, 0);
    }
    if (scene.h1 != NULL && h1_scene_last(&scene)->exchange != NULL) (void)h1_answer(h1_scene_last(&scene), body);
    h1_scene_turn(&scene, 0);
    scene.answering = H1_AT_END;
    h1_scene_ask(&scene, "GET / HTTP/1.1\r\n\r\n");
    bool is_well = scene.told_count == 8 && h1_count_answers(&scene) == 9 && scene.h1 == NULL && scene.error == CRPC_OK;
    for (size_t i = 0; i < scene.told_count; i++) is_well = is_well && scene.told[i]->is_complete;
    h1_scene_end(&scene);
    return is_well;
}

TEST(h1_failing_allocations_end_at_most_the_connection) {
    for (int and_all_after = 0; and_all_after < 2; and_all_after++) {
        for (size_t n = 1;; n++) {
            memory_fail_at(n, and_all_after);
            bool is_well = serve_all_shapes();
            bool was_reached = memory_count() >= n;
            memory_fail_at(0, false);
            if (test_has_failed()) {
                test_note("allocation %zu failed%s", n, and_all_after ? ", and all after it" : "");
                return;
            }
            if (was_reached) continue;
            EXPECT(is_well);
            EXPECT(n > 5);
            break;
        }
    }
}
