#include "raw.h"

// What is counted: calls by path and status, connections, streams, bytes, turns.

static rig *start_counting(uint32_t calls_max, crpc_call_table **table) {
    rig_setup setup = rig_defaults();
    if (calls_max > 0) setup.calls_max = calls_max;
    REQUIRE(crpc_call_table_new(METHOD_COUNT + 1, table) == CRPC_OK);
    setup.calls = *table;
    return rig_start(&setup);
}

static uint64_t ended(const crpc_call_table *table, uint32_t row, int status) {
    crpc_call_stats stats;
    crpc_call_table_read(table, row, &stats);
    return stats.ended[status];
}

static crpc_loop_stats stats_of(const rig *rig) {
    crpc_loop_stats stats;
    crpc_loop_read_stats(rig->loop, &stats);
    return stats;
}

TEST(a_table_counts_by_row_status_and_time) {
    crpc_call_table *table = NULL;
    EXPECT_EQUAL(crpc_call_table_new(0, &table), CRPC_ERROR_ARGUMENT);
    EXPECT_EQUAL(crpc_call_table_new(CRPC_CALL_ROWS_MAX + 1, &table), CRPC_ERROR_ARGUMENT);
    REQUIRE(crpc_call_table_new(2, &table) == CRPC_OK);
    crpc_call_table_count(table, 0, 0, 0);
    crpc_call_table_count(table, 0, 0, crpc_time_bounds_ns[0]);
    crpc_call_table_count(table, 0, 16, crpc_time_bounds_ns[0] + 1);
    crpc_call_table_count(table, 0, 0, crpc_time_bounds_ns[CRPC_TIME_BOUNDS - 1]);
    crpc_call_table_count(table, 0, 0, crpc_time_bounds_ns[CRPC_TIME_BOUNDS - 1] + 1);
    // Neither a status that nobody defined nor a row that is not there goes anywhere else.
    crpc_call_table_count(table, 7, 17, 1);
    crpc_call_table_count(table, 1, -1, 1);
    crpc_call_stats stats;
    crpc_call_table_read(table, 0, &stats);
    EXPECT_EQUAL(stats.ended[0], 4);
    EXPECT_EQUAL(stats.ended[16], 1);
    EXPECT_EQUAL(stats.took[0], 2);
    EXPECT_EQUAL(stats.took[1], 1);
    EXPECT_EQUAL(stats.took[CRPC_TIME_BOUNDS - 1], 1);
    EXPECT_EQUAL(stats.took[CRPC_TIME_BOUNDS], 1);
    EXPECT_EQUAL(stats.took_ns, 2 * crpc_time_bounds_ns[0] + 1 + 2 * crpc_time_bounds_ns[CRPC_TIME_BOUNDS - 1] + 1);
    EXPECT_EQUAL(ended(table, 1, 2), 2);
    for (int i = 1; i < CRPC_TIME_BOUNDS; i++) EXPECT(crpc_time_bounds_ns[i - 1] < crpc_time_bounds_ns[i]);
    crpc_call_table_free(table);
}

TEST(calls_are_counted_with_what_the_client_was_told) {
    crpc_call_table *table;
    rig *rig = start_counting(0, &table);
    peer *peer = rig_open(rig);
    for (int i = 0; i < 3; i++) {
        call *call = call_unary(peer, METHOD_UNARY, "x");
        UNTIL(rig, call->closes == 1);
    }
    call *failed = call_unary(peer, METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 4);
    rig_run_ms(rig, 3);
    EXPECT_EQUAL(call_finish(rig->server_calls[3], 5, "not there"), CRPC_OK);
    UNTIL(rig, failed->closes == 1);
    call *given_up = call_unary(peer, METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 5);
    call_reset(given_up, NGHTTP2_CANCEL);
    UNTIL(rig, rig->server_calls[4]->closes == 1);
    call *unknown = call_open_with(peer, "/no.such/Method", 0, NULL, 0);
    UNTIL(rig, unknown->closes == 1);
    UNTIL(rig, ended(table, METHOD_COUNT, 12) == 1);
    EXPECT_EQUAL(ended(table, METHOD_UNARY, 0), 3);
    EXPECT_EQUAL(ended(table, METHOD_HOLD, 5), 1);
    EXPECT_EQUAL(ended(table, METHOD_HOLD, 1), 1);
    EXPECT_EQUAL(ended(table, METHOD_STREAM, 0), 0);
    crpc_call_stats held;
    crpc_call_table_read(table, METHOD_HOLD, &held);
    EXPECT(held.took_ns >= 3000000);
    rig_end(rig);
    crpc_call_table_free(table);
}

TEST(calls_that_were_there_at_the_end_are_counted_as_cancelled) {
    crpc_call_table *table;
    rig *rig = start_counting(0, &table);
    (void)call_unary(rig_open(rig), METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 1);
    rig_free_listener(rig);
    EXPECT_EQUAL(ended(table, METHOD_HOLD, 1), 1);
    rig_end(rig);
    crpc_call_table_free(table);
}

TEST(ordinary_requests_are_counted_as_what_their_http_status_means_in_grpc) {
    crpc_call_table *table;
    rig *rig = start_counting(0, &table);
    raw *raw = raw_connect(rig);
    raw_entry entries[] = {
        {":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a"}};
    raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 1, entries, 4);
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL);
    UNTIL(rig, ended(table, METHOD_COUNT, 12) == 1); // 404 is UNIMPLEMENTED
    entries[2][1] = rig_paths[METHOD_UNARY];
    raw_send_headers(raw, NGHTTP2_FLAG_END_STREAM, 3, entries, 4);
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 3) != NULL);
    UNTIL(rig, ended(table, METHOD_UNARY, 2) == 1); // 405 is UNKNOWN
    raw_free(raw);
    rig_end(rig);
    crpc_call_table_free(table);
}

TEST(a_loop_counts_connections_streams_bytes_and_what_it_sheds) {
    crpc_call_table *table;
    rig *rig = start_counting(1, &table);
    crpc_loop_stats before = stats_of(rig);
    EXPECT_EQUAL(before.server_connections_opened, 0);
    peer *peer = rig_open(rig);
    call *held = call_unary(peer, METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 1);
    call *shed = call_unary(peer, METHOD_HOLD, "x");
    UNTIL(rig, shed->closes == 1);
    crpc_loop_stats now = stats_of(rig);
    EXPECT_EQUAL(now.server_connections_opened, 1);
    EXPECT_EQUAL(now.client_connections_opened, 1);
    EXPECT_EQUAL(now.server_connections_closed + now.client_connections_closed, 0);
    EXPECT_EQUAL(now.server_streams_opened, 2);
    EXPECT_EQUAL(now.client_streams_opened, 2);
    EXPECT_EQUAL(now.client_streams_closed, 1);
    EXPECT_EQUAL(now.calls_shed, 1);
    EXPECT_EQUAL(ended(table, METHOD_HOLD, 8), 1);
    // Both ends of each connection are on this loop.
    EXPECT(now.sent_bytes > 100);
    EXPECT_EQUAL(now.sent_bytes, now.received_bytes);
    EXPECT(now.busy_ns > 0);
    uint64_t turns = 0;
    for (int i = 0; i < CRPC_TIME_COUNTS; i++) turns += now.turns[i];
    EXPECT(turns > 0);
    EXPECT_EQUAL(call_finish(rig->server_calls[0], 0, ""), CRPC_OK);
    UNTIL(rig, held->closes == 1);
    peer_close(peer);
    UNTIL(rig, stats_of(rig).server_connections_closed == 1);
    now = stats_of(rig);
    EXPECT_EQUAL(now.client_connections_closed, 1);
    EXPECT_EQUAL(now.server_streams_closed, 2);
    EXPECT_EQUAL(now.client_streams_closed, 2);
    rig_end(rig);
    crpc_call_table_free(table);
}

TEST(a_flood_is_counted_as_a_dismissal) {
    crpc_call_table *table;
    rig *rig = start_counting(0, &table);
    raw *raw = raw_connect(rig);
    static const uint8_t ping[8];
    for (int i = 0; i < 2000 && stats_of(rig).connections_dismissed == 0; i++) {
        raw_send_frame(raw, NGHTTP2_PING, 0, 0, ping, sizeof ping);
        rig_turn(rig);
    }
    EXPECT_EQUAL(stats_of(rig).connections_dismissed, 1);
    raw_free(raw);
    rig_end(rig);
    crpc_call_table_free(table);
}
