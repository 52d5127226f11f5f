/// A connection that carries gRPC calls: HTTP/2 with calls on its streams, without a socket.
///
/// Bytes in, bytes out, and the next moment at which it wants to be asked. What carries it, a socket (transport/driver.h) or
/// a test, does in each turn:
///
///     crpc_connection_feed      for bytes that came, between _note_readable and _note_fed
///     crpc_connection_on_time   at crpc_connection_next_ns
///     crpc_connection_prepare, crpc_connection_produce until it gives 0, crpc_connection_conclude
///                               where its `h2.flush` chore was asked for
///     crpc_connection_tell_end, crpc_connection_end
///                               where its `h2.close` chore was asked for
///
/// Ownership: part of what carries it; it does not move. Turn, service and callbacks outlive it. Thread: that of its turn.
/// Callbacks: from inside of all of these but begin and next_ns. None from inside of functions that its user calls
/// (`crpc_stream_send_message` and the like); what those cause is reported in `prepare`. None after `tell_end`.
#ifndef CRPC_GRPC_CONNECTION_H
#define CRPC_GRPC_CONNECTION_H

#include "crpc_connection.h"
#include "crpc_wire.h"
#include "http/handlers.h"
#include "http/service.h"
#include "http2/http2_connection.h"
#include "loop/timers.h"

/// What a server and a client do each in its way. `above` is what HTTP/2 tells (http2/http2_connection.h).
typedef struct crpc_role {
    crpc_h2_above above;
    void (*tell_message)(crpc_stream *stream, const crpc_message *message, bool is_last);
    void (*tell_writable)(crpc_stream *stream);
    void (*tell_deadline)(crpc_stream *stream);
    /// Tells `call`, which the stream has no more, its end.
    void (*tell_close)(crpc_stream *stream, void *call, uint32_t error);
    /// Ends a call whose message cannot be taken: a constant text says why.
    void (*refuse_message)(crpc_stream *stream, int status, const char *text);
} crpc_role;

struct crpc_connection {
    crpc_h2 h2;
    const crpc_role *role;
    crpc_service *service;                  // server's, else NULL
    const crpc_client_callbacks *callbacks; // client's, else NULL
    void *context;                          // server: the peer that on_open returned; client: the client
    crpc_timers deadlines;                  // of its calls
    crpc_handlers *handlers;                // server: of its calls
    struct {                                // what the peer makes us hold (grpc/held_calls.h)
        size_t bytes;
        size_t unreleased_bytes; // that came on streams, and were not given back to their windows
        size_t withheld_bytes;   // of these: not given back to the window of the connection
        uint64_t much_ns;        // since when much is held, as the last sweep saw it; 0 if not
    } held;
    struct {                     // what is to be reported to its user, or was
        bool has_opened;         // on_open has fired
        bool has_drained;        // on_draining has fired
        bool owes_writable;      // a stream's queue fell under its mark
        bool owes_closes;        // streams were reset here, and their calls not told yet
    } told;
    size_t dropped_bytes;        // of the requests of streams that are open, as exchanges count them
    bool is_encrypted;
    uint8_t unrepeated_sent;     // client: bits of `crpc_unrepeated_field` of which requests had one
    uint8_t last_timeout[CRPC_TIMEOUT_LENGTH_MAX]; // client: that of the last request
    size_t last_timeout_length;
    char *authority;             // client
    size_t authority_length;
};

static inline crpc_connection *crpc_connection_of(crpc_h2 *h2) { return CRPC_CONTAINER(h2, crpc_connection, h2); }

/// Begins a server's connection (server_calls.c) in memory of zeros. The chores of `h2` are set by the caller. Errors: MEMORY; then nothing
/// is held.
int crpc_connection_begin_server(
    crpc_connection *connection, crpc_service *service, const crpc_limits *limits, const crpc_h2_below *below,
    bool is_encrypted);
/// The same for a client's (client_calls.c). `authority` is copied.
int crpc_connection_begin_client(
    crpc_connection *connection, crpc_turn *turn, const crpc_limits *limits, const crpc_client_callbacks *callbacks,
    void *context, const char *authority, bool is_encrypted);
/// What carries it is open. A server's user learns of the connection now; a client's once the server's SETTINGS came.
void crpc_connection_start(crpc_connection *connection);
/// Something came, or is to be read: once before the first `feed` of a turn. False if the connection cannot go on.
static inline bool crpc_connection_note_readable(crpc_connection *connection) {
    return crpc_h2_note_readable(&connection->h2);
}
/// Takes bytes that came, at most CRPC_READ_BUFFER. False as above.
static inline bool crpc_connection_feed(crpc_connection *connection, const uint8_t *bytes, size_t length) {
    return crpc_h2_feed(&connection->h2, bytes, length);
}
/// After the last `feed` of a turn: asks to be flushed, if there is something to send. False as above.
bool crpc_connection_note_fed(crpc_connection *connection);
/// Before bytes are taken: tells what is owed to its calls and its user. False if there is nothing to be sent.
bool crpc_connection_prepare(crpc_connection *connection);
/// As `crpc_h2_produce`; then tells calls that they may send more.
ssize_t crpc_connection_produce(crpc_connection *connection, uint8_t *target, size_t room);
/// After the last bytes that were taken: asks to be flushed again, or ends the connection if nothing is left to do.
void crpc_connection_conclude(crpc_connection *connection);
/// When it wants to be asked; UINT64_MAX for never.
static inline uint64_t crpc_connection_next_ns(const crpc_connection *connection) {
    uint64_t own = crpc_h2_next_ns(&connection->h2), calls = crpc_timers_next_ns(&connection->deadlines);
    return own < calls ? own : calls;
}
void crpc_connection_on_time(crpc_connection *connection);
/// Ends its calls with what the connection ended with, then tells its user, then frees what it holds.
void crpc_connection_tell_end(crpc_connection *connection);
void crpc_connection_end(crpc_connection *connection);

#endif
