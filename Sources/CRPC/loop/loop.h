/// A loop's inside: its turn, what it watches, its mail and jobs. All but the atomic fields belong to the loop's thread.
///
/// Nothing here knows what is on a loop. An object that must end with its loop is added to the turn as a resident.
#ifndef CRPC_LOOP_INSIDE_H
#define CRPC_LOOP_INSIDE_H

#include "crpc_error.h"
#include "crpc_loop.h"
#include "loop/link.h"
#include "loop/timers.h"
#include "loop/turn.h"

#include <stdatomic.h>

/// Bytes gathered before a write, and room for the frame that goes past it.
enum { CRPC_WRITE_BUFFER = 65536, CRPC_WRITE_SLACK = 32768 };
/// Events taken from epoll at a time.
enum { CRPC_EVENTS_MAX = 256 };
/// Freed watches that are kept because epoll may still report them (see `crpc_watch_free`).
enum { CRPC_STALE_WATCHES_MAX = 64 };

/// A file that is watched; part of its owner, or made by `crpc_watch_new`.
struct crpc_watch {
    crpc_loop *loop;
    crpc_watch_function function; // NULL where nothing is watched
    void *context;
    int fd;
    int interest;
};

struct crpc_hook {
    crpc_loop *loop;
    crpc_function function;
    void *context;
    crpc_link link;
};

typedef struct crpc_mail {
    struct crpc_mail *next;
    crpc_function function; // NULL for a job
    void *context;
} crpc_mail;

struct crpc_loop {
    crpc_turn turn;
    crpc_job_function run_job;
    void *context;
    int epoll_fd;
    int wake_fd;
    _Atomic(bool) stopping;
    _Atomic(bool) sleeping;
    _Atomic(bool) is_at_rest; // it has ended, and nobody stands in for its thread now
    _Atomic(crpc_mail *) mail;
    // Jobs: a ring whose capacity is a power of two.
    void **jobs;
    size_t job_capacity, job_head, job_count;
    crpc_timers timers;
    crpc_link hooks;          // requested ones
    crpc_watch wake;          // of wake_fd
    crpc_watch *ready[CRPC_EVENTS_MAX]; // watches of this turn that were not called yet; NULL once freed
    int ready_at, ready_count;
    crpc_watch *stale[CRPC_STALE_WATCHES_MAX]; // a ring
    unsigned stale_at;
    crpc_link lingering;      // sockets whose connection has ended, the oldest first (transport/linger.h)
    uint32_t lingering_count;
    uint8_t *read_buffer;
    uint8_t *coded_buffer;    // what one read of a connection with TLS brought; nothing stays in it
    uint8_t *write_buffer;    // where a connection's frames of one flush are gathered
};

/// Watches a file with a watch that is part of something. Errors: SYSTEM; then nothing is watched.
int crpc_watch_begin(
    crpc_watch *watch, crpc_loop *loop, int fd, int interest, crpc_watch_function function, void *context);
/// Ends it, if anything is watched: its callback never fires again, also not in this turn. Before the file is closed.
void crpc_watch_end(crpc_watch *watch);

// loop/mailbox.c

/// Runs what was posted, in order. `next_mail` is what the loop has from then on: nothing, or `crpc_mail_ended`.
void crpc_mail_read(crpc_loop *loop, crpc_mail *next_mail);
/// What a loop that has ended has in place of mail.
extern crpc_mail crpc_mail_ended;
/// Frees what nobody read.
void crpc_mail_drop(crpc_loop *loop);
/// Runs jobs that wait, at most CRPC_JOBS_PER_TURN_MAX.
void crpc_jobs_run(crpc_loop *loop);
/// Puts a job into the ring, on the loop's thread.
void crpc_job_push(crpc_loop *loop, void *job);

#endif
