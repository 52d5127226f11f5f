#include "fuzz.h"

// A client's bytes into a server's connection. Calls of /test.Calls/Hold do what the bytes of their messages say; so do
// exchanges, which the server takes if bit 5 of the input's first byte says so.

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

// ---- Exchanges ----

typedef struct exchange {
    crpc_exchange *exchange;
    crpc_handlers *handlers; // NULL once its handler has ended
    bool has_ended; // the request
} exchange;

static void *on_exchange(void *server, void *peer, crpc_exchange *handle, const crpc_exchange_head *head) {
    CHECK(server == &scene && peer != NULL && head->version == 20);
    size_t offset = 0, count = 0;
    crpc_entry entry;
    for (; crpc_metadata_next(head->fields, head->fields_length, &offset, &entry); count++)
        CHECK(entry.name_length > 0 && entry.name[0] != ':');
    CHECK(offset == head->fields_length && count <= 100 && head->target_length <= CRPC_TARGET_MAX);
    bool is_whole = head->target_length > 0 && head->authority_length > 0;
    CHECK(head->fault == CRPC_FAULT_NONE ? is_whole : head->is_last && head->fields_length == 0);
    if (head->target_length > 1 && head->target[1] == '!') return NULL;
    exchange *exchange = calloc(1, sizeof *exchange);
    CHECK(exchange != NULL);
    *exchange = (struct exchange){handle, head->handlers, head->is_last};
    scene.live_calls += 1;
    if (head->is_last) (void)crpc_exchange_respond(handle, 200, NULL, 0, head->target, head->target_length);
    return exchange;
}

/// One command of a script.
static void obey_exchange(exchange *exchange, uint8_t command) {
    crpc_exchange *handle = exchange->exchange;
    uint8_t fields[64];
    crpc_entry entry = {(const uint8_t *)"x-field", (const uint8_t *)"value", 7, 5};
    size_t length = crpc_metadata_put(fields, &entry);
    static const uint8_t body[256];
    switch (command & 15) {
    case 0: (void)crpc_exchange_send_head(handle, 200, fields, length, -1); break;
    case 1: (void)crpc_exchange_send_head(handle, 204u + (command >> 4), NULL, 0, command >> 4); break;
    case 2: (void)crpc_exchange_send(handle, fuzz_message(command, 1), CRPC_PREFIX_LENGTH, command); break;
    case 3: (void)crpc_exchange_send(handle, fuzz_message(70000, 2), CRPC_PREFIX_LENGTH, 70000); break;
    case 4: (void)crpc_exchange_finish(handle, fields, command >> 4 ? length : 0); break;
    case 5: (void)crpc_exchange_respond(handle, 200u + (command >> 4), fields, length, body, command); break;
    case 6: crpc_exchange_reset(handle); break;
    case 7: (void)crpc_exchange_consume(handle, command, (command & 16) != 0); break;
    case 8: (void)crpc_exchange_consume(handle, SIZE_MAX, (command & 16) != 0); break;
    case 9: (void)crpc_exchange_set_deadline(handle, scene.carrier.turn.now_ns + (command >> 4) * 1000000u); break;
    case 10: crpc_exchange_set_body_deadline(handle, scene.carrier.turn.now_ns + (command >> 4) * 1000000u); break;
    case 11:
        if (exchange->handlers != NULL) crpc_handler_ended(exchange->handlers);
        exchange->handlers = NULL;
        break;
    default: break;
    }
}

static void on_exchange_body(void *context, const uint8_t *bytes, size_t length, bool is_last) {
    exchange *exchange = context;
    CHECK(!exchange->has_ended && (length > 0 || is_last));
    exchange->has_ended = is_last;
    for (size_t i = 0; i < length; i++) obey_exchange(exchange, bytes[i]);
    if (is_last) (void)crpc_exchange_respond(exchange->exchange, 200, NULL, 0, NULL, 0);
}

static void on_exchange_broken(void *context, int error) {
    exchange *exchange = context;
    CHECK(!exchange->has_ended && error == CRPC_ERROR_TIMEOUT);
    exchange->has_ended = true;
}

static void on_exchange_writable(void *context) { CHECK(crpc_exchange_is_writable(((exchange *)context)->exchange)); }

static void on_exchange_deadline(void *context) {
    (void)crpc_exchange_respond(((exchange *)context)->exchange, 504, NULL, 0, NULL, 0);
}

static void on_exchange_close(void *context, bool is_complete) {
    (void)is_complete;
    exchange *exchange = context;
    scene.live_calls -= 1;
    if (exchange->handlers != NULL) crpc_handler_ended(exchange->handlers);
    free(exchange); // a callback after it would touch freed memory
}

#define CALLS_ALONE \
    .on_open = on_open, .on_connection_close = on_connection_close, .on_call = on_call, .on_message = on_message, \
    .on_half_close = on_half_close, .on_writable = on_writable, .on_deadline = on_deadline, .on_close = on_close

static const crpc_server_callbacks callbacks = {CALLS_ALONE}, callbacks_with_exchanges = {
    CALLS_ALONE,
    .exchange = {
        .on_exchange = on_exchange, .on_exchange_body = on_exchange_body, .on_exchange_broken = on_exchange_broken,
        .on_exchange_writable = on_exchange_writable, .on_exchange_deadline = on_exchange_deadline,
        .on_exchange_close = on_exchange_close}};

static void begin(bool takes_exchanges) {
    crpc_limits limits;
    crpc_limits_default(&limits);
    limits.message_bytes_max = 1000;
    limits.header_bytes_max = 1000;
    limits.streams_max = 12;
    limits.stream_window_bytes = limits.connection_window_bytes = 65535;
    limits.handshake_timeout_ms = 600000;
    limits.body_timeout_ms = 20;
    // Low enough to be reached, and none comes back with time.
    limits.buffered_bytes_max = 100000;
    limits.queued_frames_max = 60;
    limits.credit_max = 200;
    limits.credit_per_second = 0;
    fuzz_scene_begin(&scene);
    CHECK(
        crpc_service_begin(
            &service, &scene.carrier.turn, paths, METHODS, takes_exchanges ? &callbacks_with_exchanges : &callbacks,
            &scene) == CRPC_OK);
    service.calls_max = 8;
    CHECK(carrier_serve(&scene.carrier, &service, &limits) == CRPC_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    fuzz_input input = {bytes, length};
    begin(length > 0 && (bytes[0] & 32) != 0);
    fuzz_play(&scene, &input, true);
    fuzz_scene_end(&scene);
    CHECK(live_peers == 0 && service.call_count == 0 && service.handler_count == 0);
    crpc_service_end(&service);
    return 0;
}
