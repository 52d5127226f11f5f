#include "carrier.h"
#include "http/bytes.h"
#include "test.h"

// A client's and a server's connection joined in memory: no socket, no loop, no clock but the test's.

static const char token[] = "a token that is long enough to be coded";
static const char *const carried_paths[] = {"/test.Calls/Echo", "/test.Calls/Never"};

typedef struct scene {
    carrier client, server;
    crpc_service service;
    bool is_one_ended; // the client's connection
    int error;
    unsigned server_closes, messages, answers, deadlines;
    size_t carried;    // bytes of the client that reached the server, and the other way
    size_t returned;
    crpc_stream *stream; // of the server's call
    int status;          // of the client's call; -1 while it lasts
    char text[64];
    uint8_t answer[64];
    size_t answer_length;
} scene;

// ---- The server ----

static void *on_server_open(void *server, crpc_connection *connection) {
    (void)connection;
    return server;
}
static void on_server_close(void *server, void *peer) {
    EXPECT(server == peer);
    ((scene *)server)->server_closes += 1;
}
static void *on_call(void *server, void *peer, crpc_stream *stream, const crpc_request *request) {
    scene *scene = peer;
    EXPECT(server == peer);
    crpc_entry entry;
    size_t offset = 0;
    bool has_token = false;
    while (crpc_metadata_next(request->metadata, request->metadata_length, &offset, &entry))
        if (crpc_equals(entry.value, entry.value_length, token)) has_token = true;
    EXPECT(has_token);
    crpc_handler_ended(request->handlers); // allowed before the call's end
    scene->stream = stream;
    return scene;
}
static void *message_of(const void *bytes, size_t length) {
    uint8_t *memory = malloc(CRPC_PREFIX_LENGTH + length);
    REQUIRE(memory != NULL);
    memcpy(memory + CRPC_PREFIX_LENGTH, bytes, length);
    return memory;
}
static void on_server_message(void *call, const crpc_message *message, bool is_last) {
    scene *scene = call;
    scene->messages += 1;
    EXPECT(!message->compressed);
    void *echo = message_of(message->bytes, message->length);
    EXPECT_EQUAL(crpc_stream_send_message(scene->stream, echo, message->length, false), CRPC_OK);
    crpc_status status = {.code = CRPC_STATUS_OK, .message = (const uint8_t *)"well", .message_length = 4};
    if (is_last) EXPECT_EQUAL(crpc_stream_finish(scene->stream, &status), CRPC_OK);
}
static void on_half_close(void *call) {
    crpc_status status = {.code = CRPC_STATUS_OK, .message = (const uint8_t *)"well", .message_length = 4};
    EXPECT_EQUAL(crpc_stream_finish(((scene *)call)->stream, &status), CRPC_OK);
}
static void on_call_event(void *call) { (void)call; }
static void on_call_close(void *call, uint32_t error) {
    (void)error;
    ((scene *)call)->stream = NULL;
}
static const crpc_server_callbacks server_callbacks = {
    .on_open = on_server_open, .on_connection_close = on_server_close, .on_call = on_call,
    .on_message = on_server_message, .on_half_close = on_half_close, .on_writable = on_call_event,
    .on_deadline = on_call_event, .on_close = on_call_close};

// ---- The client ----

static void on_client_event(void *client) { (void)client; }
static void on_client_close(void *client, int error) {
    scene *scene = client;
    EXPECT(!scene->is_one_ended);
    scene->is_one_ended = true;
    scene->error = error;
}
static void on_headers(void *call, const uint8_t *metadata, size_t length) {
    (void)call;
    (void)metadata;
    EXPECT_EQUAL(length, 0);
}
static void on_client_message(void *call, const crpc_message *message) {
    scene *scene = call;
    REQUIRE(message->length <= sizeof scene->answer);
    memcpy(scene->answer, message->bytes, message->length);
    scene->answer_length = message->length;
    scene->answers += 1;
}
static void on_client_deadline(void *call) { ((scene *)call)->deadlines += 1; }
static void on_outcome(void *call, const crpc_outcome *outcome) {
    scene *scene = call;
    EXPECT_EQUAL(scene->status, -1);
    scene->status = outcome->status;
    REQUIRE(outcome->message_length < sizeof scene->text);
    memcpy(scene->text, outcome->message, outcome->message_length);
    scene->text[outcome->message_length] = 0;
}
static const crpc_client_callbacks client_callbacks = {
    .on_open = on_client_event, .on_draining = on_client_event, .on_connection_close = on_client_close,
    .on_headers = on_headers, .on_message = on_client_message, .on_writable = on_client_event,
    .on_deadline = on_client_deadline, .on_close = on_outcome};

// ---- Between them ----

static void begin(scene *scene) {
    *scene = (struct scene){.status = -1};
    crpc_limits limits;
    crpc_limits_default(&limits);
    carrier_begin(&scene->client);
    carrier_begin(&scene->server);
    REQUIRE(
        crpc_service_begin(&scene->service, &scene->server.turn, carried_paths, 2, &server_callbacks, scene) == CRPC_OK);
    REQUIRE(carrier_serve(&scene->server, &scene->service, &limits) == CRPC_OK);
    REQUIRE(carrier_connect(&scene->client, &limits, &client_callbacks, scene) == CRPC_OK);
}

static void call(scene *scene, uint64_t timeout_ns, bool has_message) {
    static const char path[] = "/test.Calls/Echo", text[] = "a question", name[] = "authorization";
    uint8_t block[128];
    crpc_entry entry = {(const uint8_t *)name, (const uint8_t *)token, sizeof name - 1, sizeof token - 1};
    size_t length = crpc_metadata_put(block, &entry);
    crpc_stream *stream;
    uint64_t deadline_ns = timeout_ns == 0 ? 0 : scene->client.turn.now_ns + timeout_ns;
    REQUIRE(
        crpc_stream_open(
            scene->client.connection, path, sizeof path - 1, deadline_ns, false, block, length, scene, &stream) == CRPC_OK);
    if (!has_message) return;
    void *message = message_of(text, sizeof text - 1);
    EXPECT_EQUAL(crpc_stream_send_message(stream, message, sizeof text - 1, false), CRPC_OK);
    EXPECT_EQUAL(crpc_stream_half_close(stream), CRPC_OK);
}

/// Carries what one side produced to the other: so many bytes at a time, and never across an offset at which the whole is
/// cut. False if there was nothing.
static bool carry(carrier *from, carrier *to, size_t piece, size_t *carried, size_t cut) {
    size_t count = from->sent_length < piece ? from->sent_length : piece;
    if (count == 0) return false;
    if (*carried < cut && cut - *carried < count) count = cut - *carried;
    uint8_t *bytes = malloc(count); // exactly as long as it is: what reads past its end is seen
    REQUIRE(bytes != NULL);
    memcpy(bytes, from->sent, count);
    carrier_take(from, count);
    carrier_feed(to, bytes, count);
    free(bytes);
    carrier_turn(to, 0);
    *carried += count;
    return true;
}

static void run(scene *scene, size_t piece, size_t cut, size_t return_cut) {
    for (bool has_moved = true; has_moved;) {
        carrier_turn(&scene->client, 0);
        carrier_turn(&scene->server, 0);
        has_moved = carry(&scene->client, &scene->server, piece, &scene->carried, cut);
        has_moved = carry(&scene->server, &scene->client, piece, &scene->returned, return_cut) || has_moved;
    }
}

static void end(scene *scene) {
    carrier_cut(&scene->client);
    carrier_cut(&scene->server);
    EXPECT(scene->is_one_ended);
    EXPECT_EQUAL(scene->server_closes, 1);
    EXPECT_EQUAL(scene->server.turn.stats.held_bytes, 0);
    crpc_service_end(&scene->service);
    carrier_end(&scene->client);
    carrier_end(&scene->server);
}

/// One call, from the preface to the drain.
static void live(scene *scene, size_t piece, size_t cut, size_t return_cut) {
    begin(scene);
    call(scene, 1000000000, true);
    run(scene, piece, cut, return_cut);
    EXPECT_EQUAL(scene->status, CRPC_STATUS_OK);
    EXPECT_TEXT(scene->text, strlen(scene->text), "well");
    EXPECT_TEXT(scene->answer, scene->answer_length, "a question");
    EXPECT_EQUAL(scene->messages, 1);
    EXPECT_EQUAL(scene->answers, 1);
    REQUIRE(scene->client.connection != NULL);
    crpc_connection_drain(scene->client.connection);
    run(scene, piece, cut, return_cut);
    EXPECT(scene->client.connection == NULL && scene->server.connection == NULL);
    EXPECT_EQUAL(scene->error, CRPC_OK);
    end(scene);
}

TEST(a_call_crosses_memory_cut_at_every_offset) {
    static scene scene;
    live(&scene, SIZE_MAX, SIZE_MAX, SIZE_MAX);
    size_t there = scene.carried, back = scene.returned;
    REQUIRE(there > 200 && back > 50);
    for (size_t cut = 1; cut < there && !test_has_failed(); cut++) live(&scene, SIZE_MAX, cut, SIZE_MAX);
    for (size_t cut = 1; cut < back && !test_has_failed(); cut++) live(&scene, SIZE_MAX, SIZE_MAX, cut);
    for (size_t piece = 1; piece < 20 && !test_has_failed(); piece++) live(&scene, piece, SIZE_MAX, SIZE_MAX);
}

TEST(a_connection_names_the_moment_of_a_deadline_and_keeps_it) {
    static scene scene;
    begin(&scene);
    call(&scene, 5000000, false);
    run(&scene, SIZE_MAX, SIZE_MAX, SIZE_MAX);
    EXPECT_EQUAL(crpc_connection_next_ns(scene.client.connection), scene.client.turn.now_ns + 5000000);
    carrier_turn(&scene.client, 4999999);
    EXPECT_EQUAL(scene.deadlines, 0);
    carrier_turn(&scene.client, 1);
    EXPECT_EQUAL(scene.deadlines, 1);
    EXPECT_EQUAL(scene.status, CRPC_STATUS_DEADLINE_EXCEEDED);
    run(&scene, SIZE_MAX, SIZE_MAX, SIZE_MAX);
    EXPECT(scene.stream == NULL); // the server got the end
    end(&scene);
}

TEST(a_connection_whose_peer_says_nothing_ends_at_the_moment_that_it_names) {
    static scene scene;
    begin(&scene);
    crpc_limits limits;
    crpc_limits_default(&limits);
    uint64_t due = scene.client.turn.now_ns + limits.handshake_timeout_ms * 1000000ull;
    carrier_turn(&scene.client, 0);
    EXPECT_EQUAL(crpc_connection_next_ns(scene.client.connection), due);
    carrier_turn(&scene.client, due - scene.client.turn.now_ns - 1);
    EXPECT(scene.client.connection != NULL);
    carrier_turn(&scene.client, 1);
    EXPECT(scene.client.connection == NULL);
    EXPECT_EQUAL(scene.error, CRPC_ERROR_TIMEOUT);
    end(&scene);
}

TEST(what_is_no_http2_ends_a_connection_with_a_goaway) {
    static scene scene;
    begin(&scene);
    carrier_turn(&scene.server, 0);
    carrier_take(&scene.server, scene.server.sent_length); // its SETTINGS
    static const uint8_t text[] = "GET / HTTP/1.1\r\nhost: test.local\r\n\r\n";
    carrier_feed(&scene.server, text, sizeof text - 1);
    carrier_turn(&scene.server, 0);
    EXPECT(scene.server.connection == NULL);
    REQUIRE(scene.server.sent_length >= CRPC_FRAME_HEAD);
    EXPECT_EQUAL(scene.server.sent[3], CRPC_FRAME_GOAWAY);
    end(&scene);
}
