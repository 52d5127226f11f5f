#include "internal.h"

// A binary heap: the parent of i is (i - 1) / 2, and no child is due before its parent.

static void place(crpc_loop *loop, crpc_timer *timer, size_t index) {
    loop->timers[index] = timer;
    timer->index = index;
}

static void sift_up(crpc_loop *loop, crpc_timer *timer, size_t index) {
    while (index > 0) {
        size_t parent = (index - 1) / 2;
        if (loop->timers[parent]->due_ns <= timer->due_ns) break;
        place(loop, loop->timers[parent], index);
        index = parent;
    }
    place(loop, timer, index);
}

static void sift_down(crpc_loop *loop, crpc_timer *timer, size_t index) {
    for (;;) {
        size_t child = index * 2 + 1;
        if (child >= loop->timer_count) break;
        if (child + 1 < loop->timer_count && loop->timers[child + 1]->due_ns < loop->timers[child]->due_ns) child += 1;
        if (timer->due_ns <= loop->timers[child]->due_ns) break;
        place(loop, loop->timers[child], index);
        index = child;
    }
    place(loop, timer, index);
}

int crpc_timer_new(crpc_loop *loop, crpc_function function, void *context, crpc_timer **result) {
    crpc_timer *timer = calloc(1, sizeof *timer);
    if (timer == NULL) return CRPC_ERROR_MEMORY;
    timer->loop = loop;
    timer->function = function;
    timer->context = context;
    timer->index = SIZE_MAX;
    *result = timer;
    return CRPC_OK;
}

int crpc_timer_set(crpc_timer *timer, uint64_t due_ns) {
    crpc_loop *loop = timer->loop;
    if (timer->index != SIZE_MAX) {
        bool is_sooner = due_ns < timer->due_ns;
        timer->due_ns = due_ns;
        if (is_sooner) {
            sift_up(loop, timer, timer->index);
        } else {
            sift_down(loop, timer, timer->index);
        }
        return CRPC_OK;
    }
    if (loop->timer_count == loop->timer_capacity) {
        size_t capacity = loop->timer_capacity == 0 ? 64 : loop->timer_capacity * 2;
        crpc_timer **timers = realloc(loop->timers, capacity * sizeof *timers);
        if (timers == NULL) return CRPC_ERROR_MEMORY;
        loop->timers = timers;
        loop->timer_capacity = capacity;
    }
    timer->due_ns = due_ns;
    loop->timer_count += 1;
    sift_up(loop, timer, loop->timer_count - 1);
    return CRPC_OK;
}

void crpc_timer_cancel(crpc_timer *timer) {
    crpc_loop *loop = timer->loop;
    size_t index = timer->index;
    if (index == SIZE_MAX) return;
    timer->index = SIZE_MAX;
    loop->timer_count -= 1;
    if (index == loop->timer_count) return;
    crpc_timer *last = loop->timers[loop->timer_count];
    if (index > 0 && last->due_ns < loop->timers[(index - 1) / 2]->due_ns) {
        sift_up(loop, last, index);
    } else {
        sift_down(loop, last, index);
    }
}

void crpc_timer_free(crpc_timer *timer) {
    if (timer == NULL) return;
    crpc_timer_cancel(timer);
    free(timer);
}

void crpc_timers_run(crpc_loop *loop) {
    // One that sets itself anew for now or before waits for the next turn, so that this ends.
    uint64_t now = loop->now_ns;
    size_t left = loop->timer_count;
    while (left > 0 && loop->timer_count > 0 && loop->timers[0]->due_ns <= now) {
        crpc_timer *timer = loop->timers[0];
        crpc_timer_cancel(timer);
        timer->function(timer->context);
        left -= 1;
    }
}
