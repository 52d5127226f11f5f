/// What a loop counts. Its own thread alone adds; any thread may read, and then sees each number whole, though not all
/// of the same moment.
#ifndef CRPC_STATS_H
#define CRPC_STATS_H

#include "crpc_loop.h"

#include <stdint.h>

/// Bounds of the histograms of times, and one count more than there are bounds: for what took longer.
enum { CRPC_TIME_BOUNDS = 17, CRPC_TIME_COUNTS = CRPC_TIME_BOUNDS + 1 };
/// The bounds in nanoseconds, rising: 50 µs to 10 s.
extern const uint64_t crpc_time_bounds_ns[CRPC_TIME_BOUNDS];

/// What one loop did; sums since it was made, but for the last three.
typedef struct crpc_loop_stats {
    uint64_t busy_ns; // of turns, from the moment that something was there to do until the loop waits again
    uint64_t turns[CRPC_TIME_COUNTS]; // by their length, as above
    uint64_t server_connections_opened, server_connections_closed;
    uint64_t client_connections_opened, client_connections_closed;
    uint64_t server_streams_opened, server_streams_closed;
    uint64_t client_streams_opened, client_streams_closed;
    uint64_t calls_shed;              // over a greatest number, or of a client that makes us hold too much
    uint64_t connections_dismissed;   // of clients that asked too much: floods
    uint64_t handshakes_dropped;      // to make room for others
    uint64_t connections_evicted;     // without a call, to make room for others
    uint64_t connections_refused;     // of addresses that had too many
    uint64_t received_bytes, sent_bytes; // of HTTP, under TLS
    uint64_t held_bytes; // that clients of its servers make it hold now
    uint64_t handlers; // of calls, that run now
    uint64_t turn_began_ns; // when the turn began that it is in, on the monotonic clock; 0 while it waits
} crpc_loop_stats;

/// Copies what a loop counted. Any thread, as long as the loop is there.
void crpc_loop_read_stats(const crpc_loop *loop, crpc_loop_stats *stats);

#endif
