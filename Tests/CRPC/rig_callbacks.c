#include "rig.h"

// The callbacks of both sides: they check what must be so whenever one fires, and write down what it brought.

static void check_call(call *call) {
    const rig *rig = call->rig;
    EXPECT_EQUAL(call->closes, 0);
    EXPECT_EQUAL(call->peer->closes, 0);
    if (rig->is_freeing) return;
    EXPECT_EQUAL(rig->api_depth, 0);
    EXPECT(crpc_loop_current() == rig->loop);
}

static void check_peer(peer *peer) {
    const rig *rig = peer->rig;
    EXPECT_EQUAL(peer->closes, 0);
    if (rig->is_freeing) return;
    EXPECT_EQUAL(rig->api_depth, 0);
    EXPECT(crpc_loop_current() == rig->loop);
}

static void react(call *call, rig_event event) {
    if (call->rig->react != NULL) call->rig->react(call, event);
}

static uint8_t *copy(const uint8_t *bytes, size_t length) {
    uint8_t *memory = malloc(length == 0 ? 1 : length);
    REQUIRE(memory != NULL);
    if (length > 0) memcpy(memory, bytes, length);
    return memory;
}

static void keep_bytes(call *call, const uint8_t *bytes, size_t length) {
    uint8_t *received = realloc(call->received, call->received_length + length + 1);
    REQUIRE(received != NULL);
    if (length > 0) memcpy(received + call->received_length, bytes, length);
    call->received = received;
    call->received_length += length;
    if (call->messages < RIG_LENGTHS_MAX) call->message_lengths[call->messages] = length;
    call->messages += 1;
}

/// Keeps a message as its sender had it. One that cannot be inflated counts as compressed only.
static void keep_message(call *call, const crpc_message *message) {
    if (!message->compressed) {
        keep_bytes(call, message->bytes, message->length);
        return;
    }
    call->compressed += 1;
    uint8_t *inflated = NULL;
    size_t length = 0;
    if (crpc_gzip_inflate(message->bytes, message->length, RIG_INFLATED_MAX, &inflated, &length) != CRPC_OK) return;
    keep_bytes(call, inflated, length);
    free(inflated);
}

// ---- Server ----

static void *server_open(void *context, crpc_connection *connection) {
    rig *rig = context;
    REQUIRE(rig->server_peer_count < RIG_PEERS_MAX);
    peer *peer = calloc(1, sizeof *peer);
    REQUIRE(peer != NULL);
    peer->rig = rig;
    peer->connection = connection;
    peer->is_server = true;
    peer->opens = 1;
    check_peer(peer);
    rig->server_peers[rig->server_peer_count++] = peer;
    return peer;
}

static void server_connection_close(void *context, void *closed) {
    peer *peer = closed;
    EXPECT(context == peer->rig);
    check_peer(peer);
    for (size_t i = 0; i < peer->rig->server_call_count; i++)
        EXPECT(peer->rig->server_calls[i]->peer != peer || peer->rig->server_calls[i]->closes == 1);
    peer->closes += 1;
    peer->connection = NULL;
}

static void *server_call(void *context, void *caller, crpc_stream *stream, const crpc_request *request) {
    rig *rig = context;
    EXPECT(request->method < METHOD_COUNT);
    if (request->method == METHOD_REFUSED) return NULL;
    REQUIRE(rig->server_call_count < RIG_CALLS_MAX);
    call *call = calloc(1, sizeof *call);
    REQUIRE(call != NULL);
    call->rig = rig;
    call->peer = caller;
    call->stream = stream;
    call->is_server = true;
    call->method = request->method;
    call->deadline_ns = request->deadline_ns;
    call->accepts_gzip = request->accepts_gzip;
    call->handlers = request->handlers;
    call->outlives_stream = rig->setup.outlive_streams;
    call->head = copy(request->metadata, request->metadata_length);
    call->head_length = request->metadata_length;
    check_call(call);
    rig->server_calls[rig->server_call_count++] = call;
    react(call, EVENT_CALL);
    return call;
}

/// Sends a message of an answer; without memory the call cannot go on.
static void reply(call *call, const void *bytes, size_t length) {
    if (call_send(call, bytes, length) == CRPC_ERROR_MEMORY) call_reset(call, NGHTTP2_INTERNAL_ERROR);
}

static void answer(call *call) {
    if (call->method == METHOD_UNARY) reply(call, call->received, call->received_length);
    if (call->method == METHOD_UNARY || call->method == METHOD_STREAM) (void)call_finish(call, 0, "");
}

static void server_message(void *context, const crpc_message *message, bool is_last) {
    call *call = context;
    check_call(call);
    EXPECT_EQUAL(call->half_closes, 0);
    EXPECT(!call->is_last_told);
    call->is_last_told = is_last;
    keep_message(call, message);
    if (call->method == METHOD_STREAM) reply(call, message->bytes, message->length);
    react(call, EVENT_MESSAGE);
    if (is_last) answer(call);
}

static void server_half_close(void *context) {
    call *call = context;
    check_call(call);
    EXPECT(!call->is_last_told);
    call->half_closes += 1;
    react(call, EVENT_HALF_CLOSE);
    answer(call);
}

static void server_close(void *context, uint32_t error) {
    call *call = context;
    check_call(call);
    call->closes += 1;
    call->error = error;
    call->stream = NULL;
    if (!call->outlives_stream && call->handlers != NULL) call_end_handler(call);
    react(call, EVENT_CLOSE);
}

// ---- Client ----

static void client_open(void *context) {
    peer *peer = context;
    check_peer(peer);
    EXPECT(!peer->is_server);
    peer->opens += 1;
}

static void client_draining(void *context) {
    peer *peer = context;
    check_peer(peer);
    EXPECT(!crpc_connection_has_room(peer->connection));
    peer->drainings += 1;
}

static void client_connection_close(void *context, int error) {
    peer *peer = context;
    check_peer(peer);
    for (size_t i = 0; i < peer->rig->client_call_count; i++)
        EXPECT(peer->rig->client_calls[i]->peer != peer || peer->rig->client_calls[i]->closes == 1);
    peer->closes += 1;
    peer->error = error;
    peer->connection = NULL;
}

static void client_headers(void *context, const uint8_t *metadata, size_t length) {
    call *call = context;
    check_call(call);
    EXPECT_EQUAL(call->messages, 0);
    call->headers += 1;
    free(call->head);
    call->head = copy(metadata, length);
    call->head_length = length;
    react(call, EVENT_HEADERS);
}

static void client_message(void *context, const crpc_message *message) {
    call *call = context;
    check_call(call);
    EXPECT_EQUAL(call->headers, 1);
    keep_message(call, message);
    react(call, EVENT_MESSAGE);
}

static void client_close(void *context, const crpc_outcome *outcome) {
    call *call = context;
    check_call(call);
    call->closes += 1;
    call->stream = NULL;
    call->status = outcome->status;
    call->is_from_server = outcome->is_from_server;
    call->is_unprocessed = outcome->is_unprocessed;
    call->text_length = outcome->message_length < RIG_TEXT_MAX ? outcome->message_length : RIG_TEXT_MAX;
    if (call->text_length > 0) memcpy(call->text, outcome->message, call->text_length);
    call->trailers = copy(outcome->metadata, outcome->metadata_length);
    call->trailers_length = outcome->metadata_length;
    EXPECT(call->status >= 0);
    react(call, EVENT_CLOSE);
}

// ---- Both ----

static void either_writable(void *context) {
    call *call = context;
    check_call(call);
    EXPECT(crpc_stream_is_writable(call->stream));
    EXPECT(call->stream->out.queued_bytes < CRPC_STREAM_LOW_WATER);
    call->writables += 1;
    react(call, EVENT_WRITABLE);
}

static void either_deadline(void *context) {
    call *call = context;
    check_call(call);
    call->deadlines += 1;
    react(call, EVENT_DEADLINE);
}

const crpc_server_callbacks rig_server_callbacks = {
    .on_open = server_open,
    .on_connection_close = server_connection_close,
    .on_call = server_call,
    .on_message = server_message,
    .on_half_close = server_half_close,
    .on_writable = either_writable,
    .on_deadline = either_deadline,
    .on_close = server_close,
};

const crpc_client_callbacks rig_client_callbacks = {
    .on_open = client_open,
    .on_draining = client_draining,
    .on_connection_close = client_connection_close,
    .on_headers = client_headers,
    .on_message = client_message,
    .on_writable = either_writable,
    .on_deadline = either_deadline,
    .on_close = client_close,
};
