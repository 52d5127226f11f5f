#include "crpc_metadata.h"
#include "h1_scene.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// Answers on HTTP/1.x: heads, bodies of known and unknown length, trailers, what has no body, and what may not be sent.

#define HOST "Host: x\r\n"
#define GET "GET / HTTP/1.1\r\n" HOST "\r\n"

/// What was sent without Date's text, which is another one each time.
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

static h1_told *begin(h1_scene *scene, const char *request) {
    REQUIRE(h1_scene_begin(scene, NULL) == CRPC_OK);
    scene->answering = H1_BY_HAND;
    h1_scene_ask(scene, request);
    return h1_scene_last(scene);
}

static int send_text(h1_told *told, size_t offset, const char *text) {
    size_t length = strlen(text);
    uint8_t *memory = malloc(offset + length + 1);
    REQUIRE(memory != NULL);
    memset(memory, '?', offset);
    memcpy(memory + offset, text, length);
    return crpc_exchange_send(told->exchange, memory, offset, length);
}

static int respond(h1_told *told, uint32_t status, const char *fields, const char *body) {
    uint8_t packed[2048];
    size_t length = h1_pack(packed, fields);
    return crpc_exchange_respond(told->exchange, status, packed, length, (const uint8_t *)body, strlen(body));
}

static int send_head(h1_told *told, uint32_t status, const char *fields, int64_t content_length) {
    uint8_t packed[2048];
    return crpc_exchange_send_head(told->exchange, status, packed, h1_pack(packed, fields), content_length);
}

TEST(h1_fields_are_sent_in_their_order) {
    h1_scene scene;
    h1_told *told = begin(&scene, GET);
    EXPECT_EQUAL(respond(told, 201, "content-type: a/b\nset-cookie: x=1\nset-cookie: y\nempty: \n", "ok"), CRPC_OK);
    h1_scene_turn(&scene, 0);
    expect_sent(
        &scene, "HTTP/1.1 201 Created\r\ncontent-type: a/b\r\nset-cookie: x=1\r\nset-cookie: y\r\nempty: \r\n"
                "content-length: 2\r\n\r\nok");
    h1_scene_end(&scene);
}

TEST(h1_date_is_that_of_now) {
    h1_scene scene;
    h1_told *told = begin(&scene, GET);
    EXPECT_EQUAL(respond(told, 200, "", ""), CRPC_OK);
    h1_scene_turn(&scene, 0);
    const char *at = memmem(scene.sent, scene.sent_length, "date: ", 6);
    REQUIRE(at != NULL);
    struct tm parts = {0};
    EXPECT(strptime(at + 6, "%a, %d %b %Y %H:%M:%S GMT", &parts) != NULL);
    EXPECT(labs((long)(timegm(&parts) - time(NULL))) <= 2);
    h1_scene_end(&scene);
}

TEST(h1_answers_without_a_body_have_none) {
    static const struct {
        const char *method;
        uint32_t status;
        const char *expected;
    } cases[] = {
        {"HEAD", 200, "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n"},
        {"GET", 204, "HTTP/1.1 204 No Content\r\n\r\n"},
        {"GET", 304, "HTTP/1.1 304 Not Modified\r\ncontent-length: 4\r\n\r\n"},
        {"HEAD", 304, "HTTP/1.1 304 Not Modified\r\ncontent-length: 4\r\n\r\n"},
        {"GET", 299, "HTTP/1.1 299 \r\ncontent-length: 4\r\n\r\nbody"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        h1_scene scene;
        char request[64];
        (void)snprintf(request, sizeof request, "%s / HTTP/1.1\r\n" HOST "\r\n", cases[i].method);
        h1_told *told = begin(&scene, request);
        EXPECT_EQUAL(respond(told, cases[i].status, "", "body"), CRPC_OK);
        h1_scene_turn(&scene, 0);
        expect_sent(&scene, cases[i].expected);
        EXPECT(scene.h1 != NULL); // and the connection is where it should be
        scene.answering = H1_AT_END;
        h1_scene_ask(&scene, GET);
        expect_sent(&scene, "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nGET / 0");
        h1_scene_end(&scene);
    }
    h1_scene scene;
    h1_told *told = begin(&scene, GET);
    EXPECT_EQUAL(respond(told, 304, "", ""), CRPC_OK); // nobody knows what 200 would have
    h1_scene_turn(&scene, 0);
    expect_sent(&scene, "HTTP/1.1 304 Not Modified\r\n\r\n");
    h1_scene_end(&scene);
}

TEST(h1_a_body_of_unknown_length_goes_out_in_chunks) {
    h1_scene scene;
    h1_told *told = begin(&scene, GET);
    EXPECT_EQUAL(send_text(told, 0, "too soon"), CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(crpc_exchange_finish(told->exchange, NULL, 0), CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(send_head(told, 200, "a: b\n", -1), CRPC_OK);
    EXPECT_EQUAL(send_head(told, 200, "a: b\n", -1), CRPC_ERROR_CLOSED);
    EXPECT_EQUAL(respond(told, 200, "", ""), CRPC_ERROR_CLOSED);
    h1_scene_turn(&scene, 0);
    expect_sent(&scene, "HTTP/1.1 200 OK\r\na: b\r\ntransfer-encoding: chunked\r\n\r\n");
    EXPECT_EQUAL(send_text(told, 5, "0123456789abcdef"), CRPC_OK);
    EXPECT_EQUAL(send_text(told, 0, ""), CRPC_OK); // which would be the end
    EXPECT_EQUAL(send_text(told, 1, "x"), CRPC_OK);
    h1_scene_turn(&scene, 0);
    expect_sent(&scene, "10\r\n0123456789abcdef\r\n1\r\nx\r\n");
    EXPECT_EQUAL(send_text(told, 0, "y"), CRPC_OK);
    uint8_t trailers[64];
    EXPECT_EQUAL(crpc_exchange_finish(told->exchange, trailers, h1_pack(trailers, "t: u\n")), CRPC_OK);
    EXPECT_EQUAL(send_text(told, 0, "z"), CRPC_ERROR_CLOSED);
    h1_scene_turn(&scene, 0);
    expect_sent(&scene, "1\r\ny\r\n0\r\n\r\n"); // the client did not ask for trailers
    EXPECT(told->is_complete);
    EXPECT(scene.h1 != NULL);
    h1_scene_end(&scene);
}

TEST(h1_trailers_go_to_those_who_take_them) {
    h1_scene scene;
    h1_told *told = begin(&scene, "GET / HTTP/1.1\r\n" HOST "Connection: TE\r\nTE: gzip;q=0, Trailers\r\n\r\n");
    EXPECT_EQUAL(send_head(told, 200, "", -1), CRPC_OK);
    uint8_t trailers[64];
    EXPECT_EQUAL(crpc_exchange_finish(told->exchange, trailers, h1_pack(trailers, "a-b: c\nd: e\n")), CRPC_OK);
    h1_scene_turn(&scene, 0);
    expect_sent(&scene, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\na-b: c\r\nd: e\r\n\r\n");
    h1_scene_end(&scene);
}

TEST(h1_a_body_of_known_length_is_as_long) {
    h1_scene scene;
    h1_told *told = begin(&scene, GET);
    EXPECT_EQUAL(send_head(told, 200, "", 5), CRPC_OK);
    EXPECT_EQUAL(send_text(told, 0, "abc"), CRPC_OK);
    EXPECT_EQUAL(send_text(told, 0, "def"), CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(send_text(told, 3, "de"), CRPC_OK);
    EXPECT_EQUAL(crpc_exchange_finish(told->exchange, NULL, 0), CRPC_OK);
    h1_scene_turn(&scene, 0);
    expect_sent(&scene, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabcde");
    EXPECT(scene.h1 != NULL);
    h1_scene_ask(&scene, GET);
    told = h1_scene_last(&scene);
    EXPECT_EQUAL(send_head(told, 200, "", 5), CRPC_OK);
    EXPECT_EQUAL(send_text(told, 0, "abc"), CRPC_OK);
    EXPECT_EQUAL(crpc_exchange_finish(told->exchange, NULL, 0), CRPC_ERROR_ARGUMENT);
    h1_scene_turn(&scene, 0);
    EXPECT(!told->is_complete);
    EXPECT(scene.h1 == NULL);
    EXPECT_EQUAL(scene.error, CRPC_ERROR_CLOSED);
    h1_scene_end(&scene);
}

TEST(h1_streamed_answers_to_head_have_no_body) {
    static const int64_t lengths[] = {-1, 3};
    static const char *const expected[] = {"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n"};
    for (int i = 0; i < 2; i++) {
        h1_scene scene;
        h1_told *told = begin(&scene, "HEAD / HTTP/1.1\r\n" HOST "\r\n");
        EXPECT_EQUAL(send_head(told, 200, "", lengths[i]), CRPC_OK);
        if (i == 0) EXPECT_EQUAL(send_text(told, 0, "abc"), CRPC_OK);
        EXPECT_EQUAL(crpc_exchange_finish(told->exchange, NULL, 0), CRPC_OK);
        h1_scene_turn(&scene, 0);
        expect_sent(&scene, expected[i]);
        EXPECT(told->is_complete && scene.h1 != NULL);
        h1_scene_end(&scene);
    }
}

TEST(h1_old_clients_get_no_chunks) {
    h1_scene scene;
    h1_told *told = begin(&scene, "GET / HTTP/1.0\r\nConnection: keep-alive\r\nTE: trailers\r\n\r\n");
    EXPECT_EQUAL(send_head(told, 200, "", -1), CRPC_OK);
    EXPECT_EQUAL(send_text(told, 0, "abc"), CRPC_OK);
    uint8_t trailers[64];
    EXPECT_EQUAL(crpc_exchange_finish(told->exchange, trailers, h1_pack(trailers, "a: b\n")), CRPC_OK);
    h1_scene_turn(&scene, 0);
    expect_sent(&scene, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nabc");
    EXPECT(told->is_complete && scene.h1 == NULL);
    h1_scene_end(&scene);
}

TEST(h1_what_may_not_be_sent_is_refused) {
    static const char *const fields[] = {
        "Upper: a\n", "a b: c\n", ": c\n", "a:  b\n", "a: b \n", "a: \x01\n", "a: b\rc\n", "date: x\n", "content-length: 1\n",
        "connection: x\n", "keep-alive: x\n", "transfer-encoding: x\n", "upgrade: x\n", "te: x\n", "trailer: x\n",
        "proxy-connection: x\n", "host: x\n", "a: \x7f\n", "a: 0123456789012345678901234567890123456789\x1fx\n",
    };
    h1_scene scene;
    h1_told *told = begin(&scene, GET);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        EXPECT_EQUAL(respond(told, 200, fields[i], ""), CRPC_ERROR_ARGUMENT);
        EXPECT_EQUAL(send_head(told, 200, fields[i], -1), CRPC_ERROR_ARGUMENT);
        if (test_has_failed()) test_note("%s", fields[i]);
    }
    EXPECT_EQUAL(respond(told, 199, "", ""), CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(respond(told, 1000, "", ""), CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(send_head(told, 200, "", -2), CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(send_head(told, 101, "", 0), CRPC_ERROR_ARGUMENT);
    uint8_t cut[] = {1, 0, 9, 0, 0, 0, 'a'};
    EXPECT_EQUAL(crpc_exchange_respond(told->exchange, 200, cut, sizeof cut, NULL, 0), CRPC_ERROR_ARGUMENT);
    h1_scene_turn(&scene, 0);
    EXPECT_EQUAL(scene.sent_length, 0);
    EXPECT_EQUAL(send_head(told, 200, "a: b\tc \x80\xff!\n", -1), CRPC_OK);
    uint8_t trailers[64];
    EXPECT_EQUAL(crpc_exchange_finish(told->exchange, trailers, h1_pack(trailers, "te: x\n")), CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(crpc_exchange_finish(told->exchange, NULL, 0), CRPC_OK);
    h1_scene_turn(&scene, 0);
    expect_sent(&scene, "HTTP/1.1 200 OK\r\na: b\tc \x80\xff!\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n");
    h1_scene_end(&scene);
}

TEST(h1_an_answer_may_come_before_its_body_has_been_read) {
    h1_scene scene;
    h1_told *told = begin(&scene, "POST / HTTP/1.1\r\n" HOST "Content-Length: 10\r\n\r\nabc");
    EXPECT_EQUAL(respond(told, 413, "", "no"), CRPC_OK);
    h1_scene_turn(&scene, 0);
    EXPECT_EQUAL(told->closes, 1);
    expect_sent(&scene, "HTTP/1.1 413 Content Too Large\r\ncontent-length: 2\r\n\r\nno");
    EXPECT_EQUAL(scene.idle, 0);
    scene.answering = H1_AT_END;
    h1_scene_ask(&scene, "defghij" GET); // of which the first seven bytes belong to the answered one
    EXPECT_EQUAL(told->body_length, 3);
    EXPECT_EQUAL(scene.told_count, 2);
    EXPECT_EQUAL(scene.idle, 2);
    expect_sent(&scene, "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nGET / 0");
    h1_scene_end(&scene);
}

TEST(h1_a_long_body_is_not_dropped_to_its_end) {
    h1_scene scene;
    char head[200];
    (void)snprintf(
        head, sizeof head, "POST / HTTP/1.1\r\n" HOST "Content-Length: %d\r\n\r\n", CRPC_KEPT_BODY_MAX + 1);
    h1_told *told = begin(&scene, head);
    EXPECT_EQUAL(respond(told, 413, "", ""), CRPC_OK);
    h1_scene_turn(&scene, 0);
    expect_sent(&scene, "HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    EXPECT(scene.h1 == NULL);
    EXPECT_EQUAL(scene.error, CRPC_OK);
    h1_scene_end(&scene);
    static char bytes[16384];
    memset(bytes, 'b', sizeof bytes);
    told = begin(&scene, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n7fffffff\r\n");
    EXPECT_EQUAL(respond(told, 413, "", ""), CRPC_OK);
    h1_scene_turn(&scene, 0);
    expect_sent(&scene, "HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\n\r\n");
    for (size_t i = 0; i < CRPC_KEPT_BODY_MAX / sizeof bytes; i++) {
        h1_scene_feed(&scene, bytes, sizeof bytes);
        h1_scene_turn(&scene, 0);
        EXPECT(scene.h1 != NULL);
    }
    h1_scene_feed(&scene, bytes, 1);
    h1_scene_turn(&scene, 0);
    EXPECT(scene.h1 == NULL);
    EXPECT_EQUAL(scene.error, CRPC_OK);
    h1_scene_end(&scene);
}

TEST(h1_an_answer_may_be_made_the_last) {
    h1_scene scene;
    h1_told *told = begin(&scene, GET GET);
    crpc_exchange_set_last(told->exchange);
    EXPECT_EQUAL(respond(told, 200, "", ""), CRPC_OK);
    h1_scene_turn(&scene, 0);
    expect_sent(&scene, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    EXPECT(scene.h1 == NULL);
    EXPECT_EQUAL(scene.told_count, 1);
    h1_scene_end(&scene);
}

TEST(h1_an_exchange_that_is_reset_ends_with_its_connection) {
    h1_scene scene;
    h1_told *told = begin(&scene, GET GET);
    EXPECT_EQUAL(send_head(told, 200, "", -1), CRPC_OK);
    crpc_exchange_reset(told->exchange);
    EXPECT_EQUAL(told->closes, 0); // not from inside of that
    EXPECT_EQUAL(send_text(told, 0, "x"), CRPC_ERROR_CLOSED);
    h1_scene_turn(&scene, 0);
    EXPECT(scene.h1 == NULL);
    EXPECT(!told->is_complete);
    EXPECT_EQUAL(scene.told_count, 1);
    EXPECT_EQUAL(scene.sent_length, 0);
    h1_scene_end(&scene);
}

TEST(h1_a_slow_reader_is_told_of) {
    h1_scene scene;
    h1_told *told = begin(&scene, GET);
    EXPECT_EQUAL(send_head(told, 200, "", -1), CRPC_OK);
    scene.is_socket_full = true;
    static char bytes[10001];
    memset(bytes, 'b', sizeof bytes - 1);
    int pieces = 0;
    for (; crpc_exchange_is_writable(told->exchange) && pieces < 100; pieces++)
        EXPECT_EQUAL(send_text(told, 0, bytes), CRPC_OK);
    EXPECT_EQUAL(pieces, CRPC_STREAM_HIGH_WATER / 10000 + 1);
    EXPECT(scene.turn.stats.held_bytes >= CRPC_STREAM_HIGH_WATER);
    h1_scene_turn(&scene, 0);
    EXPECT_EQUAL(told->writables, 0);
    scene.is_socket_full = false;
    crpc_h1_mark(scene.h1);
    h1_scene_turn(&scene, 0);
    EXPECT_EQUAL(told->writables, 1);
    EXPECT_EQUAL(scene.turn.stats.held_bytes, 0);
    EXPECT_EQUAL(crpc_exchange_finish(told->exchange, NULL, 0), CRPC_OK);
    h1_scene_turn(&scene, 0);
    EXPECT(told->is_complete);
    h1_scene_end(&scene);
}

/// A writer that must wait is notified when it may write again: even if only little is past the mark, of a head or a body.
static void expect_room_is_told(size_t head_length, size_t queued) {
    h1_scene scene;
    h1_told *told = begin(&scene, GET);
    scene.is_socket_full = true;
    char *field = malloc(head_length + 8);
    uint8_t *packed = malloc(head_length + 32);
    REQUIRE(field != NULL && packed != NULL);
    memcpy(field, "x: ", 3);
    memset(field + 3, 'v', head_length);
    memcpy(field + 3 + head_length, "\n", 2);
    EXPECT_EQUAL(crpc_exchange_send_head(told->exchange, 200, packed, h1_pack(packed, field), -1), CRPC_OK);
    free(field);
    free(packed);
    if (scene.h1->output.queued_bytes < queued) {
        size_t length = queued - CRPC_H1_PIECE_OVERHEAD - scene.h1->output.queued_bytes;
        char *bytes = calloc(1, length);
        REQUIRE(bytes != NULL);
        EXPECT_EQUAL(crpc_exchange_send(told->exchange, bytes, 0, length), CRPC_OK);
        EXPECT_EQUAL(scene.h1->output.queued_bytes, queued);
    }
    bool was_writable = crpc_exchange_is_writable(told->exchange);
    EXPECT(was_writable == (scene.h1->output.queued_bytes <= CRPC_STREAM_HIGH_WATER));
    scene.is_socket_full = false;
    crpc_h1_mark(scene.h1);
    h1_scene_turn(&scene, 0);
    EXPECT(crpc_exchange_is_writable(told->exchange));
    EXPECT_EQUAL(told->writables, was_writable ? 0 : 1);
    h1_scene_end(&scene);
}

TEST(h1_a_writer_at_the_high_water_mark_is_told_of_room) {
    for (size_t past = 0; past < 3; past++) expect_room_is_told(1, CRPC_STREAM_HIGH_WATER - 1 + past);
    expect_room_is_told(2 * CRPC_STREAM_HIGH_WATER, 0);
}

TEST(h1_a_long_answer_goes_out_whole) {
    enum { LENGTH = 300000 };
    h1_scene scene;
    h1_told *told = begin(&scene, GET);
    char *body = malloc(LENGTH + 1);
    REQUIRE(body != NULL);
    for (int i = 0; i < LENGTH; i++) body[i] = (char)('a' + i % 23);
    body[LENGTH] = 0;
    EXPECT_EQUAL(respond(told, 200, "", body), CRPC_OK);
    EXPECT(scene.turn.stats.held_bytes > LENGTH);
    h1_scene_turn(&scene, 0);
    EXPECT(told->is_complete);
    REQUIRE(scene.sent_length > LENGTH);
    EXPECT(memcmp(scene.sent + scene.sent_length - LENGTH, body, LENGTH) == 0);
    free(body);
    h1_scene_end(&scene);
}
