#include "rig_exchanges.h"

#include "memory_control.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

// Every allocation fails in turn: the layer's own, and nghttp2's for it. A failed allocation is reported as an error, or ends
// the call or the connection; nothing crashes, hangs or leaks.

enum { PATIENCE_MS = 4000 };

/// Runs the loop until the condition is so. That it never is would be a hang.
#define WAIT(rig, condition) \
    do { \
        uint64_t wait_ = now_ms() + PATIENCE_MS; \
        while (!(condition) && now_ms() < wait_) rig_turn(rig); \
        if (!EXPECT(condition)) test_note("it hangs"); \
    } while (0)

/// Runs a scenario with each allocation failing, alone and with all after it, until it is not reached any more; the
/// scenario then says that all went well.
static void sweep(bool (*scenario)(void)) {
    for (int and_all_after = 0; and_all_after < 2; and_all_after++) {
        for (size_t n = 1;; n++) {
            memory_fail_at(n, and_all_after);
            bool is_well = scenario();
            bool was_reached = memory_count() >= n;
            memory_fail_at(0, false);
            if (test_has_failed()) {
                test_note("allocation %zu failed%s", n, and_all_after ? ", and all after it" : "");
                return;
            }
            if (was_reached) continue;
            EXPECT(is_well);
            EXPECT(n > 10);
            break;
        }
    }
}

static bool have_all_closed(const rig *rig) {
    for (size_t i = 0; i < rig->client_call_count; i++)
        if (rig->client_calls[i]->closes == 0) return false;
    for (size_t i = 0; i < rig->server_call_count; i++)
        if (rig->server_calls[i]->closes == 0) return false;
    return true;
}

/// Whether all calls ended with these statuses, one for each.
static bool have_statuses(const rig *rig, const char *statuses) {
    if (rig->client_call_count != strlen(statuses)) return false;
    for (size_t i = 0; i < rig->client_call_count; i++)
        if (rig->client_calls[i]->status != statuses[i] - '0') return false;
    return true;
}

/// Sends a message, or gives the call up.
static void send_or_reset(call *call, const void *bytes, size_t length) {
    if (call->stream != NULL && call_send(call, bytes, length) == CRPC_ERROR_MEMORY) call_reset(call, NGHTTP2_CANCEL);
}

static call *begin_call(peer *peer, uint32_t method, const uint8_t *metadata, size_t length, uint32_t timeout_ms) {
    if (peer->connection == NULL) return NULL;
    uint64_t deadline_ns = timeout_ms == 0 ? 0 : crpc_loop_now_ns(peer->rig->loop) + timeout_ms * 1000000ull;
    return call_open_with(peer, rig_paths[method], deadline_ns, metadata, length);
}

static bool make_unary_calls(void) {
    rig *rig;
    rig_setup setup = rig_defaults();
    if (rig_try_start(&setup, &rig) != CRPC_OK) return false;
    peer *peer = rig_connect(rig);
    bool is_well = peer != NULL;
    uint8_t metadata[1200];
    char value[1000] = "";
    memset(value, 'v', sizeof value - 1);
    size_t length = metadata_add(metadata, metadata_add(metadata, 0, "x-one", "1"), "x-two", value);
    for (int i = 0; i < 3 && is_well; i++) {
        call *call = begin_call(peer, i == 2 ? METHOD_REFUSED : METHOD_UNARY, metadata, length, 5000);
        if (call != NULL) send_or_reset(call, "message", 7);
        if (call != NULL && call->stream != NULL) (void)call_half_close(call);
        if (i == 1) WAIT(rig, have_all_closed(rig)); // the third uses what they left
    }
    WAIT(rig, have_all_closed(rig));
    is_well = is_well && have_statuses(rig, "008");
    if (peer != NULL && peer->connection != NULL) peer_drain(peer);
    WAIT(rig, peer == NULL || peer->closes == 1);
    is_well = is_well && peer->error == CRPC_OK;
    rig_end(rig);
    return is_well;
}

TEST(unary_calls_survive_failing_allocations) { sweep(make_unary_calls); }

static bool stream_messages(void) {
    static uint8_t bytes[20000];
    rig *rig;
    rig_setup setup = rig_defaults();
    setup.client.stream_window_bytes = setup.server.stream_window_bytes = 10000;
    if (rig_try_start(&setup, &rig) != CRPC_OK) return false;
    peer *peer = rig_connect(rig);
    call *call = peer == NULL ? NULL : begin_call(peer, METHOD_STREAM, NULL, 0, 0);
    if (call != NULL) call_consume_manually(call);
    size_t taken = 0;
    for (int i = 0; i < 4 && call != NULL; i++) {
        send_or_reset(call, bytes, i % 2 == 0 ? sizeof bytes : 10);
        for (int turn = 0; turn < 20 && call->closes == 0; turn++) {
            rig_turn(rig);
            for (; taken < call->messages && call->stream != NULL; taken++)
                call_consume(call, call->message_lengths[taken]);
        }
    }
    if (call != NULL && call->stream != NULL) (void)call_half_close(call);
    uint64_t end = now_ms() + PATIENCE_MS;
    while (!have_all_closed(rig) && now_ms() < end) {
        rig_turn(rig);
        for (; call != NULL && taken < call->messages && call->stream != NULL; taken++)
            call_consume(call, call->message_lengths[taken]);
    }
    EXPECT(have_all_closed(rig));
    bool is_well = have_statuses(rig, "0") && call->messages == 4 && call->received_length == 40020;
    rig_end(rig);
    return is_well;
}

TEST(streaming_calls_survive_failing_allocations) { sweep(stream_messages); }

static void finish_richly(call *call, rig_event event) {
    if (call->method != METHOD_HOLD || event != EVENT_MESSAGE || !call->is_server) return;
    uint8_t metadata[64];
    crpc_status status = {
        .code = 5, .message = (const uint8_t *)"not found", .message_length = 9, .details = (const uint8_t *)"\1\2\3",
        .details_length = 3, .metadata = metadata, .metadata_length = metadata_add(metadata, 0, "x-tail", "1")};
    if (call_send_headers(call, metadata, status.metadata_length) == CRPC_ERROR_MEMORY) {
        call_reset(call, NGHTTP2_INTERNAL_ERROR);
    } else {
        (void)call_finish_with(call, &status);
    }
}

/// Errors, refusals and resets, by the server, the client and the clock.
static bool end_badly(void) {
    rig *rig;
    rig_setup setup = rig_defaults();
    setup.server.message_bytes_max = 100;
    if (rig_try_start(&setup, &rig) != CRPC_OK) return false;
    rig->react = finish_richly;
    peer *peer = rig_connect(rig);
    static const uint8_t large[200];
    for (int i = 0; i < 4 && peer != NULL; i++) {
        call *call = begin_call(peer, i == 1 ? METHOD_UNARY : METHOD_HOLD, NULL, 0, i == 3 ? 15 : 0);
        if (call == NULL) continue;
        if (i < 2) send_or_reset(call, large, i == 0 ? 10 : sizeof large);
        if (i == 2) rig_turn(rig);
        if (i == 2 && call->stream != NULL) call_reset(call, NGHTTP2_CANCEL);
    }
    WAIT(rig, have_all_closed(rig));
    bool is_well = have_statuses(rig, "5814") && rig->client_calls[0]->text_length == 9;
    if (rig->listener != NULL) rig_drain(rig);
    WAIT(rig, peer == NULL || peer->closes == 1);
    is_well = is_well && peer->error == CRPC_OK;
    rig_end(rig);
    return is_well;
}

TEST(bad_ends_survive_failing_allocations) { sweep(end_badly); }

/// Requests that get an HTTP answer, or a status before they become calls.
static bool refuse_requests(void) {
    rig *rig;
    rig_setup setup = rig_defaults();
    if (rig_try_start(&setup, &rig) != CRPC_OK) return false;
    raw *raw = raw_connect(rig);
    raw_entry entries[] = {{":method", "PUT"}, {":scheme", "http"}, {":path", "/x"}, {":authority", "a"}};
    raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 1, entries, 4);
    raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, 3, "/no.Such/Method", NULL, NULL);
    raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, 5, rig_paths[METHOD_UNARY], "grpc-timeout", "x");
    bool is_well = true;
    for (int32_t id = 1; id <= 5; id += 2) {
        WAIT(rig, raw_read(raw) && (raw->has_ended || raw_find_end(raw, id) || raw_find(raw, NGHTTP2_RST_STREAM, id)));
        is_well = is_well && raw_find_end(raw, id) != NULL;
    }
    raw_free(raw);
    rig_end(rig);
    return is_well;
}

TEST(refusals_survive_failing_allocations) { sweep(refuse_requests); }

/// A flood whose connection is closed with the reason; its socket lingers.
static bool dismiss_a_flood(void) {
    rig *rig;
    rig_setup setup = rig_defaults();
    setup.server.credit_max = 50;
    if (rig_try_start(&setup, &rig) != CRPC_OK) return false;
    raw *raw = raw_connect(rig);
    for (int i = 0; i < 100; i++) raw_send_frame(raw, 0xfa, 0, 0, "", 0);
    WAIT(rig, raw_read(raw) && raw->has_ended);
    bool is_well = raw_error(raw_find(raw, NGHTTP2_GOAWAY, 0)) == NGHTTP2_ENHANCE_YOUR_CALM &&
                   rig->loop->lingering_count == 1;
    raw_free(raw);
    WAIT(rig, rig->loop->lingering_count == 0);
    rig_end(rig);
    return is_well;
}

TEST(floods_survive_failing_allocations) { sweep(dismiss_a_flood); }

/// Both sides ask each other whether they are there.
static bool keep_alive(void) {
    rig *rig;
    rig_setup setup = rig_defaults();
    setup.server.keepalive_interval_ms = setup.client.keepalive_interval_ms = 2;
    setup.server.ping_interval_min_ms = 0;
    if (rig_try_start(&setup, &rig) != CRPC_OK) return false;
    peer *peer = rig_connect(rig);
    call *call = peer == NULL ? NULL : begin_call(peer, METHOD_UNARY, NULL, 0, 0);
    if (call != NULL) send_or_reset(call, "message", 7);
    rig_run_ms(rig, 8);
    if (call != NULL && call->stream != NULL) (void)call_half_close(call);
    WAIT(rig, have_all_closed(rig));
    bool is_well = have_statuses(rig, "0");
    rig_end(rig);
    return is_well;
}

TEST(keepalive_survives_failing_allocations) { sweep(keep_alive); }

static bool call_over_tls(void) {
    const char *folder = getenv("CRPC_TEST_CERTIFICATES");
    REQUIRE(folder != NULL);
    char authority[256], certificate[256], key[256], reason[CRPC_TLS_REASON_LENGTH];
    (void)snprintf(authority, sizeof authority, "%s/authority.pem", folder);
    (void)snprintf(certificate, sizeof certificate, "%s/server.pem", folder);
    (void)snprintf(key, sizeof key, "%s/server.key", folder);
    crpc_tls_files ours = {certificate, key, authority};
    rig_setup setup = rig_defaults();
    bool is_well = false;
    rig *rig = NULL;
    if (crpc_tls_server_new(&ours, reason, &setup.server_tls) == CRPC_OK &&
        crpc_tls_client_new(&ours, reason, &setup.client_tls) == CRPC_OK && rig_try_start(&setup, &rig) == CRPC_OK) {
        crpc_listener_set_tls(rig->listener, setup.server_tls); // keeps the old rules where there is no memory for it
        peer *peer = rig_connect(rig);
        call *call = peer == NULL ? NULL : begin_call(peer, METHOD_UNARY, NULL, 0, 0);
        if (call != NULL) send_or_reset(call, "secret", 6);
        if (call != NULL && call->stream != NULL) (void)call_half_close(call);
        WAIT(rig, have_all_closed(rig));
        is_well = have_statuses(rig, "0");
        rig_end(rig);
    }
    crpc_tls_free(setup.server_tls);
    crpc_tls_free(setup.client_tls);
    return is_well;
}

TEST(tls_survives_failing_allocations) { sweep(call_over_tls); }

static void read_nothing(call *call, rig_event event) {
    if (event == EVENT_CALL) call_consume_manually(call);
}

/// Messages that nobody reads: the window is withheld, given back, and at the bound a call is refused.
static bool hold_much(void) {
    static const uint8_t bytes[9000];
    rig *rig;
    rig_setup setup = rig_defaults();
    setup.server.buffered_bytes_max = 40000;
    setup.server.connection_window_bytes = 65535;
    setup.outlive_streams = true;
    if (rig_try_start(&setup, &rig) != CRPC_OK) return false;
    rig->react = read_nothing;
    peer *peer = rig_connect(rig);
    call *calls[2] = {NULL, NULL};
    for (int i = 0; i < 2 && peer != NULL; i++) {
        calls[i] = begin_call(peer, METHOD_HOLD, NULL, 0, 0);
        for (int sent = 0; sent < 3 && calls[i] != NULL; sent++) send_or_reset(calls[i], bytes, sizeof bytes);
    }
    bool are_both = calls[0] != NULL && calls[1] != NULL;
    WAIT(rig, !are_both || calls[0]->closes == 1 || calls[1]->closes == 1);
    bool is_well = are_both && calls[1]->closes == 1 && calls[1]->status == CRPC_STATUS_RESOURCE_EXHAUSTED;
    for (int i = 0; i < 2; i++)
        if (calls[i] != NULL && calls[i]->stream != NULL) call_reset(calls[i], NGHTTP2_CANCEL);
    WAIT(rig, peer == NULL || peer->closes == 1 || have_all_closed(rig));
    if (peer != NULL && peer->connection != NULL) peer_drain(peer);
    WAIT(rig, peer == NULL || peer->closes == 1);
    rig_end(rig);
    return is_well;
}

TEST(held_messages_survive_failing_allocations) { sweep(hold_much); }

/// Answers what the test holds: in parts, with trailers and a deadline.
static bool stream_answer(exchange *exchange) {
    uint8_t trailers[64];
    size_t length = metadata_add(trailers, 0, "x-tail", "1");
    bool is_well = exchange_set_deadline_ms(exchange, 5000) == CRPC_OK;
    is_well = exchange_send_head(exchange, 200, -1) == CRPC_OK && is_well;
    for (int i = 0; i < 3; i++) is_well = exchange_send(exchange, "part", 4) == CRPC_OK && is_well;
    return exchange_finish(exchange, trailers, length) == CRPC_OK && is_well;
}

/// A request of HTTP/1.1 whose connection comes through a proxy, in two parts.
static bool exchange_by_http1(rig *rig) {
    static const char head[] = "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\300\0\2\7\300\0\2\1\x12\x34\0\x50P";
    static const char rest[] = "OST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody";
    raw *raw = raw_connect_with(rig, NULL);
    raw_send(raw, head, sizeof head - 1);
    rig_run_ms(rig, 2);
    raw_send(raw, rest, sizeof rest - 1);
    WAIT(rig, raw_count_text(raw, "\r\n\r\nbody") == 1 || raw->has_ended);
    bool is_well = raw_count_text(raw, "\r\n\r\nbody") == 1;
    raw_free(raw);
    return is_well;
}

static bool exchange_by_http2(rig *rig) {
    static const char local[] = "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0PRI"; // the preface in two parts
    raw *raw = raw_connect_silently(rig);
    raw_send(raw, local, sizeof local - 1);
    rig_run_ms(rig, 2);
    raw_send(raw, " * HTTP/2.0\r\n\r\nSM\r\n\r\n", 21);
    raw_send_frame(raw, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
    raw_entry entries[] = {{":method", "POST"}, {":scheme", "http"}, {":path", "/echo"}, {":authority", "a"},
                           {"cookie", "a=1"}, {"cookie", "b=2"}, {"expect", "100-continue"}};
    raw_send_headers(raw, 0, 1, entries, 7);
    raw_send_data(raw, NGHTTP2_FLAG_END_STREAM, 1, "body", 4);
    size_t before = rig->exchange_count;
    raw_send_exchange(raw, 0, 3, "POST", "/now", NULL, NULL); // answered before it has ended
    raw_send_data(raw, 0, 3, "body", 4);
    raw_send_exchange(raw, NGHTTP2_FLAG_END_STREAM, 5, "GET", "/hold", NULL, NULL);
    bool is_well = true, is_asked = false;
    for (int32_t id = 1; id <= 5; id += 2) {
        uint64_t end = now_ms() + PATIENCE_MS;
        while (!raw->has_ended && raw_find_end(raw, id) == NULL && raw_find(raw, NGHTTP2_RST_STREAM, id) == NULL &&
               now_ms() < end) {
            rig_turn(rig);
            (void)raw_read(raw);
            exchange *last = rig->exchange_count > before ? rig_exchange(rig) : NULL;
            if (last != NULL && !is_asked && strcmp(last->target, "/hold") == 0 && last->exchange != NULL) {
                is_asked = true;
                is_well = stream_answer(last) && is_well;
                if (!is_well && last->exchange != NULL) exchange_reset(last);
            }
        }
        EXPECT(now_ms() < end);
        is_well = is_well && raw_find_end(raw, id) != NULL;
    }
    raw_free(raw);
    return is_well;
}

static bool serve_exchanges(void) {
    static const char *const names[] = {"api.example.com", "b.example"};
    crpc_proxy_network loopback;
    REQUIRE(crpc_proxy_network_parse("127.0.0.1", &loopback) == CRPC_OK);
    rig *rig;
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = setup.checks_names = true;
    setup.names = names;
    setup.name_count = 2;
    setup.proxies = &loopback;
    setup.proxy_count = 1;
    if (rig_try_start(&setup, &rig) != CRPC_OK) return false;
    bool is_well = exchange_by_http1(rig);
    is_well = exchange_by_http2(rig) && is_well;
    rig_drain(rig);
    WAIT(rig, crpc_listener_connection_count(rig->listener) == 0);
    rig_end(rig);
    return is_well;
}

TEST(exchanges_survive_failing_allocations) { sweep(serve_exchanges); }

TEST(a_listener_goes_on_accepting_after_allocations_failed) {
    rig *rig = rig_start(NULL);
    for (size_t n = 1; n < 40; n++) {
        memory_fail_at(n, true);
        peer *peer = rig_connect(rig);
        if (peer != NULL) rig_run_ms(rig, 2);
        memory_fail_at(0, false);
    }
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_UNARY, "still here");
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    rig_end(rig);
}

TEST(a_connection_without_memory_for_what_the_socket_does_not_take_ends) {
    rig_setup setup = rig_defaults();
    setup.has_no_listener = true;
    rig *rig = rig_start(&setup);
    raw *raw = raw_listen(rig);
    peer *peer = rig_connect_to(rig, raw->port);
    raw_accept(raw);
    static const uint8_t window[] = {0, 4, 0x7f, 0xff, 0xff, 0xff};
    raw_send_frame(raw, NGHTTP2_SETTINGS, 0, 0, window, sizeof window);
    raw_send_window_update(raw, 0, 0x7fff0000);
    UNTIL(rig, peer->opens == 1);
    call *call = call_open(peer, METHOD_STREAM, 0);
    static uint8_t bytes[1 << 20];
    for (int i = 0; i < 16; i++) EXPECT_EQUAL(call_send(call, bytes, sizeof bytes), CRPC_OK);
    rig_turn(rig);
    memory_fail_at(1, true);
    UNTIL(rig, peer->closes == 1);
    memory_fail_at(0, false);
    EXPECT_EQUAL(peer->error, CRPC_ERROR_MEMORY);
    EXPECT_EQUAL(call->status, 14);
    raw_free(raw);
    rig_end(rig);
}

static void never(void *context) {
    (void)context;
    EXPECT(false);
}

/// Runs out of file descriptors while a client connects, and gives one back.
static void run_out_of_files(bool and_of_memory) {
    rig *rig = rig_start(NULL);
    crpc_timer *timers[64]; // as many as the loop has room for
    for (int i = 0; i < 64; i++) {
        REQUIRE(crpc_timer_new(rig->loop, never, NULL, &timers[i]) == CRPC_OK);
        REQUIRE(crpc_timer_set(timers[i], UINT64_MAX / 2) == CRPC_OK);
    }
    raw *raw = raw_connect(rig);
    struct rlimit old, none;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &old) == 0);
    int next = dup(0); // the first that is free
    REQUIRE(next >= 0);
    (void)close(next);
    none = old;
    none.rlim_cur = (rlim_t)next;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    if (and_of_memory) memory_fail_at(1, true);
    rig_run_ms(rig, 20);
    memory_fail_at(0, false);
    EXPECT_EQUAL(rig->server_peer_count, 0);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &old) == 0);
    UNTIL(rig, rig->server_peer_count == 1);
    raw_free(raw);
    for (int i = 0; i < 64; i++) crpc_timer_free(timers[i]);
    rig_end(rig);
}

TEST(a_listener_goes_on_when_file_descriptors_ran_out) {
    run_out_of_files(false);
    run_out_of_files(true);
}
