/// The callbacks of a server about its connections, and what it owes for each handler.
#ifndef CRPC_SERVER_H
#define CRPC_SERVER_H

#include "crpc_exchange.h"

/// The handlers of one connection's calls and exchanges that run.
typedef struct crpc_handlers crpc_handlers;
struct crpc_connection;
struct crpc_message;
struct crpc_request;
struct crpc_stream;

/// A server's view of its connections, and of the calls and exchanges on them.
typedef struct crpc_server_callbacks {
    /// A connection was accepted, and it is known what it speaks. Returns what calls and exchanges on it get as `peer`. Of one
    /// that speaks HTTP/1.x only who is at its other end may be asked (crpc_connect.h), and whether it is encrypted.
    void *(*on_open)(void *server, struct crpc_connection *connection);
    /// The connection has ended; `peer` is not used again.
    void (*on_connection_close)(void *server, void *peer);
    /// The listener is draining and has no connection any more. May be NULL. Not the place to free the listener.
    void (*on_empty)(void *server);
    /// A call of a registered method began. Returns the call's context, and owes `crpc_handler_ended` once for it; NULL
    /// refuses the call with RESOURCE_EXHAUSTED, and owes nothing.
    void *(*on_call)(void *server, void *peer, struct crpc_stream *stream, const struct crpc_request *request);
    /// A message. Its bytes are valid during the callback only; a compressed one is for `crpc_gzip_inflate`. `is_last`:
    /// END_STREAM came with it, and `on_half_close` does not fire.
    void (*on_message)(void *call, const struct crpc_message *message, bool is_last);
    /// END_STREAM came: the peer sends nothing more.
    void (*on_half_close)(void *call);
    /// The stream's queue fell under its low-water mark after it had been over the high one.
    void (*on_writable)(void *call);
    /// The call's deadline passed. The stream is still open: the server answers as it sees fit.
    void (*on_deadline)(void *call);
    /// The stream has ended: `error` is NO_ERROR (0) when both halves ended well, or the HTTP/2 error code with which
    /// it was reset, or CANCEL when the connection ended. Last callback of the call.
    void (*on_close)(void *call, uint32_t error);
    /// The callbacks about requests that are no gRPC calls.
    crpc_exchange_callbacks exchange;
} crpc_server_callbacks;

/// Says that what `on_call` or `on_exchange` began has ended, where it returned a context: nothing runs for it any more.
/// Exactly once for each, before or after the last callback of the call or exchange, also after its connection and listener
/// have ended, and after the loop was freed. Until then it counts as a handler that runs (`streams_max`, `calls_max`). From
/// inside any callback, or outside. Loop thread; after the loop's end by one thread at a time.
void crpc_handler_ended(crpc_handlers *handlers);

#endif
