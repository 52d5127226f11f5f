/// One HTTP/2 connection that carries gRPC calls, as server or as client.
///
/// A peer that ends its sending half (a FIN, or TLS's close_notify) ends the connection, and with it the calls that it still
/// waits for: in HTTP/2 nobody half-closes a connection.
///
/// States: CONNECTING (client: the socket) → HANDSHAKING (TLS) → OPEN → DRAINING (no new calls, those there finish) →
/// CLOSED. Any failure leads to CLOSED. At CLOSED each live stream gets its `on_close`, then the connection its own,
/// then it is freed: a pointer to it is dead from there on.
#ifndef CRPC_CONNECTION_H
#define CRPC_CONNECTION_H

#include "crpc_limits.h"
#include "crpc_loop.h"
#include "crpc_stream.h"
#include "crpc_tls.h"

typedef struct crpc_connection crpc_connection;

/// After GOAWAY a server's socket takes in and drops what still comes, so that the peer can read it: for so long, so
/// many bytes, and so many sockets of a loop at once.
enum { CRPC_LINGER_MS = 1000, CRPC_LINGER_BYTES_MAX = 1 << 20, CRPC_LINGERING_MAX = 64 };

/// Most DNS and URI names that are read from a peer's certificate.
enum { CRPC_PEER_NAMES_MAX = 16 };

/// Makes a client's connection to an IPv4 or IPv6 address in digits (names are resolved elsewhere) and begins to
/// connect. `authority` is what requests say as `:authority`; `tls_name` is the name that the server's certificate must
/// be for. `tls` may be NULL for clear text (HTTP/2 by prior knowledge, RFC 9113 section 3.3); a reference is taken.
/// Calls may be opened at once: they wait for the connection. `callbacks` must outlive it.
/// Errors: ARGUMENT, MEMORY, SYSTEM, TLS; then no callback fires.
int crpc_connection_connect(
    crpc_loop *loop, const char *address, uint16_t port, const char *authority, crpc_tls *tls, const char *tls_name,
    const crpc_limits *limits, const struct crpc_client_callbacks *callbacks, void *context,
    crpc_connection **result);

/// The peer's address, such as "127.0.0.1:41234".
const char *crpc_connection_peer(const crpc_connection *connection);

/// Whether TLS protects it.
bool crpc_connection_is_encrypted(const crpc_connection *connection);

/// Reads the DNS and URI names of the certificate that the peer proved to own: at most CRPC_PEER_NAMES_MAX, each given
/// to `each` once, before this returns. None without TLS or without a certificate.
void crpc_connection_peer_names(
    const crpc_connection *connection, void (*each)(void *context, const char *name, size_t length), void *context);

/// Takes no more calls, lets those there finish, closes. A server tells the peer so at once (GOAWAY twice with a round
/// trip between them, RFC 9113 section 6.8; one whose handshake is under way when it is open); a client when its last call has ended, since some may wait to go out. A client's `on_draining` follows
/// in this turn or the next.
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
