#include "calls.h"

#include <string.h>

struct ccrash_call ccrash_calls[CCRASH_CALLS_MAX];

/// Places that are tried for a new call. Where all are taken the table is full or nearly so.
#define PLACES_TRIED_MAX 16

/// A part of the table: the places of streams are the first ones.
typedef struct {
    uint32_t first;
    uint32_t count;
} part;
static const part parts[2] = {
    {.first = CCRASH_STREAMS_MAX, .count = CCRASH_CALLS_MAX - CCRASH_STREAMS_MAX},
    {.first = 0, .count = CCRASH_STREAMS_MAX},
};

/// Where threads begin to look, far apart so that they don't write to each other's cache lines.
static _Atomic uint32_t threads;
#define PLACES_PER_THREAD 64

/// For each part the place in it that this thread tries first: where its last call was, whose memory is in its cache.
static _Thread_local uint32_t next_places[2];
static _Thread_local bool has_places;

/// The Swift runtime's. Weak, so that C tests link without it. It takes no arguments, so Swift's calling convention is C's.
extern void *swift_task_getCurrent(void) __attribute__((weak));

void *ccrash_current_task(void) { return swift_task_getCurrent != NULL ? swift_task_getCurrent() : NULL; }

static uint8_t kept(size_t bytes, size_t max) { return (uint8_t)(bytes < max ? bytes : max); }

_Static_assert(CCRASH_METHOD_BYTES_MAX <= UINT8_MAX && CCRASH_ID_BYTES_MAX <= UINT8_MAX, "lengths are bytes");

ccrash_call *ccrash_call_began(const char *method, size_t method_bytes, const char *id, size_t id_bytes, bool is_stream) {
    if (!has_places) {
        next_places[0] = next_places[1] = atomic_fetch_add(&threads, 1) * PLACES_PER_THREAD;
        has_places = true;
    }
    part part = parts[is_stream];
    uint32_t next = next_places[is_stream];
    for (uint32_t tried = 0; tried < PLACES_TRIED_MAX; tried++) {
        struct ccrash_call *call = &ccrash_calls[part.first + (next + tried) % part.count];
        uint32_t expected = CCRASH_CALL_FREE;
        if (!atomic_compare_exchange_strong_explicit(&call->state, &expected, CCRASH_CALL_WRITING, memory_order_acquire,
                                                     memory_order_relaxed)) {
            continue;
        }
        call->method_bytes = kept(method_bytes, CCRASH_METHOD_BYTES_MAX);
        memcpy(call->method, method, call->method_bytes);
        call->id_bytes = kept(id_bytes, CCRASH_ID_BYTES_MAX);
        if (call->id_bytes > 0) memcpy(call->id, id, call->id_bytes);
        call->task = ccrash_current_task();
        call->thread = pthread_self();
        atomic_store_explicit(&call->state, CCRASH_CALL_IN_FLIGHT, memory_order_release);
        next_places[is_stream] = (next + tried) % part.count;
        return call;
    }
    // Elsewhere the next time, past the calls that last.
    next_places[is_stream] = (next + PLACES_TRIED_MAX) % part.count;
    return NULL;
}

void ccrash_call_set_id(ccrash_call *call, const char *id, size_t id_bytes) {
    if (call == NULL) return;
    // A crash in between finds no id rather than half of one.
    atomic_store_explicit(&call->state, CCRASH_CALL_WRITING, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    call->id_bytes = kept(id_bytes, CCRASH_ID_BYTES_MAX);
    if (call->id_bytes > 0) memcpy(call->id, id, call->id_bytes);
    atomic_store_explicit(&call->state, CCRASH_CALL_IN_FLIGHT, memory_order_release);
}

void ccrash_call_ended(ccrash_call *call) {
    if (call == NULL) return;
    uint32_t place = (uint32_t)(call - ccrash_calls);
    bool is_stream = place < CCRASH_STREAMS_MAX;
    next_places[is_stream] = place - parts[is_stream].first;
    has_places = true;
    atomic_store_explicit(&call->state, CCRASH_CALL_FREE, memory_order_release);
}
