/// What a driver carries: a connection of HTTP/2 (protocol_http2.c), one of HTTP/1.x (protocol_http1.c), or none yet (early.c). The driver
/// calls it through one of these tables, and knows no protocol.
///
/// Ownership: the tables are constant; the connection is a part of the driver. Loop thread; the callbacks of the connection may fire in
/// each function but those of a constant driver.
#ifndef CRPC_PROTOCOL_H
#define CRPC_PROTOCOL_H

#include "crpc_limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct crpc_driver;

typedef struct crpc_protocol {
    // ---- A server's ----

    /// Begins the connection, in memory of zeros. Errors: MEMORY; then there is none.
    int (*begin)(struct crpc_driver *driver);
    /// What carries it is open.
    void (*start)(struct crpc_driver *driver);

    // ---- Always ----

    /// Whether it ends with this turn.
    bool (*is_broken)(const struct crpc_driver *driver);
    /// The error that it ends with; CRPC_OK if it ends well.
    int (*error)(const struct crpc_driver *driver);
    /// It cannot go on: it ends with this turn.
    void (*fail)(struct crpc_driver *driver, int error);
    /// The same for one without a call, well and at once, since another needs its place.
    void (*make_room)(struct crpc_driver *driver);
    /// Takes no more calls, lets those there finish, ends. One that is at its handshake has CRPC_ROUND_TRIP_MAX_MS to end that.
    void (*drain)(struct crpc_driver *driver);
    /// Asks for a flush at the end of this turn, and whether one was asked for.
    void (*mark)(struct crpc_driver *driver);
    bool (*is_marked)(const struct crpc_driver *driver);
    /// What is to be watched for on the socket beside room to write.
    int (*reads)(const struct crpc_driver *driver);
    /// When it wants to be asked, and what it does then.
    uint64_t (*next_ns)(const struct crpc_driver *driver);
    void (*on_time)(struct crpc_driver *driver);
    const crpc_limits *(*limits)(const struct crpc_driver *driver);
    /// Says whether what was produced waits for the peer.
    void (*set_blocked)(struct crpc_driver *driver, bool is_blocked);
    /// It ends: the connection tells its user, and is freed.
    void (*tell_end)(struct crpc_driver *driver);
    void (*end)(struct crpc_driver *driver);

    // ---- While the driver is OPEN ----

    /// Something came, or is to be read: once before the first `feed` of a turn. False if it cannot go on.
    bool (*note_readable)(struct crpc_driver *driver);
    /// Most bytes that may be fed now; 0 if nothing is to be read.
    size_t (*read_room)(const struct crpc_driver *driver);
    /// Takes bytes that came. False as above.
    bool (*feed)(struct crpc_driver *driver, const uint8_t *bytes, size_t length);
    /// After the last `feed` of a turn. False as above.
    bool (*note_fed)(struct crpc_driver *driver);
    /// The peer sends no more; it may still wait for an answer. False as above.
    bool (*note_end)(struct crpc_driver *driver);
    /// Takes credit from the peer. Whether the connection goes on.
    bool (*charge)(struct crpc_driver *driver, uint32_t cost);
    /// Prepares what is to be sent. False as above.
    bool (*prepare)(struct crpc_driver *driver);
    /// Writes what is to be sent into a buffer. Returns how much; 0 if there is nothing, or an error.
    ssize_t (*produce)(struct crpc_driver *driver, uint8_t *buffer, size_t room);
    /// All that there was went out.
    void (*conclude)(struct crpc_driver *driver);
    /// Writes the last words of a connection that ends, as `produce` does.
    ssize_t (*goodbye)(struct crpc_driver *driver, uint8_t *buffer, size_t room);
    /// Whether an answer is under way whose end would be that of the connection (RFC 9112 section 8).
    bool (*is_cut_short)(const struct crpc_driver *driver);
    /// Whether bytes of the peer were left unread on purpose.
    bool (*leaves_rest)(const struct crpc_driver *driver);
    /// Whether it takes only as many bytes as it has room for, so that the rest must wait outside.
    bool is_paced;
} crpc_protocol;

extern const crpc_protocol crpc_protocol_none, crpc_protocol_http2, crpc_protocol_http1;

/// Has a driver carry HTTP/2, in memory of zeros: the connection's chores become the driver's. A client begins it itself.
void crpc_protocol_carry_http2(struct crpc_driver *driver);

#endif
