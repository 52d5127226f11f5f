#include "rig.h"

#include "memory_control.h"

#include <dirent.h>
#include <poll.h>
#include <time.h>

const char *const rig_paths[METHOD_COUNT] = {
    [METHOD_UNARY] = "/test.Calls/Unary",
    [METHOD_STREAM] = "/test.Calls/Stream",
    [METHOD_HOLD] = "/test.Calls/Hold",
    [METHOD_REFUSED] = "/test.Calls/Refused",
};

uint64_t now_ms(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static int count_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    REQUIRE(folder != NULL);
    int count = 0;
    while (readdir(folder) != NULL) count += 1;
    (void)closedir(folder);
    return count;
}

// ---- The loop ----

static void run_job(void *job, void *context) {
    (void)job;
    ((rig *)context)->jobs += 1;
}

static void stop(void *loop) { crpc_loop_stop(loop); }

void rig_turn(rig *rig) {
    struct pollfd files = {.fd = rig->loop->epoll_fd, .events = POLLIN};
    (void)poll(&files, 1, 1);
    atomic_store(&rig->loop->stopping, false);
    memory_pause(true); // what stops the loop is not what is tested
    crpc_loop_post(rig->loop, stop, rig->loop);
    memory_pause(false);
    crpc_loop_run(rig->loop);
}

void rig_run_ms(rig *rig, unsigned ms) {
    uint64_t end = now_ms() + ms;
    while (now_ms() < end) rig_turn(rig);
}

// ---- Start and end ----

rig_setup rig_defaults(void) {
    rig_setup setup = {
        .address = "127.0.0.1", .tls_name = "localhost", .calls_max = RIG_CALLS_MAX, .connections_max = RIG_PEERS_MAX,
        .handshakes_max = RIG_PEERS_MAX};
    crpc_limits_default(&setup.server);
    crpc_limits_default(&setup.client);
    return setup;
}

int rig_try_start(const rig_setup *setup, rig **result) {
    rig *rig = calloc(1, sizeof *rig);
    REQUIRE(rig != NULL);
    rig->setup = *setup;
    rig->file_count = count_files();
    int error = crpc_loop_new(run_job, rig, &rig->loop);
    crpc_listener_options options = {
        .address = setup->address, .tls = setup->server_tls, .limits = setup->server,
        .connections_max = setup->connections_max, .handshakes_max = setup->handshakes_max,
        .connections_per_address_max = setup->connections_per_address_max,
        .calls_max = setup->calls_max, .held_bytes_max = setup->held_bytes_max, .calls = setup->calls,
        .names = setup->names, .name_count = setup->name_count, .checks_names = setup->checks_names,
        .proxies = setup->proxies, .proxy_count = setup->proxy_count};
    const crpc_server_callbacks *callbacks = setup->takes_exchanges ? rig_callbacks_with_exchanges() : &rig_server_callbacks;
    if (error == CRPC_OK && !setup->has_no_listener)
        error = crpc_listener_new(
            rig->loop, &options, rig_paths, METHOD_COUNT, callbacks, rig, &rig->listener);
    if (error != CRPC_OK) {
        crpc_loop_free(rig->loop);
        EXPECT_EQUAL(count_files(), rig->file_count);
        free(rig);
        return error;
    }
    if (rig->listener != NULL) rig->port = crpc_listener_port(rig->listener);
    *result = rig;
    return CRPC_OK;
}

rig *rig_start(const rig_setup *setup) {
    rig_setup defaults = rig_defaults();
    rig *rig = NULL;
    REQUIRE(rig_try_start(setup == NULL ? &defaults : setup, &rig) == CRPC_OK);
    return rig;
}

static void free_calls(call **calls, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *side = calls[i]->is_server ? "server" : "client";
        if (!EXPECT_EQUAL(calls[i]->closes, 1)) test_note("call %zu of the %s", i, side);
        EXPECT(calls[i]->stream == NULL);
        EXPECT(calls[i]->half_closes <= 1 && calls[i]->headers <= 1 && calls[i]->deadlines <= 1);
        free(calls[i]->received);
        free(calls[i]->head);
        free(calls[i]->trailers);
        free(calls[i]);
    }
}

static void free_peers(peer **peers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        EXPECT_EQUAL(peers[i]->closes, 1);
        EXPECT(peers[i]->opens <= 1 && peers[i]->drainings <= 1);
        free(peers[i]);
    }
}

static bool have_clients_closed(const rig *rig) {
    for (size_t i = 0; i < rig->client_peer_count; i++)
        if (rig->client_peers[i]->connection != NULL) return false;
    return true;
}

void rig_end(rig *rig) {
    memory_pause(true);
    for (size_t i = 0; i < rig->client_peer_count; i++)
        if (rig->client_peers[i]->connection != NULL) peer_close(rig->client_peers[i]);
    for (int i = 0; i < 100 && !have_clients_closed(rig); i++) rig_turn(rig);
    rig_free_listener(rig);
    for (size_t i = 0; i < rig->server_call_count; i++)
        if (rig->server_calls[i]->handlers != NULL) call_end_handler(rig->server_calls[i]);
    rig_free_exchanges(rig);
    EXPECT_EQUAL(rig->loop->turn.stats.held_bytes, 0);
    EXPECT_EQUAL(rig->loop->turn.stats.handlers, 0);
    crpc_loop_free(rig->loop);
    free_calls(rig->client_calls, rig->client_call_count);
    free_calls(rig->server_calls, rig->server_call_count);
    free_peers(rig->client_peers, rig->client_peer_count);
    free_peers(rig->server_peers, rig->server_peer_count);
    EXPECT_EQUAL(count_files(), rig->file_count);
    free(rig);
    memory_pause(false);
}

// ---- Connections ----

peer *rig_connect_to(rig *rig, uint16_t port) {
    REQUIRE(rig->client_peer_count < RIG_PEERS_MAX);
    peer *peer = calloc(1, sizeof *peer);
    REQUIRE(peer != NULL);
    peer->rig = rig;
    rig->api_depth += 1;
    rig->last_error = crpc_connection_connect(
        rig->loop, rig->setup.address, port, "test.local", rig->setup.client_tls, rig->setup.tls_name,
        &rig->setup.client, &rig_client_callbacks, peer, &peer->connection);
    rig->api_depth -= 1;
    if (rig->last_error != CRPC_OK) {
        free(peer);
        return NULL;
    }
    rig->client_peers[rig->client_peer_count++] = peer;
    return peer;
}

peer *rig_connect(rig *rig) { return rig_connect_to(rig, rig->port); }

peer *rig_open(rig *rig) {
    size_t before = rig->server_peer_count;
    peer *peer = rig_connect(rig);
    REQUIRE(peer != NULL);
    UNTIL(rig, peer->opens == 1 && rig->server_peer_count > before);
    return peer;
}

peer *rig_server_peer(rig *rig) {
    REQUIRE(rig->server_peer_count > 0);
    return rig->server_peers[rig->server_peer_count - 1];
}

/// Calls a function of the layer that gives nothing back.
#define INSIDE(rig, statement) \
    do { \
        (rig)->api_depth += 1; \
        statement; \
        (rig)->api_depth -= 1; \
    } while (0)

void peer_close(peer *peer) { INSIDE(peer->rig, crpc_connection_close(peer->connection)); }
void peer_drain(peer *peer) { INSIDE(peer->rig, crpc_connection_drain(peer->connection)); }
void rig_drain(rig *rig) {
    rig->is_freeing = true; // its callbacks fire inside, as its comment says
    crpc_listener_drain(rig->listener);
    rig->is_freeing = false;
}

void rig_free_listener(rig *rig) {
    if (rig->listener == NULL) return;
    rig->is_freeing = true; // its callbacks fire inside, as its comment says
    crpc_listener_free(rig->listener);
    rig->is_freeing = false;
    rig->listener = NULL;
}

// ---- Calls ----

call *call_open_with(
    peer *peer, const char *path, uint64_t deadline_ns, const uint8_t *metadata, size_t metadata_length) {
    rig *rig = peer->rig;
    REQUIRE(rig->client_call_count < RIG_CALLS_MAX);
    call *call = calloc(1, sizeof *call);
    REQUIRE(call != NULL);
    call->rig = rig;
    call->peer = peer;
    call->sends_gzip = peer->sends_gzip;
    call->status = -1;
    INSIDE(rig, rig->last_error = crpc_stream_open(
                    peer->connection, path, strlen(path), deadline_ns, peer->sends_gzip, metadata, metadata_length, call,
                    &call->stream));
    if (rig->last_error != CRPC_OK) {
        free(call);
        return NULL;
    }
    rig->client_calls[rig->client_call_count++] = call;
    return call;
}

call *call_open(peer *peer, uint32_t method, uint32_t timeout_ms) {
    uint64_t deadline_ns = timeout_ms == 0 ? 0 : crpc_loop_now_ns(peer->rig->loop) + timeout_ms * 1000000ull;
    return call_open_with(peer, rig_paths[method], deadline_ns, NULL, 0);
}

call *call_unary(peer *peer, uint32_t method, const char *text) {
    call *call = call_open(peer, method, 0);
    REQUIRE(call != NULL);
    EXPECT_EQUAL(call_send_text(call, text), CRPC_OK);
    EXPECT_EQUAL(call_half_close(call), CRPC_OK);
    return call;
}

int call_send(call *call, const void *bytes, size_t length) {
    uint8_t *memory = malloc(CRPC_PREFIX_LENGTH + length);
    REQUIRE(memory != NULL);
    if (length > 0) memcpy(memory + CRPC_PREFIX_LENGTH, bytes, length);
    int error;
    INSIDE(call->rig, error = crpc_stream_send_message(call->stream, memory, length, call->sends_gzip));
    return error;
}

int call_send_text(call *call, const char *text) { return call_send(call, text, strlen(text)); }

int call_set_gzip(call *call) {
    int error;
    INSIDE(call->rig, error = crpc_stream_set_gzip(call->stream));
    call->sends_gzip = error == CRPC_OK;
    return error;
}

int call_send_headers(call *call, const uint8_t *metadata, size_t length) {
    int error;
    INSIDE(call->rig, error = crpc_stream_send_headers(call->stream, metadata, length));
    return error;
}

int call_finish_with(call *call, const crpc_status *status) {
    int error;
    INSIDE(call->rig, error = crpc_stream_finish(call->stream, status));
    return error;
}

int call_finish(call *call, int code, const char *message) {
    crpc_status status = {.code = code, .message = (const uint8_t *)message, .message_length = strlen(message)};
    return call_finish_with(call, &status);
}

int call_half_close(call *call) {
    int error;
    INSIDE(call->rig, error = crpc_stream_half_close(call->stream));
    return error;
}

void call_reset(call *call, uint32_t error) { INSIDE(call->rig, crpc_stream_reset(call->stream, error)); }
void call_consume(call *call, size_t length) { INSIDE(call->rig, crpc_stream_consume(call->stream, length)); }
void call_consume_manually(call *call) { INSIDE(call->rig, crpc_stream_consume_manually(call->stream)); }

void call_end_handler(call *call) {
    crpc_handlers *handlers = call->handlers;
    call->handlers = NULL;
    INSIDE(call->rig, crpc_handler_ended(handlers));
}

call *rig_server_call(rig *rig) {
    REQUIRE(rig->server_call_count > 0);
    return rig->server_calls[rig->server_call_count - 1];
}

// ---- Metadata ----

size_t metadata_add(uint8_t *block, size_t length, const char *name, const char *value) {
    crpc_entry entry = {
        .name = (const uint8_t *)name, .name_length = strlen(name), .value = (const uint8_t *)value,
        .value_length = strlen(value)};
    return length + crpc_metadata_put(block + length, &entry);
}

bool metadata_has(const uint8_t *block, size_t length, const char *name, const char *value) {
    size_t offset = 0;
    crpc_entry entry;
    while (crpc_metadata_next(block, length, &offset, &entry))
        if (entry.name_length == strlen(name) && memcmp(entry.name, name, entry.name_length) == 0 &&
            entry.value_length == strlen(value) && memcmp(entry.value, value, entry.value_length) == 0)
            return true;
    return false;
}

size_t metadata_count(const uint8_t *block, size_t length) {
    size_t offset = 0, count = 0;
    crpc_entry entry;
    while (crpc_metadata_next(block, length, &offset, &entry)) count += 1;
    return count;
}
