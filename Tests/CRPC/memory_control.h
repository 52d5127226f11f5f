/// When the allocations that `memory.h` redirects fail.
#ifndef CRPC_TEST_MEMORY_CONTROL_H
#define CRPC_TEST_MEMORY_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

/// Makes the allocation number `n` from now on fail, and with `and_all_after` each one after it. 0 for none.
void memory_fail_at(size_t n, bool and_all_after);
/// Allocations since `memory_fail_at`.
size_t memory_count(void);
/// While paused, allocations are neither counted nor failed. Pauses nest.
void memory_pause(bool paused);

#endif
