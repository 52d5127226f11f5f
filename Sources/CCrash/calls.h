// The table of calls in flight, as the report reads it.
#ifndef CCRASH_CALLS_H
#define CCRASH_CALLS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "ccrash.h"

enum ccrash_call_state {
    CCRASH_CALL_FREE = 0,
    /// Taken by a thread that writes it.
    CCRASH_CALL_WRITING = 1,
    CCRASH_CALL_IN_FLIGHT = 2,
};

struct ccrash_call {
    _Atomic uint32_t state;
    uint8_t method_bytes;
    uint8_t id_bytes;
    /// The Swift task that handles the call; NULL if none does.
    void *task;
    /// The thread on which it began, which handles it if no task does.
    pthread_t thread;
    char method[CCRASH_METHOD_BYTES_MAX];
    char id[CCRASH_ID_BYTES_MAX];
};

/// All calls, whatever their state.
extern struct ccrash_call ccrash_calls[CCRASH_CALLS_MAX];

/// The Swift task that the calling thread runs; NULL if it runs none. Reads thread-local memory alone, so the signal handler may
/// call it.
void *ccrash_current_task(void);

#endif
