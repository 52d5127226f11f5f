#include "loop/turn.h"

#include <time.h>

uint64_t crpc_clock_ns(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void turn_run_chores(crpc_link *list) {
    while (!crpc_link_is_empty(list)) {
        crpc_chore *chore = CRPC_CONTAINER(list->next, crpc_chore, link);
        crpc_link_remove(&chore->link);
        chore->run(chore);
    }
}

void crpc_turn_end(crpc_turn *turn) {
    crpc_link now;
    crpc_link_take_all(&turn->flushes, &now);
    // Calls that end here are timed by this one look at the clock.
    if (!crpc_link_is_empty(&now)) turn->stamp_ns = crpc_clock_ns();
    turn_run_chores(&now);
    turn_run_chores(&turn->closes);
}

void crpc_turn_end_residents(crpc_turn *turn) {
    turn->is_ending = true;
    while (!crpc_link_is_empty(&turn->residents)) {
        crpc_resident *resident = CRPC_CONTAINER(turn->residents.next, crpc_resident, link);
        resident->end(resident);
    }
}
