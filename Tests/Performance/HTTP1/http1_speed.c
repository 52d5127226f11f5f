/// What HTTP/1.x costs in this layer alone, without sockets: a head is read, and a request goes through a connection, from its
/// bytes to those of its answer. Prints nanoseconds for each; run.sh builds and runs it.
#include "crpc_metadata.h"
#include "http1/http1_connection.h"
#include "http1/head.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7, TIMES = 200000, TOKEN_LENGTH = 700, ROOM = 65536 + 32768 };

static crpc_turn turn;
static crpc_service service;
static uint8_t fields[512];
static size_t fields_length;
static uint8_t room[ROOM];
static size_t produced;

static double now_ns(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *on_exchange(void *server, void *peer, crpc_exchange *exchange, const crpc_exchange_head *head) {
    (void)peer;
    static const char body[] = "{\"user_id\":\"0191e0a2-3f5b-7c44-9a3e-6d1f2b8c4e5a\",\"name\":\"Ada\"}";
    if (head->fault != CRPC_FAULT_NONE) abort();
    crpc_handler_ended(head->handlers); // allowed before the exchange's end
    if (crpc_exchange_respond(exchange, 200, fields, fields_length, (const uint8_t *)body, sizeof body - 1) != CRPC_OK)
        abort();
    return server;
}
static void on_close(void *context, bool is_complete) {
    (void)context;
    if (!is_complete) abort();
}
static const crpc_server_callbacks callbacks = {
    .exchange = {.on_exchange = on_exchange, .on_exchange_close = on_close}};

static void on_flush(crpc_chore *chore) {
    crpc_h1 *h1 = CRPC_CONTAINER(chore, crpc_h1, flush);
    if (!crpc_h1_prepare(h1)) abort();
    produced += (size_t)crpc_h1_produce(h1, room, sizeof room);
    crpc_h1_conclude(h1);
}
static void on_end(crpc_chore *chore) {
    (void)chore;
    abort();
}

static void add(const char *name, const char *value) {
    crpc_entry entry = {(const uint8_t *)name, (const uint8_t *)value, strlen(name), strlen(value)};
    fields_length += crpc_metadata_put(fields + fields_length, &entry);
}

static double least(double a, double b) { return a < b ? a : b; }

int main(void) {
    char request[2048], token[TOKEN_LENGTH + 1] = "";
    for (int i = 0; i < TOKEN_LENGTH; i++) token[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"[i * 37 % 64];
    int length = snprintf(
        request, sizeof request,
        "GET /me HTTP/1.1\r\nHost: api.example.org\r\nUser-Agent: Vestibule/1.0 CFNetwork/1490 Darwin/23.2.0\r\n"
        "Accept: application/json\r\nAccept-Encoding: gzip, deflate, br\r\nAccept-Language: en-GB,en;q=0.9\r\n"
        "Authorization: Bearer %s\r\n\r\n", token);
    add("content-type", "application/json");
    add("x-request-id", "0191e0a2-3f5b-7c44-9a3e-6d1f2b8c4e5a");
    add("cache-control", "no-store");
    add("x-content-type-options", "nosniff");
    add("vary", "origin");
    crpc_turn_init(&turn);
    turn.scratch = malloc(CRPC_SCRATCH);
    turn.now_ns = crpc_clock_ns();
    crpc_limits limits;
    crpc_limits_default(&limits);
    crpc_h1 *h1 = calloc(1, sizeof *h1);
    if (turn.scratch == NULL || h1 == NULL ||
        crpc_service_begin(&service, &turn, NULL, 0, &callbacks, &service) != CRPC_OK)
        return 1;
    h1->flush.run = on_flush;
    h1->close.run = on_end;
    if (crpc_h1_begin(h1, &service, &limits, NULL) != CRPC_OK) return 1;
    crpc_h1_start(h1, &service, turn.now_ns);

    double reading = 1e9, whole = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        crpc_h1_head_limits head_limits = {limits.header_bytes_max, limits.header_fields_max};
        crpc_h1_head head;
        double begin = now_ns();
        for (int i = 0; i < TIMES; i++)
            if (crpc_h1_read_head(&head_limits, (const uint8_t *)request, (size_t)length, turn.scratch, &head) !=
                CRPC_H1_WHOLE)
                return 1;
        reading = least(reading, (now_ns() - begin) / TIMES);
        begin = now_ns();
        for (int i = 0; i < TIMES; i++) {
            if (!crpc_h1_note_readable(h1) || !crpc_h1_feed(h1, (const uint8_t *)request, (size_t)length)) return 1;
            if (!crpc_h1_note_fed(h1)) return 1;
            crpc_turn_end(&turn);
        }
        whole = least(whole, (now_ns() - begin) / TIMES);
    }
    printf("a head of %d bytes, 6 fields: %.0f ns\n", length, reading);
    printf("a request and its answer of %zu bytes: %.0f ns, of which %.0f are not the head's\n",
           produced / ((size_t)ROUNDS * TIMES), whole, whole - reading);
    printf("a connection: %zu bytes\n", sizeof *h1);
    crpc_h1_tell_end(h1);
    crpc_h1_end(h1);
    crpc_service_end(&service);
    free(h1);
    free(turn.scratch);
    return 0;
}
