/// Says how our HTTP/1.x reads connections: what its requests are and where they end. `oracles.py` compares that with how
/// others read them.
///
/// Standard input: connections, each as four bytes of length, the lowest first, and what a client sends on it. Standard output:
/// a line of JSON for each, an array of its requests in their order: `method`, `target`, `body` in hexadecimal digits, `fault`
/// why it was refused (crpc_fault, or -1 where its body broke), `end` how many bytes of the connection it and all before it are.
/// One that is not whole at the end of the connection is left out.
///
/// Each connection is read byte by byte, so that its ends are known, then whole and in pieces: if these tell another story,
/// the program ends with a message and the connection's number.
#include "crpc_error.h"
#include "http1/http1_connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_MAX = 1 << 20, REQUESTS_MAX = 65536, ROOM = 65536 + 32768, BODY_BROKE = -1 };

typedef struct request {
    size_t begin, method_length, target_length, body_length; // in the story's texts, one behind the other
    size_t end;
    int fault;
} request;

/// The recorded callbacks of a connection.
typedef struct story {
    uint8_t texts[2 * INPUT_MAX];
    size_t length, count;
    request requests[REQUESTS_MAX];
    bool is_open; // the last one is not whole
} story;

static struct {
    crpc_turn turn;
    crpc_service service;
    crpc_h1 *h1;
    crpc_exchange *exchange;
    story *story;
} reader;

static void add(const uint8_t *bytes, size_t length) {
    story *story = reader.story;
    if (length > sizeof story->texts - story->length) abort();
    memcpy(story->texts + story->length, bytes, length);
    story->length += length;
}

// ---- The server ----

static void end_request(int fault) {
    reader.story->requests[reader.story->count - 1].fault = fault;
    reader.story->is_open = false;
    (void)crpc_exchange_respond(reader.exchange, fault == 0 ? 200 : 400, NULL, 0, NULL, 0);
}

static void *on_exchange(void *server, void *peer, crpc_exchange *exchange, const crpc_exchange_head *head) {
    (void)peer;
    story *story = reader.story;
    crpc_handler_ended(head->handlers); // allowed before the exchange's end
    reader.exchange = exchange;
    if (story->count == REQUESTS_MAX || story->is_open) abort();
    story->requests[story->count++] = (request){
        .begin = story->length, .method_length = head->method_length, .target_length = head->target_length};
    story->is_open = true;
    add(head->method, head->method_length);
    add(head->target, head->target_length);
    if (head->is_last) end_request((int)head->fault);
    return server;
}
static void on_body(void *context, const uint8_t *bytes, size_t length, bool is_last) {
    (void)context;
    add(bytes, length);
    reader.story->requests[reader.story->count - 1].body_length += length;
    if (crpc_exchange_consume(reader.exchange, length, false) != CRPC_OK) abort();
    if (is_last) end_request(CRPC_FAULT_NONE);
}
static void on_broken(void *context, int error) {
    (void)context;
    if (error != CRPC_ERROR_PROTOCOL) abort();
    end_request(BODY_BROKE);
}
static void on_event(void *context) { (void)context; }
static void on_close(void *context, bool is_complete) {
    (void)context;
    (void)is_complete;
    reader.exchange = NULL;
}
static const crpc_server_callbacks callbacks = {
    .exchange = {
        .on_exchange = on_exchange, .on_exchange_body = on_body, .on_exchange_broken = on_broken,
        .on_exchange_writable = on_event, .on_exchange_deadline = on_event, .on_exchange_close = on_close}};

static void on_flush(crpc_chore *chore) {
    static uint8_t room[ROOM];
    (void)chore;
    if (!crpc_h1_prepare(reader.h1)) return;
    while (crpc_h1_produce(reader.h1, room, ROOM) > 0) continue;
    crpc_h1_conclude(reader.h1);
}

static void end_connection(void) {
    crpc_h1_tell_end(reader.h1);
    crpc_h1_end(reader.h1);
    free(reader.h1);
    reader.h1 = NULL;
}
static void on_close_chore(crpc_chore *chore) {
    (void)chore;
    end_connection();
}

// ---- Reading a connection ----

/// Feeds a piece, as far as the connection goes on.
static void feed(const uint8_t *bytes, size_t length) {
    size_t used = 0;
    for (int turns = 0; turns < INPUT_MAX; turns++) {
        if (reader.h1 != NULL && !crpc_h1_is_broken(reader.h1) && used < length) {
            size_t room = crpc_h1_read_room(reader.h1), count = length - used < room ? length - used : room;
            if (count > 0 && crpc_h1_feed(reader.h1, bytes + used, count)) (void)crpc_h1_note_fed(reader.h1);
            used += count;
        }
        crpc_turn_end(&reader.turn);
        bool is_still = crpc_link_is_empty(&reader.turn.flushes) && crpc_link_is_empty(&reader.turn.closes);
        if ((used == length || reader.h1 == NULL) && is_still) return;
    }
    abort();
}

static void read_connection(story *story, const uint8_t *bytes, size_t length, size_t piece) {
    crpc_limits limits;
    crpc_limits_default(&limits);
    limits.credit_max = INT32_MAX; // what tiny pieces cost is tested elsewhere
    reader.story = story;
    reader.h1 = calloc(1, sizeof *reader.h1);
    if (reader.h1 == NULL) abort();
    reader.h1->flush.run = on_flush;
    reader.h1->close.run = on_close_chore;
    if (crpc_h1_begin(reader.h1, &reader.service, &limits, NULL) != CRPC_OK) abort();
    crpc_h1_start(reader.h1, NULL, reader.turn.now_ns);
    story->length = story->count = 0;
    story->is_open = false;
    for (size_t at = 0; at < length && reader.h1 != NULL; at += piece) {
        size_t count = length - at < piece ? length - at : piece, before = story->count - story->is_open;
        uint8_t *exact = malloc(count); // what is read past its end is seen
        if (exact == NULL) abort();
        memcpy(exact, bytes + at, count);
        feed(exact, count);
        free(exact);
        for (size_t i = before; i < story->count - story->is_open; i++) story->requests[i].end = at + count;
    }
    if (story->is_open) story->count -= 1;
    if (reader.h1 != NULL) end_connection();
    crpc_turn_end(&reader.turn);
}

static void expect_same(unsigned number, const story *told, const uint8_t *bytes, size_t length, size_t piece) {
    static story other;
    read_connection(&other, bytes, length, piece);
    bool is_same = told->count == other.count;
    for (size_t i = 0; is_same && i < told->count; i++) {
        const request *one = &told->requests[i], *two = &other.requests[i];
        size_t one_length = one->method_length + one->target_length + one->body_length;
        is_same = one->method_length == two->method_length && one->target_length == two->target_length &&
                  one->body_length == two->body_length && one->fault == two->fault &&
                  memcmp(told->texts + one->begin, other.texts + two->begin, one_length) == 0;
    }
    if (is_same) return;
    fprintf(stderr, "connection %u is read otherwise in pieces of %zu bytes\n", number, piece);
    exit(1);
}

// ---- Printing ----

/// Visible ASCII.
static void print_string(const uint8_t *bytes, size_t length) {
    putchar('"');
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '"' || bytes[i] == '\\') putchar('\\');
        putchar(bytes[i]);
    }
    putchar('"');
}

static void print_story(const story *story) {
    printf("[");
    for (size_t i = 0; i < story->count; i++) {
        const request *request = &story->requests[i];
        const uint8_t *text = story->texts + request->begin;
        printf(i > 0 ? ",{\"method\":" : "{\"method\":");
        print_string(text, request->method_length);
        printf(",\"target\":");
        print_string(text + request->method_length, request->target_length);
        printf(",\"body\":\"");
        text += request->method_length + request->target_length;
        for (size_t k = 0; k < request->body_length; k++) printf("%02x", text[k]);
        printf("\",\"fault\":%d,\"end\":%zu}", request->fault, request->end);
    }
    printf("]\n");
}

int main(void) {
    static uint8_t input[INPUT_MAX];
    static story told;
    crpc_turn_init(&reader.turn);
    reader.turn.now_ns = 1000000000;
    reader.turn.scratch = malloc(CRPC_SCRATCH);
    if (reader.turn.scratch == NULL ||
        crpc_service_begin(&reader.service, &reader.turn, NULL, 0, &callbacks, &reader) != CRPC_OK)
        return 2;
    uint8_t head[4];
    for (unsigned number = 0; fread(head, 1, sizeof head, stdin) == sizeof head; number++) {
        size_t length = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
        if (length == 0 || length > INPUT_MAX || fread(input, 1, length, stdin) != length) return 2;
        read_connection(&told, input, length, 1);
        expect_same(number, &told, input, length, length);
        expect_same(number, &told, input, length, 2 + number % 61);
        print_story(&told);
    }
    crpc_service_end(&reader.service);
    free(reader.turn.scratch);
    return 0;
}
