/// Connections over sockets: how a client makes one, and who is at the other end.
#ifndef CRPC_CONNECT_H
#define CRPC_CONNECT_H

#include "crpc_connection.h"
#include "crpc_loop.h"
#include "crpc_tls.h"

/// After GOAWAY a server's socket takes in and drops what still comes, so that the peer can read it: for so long, so
/// many bytes, and so many sockets of a loop at once; one more ends the one of its client's that has done so for longest,
/// or else the one of all.
enum { CRPC_LINGER_MS = 1000, CRPC_LINGER_BYTES_MAX = 1 << 20, CRPC_LINGERING_MAX = 64 };
/// The same where a request of HTTP/1.x was answered before its end, such as one whose body is too large: a client that sends all
/// before it reads finds the answer, and no broken pipe.
enum { CRPC_LINGER_BODY_MS = 20000, CRPC_LINGER_BODY_BYTES_MAX = 8 << 20 };

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

/// The peer's address, or that of the client that a proxy told of, such as "127.0.0.1:41234".
const char *crpc_connection_peer(const crpc_connection *connection);

/// Whether TLS protects it.
bool crpc_connection_is_encrypted(const crpc_connection *connection);

/// Reads the DNS and URI names of the certificate that the peer proved to own: at most CRPC_PEER_NAMES_MAX, each given
/// to `each` once, before this returns. None without TLS or without a certificate.
void crpc_connection_peer_names(
    const crpc_connection *connection, void (*each)(void *context, const char *name, size_t length), void *context);

#endif
