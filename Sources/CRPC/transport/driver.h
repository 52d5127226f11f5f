/// The driver: joins a socket, TLS on it, and a connection (grpc/connection.h), on a loop. It reads and feeds, takes and
/// writes, and calls the connection at the moments that it names.
///
/// Ownership: made by `crpc_driver_accept` or `crpc_connection_connect`; owns the socket and the connection, which is its
/// first member and what users know. It frees itself at the end of the turn in which the connection breaks, and with its
/// listener or loop. Loop thread. Callbacks: those of the connection, from inside of the loop's watches, timers and chores.
///
///     CONNECTING ──> HANDSHAKING ──> OPEN ──> CLOSED      CONNECTING: a client's socket; HANDSHAKING: TLS
///          └──────────────┴────────────────────>┘         (what the connection does while OPEN: http2/connection.h)
#ifndef CRPC_DRIVER_H
#define CRPC_DRIVER_H

#include "grpc/connection.h"
#include "loop/loop.h"
#include "loop/sockets.h"
#include "tls/tls_filter.h"
#include "transport/addresses.h"

typedef enum crpc_phase {
    CRPC_PHASE_CONNECTING, CRPC_PHASE_HANDSHAKING, CRPC_PHASE_OPEN, CRPC_PHASE_CLOSED, CRPC_PHASES
} crpc_phase;
extern const uint8_t crpc_phase_moves[CRPC_PHASES];

typedef struct crpc_driver {
    crpc_connection connection;
    crpc_loop *loop;
    struct crpc_listener *listener; // server's, else NULL
    int fd;
    crpc_phase phase;               // written, after it is made, by `crpc_driver_set_phase` alone
    crpc_watch watch;
    crpc_timer timer;               // for the connection's next moment, or `stall_ns`
    crpc_tls_filter tls;
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
    crpc_link shaking;              // in its handshakes, until the peer's SETTINGS
    crpc_link idle;                 // in its idle ones, from then on while there is no call
    crpc_link idle_of_address;      // and in its address's
    crpc_address *address;          // where the peer is
    uint64_t idle_ns;               // since when there is no call, or it is at its handshake
    char peer[CRPC_ADDRESS_LENGTH];
} crpc_driver;

static inline crpc_driver *crpc_driver_of(crpc_connection *connection) {
    return CRPC_CONTAINER(connection, crpc_driver, connection);
}
static inline crpc_driver *crpc_driver_of_h2(crpc_h2 *h2) { return crpc_driver_of(crpc_connection_of(h2)); }

static inline void crpc_driver_set_phase(crpc_driver *driver, crpc_phase phase) {
    if (crpc_may_move(crpc_phase_moves, driver->phase, phase, "an illegal move of a driver")) driver->phase = phase;
}

/// Makes a server's connection out of an accepted socket, which it owns from then on, also on errors. `address` stays with
/// the caller on errors. The listener keeps it (`crpc_listener_keep`) before its user is told. Errors: MEMORY, SYSTEM, TLS.
int crpc_driver_accept(
    struct crpc_listener *listener, int fd, const struct sockaddr_storage *peer, crpc_address *address);
/// Ends the connection and frees it, at once.
void crpc_driver_end(crpc_driver *driver);

// Reading and writing (driver_io.c)

/// Reads what has come, and feeds it to the connection.
void crpc_driver_read(crpc_driver *driver);
/// Writes what the connection produces, as far as the socket takes it.
void crpc_driver_write(crpc_driver *driver);
/// Tries once to send what waits, without waiting.
void crpc_driver_say_goodbye(crpc_driver *driver);
/// Changes what the socket is watched for.
void crpc_driver_set_interest(crpc_driver *driver, int interest);
/// Whether the peer took enough of what waited for it; then it has another while.
bool crpc_driver_is_written_on(crpc_driver *driver);
/// The driver's timer at the connection's next moment.
void crpc_driver_set_timer(crpc_driver *driver);

#endif
