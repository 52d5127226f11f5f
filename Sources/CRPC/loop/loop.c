#include "loop/loop.h"
#include "loop/states.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static _Thread_local crpc_loop *loop_of_thread;

enum { FIRST_JOB_CAPACITY = 256 };

static void loop_on_wake(void *context, int ready) {
    (void)ready;
    uint64_t count;
    // Nonblocking; that there is nothing to read is as good as having read it.
    ssize_t ignored = read(((crpc_loop *)context)->wake_fd, &count, sizeof count);
    (void)ignored;
}

static void loop_ignore_sigpipe(void) {
    // OpenSSL writes to sockets without MSG_NOSIGNAL; a peer that went away must not end the process.
    struct sigaction action;
    if (sigaction(SIGPIPE, NULL, &action) != 0 || action.sa_handler != SIG_DFL) return;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGPIPE, &action, NULL);
}

static int loop_open_files(crpc_loop *loop) {
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->epoll_fd < 0 || loop->wake_fd < 0) return CRPC_ERROR_SYSTEM;
    return crpc_watch_begin(&loop->wake, loop, loop->wake_fd, CRPC_READABLE, loop_on_wake, loop);
}

int crpc_loop_new(crpc_job_function run_job, void *context, crpc_loop **result) {
    crpc_loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL) return CRPC_ERROR_MEMORY;
    loop_ignore_sigpipe();
    loop->run_job = run_job;
    loop->context = context;
    loop->epoll_fd = -1;
    loop->wake_fd = -1;
    crpc_turn_init(&loop->turn);
    crpc_link_init(&loop->hooks);
    crpc_link_init(&loop->lingering);
    loop->turn.now_ns = crpc_clock_ns();
    loop->turn.scratch = malloc(CRPC_SCRATCH);
    loop->read_buffer = malloc(CRPC_READ_BUFFER);
    loop->coded_buffer = malloc(CRPC_READ_BUFFER);
    loop->write_buffer = malloc(CRPC_WRITE_BUFFER + CRPC_WRITE_SLACK);
    loop->jobs = calloc(FIRST_JOB_CAPACITY, sizeof *loop->jobs);
    loop->job_capacity = FIRST_JOB_CAPACITY;
    bool has_memory = loop->read_buffer != NULL && loop->coded_buffer != NULL && loop->turn.scratch != NULL &&
                      loop->write_buffer != NULL && loop->jobs != NULL;
    int error = has_memory ? loop_open_files(loop) : CRPC_ERROR_MEMORY;
    if (error == CRPC_OK) {
        *result = loop;
    } else {
        crpc_loop_free(loop);
    }
    return error;
}

void crpc_loop_free(crpc_loop *loop) {
    if (loop == NULL) return;
    (void)atomic_load(&loop->is_at_rest); // after all that the last thread did, if it ended
    crpc_turn_end_residents(&loop->turn);
    crpc_mail_drop(loop);
    crpc_watch_end(&loop->wake);
    if (loop->epoll_fd >= 0) (void)close(loop->epoll_fd);
    if (loop->wake_fd >= 0) (void)close(loop->wake_fd);
    free(loop->turn.scratch);
    free(loop->read_buffer);
    free(loop->coded_buffer);
    free(loop->write_buffer);
    free(loop->jobs);
    crpc_timers_end(&loop->timers);
    for (int i = 0; i < CRPC_STALE_WATCHES_MAX; i++) free(loop->stale[i]);
    free(loop);
}

crpc_loop *crpc_loop_current(void) { return loop_of_thread; }
void *crpc_loop_context(const crpc_loop *loop) { return loop->context; }
uint64_t crpc_loop_now_ns(const crpc_loop *loop) { return loop->turn.now_ns; }

int crpc_loop_enqueue(crpc_loop *loop, void *job) {
    if (loop_of_thread != loop) return crpc_loop_post(loop, NULL, job);
    crpc_job_push(loop, job);
    return CRPC_OK;
}

// ---- Turns ----

/// Counts the turn that ends now.
static void loop_end_turn(crpc_turn *turn) {
    turn->stamp_ns = crpc_clock_ns();
    uint64_t length = turn->stamp_ns - turn->now_ns;
    crpc_count(&turn->stats.busy_ns, length);
    crpc_count_time(turn->stats.turns, length);
    __atomic_store_n(&turn->stats.turn_began_ns, 0, __ATOMIC_RELAXED);
}

static void loop_begin_turn(crpc_turn *turn) {
    turn->now_ns = turn->stamp_ns = crpc_clock_ns();
    __atomic_store_n(&turn->stats.turn_began_ns, turn->now_ns, __ATOMIC_RELAXED);
}

static int loop_sleep_ms(const crpc_loop *loop) {
    if (loop->job_count > 0 || !crpc_link_is_empty(&loop->hooks) || !crpc_link_is_empty(&loop->turn.flushes) ||
        !crpc_link_is_empty(&loop->turn.closes))
        return 0;
    uint64_t due = crpc_timers_next_ns(&loop->timers);
    if (due == UINT64_MAX) return -1;
    uint64_t now = loop->turn.stamp_ns;
    if (due <= now) return 0;
    uint64_t ms = (due - now + 999999) / 1000000;
    return ms > 60000 ? 60000 : (int)ms;
}

static int loop_ready_of(uint32_t events) {
    return (events & (EPOLLIN | EPOLLRDHUP) ? CRPC_READABLE : 0) | (events & EPOLLOUT ? CRPC_WRITABLE : 0) |
           (events & (EPOLLERR | EPOLLHUP) ? CRPC_FAILED : 0);
}

static void loop_wait(crpc_loop *loop) {
    struct epoll_event events[CRPC_EVENTS_MAX];
    loop_end_turn(&loop->turn);
    int timeout = loop_sleep_ms(loop);
    if (timeout != 0) {
        atomic_store(&loop->sleeping, true);
        // A poster that did not see yet that we sleep did not wake us: look once more.
        if (atomic_load(&loop->mail) != NULL || atomic_load(&loop->stopping)) timeout = 0;
    }
    int count = epoll_wait(loop->epoll_fd, events, CRPC_EVENTS_MAX, timeout);
    atomic_store_explicit(&loop->sleeping, false, memory_order_relaxed);
    loop_begin_turn(&loop->turn);
    for (int i = 0; i < count; i++) loop->ready[i] = events[i].data.ptr;
    loop->ready_count = count < 0 ? 0 : count;
    for (loop->ready_at = 0; loop->ready_at < loop->ready_count;) {
        int i = loop->ready_at++;
        crpc_watch *watch = loop->ready[i];
        // Ended by a callback of this turn, or of a file that was closed under it.
        if (watch == NULL || watch->function == NULL) continue;
        watch->function(watch->context, loop_ready_of(events[i].events));
    }
    loop->ready_at = loop->ready_count = 0;
}

static void loop_run_hooks(crpc_loop *loop) {
    crpc_link now;
    crpc_link_take_all(&loop->hooks, &now);
    while (!crpc_link_is_empty(&now)) {
        crpc_hook *hook = CRPC_CONTAINER(now.next, crpc_hook, link);
        crpc_link_remove(&hook->link);
        hook->function(hook->context);
    }
}

void crpc_loop_run(crpc_loop *loop) {
    loop_of_thread = loop;
    loop_begin_turn(&loop->turn);
    while (!atomic_load_explicit(&loop->stopping, memory_order_relaxed)) {
        loop_wait(loop);
        crpc_timers_run(&loop->timers, loop->turn.now_ns);
        if (atomic_load_explicit(&loop->mail, memory_order_relaxed) != NULL) crpc_mail_read(loop, NULL);
        crpc_jobs_run(loop);
        loop_run_hooks(loop);
        crpc_turn_end(&loop->turn);
    }
    loop_end_turn(&loop->turn);
    loop_of_thread = NULL;
}

void crpc_loop_end(crpc_loop *loop, crpc_function close) {
    loop_of_thread = loop;
    // Residents are closed before the mail is: their callbacks may still post.
    if (close != NULL) close(loop->context);
    crpc_turn_end(&loop->turn);
    crpc_mail_read(loop, &crpc_mail_ended);
    crpc_jobs_run(loop);
    crpc_turn_end(&loop->turn);
    loop_of_thread = NULL;
    atomic_store(&loop->is_at_rest, true);
}

bool crpc_loop_run_late(crpc_loop *loop, crpc_function function, void *context) {
    // The caller ensures that no other thread runs the loop; otherwise nothing here would be safe.
    if (!atomic_exchange(&loop->is_at_rest, false)) abort();
    crpc_loop *outer = loop_of_thread;
    loop_of_thread = loop;
    if (function != NULL) {
        function(context);
    } else if (context != NULL) {
        crpc_job_push(loop, context);
    }
    crpc_jobs_run(loop);
    crpc_turn_end(&loop->turn);
    loop_of_thread = outer;
    bool are_jobs_left = loop->job_count > 0;
    atomic_store(&loop->is_at_rest, true);
    return are_jobs_left;
}

void crpc_loop_name_thread(const char *name) {
    char text[16];
    (void)snprintf(text, sizeof text, "%s", name);
    (void)pthread_setname_np(pthread_self(), text);
}
