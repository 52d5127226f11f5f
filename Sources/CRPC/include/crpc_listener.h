/// A listening socket of a loop whose connections serve gRPC calls and, where the callbacks take them, other exchanges of
/// HTTP/2 and HTTP/1.x.
///
/// A listener is one of clear text or of TLS, and never guesses. In clear text HTTP/2 is distinguished from HTTP/1.x by its preface
/// (RFC 9113 section 3.4), at the first byte that differs; under TLS by ALPN, and a client that offers none speaks HTTP/1.1.
/// Without exchanges all is HTTP/2.
#ifndef CRPC_LISTENER_H
#define CRPC_LISTENER_H

#include "crpc_call_stats.h"
#include "crpc_connect.h"

typedef struct crpc_listener crpc_listener;

/// A network that connections with headers of PROXY protocol v2 may come from.
typedef struct crpc_proxy_network {
    uint8_t address[16]; // IPv6; an IPv4 one as ::ffff:a.b.c.d
    uint8_t prefix_bits; // 0 to 128
} crpc_proxy_network;

/// Reads "192.0.2.0/24", "2001:db8::/32", or an address alone. ARGUMENT if it is neither, or an address bit behind the prefix
/// is set.
int crpc_proxy_network_parse(const char *text, crpc_proxy_network *network);

typedef struct crpc_listener_options {
    /// IPv4 or IPv6 address in digits.
    const char *address;
    /// 0 lets the system choose; `crpc_listener_port` tells.
    uint16_t port;
    /// Whether listeners of other loops may join the port afterwards (SO_REUSEPORT).
    bool shared_port;
    /// Whether the port is one that a listener with `shared_port` has already, to be joined. Otherwise a port on which
    /// anybody listens is ADDRESS_IN_USE: a second process must not take half of the first one's connections.
    bool joins_port;
    /// NULL for clear text. A reference is taken.
    crpc_tls *tls;
    crpc_limits limits;
    /// Connections at once. Past it the one that has been without a call for longest makes room for a new one (GOAWAY with
    /// NO_ERROR), or else the one that has been at its handshake for longest, if it is so for CRPC_ROOM_AFTER_MS; until
    /// then new ones wait in the kernel's backlog. Those that make room are there until the end of the turn. It is the same
    /// where the process or the system runs out of file descriptors (EMFILE, ENFILE) while somebody waits: first the socket that
    /// lingers for longest is closed, then a connection goes, which does not linger. Fit it to RLIMIT_NOFILE, which this layer
    /// neither reads nor changes: Swift's RPCServer raises the soft limit to the hard one when the first server of a process
    /// starts, and takes no more connections than that leaves (FileLimit.swift).
    uint32_t connections_max;
    /// Of these, those from one IPv4 address or one IPv6 network of 64 bits; 0 for as many as there are. Past it the
    /// address's own connection makes room as above, or the new one is closed at once. Behind a proxy all clients have one
    /// address.
    uint32_t connections_per_address_max;
    /// Of these, those whose PROXY header, TLS, preface or SETTINGS, or first head of HTTP/1.x, are still to come; past it
    /// the one that has been at it for longest is closed, so that they cannot keep honest ones out until their time limit.
    uint32_t handshakes_max;
    /// Calls at once on all connections of this listener, and handlers that run at once for calls of this listener, whether
    /// or not their streams have ended; past either calls end with RESOURCE_EXHAUSTED.
    uint32_t calls_max;
    /// Bytes that clients may make the loop hold, on all its servers' connections, counted as for `buffered_bytes_max`. From
    /// half of it on, a connection may hold no more than an equal share of the other half. 0 for no such bound.
    uint64_t held_bytes_max;
    /// Networks of proxies. A connection from them begins with a header of PROXY protocol v2, in its binary form, before TLS; its
    /// client is who that says, for `connections_per_address_max` as well. One that has none, or another than there may be,
    /// ends. Nobody else's is looked at. They are copied; 0 for none.
    const crpc_proxy_network *proxies;
    size_t proxy_count;
    /// The names that the listener answers to, beside addresses in digits and names without a dot: a request whose authority
    /// is none of these gets 421 (RFC 9110 section 15.5.20). In any case of letters, and without a port. They are copied.
    /// Where `checks_names` is not set it answers to any.
    const char *const *names;
    uint32_t name_count;
    bool checks_names;
    /// Counts its calls: a row for each path in their order, and one more for requests to any other. NULL for none. It
    /// must outlive the listener.
    crpc_call_table *calls;
} crpc_listener_options;

/// Least time for which a connection has no call, or is at its handshake, before it makes room for another: a client that
/// makes one call after the other keeps its connection.
enum { CRPC_ROOM_AFTER_MS = 1000 };

/// Paths that a listener can serve.
enum { CRPC_METHODS_MAX = 4096 };

/// Listens. `paths` are the `:path`s served; their index comes back in `crpc_request.method`. Loop thread, or any
/// thread while the loop does not run yet. `callbacks` must outlive it; `paths` are copied.
/// Errors: ARGUMENT, MEMORY, SYSTEM, ADDRESS_IN_USE; then nothing was opened.
int crpc_listener_new(
    crpc_loop *loop, const crpc_listener_options *options, const char *const *paths, uint32_t path_count,
    const crpc_server_callbacks *callbacks, void *server, crpc_listener **result);

/// The port it listens on.
uint16_t crpc_listener_port(const crpc_listener *listener);

/// New connections use these rules; those there keep theirs. A reference is taken.
void crpc_listener_set_tls(crpc_listener *listener, crpc_tls *tls);

/// Stops accepting and drains every connection. Those that wait in the kernel are taken before, as far as there is room:
/// `on_open` fires for them before this returns. A second call does nothing.
void crpc_listener_drain(crpc_listener *listener);

/// Connections there are.
uint32_t crpc_listener_connection_count(const crpc_listener *listener);

/// Closes the socket and every connection, whose closing callbacks fire before this returns; then frees the listener.
/// From inside a callback of a connection of the loop it ends the process: what fires it would go on with what was freed.
void crpc_listener_free(crpc_listener *listener);

#endif
