#include "fuzz.h"
#include "http1/http1_connection.h"

// A client's bytes into a server's connection of HTTP/1.x, whose handlers answer in every way there is.
//
// The input: a byte for the limits, then steps of a byte each. Its lower three bits say what is done, the upper five how:
// bytes that follow are sent, a head from below is, the handler does something, time passes, the client ends its half, the
// server drains, the socket is full or is not any more.

enum { SEND, SEND_LONG, SEND_HEAD, HANDLE, HANDLE_ALSO, WAIT, END, TURN };

static const char *const heads[] = {
    "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n",
    "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HEAD /c HTTP/1.1\r\nHost: x\r\nTE: trailers\r\n\r\n",
    "POST /d HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n",
    "GET /e HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "GET http://x/f HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "5\r\nhello\r\n0\r\n\r\n",
    "7fffffff\r\n",
    "\r\n",
};
enum { HEADS = sizeof heads / sizeof heads[0], ROOM = 65536 + 32768, BYTES_MAX = 300000 };

typedef struct call {
    crpc_exchange *exchange;
    crpc_handlers *handlers; // NULL once its handler has ended
    size_t unread_bytes;
    bool is_whole, is_broken, is_finished;
} call;

static crpc_turn turn;
static crpc_service service;
static crpc_h1 *h1;
static call *current; // the exchange that is there
static bool is_full, answers_at_once, is_busy;
static size_t room;

// ---- The server ----

static void end_handler(call *call) {
    if (call->handlers != NULL) crpc_handler_ended(call->handlers);
    call->handlers = NULL;
}

static void act(call *call, unsigned how) {
    uint8_t fields[64];
    crpc_entry entry = {(const uint8_t *)"x-field", (const uint8_t *)"value", 7, 5};
    size_t length = crpc_metadata_put(fields, &entry), size = (size_t)1 << (how >> 3 & 15);
    crpc_exchange *exchange = call->exchange;
    int error = CRPC_OK;
    switch (how & 7) {
    case 0: error = crpc_exchange_respond(exchange, how & 8 ? 204 : 200, fields, length, (const uint8_t *)heads, size % 60); break;
    case 1: error = crpc_exchange_send_head(exchange, 200, fields, length, how & 128 ? (int64_t)size : -1); break;
    case 2: error = crpc_exchange_send(exchange, fuzz_message(size, 'm'), CRPC_PREFIX_LENGTH, size); break;
    case 3: error = crpc_exchange_finish(exchange, fields, how & 8 ? length : 0); break;
    case 4:
        if (size > call->unread_bytes) size = call->unread_bytes;
        call->unread_bytes -= size;
        error = crpc_exchange_consume(exchange, size, (how & 128) != 0);
        break;
    case 5: error = crpc_exchange_set_deadline(exchange, how & 8 ? 0 : turn.now_ns + size * 100000); break;
    case 6: end_handler(call); break;
    case 7:
        if ((how & 24) == 0) crpc_exchange_set_last(exchange);
        if ((how & 24) == 8) crpc_exchange_release(exchange, size);
        if ((how & 24) == 16) crpc_exchange_set_body_deadline(exchange, how & 128 ? 0 : turn.now_ns + size * 100000);
        if ((how & 24) == 24) crpc_exchange_reset(exchange);
        break;
    }
    CHECK(error == CRPC_OK || error == CRPC_ERROR_CLOSED || error == CRPC_ERROR_ARGUMENT || error == CRPC_ERROR_LIMIT);
    if (crpc_exchange_is_writable(exchange)) CHECK(h1->output.queued_bytes < CRPC_STREAM_HIGH_WATER);
}

static void *on_exchange(void *server, void *peer, crpc_exchange *exchange, const crpc_exchange_head *head) {
    CHECK(server == &service && peer == &turn && current == NULL);
    size_t offset = 0;
    crpc_entry entry;
    while (crpc_metadata_next(head->fields, head->fields_length, &offset, &entry))
        for (size_t i = 0; i < entry.name_length; i++) CHECK(entry.name[i] > ' ' && !(entry.name[i] >= 'A' && entry.name[i] <= 'Z'));
    CHECK(offset == head->fields_length);
    CHECK(head->version == 10 || head->version == 11);
    CHECK(head->fault == CRPC_FAULT_NONE || head->is_last);
    CHECK(head->fault != CRPC_FAULT_NONE || (head->method_length > 0 && head->target_length > 0));
    CHECK(head->content_length >= -1 && (head->content_length <= 0 || !head->is_last));
    if (head->target_length == 2 && head->target[1] == 'r') return NULL;
    call *call = calloc(1, sizeof *call);
    CHECK(call != NULL);
    *call = (struct call){.exchange = exchange, .handlers = head->handlers, .is_whole = head->is_last};
    current = call;
    if (answers_at_once) act(call, 0);
    return call;
}

static void on_body(void *context, const uint8_t *bytes, size_t length, bool is_last) {
    call *call = context;
    CHECK(call == current && !call->is_whole && !call->is_broken && (length > 0 || is_last));
    uint8_t sum = 0;
    for (size_t i = 0; i < length; i++) sum = (uint8_t)(sum + bytes[i]); // that they can be read
    call->is_whole = is_last;
    call->unread_bytes += length;
    if (sum & 1) act(call, 4 | 12 << 3);
}

static void on_broken(void *context, int error) {
    call *call = context;
    CHECK(call == current && !call->is_whole && !call->is_broken);
    CHECK(error == CRPC_ERROR_PROTOCOL || error == CRPC_ERROR_TIMEOUT);
    call->is_broken = true;
    if (answers_at_once) (void)crpc_exchange_respond(call->exchange, 400, NULL, 0, NULL, 0);
}

static void on_event(void *context) { CHECK(context == current); }

static void on_close(void *context, bool is_complete) {
    call *call = context;
    CHECK(call == current);
    (void)is_complete;
    current = NULL;
    end_handler(call);
    free(call);
}

static const crpc_server_callbacks callbacks = {
    .exchange = {
        .on_exchange = on_exchange, .on_exchange_body = on_body, .on_exchange_broken = on_broken,
        .on_exchange_writable = on_event, .on_exchange_deadline = on_event, .on_exchange_close = on_close}};

// ---- What is below ----

static void on_idle(crpc_h1 *idle) {
    CHECK(idle == h1 && is_busy);
    is_busy = false;
}
static void on_busy(crpc_h1 *busy) {
    CHECK(busy == h1 && !is_busy);
    is_busy = true;
}
static const crpc_h1_below below = {.on_idle = on_idle, .on_busy = on_busy};

static void on_flush(crpc_chore *chore) {
    static uint8_t target[ROOM];
    (void)chore;
    if (is_full || !crpc_h1_prepare(h1)) return;
    ssize_t length;
    while ((length = crpc_h1_produce(h1, target, room)) > 0) CHECK((size_t)length <= room);
    CHECK(length == 0);
    crpc_h1_conclude(h1);
}

static void on_end(crpc_chore *chore) {
    (void)chore;
    crpc_h1_tell_end(h1);
    crpc_h1_end(h1);
    CHECK(h1->held_bytes == 0);
    free(h1);
    h1 = NULL;
}

static void run_turn(uint64_t ns) {
    turn.now_ns += ns;
    if (h1 != NULL && crpc_h1_next_ns(h1) <= turn.now_ns) crpc_h1_on_time(h1);
    for (int i = 0; i < 1000; i++) {
        crpc_turn_end(&turn);
        if (crpc_link_is_empty(&turn.flushes) && crpc_link_is_empty(&turn.closes)) return;
    }
    CHECK(false); // it has something to do for ever
}

static void feed(const uint8_t *bytes, size_t length) {
    while (h1 != NULL && length > 0) {
        size_t most = crpc_h1_read_room(h1), count = most < length ? most : length;
        if (count == 0 || !crpc_h1_note_readable(h1) || !crpc_h1_feed(h1, bytes, count)) return;
        CHECK(h1->waiting.length <= CRPC_H1_PIPELINED_MAX + CRPC_TARGET_MAX + h1->limits.header_bytes_max + 32);
        bytes += count;
        length -= count;
    }
    if (h1 != NULL) (void)crpc_h1_note_fed(h1);
}

static void step(fuzz_input *input) {
    static const uint64_t waits_ms[] = {1, 10, 499, 500, 1000, 9999, 10000, 60000};
    uint8_t what = fuzz_take_byte(input), how = what >> 3;
    const uint8_t *bytes;
    size_t length;
    switch (what & 7) {
    case SEND:
    case SEND_LONG:
        length = fuzz_take(input, (what & 7) == SEND ? how : 256 * (size_t)how, &bytes);
        feed(bytes, length);
        break;
    case SEND_HEAD: feed((const uint8_t *)heads[how % HEADS], strlen(heads[how % HEADS])); break;
    case HANDLE:
    case HANDLE_ALSO:
        if (current != NULL) act(current, (unsigned)(how << 3 | fuzz_take_byte(input)));
        break;
    case WAIT: run_turn(waits_ms[how & 7] * 1000000); break;
    case END:
        if (how == 0 && h1 != NULL) (void)crpc_h1_note_end(h1);
        if (how == 1 && h1 != NULL) crpc_h1_drain(h1);
        if (how == 2 || how == 3) is_full = how == 2;
        if (how == 3 && h1 != NULL) crpc_h1_mark(h1);
        if (how == 4) room = 21;
        if (how == 5) answers_at_once = !answers_at_once;
        break;
    default: run_turn(0); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static uint8_t scratch[CRPC_SCRATCH];
    fuzz_input input = {bytes, length};
    uint8_t choice = fuzz_take_byte(&input);
    turn = (crpc_turn){.now_ns = 1000000000, .scratch = scratch};
    crpc_turn_init(&turn);
    crpc_limits limits;
    crpc_limits_default(&limits);
    if (choice & 1) limits.header_bytes_max = 100;
    if (choice & 2) limits.stream_window_bytes = 50;
    if (choice & 4) limits.buffered_bytes_max = 5000;
    if (choice & 8) limits.requests_per_connection_max = 3;
    if (choice & 16) limits.credit_max = 20;
    is_full = is_busy = false;
    answers_at_once = (choice & 32) != 0;
    room = ROOM;
    CHECK(crpc_service_begin(&service, &turn, NULL, 0, &callbacks, &service) == CRPC_OK);
    if (choice & 64) service.held_bytes_max = 10000;
    h1 = calloc(1, sizeof *h1);
    CHECK(h1 != NULL);
    h1->flush.run = on_flush;
    h1->close.run = on_end;
    CHECK(crpc_h1_begin(h1, &service, &limits, &below) == CRPC_OK);
    crpc_h1_start(h1, &turn, turn.now_ns);
    while (input.length > 0 && h1 != NULL) step(&input);
    if (h1 != NULL) crpc_h1_break(h1, CRPC_ERROR_CLOSED);
    run_turn(0);
    CHECK(h1 == NULL && current == NULL);
    CHECK(turn.stats.held_bytes == 0 && turn.stats.handlers == 0 && service.call_count == 0);
    CHECK(turn.stats.server_streams_opened == turn.stats.server_streams_closed);
    crpc_service_end(&service);
    crpc_turn_end_residents(&turn);
    return 0;
}
