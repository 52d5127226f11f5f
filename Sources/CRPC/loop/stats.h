/// Reading what another thread counts. Any thread.
#ifndef CRPC_COUNTERS_H
#define CRPC_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

/// Copies a struct that is nothing but counters, each of them whole.
void crpc_counters_read(uint64_t *target, const uint64_t *source, size_t bytes);

#endif
