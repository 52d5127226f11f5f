#include "h1_scene.h"

#include "crpc_metadata.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 65536 + 32768, TURNS_MAX = 10000 };

static void *must(void *memory) {
    if (memory == NULL) crpc_die("no memory for a test");
    return memory;
}

static char *text_of(const uint8_t *bytes, size_t length) {
    char *text = must(malloc(length + 1));
    if (length > 0) memcpy(text, bytes, length);
    text[length] = 0;
    return text;
}

static void append(uint8_t **bytes, size_t *count, const void *more, size_t length) {
    if (length == 0) return;
    *bytes = must(realloc(*bytes, *count + length));
    memcpy(*bytes + *count, more, length);
    *count += length;
}

static h1_scene *scene_of(crpc_h1 *h1) { return CRPC_CONTAINER(h1->turn, h1_scene, turn); }

// ---- The server ----

int h1_answer(h1_told *told, const char *body) {
    return crpc_exchange_respond(told->exchange, 200, NULL, 0, (const uint8_t *)body, strlen(body));
}

void h1_handler_ended(h1_told *told) {
    if (told->handlers != NULL) crpc_handler_ended(told->handlers);
    told->handlers = NULL;
}

static void answer(h1_told *told) {
    char body[256];
    int length = snprintf(body, sizeof body, "%s %.100s %zu", told->method, told->target, told->body_length);
    (void)length;
    (void)h1_answer(told, body);
}

static void *on_exchange(void *server, void *peer, crpc_exchange *exchange, const crpc_exchange_head *head) {
    h1_scene *scene = server;
    EXPECT(peer == &scene->sent);
    if (scene->told_count > 0) EXPECT(scene->told[scene->told_count - 1]->exchange == NULL);
    h1_told *told = must(calloc(1, sizeof *told));
    scene->told = must(realloc(scene->told, (scene->told_count + 1) * sizeof *scene->told));
    scene->told[scene->told_count++] = told;
    told->method = text_of(head->method, head->method_length);
    told->target = text_of(head->target, head->target_length);
    told->authority = text_of(head->authority, head->authority_length);
    told->version = head->version;
    told->fault = head->fault;
    told->content_length = head->content_length;
    told->is_whole = head->is_last;
    crpc_entry entry;
    size_t offset = 0, fields_length = 0;
    uint8_t *fields = NULL;
    while (crpc_metadata_next(head->fields, head->fields_length, &offset, &entry)) {
        append(&fields, &fields_length, entry.name, entry.name_length);
        append(&fields, &fields_length, ": ", 2);
        append(&fields, &fields_length, entry.value, entry.value_length);
        append(&fields, &fields_length, "\n", 1);
    }
    EXPECT(offset == head->fields_length);
    append(&fields, &fields_length, "", 1);
    told->fields = (char *)fields;
    if (scene->answering == H1_REFUSES) return NULL;
    told->exchange = exchange;
    told->handlers = head->handlers;
    if (scene->answering == H1_AT_ONCE || (scene->answering == H1_AT_END && head->is_last)) answer(told);
    return told;
}

static h1_scene *scene_of_told(const h1_told *told) { return scene_of(crpc_h1_of(told->exchange)); }

static void on_body(void *context, const uint8_t *bytes, size_t length, bool is_last) {
    h1_told *told = context;
    h1_scene *scene = scene_of_told(told);
    EXPECT(!told->is_whole && told->broken == 0 && told->closes == 0);
    EXPECT(length > 0 || is_last);
    append(&told->body, &told->body_length, bytes, length);
    told->body_pieces += 1;
    told->is_whole = is_last;
    if (!scene->reads_slowly) (void)crpc_exchange_consume(told->exchange, length, scene->keeps);
    if (is_last && scene->answering == H1_AT_END) answer(told);
}

static void on_broken(void *context, int error) {
    h1_told *told = context;
    EXPECT(!told->is_whole && told->broken == 0 && told->closes == 0);
    told->broken = error;
    if (scene_of_told(told)->answering == H1_AT_END)
        (void)crpc_exchange_respond(told->exchange, error == CRPC_ERROR_TIMEOUT ? 408 : 400, NULL, 0, NULL, 0);
}

static void on_writable(void *context) { ((h1_told *)context)->writables += 1; }
static void on_deadline(void *context) { ((h1_told *)context)->deadlines += 1; }

static void on_close(void *context, bool is_complete) {
    h1_told *told = context;
    EXPECT_EQUAL(told->closes, 0);
    h1_scene *scene = scene_of_told(told);
    told->closes += 1;
    told->is_complete = is_complete;
    told->exchange = NULL;
    if (!scene->keeps_handlers) h1_handler_ended(told);
}

static const crpc_server_callbacks callbacks = {
    .exchange = {
        .on_exchange = on_exchange, .on_exchange_body = on_body, .on_exchange_broken = on_broken,
        .on_exchange_writable = on_writable, .on_exchange_deadline = on_deadline, .on_exchange_close = on_close}};

// ---- What is below ----

static void on_ready(crpc_h1 *h1) { scene_of(h1)->ready += 1; }
static void on_idle(crpc_h1 *h1) { scene_of(h1)->idle += 1; }
static void on_busy(crpc_h1 *h1) { scene_of(h1)->busy += 1; }
static const crpc_h1_below below = {.on_ready = on_ready, .on_idle = on_idle, .on_busy = on_busy};

static void on_flush(crpc_chore *chore) {
    static uint8_t buffer[ROOM];
    crpc_h1 *h1 = CRPC_CONTAINER(chore, crpc_h1, flush);
    h1_scene *scene = scene_of(h1);
    if (scene->is_socket_full || !crpc_h1_prepare(h1)) return;
    size_t room = scene->room > 0 ? scene->room : ROOM;
    for (;;) {
        ssize_t length = crpc_h1_produce(h1, buffer, room);
        EXPECT(length <= (ssize_t)room);
        if (length < 0) crpc_h1_break(h1, (int)length);
        if (length <= 0) break;
        append(&scene->sent, &scene->sent_length, buffer, (size_t)length);
    }
    crpc_h1_conclude(h1);
}

static void end_connection(h1_scene *scene) {
    crpc_h1 *h1 = scene->h1;
    crpc_h1_tell_end(h1);
    scene->error = h1->error;
    scene->left_rest = h1->leaves_rest;
    crpc_h1_end(h1);
    EXPECT_EQUAL(h1->held_bytes, 0);
    crpc_count(&scene->turn.stats.server_connections_closed, 1);
    scene->service.connection_count -= 1;
    free(h1); // exactly as long as it is: what goes past its end is seen
    scene->h1 = NULL;
}

static void on_close_chore(crpc_chore *chore) { end_connection(scene_of(CRPC_CONTAINER(chore, crpc_h1, close))); }

int h1_scene_reconnect(h1_scene *scene, const crpc_limits *limits) {
    crpc_limits defaults;
    crpc_limits_default(&defaults);
    crpc_h1 *h1 = must(calloc(1, sizeof *h1));
    h1->flush.run = on_flush;
    h1->close.run = on_close_chore;
    int error = crpc_h1_begin(h1, &scene->service, limits == NULL ? &defaults : limits, &below);
    if (error != CRPC_OK) {
        free(h1);
        return error;
    }
    scene->h1 = h1;
    scene->unread_length = 0;
    scene->service.connection_count += 1;
    crpc_count(&scene->turn.stats.server_connections_opened, 1);
    crpc_h1_start(h1, &scene->sent, scene->turn.now_ns);
    return CRPC_OK;
}

int h1_scene_begin(h1_scene *scene, const crpc_limits *limits) {
    *scene = (h1_scene){.turn = {.now_ns = 1000000000}};
    crpc_turn_init(&scene->turn);
    scene->turn.scratch = must(malloc(CRPC_SCRATCH));
    int error = crpc_service_begin(&scene->service, &scene->turn, NULL, 0, &callbacks, scene);
    return error == CRPC_OK ? h1_scene_reconnect(scene, limits) : error;
}

/// Feeds what waits, as far as the connection wants it.
static void pump(h1_scene *scene) {
    crpc_h1 *h1 = scene->h1;
    if (h1 == NULL || scene->unread_length == 0 || !crpc_h1_note_readable(h1)) return;
    size_t used = 0, room;
    bool goes_on = true;
    while (goes_on && used < scene->unread_length && (room = crpc_h1_read_room(h1)) > 0) {
        EXPECT(room <= CRPC_READ_BUFFER);
        size_t count = scene->unread_length - used < room ? scene->unread_length - used : room;
        uint8_t *exact = must(malloc(count)); // exactly as long as it is: what is read past its end is seen
        memcpy(exact, scene->unread + used, count);
        goes_on = crpc_h1_feed(h1, exact, count);
        free(exact);
        used += count;
    }
    scene->unread_length -= used;
    if (scene->unread_length > 0) memmove(scene->unread, scene->unread + used, scene->unread_length);
    if (goes_on) (void)crpc_h1_note_fed(h1);
}

void h1_scene_feed(h1_scene *scene, const void *bytes, size_t length) {
    if (scene->h1 == NULL) return;
    append(&scene->unread, &scene->unread_length, bytes, length);
    pump(scene);
}

void h1_scene_say(h1_scene *scene, const char *text) { h1_scene_feed(scene, text, strlen(text)); }

void h1_scene_turn(h1_scene *scene, uint64_t ms) {
    scene->turn.now_ns += ms * 1000000;
    if (scene->h1 != NULL && crpc_h1_next_ns(scene->h1) <= scene->turn.now_ns) {
        crpc_h1_on_time(scene->h1);
        if (!crpc_h1_is_broken(scene->h1)) EXPECT(crpc_h1_next_ns(scene->h1) > scene->turn.now_ns);
    }
    int turns = 0;
    for (; turns < TURNS_MAX; turns++) {
        crpc_turn_end(&scene->turn);
        size_t unread = scene->unread_length;
        pump(scene);
        if (crpc_link_is_empty(&scene->turn.flushes) && crpc_link_is_empty(&scene->turn.closes) &&
            unread == scene->unread_length)
            break;
    }
    EXPECT(turns < TURNS_MAX); // else it has something to do for ever
}

void h1_scene_ask(h1_scene *scene, const char *text) {
    h1_scene_say(scene, text);
    h1_scene_turn(scene, 0);
}

void h1_scene_half_close(h1_scene *scene) {
    if (scene->h1 != NULL) (void)crpc_h1_note_end(scene->h1);
    h1_scene_turn(scene, 0);
}

void h1_scene_forget_sent(h1_scene *scene) { scene->sent_length = 0; }

static void forget(h1_told *told) {
    h1_handler_ended(told);
    free(told->method);
    free(told->target);
    free(told->authority);
    free(told->fields);
    free(told->body);
    free(told);
}

void h1_scene_end(h1_scene *scene) {
    if (scene->h1 != NULL) crpc_h1_break(scene->h1, CRPC_ERROR_CLOSED);
    crpc_turn_end(&scene->turn);
    EXPECT(scene->h1 == NULL);
    EXPECT_EQUAL(scene->turn.stats.held_bytes, 0);
    EXPECT_EQUAL(scene->turn.stats.server_streams_opened, scene->turn.stats.server_streams_closed);
    EXPECT_EQUAL(scene->service.call_count, 0);
    for (size_t i = 0; i < scene->told_count; i++) {
        if (scene->answering != H1_REFUSES) EXPECT_EQUAL(scene->told[i]->closes, 1);
        forget(scene->told[i]);
    }
    EXPECT_EQUAL(scene->service.handler_count, 0);
    EXPECT_EQUAL(scene->turn.stats.handlers, 0);
    crpc_service_end(&scene->service);
    crpc_turn_end_residents(&scene->turn);
    free(scene->told);
    free(scene->sent);
    free(scene->unread);
    free(scene->turn.scratch);
}

// ---- Looking ----

h1_told *h1_scene_last(h1_scene *scene) {
    if (scene->told_count == 0) crpc_die("no request was reported");
    return scene->told[scene->told_count - 1];
}

static const uint8_t *find(const h1_scene *scene, size_t from, const char *text) {
    if (from >= scene->sent_length) return NULL;
    return memmem(scene->sent + from, scene->sent_length - from, text, strlen(text));
}

bool h1_has_sent(const h1_scene *scene, const char *text) { return find(scene, 0, text) != NULL; }

size_t h1_count_answers(const h1_scene *scene) {
    size_t count = 0;
    for (const uint8_t *at = find(scene, 0, "HTTP/1.1 "); at != NULL; count++)
        at = find(scene, (size_t)(at - scene->sent) + 1, "HTTP/1.1 ");
    return count;
}

size_t h1_pack(uint8_t *target, const char *fields) {
    size_t length = 0;
    while (*fields != 0) {
        const char *colon = strchr(fields, ':'), *end = strchr(fields, '\n');
        crpc_entry entry = {
            (const uint8_t *)fields, (const uint8_t *)colon + 2, (size_t)(colon - fields), (size_t)(end - colon - 2)};
        length += crpc_metadata_put(target + length, &entry);
        fields = end + 1;
    }
    return length;
}
