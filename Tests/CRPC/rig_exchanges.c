#include "rig_exchanges.h"


#define INSIDE(rig, expression) \
    do { \
        (rig)->api_depth += 1; \
        (expression); \
        (rig)->api_depth -= 1; \
    } while (0)

static void check(const exchange *exchange) {
    EXPECT_EQUAL(exchange->closes, 0);
    EXPECT_EQUAL(exchange->peer->closes, 0);
    if (exchange->rig->is_freeing) return;
    EXPECT_EQUAL(exchange->rig->api_depth, 0);
    EXPECT(crpc_loop_current() == exchange->rig->loop);
}

static bool is_for(const exchange *exchange, const char *target) { return strcmp(exchange->target, target) == 0; }

static void *keep(const uint8_t *bytes, size_t length) {
    uint8_t *memory = malloc(length + 1);
    REQUIRE(memory != NULL);
    if (length > 0) memcpy(memory, bytes, length);
    memory[length] = 0;
    return memory;
}

static void end_handler(exchange *exchange) {
    crpc_handlers *handlers = exchange->handlers;
    exchange->handlers = NULL;
    if (handlers != NULL) INSIDE(exchange->rig, crpc_handler_ended(handlers));
}

static void *on_exchange(void *server, void *peer, crpc_exchange *handle, const crpc_exchange_head *head) {
    rig *rig = server;
    REQUIRE(rig->exchange_count < RIG_EXCHANGES_MAX && head->method_length < 32 && head->authority_length < 300);
    if (head->target_length == 5 && memcmp(head->target, "/null", 5) == 0) return NULL;
    exchange *exchange = calloc(1, sizeof *exchange);
    REQUIRE(exchange != NULL);
    exchange->rig = rig;
    exchange->peer = peer;
    exchange->exchange = handle;
    exchange->handlers = head->handlers;
    exchange->version = head->version;
    exchange->fault = head->fault;
    if (head->method_length > 0) memcpy(exchange->method, head->method, head->method_length);
    if (head->authority_length > 0) memcpy(exchange->authority, head->authority, head->authority_length);
    exchange->target = keep(head->target, head->target_length);
    exchange->fields = keep(head->fields, head->fields_length);
    exchange->fields_length = head->fields_length;
    exchange->content_length = head->content_length;
    exchange->is_last = exchange->has_ended = head->is_last;
    check(exchange);
    EXPECT(head->fault == CRPC_FAULT_NONE || head->fields_length == 0);
    rig->exchanges[rig->exchange_count++] = exchange;
    if (is_for(exchange, "/now")) EXPECT(exchange_respond(exchange, 200, "now") != CRPC_ERROR_CLOSED);
    if (is_for(exchange, "/echo") && head->is_last) (void)exchange_respond(exchange, 200, "");
    return exchange;
}

static void on_body(void *context, const uint8_t *bytes, size_t length, bool is_last) {
    exchange *exchange = context;
    check(exchange);
    EXPECT(!exchange->has_ended && exchange->broken == 0);
    EXPECT(length > 0 || is_last);
    uint8_t *body = realloc(exchange->body, exchange->body_length + length + 1);
    REQUIRE(body != NULL);
    if (length > 0) memcpy(body + exchange->body_length, bytes, length);
    exchange->body = body;
    exchange->body_length += length;
    exchange->bodies += 1;
    exchange->has_ended = is_last;
    bool is_echo = is_for(exchange, "/echo");
    if (length > 0 && !is_for(exchange, "/slow"))
        exchange->consume_error = exchange_consume(exchange, length, is_echo);
    if (is_last && is_echo) (void)exchange_respond_with(exchange, 200, NULL, 0, exchange->body, exchange->body_length);
}

static void on_broken(void *context, int error) {
    exchange *exchange = context;
    check(exchange);
    EXPECT(!exchange->has_ended && exchange->broken == 0);
    exchange->broken = error;
    if (is_for(exchange, "/echo")) (void)exchange_respond(exchange, 408, "too slow");
}

static void on_writable(void *context) {
    exchange *exchange = context;
    check(exchange);
    EXPECT(crpc_exchange_is_writable(exchange->exchange));
    exchange->writables += 1;
}

static void on_deadline(void *context) {
    exchange *exchange = context;
    check(exchange);
    exchange->deadlines += 1;
}

static void on_close(void *context, bool is_complete) {
    exchange *exchange = context;
    check(exchange);
    exchange->closes += 1;
    exchange->is_complete = is_complete;
    exchange->exchange = NULL;
    end_handler(exchange);
}

/// The rig's callbacks of calls, and these.
const crpc_server_callbacks *rig_callbacks_with_exchanges(void) {
    static crpc_server_callbacks callbacks;
    callbacks = rig_server_callbacks;
    callbacks.exchange = (crpc_exchange_callbacks){
        .on_exchange = on_exchange, .on_exchange_body = on_body, .on_exchange_broken = on_broken,
        .on_exchange_writable = on_writable, .on_exchange_deadline = on_deadline, .on_exchange_close = on_close};
    return &callbacks;
}

void rig_free_exchanges(rig *rig) {
    for (size_t i = 0; i < rig->exchange_count; i++) {
        exchange *exchange = rig->exchanges[i];
        if (!EXPECT_EQUAL(exchange->closes, 1)) test_note("exchange %zu", i);
        EXPECT(exchange->handlers == NULL && exchange->deadlines <= 1);
        free(exchange->target);
        free(exchange->fields);
        free(exchange->body);
        free(exchange);
    }
}

// ---- What tests do with them ----

exchange *rig_exchange(rig *rig) {
    REQUIRE(rig->exchange_count > 0);
    return rig->exchanges[rig->exchange_count - 1];
}

int exchange_respond_with(
    exchange *exchange, uint32_t status, const uint8_t *fields, size_t fields_length, const void *body, size_t length) {
    int error;
    INSIDE(
        exchange->rig,
        error = crpc_exchange_respond(exchange->exchange, status, fields, fields_length, body, length));
    return error;
}

int exchange_respond(exchange *exchange, uint32_t status, const char *body) {
    uint8_t fields[64];
    size_t length = metadata_add(fields, 0, "content-type", "text/plain");
    return exchange_respond_with(exchange, status, fields, length, body, strlen(body));
}

int exchange_send_head(exchange *exchange, uint32_t status, int64_t content_length) {
    int error;
    INSIDE(exchange->rig, error = crpc_exchange_send_head(exchange->exchange, status, NULL, 0, content_length));
    return error;
}

int exchange_send(exchange *exchange, const void *bytes, size_t length) {
    enum { ROOM = 3 };
    uint8_t *memory = malloc(ROOM + length);
    if (memory == NULL) return CRPC_ERROR_MEMORY;
    if (length > 0) memcpy(memory + ROOM, bytes, length);
    int error;
    INSIDE(exchange->rig, error = crpc_exchange_send(exchange->exchange, memory, ROOM, length));
    return error;
}

int exchange_finish(exchange *exchange, const uint8_t *trailers, size_t length) {
    int error;
    INSIDE(exchange->rig, error = crpc_exchange_finish(exchange->exchange, trailers, length));
    return error;
}

int exchange_consume(exchange *exchange, size_t length, bool keeps) {
    int error;
    INSIDE(exchange->rig, error = crpc_exchange_consume(exchange->exchange, length, keeps));
    return error;
}

int exchange_set_deadline_ms(exchange *exchange, unsigned ms) {
    int error;
    uint64_t due = ms == 0 ? 0 : crpc_loop_now_ns(exchange->rig->loop) + ms * 1000000ull;
    INSIDE(exchange->rig, error = crpc_exchange_set_deadline(exchange->exchange, due));
    return error;
}

void exchange_set_body_deadline_ms(exchange *exchange, unsigned ms) {
    uint64_t due = ms == 0 ? 0 : crpc_loop_now_ns(exchange->rig->loop) + ms * 1000000ull;
    INSIDE(exchange->rig, crpc_exchange_set_body_deadline(exchange->exchange, due));
}

void exchange_reset(exchange *exchange) { INSIDE(exchange->rig, crpc_exchange_reset(exchange->exchange)); }

bool exchange_is_writable(exchange *exchange) {
    bool is_writable;
    INSIDE(exchange->rig, is_writable = crpc_exchange_is_writable(exchange->exchange));
    return is_writable;
}

void raw_send_exchange(
    raw *raw, uint8_t flags, int32_t id, const char *method, const char *target, const char *name, const char *value) {
    raw_entry entries[] = {
        {":method", method}, {":scheme", "http"}, {":path", target}, {":authority", "test.local"}, {name, value}};
    raw_send_headers(raw, flags, id, entries, name == NULL ? 4 : 5);
}
