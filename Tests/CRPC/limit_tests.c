#include "raw.h"

#include <stdio.h>
#include <sys/socket.h>

// Limits: calls, connections, time, and what waits for a peer that does not read.

TEST(calls_past_the_maximum_are_shed) {
    rig_setup setup = rig_defaults();
    setup.calls_max = 2;
    rig *rig = rig_start(&setup);
    peer *one = rig_open(rig), *other = rig_open(rig);
    call *first = call_unary(one, METHOD_HOLD, "1"), *second = call_unary(other, METHOD_HOLD, "2");
    UNTIL(rig, rig->server_call_count == 2);
    call *third = call_unary(one, METHOD_HOLD, "3");
    UNTIL(rig, third->closes == 1);
    EXPECT_EQUAL(third->status, 8);
    EXPECT(third->is_from_server);
    EXPECT_EQUAL(rig->server_call_count, 2);
    EXPECT_EQUAL(call_finish(rig->server_calls[0], 0, ""), CRPC_OK);
    UNTIL(rig, first->closes == 1 || second->closes == 1);
    call *fourth = call_unary(one, METHOD_HOLD, "4");
    UNTIL(rig, rig->server_call_count == 3);
    // Places come back however a call ends.
    call_reset(fourth, NGHTTP2_CANCEL);
    UNTIL(rig, rig->server_calls[2]->closes == 1);
    EXPECT_EQUAL(rig->listener->service.call_count, 1);
    peer_close(one);
    peer_close(other);
    UNTIL(rig, rig->listener->service.call_count == 0);
    rig_end(rig);
}

TEST(connections_past_the_maximum_wait) {
    rig_setup setup = rig_defaults();
    setup.connections_max = 2;
    rig *rig = rig_start(&setup);
    peer *first = rig_open(rig);
    (void)rig_open(rig);
    peer *third = rig_connect(rig);
    call *call = call_unary(third, METHOD_UNARY, "patience");
    rig_run_ms(rig, 30);
    EXPECT_EQUAL(crpc_listener_connection_count(rig->listener), 2);
    EXPECT_EQUAL(call->closes, 0);
    peer_close(first);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT_EQUAL(crpc_listener_connection_count(rig->listener), 2);
    rig_end(rig);
}

TEST(a_server_whose_client_does_not_read_queues_and_tells_when_it_may_go_on) {
    rig_setup setup = rig_defaults();
    setup.client.stream_window_bytes = 65535;
    rig *rig = rig_start(&setup);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    call_consume_manually(call);
    UNTIL(rig, rig->server_call_count == 1);
    struct call *server = rig_server_call(rig);
    static uint8_t bytes[8192];
    size_t sent = 0;
    while (crpc_stream_is_writable(server->stream)) {
        EXPECT_EQUAL(call_send(server, bytes, sizeof bytes), CRPC_OK);
        sent += 1;
        rig_turn(rig);
    }
    rig_run_ms(rig, 20);
    EXPECT(server->stream->out.queued_bytes > CRPC_STREAM_LOW_WATER);
    EXPECT(server->stream->out.queued_bytes <= CRPC_STREAM_HIGH_WATER + sizeof bytes + CRPC_PREFIX_LENGTH);
    EXPECT_EQUAL(server->writables, 0);
    EXPECT(call->received_length <= 65535);
    // Taken off piece by piece, it fires once it is under the low-water mark.
    size_t taken = 0;
    while (server->writables == 0) {
        REQUIRE(taken < sent);
        UNTIL(rig, call->messages > taken);
        call_consume(call, sizeof bytes);
        taken += 1;
        rig_run_ms(rig, 3);
    }
    EXPECT_EQUAL(server->writables, 1);
    EXPECT(crpc_stream_is_writable(server->stream));
    EXPECT_EQUAL(call_finish(server, 0, ""), CRPC_OK);
    while (call->closes == 0 && taken < sent) {
        UNTIL(rig, call->messages > taken || call->closes == 1);
        if (call->closes == 0) call_consume(call, sizeof bytes);
        taken += 1;
    }
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->messages, sent);
    rig_end(rig);
}

TEST(a_client_whose_server_does_not_read_queues_and_tells_when_it_may_go_on) {
    rig_setup setup = rig_defaults();
    setup.server.stream_window_bytes = 65535;
    rig *rig = rig_start(&setup);
    peer *peer = rig_open(rig);
    call *call = call_open(peer, METHOD_HOLD, 0);
    UNTIL(rig, rig->server_call_count == 1);
    struct call *server = rig_server_call(rig);
    call_consume_manually(server);
    static uint8_t bytes[8192];
    while (crpc_stream_is_writable(call->stream)) {
        EXPECT_EQUAL(call_send(call, bytes, sizeof bytes), CRPC_OK);
        rig_turn(rig);
    }
    EXPECT(server->received_length <= 65535);
    // Another call on the same connection is not held up.
    struct call *other = call_unary(peer, METHOD_UNARY, "past it");
    UNTIL(rig, other->closes == 1);
    EXPECT_EQUAL(other->status, 0);
    EXPECT_EQUAL(call->writables, 0);
    for (unsigned taken = 0; call->writables == 0; taken++) {
        UNTIL(rig, server->messages > taken);
        call_consume(server, sizeof bytes);
        rig_run_ms(rig, 3);
    }
    rig_end(rig);
}

TEST(a_call_that_is_consumed_message_by_message_never_stalls) {
    rig_setup setup = rig_defaults();
    setup.client.stream_window_bytes = 65535;
    rig *rig = rig_start(&setup);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    call_consume_manually(call);
    UNTIL(rig, rig->server_call_count == 1);
    struct call *server = rig_server_call(rig);
    // More prefixes than a window holds.
    enum { COUNT = 20000 };
    unsigned taken = 0;
    for (unsigned sent = 0; sent < COUNT; sent++) {
        EXPECT_EQUAL(call_send(server, "m", 1), CRPC_OK);
        if (sent % 500 != 499) continue;
        UNTIL(rig, call->messages == sent + 1);
        for (; taken < call->messages; taken++) call_consume(call, 1);
    }
    EXPECT_EQUAL(call_finish(server, 0, ""), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->messages, COUNT);
    rig_end(rig);
}

TEST(a_message_larger_than_the_window_arrives_though_the_call_is_consumed_by_hand) {
    enum { SIZE = 300000 };
    rig_setup setup = rig_defaults();
    setup.client.stream_window_bytes = 65535;
    setup.server.stream_window_bytes = 65535;
    rig *rig = rig_start(&setup);
    peer *peer = rig_open(rig);
    call *call = call_open(peer, METHOD_HOLD, 0);
    call_consume_manually(call);
    UNTIL(rig, rig->server_call_count == 1);
    struct call *server = rig_server_call(rig);
    call_consume_manually(server);
    static uint8_t bytes[SIZE];
    for (unsigned round = 1; round <= 3; round++) {
        EXPECT_EQUAL(call_send(call, bytes, SIZE), CRPC_OK);
        UNTIL(rig, server->messages == round);
        call_consume(server, SIZE);
        EXPECT_EQUAL(call_send(server, bytes, SIZE), CRPC_OK);
        UNTIL(rig, call->messages == round);
        call_consume(call, SIZE);
    }
    EXPECT_EQUAL(call_finish(server, 0, ""), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    rig_end(rig);
}

TEST(messages_that_nobody_took_off_hold_the_peer_up) {
    rig_setup setup = rig_defaults();
    setup.client.stream_window_bytes = 65535;
    rig *rig = rig_start(&setup);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    call_consume_manually(call);
    UNTIL(rig, rig->server_call_count == 1);
    struct call *server = rig_server_call(rig);
    static uint8_t bytes[50000];
    for (int i = 0; i < 4; i++) EXPECT_EQUAL(call_send(server, bytes, sizeof bytes), CRPC_OK);
    rig_run_ms(rig, 50);
    // One that is there and one that is being put together; the rest stays with the server.
    EXPECT(call->messages <= 2);
    EXPECT(server->stream->out.queued_bytes > sizeof bytes);
    for (unsigned taken = 0; taken < 4; taken++) {
        UNTIL(rig, call->messages > taken);
        call_consume(call, sizeof bytes);
    }
    rig_end(rig);
}

TEST(empty_messages_hold_the_peer_up_too) {
    enum { WINDOW = 65535, AT_ONCE = 3000 };
    rig_setup setup = rig_defaults();
    setup.server.stream_window_bytes = WINDOW;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    raw_send_request(raw, 0, 1, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == 1);
    call *server = rig_server_call(rig);
    call_consume_manually(server);
    static const uint8_t empty[AT_ONCE * CRPC_PREFIX_LENGTH];
    unsigned most = WINDOW / CRPC_PREFIX_LENGTH;
    for (unsigned sent = 0; sent + AT_ONCE <= most; sent += AT_ONCE) raw_send_data(raw, 0, 1, empty, sizeof empty);
    UNTIL(rig, server->messages == most / AT_ONCE * AT_ONCE);
    rig_run_ms(rig, 10);
    EXPECT(raw_read(raw) && raw_find(raw, NGHTTP2_WINDOW_UPDATE, 1) == NULL); // nobody took one off
    for (unsigned taken = 0; taken < server->messages; taken++) call_consume(server, 0);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_WINDOW_UPDATE, 1) != NULL);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_peer_that_takes_nothing_off_its_socket_loses_the_connection) {
    rig_setup setup = rig_defaults();
    setup.server.write_stall_timeout_ms = 100;
    setup.server.buffered_bytes_max = 64 << 20;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    static const uint8_t window[] = {0, 4, 0x7f, 0xff, 0xff, 0xff};
    raw_send_frame(raw, NGHTTP2_SETTINGS, 0, 0, window, sizeof window);
    raw_send_window_update(raw, 0, 0x7fff0000);
    raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, 1, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == 1);
    call *server = rig_server_call(rig);
    static uint8_t bytes[1 << 20];
    for (int i = 0; i < 32; i++) EXPECT_EQUAL(call_send(server, bytes, sizeof bytes), CRPC_OK);
    UNTIL(rig, server->closes == 1); // and nobody read
    EXPECT_EQUAL(server->error, NGHTTP2_CANCEL);
    UNTIL(rig, rig_server_peer(rig)->closes == 1);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_peer_that_reads_slowly_keeps_the_connection) {
    rig_setup setup = rig_defaults();
    setup.server.write_stall_timeout_ms = 500;
    setup.server.buffered_bytes_max = 64 << 20;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    static const uint8_t window[] = {0, 4, 0x7f, 0xff, 0xff, 0xff};
    raw_send_frame(raw, NGHTTP2_SETTINGS, 0, 0, window, sizeof window);
    raw_send_window_update(raw, 0, 0x7fff0000);
    raw_send_request(raw, NGHTTP2_FLAG_END_STREAM, 1, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == 1);
    call *server = rig_server_call(rig);
    static uint8_t bytes[1 << 20];
    for (int i = 0; i < 24; i++) EXPECT_EQUAL(call_send(server, bytes, sizeof bytes), CRPC_OK);
    EXPECT_EQUAL(call_finish(server, 0, ""), CRPC_OK);
    uint64_t start = now_ms();
    while (server->closes == 0) {
        (void)recv(raw->fd, bytes, sizeof bytes / 2, 0); // half a megabyte at most, every 30 ms
        rig_run_ms(rig, 30);
        REQUIRE(now_ms() - start < RIG_PATIENCE_MS);
    }
    EXPECT(now_ms() - start > 500);
    EXPECT_EQUAL(server->error, 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_client_that_says_nothing_loses_the_connection) {
    rig_setup setup = rig_defaults();
    setup.server.handshake_timeout_ms = 60;
    rig *rig = rig_start(&setup);
    raw *silent = raw_connect_silently(rig), *half = raw_connect_silently(rig), *good = raw_connect(rig);
    raw_send(half, "PRI * HTTP/2.0\r\n", 16);
    UNTIL(rig, raw_read(silent) && raw_read(half) && silent->has_ended && half->has_ended);
    rig_run_ms(rig, 50);
    EXPECT(raw_read(good) && !good->has_ended);
    EXPECT_EQUAL(crpc_listener_connection_count(rig->listener), 1);
    raw_free(silent);
    raw_free(half);
    raw_free(good);
    rig_end(rig);
}

TEST(handshakes_past_the_maximum_end_the_oldest) {
    rig_setup setup = rig_defaults();
    setup.handshakes_max = 3;
    rig *rig = rig_start(&setup);
    raw *done = raw_connect(rig), *silent[5];
    UNTIL(rig, rig->server_peer_count == 1 && rig->listener->shaking_count == 0);
    for (int i = 0; i < 5; i++) {
        silent[i] = raw_connect_silently(rig);
        UNTIL(rig, rig->server_peer_count == (size_t)i + 2);
    }
    // Looked at from the server's side: who reads SETTINGS here also answers them.
    UNTIL(rig, rig->server_peers[1]->closes == 1 && rig->server_peers[2]->closes == 1);
    for (int i = 3; i < 6; i++) EXPECT_EQUAL(rig->server_peers[i]->closes, 0);
    EXPECT_EQUAL(rig->listener->shaking_count, 3);
    // Those that are done do not count, nor do those that are gone.
    raw_close(silent[2], false);
    UNTIL(rig, rig->listener->shaking_count == 2);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_UNARY, "let in");
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT_EQUAL(rig->listener->shaking_count, 2);
    EXPECT(raw_read(done) && !done->has_ended);
    for (int i = 0; i < 5; i++) raw_free(silent[i]);
    raw_free(done);
    rig_end(rig);
}

TEST(a_server_that_says_nothing_loses_the_connection) {
    rig_setup setup = rig_defaults();
    setup.has_no_listener = true;
    setup.client.handshake_timeout_ms = 60;
    rig *rig = rig_start(&setup);
    raw *raw = raw_listen(rig);
    peer *peer = rig_connect_to(rig, raw->port);
    call *call = call_unary(peer, METHOD_UNARY, "x");
    raw_accept_silently(raw);
    UNTIL(rig, peer->closes == 1);
    EXPECT_EQUAL(peer->error, CRPC_ERROR_TIMEOUT);
    EXPECT_EQUAL(peer->opens, 0);
    EXPECT_EQUAL(call->status, 14);
    raw_free(raw);
    rig_end(rig);
}

TEST(idle_connections_are_drained) {
    rig_setup setup = rig_defaults();
    setup.client.idle_timeout_ms = 250;
    rig *rig = rig_start(&setup);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_HOLD, "keeps it");
    rig_run_ms(rig, 350);
    EXPECT_EQUAL(peer->closes, 0);
    UNTIL(rig, rig->server_call_count == 1);
    EXPECT_EQUAL(call_finish(rig_server_call(rig), 0, ""), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(peer->closes, 0);
    UNTIL(rig, peer->closes == 1);
    EXPECT_EQUAL(peer->error, CRPC_OK);
    EXPECT_EQUAL(peer->drainings, 1);
    rig_end(rig);
}

TEST(connections_that_never_had_a_call_are_idle_too) {
    rig_setup setup = rig_defaults();
    setup.server.idle_timeout_ms = 60;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    UNTIL(rig, raw_read(raw) && raw->has_ended);
    EXPECT(raw_find(raw, NGHTTP2_GOAWAY, 0) != NULL);
    EXPECT_EQUAL(raw_error(raw_find(raw, NGHTTP2_GOAWAY, 0)), NGHTTP2_NO_ERROR);
    raw_free(raw);
    rig_end(rig);
}

TEST(metadata_too_large_to_send_is_refused) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    static char value[70001];
    static uint8_t block[80000];
    memset(value, 'v', sizeof value - 1);
    size_t length = metadata_add(block, 0, "x-large", value);
    EXPECT(call_open_with(peer, rig_paths[METHOD_UNARY], 0, block, length) == NULL);
    EXPECT_EQUAL(rig->last_error, CRPC_ERROR_ARGUMENT);
    call *call = call_open(peer, METHOD_HOLD, 0);
    UNTIL(rig, rig->server_call_count == 1);
    EXPECT_EQUAL(call_send_headers(rig_server_call(rig), block, length), CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(call_finish(rig_server_call(rig), 0, ""), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    rig_end(rig);
}

TEST(metadata_of_the_largest_size_arrives_where_it_is_allowed) {
    rig_setup setup = rig_defaults();
    setup.server.header_bytes_max = setup.client.header_bytes_max = 64 << 10;
    rig *rig = rig_start(&setup);
    peer *peer = rig_open(rig);
    static char value[CRPC_METADATA_SENT_MAX];
    static uint8_t block[CRPC_METADATA_SENT_MAX + 100];
    memset(value, 'v', sizeof value - 1);
    // The path counts, its name, and 32 for the entry.
    size_t most = CRPC_METADATA_SENT_MAX - strlen(rig_paths[METHOD_HOLD]) - 7 - 32;
    value[most + 1] = 0;
    size_t length = metadata_add(block, 0, "x-large", value);
    EXPECT(call_open_with(peer, rig_paths[METHOD_HOLD], 0, block, length) == NULL);
    value[most] = 0;
    length = metadata_add(block, 0, "x-large", value);
    call *call = call_open_with(peer, rig_paths[METHOD_HOLD], 0, block, length);
    REQUIRE(call != NULL);
    UNTIL(rig, rig->server_call_count == 1);
    EXPECT(metadata_has(rig_server_call(rig)->head, rig_server_call(rig)->head_length, "x-large", value));
    EXPECT_EQUAL(call_send_headers(rig_server_call(rig), block, length), CRPC_OK);
    UNTIL(rig, call->headers == 1);
    EXPECT(metadata_has(call->head, call->head_length, "x-large", value));
    rig_end(rig);
}
