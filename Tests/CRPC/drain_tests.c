#include "raw.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

// How connections end: drained by each side, closed, and killed at each stage.

TEST(a_server_drains_calls_finish_and_new_ones_are_refused) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 1);
    rig_drain(rig);
    UNTIL(rig, peer->drainings == 1);
    EXPECT_EQUAL(call->closes, 0);
    EXPECT(!crpc_connection_has_room(peer->connection));
    EXPECT(call_open(peer, METHOD_UNARY, 0) == NULL);
    EXPECT_EQUAL(rig->last_error, CRPC_ERROR_CLOSED);
    rig_run_ms(rig, 150); // past the second GOAWAY
    EXPECT_EQUAL(peer->closes, 0);
    EXPECT_EQUAL(call_send_text(rig_server_call(rig), "in time"), CRPC_OK);
    EXPECT_EQUAL(call_finish(rig_server_call(rig), 0, ""), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT_EQUAL(call->messages, 1);
    UNTIL(rig, peer->closes == 1 && rig_server_peer(rig)->closes == 1);
    EXPECT_EQUAL(peer->error, CRPC_OK);
    EXPECT_EQUAL(crpc_listener_connection_count(rig->listener), 0);
    rig_end(rig);
}

TEST(a_draining_server_takes_calls_that_were_on_their_way) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    UNTIL(rig, rig->server_peer_count == 1);
    rig_drain(rig);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_GOAWAY, 0) != NULL);
    raw_send_request(raw, 0, 1, rig_paths[METHOD_UNARY], NULL, NULL);
    raw_send_message(raw, NGHTTP2_FLAG_END_STREAM, 1, "on its way");
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL);
    EXPECT(raw_frame_has(raw_find_end(raw, 1), "grpc-status", "0"));
    UNTIL(rig, raw_read(raw) && raw->has_ended);
    unsigned goaways = 0;
    for (size_t i = 0; i < raw->count; i++) goaways += raw->frames[i].type == NGHTTP2_GOAWAY;
    EXPECT_EQUAL(goaways, 2);
    raw_free(raw);
    rig_end(rig);
}

static unsigned goaways(raw *raw) {
    unsigned count = 0;
    (void)raw_read(raw);
    for (size_t i = 0; i < raw->count; i++) count += raw->frames[i].type == NGHTTP2_GOAWAY;
    return count;
}

TEST(the_second_goaway_waits_for_a_round_trip) {
    for (int is_answered = 0; is_answered < 2; is_answered++) {
        rig *rig = rig_start(NULL);
        raw *raw = raw_connect(rig);
        UNTIL(rig, rig->server_peer_count == 1);
        rig_drain(rig);
        uint64_t start = now_ms();
        UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_PING, 0) != NULL);
        rig_run_ms(rig, 600); // a slow path
        EXPECT_EQUAL(goaways(raw), 1);
        raw_send_request(raw, 0, 1, rig_paths[METHOD_UNARY], NULL, NULL); // on its way
        raw_send_message(raw, NGHTTP2_FLAG_END_STREAM, 1, "x");
        const raw_frame *ping = raw_find(raw, NGHTTP2_PING, 0);
        raw_send_frame(raw, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, "another.", 8);
        if (is_answered) raw_send_frame(raw, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, ping->payload, ping->length);
        UNTIL(rig, raw_read(raw) && raw->has_ended);
        EXPECT(now_ms() - start < (is_answered ? 1500 : 3000) && now_ms() - start > (is_answered ? 0 : 1900));
        EXPECT(raw_frame_has(raw_find_end(raw, 1), "grpc-status", "0"));
        EXPECT_EQUAL(goaways(raw), 2);
        raw_free(raw);
        rig_end(rig);
    }
}

TEST(who_waits_in_the_kernel_is_served_before_a_server_drains) {
    rig *rig = rig_start(NULL);
    raw *clients[100];
    for (int i = 0; i < 100; i++) { // more than are accepted in a turn; the loop does not run meanwhile
        clients[i] = raw_connect(rig);
        raw_send_request(clients[i], 0, 1, rig_paths[METHOD_UNARY], NULL, NULL);
        raw_send_message(clients[i], NGHTTP2_FLAG_END_STREAM, 1, "x");
    }
    EXPECT_EQUAL(crpc_listener_connection_count(rig->listener), 0);
    rig_drain(rig);
    for (int i = 0; i < 100; i++) {
        UNTIL(rig, raw_read(clients[i]) && (raw_find_end(clients[i], 1) != NULL || clients[i]->has_ended));
        EXPECT(raw_frame_has(raw_find_end(clients[i], 1), "grpc-status", "0"));
        EXPECT(goaways(clients[i]) >= 1);
        raw_free(clients[i]);
    }
    rig_end(rig);
}

TEST(a_draining_server_is_no_longer_connected_to) {
    rig *rig = rig_start(NULL);
    rig_drain(rig);
    rig_drain(rig); // twice is once
    peer *peer = rig_connect(rig);
    UNTIL(rig, peer == NULL || peer->closes == 1);
    if (peer != NULL) EXPECT_EQUAL(peer->error, CRPC_ERROR_SYSTEM);
    rig_end(rig);
}

TEST(a_drain_that_takes_too_long_ends_the_calls) {
    rig_setup setup = rig_defaults();
    setup.server.drain_timeout_ms = 200;
    rig *rig = rig_start(&setup);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 1);
    rig_drain(rig);
    UNTIL(rig, rig_server_call(rig)->closes == 1 && call->closes == 1);
    EXPECT_EQUAL(rig_server_call(rig)->error, NGHTTP2_CANCEL);
    EXPECT_EQUAL(call->status, 14);
    rig_end(rig);
}

TEST(a_client_drains_calls_finish_and_it_closes) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 1);
    peer_drain(peer);
    peer_drain(peer); // twice is once
    EXPECT_EQUAL(peer->drainings, 0); // not from inside
    EXPECT(!crpc_connection_has_room(peer->connection));
    EXPECT(call_open(peer, METHOD_UNARY, 0) == NULL);
    UNTIL(rig, peer->drainings == 1);
    EXPECT_EQUAL(peer->closes, 0);
    EXPECT_EQUAL(call_finish(rig_server_call(rig), 5, "done"), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 5);
    UNTIL(rig, peer->closes == 1 && rig_server_peer(rig)->closes == 1);
    EXPECT_EQUAL(peer->error, CRPC_OK);
    rig_end(rig);
}

TEST(a_client_without_calls_drains_at_once) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    peer_drain(peer);
    UNTIL(rig, peer->closes == 1 && rig_server_peer(rig)->closes == 1);
    EXPECT_EQUAL(peer->error, CRPC_OK);
    peer = rig_connect(rig);
    peer_drain(peer); // while it connects
    EXPECT_EQUAL(peer->closes, 0);
    UNTIL(rig, peer->closes == 1);
    EXPECT_EQUAL(peer->error, CRPC_OK);
    rig_end(rig);
}

TEST(a_client_that_drains_while_it_connects_still_makes_its_calls) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_connect(rig);
    call *call = call_unary(peer, METHOD_UNARY, "before the drain");
    peer_drain(peer);
    EXPECT(call_open(peer, METHOD_UNARY, 0) == NULL);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    uint64_t start = now_ms();
    UNTIL(rig, peer->closes == 1);
    EXPECT(now_ms() - start < 1000);
    EXPECT_EQUAL(peer->error, CRPC_OK);
    EXPECT_EQUAL(peer->drainings, 1);
    rig_end(rig);
}

TEST(calls_that_wait_for_their_turn_are_made_though_the_client_drains) {
    rig_setup setup = rig_defaults();
    setup.server.streams_max = 1;
    rig *rig = rig_start(&setup);
    peer *peer = rig_open(rig);
    call *calls[4];
    for (int i = 0; i < 4; i++) calls[i] = call_unary(peer, METHOD_UNARY, "x");
    peer_drain(peer);
    for (int i = 0; i < 4; i++) {
        UNTIL(rig, calls[i]->closes == 1);
        EXPECT_EQUAL(calls[i]->status, 0);
    }
    UNTIL(rig, peer->closes == 1);
    EXPECT_EQUAL(peer->error, CRPC_OK);
    rig_end(rig);
}

TEST(a_goaway_of_the_server_with_an_error_is_no_drain) {
    rig_setup setup = rig_defaults();
    setup.has_no_listener = true;
    rig *rig = rig_start(&setup);
    raw *raw = raw_listen(rig);
    peer *peer = rig_connect_to(rig, raw->port);
    raw_accept(raw);
    UNTIL(rig, peer->opens == 1);
    raw_send_goaway(raw, 0, NGHTTP2_ENHANCE_YOUR_CALM);
    UNTIL(rig, peer->closes == 1);
    EXPECT_EQUAL(peer->drainings, 1);
    EXPECT_EQUAL(peer->error, CRPC_ERROR_CLOSED);
    raw_free(raw);
    rig_end(rig);
}

TEST(closing_ends_the_calls_there_are) {
    for (int by_server = 0; by_server < 2; by_server++) {
        rig *rig = rig_start(NULL);
        peer *peer = rig_open(rig);
        call *calls[3];
        for (int i = 0; i < 3; i++) calls[i] = call_unary(peer, METHOD_HOLD, "x");
        UNTIL(rig, rig->server_call_count == 3);
        peer_close(by_server ? rig_server_peer(rig) : peer);
        EXPECT_EQUAL(peer->closes, 0);
        UNTIL(rig, peer->closes == 1 && rig_server_peer(rig)->closes == 1);
        EXPECT_EQUAL(peer->error, CRPC_ERROR_CLOSED);
        for (int i = 0; i < 3; i++) {
            EXPECT_EQUAL(calls[i]->status, 14);
            EXPECT(!calls[i]->is_unprocessed && !calls[i]->is_from_server);
            EXPECT_EQUAL(rig->server_calls[i]->error, NGHTTP2_CANCEL);
        }
        rig_end(rig);
    }
}

TEST(freeing_the_listener_ends_all_of_it_at_once) {
    rig *rig = rig_start(NULL);
    peer *first = rig_open(rig), *second = rig_open(rig);
    (void)call_unary(first, METHOD_HOLD, "x");
    (void)call_unary(second, METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 2);
    rig_free_listener(rig);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQUAL(rig->server_calls[i]->closes, 1);
        EXPECT_EQUAL(rig->server_peers[i]->closes, 1);
    }
    UNTIL(rig, first->closes == 1 && second->closes == 1);
    rig_end(rig);
}

TEST(a_connection_that_nobody_answers_fails) {
    rig_setup setup = rig_defaults();
    setup.has_no_listener = true;
    rig *rig = rig_start(&setup);
    raw *raw = raw_listen(rig);
    uint16_t port = raw->port;
    raw_free(raw); // the port is free again
    peer *peer = rig_connect_to(rig, port);
    if (peer != NULL) {
        call *call = call_unary(peer, METHOD_UNARY, "x");
        UNTIL(rig, peer->closes == 1);
        EXPECT_EQUAL(peer->error, CRPC_ERROR_SYSTEM);
        EXPECT_EQUAL(peer->opens, 0);
        EXPECT_EQUAL(call->status, 14);
        EXPECT(call->is_unprocessed);
    }
    rig_end(rig);
}

TEST(what_cannot_be_connected_to_fails_at_once) {
    rig_setup setup = rig_defaults();
    setup.address = "localhost"; // no digits
    setup.has_no_listener = true;
    rig *rig = rig_start(&setup);
    EXPECT(rig_connect_to(rig, 1) == NULL);
    EXPECT_EQUAL(rig->last_error, CRPC_ERROR_ARGUMENT);
    rig_end(rig);
    setup.has_no_listener = false;
    EXPECT_EQUAL(rig_try_start(&setup, &rig), CRPC_ERROR_ARGUMENT);
}

TEST(a_port_in_use_is_told) {
    rig *rig = rig_start(NULL);
    crpc_listener_options options = {
        .address = "127.0.0.1", .port = rig->port, .limits = rig->setup.server, .connections_max = 1, .calls_max = 1};
    crpc_listener *second;
    EXPECT_EQUAL(
        crpc_listener_new(rig->loop, &options, rig_paths, METHOD_COUNT, &rig_server_callbacks, rig, &second),
        CRPC_ERROR_ADDRESS_IN_USE);
    EXPECT_EQUAL(
        crpc_listener_new(rig->loop, &options, rig_paths, CRPC_METHODS_MAX + 1, &rig_server_callbacks, rig, &second),
        CRPC_ERROR_ARGUMENT);
    rig_end(rig);
}

TEST(loops_may_share_a_port) {
    rig *rig = rig_start(NULL);
    crpc_listener_options options = {
        .address = "127.0.0.1", .shared_port = true, .limits = rig->setup.server, .connections_max = 1, .calls_max = 1};
    crpc_listener *first, *second;
    REQUIRE(crpc_listener_new(rig->loop, &options, rig_paths, METHOD_COUNT, &rig_server_callbacks, rig, &first) == 0);
    options.port = crpc_listener_port(first);
    EXPECT(options.port != 0);
    // Another process would come like this: as a first one.
    EXPECT_EQUAL(
        crpc_listener_new(rig->loop, &options, rig_paths, METHOD_COUNT, &rig_server_callbacks, rig, &second),
        CRPC_ERROR_ADDRESS_IN_USE);
    options.joins_port = true;
    REQUIRE(crpc_listener_new(rig->loop, &options, rig_paths, METHOD_COUNT, &rig_server_callbacks, rig, &second) == 0);
    EXPECT_EQUAL(crpc_listener_port(second), options.port);
    crpc_listener_free(first);
    crpc_listener_free(second);
    rig_end(rig);
}

/// A client that dies after `stage` steps of a call, with FIN or RST; the server ends what there was, and goes on.
static void die_as_client(int stage, bool with_reset) {
    rig *rig = rig_start(NULL);
    raw *raw = stage == 0 ? raw_connect_silently(rig) : raw_connect(rig);
    if (stage >= 2) raw_send_request(raw, 0, 1, rig_paths[METHOD_HOLD], "grpc-timeout", "10S");
    if (stage >= 2) UNTIL(rig, rig->server_call_count == 1);
    if (stage == 3) raw_send_data(raw, 0, 1, "\0\0\0\0\12half", 9);
    if (stage >= 4) raw_send_message(raw, NGHTTP2_FLAG_END_STREAM, 1, "all");
    if (stage >= 4) UNTIL(rig, rig_server_call(rig)->messages == 1);
    static uint8_t bytes[300000];
    if (stage == 5) EXPECT_EQUAL(call_send(rig_server_call(rig), bytes, sizeof bytes), CRPC_OK);
    if (stage == 6) raw_send(raw, "\0\0", 2); // inside a frame's head
    rig_run_ms(rig, 5);
    raw_close(raw, with_reset);
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == 0);
    if (stage >= 2) {
        EXPECT_EQUAL(rig_server_call(rig)->closes, 1);
        EXPECT_EQUAL(rig_server_call(rig)->error, NGHTTP2_CANCEL);
    }
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_UNARY, "still here");
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_client_may_die_at_any_stage) {
    for (int stage = 0; stage <= 6; stage++) {
        die_as_client(stage, false);
        die_as_client(stage, true);
        if (test_has_failed()) test_note("stage %d", stage);
    }
}

/// A server that dies after `stage` steps.
static void die_as_server(int stage, bool with_reset) {
    rig_setup setup = rig_defaults();
    setup.has_no_listener = true;
    rig *rig = rig_start(&setup);
    raw *raw = raw_listen(rig);
    peer *peer = rig_connect_to(rig, raw->port);
    call *call = call_unary(peer, METHOD_UNARY, "question");
    raw_accept_silently(raw);
    if (stage >= 1) raw_send_frame(raw, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
    if (stage >= 1) UNTIL(rig, peer->opens == 1);
    if (stage >= 2) UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL);
    raw_entry head[] = {{":status", "200"}, {"content-type", "application/grpc"}};
    if (stage >= 3) raw_send_headers(raw, 0, 1, head, 2);
    if (stage >= 3) UNTIL(rig, call->headers == 1);
    if (stage == 4) raw_send_data(raw, 0, 1, "\0\0\0\0\12half", 9);
    if (stage == 5) raw_send_message(raw, 0, 1, "all but the status");
    if (stage == 5) UNTIL(rig, call->messages == 1);
    if (stage >= 1) rig_run_ms(rig, 5);
    raw_close(raw, with_reset);
    UNTIL(rig, peer->closes == 1);
    EXPECT(peer->error == CRPC_ERROR_CLOSED || peer->error == CRPC_ERROR_SYSTEM);
    EXPECT_EQUAL(call->status, 14);
    EXPECT(!call->is_from_server);
    EXPECT_EQUAL(peer->opens, stage >= 1);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_server_may_die_at_any_stage) {
    for (int stage = 0; stage <= 5; stage++) {
        die_as_server(stage, false);
        die_as_server(stage, true);
        if (test_has_failed()) test_note("stage %d", stage);
    }
}

/// A loop that is freed with a listener, a client and a call on it: all are freed, and no callback fires.
TEST(a_loop_frees_what_is_left_on_it) {
    rig *rig = rig_start(NULL);
    peer *client = rig_open(rig);
    call *call = call_unary(client, METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 1);
    peer *begun = rig_connect(rig); // has only begun
    crpc_loop_free(rig->loop);
    EXPECT(call->closes == 0 && rig_server_call(rig)->closes == 0 && client->closes == 0 && begun->closes == 0);
    EXPECT_EQUAL(rig_server_peer(rig)->closes, 0);
    // No callback told the rig, so set what it expects at its end.
    REQUIRE(crpc_loop_new(NULL, NULL, &rig->loop) == CRPC_OK);
    rig->listener = NULL;
    call->closes = rig_server_call(rig)->closes = client->closes = begun->closes = rig_server_peer(rig)->closes = 1;
    call->stream = rig_server_call(rig)->stream = NULL;
    client->connection = begun->connection = rig_server_peer(rig)->connection = NULL;
    rig_end(rig);
}

static void free_the_listener(call *call, rig_event event) {
    if (call->is_server && event == EVENT_MESSAGE) rig_free_listener(call->rig);
}

TEST(a_listener_is_not_freed_inside_a_callback) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)close(STDERR_FILENO);
        rig *rig = rig_start(NULL);
        rig->react = free_the_listener;
        (void)call_unary(rig_open(rig), METHOD_HOLD, "x");
        for (int i = 0; i < 100; i++) rig_turn(rig);
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
