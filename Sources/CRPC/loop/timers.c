#include "loop/timers.h"

#include <stdlib.h>

// A binary heap: the parent of i is (i - 1) / 2, and no child is due before its parent.

static void timers_place(crpc_timers *timers, crpc_timer *timer, size_t index) {
    timers->heap[index] = timer;
    timer->place = index + 1;
}

static void timers_sift_up(crpc_timers *timers, crpc_timer *timer, size_t index) {
    while (index > 0) {
        size_t parent = (index - 1) / 2;
        if (timers->heap[parent]->due_ns <= timer->due_ns) break;
        timers_place(timers, timers->heap[parent], index);
        index = parent;
    }
    timers_place(timers, timer, index);
}

static void timers_sift_down(crpc_timers *timers, crpc_timer *timer, size_t index) {
    for (;;) {
        size_t child = index * 2 + 1;
        if (child >= timers->count) break;
        if (child + 1 < timers->count && timers->heap[child + 1]->due_ns < timers->heap[child]->due_ns) child += 1;
        if (timer->due_ns <= timers->heap[child]->due_ns) break;
        timers_place(timers, timers->heap[child], index);
        index = child;
    }
    timers_place(timers, timer, index);
}

int crpc_timer_set(crpc_timer *timer, uint64_t due_ns) {
    enum { FIRST_CAPACITY = 8 };
    crpc_timers *timers = timer->timers;
    if (timer->place != 0) {
        bool is_sooner = due_ns < timer->due_ns;
        timer->due_ns = due_ns;
        if (is_sooner) {
            timers_sift_up(timers, timer, timer->place - 1);
        } else {
            timers_sift_down(timers, timer, timer->place - 1);
        }
        return CRPC_OK;
    }
    if (timers->count == timers->capacity) {
        size_t capacity = timers->capacity == 0 ? FIRST_CAPACITY : timers->capacity * 2;
        crpc_timer **heap = realloc(timers->heap, capacity * sizeof *heap);
        if (heap == NULL) return CRPC_ERROR_MEMORY;
        timers->heap = heap;
        timers->capacity = capacity;
    }
    timer->due_ns = due_ns;
    timers->count += 1;
    timers_sift_up(timers, timer, timers->count - 1);
    return CRPC_OK;
}

void crpc_timer_cancel(crpc_timer *timer) {
    if (timer->place == 0) return;
    crpc_timers *timers = timer->timers;
    size_t index = timer->place - 1;
    timer->place = 0;
    timers->count -= 1;
    if (index == timers->count) return;
    crpc_timer *last = timers->heap[timers->count];
    if (index > 0 && last->due_ns < timers->heap[(index - 1) / 2]->due_ns) {
        timers_sift_up(timers, last, index);
    } else {
        timers_sift_down(timers, last, index);
    }
}

void crpc_timers_run(crpc_timers *timers, uint64_t now_ns) {
    size_t left = timers->count; // so that this ends
    while (left > 0 && timers->count > 0 && timers->heap[0]->due_ns <= now_ns) {
        crpc_timer *timer = timers->heap[0];
        crpc_timer_cancel(timer);
        timer->function(timer->context);
        left -= 1;
    }
}

void crpc_timers_end(crpc_timers *timers) {
    free(timers->heap);
    *timers = (crpc_timers){0};
}
