/// One turn of a loop, as the protocols on it see it: the time, what is counted, and what is to be done at its end.
///
/// A loop has one (loop/loop.h). A test or a fuzzer that feeds a connection by hand has its own, without a loop. It belongs
/// to the thread that runs its loop.
#ifndef CRPC_TURN_H
#define CRPC_TURN_H

#include "crpc_stats.h"
#include "loop/link.h"

#include <stdbool.h>
#include <stdint.h>

/// Most bytes that are handed to a protocol at a time; and the room to write them anew in, since they may grow.
enum { CRPC_READ_BUFFER = 65536, CRPC_SCRATCH = 2 * CRPC_READ_BUFFER };

/// Something to be done for an object at the end of a turn: once, however often it is asked for. Part of its owner, which
/// takes it out of its list before it goes.
typedef struct crpc_chore {
    crpc_link link;
    void (*run)(struct crpc_chore *chore);
} crpc_chore;

/// Something that ends with its loop: `end` is called when that is freed, ends it, and takes it out of the list. It fires at
/// most once, on the thread that frees the loop.
typedef struct crpc_resident {
    crpc_link link; // in turn->residents
    void (*end)(struct crpc_resident *resident);
} crpc_resident;

typedef struct crpc_turn {
    uint64_t now_ns;         // the clock at the turn's begin
    uint64_t stamp_ns;       // the clock as read last in this turn
    crpc_loop_stats stats;
    crpc_link flushes;       // chores of those that have something to send or to tell
    crpc_link closes;        // and then of those that have ended
    crpc_link residents;
    unsigned callback_depth; // nonzero while a connection's callbacks may fire
    bool is_ending;          // the loop is being freed: no callback fires
    uint8_t *scratch;        // CRPC_SCRATCH bytes; nothing stays in them
} crpc_turn;

static inline void crpc_turn_init(crpc_turn *turn) {
    crpc_link_init(&turn->flushes);
    crpc_link_init(&turn->closes);
    crpc_link_init(&turn->residents);
}

/// Asks for a chore, in one of the lists above.
static inline void crpc_chore_request(crpc_link *list, crpc_chore *chore) {
    if (crpc_link_is_empty(&chore->link)) crpc_link_append(list, &chore->link);
}

/// Runs the chores that were asked for until now, then all of those that have ended.
void crpc_turn_end(crpc_turn *turn);

/// The monotonic clock, now.
uint64_t crpc_clock_ns(void);

/// Ends all remaining residents, before the turn is freed.
void crpc_turn_end_residents(crpc_turn *turn);

/// Adds to a counter that other threads read.
static inline void crpc_count(uint64_t *counter, uint64_t more) {
    __atomic_store_n(counter, *counter + more, __ATOMIC_RELAXED);
}
/// Counts a time in a histogram.
void crpc_count_time(uint64_t counts[CRPC_TIME_COUNTS], uint64_t ns);

static inline uint64_t crpc_ns_of_ms(uint64_t ms) { return ms * 1000000u; }

#endif
