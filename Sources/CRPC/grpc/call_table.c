#include "crpc_call_stats.h"
#include "crpc_error.h"
#include "crpc_wire.h"
#include "loop/stats.h"
#include "loop/turn.h"

#include <stdlib.h>

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

static crpc_call_stats *call_table_row(crpc_call_table *table, uint32_t row) {
    return &table->row[row < table->rows ? row : table->rows - 1];
}

void crpc_call_table_count(crpc_call_table *table, uint32_t row, int status, uint64_t took_ns) {
    crpc_call_stats *stats = call_table_row(table, row);
    crpc_count(&stats->ended[status >= 0 && status < CRPC_STATUSES ? status : CRPC_STATUS_UNKNOWN], 1);
    crpc_count_time(stats->took, took_ns);
    crpc_count(&stats->took_ns, took_ns);
}

void crpc_call_table_read(const crpc_call_table *table, uint32_t row, crpc_call_stats *stats) {
    const crpc_call_stats *source = &table->row[row < table->rows ? row : table->rows - 1];
    crpc_counters_read((uint64_t *)(void *)stats, (const uint64_t *)(const void *)source, sizeof *stats);
}
