#include "fuzz.h"

// A client's bytes into a server's connection. Calls of /test.Calls/Hold do what the bytes of their messages say.

typedef struct call {
    fuzz_scene *scene;
    crpc_connection *connection;
    crpc_stream *stream;
    uint32_t method;
    bool has_ended; // the request
    crpc_handlers *handlers; // NULL once its handler has ended
} call;

static const char *const paths[] = {
    "/test.Calls/Unary", "/test.Calls/Stream", "/test.Calls/Hold", "/test.Calls/Refused"};
enum { UNARY, STREAM, SCRIPT, REFUSED, METHODS };

static fuzz_scene scene;
static crpc_service service;
static unsigned live_peers;

static void *on_open(void *server, crpc_connection *connection) {
    CHECK(server == &scene);
    live_peers += 1;
    return connection;
}

static void on_connection_close(void *server, void *peer) {
    CHECK(server == &scene && peer != NULL);
    CHECK(scene.live_calls == 0);
    live_peers -= 1;
}

static void *on_call(void *server, void *peer, crpc_stream *stream, const crpc_request *request) {
    CHECK(server == &scene && request->method < METHODS);
    size_t offset = 0;
    crpc_entry entry;
    while (crpc_metadata_next(request->metadata, request->metadata_length, &offset, &entry))
        CHECK(!crpc_metadata_is_reserved(entry.name, entry.name_length));
    CHECK(offset == request->metadata_length);
    if (request->method == REFUSED) return NULL;
    call *call = calloc(1, sizeof *call);
    CHECK(call != NULL);
    *call = (struct call){&scene, peer, stream, request->method, false, request->handlers};
    scene.live_calls += 1;
    return call;
}

static void finish(call *call, int code) {
    uint8_t metadata[64];
    crpc_entry entry = {(const uint8_t *)"x-tail", (const uint8_t *)"value", 6, 5};
    crpc_status status = {
        .code = code, .message = (const uint8_t *)"a message \xe2\x82\xac", .message_length = code == 0 ? 0 : 13,
        .details = (const uint8_t *)"details", .details_length = code == 2 ? 7 : 0, .metadata = metadata,
        .metadata_length = code == 3 ? crpc_metadata_put(metadata, &entry) : 0};
    (void)crpc_stream_finish(call->stream, &status);
}

/// A handler may end before its stream does.
static void end_handler(call *call) {
    if (call->handlers != NULL) crpc_handler_ended(call->handlers);
    call->handlers = NULL;
}

/// One command of a script.
static void obey(call *call, uint8_t command) {
    switch (command & 15) {
    case 0: (void)crpc_stream_send_headers(call->stream, NULL, 0); break;
    case 1: (void)crpc_stream_send_message(call->stream, fuzz_message(command, 1), command, false); break;
    case 2: (void)crpc_stream_send_message(call->stream, fuzz_message(70000, 2), 70000, false); break;
    case 3: finish(call, command >> 4); break;
    case 4: crpc_stream_reset(call->stream, command >> 4); break;
    case 5: crpc_stream_consume_manually(call->stream); break;
    case 6: crpc_stream_consume(call->stream, command); break;
    case 7: crpc_stream_consume(call->stream, SIZE_MAX); break;
    case 8: crpc_connection_drain(call->connection); break;
    case 9: crpc_connection_close(call->connection); break;
    case 10: (void)crpc_stream_keep(call->stream, (size_t)command << 6); break;
    case 11: end_handler(call); break;
    default: break;
    }
}

static void on_message(void *context, const crpc_message *message, bool is_last) {
    call *call = context;
    CHECK(!call->has_ended && !message->compressed);
    call->has_ended = is_last;
    uint8_t sum = 0;
    for (size_t i = 0; i < message->length; i++) sum = (uint8_t)(sum + message->bytes[i]); // each byte can be read
    if (call->method == SCRIPT) {
        for (size_t i = 0; i < message->length; i++) obey(call, message->bytes[i]);
        return;
    }
    (void)crpc_stream_send_message(call->stream, fuzz_message(message->length, sum), message->length, false);
    if (is_last) finish(call, 0);
}

static void on_half_close(void *context) {
    call *call = context;
    CHECK(!call->has_ended);
    call->has_ended = true;
    finish(call, 0);
}

static void on_writable(void *context) {
    call *call = context;
    CHECK(crpc_stream_is_writable(call->stream));
}

static void on_deadline(void *context) { finish(context, 4); }

static void on_close(void *context, uint32_t error) {
    (void)error;
    scene.live_calls -= 1;
    end_handler(context);
    free(context); // a callback after it would touch freed memory
}

static const crpc_server_callbacks callbacks = {
    .on_open = on_open, .on_connection_close = on_connection_close, .on_call = on_call, .on_message = on_message,
    .on_half_close = on_half_close, .on_writable = on_writable, .on_deadline = on_deadline, .on_close = on_close};

static void begin(void) {
    crpc_limits limits;
    crpc_limits_default(&limits);
    limits.message_bytes_max = 1000;
    limits.header_bytes_max = 1000;
    limits.streams_max = 12;
    limits.stream_window_bytes = limits.connection_window_bytes = 65535;
    limits.handshake_timeout_ms = 600000;
    // Low enough to be reached, and none comes back with time.
    limits.buffered_bytes_max = 100000;
    limits.queued_frames_max = 60;
    limits.credit_max = 200;
    limits.credit_per_second = 0;
    fuzz_scene_begin(&scene);
    CHECK(
        crpc_service_begin(&service, &scene.carrier.turn, paths, METHODS, &callbacks, &scene) == CRPC_OK);
    service.calls_max = 8;
    CHECK(carrier_serve(&scene.carrier, &service, &limits) == CRPC_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    fuzz_input input = {bytes, length};
    begin();
    fuzz_play(&scene, &input, true);
    fuzz_scene_end(&scene);
    CHECK(live_peers == 0 && service.call_count == 0 && service.handler_count == 0);
    crpc_service_end(&service);
    return 0;
}
