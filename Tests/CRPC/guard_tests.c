#include "http2/guard.h"

#include "test.h"

#include <string.h>

// The guard alone: bytes, limits and the time go in, a verdict comes out.

enum { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION, UNKNOWN = 99 };
enum { PAYLOAD_MAX = 300, SECOND = 1000000000 };

static crpc_limits limits;

static crpc_guard begin(bool is_server) {
    crpc_guard guard;
    crpc_limits_default(&limits);
    limits.ping_interval_min_ms = 0;
    crpc_guard_begin(&guard, &limits, is_server, SECOND);
    guard.payload_left = 0; // past the preface
    return guard;
}

/// Writes a frame of zeros. Its length.
static size_t put(uint8_t *target, uint8_t type, uint8_t flags, size_t length) {
    memset(target, 0, CRPC_FRAME_HEAD + length);
    target[1] = (uint8_t)(length >> 8);
    target[2] = (uint8_t)length;
    target[3] = type;
    target[4] = flags;
    target[8] = 1;
    return CRPC_FRAME_HEAD + length;
}

static crpc_verdict look(crpc_guard *guard, uint8_t type, uint8_t flags, size_t length) {
    uint8_t frame[CRPC_FRAME_HEAD + PAYLOAD_MAX];
    return crpc_guard_look(guard, frame, put(frame, type, flags, length), SECOND, true);
}

TEST(each_frame_has_its_price) {
    static const struct {
        uint8_t type, flags;
        size_t length;
        int32_t cost;
    } prices[] = {
        {DATA, 0, 10, 0}, {DATA, 0, 0, CRPC_COST_FRAME}, {HEADERS, CRPC_FLAG_END_HEADERS, 10, CRPC_COST_FRAME},
        {PRIORITY, 0, 5, CRPC_COST_FRAME}, {RST_STREAM, 0, 4, CRPC_COST_FRAME}, {SETTINGS, 0, 6, CRPC_COST_SETTINGS},
        {SETTINGS, CRPC_FLAG_ACK, 0, CRPC_COST_FRAME}, {PING, 0, 8, CRPC_COST_PING},
        {PING, CRPC_FLAG_ACK, 8, CRPC_COST_FRAME}, {GOAWAY, 0, 8, CRPC_COST_FRAME},
        {WINDOW_UPDATE, 0, 4, CRPC_COST_FRAME}, {UNKNOWN, 0, 100, CRPC_COST_FRAME},
        {DATA, CRPC_FLAG_PADDED, 1, CRPC_COST_FRAME}, // a padding of no bytes, and no data
        {DATA, CRPC_FLAG_PADDED, 2, 0},
    };
    for (size_t i = 0; i < sizeof prices / sizeof prices[0]; i++) {
        crpc_guard guard = begin(true);
        int32_t before = guard.credit;
        test_note("frame %zu", i);
        EXPECT_EQUAL(look(&guard, prices[i].type, prices[i].flags, prices[i].length), CRPC_VERDICT_FINE);
        EXPECT_EQUAL(before - guard.credit, prices[i].cost);
        EXPECT(!crpc_guard_is_partial(&guard));
    }
}

TEST(who_has_no_credit_left_is_told_so_and_time_gives_some_back) {
    crpc_guard guard = begin(true);
    uint32_t most = limits.credit_max / CRPC_COST_SETTINGS;
    for (uint32_t i = 0; i < most; i++) EXPECT_EQUAL(look(&guard, SETTINGS, 0, 0), CRPC_VERDICT_FINE);
    EXPECT_EQUAL(guard.credit, 0);
    crpc_guard spent = guard;
    EXPECT_EQUAL(look(&guard, SETTINGS, 0, 0), CRPC_VERDICT_TOO_MANY_FRAMES);
    // A second later there is as much as `credit_per_second` says, and no more.
    EXPECT_EQUAL(crpc_guard_charge(&spent, (int32_t)limits.credit_per_second, 2ull * SECOND), CRPC_VERDICT_FINE);
    EXPECT_EQUAL(crpc_guard_charge(&spent, 1, 2ull * SECOND), CRPC_VERDICT_TOO_MANY_FRAMES);
    // Calls bring some, but never more than the most.
    crpc_guard_earn(&spent, INT16_MAX);
    EXPECT_EQUAL(spent.credit, limits.credit_max);
}

TEST(verdicts_do_not_depend_on_how_bytes_are_cut) {
    uint8_t bytes[2000];
    size_t length = put(bytes, SETTINGS, 0, 12);
    length += put(bytes + length, HEADERS, 0, 40);
    length += put(bytes + length, CONTINUATION, CRPC_FLAG_END_HEADERS, 30);
    length += put(bytes + length, DATA, CRPC_FLAG_PADDED, 20);
    length += put(bytes + length, PING, 0, 8);
    length += put(bytes + length, DATA, 0, 200);
    crpc_guard whole = begin(true);
    EXPECT_EQUAL(crpc_guard_look(&whole, bytes, length, SECOND, true), CRPC_VERDICT_FINE);
    for (size_t cut = 0; cut <= length; cut++) {
        crpc_guard guard = begin(true);
        EXPECT_EQUAL(crpc_guard_look(&guard, bytes, cut, SECOND, true), CRPC_VERDICT_FINE);
        // Where it says that the next head begins, one does.
        size_t next = crpc_guard_next_head(&guard, bytes + cut, length - cut), at = 0;
        while (at < cut + next && at < length) at += CRPC_FRAME_HEAD + crpc_frame_length(bytes + at);
        if (cut + next <= length) EXPECT_EQUAL(at, cut + next);
        EXPECT_EQUAL(crpc_guard_look(&guard, bytes + cut, length - cut, SECOND, true), CRPC_VERDICT_FINE);
        EXPECT_EQUAL(guard.credit, whole.credit);
        EXPECT_EQUAL(guard.unseen_bytes, whole.unseen_bytes);
        EXPECT_EQUAL(guard.payload_left, 0);
    }
    crpc_guard guard = begin(true); // byte by byte
    for (size_t i = 0; i < length; i++)
        EXPECT_EQUAL(crpc_guard_look(&guard, bytes + i, 1, SECOND, true), CRPC_VERDICT_FINE);
    EXPECT_EQUAL(guard.credit, whole.credit);
}

TEST(a_header_block_is_bounded_before_it_is_whole) {
    crpc_guard guard = begin(true);
    EXPECT_EQUAL(look(&guard, HEADERS, 0, 10), CRPC_VERDICT_FINE);
    EXPECT(crpc_guard_is_partial(&guard));
    for (uint32_t i = 0; i < limits.continuations_max; i++)
        EXPECT_EQUAL(look(&guard, CONTINUATION, 0, 10), CRPC_VERDICT_FINE);
    EXPECT_EQUAL(look(&guard, CONTINUATION, 0, 10), CRPC_VERDICT_HEADER_BLOCK_TOO_LARGE);
    // By its bytes: four times the limit, and from the head alone.
    guard = begin(true);
    limits.header_bytes_max = 50;
    EXPECT_EQUAL(look(&guard, HEADERS, 0, 203), CRPC_VERDICT_FINE);
    EXPECT_EQUAL(look(&guard, CONTINUATION, 0, 1), CRPC_VERDICT_HEADER_BLOCK_TOO_LARGE);
}

TEST(pings_may_not_come_more_often_than_the_limits_say) {
    crpc_guard guard = begin(true);
    limits.ping_interval_min_ms = 1000;
    limits.ping_strikes_max = 2;
    uint8_t ping[CRPC_FRAME_HEAD + 8];
    size_t length = put(ping, PING, 0, 8);
    for (uint64_t i = 0; i < 5; i++)
        EXPECT_EQUAL(crpc_guard_look(&guard, ping, length, i * SECOND + SECOND, true), CRPC_VERDICT_FINE);
    uint64_t now = 5ull * SECOND + 1;
    for (int i = 0; i < 2; i++) EXPECT_EQUAL(crpc_guard_look(&guard, ping, length, now, true), CRPC_VERDICT_FINE);
    crpc_guard answering = guard;
    EXPECT_EQUAL(crpc_guard_look(&guard, ping, length, now, true), CRPC_VERDICT_TOO_MANY_PINGS);
    // What we send wipes strikes out.
    crpc_guard_earn(&answering, 0);
    EXPECT_EQUAL(crpc_guard_look(&answering, ping, length, now, true), CRPC_VERDICT_FINE);
    // Without streams they must be hours apart, and a client lets its server ask when it likes.
    crpc_guard idle = begin(true);
    limits.ping_interval_min_ms = 1000;
    limits.ping_strikes_max = 0;
    EXPECT_EQUAL(crpc_guard_look(&idle, ping, length, SECOND, false), CRPC_VERDICT_FINE);
    EXPECT_EQUAL(crpc_guard_look(&idle, ping, length, 3000ull * SECOND, false), CRPC_VERDICT_TOO_MANY_PINGS);
    crpc_guard client = begin(false);
    limits.ping_interval_min_ms = 1000;
    limits.ping_strikes_max = 0;
    for (int i = 0; i < 10; i++) EXPECT_EQUAL(crpc_guard_look(&client, ping, length, SECOND, false), CRPC_VERDICT_FINE);
}

TEST(data_that_the_peer_could_not_know_to_be_late_is_free) {
    crpc_guard guard = begin(true);
    EXPECT_EQUAL(look(&guard, DATA, 0, 100), CRPC_VERDICT_FINE);
    EXPECT_EQUAL(look(&guard, DATA, 0, 100), CRPC_VERDICT_FINE);
    crpc_guard_note_data(&guard, 100); // the session showed one
    crpc_guard_expect_late(&guard, 150);
    crpc_guard_expect_late(&guard, -5);
    int32_t before = guard.credit;
    EXPECT_EQUAL(crpc_guard_settle(&guard, SECOND), CRPC_VERDICT_FINE);
    EXPECT_EQUAL(guard.credit, before);
    EXPECT_EQUAL(guard.late_bytes, 50);
    EXPECT_EQUAL(look(&guard, DATA, 0, 51), CRPC_VERDICT_FINE);
    EXPECT_EQUAL(crpc_guard_settle(&guard, SECOND), CRPC_VERDICT_FINE);
    EXPECT_EQUAL(before - guard.credit, CRPC_COST_FRAME);
    EXPECT_EQUAL(guard.late_bytes, 0);
    // Never more than the window of the connection.
    for (int i = 0; i < 10; i++) crpc_guard_expect_late(&guard, INT32_MAX);
    EXPECT_EQUAL(guard.late_bytes, limits.connection_window_bytes);
}

TEST(what_ends_of_streams_are_worth) {
    crpc_guard server = begin(true), client = begin(false);
    EXPECT_EQUAL(crpc_guard_cost_of_reset(&server, CRPC_H2_PROTOCOL_ERROR, false), CRPC_COST_RESET);
    EXPECT_EQUAL(crpc_guard_cost_of_reset(&server, CRPC_H2_REFUSED_STREAM, false), CRPC_COST_FRAME);
    EXPECT_EQUAL(crpc_guard_cost_of_reset(&server, CRPC_H2_PROTOCOL_ERROR, true), 0);
    EXPECT_EQUAL(crpc_guard_cost_of_reset(&server, CRPC_H2_NO_ERROR, false), 0);
    EXPECT_EQUAL(crpc_guard_cost_of_reset(&client, CRPC_H2_PROTOCOL_ERROR, false), 0);
    EXPECT_EQUAL(crpc_guard_gain_of_headers(&client, false, true, false), CRPC_GAIN_HEADERS);
    EXPECT_EQUAL(crpc_guard_gain_of_headers(&server, false, true, false), 0);
    EXPECT_EQUAL(crpc_guard_gain_of_headers(&server, true, true, false), CRPC_GAIN_HEADERS);
    EXPECT_EQUAL(crpc_guard_gain_of_headers(&server, true, false, false), 2 * CRPC_GAIN_HEADERS);
    EXPECT_EQUAL(crpc_guard_gain_of_headers(&server, true, true, true), CRPC_COST_FRAME);
    EXPECT_EQUAL(crpc_guard_gain_of_data(CRPC_EARNING_BYTES_MIN - 1), 0);
    EXPECT_EQUAL(crpc_guard_gain_of_data(CRPC_EARNING_BYTES_MIN), CRPC_GAIN_DATA);
    EXPECT(crpc_guard_is_rapid(SECOND, SECOND + CRPC_RAPID_RESET_MS * 1000000ull - 1));
    EXPECT(!crpc_guard_is_rapid(SECOND, SECOND + CRPC_RAPID_RESET_MS * 1000000ull));
}

TEST(a_frame_that_is_begun_is_partial_until_it_is_whole) {
    uint8_t ping[CRPC_FRAME_HEAD + 8];
    size_t length = put(ping, PING, 0, 8);
    for (size_t cut = 1; cut < length; cut++) {
        crpc_guard guard = begin(true);
        EXPECT_EQUAL(crpc_guard_look(&guard, ping, cut, 7ull * SECOND, true), CRPC_VERDICT_FINE);
        EXPECT(crpc_guard_is_partial(&guard));
        EXPECT_EQUAL(guard.partial_ns, 7ull * SECOND);
        EXPECT_EQUAL(crpc_guard_look(&guard, ping + cut, length - cut, 8ull * SECOND, true), CRPC_VERDICT_FINE);
        EXPECT(!crpc_guard_is_partial(&guard));
    }
    crpc_guard preface;
    crpc_guard_begin(&preface, &limits, true, SECOND);
    EXPECT_EQUAL(crpc_guard_next_head(&preface, ping, length), CRPC_PREFACE_LENGTH);
}
