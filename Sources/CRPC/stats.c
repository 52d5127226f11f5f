#include "internal.h"

// Counting and reading. One thread writes, so that adding needs no locked instruction.

const uint64_t crpc_time_bounds_ns[CRPC_TIME_BOUNDS] = {
    50000,     100000,    250000,    500000,     1000000,    2500000,    5000000,    10000000,    25000000,
    50000000,  100000000, 250000000, 500000000,  1000000000, 2500000000, 5000000000, 10000000000,
};

struct crpc_call_table {
    uint32_t rows;
    crpc_call_stats row[];
};

int crpc_call_table_new(uint32_t rows, crpc_call_table **result) {
    if (rows == 0 || rows > CRPC_CALL_ROWS_MAX) return CRPC_ERROR_ARGUMENT;
    crpc_call_table *table = calloc(1, sizeof *table + rows * sizeof table->row[0]);
    if (table == NULL) return CRPC_ERROR_MEMORY;
    table->rows = rows;
    *result = table;
    return CRPC_OK;
}

void crpc_call_table_free(crpc_call_table *table) { free(table); }

static crpc_call_stats *row_of(crpc_call_table *table, uint32_t row) {
    return &table->row[row < table->rows ? row : table->rows - 1];
}

void crpc_count_time(uint64_t counts[CRPC_TIME_COUNTS], uint64_t ns) {
    unsigned i = 0; // most are short
    while (i < CRPC_TIME_BOUNDS && ns > crpc_time_bounds_ns[i]) i += 1;
    crpc_count(&counts[i], 1);
}

void crpc_call_table_count(crpc_call_table *table, uint32_t row, int status, uint64_t took_ns) {
    crpc_call_stats *stats = row_of(table, row);
    crpc_count(&stats->ended[status >= 0 && status < CRPC_STATUSES ? status : CRPC_STATUS_UNKNOWN], 1);
    crpc_count_time(stats->took, took_ns);
    crpc_count(&stats->took_ns, took_ns);
}

/// Both structs are nothing but counters.
static void copy(uint64_t *target, const uint64_t *source, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof *source; i++) target[i] = __atomic_load_n(&source[i], __ATOMIC_RELAXED);
}

void crpc_call_table_read(const crpc_call_table *table, uint32_t row, crpc_call_stats *stats) {
    const crpc_call_stats *source = &table->row[row < table->rows ? row : table->rows - 1];
    copy((uint64_t *)(void *)stats, (const uint64_t *)(const void *)source, sizeof *stats);
}

void crpc_loop_read_stats(const crpc_loop *loop, crpc_loop_stats *stats) {
    copy((uint64_t *)(void *)stats, (const uint64_t *)(const void *)&loop->stats, sizeof *stats);
}
