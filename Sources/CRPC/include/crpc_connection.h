/// One HTTP/2 connection that carries gRPC calls, as server or as client.
///
/// States: CONNECTING (client: the socket) → HANDSHAKING (TLS) → OPEN → DRAINING (no new calls, those there finish) →
/// CLOSED. Any failure leads to CLOSED. At CLOSED each live stream gets its `on_close`, then the connection its own,
/// then it is freed: a pointer to it is dead from there on.
#ifndef CRPC_CONNECTION_H
#define CRPC_CONNECTION_H

#include "crpc_loop.h"
#include "crpc_stream.h"
#include "crpc_tls.h"

typedef struct crpc_connection crpc_connection;

/// Every bound of a connection. `crpc_limits_default` tells the defaults.
typedef struct crpc_limits {
    /// Streams that the peer may have open at once.
    uint32_t streams_max;
    /// Bytes of a message.
    uint32_t message_bytes_max;
    /// Bytes of one header block: names, values and 32 for each (RFC 9113 section 6.5.2).
    uint32_t header_bytes_max;
    /// Flow control: bytes that the peer may send on one stream, and on all, before we take them off.
    uint32_t stream_window_bytes;
    uint32_t connection_window_bytes;
    /// Time for connecting, TLS and the peer's first SETTINGS.
    uint32_t handshake_timeout_ms;
    /// Time without a call after which a connection is drained; 0 for never.
    uint32_t idle_timeout_ms;
    /// Time for which a peer may take none of the bytes that wait for it.
    uint32_t write_stall_timeout_ms;
    /// Time for calls to finish once draining began.
    uint32_t drain_timeout_ms;
} crpc_limits;

void crpc_limits_default(crpc_limits *limits);

/// Bytes of an address as text, with its port and a zero.
enum { CRPC_ADDRESS_LENGTH = 64 };

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

/// Takes no more calls, lets those there finish, closes. A server tells the peer so at once (GOAWAY twice, RFC 9113
/// section 6.8); a client when its last call has ended, since some may wait to go out. A client's `on_draining` follows
/// in this turn or the next.
void crpc_connection_drain(crpc_connection *connection);

/// Closes at the end of this turn; calls there end with `on_close`.
void crpc_connection_close(crpc_connection *connection);

/// Whether a client's connection takes another call now: not draining, and below the peer's stream limit.
bool crpc_connection_has_room(const crpc_connection *connection);

/// Calls that are on it.
uint32_t crpc_connection_stream_count(const crpc_connection *connection);

#endif
