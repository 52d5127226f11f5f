/// Unary calls on one connection in memory, with header blocks as nghttp2's clients make them: what callgrind counts of `measured` is
/// the server's C layer. Arguments: how many bearer tokens take turns (with 0 there are no further fields), and calls. run.sh links it in
/// three ways, by what its `__wrap_` functions take the place of.
#include "carrier.h"
#include "http2/plain_literals.h"

#include <inttypes.h>
#include <stdio.h>

enum { CALLS_PER_TURN = 32, MESSAGE_LENGTH = 63, TOKEN_LENGTH = 347, TOKENS_MAX = 100, BLOCK_MAX = 4096 };

typedef struct call {
    crpc_stream *stream;
    crpc_handlers *handlers;
} call;

static unsigned long ended;
static uint64_t seed = 88172645463325252u;
static uint8_t turn_bytes[CALLS_PER_TURN * (BLOCK_MAX + 128)];
static size_t turn_length;

size_t __wrap_crpc_plain_literals(
    crpc_known_literals *known, const uint8_t *bytes, size_t length, size_t first_head, uint8_t *target, size_t *taken);
size_t __wrap_crpc_plain_literals(
    crpc_known_literals *known, const uint8_t *bytes, size_t length, size_t first_head, uint8_t *target, size_t *taken) {
    (void)known, (void)bytes, (void)first_head, (void)target;
    *taken = length;
    return 0;
}
ssize_t __wrap_crpc_known_literals_decode_long(
    crpc_known_literals *known, const uint8_t *bytes, size_t length, uint8_t *target);
ssize_t __wrap_crpc_known_literals_decode_long(
    crpc_known_literals *known, const uint8_t *bytes, size_t length, uint8_t *target) {
    (void)known;
    return crpc_huffman_decode(bytes, length, target);
}

static uint64_t next_number(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

// ---- The server ----

static void *on_open(void *server, crpc_connection *connection) {
    (void)connection;
    return server;
}
static void on_connection_close(void *server, void *peer) { (void)server, (void)peer; }
static void *on_call(void *server, void *peer, crpc_stream *stream, const crpc_request *request) {
    (void)server, (void)peer;
    call *call = malloc(sizeof *call);
    if (call == NULL) abort();
    *call = (struct call){stream, request->handlers};
    return call;
}
static void on_message(void *context, const crpc_message *message, bool is_last) {
    const call *call = context;
    uint8_t *echo = malloc(CRPC_PREFIX_LENGTH + message->length);
    if (echo == NULL || !is_last) abort();
    memcpy(echo + CRPC_PREFIX_LENGTH, message->bytes, message->length);
    const crpc_status status = {.code = CRPC_STATUS_OK};
    if (crpc_stream_send_message(call->stream, echo, message->length, false) != CRPC_OK) abort();
    if (crpc_stream_finish(call->stream, &status) != CRPC_OK) abort();
}
static void on_event(void *context) { (void)context; }
static void on_close(void *context, uint32_t error) {
    if (error != 0) abort();
    crpc_handler_ended(((call *)context)->handlers);
    free(context);
    ended += 1;
}
static const crpc_server_callbacks callbacks = {
    .on_open = on_open, .on_connection_close = on_connection_close, .on_call = on_call, .on_message = on_message,
    .on_half_close = on_event, .on_writable = on_event, .on_deadline = on_event, .on_close = on_close};

__attribute__((noinline)) void measured(carrier *server);
void measured(carrier *server) {
    carrier_feed(server, turn_bytes, turn_length);
    carrier_turn(server, 1000000);
    carrier_take(server, server->sent_length);
}

// ---- The client ----

static void put_frame(uint8_t type, uint8_t flags, uint32_t id, const void *payload, size_t length) {
    const uint8_t head[CRPC_FRAME_HEAD] = {(uint8_t)(length >> 16), (uint8_t)(length >> 8), (uint8_t)length, type, flags,
        (uint8_t)(id >> 24), (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id};
    memcpy(turn_bytes + turn_length, head, sizeof head);
    if (length > 0) memcpy(turn_bytes + turn_length + sizeof head, payload, length);
    turn_length += sizeof head + length;
}

static nghttp2_nv field(const char *name, const char *value) {
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE};
}

static void put_call(nghttp2_hd_deflater *deflater, uint32_t id, const char *token, const char *path) {
    char timeout[16], trace[64], request[64];
    uint64_t a = next_number(), b = next_number();
    (void)snprintf(timeout, sizeof timeout, "%um", 4000 + (unsigned)(a % 1000));
    (void)snprintf(trace, sizeof trace, "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-01", a, b, a ^ b);
    (void)snprintf(request, sizeof request, "%08x-7b1e-7c3a-%016" PRIx64, (unsigned)a, b);
    const nghttp2_nv fields[] = {
        field(":method", "POST"), field(":scheme", "http"), field(":authority", "127.0.0.1:12345"), field(":path", path),
        field("content-type", "application/grpc"), field("te", "trailers"), field("user-agent", "bench/1.0"),
        field("authorization", token), field("grpc-timeout", timeout), field("traceparent", trace),
        field("x-request-id", request), field("accept-language", "en-GB,en;q=0.9")};
    enum { FIELDS = sizeof fields / sizeof fields[0], PLAIN_FIELDS = 7 };
    uint8_t block[BLOCK_MAX], message[CRPC_PREFIX_LENGTH + MESSAGE_LENGTH] = {0, 0, 0, 0, MESSAGE_LENGTH};
    ssize_t length = nghttp2_hd_deflate_hd(deflater, block, sizeof block, fields, *token == 0 ? PLAIN_FIELDS : FIELDS);
    if (length < 0) abort();
    put_frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, id, block, (size_t)length);
    put_frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, id, message, sizeof message);
}

int main(int count, char **arguments) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    static const char *const paths[] = {"/vestibule.bench.v1.EchoService/Echo"};
    static char tokens[TOKENS_MAX][TOKEN_LENGTH + 1] = {""};
    if (count != 3) return 2;
    unsigned long token_count = strtoul(arguments[1], NULL, 10), calls = strtoul(arguments[2], NULL, 10);
    if (token_count > TOKENS_MAX) return 2;
    for (unsigned long i = 0; i < token_count; i++) {
        int length = snprintf(tokens[i], sizeof tokens[i], "Bearer eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.");
        while (length < TOKEN_LENGTH) tokens[i][length++] = alphabet[next_number() % 64];
    }
    carrier server;
    crpc_service service;
    crpc_limits limits;
    nghttp2_hd_deflater *deflater;
    carrier_begin(&server);
    crpc_limits_default(&limits);
    if (nghttp2_hd_deflate_new(&deflater, 4096) != 0) return 1;
    if (crpc_service_begin(&service, &server.turn, paths, 1, &callbacks, NULL) != CRPC_OK) return 1;
    if (carrier_serve(&server, &service, &limits) != CRPC_OK) return 1;
    memcpy(turn_bytes, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", CRPC_PREFACE_LENGTH);
    turn_length = CRPC_PREFACE_LENGTH;
    put_frame(NGHTTP2_SETTINGS, 0, 0, NULL, 0);
    put_frame(NGHTTP2_WINDOW_UPDATE, 0, 0, "\x3f\xff\0\0", 4);
    for (unsigned long i = 0; i < calls; i++) {
        put_call(deflater, (uint32_t)(2 * i + 1), token_count == 0 ? "" : tokens[i % token_count], paths[0]);
        if (i % CALLS_PER_TURN != CALLS_PER_TURN - 1 && i + 1 < calls) continue;
        measured(&server);
        turn_length = 0;
    }
    return ended == calls ? 0 : 1;
}
