/// Runs a server's connection of HTTP/1.x in memory, without a socket or a clock, and is its server: it records the callbacks
/// of each request, and responds as the test asks it to.
#ifndef CRPC_TEST_H1_SCENE_H
#define CRPC_TEST_H1_SCENE_H

#include "http1/http1_connection.h"
#include "http1/request.h"

/// The record of a request's callbacks. Texts are copies that end with a zero.
typedef struct h1_told {
    char *method, *target, *authority;
    char *fields;              // "name: value\n" for each
    uint32_t version;
    crpc_fault fault;
    int64_t content_length;
    uint8_t *body;
    size_t body_length;
    unsigned body_pieces;
    bool is_whole;             // its end was reported
    int broken;                // the error of on_exchange_broken
    unsigned deadlines, writables, closes;
    bool is_complete;
    crpc_exchange *exchange;   // NULL once it has ended
    struct crpc_handlers *handlers; // NULL once the handler has ended
} h1_told;

/// When the server answers, with 200 and what the request was.
typedef enum h1_answering {
    H1_AT_END,  // once the request is whole
    H1_AT_ONCE, // with its head
    H1_BY_HAND, // the test does
    H1_REFUSES, // on_exchange returns NULL
} h1_answering;

typedef struct h1_scene {
    crpc_turn turn;
    crpc_service service;
    crpc_h1 *h1;               // NULL once it has ended
    int error;                 // with which it did
    bool left_rest;            // when it did
    h1_answering answering;
    bool keeps, reads_slowly;  // bytes of bodies are kept; or not consumed at all
    bool keeps_handlers;       // handlers run on after their exchanges
    bool is_socket_full;       // nothing is taken from it
    h1_told **told;            // in the order of the requests
    size_t told_count;
    uint8_t *sent;             // what it has produced, and nobody took
    size_t sent_length;
    uint8_t *unread;           // what came, and it did not want to read yet
    size_t unread_length;
    size_t room;               // of each produce; 0 for as much as a driver has
    unsigned ready, idle, busy;
} h1_scene;

/// Begins a connection that is open, at a time that is not 0. NULL for the limits' defaults. Errors: MEMORY.
int h1_scene_begin(h1_scene *scene, const crpc_limits *limits);
/// Another connection of the same service, once the last one has ended. Errors: MEMORY.
int h1_scene_reconnect(h1_scene *scene, const crpc_limits *limits);
/// Brings bytes, as far as the connection wants to read; the rest waits as in a socket.
void h1_scene_feed(h1_scene *scene, const void *bytes, size_t length);
/// The same for a text.
void h1_scene_say(h1_scene *scene, const char *text);
/// Lets so much time pass, does what is due, and flushes until nothing is left to do.
void h1_scene_turn(h1_scene *scene, uint64_t ms);
/// Says, and runs turns.
void h1_scene_ask(h1_scene *scene, const char *text);
/// The peer sends no more.
void h1_scene_half_close(h1_scene *scene);
/// Drops what was produced.
void h1_scene_forget_sent(h1_scene *scene);
/// Ends the connection, if it is there, then all. Checks that nothing is held or counted any more, and that each exchange was
/// closed once.
void h1_scene_end(h1_scene *scene);

/// The last reported request.
h1_told *h1_scene_last(h1_scene *scene);
/// Answers by hand: 200 with a body.
int h1_answer(h1_told *told, const char *body);
/// The handler of a request has ended.
void h1_handler_ended(h1_told *told);
/// Whether what was produced begins with a text, and whether it has one in it.
bool h1_has_sent(const h1_scene *scene, const char *text);
/// How many answers were produced.
size_t h1_count_answers(const h1_scene *scene);
/// Packs fields: "name: value\n" for each. The length; `target` has room.
size_t h1_pack(uint8_t *target, const char *fields);

#endif
