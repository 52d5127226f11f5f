/// The driver: joins a socket, TLS on it, and a connection of HTTP/2 (grpc/grpc_connection.h) or HTTP/1.x (http1/http1_connection.h), on a
/// loop. It reads and feeds, takes and writes, and calls the connection at the moments that it names.
///
/// Ownership: made by `crpc_driver_accept` or `crpc_connection_connect`; owns the socket and the connection, which is its
/// first member and what users know. It frees itself at the end of the turn in which the connection breaks, and with its
/// listener or loop. Loop thread. Callbacks: those of the connection, from inside of the loop's watches, timers and chores.
///
///     CONNECTING ──> HANDSHAKING ──> OPEN ──> CLOSED      CONNECTING: a client's socket; PROXYING: a proxy's header is to
///                      │   ^          ^                   come; HANDSHAKING: TLS; TELLING: in clear text, which protocol
///     PROXYING ────────┼───┘          │                   the client speaks is recognized by its first bytes
///       └──> TELLING ──┼──────────────┘                   (what the connection does while OPEN: http2/http2_connection.h and
///               └──────┴────────────────────> CLOSED      http1/http1_connection.h)
///
/// There is no connection yet before it is OPEN, but for a client's and for one that is HTTP/2's in any case.
#ifndef CRPC_DRIVER_H
#define CRPC_DRIVER_H

#include "grpc/grpc_connection.h"
#include "http1/http1_connection.h"
#include "loop/loop.h"
#include "loop/sockets.h"
#include "tls/tls_filter.h"
#include "transport/addresses.h"
#include "transport/protocol.h"

typedef enum crpc_phase {
    CRPC_PHASE_CONNECTING, CRPC_PHASE_PROXYING, CRPC_PHASE_HANDSHAKING, CRPC_PHASE_TELLING, CRPC_PHASE_OPEN,
    CRPC_PHASE_CLOSED, CRPC_PHASES
} crpc_phase;
extern const uint8_t crpc_phase_moves[CRPC_PHASES];

typedef struct crpc_driver {
    union {                         // by `protocol`; zeros while that is `crpc_protocol_none`
        crpc_connection connection;
        crpc_h1 h1;
    };
    crpc_loop *loop;
    struct crpc_listener *listener; // server's, else NULL
    int fd;
    crpc_phase phase;               // written, after it is made, by `crpc_driver_set_phase` alone
    const crpc_protocol *protocol;  // never NULL
    crpc_watch watch;
    crpc_timer timer;               // for the connection's next moment, or `stall_ns`, or `early.due_ns`
    crpc_tls_filter tls;
    struct {                        // before there is a connection
        crpc_chore close;           // for a driver that ends before it has one
        bool is_broken;             // it does
        uint64_t due_ns;            // when the handshake must be done
        uint8_t *bytes;             // what came of a header, or of the preface; owned
        size_t length;
    } early;
    void *peer_context;             // HTTP/1.x: what `on_open` returned
    struct {                        // what goes out
        uint8_t *rest;              // what the socket did not take; at most the loop's write buffer
        size_t rest_length;
        uint64_t stall_ns;          // when the peer must have taken some of it; UINT64_MAX while none waits
        size_t stalled_bytes;       // that it had to take when that time began
    } out;
    struct {
        bool has_peer_ended;        // its end of file, or an error of the socket
        bool is_forced;             // the listener goes away: nothing lingers
        bool is_leaving;            // server: it makes room for another one
    } end;
    crpc_resident resident;         // client: it ends with its loop
    // A listener's
    crpc_link link;                 // in its connections
    crpc_link shaking;              // in its handshakes, until the peer's SETTINGS or first head
    crpc_link idle;                 // in its idle ones, from then on while there is no call
    crpc_link idle_of_address;      // and in its address's
    crpc_address *address;          // where the peer is; NULL until the proxy's header has come
    uint64_t accepted_ns;
    uint64_t idle_ns;               // since when there is no call, or it is at its handshake
    char peer[CRPC_ADDRESS_LENGTH];
} crpc_driver;

static inline crpc_driver *crpc_driver_of(crpc_connection *connection) {
    return CRPC_CONTAINER(connection, crpc_driver, connection);
}
static inline crpc_driver *crpc_driver_of_h2(crpc_h2 *h2) { return crpc_driver_of(crpc_connection_of(h2)); }
static inline crpc_driver *crpc_driver_of_h1(crpc_h1 *h1) { return CRPC_CONTAINER(h1, crpc_driver, h1); }

static inline void crpc_driver_set_phase(crpc_driver *driver, crpc_phase phase) {
    if (crpc_may_move(crpc_phase_moves, driver->phase, phase, "an illegal move of a driver")) driver->phase = phase;
}

// ---- Before there is a connection (early.c) ----

/// Reads the header of a proxy; the driver goes on to TLS or to the next function once it is whole.
void crpc_driver_read_proxy(crpc_driver *driver);
/// Reads until it is known which protocol the client speaks, begins that, and feeds it what came.
void crpc_driver_tell_protocol(crpc_driver *driver);
/// Begins the connection and opens it.
void crpc_driver_open_as(crpc_driver *driver, const crpc_protocol *protocol);

// ---- Its life (driver.c) ----

/// Makes a server's connection out of an accepted socket, which it owns from then on, also on errors. `address` stays with
/// the caller on errors; it is NULL where a header of a proxy is to come. The listener keeps the driver (`crpc_listener_keep`)
/// before its user learns of it. Errors: MEMORY, SYSTEM, TLS.
int crpc_driver_accept(
    struct crpc_listener *listener, int fd, const struct sockaddr_storage *peer, crpc_address *address);
/// Ends the connection and frees it, at once (driver_end.c).
void crpc_driver_end(crpc_driver *driver);

// Reading and writing (driver_io.c)

/// Writes, and sets the timer: its connection has something to send or to report. Its callbacks may fire.
void crpc_driver_on_flush(crpc_driver *driver);
/// Reads what has come, and feeds it to the connection.
void crpc_driver_read(crpc_driver *driver);
/// Writes what the connection produces, as far as the socket takes it.
void crpc_driver_write(crpc_driver *driver);
/// Sends what is left to say as far as the socket takes it at once, at most as many buffers as in a turn.
void crpc_driver_say_goodbye(crpc_driver *driver);
/// Changes what the socket is watched for.
void crpc_driver_set_interest(crpc_driver *driver, int interest);
/// Whether the peer took enough of what waited for it; then it has another while.
bool crpc_driver_is_written_on(crpc_driver *driver);
/// The driver's timer at the connection's next moment.
void crpc_driver_set_timer(crpc_driver *driver);

#endif
