#include "raw.h"

#include "memory_control.h"

#include <zlib.h>

// gzip as a message encoding: the functions by themselves, and what both sides do with heads and flags.

enum { LONG = 300000 };

/// A text that shrinks: its words repeat, its numbers don't.
static void fill(uint8_t *bytes, size_t length) {
    static const char words[] = "every phone that waits ";
    for (size_t i = 0; i < length; i++) bytes[i] = i % 64 == 0 ? (uint8_t)(i * 2654435761u >> 13) : (uint8_t)words[i % 23];
}

/// Bytes that don't.
static void fill_with_noise(uint8_t *bytes, size_t length) {
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < length; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes[i] = (uint8_t)state;
    }
}

/// A message compressed as any other implementation would. The length of the gzip member.
static size_t reference(const uint8_t *bytes, size_t length, uint8_t *target, size_t room) {
    z_stream stream = {0};
    REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    uint8_t *copy = malloc(length + 1);
    REQUIRE(copy != NULL);
    if (length > 0) memcpy(copy, bytes, length);
    stream.next_in = copy;
    stream.avail_in = (uInt)length;
    stream.next_out = target;
    stream.avail_out = (uInt)room;
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    size_t deflated = stream.total_out;
    REQUIRE(deflateEnd(&stream) == Z_OK);
    free(copy);
    return deflated;
}

/// Inflates from memory of exactly the input's size, so that a read past its end is seen.
static int inflate_copy(const uint8_t *bytes, size_t length, size_t inflated_max, uint8_t **result, size_t *found) {
    uint8_t *copy = malloc(length == 0 ? 1 : length);
    REQUIRE(copy != NULL);
    if (length > 0) memcpy(copy, bytes, length);
    int error = crpc_gzip_inflate(copy, length, inflated_max, result, found);
    free(copy);
    return error;
}

static void expect_error(const uint8_t *bytes, size_t length, size_t inflated_max, int wanted) {
    uint8_t *result = NULL;
    size_t found = 0;
    EXPECT_EQUAL(inflate_copy(bytes, length, inflated_max, &result, &found), wanted);
    EXPECT(result == NULL);
    free(result);
}

TEST(gzip_gives_back_what_was_compressed) {
    static const size_t lengths[] = {19, 40, 511, 512, 513, 5000, 32768, 70000, LONG};
    uint8_t *bytes = malloc(LONG);
    REQUIRE(bytes != NULL);
    fill(bytes, LONG);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint8_t *deflated = NULL, *inflated = NULL;
        size_t length = 0, found = 0;
        test_note("%zu bytes", lengths[i]);
        EXPECT_EQUAL(crpc_gzip_deflate(bytes, lengths[i], &deflated, &length), CRPC_OK);
        if (lengths[i] >= 511) REQUIRE(deflated != NULL);
        if (deflated == NULL) continue;
        EXPECT(length < lengths[i]);
        EXPECT_EQUAL(inflate_copy(deflated + CRPC_PREFIX_LENGTH, length, lengths[i], &inflated, &found), CRPC_OK);
        EXPECT_BYTES(inflated, found, bytes, lengths[i]);
        free(inflated);
        free(deflated);
    }
    free(bytes);
}

TEST(gzip_leaves_alone_what_does_not_get_shorter) {
    uint8_t bytes[4096];
    fill_with_noise(bytes, sizeof bytes);
    static const size_t lengths[] = {0, 1, 18, 19, 100, 4096};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint8_t *deflated = bytes;
        size_t length = 0;
        EXPECT_EQUAL(crpc_gzip_deflate(bytes, lengths[i], &deflated, &length), CRPC_OK);
        EXPECT(deflated == NULL);
    }
}

TEST(gzip_takes_what_others_compressed_up_to_the_limit) {
    static const size_t lengths[] = {0, 1, 1023, 1024, 1025, 9000, LONG};
    uint8_t *bytes = malloc(LONG), *member = malloc(LONG);
    REQUIRE(bytes != NULL && member != NULL);
    fill(bytes, LONG);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t length = reference(bytes, lengths[i], member, LONG), found = 1;
        uint8_t *inflated = NULL;
        test_note("%zu bytes", lengths[i]);
        EXPECT_EQUAL(inflate_copy(member, length, lengths[i], &inflated, &found), CRPC_OK);
        EXPECT_BYTES(inflated, found, bytes, lengths[i]);
        EXPECT(inflated != NULL);
        free(inflated);
        if (lengths[i] > 0) expect_error(member, length, lengths[i] - 1, CRPC_ERROR_LIMIT);
    }
    free(bytes);
    free(member);
}

TEST(gzip_refuses_what_is_cut_damaged_or_followed_by_more) {
    uint8_t bytes[600], member[700];
    fill(bytes, sizeof bytes);
    size_t length = reference(bytes, sizeof bytes, member, sizeof member - 1);
    for (size_t cut = 0; cut < length; cut++) {
        test_note("cut at %zu", cut);
        expect_error(member, cut, 4096, CRPC_ERROR_PROTOCOL);
    }
    for (size_t at = 0; at < length; at++) {
        // Time, extra flags and system (bytes 4 to 9) stand in no checksum.
        if (at >= 4 && at < 10) continue;
        test_note("damaged at %zu", at);
        member[at] ^= 0x55;
        uint8_t *result = NULL;
        size_t found = 0;
        EXPECT(inflate_copy(member, length, 4096, &result, &found) < 0);
        free(result);
        member[at] ^= 0x55;
    }
    member[length] = 0;
    expect_error(member, length + 1, 4096, CRPC_ERROR_PROTOCOL);
    expect_error((const uint8_t *)"plain text, no gzip", 19, 4096, CRPC_ERROR_PROTOCOL);
}

TEST(a_gzip_bomb_takes_no_more_memory_than_the_limit) {
    enum { BOMB = 64 << 20, INFLATED_MAX = 1 << 16 };
    uint8_t *zeros = calloc(1, BOMB), *member = malloc(1 << 20);
    REQUIRE(zeros != NULL && member != NULL);
    size_t length = reference(zeros, BOMB, member, 1 << 20);
    free(zeros);
    EXPECT(length < INFLATED_MAX * 2);
    expect_error(member, length, INFLATED_MAX, CRPC_ERROR_LIMIT);
    free(member);
}

TEST(gzip_survives_failing_allocations) {
    static uint8_t bytes[20000], member[21000];
    fill(bytes, sizeof bytes);
    size_t length = reference(bytes, sizeof bytes, member, sizeof member);
    for (size_t n = 1;; n++) {
        uint8_t *deflated = NULL, *inflated = NULL;
        size_t deflated_length = 0, found = 0;
        memory_fail_at(n, false);
        int deflating = crpc_gzip_deflate(bytes, sizeof bytes, &deflated, &deflated_length);
        int inflating = crpc_gzip_inflate(member, length, sizeof bytes, &inflated, &found);
        bool was_reached = memory_count() >= n;
        memory_fail_at(0, false);
        EXPECT(deflating == (deflated == NULL ? CRPC_ERROR_MEMORY : CRPC_OK));
        EXPECT(inflating == (inflated == NULL ? CRPC_ERROR_MEMORY : CRPC_OK));
        EXPECT_EQUAL((deflated == NULL) + (inflated == NULL), was_reached);
        free(deflated);
        free(inflated);
        if (!was_reached) {
            EXPECT(n > 5);
            break;
        }
    }
}

// ---- In calls ----

TEST(a_compressed_call_is_answered_compressed) {
    static uint8_t bytes[50000];
    fill(bytes, sizeof bytes);
    rig_setup setup = rig_defaults();
    rig *rig = rig_start(&setup);
    peer *peer = rig_open(rig);
    peer->sends_gzip = true;
    call *call = call_open(peer, METHOD_HOLD, 0);
    EXPECT_EQUAL(call_send(call, bytes, sizeof bytes), CRPC_OK);
    EXPECT_EQUAL(call_send(call, "short", 5), CRPC_OK);
    EXPECT_EQUAL(call_half_close(call), CRPC_OK);
    UNTIL(rig, rig->server_call_count == 1 && rig_server_call(rig)->messages == 2);
    struct call *server = rig_server_call(rig);
    EXPECT(server->accepts_gzip);
    EXPECT_EQUAL(server->compressed, 1); // the second gets no shorter
    EXPECT_EQUAL(server->message_lengths[0], sizeof bytes);
    EXPECT_BYTES(server->received, sizeof bytes, bytes, sizeof bytes);
    EXPECT_EQUAL(call_set_gzip(server), CRPC_OK);
    EXPECT_EQUAL(call_send(server, bytes, sizeof bytes), CRPC_OK);
    EXPECT_EQUAL(crpc_stream_set_gzip(server->stream), CRPC_ERROR_CLOSED); // the head is on its way
    EXPECT_EQUAL(call_finish(server, 0, ""), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT_EQUAL(call->compressed, 1);
    EXPECT_BYTES(call->received, call->received_length, bytes, sizeof bytes);
    rig_end(rig);
}

TEST(nothing_is_compressed_that_was_not_announced) {
    rig_setup setup = rig_defaults();
    rig *rig = rig_start(&setup);
    raw *client = raw_connect(rig);
    raw_send_request(client, NGHTTP2_FLAG_END_HEADERS, 1, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == 1);
    call *call = rig_server_call(rig);
    EXPECT(!call->accepts_gzip);
    EXPECT_EQUAL(call_set_gzip(call), CRPC_ERROR_ARGUMENT);
    call->sends_gzip = true;
    EXPECT_EQUAL(call_send(call, "message", 7), CRPC_ERROR_ARGUMENT);
    raw_free(client);
    rig_end(rig);
}

TEST(gzip_is_found_among_the_encodings_that_a_caller_takes) {
    static const struct {
        const char *value;
        bool takes_gzip;
    } cases[] = {
        {"gzip", true}, {"identity,gzip", true}, {"identity, deflate, gzip", true}, {"deflate ,gzip ,identity", true},
        {"identity", false}, {"", false}, {"gzipped", false}, {"x-gzip", false}, {"gz ip", false}, {",,", false},
    };
    rig_setup setup = rig_defaults();
    rig *rig = rig_start(&setup);
    raw *client = raw_connect(rig);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_note("'%s'", cases[i].value);
        raw_send_request(
            client, NGHTTP2_FLAG_END_HEADERS, (int32_t)(2 * i + 1), rig_paths[METHOD_HOLD], "grpc-accept-encoding",
            cases[i].value);
        UNTIL(rig, rig->server_call_count == i + 1);
        EXPECT_EQUAL(rig_server_call(rig)->accepts_gzip, cases[i].takes_gzip);
    }
    raw_free(client);
    rig_end(rig);
}

TEST(an_unknown_encoding_is_refused_with_those_we_take) {
    rig_setup setup = rig_defaults();
    rig *rig = rig_start(&setup);
    raw *client = raw_connect(rig);
    raw_send_request(client, NGHTTP2_FLAG_END_HEADERS, 1, rig_paths[METHOD_UNARY], "grpc-encoding", "snappy");
    UNTIL(rig, raw_read(client) && raw_find(client, NGHTTP2_HEADERS, 1) != NULL);
    const raw_frame *answer = raw_find(client, NGHTTP2_HEADERS, 1);
    EXPECT(raw_frame_has(answer, "grpc-status", "12"));
    EXPECT(raw_frame_has(answer, "grpc-accept-encoding", "gzip"));
    EXPECT_EQUAL(rig->server_call_count, 0);
    raw_free(client);
    rig_end(rig);
}

TEST(a_compressed_message_under_a_head_that_does_not_say_so_is_refused) {
    static const uint8_t message[] = {1, 0, 0, 0, 1, 'x'};
    rig_setup setup = rig_defaults();
    rig *rig = rig_start(&setup);
    raw *client = raw_connect(rig);
    for (int32_t id = 1; id <= 3; id += 2) {
        raw_send_request(
            client, NGHTTP2_FLAG_END_HEADERS, id, rig_paths[METHOD_UNARY], id == 1 ? NULL : "grpc-encoding", "identity");
        raw_send_data(client, NGHTTP2_FLAG_END_STREAM, id, message, sizeof message);
        UNTIL(rig, raw_read(client) && raw_find_end(client, id) != NULL);
        EXPECT(raw_frame_has(raw_find_end(client, id), "grpc-status", "13"));
    }
    raw_free(client);
    rig_end(rig);
}
