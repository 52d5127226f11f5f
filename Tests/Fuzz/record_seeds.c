#include "rig.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

// Writes inputs for the connection fuzzers: what our client and our server really send each other.

typedef struct tape {
    uint8_t bytes[1 << 16];
    size_t length;
} tape;

static tape from_client, from_server;
static int client_fd = -1, server_fd = -1;

ssize_t __real_send(int fd, const void *bytes, size_t length, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags);

/// The linker puts this in the place of the system's (-Wl,--wrap).
ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags) {
    ssize_t count = __real_send(fd, bytes, length, flags);
    tape *tape = fd == client_fd ? &from_client : fd == server_fd ? &from_server : NULL;
    if (tape == NULL || count <= 0) return count;
    REQUIRE(tape->length + (size_t)count <= sizeof tape->bytes);
    memcpy(tape->bytes + tape->length, bytes, (size_t)count);
    tape->length += (size_t)count;
    return count;
}

static void save(const char *folder, const char *name, const uint8_t *head, size_t head_length, const tape *tape) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    REQUIRE(fwrite(head, 1, head_length, file) == head_length);
    REQUIRE(fwrite(tape->bytes, 1, tape->length, file) == tape->length);
    REQUIRE(fclose(file) == 0);
}

typedef void (*scenario)(rig *rig, peer *peer);

static void unary(rig *rig, peer *peer) {
    call *call = call_unary(peer, METHOD_UNARY, "hello");
    UNTIL(rig, call->closes == 1);
}

static void unary_with_metadata(rig *rig, peer *peer) {
    uint8_t block[256];
    size_t length = metadata_add(block, 0, "x-trace", "0af7651916cd43dd8448eb211c80319c");
    length = metadata_add(block, length, "x-bin", "AAEC");
    uint64_t deadline_ns = crpc_loop_now_ns(rig->loop) + 5000000000u;
    call *call = call_open_with(peer, rig_paths[METHOD_UNARY], deadline_ns, block, length);
    EXPECT_EQUAL(call_send_text(call, "with metadata"), CRPC_OK);
    EXPECT_EQUAL(call_half_close(call), CRPC_OK);
    UNTIL(rig, call->closes == 1);
}

static void streaming(rig *rig, peer *peer) {
    call *call = call_open(peer, METHOD_STREAM, 0);
    static const uint8_t bytes[900];
    for (unsigned i = 0; i < 3; i++) {
        EXPECT_EQUAL(call_send(call, bytes, i * 400), CRPC_OK);
        UNTIL(rig, call->messages == i + 1);
    }
    EXPECT_EQUAL(call_half_close(call), CRPC_OK);
    UNTIL(rig, call->closes == 1);
}

static void refused(rig *rig, peer *peer) {
    call *unknown = call_open_with(peer, "/no.Such/Method", 0, NULL, 0), *call = call_unary(peer, METHOD_REFUSED, "x");
    UNTIL(rig, unknown->closes == 1 && call->closes == 1);
}

static void error_with_details(rig *rig, peer *peer) {
    call *call = call_unary(peer, METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 1);
    uint8_t block[64];
    crpc_status status = {
        .code = 5, .message = (const uint8_t *)"not found: \xe2\x82\xac", .message_length = 14,
        .details = (const uint8_t *)"\10\5\22\11not found", .details_length = 13, .metadata = block,
        .metadata_length = metadata_add(block, 0, "x-tail", "1")};
    EXPECT_EQUAL(call_finish_with(rig_server_call(rig), &status), CRPC_OK);
    UNTIL(rig, call->closes == 1);
}

static void resets(rig *rig, peer *peer) {
    call *first = call_unary(peer, METHOD_HOLD, "x"), *second = call_unary(peer, METHOD_HOLD, "y");
    UNTIL(rig, rig->server_call_count == 2);
    call_reset(first, NGHTTP2_CANCEL);
    call_reset(rig->server_calls[1], NGHTTP2_INTERNAL_ERROR);
    UNTIL(rig, first->closes == 1 && second->closes == 1);
}

static void drained(rig *rig, peer *peer) {
    call *call = call_unary(peer, METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 1);
    rig_drain(rig);
    rig_run_ms(rig, 150);
    EXPECT_EQUAL(call_send_text(rig_server_call(rig), "in time"), CRPC_OK);
    EXPECT_EQUAL(call_finish(rig_server_call(rig), 0, ""), CRPC_OK);
    UNTIL(rig, call->closes == 1 && peer->closes == 1);
}

static void many(rig *rig, peer *peer) {
    call *calls[8];
    for (int i = 0; i < 8; i++) calls[i] = call_unary(peer, METHOD_UNARY, "one of many");
    for (int i = 0; i < 8; i++) UNTIL(rig, calls[i]->closes == 1);
}

static void record(const char *name, scenario scenario, const char *folder) {
    char path[512];
    rig *rig = rig_start(NULL);
    from_client.length = from_server.length = 0;
    peer *peer = rig_connect(rig);
    client_fd = crpc_driver_of(peer->connection)->fd;
    UNTIL(rig, rig->server_peer_count == 1);
    server_fd = crpc_driver_of(rig_server_peer(rig)->connection)->fd;
    scenario(rig, peer);
    client_fd = server_fd = -1;
    rig_end(rig);
    // What the fuzzers read first: raw bytes, all at once; for a client also what its last call does, and that SETTINGS
    // go before, which the server sent before its socket was known here.
    (void)snprintf(path, sizeof path, "%s/server_connection", folder);
    save(path, name, (const uint8_t *)"\0", 1, &from_client);
    (void)snprintf(path, sizeof path, "%s/client_connection", folder);
    save(path, name, (const uint8_t *)"\0\2", 2, &from_server);
}

TEST(record_seeds) {
    const char *folder = getenv("CRPC_FUZZ_CORPUS");
    REQUIRE(folder != NULL);
    record("unary", unary, folder);
    record("unary_with_metadata", unary_with_metadata, folder);
    record("streaming", streaming, folder);
    record("refused", refused, folder);
    record("error_with_details", error_with_details, folder);
    record("resets", resets, folder);
    record("drained", drained, folder);
    record("many", many, folder);
}
