/// A loop: one thread, one epoll, its timers, and the queue of jobs that its Swift executor runs.
///
/// One turn: wait for files and timers · run file callbacks · run due timers · run posted functions · run jobs ·
/// run requested hooks · flush the connections that have something to send · free what was closed.
#ifndef CRPC_LOOP_H
#define CRPC_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct crpc_loop crpc_loop;
typedef struct crpc_watch crpc_watch;
typedef struct crpc_timer crpc_timer;
typedef struct crpc_hook crpc_hook;

/// Runs one job of the executor. `job` is what was enqueued, `context` what the loop was made with.
typedef void (*crpc_job_function)(void *job, void *context);
typedef void (*crpc_function)(void *context);

/// Most jobs that run in one turn before files are looked at again.
enum { CRPC_JOBS_PER_TURN_MAX = 8192 };

/// Makes a loop. Any thread; the loop belongs to whichever thread calls `crpc_loop_run`. `context` is handed to
/// `run_job` and returned by `crpc_loop_context`; the loop does not own it. Ignores SIGPIPE in the process if it had
/// its default action. Errors: MEMORY, SYSTEM. On an error nothing was made.
int crpc_loop_new(crpc_job_function run_job, void *context, crpc_loop **result);

/// Frees a loop that does not run. Jobs and functions that never ran are dropped. Listeners and connections that are still
/// there are closed and freed with it, and none of their callbacks fires: nobody runs the loop that they would fire on.
/// Watches, timers and hooks must be gone. Any thread, after `run` returned.
void crpc_loop_free(crpc_loop *loop);

/// Runs turns until `crpc_loop_stop`. Called by the thread that owns the loop from then on.
void crpc_loop_run(crpc_loop *loop);

/// Ends the loop, on the thread whose `crpc_loop_run` has returned. Calls `close` (may be NULL) with the loop's context, to
/// close what is on the loop; what is closed tells its calls; then runs what was posted before. From then on nothing can be
/// posted, no timer fires and no file is watched.
void crpc_loop_end(crpc_loop *loop, crpc_function close);

/// After the loop's end: runs one refused job, or one refused function with its context, and then the jobs that follow from
/// it. Refused is what `crpc_loop_enqueue` or `crpc_loop_post` did not take because the loop has ended. `function` NULL:
/// `context` is the job; both NULL: runs the jobs that are left. While it lasts the calling thread stands in for the
/// loop's own: `crpc_loop_current` says so. After `crpc_loop_end`; one thread at a time, or the process ends. Returns
/// whether jobs are left.
bool crpc_loop_run_late(crpc_loop *loop, crpc_function function, void *context);

/// Names the calling thread, for debuggers and `top`; the system keeps 15 bytes. Any thread.
void crpc_loop_name_thread(const char *name);

/// Makes `crpc_loop_run` return after the turn that it is in. Any thread.
void crpc_loop_stop(crpc_loop *loop);

/// The loop that the calling thread runs, or NULL. Any thread.
crpc_loop *crpc_loop_current(void);

/// What the loop was made with. Any thread.
void *crpc_loop_context(const crpc_loop *loop);

/// Queues a job; jobs run in order, each once. Any thread. From the loop's own thread it costs no system call and no
/// allocation (but for growth of the queue). Ends the process if there is no memory: an executor must not lose a job.
/// Errors: CLOSED, when the loop has ended; then it was not taken.
int crpc_loop_enqueue(crpc_loop *loop, void *job);

/// Queues a function; it runs once, later, on the loop's thread. Any thread. Ends the process if there is no memory.
/// Errors: CLOSED, when the loop has ended; then it never runs.
int crpc_loop_post(crpc_loop *loop, crpc_function function, void *context);

/// The monotonic clock as read at the start of this turn, in nanoseconds. Loop thread.
uint64_t crpc_loop_now_ns(const crpc_loop *loop);

/// What a file is watched for, and what happened to it.
enum {
    CRPC_READABLE = 1,
    CRPC_WRITABLE = 2,
    /// Hang-up or error; reported always.
    CRPC_FAILED = 4,
};

typedef void (*crpc_watch_function)(void *context, int ready);

/// Watches a file descriptor, which stays the caller's, level-triggered. The callback fires in each turn in which the
/// file is ready for one of `interest`. Errors: MEMORY, SYSTEM (errno of epoll_ctl).
int crpc_watch_new(
    crpc_loop *loop, int fd, int interest, crpc_watch_function function, void *context, crpc_watch **result);

/// Changes what the file is watched for. Errors: SYSTEM.
int crpc_watch_set_interest(crpc_watch *watch, int interest);

/// Ends the watch: its callback never fires again, even if it is called from inside a callback of this turn.
/// Call it before the file is closed; where that can't be, the memory is kept for a while, since a child process may still have
/// the file. Frees the watch.
void crpc_watch_free(crpc_watch *watch);

/// Makes a timer that is not set. Errors: MEMORY.
int crpc_timer_new(crpc_loop *loop, crpc_function function, void *context, crpc_timer **result);

/// Sets, or sets anew, when the timer fires, on the clock of `crpc_loop_now_ns`. It fires once for each setting.
/// Errors: MEMORY; then it is not set.
int crpc_timer_set(crpc_timer *timer, uint64_t due_ns);

/// Makes a timer that is set not fire. Nothing happens if it is not set.
void crpc_timer_cancel(crpc_timer *timer);

/// Cancels and frees a timer; may be called from its own callback.
void crpc_timer_free(crpc_timer *timer);

/// Makes a hook that runs at the end of a turn in which it was requested. Errors: MEMORY.
int crpc_hook_new(crpc_loop *loop, crpc_function function, void *context, crpc_hook **result);

/// Asks that the hook runs at the end of this turn, or of the next one if hooks are running. Once however often asked.
void crpc_hook_request(crpc_hook *hook);

/// Frees a hook; a request is dropped.
void crpc_hook_free(crpc_hook *hook);

#endif
