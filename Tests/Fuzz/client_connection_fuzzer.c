#include "fuzz.h"

// A server's bytes into a client's connection with four calls: one unary, one that streams, one that is consumed by
// hand, and one that does what the first byte of the input says.

enum { UNARY, STREAM, SLOW, CHANCE, CALLS };

typedef struct call {
    crpc_stream *stream;
    unsigned kind;
    bool has_head;
} call;

static fuzz_scene scene;
static crpc_connection *connection;
static call *calls[CALLS];
static unsigned closes, opens, drainings;
static uint8_t chance;

static void on_open(void *client) {
    CHECK(client == &scene && closes == 0 && opens == 0);
    opens += 1;
}

static void on_draining(void *client) {
    CHECK(client == &scene && closes == 0 && drainings == 0);
    CHECK(!crpc_connection_has_room(connection));
    drainings += 1;
}

static void on_connection_close(void *client, int error) {
    CHECK(client == &scene && closes == 0 && error <= 0);
    CHECK(scene.live_calls == 0);
    closes += 1;
    connection = NULL;
}

static void check_metadata(const uint8_t *metadata, size_t length) {
    size_t offset = 0;
    crpc_entry entry;
    while (crpc_metadata_next(metadata, length, &offset, &entry))
        CHECK(!crpc_metadata_is_reserved(entry.name, entry.name_length));
    CHECK(offset == length);
}

static void act(call *call, unsigned event) {
    if (call->kind != CHANCE || (chance & 3) != event) return;
    switch (chance >> 2 & 7) {
    case 0: crpc_stream_reset(call->stream, NGHTTP2_CANCEL); break;
    case 1: crpc_connection_close(connection); break;
    case 2: crpc_connection_drain(connection); break;
    case 3: (void)crpc_stream_half_close(call->stream); break;
    case 4: crpc_stream_consume_manually(call->stream); break;
    case 5: crpc_stream_reset(calls[UNARY] == NULL ? call->stream : calls[UNARY]->stream, NGHTTP2_CANCEL); break;
    default: break;
    }
}

static void on_headers(void *context, const uint8_t *metadata, size_t length) {
    call *call = context;
    CHECK(!call->has_head);
    call->has_head = true;
    check_metadata(metadata, length);
    act(call, 0);
}

static void on_message(void *context, const crpc_message *message) {
    call *call = context;
    CHECK(call->has_head && !message->compressed);
    uint8_t sum = 0;
    for (size_t i = 0; i < message->length; i++) sum = (uint8_t)(sum + message->bytes[i]);
    if (call->kind == STREAM)
        (void)crpc_stream_send_message(call->stream, fuzz_message(message->length, sum), message->length, false);
    if (call->kind == SLOW && sum % 2 == 0) crpc_stream_consume(call->stream, message->length);
    act(call, 1);
}

static void on_writable(void *context) { act(context, 2); }
static void on_deadline(void *context) { act(context, 3); }

static void on_close(void *context, const crpc_outcome *outcome) {
    call *call = context;
    CHECK(outcome->status >= 0);
    CHECK(!outcome->is_from_server || !outcome->is_unprocessed);
    CHECK(outcome->message_length == 0 || outcome->message != NULL);
    check_metadata(outcome->metadata, outcome->metadata_length);
    calls[call->kind] = NULL;
    scene.live_calls -= 1;
    free(call);
    if (chance & 0x80 && calls[STREAM] != NULL) crpc_stream_reset(calls[STREAM]->stream, NGHTTP2_CANCEL);
}

static const crpc_client_callbacks callbacks = {
    on_open, on_draining, on_connection_close, on_headers, on_message, on_writable, on_deadline, on_close};

static void open_call(unsigned kind) {
    call *call = calloc(1, sizeof *call);
    CHECK(call != NULL);
    call->kind = kind;
    static const char path[] = "/test.Calls/Any";
    CHECK(crpc_stream_open(connection, path, sizeof path - 1, 0, false, NULL, 0, call, &call->stream) == CRPC_OK);
    calls[kind] = call;
    scene.live_calls += 1;
    CHECK(crpc_stream_send_message(call->stream, fuzz_message(10, 1), 10, false) == CRPC_OK);
    if (kind == UNARY) CHECK(crpc_stream_half_close(call->stream) == CRPC_OK);
    if (kind == SLOW) crpc_stream_consume_manually(call->stream);
    if (kind != STREAM) return;
    CHECK(crpc_stream_send_message(call->stream, fuzz_message(100000, 2), 100000, false) == CRPC_OK);
}

static void begin(void) {
    crpc_limits limits;
    crpc_limits_default(&limits);
    limits.message_bytes_max = 1000;
    limits.header_bytes_max = 1000;
    limits.stream_window_bytes = limits.connection_window_bytes = 65535;
    limits.handshake_timeout_ms = 600000;
    limits.credit_max = 200;
    limits.credit_per_second = 0;
    fuzz_scene_begin(&scene);
    CHECK(carrier_connect(&scene.carrier, &limits, &callbacks, &scene) == CRPC_OK);
    connection = scene.carrier.connection;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    fuzz_input input = {bytes, length};
    closes = opens = drainings = 0;
    chance = fuzz_take_byte(&input);
    begin();
    for (unsigned kind = 0; kind < CALLS; kind++) open_call(kind);
    fuzz_turn(&scene);
    fuzz_play(&scene, &input, false);
    fuzz_scene_end(&scene);
    CHECK(closes == 1 && connection == NULL);
    return 0;
}
