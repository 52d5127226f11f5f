#include "loop/stats.h"

#include "loop/loop.h"

// Counting and reading. One thread writes, so that adding needs no locked instruction.

const uint64_t crpc_time_bounds_ns[CRPC_TIME_BOUNDS] = {
    50000,     100000,    250000,    500000,     1000000,    2500000,    5000000,    10000000,    25000000,
    50000000,  100000000, 250000000, 500000000,  1000000000, 2500000000, 5000000000, 10000000000,
};

void crpc_count_time(uint64_t counts[CRPC_TIME_COUNTS], uint64_t ns) {
    unsigned i = 0; // most are short
    while (i < CRPC_TIME_BOUNDS && ns > crpc_time_bounds_ns[i]) i += 1;
    crpc_count(&counts[i], 1);
}

void crpc_counters_read(uint64_t *target, const uint64_t *source, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof *source; i++) target[i] = __atomic_load_n(&source[i], __ATOMIC_RELAXED);
}

void crpc_loop_read_stats(const crpc_loop *loop, crpc_loop_stats *stats) {
    crpc_counters_read((uint64_t *)(void *)stats, (const uint64_t *)(const void *)&loop->turn.stats, sizeof *stats);
}
