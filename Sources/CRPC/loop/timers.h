/// Timers: a binary heap by due time, without a clock or a loop of its own. It and its timers are on one thread.
#ifndef CRPC_TIMERS_H
#define CRPC_TIMERS_H

#include "crpc_error.h"
#include "crpc_loop.h"

/// A heap of timers that are set. Zeros are an empty one. It owns its array, and none of the timers.
typedef struct crpc_timers {
    struct crpc_timer **heap;
    size_t count, capacity;
} crpc_timers;

/// One timer; part of its owner, or made by `crpc_timer_new`. Zeros are one that is not set. It must be cancelled before
/// it goes.
struct crpc_timer {
    crpc_timers *timers;
    crpc_function function;
    void *context;
    uint64_t due_ns;
    size_t place; // in the heap, counted from 1; 0 if it is not set
};

/// Makes a timer that is part of something, not set.
static inline void crpc_timer_init(crpc_timer *timer, crpc_timers *timers, crpc_function function, void *context) {
    *timer = (crpc_timer){.timers = timers, .function = function, .context = context};
}

static inline bool crpc_timer_is_set(const crpc_timer *timer) { return timer->place != 0; }

/// The same as `crpc_timer_cancel`, cheaper where it is mostly not set.
static inline void crpc_timer_end(crpc_timer *timer) {
    if (timer->place != 0) crpc_timer_cancel(timer);
}

/// Sets it for then, unless it is set for earlier: the callback then finds that it is too early, and sets it anew. That
/// costs less than moving it each time. Errors: MEMORY.
static inline int crpc_timer_set_before(crpc_timer *timer, uint64_t due_ns) {
    if (due_ns == UINT64_MAX || (timer->place != 0 && timer->due_ns <= due_ns)) return 0;
    return crpc_timer_set(timer, due_ns);
}

/// Takes the due timers out one by one and calls them. One that sets itself anew for now or before waits for another time.
void crpc_timers_run(crpc_timers *timers, uint64_t now_ns);

/// When the next timer is due; UINT64_MAX if none is set.
static inline uint64_t crpc_timers_next_ns(const crpc_timers *timers) {
    return timers->count == 0 ? UINT64_MAX : timers->heap[0]->due_ns;
}

/// Frees the array. None is set any more.
void crpc_timers_end(crpc_timers *timers);

#endif
