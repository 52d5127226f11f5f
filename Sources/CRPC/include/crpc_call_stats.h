/// What is counted of calls, by method and status.
#ifndef CRPC_CALL_STATS_H
#define CRPC_CALL_STATS_H

#include "crpc_stats.h"

/// Statuses that gRPC defines: OK to UNAUTHENTICATED.
enum { CRPC_STATUSES = 17 };
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

#endif
