/// One HTTP/2 connection that carries gRPC calls, as server or as client.
///
/// A peer that ends its sending half (a FIN, or TLS's close_notify) ends the connection, and with it the calls that it still
/// waits for: in HTTP/2 nobody half-closes a connection.
///
/// A client's connects, then both sides shake hands (TLS), then it is open; at the end it drains (no new calls, those there
/// finish) and closes. Any failure closes it. When it closes each open stream gets its `on_close`, then the connection its
/// own, then it is freed: a pointer to it is dead from there on.
#ifndef CRPC_CONNECTION_H
#define CRPC_CONNECTION_H

#include "crpc_limits.h"
#include "crpc_stream.h"

typedef struct crpc_connection crpc_connection;

/// Takes no more calls, lets those there finish, closes. A server tells the peer so at once (GOAWAY twice with a round
/// trip between them, RFC 9113 section 6.8), or once the handshake is done; a client when its last call has ended, since
/// some may wait to go out. A client's `on_draining` follows in this turn or the next.
void crpc_connection_drain(crpc_connection *connection);

/// Closes at the end of this turn; calls there end with `on_close`.
void crpc_connection_close(crpc_connection *connection);

/// Whether a client's connection takes another call now: not draining, and below the peer's stream limit.
bool crpc_connection_has_room(const crpc_connection *connection);

/// Client: whether the server said GOAWAY with "too_many_pings": the next connection to it must ask less often (gRFC A8
/// says half as often). To be looked at in `on_draining` and `on_connection_close`.
bool crpc_connection_has_pinged_too_often(const crpc_connection *connection);

/// Calls that are on it.
uint32_t crpc_connection_stream_count(const crpc_connection *connection);

#endif
