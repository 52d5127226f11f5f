/// Counts the calls of malloc and its kin of each thread, in place of the C library's functions: linked into a program of
/// its own only. For glibc, whose functions it passes on to.
#ifndef ALLOCATION_COUNT_H
#define ALLOCATION_COUNT_H

#include <stdint.h>

/// Allocations of the calling thread so far.
uint64_t allocation_count(void);

#endif
