/// Spare buffers of one size, which connections of a service share: one that is idle holds none, and one that is busy takes no
/// allocation. Part of a service; one thread.
#ifndef CRPC_BUFFERS_H
#define CRPC_BUFFERS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/// Bytes of a buffer, and most that are kept.
enum { CRPC_BUFFER_BYTES = 4096, CRPC_BUFFERS_MAX = 64 };

/// Zeros are none. It owns what it keeps.
typedef struct crpc_buffers {
    uint8_t *spare[CRPC_BUFFERS_MAX];
    uint32_t count;
} crpc_buffers;

/// A buffer of at least so many bytes; NULL without memory. `capacity` is how many it has.
static inline uint8_t *crpc_buffers_take(crpc_buffers *buffers, size_t least, size_t *capacity) {
    *capacity = least > CRPC_BUFFER_BYTES ? least : CRPC_BUFFER_BYTES;
    if (*capacity == CRPC_BUFFER_BYTES && buffers->count > 0) return buffers->spare[--buffers->count];
    return malloc(*capacity);
}

/// Gives one back. NULL does nothing.
static inline void crpc_buffers_give_back(crpc_buffers *buffers, uint8_t *buffer, size_t capacity) {
    if (buffer != NULL && capacity == CRPC_BUFFER_BYTES && buffers->count < CRPC_BUFFERS_MAX)
        buffers->spare[buffers->count++] = buffer;
    else
        free(buffer);
}

static inline void crpc_buffers_end(crpc_buffers *buffers) {
    while (buffers->count > 0) free(buffers->spare[--buffers->count]);
}

#endif
