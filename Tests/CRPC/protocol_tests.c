#include "rig_exchanges.h"

#include "http/authority.h"

#include <errno.h>
#include <sys/socket.h>

// Two protocols on one port in clear text: the first bytes decide. The rules for connections apply to both.

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
#define GET_NOW "GET /now HTTP/1.1\r\nHost: a\r\n\r\n"

static rig *start(void) {
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    return rig_start(&setup);
}

/// Sends bytes in two parts, the second when the first was read.
static void send_cut(raw *raw, const char *bytes, size_t length, size_t cut) {
    raw_send(raw, bytes, cut);
    rig_run_ms(raw->rig, 3);
    raw_send(raw, bytes + cut, length - cut);
}

TEST(http_2_is_told_by_its_preface_wherever_it_is_cut) {
    rig *rig = start();
    for (size_t cut = 0; cut < sizeof preface; cut++) {
        raw *raw = raw_connect_silently(rig);
        send_cut(raw, preface, sizeof preface - 1, cut);
        raw_send_frame(raw, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
        raw_send_exchange(raw, NGHTTP2_FLAG_END_STREAM, 1, "GET", "/now", NULL, NULL);
        UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL);
        EXPECT_EQUAL(rig_exchange(rig)->version, 20);
        raw_free(raw);
    }
    rig_end(rig);
}

TEST(http_1_is_told_at_the_first_byte_that_differs) {
    static const char *const requests[] = {
        GET_NOW, "POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "PUT /now HTTP/1.0\r\n\r\n",
        "\r\nGET /now HTTP/1.1\r\nHost: a\r\n\r\n", "PRI /now HTTP/1.1\r\nHost: a\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\rX"};
    enum { RIGHT = 5 }; // the first so many
    rig *rig = start();
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        size_t length = strlen(requests[i]);
        for (size_t cut = 0; cut <= 25 && cut <= length; cut++) {
            size_t before = rig->exchange_count;
            raw *raw = raw_connect_with(rig, NULL);
            send_cut(raw, requests[i], length, cut);
            UNTIL(rig, rig->exchange_count == before + 1);
            exchange *exchange = rig_exchange(rig);
            if (!EXPECT_EQUAL(exchange->fault == CRPC_FAULT_NONE, i < RIGHT)) test_note("%s cut at %zu", requests[i], cut);
            EXPECT(exchange->version != 20);
            if (i >= RIGHT) EXPECT_EQUAL(exchange_respond(exchange, 505, ""), CRPC_OK);
            UNTIL(rig, raw_count_text(raw, i < RIGHT ? "\r\n\r\nnow" : " 505 ") == 1);
            raw_free(raw);
        }
    }
    rig_end(rig);
}

TEST(tls_on_a_port_of_clear_text_is_just_malformed) {
    rig *rig = start();
    raw *raw = raw_connect_with(rig, "\x16\x03\x01\x02\x01\x01\x01\xfc\x03\x03");
    UNTIL(rig, rig->exchange_count == 1);
    EXPECT_EQUAL(rig_exchange(rig)->fault, CRPC_FAULT_MALFORMED);
    EXPECT_EQUAL(exchange_respond(rig_exchange(rig), 400, ""), CRPC_OK);
    UNTIL(rig, raw_read(raw) && raw->has_ended);
    raw_free(raw);
    rig_end(rig);
}

TEST(without_exchanges_a_port_speaks_http_2_alone) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect_with(rig, GET_NOW);
    UNTIL(rig, raw_read(raw) && raw->has_ended);
    EXPECT_EQUAL(raw_count_text(raw, "HTTP/1.1"), 0);
    EXPECT_EQUAL(rig->exchange_count, 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(who_does_not_say_what_it_speaks_has_the_time_of_a_handshake) {
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    setup.server.handshake_timeout_ms = 100;
    rig *rig = rig_start(&setup);
    raw *silent = raw_connect_with(rig, NULL), *partial = raw_connect_with(rig, "PRI * HT");
    uint64_t began = now_ms();
    UNTIL(rig, raw_read(silent) && silent->has_ended && raw_read(partial) && partial->has_ended);
    EXPECT(now_ms() - began >= 90);
    // The whole preface without SETTINGS has no more time than that either.
    raw *late = raw_connect_with(rig, NULL);
    began = now_ms();
    rig_run_ms(rig, 60);
    raw_send(late, preface, sizeof preface - 1);
    UNTIL(rig, raw_read(late) && late->has_ended);
    EXPECT(now_ms() - began < 160);
    raw_free(silent);
    raw_free(partial);
    raw_free(late);
    rig_end(rig);
}

TEST(the_oldest_of_too_many_handshakes_ends_whatever_they_will_speak) {
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    setup.handshakes_max = 2;
    rig *rig = rig_start(&setup);
    raw *oldest = raw_connect_with(rig, "P");
    UNTIL(rig, rig->loop->turn.stats.server_connections_opened == 1);
    raw *head = raw_connect_with(rig, "GET /now HT");
    UNTIL(rig, rig->loop->turn.stats.server_connections_opened == 2);
    rig_run_ms(rig, 5);
    raw *third = raw_connect_with(rig, NULL);
    UNTIL(rig, raw_read(oldest) && oldest->has_ended);
    EXPECT_EQUAL(rig->loop->turn.stats.handshakes_dropped, 1);
    // A head that is whole is the end of a handshake.
    raw_send(head, "TP/1.1\r\nHost: a\r\n\r\n", 20);
    UNTIL(rig, raw_count_text(head, "\r\n\r\nnow") == 1);
    raw *fourth = raw_connect_with(rig, NULL);
    UNTIL(rig, rig->loop->turn.stats.server_connections_opened == 4);
    rig_run_ms(rig, 5);
    EXPECT_EQUAL(rig->loop->turn.stats.handshakes_dropped, 1);
    raw_free(oldest);
    raw_free(head);
    raw_free(third);
    raw_free(fourth);
    rig_end(rig);
}

TEST(an_idle_connection_of_http_1_makes_room_and_a_busy_one_does_not) {
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    setup.connections_max = 2;
    rig *rig = rig_start(&setup);
    raw *busy = raw_connect_with(rig, "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"), *idle = raw_connect_with(rig, GET_NOW);
    UNTIL(rig, raw_count_text(idle, "\r\n\r\nnow") == 1 && rig->exchange_count == 2);
    rig_run_ms(rig, CRPC_ROOM_AFTER_MS + 10);
    raw *next = raw_connect_with(rig, GET_NOW);
    UNTIL(rig, raw_count_text(next, "\r\n\r\nnow") == 1);
    UNTIL(rig, raw_read(idle) && idle->has_ended);
    EXPECT(raw_read(busy) && !busy->has_ended);
    EXPECT_EQUAL(rig->loop->turn.stats.connections_evicted, 1);
    raw_free(busy);
    raw_free(idle);
    raw_free(next);
    rig_end(rig);
}

TEST(a_drain_takes_what_was_sent_and_ends_each_connection) {
    rig *rig = start();
    raw *told = raw_connect_with(rig, "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"), *untold = raw_connect_with(rig, NULL);
    UNTIL(rig, rig->exchange_count == 1 && rig->loop->turn.stats.server_connections_opened == 2);
    raw *waiting = raw_connect_with(rig, GET_NOW); // in the kernel's queue
    rig_drain(rig);
    raw_send(untold, GET_NOW, sizeof GET_NOW - 1);
    UNTIL(rig, raw_count_text(untold, "\r\n\r\nnow") == 1 && raw_count_text(waiting, "\r\n\r\nnow") == 1);
    EXPECT_EQUAL(raw_count_text(untold, "Connection: close\r\n") + raw_count_text(untold, "connection: close\r\n"), 1);
    EXPECT_EQUAL(exchange_respond(rig->exchanges[0], 200, "held"), CRPC_OK);
    UNTIL(rig, raw_count_text(told, "\r\n\r\nheld") == 1);
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == 0);
    raw_free(told);
    raw_free(untold);
    raw_free(waiting);
    rig_end(rig);
}

TEST(a_drain_does_not_wait_for_who_says_nothing) {
    rig *rig = start();
    raw *raw = raw_connect_with(rig, "PRI");
    UNTIL(rig, rig->loop->turn.stats.server_connections_opened == 1);
    uint64_t began = now_ms();
    rig_drain(rig);
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == 0);
    EXPECT(now_ms() - began < CRPC_ROUND_TRIP_MAX_MS + 500);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_peer_that_reads_nothing_loses_its_connection_in_either_protocol) {
    static uint8_t bytes[60000];
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    setup.server.write_stall_timeout_ms = 200;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect_with(rig, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    UNTIL(rig, rig->exchange_count == 1);
    exchange *exchange = rig_exchange(rig);
    EXPECT_EQUAL(exchange_send_head(exchange, 200, -1), CRPC_OK);
    uint64_t end = now_ms() + RIG_PATIENCE_MS;
    while (exchange->closes == 0 && now_ms() < end) {
        if (exchange_is_writable(exchange)) EXPECT_EQUAL(exchange_send(exchange, bytes, sizeof bytes), CRPC_OK);
        rig_turn(rig);
    }
    EXPECT_EQUAL(exchange->closes, 1);
    EXPECT(!exchange->is_complete);
    raw_free(raw);
    rig_end(rig);
}

TEST(much_that_is_sent_at_once_is_read_as_there_is_room) {
    static char body[300001];
    rig *rig = start();
    memset(body, 'b', sizeof body - 1);
    raw *raw = raw_connect_with(rig, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n");
    raw_send(raw, body, sizeof body - 1);
    raw_send(raw, GET_NOW GET_NOW, 2 * (sizeof GET_NOW - 1));
    UNTIL(rig, raw_count_text(raw, "\r\n\r\nnow") == 2);
    EXPECT_EQUAL(rig->exchanges[0]->body_length, 300000);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_client_that_resets_is_noticed_though_nothing_is_read) {
    for (int is_half_closed = 0; is_half_closed < 2; is_half_closed++) {
        rig *rig = start();
        raw *raw = raw_connect_with(rig, "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
        UNTIL(rig, rig->exchange_count == 1);
        if (is_half_closed) {
            EXPECT_EQUAL(shutdown(raw->fd, SHUT_WR), 0);
        } else {
            for (int i = 0; i < 2000; i++) raw_send(raw, GET_NOW, sizeof GET_NOW - 1);
        }
        rig_run_ms(rig, 20);
        EXPECT_EQUAL(rig_exchange(rig)->closes, 0);
        raw_close(raw, true);
        UNTIL(rig, rig_exchange(rig)->closes == 1);
        EXPECT(!rig_exchange(rig)->is_complete);
        raw_free(raw);
        rig_end(rig);
    }
}

/// Why nothing can be received, as errno has it; 0 at the end of file.
static int receive_error(int fd) {
    char byte;
    ssize_t count = recv(fd, &byte, sizeof byte, MSG_DONTWAIT);
    EXPECT(count <= 0);
    return count < 0 ? errno : 0;
}

/// Sends a request whose answer begins and is then reset: how the client's connection ends, as errno has it.
static int reset_error(const char *request) {
    rig *rig = start();
    raw *raw = raw_connect_with(rig, request);
    UNTIL(rig, rig->exchange_count == 1);
    EXPECT_EQUAL(exchange_send_head(rig_exchange(rig), 200, -1), CRPC_OK);
    EXPECT_EQUAL(exchange_send(rig_exchange(rig), "first", 5), CRPC_OK);
    UNTIL(rig, raw_count_text(raw, "first") == 1);
    exchange_reset(rig_exchange(rig));
    int error = EAGAIN; // an error is reported once
    UNTIL(rig, error != EAGAIN || (error = receive_error(raw->fd)) != EAGAIN);
    raw_free(raw);
    rig_end(rig);
    return error;
}

TEST(half_an_answer_whose_end_is_that_of_the_connection_does_not_look_whole) {
    // To HTTP/1.0, which proxies speak, a FIN would be the end of the body (RFC 9112 section 8).
    EXPECT_EQUAL(reset_error("GET /hold HTTP/1.0\r\n\r\n"), ECONNRESET);
    EXPECT_EQUAL(reset_error("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"), 0); // the last chunk is missing
}

// ---- Names ----

TEST(names_that_a_server_answers_to) {
    static const char *const configured[] = {"API.example.com", "b.example"};
    static const char *const served[] = {
        "api.example.com", "Api.Example.Com:8080", "api.example.com.", "b.example:1", "localhost", "LOCALHOST:80",
        "identity", "identity:8080", "my_service-1", "127.0.0.1", "10.0.0.1:443", "[::1]", "[::1]:8080",
        "[2001:db8::1]:1", "api.example.com:", "localhost."};
    static const char *const not_served[] = {
        "", "example.com", "evil.example", "api.example.com.evil", "x.api.example.com", "127.0.0.1.evil", "::1", "[::1",
        "[::1]x", "[evil.example]", "user@localhost", "localhost:80:90", "localhost:x", "a%2eb", "..", ".", ":80",
        "127.1.2.3.4", "[127.0.0.1]", "[]", "api.example.com.."};
    crpc_names names;
    REQUIRE(crpc_names_begin(&names, configured, 2) == CRPC_OK);
    for (size_t i = 0; i < sizeof served / sizeof served[0]; i++)
        if (!EXPECT(crpc_names_have(&names, (const uint8_t *)served[i], strlen(served[i])))) test_note("%s", served[i]);
    for (size_t i = 0; i < sizeof not_served / sizeof not_served[0]; i++)
        if (!EXPECT(!crpc_names_have(&names, (const uint8_t *)not_served[i], strlen(not_served[i]))))
            test_note("%s", not_served[i]);
    crpc_names_end(&names);
    EXPECT(crpc_names_have(&names, (const uint8_t *)"evil.example", 12)); // zeros answer to any
}

TEST(requests_for_other_names_get_421) {
    static const char *const names[] = {"api.example.com"};
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = setup.checks_names = true;
    setup.names = names;
    setup.name_count = 1;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    static const struct {
        const char *authority, *status;
    } cases[] = {{"api.example.com", "200"}, {"evil.example", "421"}, {"evil.example", "421"}, {"api.example.com:1", "200"}};
    for (int i = 0; i < 8; i++) { // exchanges, then calls
        int32_t id = 1 + 2 * i;
        raw_entry entries[] = {
            {":method", i < 4 ? "GET" : "POST"}, {":scheme", "http"}, {":path", i < 4 ? "/now" : rig_paths[METHOD_UNARY]},
            {":authority", cases[i % 4].authority}, {"content-type", "application/grpc"}, {"te", "trailers"}};
        raw_send_headers(raw, i < 4 ? NGHTTP2_FLAG_END_STREAM : 0, id, entries, 6);
        if (i >= 4) raw_send_message(raw, NGHTTP2_FLAG_END_STREAM, id, "x");
        UNTIL(rig, raw_read(raw) && raw_find_end(raw, id) != NULL);
        EXPECT(raw_frame_has(raw_find(raw, NGHTTP2_HEADERS, id), ":status", cases[i % 4].status));
    }
    EXPECT_EQUAL(rig->exchange_count, 2);
    EXPECT_EQUAL(rig->server_call_count, 2);
    raw_free(raw);
    raw = raw_connect_with(rig, "GET /now HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    UNTIL(rig, raw_count_text(raw, "HTTP/1.1 421 ") == 1);
    EXPECT_EQUAL(rig->exchange_count, 2);
    raw_free(raw);
    raw = raw_connect_with(rig, "GET /now HTTP/1.1\r\nHost: localhost:9\r\n\r\n");
    UNTIL(rig, raw_count_text(raw, "HTTP/1.1 200 ") == 1);
    raw_free(raw);
    rig_end(rig);
}

// ---- Bodies that are refused ----

/// Sends zeros until so many went, or the socket refuses them. The bytes that went.
static size_t send_body(raw *raw, size_t length) {
    static const uint8_t zeros[65536];
    size_t sent = 0;
    for (uint64_t end = now_ms() + RIG_PATIENCE_MS; sent < length && now_ms() < end;) {
        size_t count = length - sent < sizeof zeros ? length - sent : sizeof zeros;
        ssize_t went = send(raw->fd, zeros, count, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (went < 0 && errno != EAGAIN) break;
        if (went > 0) sent += (size_t)went;
        rig_turn(raw->rig);
    }
    return sent;
}

static raw *send_head(rig *rig, size_t length) {
    char head[200];
    (void)snprintf(head, sizeof head, "POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n", length);
    raw *raw = raw_connect_with(rig, head);
    UNTIL(rig, rig->loop->lingering_count > 0); // it was answered, and is the last
    return raw;
}

TEST(who_sends_a_whole_body_before_reading_finds_the_answer) {
    enum { LENGTH = 7 << 20 };
    rig *rig = start();
    raw *raw = send_head(rig, LENGTH);
    EXPECT_EQUAL(crpc_listener_connection_count(rig->listener), 0); // its place is free
    EXPECT_EQUAL(send_body(raw, LENGTH), LENGTH);
    UNTIL(rig, raw_read(raw) && raw->has_ended);
    EXPECT_EQUAL(raw_count_text(raw, "HTTP/1.1 200"), 1);
    EXPECT_EQUAL(raw_count_text(raw, "\r\nconnection: close\r\n"), 1);
    raw_close(raw, false);
    UNTIL(rig, rig->loop->lingering_count == 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_body_without_end_is_not_read_to_it) {
    rig *rig = start();
    raw *raw = send_head(rig, 1u << 30);
    size_t sent = send_body(raw, 1u << 30);
    EXPECT(sent >= CRPC_LINGER_BODY_BYTES_MAX && sent < (1u << 30));
    EXPECT_EQUAL(rig->loop->lingering_count, 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(of_too_many_sockets_that_linger_the_oldest_ends) {
    rig *rig = start();
    raw *raws[CRPC_LINGERING_MAX + 2];
    for (int i = 0; i < CRPC_LINGERING_MAX + 2; i++) {
        raws[i] = send_head(rig, 1u << 30);
        uint32_t most = i < CRPC_LINGERING_MAX ? (uint32_t)i + 1 : CRPC_LINGERING_MAX;
        UNTIL(rig, rig->loop->lingering_count == most && rig->exchange_count == (size_t)i + 1);
        UNTIL(rig, crpc_listener_connection_count(rig->listener) == 0);
    }
    EXPECT(send_body(raws[0], 4 << 20) < 4 << 20);
    EXPECT_EQUAL(send_body(raws[CRPC_LINGERING_MAX + 1], 4 << 20), 4 << 20);
    for (int i = 0; i < CRPC_LINGERING_MAX + 2; i++) raw_free(raws[i]);
    rig_end(rig);
}

// ---- The time of a first head ----

TEST(in_clear_text_a_first_head_has_its_time_since_the_connection_was_accepted) {
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    setup.server.head_timeout_ms = 600;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect_with(rig, NULL);
    uint64_t began = now_ms();
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == 1);
    rig_run_ms(rig, 500);
    raw_send(raw, "GET / HT", 8); // only now it is HTTP/1.x
    UNTIL(rig, rig->exchange_count == 1);
    EXPECT_EQUAL(rig_exchange(rig)->fault, CRPC_FAULT_HEAD_TIMEOUT);
    EXPECT(now_ms() - began < 1000);
    EXPECT_EQUAL(exchange_respond(rig_exchange(rig), 408, ""), CRPC_OK);
    UNTIL(rig, raw_read(raw) && raw->has_ended);
    raw_free(raw);
    rig_end(rig);
}
