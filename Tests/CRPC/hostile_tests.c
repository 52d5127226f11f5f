#include "raw.h"

#include <sys/socket.h>

// Clients that mean harm. Each loses its own connection, or gets nothing out of it; another client's calls go on.

/// Runs until the connection of `raw` has ended, which others do not notice.
static void expect_end(raw *raw, peer *other) {
    rig *rig = raw->rig;
    UNTIL(rig, raw_read(raw) && raw->has_ended);
    call *call = call_unary(other, METHOD_UNARY, "still here");
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT_EQUAL(crpc_listener_connection_count(rig->listener), 1);
}

TEST(a_client_that_breaks_http2_loses_the_connection) {
    static const struct {
        uint8_t type, flags;
        int32_t id;
        const char *payload;
        size_t length;
        uint32_t error;
    } cases[] = {
        {NGHTTP2_DATA, 0, 0, "x", 1, NGHTTP2_PROTOCOL_ERROR},
        {NGHTTP2_DATA, 0, 99, "x", 1, NGHTTP2_PROTOCOL_ERROR}, // on an idle stream
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 2, "\203", 1, NGHTTP2_PROTOCOL_ERROR}, // an even id
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, "\377\377\377\377\377\377", 6, NGHTTP2_COMPRESSION_ERROR},
        {NGHTTP2_SETTINGS, 0, 0, "12345", 5, NGHTTP2_FRAME_SIZE_ERROR},
        {NGHTTP2_SETTINGS, 0, 0, "\0\4\377\377\377\377", 6, NGHTTP2_FLOW_CONTROL_ERROR},
        {NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, "", 0, NGHTTP2_NO_ERROR}, // for one that is not there, twice
        {NGHTTP2_PING, 0, 0, "1234567", 7, NGHTTP2_FRAME_SIZE_ERROR},
        {NGHTTP2_PING, 0, 1, "12345678", 8, NGHTTP2_PROTOCOL_ERROR},
        {NGHTTP2_WINDOW_UPDATE, 0, 0, "\0\0\0\0", 4, NGHTTP2_PROTOCOL_ERROR},
        {NGHTTP2_WINDOW_UPDATE, 0, 0, "\177\377\377\377", 4, NGHTTP2_FLOW_CONTROL_ERROR},
        {NGHTTP2_RST_STREAM, 0, 99, "\0\0\0\0", 4, NGHTTP2_PROTOCOL_ERROR},
        {NGHTTP2_PUSH_PROMISE, NGHTTP2_FLAG_END_HEADERS, 1, "\0\0\0\2", 4, NGHTTP2_PROTOCOL_ERROR},
        {NGHTTP2_CONTINUATION, 0, 1, "", 0, NGHTTP2_PROTOCOL_ERROR},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig *rig = rig_start(NULL);
        peer *other = rig_open(rig);
        raw *raw = raw_connect(rig);
        UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_SETTINGS, 0) != NULL);
        for (int twice = 0; twice < (cases[i].error == NGHTTP2_NO_ERROR ? 2 : 1); twice++)
            raw_send_frame(raw, cases[i].type, cases[i].flags, cases[i].id, cases[i].payload, cases[i].length);
        expect_end(raw, other);
        const raw_frame *goaway = raw_find(raw, NGHTTP2_GOAWAY, 0);
        bool ok = EXPECT(goaway != NULL);
        if (cases[i].error != NGHTTP2_NO_ERROR) ok = EXPECT_EQUAL(raw_error(goaway), cases[i].error) && ok;
        if (!ok) test_note("case %zu", i);
        raw_free(raw);
        rig_end(rig);
    }
}

TEST(what_is_no_http2_loses_the_connection) {
    static const char *const texts[] = {
        "GET / HTTP/1.1\r\nhost: x\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n1234567890"};
    for (int i = 0; i < 2; i++) {
        rig *rig = rig_start(NULL);
        peer *other = rig_open(rig);
        raw *raw = raw_connect_silently(rig);
        raw_send(raw, texts[i], strlen(texts[i]));
        expect_end(raw, other);
        raw_free(raw);
        rig_end(rig);
    }
}

TEST(a_frame_over_the_largest_size_loses_the_connection) {
    rig *rig = rig_start(NULL);
    peer *other = rig_open(rig);
    raw *raw = raw_connect(rig);
    raw_send_request(raw, 0, 1, rig_paths[METHOD_HOLD], NULL, NULL);
    static uint8_t bytes[16385];
    raw_send_data(raw, 0, 1, bytes, sizeof bytes);
    expect_end(raw, other);
    EXPECT_EQUAL(raw_error(raw_find(raw, NGHTTP2_GOAWAY, 0)), NGHTTP2_FRAME_SIZE_ERROR);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_client_that_ignores_the_windows_loses_the_connection) {
    rig_setup setup = rig_defaults();
    setup.server.stream_window_bytes = 65535;
    rig *rig = rig_start(&setup);
    peer *other = rig_open(rig);
    raw *raw = raw_connect(rig);
    raw_send_request(raw, 0, 1, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == 1);
    call_consume_manually(rig_server_call(rig));
    uint8_t message[CRPC_PREFIX_LENGTH + 10000] = {0};
    crpc_prefix_write(message, false, 10000);
    for (int i = 0; i < 8; i++) raw_send_data(raw, 0, 1, message, sizeof message);
    UNTIL(rig, raw_read(raw) && (raw->has_ended || raw_find(raw, NGHTTP2_RST_STREAM, 1) != NULL));
    UNTIL(rig, rig_server_call(rig)->closes == 1);
    EXPECT(rig_server_call(rig)->error != 0);
    EXPECT(rig_server_call(rig)->received_length <= 70000);
    raw_close(raw, false);
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == 1);
    call *call = call_unary(other, METHOD_UNARY, "still here");
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(streams_past_the_maximum_are_refused) {
    rig_setup setup = rig_defaults();
    setup.server.streams_max = 3;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect(rig);
    // A client that has not seen the limit yet.
    for (int32_t id = 1; id <= 9; id += 2) raw_send_request(raw, 0, id, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_RST_STREAM, 9) != NULL);
    EXPECT_EQUAL(raw_error(raw_find(raw, NGHTTP2_RST_STREAM, 7)), NGHTTP2_REFUSED_STREAM);
    EXPECT_EQUAL(raw_error(raw_find(raw, NGHTTP2_RST_STREAM, 9)), NGHTTP2_REFUSED_STREAM);
    EXPECT_EQUAL(rig->server_call_count, 3);
    EXPECT_EQUAL(rig_server_peer(rig)->connection->h2.stream_count, 3);
    // And one that acknowledged it.
    rig_run_ms(rig, 10);
    raw_send_request(raw, 0, 11, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, raw_read(raw) && raw->has_ended);
    EXPECT_EQUAL(rig->server_call_count, 3);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_rapid_reset_ends_the_connection) {
    rig *rig = rig_start(NULL);
    peer *other = rig_open(rig);
    raw *raw = raw_connect(rig);
    int32_t id = 1;
    for (; id < 2 * 1900 && raw_read(raw) && !raw->has_ended; id += 2) {
        raw_send_request(raw, 0, id, rig_paths[METHOD_HOLD], NULL, NULL);
        raw_send_reset(raw, id, NGHTTP2_CANCEL);
        if (id % 200 == 1) rig_turn(rig);
    }
    expect_end(raw, other);
    for (size_t i = 0; i + 1 < rig->server_call_count; i++) EXPECT_EQUAL(rig->server_calls[i]->closes, 1);
    EXPECT_EQUAL(rig->listener->service.call_count, 0);
    raw_free(raw);
    rig_end(rig);
}

/// Sends a frame that wants an answer over and over, and reads none.
static void flood(uint8_t type, const char *payload, size_t length) {
    rig *rig = rig_start(NULL);
    peer *other = rig_open(rig);
    raw *raw = raw_connect(rig);
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == 2);
    uint8_t frames[17 * 4096];
    size_t size = 9 + length;
    for (size_t i = 0; i < 4096; i++) {
        uint8_t *frame = frames + i * size;
        memset(frame, 0, 9);
        frame[2] = (uint8_t)length;
        frame[3] = type;
        memcpy(frame + 9, payload, length);
    }
    size_t sent = 0, most = 64u << 20, left = 0;
    const uint8_t *at = NULL;
    while (crpc_listener_connection_count(rig->listener) == 2 && sent < most) {
        if (left == 0) {
            at = frames;
            left = size * 4096;
        }
        ssize_t count = send(raw->fd, at, left, MSG_NOSIGNAL);
        if (count > 0) {
            at += count;
            left -= (size_t)count;
            sent += (size_t)count;
        }
        rig_turn(rig);
    }
    EXPECT(sent < most);
    raw_close(raw, false);
    call *call = call_unary(other, METHOD_UNARY, "still here");
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(floods_of_ping_and_settings_end_the_connection) {
    flood(NGHTTP2_PING, "12345678", 8);
    flood(NGHTTP2_SETTINGS, "\0\3\0\0\0\144", 6);
}

TEST(a_flood_of_continuation_ends_the_connection) {
    rig *rig = rig_start(NULL);
    peer *other = rig_open(rig);
    raw *raw = raw_connect(rig);
    raw_send_frame(raw, NGHTTP2_HEADERS, 0, 1, "\203", 1);
    uint8_t literal[64];
    size_t length = raw_put_literal(literal, "x-name", 6, "value", 5);
    for (int i = 0; i < 1000 && raw_read(raw) && !raw->has_ended; i++) {
        raw_send_frame(raw, NGHTTP2_CONTINUATION, 0, 1, literal, length);
        if (i % 50 == 0) rig_turn(rig);
    }
    EXPECT_EQUAL(rig->server_call_count, 0);
    expect_end(raw, other);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_head_that_unpacks_to_much_is_refused_and_not_kept) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    // An entry of 4,000 bytes goes into the table once and is named 10,000 times, in a byte each.
    static uint8_t block[16384];
    static char value[3900];
    memset(value, 'v', sizeof value);
    static const char *const fixed[][2] = {
        {":method", "POST"}, {":scheme", "http"}, {":path", "/test.Calls/Unary"}, {":authority", "a"},
        {"content-type", "application/grpc"}};
    size_t length = 0;
    for (size_t i = 0; i < 5; i++)
        length += raw_put_literal(block + length, fixed[i][0], strlen(fixed[i][0]), fixed[i][1], strlen(fixed[i][1]));
    size_t start = length;
    length += raw_put_literal(block + length, "x", 1, value, sizeof value);
    block[start] = 0x40; // with indexing (RFC 7541 section 6.2.1)
    memset(block + length, 0x80 | 62, 10000);
    length += 10000;
    raw_send_frame(raw, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1, block, length);
    UNTIL(rig, raw_read(raw) && (raw->has_ended || raw_find_end(raw, 1) != NULL));
    if (!raw->has_ended) EXPECT(raw_frame_has(raw_find_end(raw, 1), "grpc-status", "8"));
    EXPECT_EQUAL(rig->server_call_count, 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(frames_and_settings_that_nobody_knows_are_ignored) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    raw_send_frame(raw, 0xfa, 0xff, 0, "unknown", 7);
    raw_send_frame(raw, NGHTTP2_SETTINGS, 0, 0, "\x7f\x7f\0\0\0\1", 6);
    raw_send_frame(raw, NGHTTP2_PRIORITY, 0, 1, "\0\0\0\0\20", 5);
    raw_send_request(raw, 0, 1, rig_paths[METHOD_UNARY], NULL, NULL);
    raw_send_frame(raw, 0xfa, 0, 1, "unknown", 7);
    raw_send_message(raw, NGHTTP2_FLAG_END_STREAM, 1, "known");
    UNTIL(rig, raw_read(raw) && raw_find_end(raw, 1) != NULL);
    EXPECT(raw_frame_has(raw_find_end(raw, 1), "grpc-status", "0"));
    raw_free(raw);
    rig_end(rig);
}

/// After nghttp2 has failed it isn't used any more: the last frame for the peer is written by hand.
TEST(a_client_that_makes_the_session_fail_is_told_why) {
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect_silently(rig);
    raw_send(raw, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);
    UNTIL(rig, raw_read(raw) && raw->has_ended);
    const raw_frame *goaway = raw_find(raw, NGHTTP2_GOAWAY, 0);
    EXPECT_EQUAL(raw_error(goaway), NGHTTP2_PROTOCOL_ERROR);
    EXPECT_EQUAL(goaway == NULL ? 0 : goaway->length, 8);
    raw_free(raw);
    rig_end(rig);

    rig_setup setup = rig_defaults();
    setup.server.credit_max = 30;
    setup.server.credit_per_second = 0;
    rig = rig_start(&setup);
    raw = raw_connect(rig);
    raw_send_request(raw, 0, 5, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == 1);
    raw_send_request(raw, 0, 7, rig_paths[METHOD_HOLD], NULL, NULL);
    raw_send_reset(raw, 7, NGHTTP2_CANCEL); // charged inside the session's callback
    raw_send_request(raw, 0, 9, rig_paths[METHOD_HOLD], NULL, NULL);
    raw_send_reset(raw, 9, NGHTTP2_CANCEL);
    UNTIL(rig, raw_read(raw) && raw->has_ended);
    goaway = raw_find(raw, NGHTTP2_GOAWAY, 0);
    EXPECT_EQUAL(raw_error(goaway), NGHTTP2_ENHANCE_YOUR_CALM);
    static const uint8_t wanted[] = "\0\0\0\11\0\0\0\13too_many_frames";
    if (EXPECT(goaway != NULL)) EXPECT_BYTES(goaway->payload, goaway->length, wanted, sizeof wanted - 1);
    raw_free(raw);
    rig_end(rig);
}
