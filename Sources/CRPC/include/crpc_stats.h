/// What a loop counts. Its own thread alone adds; any thread may read, and then sees each number whole, though not all
/// of the same moment.
#ifndef CRPC_STATS_H
#define CRPC_STATS_H

#include "crpc_loop.h"

#include <stdint.h>

/// Statuses that gRPC defines: OK to UNAUTHENTICATED.
enum { CRPC_STATUSES = 17 };
/// Bounds of the histograms of times, and one count more than there are bounds: for what took longer.
enum { CRPC_TIME_BOUNDS = 17, CRPC_TIME_COUNTS = CRPC_TIME_BOUNDS + 1 };
/// The bounds in nanoseconds, rising: 50 µs to 10 s.
extern const uint64_t crpc_time_bounds_ns[CRPC_TIME_BOUNDS];

/// The calls of one method that have ended.
typedef struct crpc_call_stats {
    uint64_t ended[CRPC_STATUSES];
    /// By how long they took: `took[i]` took no longer than bound i, and longer than the one before it.
    uint64_t took[CRPC_TIME_COUNTS];
    uint64_t took_ns; // all together
} crpc_call_stats;

/// Calls by method: a row for each.
typedef struct crpc_call_table crpc_call_table;

/// Most rows of a table.
enum { CRPC_CALL_ROWS_MAX = 4097 };

/// Makes a table of zeros. Any thread. Errors: ARGUMENT for no row or too many, MEMORY.
int crpc_call_table_new(uint32_t rows, crpc_call_table **result);
/// Frees a table that nobody counts in or reads any more. Any thread.
void crpc_call_table_free(crpc_call_table *table);
/// Counts a call; a status that gRPC does not define is UNKNOWN. One thread at a time. A row past the last is the last.
void crpc_call_table_count(crpc_call_table *table, uint32_t row, int status, uint64_t took_ns);
/// Copies a row. Any thread.
void crpc_call_table_read(const crpc_call_table *table, uint32_t row, crpc_call_stats *stats);

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
    uint64_t received_bytes, sent_bytes; // of HTTP/2, under TLS
    uint64_t held_bytes; // that clients of its servers make it hold now
    uint64_t handlers; // of calls, that run now
    uint64_t turn_began_ns; // when the turn began that it is in, on the monotonic clock; 0 while it waits
} crpc_loop_stats;

/// Copies what a loop counted. Any thread, as long as the loop is there.
void crpc_loop_read_stats(const crpc_loop *loop, crpc_loop_stats *stats);

#endif
