#include "h1_scene.h"
#include "test.h"

#include <stdio.h>

// Requests and responses on one connection: the callbacks, the sent bytes, their order, and the end.

#define HOST "Host: x\r\n"
#define GET(target) "GET " target " HTTP/1.1\r\n" HOST "\r\n"

/// What was sent without Date, whose text is another one each time.
static void expect_sent(h1_scene *scene, const char *expected) {
    char text[4096];
    size_t length = 0;
    for (size_t i = 0; i < scene->sent_length && length < sizeof text - 1; i++) {
        if (scene->sent_length - i > 37 && memcmp(scene->sent + i, "date: ", 6) == 0) i += 37;
        text[length++] = (char)scene->sent[i];
    }
    EXPECT_TEXT(text, length, expected);
    h1_scene_forget_sent(scene);
}

TEST(h1_a_request_is_told_and_answered) {
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    h1_scene_ask(&scene, "GET /a?b=c HTTP/1.1\r\nHost: example.org:8080\r\nAccept:  */* \r\nX-Empty:\r\n\r\n");
    REQUIRE(scene.told_count == 1);
    h1_told *told = h1_scene_last(&scene);
    EXPECT_TEXT(told->method, strlen(told->method), "GET");
    EXPECT_TEXT(told->target, strlen(told->target), "/a?b=c");
    EXPECT_TEXT(told->authority, strlen(told->authority), "example.org:8080");
    EXPECT_TEXT(told->fields, strlen(told->fields), "accept: */*\nx-empty: \n");
    EXPECT_EQUAL(told->version, 11);
    EXPECT_EQUAL(told->fault, CRPC_FAULT_NONE);
    EXPECT_EQUAL(told->content_length, -1);
    EXPECT(told->is_whole && told->is_complete);
    EXPECT_EQUAL(told->closes, 1);
    expect_sent(&scene, "HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\nGET /a?b=c 0");
    EXPECT(scene.h1 != NULL);
    EXPECT_EQUAL(scene.ready, 1);
    EXPECT_EQUAL(scene.busy, 1);
    EXPECT_EQUAL(scene.idle, 1);
    h1_scene_end(&scene);
}

TEST(h1_requests_follow_each_other_on_a_connection) {
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    for (int i = 0; i < 5; i++) {
        h1_scene_ask(&scene, "POST /p HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello");
        EXPECT_TEXT(h1_scene_last(&scene)->body, h1_scene_last(&scene)->body_length, "hello");
        expect_sent(&scene, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nPOST /p 5");
    }
    EXPECT_EQUAL(scene.told_count, 5);
    EXPECT_EQUAL(scene.ready, 1);
    EXPECT_EQUAL(scene.idle, 5);
    h1_scene_end(&scene);
}

/// Three requests, of which the last is malformed; all their shapes of body are there.
static const char mixed[] =
    "\r\nPOST /one HTTP/1.1\r\n" HOST "Content-Length: 3\r\nContent-Type: text/plain\r\n\r\nabc"
    "POST /two HTTP/1.1\r\nhost: y\r\ntransfer-encoding: Chunked\r\n\r\n"
    "4\r\nwiki\r\n00A;x=\"y\"\r\npedia in\r\n\r\n0\r\nX-Trailer: 1\r\n\r\n"
    "HEAD /three HTTP/1.1\r\n" HOST "\r\n"
    "GET http://x/four?q HTTP/1.1\r\n" HOST "Connection: keep-alive\r\n\r\n"
    "GET /five HTTP/1.1\r\n" HOST HOST "\r\nGET /six HTTP/1.1\r\n" HOST "\r\n";

static void expect_mixed(h1_scene *scene, size_t at) {
    static const char *const targets[] = {"/one", "/two", "/three", "/four?q", "/five"};
    static const char *const bodies[] = {"abc", "wikipedia in\r\n", "", "", ""};
    if (!EXPECT_EQUAL(scene->told_count, 5)) test_note("cut at %zu", at);
    for (size_t i = 0; i < 5 && i < scene->told_count; i++) {
        h1_told *told = scene->told[i];
        EXPECT_TEXT(told->target, strlen(told->target), targets[i]);
        EXPECT_TEXT(told->body_length > 0 ? (const char *)told->body : "", told->body_length, bodies[i]);
        EXPECT_EQUAL(told->fault, i == 4 ? CRPC_FAULT_HOST_COUNT : CRPC_FAULT_NONE);
        EXPECT(told->is_whole && told->is_complete);
    }
    EXPECT_EQUAL(h1_count_answers(scene), 5);
    EXPECT(h1_has_sent(scene, "connection: close\r\n\r\nGET /five 0"));
    EXPECT(scene->h1 == NULL);
    EXPECT_EQUAL(scene->error, CRPC_OK);
}

TEST(h1_requests_are_the_same_however_they_are_cut) {
    for (size_t at = 0; at < sizeof mixed - 1; at++) {
        h1_scene scene;
        REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
        h1_scene_feed(&scene, mixed, at);
        if (at % 2 == 0) h1_scene_turn(&scene, 1);
        h1_scene_feed(&scene, mixed + at, sizeof mixed - 1 - at);
        h1_scene_turn(&scene, 1);
        expect_mixed(&scene, at);
        h1_scene_end(&scene);
        if (test_has_failed()) return;
    }
}

TEST(h1_requests_are_the_same_byte_by_byte_and_at_any_room) {
    static const size_t rooms[] = {0, 21, 22, 64, 4096, 4100};
    for (size_t r = 0; r < sizeof rooms / sizeof rooms[0]; r++) {
        h1_scene scene;
        REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
        scene.room = rooms[r];
        for (size_t i = 0; i < sizeof mixed - 1; i++) {
            h1_scene_feed(&scene, mixed + i, 1);
            if (r % 2 == 0) h1_scene_turn(&scene, 1);
        }
        h1_scene_turn(&scene, 1);
        expect_mixed(&scene, r);
        h1_scene_end(&scene);
    }
}

TEST(h1_pipelined_requests_wait_for_their_turn) {
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, GET("/1") GET("/2") GET("/3"));
    for (size_t i = 1; i <= 3; i++) {
        REQUIRE(scene.told_count == i);
        EXPECT_EQUAL(scene.turn.stats.handlers, 1);
        EXPECT_EQUAL(h1_answer(h1_scene_last(&scene), "x"), CRPC_OK);
        EXPECT_EQUAL(h1_answer(h1_scene_last(&scene), "x"), CRPC_ERROR_CLOSED);
        EXPECT_EQUAL(scene.told_count, i); // no callback fires from inside that call
        h1_scene_turn(&scene, 0);
        EXPECT_EQUAL(h1_count_answers(&scene), i);
    }
    EXPECT_EQUAL(scene.told_count, 3);
    h1_scene_end(&scene);
}

TEST(h1_no_more_pipelined_requests_are_read_than_there_is_room_for) {
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    scene.answering = H1_BY_HAND;
    enum { REQUESTS = 2000 };
    for (int i = 0; i < REQUESTS; i++) h1_scene_say(&scene, GET("/"));
    EXPECT_EQUAL(scene.told_count, 1);
    EXPECT_EQUAL(crpc_h1_read_room(scene.h1), 0);
    EXPECT(scene.turn.stats.held_bytes > CRPC_H1_PIPELINED_MAX / 2);
    EXPECT(scene.turn.stats.held_bytes <= 3 * CRPC_H1_PIPELINED_MAX);
    scene.answering = H1_AT_ONCE;
    (void)h1_answer(h1_scene_last(&scene), "first");
    h1_scene_turn(&scene, 0);
    EXPECT_EQUAL(scene.told_count, REQUESTS);
    EXPECT_EQUAL(h1_count_answers(&scene), REQUESTS);
    EXPECT_EQUAL(scene.turn.stats.held_bytes, 0);
    h1_scene_end(&scene);
}

TEST(h1_keep_alive_is_as_the_versions_have_it) {
    static const struct {
        const char *request;
        const char *connection; // what the answer says
        bool goes_on;
    } cases[] = {
        {"GET / HTTP/1.1\r\n" HOST "\r\n", "", true},
        {"GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", "connection: close\r\n", false},
        {"GET / HTTP/1.1\r\n" HOST "Connection: foo, CLOSE\r\n\r\n", "connection: close\r\n", false},
        {"GET / HTTP/1.1\r\n" HOST "Connection: foo\r\nConnection: close\r\n\r\n", "connection: close\r\n", false},
        {"GET / HTTP/1.1\r\n" HOST "Connection: keep-alive, close\r\n\r\n", "connection: close\r\n", false},
        {"GET / HTTP/1.1\r\n" HOST "Connection: upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n", "", true},
        {"GET / HTTP/1.0\r\n\r\n", "connection: close\r\n", false},
        {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "connection: keep-alive\r\n", true},
        {"GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", "connection: close\r\n", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        h1_scene scene;
        REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
        h1_scene_ask(&scene, cases[i].request);
        char expected[200];
        (void)snprintf(
            expected, sizeof expected, "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n%s\r\nGET / 0", cases[i].connection);
        expect_sent(&scene, expected);
        if (!EXPECT((scene.h1 != NULL) == cases[i].goes_on)) test_note("%s", cases[i].request);
        EXPECT_EQUAL(scene.error, CRPC_OK);
        h1_scene_end(&scene);
    }
}

TEST(h1_what_belongs_to_the_connection_is_not_told) {
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    h1_scene_ask(
        &scene,
        "POST / HTTP/1.1\r\nHost: x\r\nConnection: te\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\nUpgrade: y\r\nTE: trailers\r\n"
        "Content-Length: 1\r\nExpect: 100-continue\r\nX: 1\r\n\r\na");
    EXPECT_TEXT(h1_scene_last(&scene)->fields, strlen(h1_scene_last(&scene)->fields), "x: 1\n");
    EXPECT_EQUAL(h1_scene_last(&scene)->content_length, 1);
    h1_scene_end(&scene);
}

TEST(h1_a_body_that_is_expected_is_asked_for) {
    static const char head[] = "POST / HTTP/1.1\r\n" HOST "Content-Length: 2\r\nExpect: 100-Continue\r\n\r\n";
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    h1_scene_ask(&scene, head);
    expect_sent(&scene, "HTTP/1.1 100 Continue\r\n\r\n");
    h1_scene_ask(&scene, "ab");
    expect_sent(&scene, "HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nPOST / 2");
    h1_scene_say(&scene, head); // and not where it has come
    h1_scene_feed(&scene, "", 0);
    h1_scene_turn(&scene, 0);
    h1_scene_forget_sent(&scene);
    h1_scene_ask(&scene, "cd");
    expect_sent(&scene, "HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nPOST / 2");
    char whole[sizeof head + 2];
    (void)snprintf(whole, sizeof whole, "%sef", head);
    h1_scene_ask(&scene, whole);
    expect_sent(&scene, "HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nPOST / 2");
    h1_scene_end(&scene);
}

TEST(h1_an_answer_instead_of_the_expected_body_is_the_last) {
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    scene.answering = H1_AT_ONCE;
    h1_scene_ask(&scene, "POST / HTTP/1.1\r\n" HOST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    expect_sent(&scene, "HTTP/1.1 200 OK\r\ncontent-length: 8\r\nconnection: close\r\n\r\nPOST / 0");
    EXPECT(scene.h1 == NULL);
    h1_scene_end(&scene);
}

TEST(h1_other_expectations_and_those_of_old_clients_are_ignored) {
    static const char *const heads[] = {
        "POST / HTTP/1.1\r\n" HOST "Content-Length: 2\r\nExpect: 200-ok\r\n\r\n",
        "POST / HTTP/1.0\r\n" HOST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n",
    };
    for (int i = 0; i < 2; i++) {
        h1_scene scene;
        REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
        h1_scene_ask(&scene, heads[i]);
        EXPECT_EQUAL(scene.sent_length, 0);
        h1_scene_ask(&scene, "ab");
        EXPECT_EQUAL(h1_count_answers(&scene), 1);
        h1_scene_end(&scene);
    }
}

TEST(h1_what_is_wrong_is_answered_in_its_turn_and_ends_the_connection) {
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, GET("/1") "GET /2 HTTP/1.1\r\n\r\n" GET("/3"));
    EXPECT_EQUAL(scene.told_count, 1);
    (void)h1_answer(h1_scene_last(&scene), "1");
    h1_scene_turn(&scene, 0);
    REQUIRE(scene.told_count == 2);
    EXPECT_EQUAL(h1_scene_last(&scene)->fault, CRPC_FAULT_HOST_COUNT);
    EXPECT_TEXT(h1_scene_last(&scene)->target, strlen(h1_scene_last(&scene)->target), "/2");
    h1_scene_ask(&scene, GET("/4"));
    EXPECT_EQUAL(crpc_exchange_respond(h1_scene_last(&scene)->exchange, 400, NULL, 0, NULL, 0), CRPC_OK);
    h1_scene_turn(&scene, 0);
    EXPECT_EQUAL(h1_count_answers(&scene), 2);
    EXPECT(h1_has_sent(&scene, "HTTP/1.1 400 Bad Request\r\n"));
    EXPECT(scene.h1 == NULL);
    EXPECT_EQUAL(scene.told_count, 2);
    h1_scene_end(&scene);
}

TEST(h1_a_body_that_breaks_its_framing_is_told_and_may_be_answered) {
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    h1_scene_ask(&scene, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\nxyz\r\n" GET("/2"));
    EXPECT_EQUAL(scene.told_count, 1);
    EXPECT_TEXT(h1_scene_last(&scene)->body, h1_scene_last(&scene)->body_length, "ab");
    EXPECT_EQUAL(h1_scene_last(&scene)->broken, CRPC_ERROR_PROTOCOL);
    expect_sent(&scene, "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    EXPECT(scene.h1 == NULL);
    h1_scene_end(&scene);
}

TEST(h1_a_client_that_sends_no_more_gets_its_answer) {
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, GET("/1") GET("/2") "GET /3 HT");
    h1_scene_half_close(&scene);
    EXPECT_EQUAL(crpc_h1_read_room(scene.h1), 0);
    (void)h1_answer(h1_scene_last(&scene), "1");
    h1_scene_turn(&scene, 1000);
    REQUIRE(scene.told_count == 2);
    (void)h1_answer(h1_scene_last(&scene), "2");
    h1_scene_turn(&scene, 1000);
    EXPECT_EQUAL(h1_count_answers(&scene), 2);
    EXPECT(scene.h1 == NULL);
    EXPECT_EQUAL(scene.told_count, 2);
    h1_scene_end(&scene);
}

TEST(h1_a_client_that_sends_no_more_has_not_for_ever) {
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, GET("/1"));
    h1_scene_half_close(&scene);
    h1_scene_turn(&scene, CRPC_H1_HALF_CLOSED_MS - 1);
    EXPECT(scene.h1 != NULL);
    h1_scene_turn(&scene, 1);
    EXPECT(scene.h1 == NULL);
    EXPECT(!h1_scene_last(&scene)->is_complete);
    h1_scene_end(&scene);
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK); // nor for what had come by then
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, GET("/1") GET("/2"));
    h1_scene_half_close(&scene);
    h1_scene_turn(&scene, CRPC_H1_HALF_CLOSED_MS - 1);
    (void)h1_answer(h1_scene_last(&scene), "1");
    h1_scene_turn(&scene, 0);
    h1_scene_turn(&scene, CRPC_H1_HALF_CLOSED_MS - 1);
    EXPECT(scene.h1 != NULL);
    h1_scene_turn(&scene, 1);
    EXPECT(scene.h1 == NULL);
    EXPECT_EQUAL(scene.told_count, 2);
    h1_scene_end(&scene);
}

TEST(h1_empty_lines_in_front_of_a_request_begin_no_head) {
    static const char *const pieces[] = {"\r\n", "\r", "\n", "\r\n\r\n"};
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    h1_scene_ask(&scene, "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nx\r\n"); // one behind the body
    EXPECT_EQUAL(scene.h1->waiting.length, 0);
    h1_scene_turn(&scene, 11000); // past the time of a head
    REQUIRE(scene.h1 != NULL && scene.told_count == 1);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) h1_scene_ask(&scene, pieces[i]);
    EXPECT_EQUAL(scene.h1->waiting.length, 0);
    h1_scene_turn(&scene, 11000);
    REQUIRE(scene.h1 != NULL && scene.told_count == 1);
    h1_scene_ask(&scene, "\r\n" GET("/"));
    EXPECT_EQUAL(scene.told_count, 2);
    EXPECT_EQUAL(h1_scene_last(&scene)->fault, CRPC_FAULT_NONE);
    EXPECT(h1_has_sent(&scene, "HTTP/1.1 200"));
    EXPECT_EQUAL(h1_count_answers(&scene), 2);
    h1_scene_turn(&scene, 59999); // nor do they keep it
    h1_scene_ask(&scene, "\r\n");
    h1_scene_turn(&scene, 1);
    EXPECT(scene.h1 == NULL);
    h1_scene_end(&scene);
}

TEST(h1_a_flood_of_empty_lines_is_dismissed) {
    crpc_limits limits;
    crpc_limits_default(&limits);
    limits.credit_max = 100;
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, &limits) == CRPC_OK);
    for (int i = 0; i < 100; i++) h1_scene_ask(&scene, "\r\n");
    EXPECT(scene.h1 != NULL);
    h1_scene_ask(&scene, "\r\n");
    EXPECT(scene.h1 == NULL);
    EXPECT_EQUAL(scene.error, CRPC_ERROR_LIMIT);
    EXPECT_EQUAL(scene.told_count, 0);
    h1_scene_end(&scene);
}

TEST(h1_a_stream_of_events_ends_soon_after_its_client_has_gone) {
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, GET("/events"));
    EXPECT_EQUAL(crpc_exchange_send_head(h1_scene_last(&scene)->exchange, 200, NULL, 0, -1), CRPC_OK);
    h1_scene_turn(&scene, 60000);
    h1_scene_half_close(&scene);
    h1_scene_turn(&scene, CRPC_H1_HALF_LOOK_MS - 1);
    EXPECT(scene.h1 != NULL);
    h1_scene_turn(&scene, 1);
    EXPECT(scene.h1 == NULL);
    EXPECT_EQUAL(h1_scene_last(&scene)->closes, 1);
    EXPECT(!h1_scene_last(&scene)->is_complete);
    h1_scene_end(&scene);
}

/// Sends a byte of an answer that is begun.
static void send_a_byte(h1_scene *scene) {
    uint8_t *memory = malloc(1);
    REQUIRE(memory != NULL);
    *memory = 'x';
    EXPECT_EQUAL(crpc_exchange_send(h1_scene_last(scene)->exchange, memory, 0, 1), CRPC_OK);
    h1_scene_turn(scene, 0);
}

TEST(h1_an_answer_that_moves_is_not_cut_by_a_look) {
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, GET("/chunks"));
    EXPECT_EQUAL(crpc_exchange_send_head(h1_scene_last(&scene)->exchange, 200, NULL, 0, -1), CRPC_OK);
    h1_scene_half_close(&scene);
    for (int i = 0; i < 3; i++) { // all of it has gone out at each look
        h1_scene_turn(&scene, CRPC_H1_HALF_LOOK_MS / 2);
        REQUIRE(scene.h1 != NULL);
        send_a_byte(&scene);
        h1_scene_turn(&scene, CRPC_H1_HALF_LOOK_MS / 2);
        REQUIRE(scene.h1 != NULL);
    }
    h1_scene_turn(&scene, CRPC_H1_HALF_LOOK_MS);
    EXPECT(scene.h1 == NULL); // it was silent for a whole look
    h1_scene_end(&scene);
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK); // nor does it go on for ever where it never is
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, GET("/chunks"));
    EXPECT_EQUAL(crpc_exchange_send_head(h1_scene_last(&scene)->exchange, 200, NULL, 0, -1), CRPC_OK);
    h1_scene_half_close(&scene);
    unsigned looks = 0;
    for (; scene.h1 != NULL && looks < 20; looks++) {
        send_a_byte(&scene);
        h1_scene_turn(&scene, CRPC_H1_HALF_LOOK_MS);
    }
    EXPECT_EQUAL(looks, CRPC_H1_HALF_CLOSED_MS / CRPC_H1_HALF_LOOK_MS);
    h1_scene_end(&scene);
}

TEST(h1_a_half_closed_client_that_still_reads_gets_its_answer) {
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    scene.answering = H1_BY_HAND;
    h1_scene_ask(&scene, GET("/long"));
    scene.is_socket_full = true;
    h1_told *told = h1_scene_last(&scene);
    EXPECT_EQUAL(crpc_exchange_send_head(told->exchange, 200, NULL, 0, 3), CRPC_OK);
    h1_scene_half_close(&scene);
    h1_scene_turn(&scene, 3 * CRPC_H1_HALF_LOOK_MS);
    REQUIRE(scene.h1 != NULL);
    scene.is_socket_full = false;
    uint8_t *memory = malloc(3);
    REQUIRE(memory != NULL);
    memcpy(memory, "abc", 3);
    EXPECT_EQUAL(crpc_exchange_send(told->exchange, memory, 0, 3), CRPC_OK);
    EXPECT_EQUAL(crpc_exchange_finish(told->exchange, NULL, 0), CRPC_OK);
    h1_scene_turn(&scene, 0);
    EXPECT(h1_has_sent(&scene, "abc"));
    EXPECT(told->is_complete);
    EXPECT(scene.h1 == NULL);
    h1_scene_end(&scene);
}

TEST(h1_only_who_may_be_sending_a_request_is_read_on_for_long) {
    static char large[80000];
    memset(large, 'a', sizeof large - 1);
    static const char beginning[] = "POST / HTTP/1.1\r\n" HOST "X: ";
    memcpy(large, beginning, sizeof beginning - 1);
    static const struct {
        const char *text;
        crpc_fault fault;
        bool leaves_rest;
    } cases[] = {
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: x\r\n\r\n", CRPC_FAULT_CONTENT_LENGTH_INVALID, true},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n", CRPC_FAULT_TRANSFER_ENCODING_UNKNOWN, true},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked, gzip\r\n\r\n", CRPC_FAULT_TRANSFER_ENCODING_INVALID, true},
        {large, CRPC_FAULT_HEAD_TOO_LARGE, true},
        {"GET / HTTP/1.1\r\n\r\n", CRPC_FAULT_HOST_COUNT, false},
        {"\x16\x03\x01\x02\r\n\r\n", CRPC_FAULT_MALFORMED, false}, // TLS in clear text, or a scanner
        {"GET / HTTP/1.1\r\nHos", CRPC_FAULT_HEAD_TIMEOUT, false},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 100000000\r\n\r\nx", CRPC_FAULT_NONE, true},
        {"GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", CRPC_FAULT_NONE, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        h1_scene scene;
        REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
        scene.answering = H1_AT_ONCE;
        h1_scene_ask(&scene, cases[i].text);
        h1_scene_turn(&scene, 11000); // past the time of a head
        h1_scene_turn(&scene, 31000); // and of a body
        EXPECT(scene.h1 == NULL && scene.told_count == 1);
        EXPECT_EQUAL(h1_scene_last(&scene)->fault, cases[i].fault);
        if (!EXPECT_EQUAL(scene.left_rest, cases[i].leaves_rest)) test_note("case %zu", i);
        h1_scene_end(&scene);
    }
}

TEST(h1_a_body_that_ends_too_soon_is_told_as_broken) {
    static const char *const beginnings[] = {
        "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nab",
        "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\nab",
    };
    for (int i = 0; i < 2; i++) {
        h1_scene scene;
        REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
        h1_scene_ask(&scene, beginnings[i]);
        h1_scene_half_close(&scene);
        EXPECT_EQUAL(h1_scene_last(&scene)->broken, CRPC_ERROR_PROTOCOL);
        EXPECT(h1_has_sent(&scene, "HTTP/1.1 400 Bad Request\r\n"));
        EXPECT(scene.h1 == NULL);
        h1_scene_end(&scene);
    }
}

TEST(h1_an_idle_connection_ends_with_its_client) {
    h1_scene scene;
    REQUIRE(h1_scene_begin(&scene, NULL) == CRPC_OK);
    h1_scene_ask(&scene, GET("/"));
    h1_scene_half_close(&scene);
    EXPECT(scene.h1 == NULL);
    h1_scene_end(&scene);
}
