#include "layer.h"
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

// The loop: jobs, posted functions, timers, watches, hooks; the order of a turn; other threads.

enum { LOG_MAX = 4096 };

/// What ran, in order.
typedef struct log {
    crpc_loop *loop;
    char text[LOG_MAX];
    size_t length;
} log;

static void write_log(log *log, char c) {
    REQUIRE(log->length < LOG_MAX);
    EXPECT(log->loop == NULL || crpc_loop_current() == log->loop);
    log->text[log->length++] = c;
}

static void run_job(void *job, void *context) {
    if (job != NULL) ((void (*)(void *))job)(context);
}

static crpc_loop *make_loop(log *log) {
    crpc_loop *loop;
    REQUIRE(crpc_loop_new(run_job, log, &loop) == CRPC_OK);
    log->loop = loop;
    return loop;
}

static uint64_t clock_ns(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void log_a(void *context) { write_log(context, 'a'); }
static void log_b(void *context) { write_log(context, 'b'); }
static void log_j(void *context) { write_log(context, 'j'); }
static void stop_now(void *context) { crpc_loop_stop(((log *)context)->loop); }

TEST(a_stopped_loop_returns) {
    log log = {0};
    crpc_loop *loop = make_loop(&log);
    EXPECT(crpc_loop_context(loop) == &log);
    EXPECT(crpc_loop_current() == NULL);
    crpc_loop_stop(loop);
    crpc_loop_run(loop);
    EXPECT(crpc_loop_current() == NULL);
    crpc_loop_free(loop);
    crpc_loop_free(NULL);
}

TEST(what_never_ran_is_dropped_with_the_loop) {
    log log = {0};
    crpc_loop *loop = make_loop(&log);
    crpc_loop_post(loop, log_a, &log);
    crpc_loop_enqueue(loop, NULL);
    crpc_loop_free(loop);
    EXPECT_EQUAL(log.length, 0);
}

static void enqueue_more(void *context) {
    log *log = context;
    write_log(log, '1');
    for (int i = 0; i < 1000; i++) crpc_loop_enqueue(log->loop, (void *)log_j);
    crpc_loop_enqueue(log->loop, (void *)stop_now);
}

TEST(jobs_run_once_and_in_order) {
    log log = {0};
    crpc_loop *loop = make_loop(&log);
    crpc_loop_enqueue(loop, (void *)log_a);
    crpc_loop_enqueue(loop, (void *)log_b);
    crpc_loop_enqueue(loop, (void *)enqueue_more);
    crpc_loop_run(loop);
    EXPECT_EQUAL(log.length, 1003);
    EXPECT_BYTES(log.text, 4, "ab1j", 4);
    for (size_t i = 3; i < log.length; i++) EXPECT_EQUAL(log.text[i], 'j');
    crpc_loop_free(loop);
}

typedef struct order {
    log *log;
    crpc_timer *timer;
    crpc_hook *hook;
    int ends[2];
} order;

static void on_file(void *context, int ready) {
    order *order = context;
    char byte;
    EXPECT_EQUAL(ready & CRPC_READABLE, CRPC_READABLE);
    EXPECT_EQUAL(read(order->ends[0], &byte, 1), 1);
    write_log(order->log, 'f');
    crpc_hook_request(order->hook);
    crpc_hook_request(order->hook); // once however often asked
    crpc_loop_enqueue(order->log->loop, (void *)log_j);
    crpc_loop_post(order->log->loop, log_a, order->log);
    EXPECT_EQUAL(crpc_timer_set(order->timer, crpc_loop_now_ns(order->log->loop)), CRPC_OK);
}

static void on_order_timer(void *context) { write_log(((order *)context)->log, 't'); }

static void on_order_hook(void *context) {
    order *order = context;
    write_log(order->log, 'h');
    if (order->log->length < 10) crpc_hook_request(order->hook); // for the next turn
    else stop_now(order->log);
}

TEST(a_turn_runs_files_timers_posts_jobs_and_hooks_in_this_order) {
    log log = {0};
    order order = {.log = &log};
    crpc_loop *loop = make_loop(&log);
    crpc_watch *watch;
    REQUIRE(pipe(order.ends) == 0);
    REQUIRE(crpc_watch_new(loop, order.ends[0], CRPC_READABLE, on_file, &order, &watch) == CRPC_OK);
    REQUIRE(crpc_timer_new(loop, on_order_timer, &order, &order.timer) == CRPC_OK);
    REQUIRE(crpc_hook_new(loop, on_order_hook, &order, &order.hook) == CRPC_OK);
    EXPECT_EQUAL(write(order.ends[1], "x", 1), 1);
    crpc_loop_run(loop);
    EXPECT_BYTES(log.text, log.length, "ftajhhhhhh", 10);
    crpc_watch_free(watch);
    crpc_timer_free(order.timer);
    crpc_hook_free(order.hook);
    crpc_loop_free(loop);
    (void)close(order.ends[0]);
    (void)close(order.ends[1]);
}

// ---- Timers ----

enum { TIMERS = 2000 };

typedef struct alarm_state {
    log *log;
    crpc_timer *timer;
    uint64_t due_ns;
    unsigned fired;
} alarm_state;

static alarm_state alarms[TIMERS];
static uint64_t last_fired_ns;
static unsigned fired_count, wanted_count;

static void on_alarm(void *context) {
    alarm_state *alarm = context;
    EXPECT(alarm->due_ns <= crpc_loop_now_ns(alarm->log->loop));
    EXPECT(alarm->due_ns >= last_fired_ns);
    last_fired_ns = alarm->due_ns;
    alarm->fired += 1;
    fired_count += 1;
    if (fired_count == wanted_count) stop_now(alarm->log);
}

TEST(timers_fire_in_order_of_time_and_once_for_each_setting) {
    log log = {0};
    crpc_loop *loop = make_loop(&log);
    uint64_t state = 7, start = clock_ns();
    for (size_t i = 0; i < TIMERS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        alarms[i] = (alarm_state){.log = &log, .due_ns = start + (state >> 33) % 40000000};
        REQUIRE(crpc_timer_new(loop, on_alarm, &alarms[i], &alarms[i].timer) == CRPC_OK);
        EXPECT_EQUAL(crpc_timer_set(alarms[i].timer, alarms[i].due_ns), CRPC_OK);
    }
    // A third is cancelled, a third set anew, earlier or later; some of the cancelled are freed.
    for (size_t i = 0; i < TIMERS; i++) {
        if (i % 3 == 0) crpc_timer_cancel(alarms[i].timer);
        if (i % 3 == 0) crpc_timer_cancel(alarms[i].timer); // nothing happens
        if (i % 6 == 0) {
            crpc_timer_free(alarms[i].timer);
            alarms[i].timer = NULL;
        }
        if (i % 3 == 1) {
            alarms[i].due_ns = start + (alarms[i].due_ns - start) * (i % 2 == 0 ? 2 : 1) / (i % 2 == 0 ? 1 : 2);
            EXPECT_EQUAL(crpc_timer_set(alarms[i].timer, alarms[i].due_ns), CRPC_OK);
        }
        if (i % 3 != 0) wanted_count += 1;
    }
    crpc_loop_run(loop);
    for (size_t i = 0; i < TIMERS; i++) {
        EXPECT_EQUAL(alarms[i].fired, i % 3 != 0);
        crpc_timer_free(alarms[i].timer);
    }
    crpc_loop_free(loop);
}

typedef struct repeat {
    log *log;
    crpc_timer *timer, *other;
    int count;
} repeat;

static void on_repeat(void *context) {
    repeat *repeat = context;
    repeat->count += 1;
    if (repeat->count < 5) {
        EXPECT_EQUAL(crpc_timer_set(repeat->timer, 0), CRPC_OK); // due already, and yet it ends
        return;
    }
    crpc_timer_free(repeat->other); // one that is due, too
    crpc_timer_free(repeat->timer); // from its own callback
    stop_now(repeat->log);
}

static void on_never(void *context) {
    (void)context;
    EXPECT(false);
}

TEST(a_timer_may_set_and_free_itself_and_others) {
    log log = {0};
    crpc_loop *loop = make_loop(&log);
    repeat repeat = {.log = &log};
    REQUIRE(crpc_timer_new(loop, on_repeat, &repeat, &repeat.timer) == CRPC_OK);
    REQUIRE(crpc_timer_new(loop, on_never, &repeat, &repeat.other) == CRPC_OK);
    EXPECT_EQUAL(crpc_timer_set(repeat.timer, 0), CRPC_OK);
    EXPECT_EQUAL(crpc_timer_set(repeat.other, clock_ns() + 60000000000u), CRPC_OK);
    crpc_loop_run(loop);
    EXPECT_EQUAL(repeat.count, 5);
    crpc_loop_free(loop);
}

TEST(a_sleeping_loop_wakes_in_time) {
    log log = {0};
    crpc_loop *loop = make_loop(&log);
    crpc_timer *timer;
    uint64_t start = clock_ns();
    REQUIRE(crpc_timer_new(loop, stop_now, &log, &timer) == CRPC_OK);
    EXPECT_EQUAL(crpc_timer_set(timer, start + 30000000), CRPC_OK);
    crpc_loop_run(loop);
    EXPECT(clock_ns() - start >= 30000000);
    EXPECT(clock_ns() - start < 2000000000);
    crpc_timer_free(timer);
    crpc_loop_free(loop);
}

// ---- Watches ----

typedef struct pair {
    log *log;
    crpc_watch *watches[2];
    int ends[2][2];
} pair;

static void free_both(void *context, int ready) {
    pair *pair = context;
    EXPECT(ready & CRPC_READABLE);
    write_log(pair->log, 'w');
    for (int i = 0; i < 2; i++) {
        crpc_watch_free(pair->watches[i]);
        pair->watches[i] = NULL;
    }
    stop_now(pair->log);
}

TEST(a_watch_that_was_freed_never_fires_again_even_in_this_turn) {
    log log = {0};
    crpc_loop *loop = make_loop(&log);
    pair pair = {.log = &log};
    for (int i = 0; i < 2; i++) {
        REQUIRE(pipe(pair.ends[i]) == 0);
        REQUIRE(crpc_watch_new(loop, pair.ends[i][0], CRPC_READABLE, free_both, &pair, &pair.watches[i]) == CRPC_OK);
        EXPECT_EQUAL(write(pair.ends[i][1], "x", 1), 1);
    }
    crpc_loop_run(loop); // both files are ready in the same turn
    EXPECT_BYTES(log.text, log.length, "w", 1);
    crpc_loop_free(loop);
    for (int i = 0; i < 4; i++) (void)close(pair.ends[i / 2][i % 2]);
}

static void log_and_stop(void *context) {
    log *log = context;
    write_log(log, 't');
    stop_now(log);
}

/// As where a child process has a copy of the descriptor for a moment: epoll reports the file, though its watch is freed.
TEST(a_watch_of_a_file_that_was_closed_under_it_never_fires_again) {
    log log = {0};
    crpc_loop *loop = make_loop(&log);
    crpc_timer *timer;
    REQUIRE(crpc_timer_new(loop, log_and_stop, &log, &timer) == CRPC_OK);
    int copies[CRPC_STALE_WATCHES_MAX + 1], others[CRPC_STALE_WATCHES_MAX + 1];
    for (int i = 0; i <= CRPC_STALE_WATCHES_MAX; i++) {
        int ends[2];
        crpc_watch *watch;
        REQUIRE(pipe(ends) == 0);
        others[i] = ends[1];
        copies[i] = dup(ends[0]);
        REQUIRE(crpc_watch_new(loop, ends[0], CRPC_READABLE, free_both, NULL, &watch) == CRPC_OK);
        (void)close(ends[0]);
        // The oldest is forgotten where there are too many; its file is gone by then.
        if (i == 0) (void)close(copies[i]);
        else EXPECT_EQUAL(write(others[i], "x", 1), 1);
        crpc_watch_free(watch);
    }
    EXPECT_EQUAL(crpc_timer_set(timer, crpc_loop_now_ns(loop) + 20000000), CRPC_OK);
    crpc_loop_run(loop);
    EXPECT_BYTES(log.text, log.length, "t", 1);
    crpc_timer_free(timer);
    crpc_loop_free(loop);
    for (int i = 0; i <= CRPC_STALE_WATCHES_MAX; i++) {
        if (i > 0) (void)close(copies[i]);
        (void)close(others[i]);
    }
}

static void log_ready(void *context, int ready) {
    log *log = context;
    write_log(log, (char)('0' + ready));
    if (log->length >= 3) stop_now(log);
}

TEST(watches_are_level_triggered_and_their_interest_changes) {
    log log = {0};
    crpc_loop *loop = make_loop(&log);
    crpc_watch *watch;
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    REQUIRE(crpc_watch_new(loop, ends[1], 0, log_ready, &log, &watch) == CRPC_OK);
    EXPECT_EQUAL(crpc_watch_set_interest(watch, CRPC_WRITABLE), CRPC_OK);
    EXPECT_EQUAL(crpc_watch_set_interest(watch, CRPC_WRITABLE), CRPC_OK);
    crpc_loop_run(loop);
    EXPECT_BYTES(log.text, log.length, "222", 3);
    // A hang-up is reported with any interest.
    log.length = 2;
    EXPECT_EQUAL(crpc_watch_set_interest(watch, 0), CRPC_OK);
    (void)close(ends[0]);
    atomic_store(&loop->stopping, false);
    crpc_loop_run(loop);
    EXPECT_BYTES(log.text, log.length, "224", 3);
    crpc_watch_free(watch);
    EXPECT_EQUAL(crpc_watch_new(loop, 1000000, CRPC_READABLE, log_ready, &log, &watch), CRPC_ERROR_SYSTEM);
    EXPECT_EQUAL(errno, EBADF);
    crpc_loop_free(loop);
    (void)close(ends[1]);
}

TEST(a_freed_hook_does_not_run) {
    log log = {0};
    crpc_loop *loop = make_loop(&log);
    crpc_hook *first, *second;
    REQUIRE(crpc_hook_new(loop, log_a, &log, &first) == CRPC_OK);
    REQUIRE(crpc_hook_new(loop, stop_now, &log, &second) == CRPC_OK);
    crpc_hook_request(first);
    crpc_hook_request(second);
    crpc_hook_free(first);
    crpc_loop_run(loop);
    EXPECT_EQUAL(log.length, 0);
    crpc_hook_free(second);
    crpc_hook_free(NULL);
    crpc_loop_free(loop);
}

// ---- Threads ----

enum { THREADS = 4, POSTS = 20000 };

typedef struct crowd {
    crpc_loop *loop;
    _Atomic(unsigned) posted;
    unsigned ran, next[THREADS];
} crowd;

typedef struct ticket {
    crowd *crowd;
    unsigned thread, number;
} ticket;

static void use_ticket(void *context) {
    ticket *ticket = context;
    crowd *crowd = ticket->crowd;
    EXPECT(crpc_loop_current() == crowd->loop);
    EXPECT_EQUAL(ticket->number, crowd->next[ticket->thread]); // each thread's in the order that it posted
    crowd->next[ticket->thread] += 1;
    crowd->ran += 1;
    free(ticket);
    if (crowd->ran == THREADS * POSTS) crpc_loop_stop(crowd->loop);
}

static void use_ticket_job(void *job, void *context) {
    (void)context;
    use_ticket(job);
}

static void *post_many(void *context) {
    crowd *crowd = context;
    unsigned thread = atomic_fetch_add(&crowd->posted, 1);
    EXPECT(crpc_loop_current() == NULL);
    for (unsigned i = 0; i < POSTS; i++) {
        ticket *ticket = malloc(sizeof *ticket);
        if (ticket == NULL) abort();
        *ticket = (struct ticket){crowd, thread, i};
        if (thread % 2 == 0) {
            crpc_loop_post(crowd->loop, use_ticket, ticket);
        } else {
            crpc_loop_enqueue(crowd->loop, ticket);
        }
        if (i % 1000 == 0) (void)usleep(1000); // lets the loop fall asleep
    }
    return NULL;
}

TEST(other_threads_post_and_nothing_is_lost) {
    crowd crowd = {0};
    pthread_t threads[THREADS];
    REQUIRE(crpc_loop_new(use_ticket_job, &crowd, &crowd.loop) == CRPC_OK);
    for (int i = 0; i < THREADS; i++) REQUIRE(pthread_create(&threads[i], NULL, post_many, &crowd) == 0);
    crpc_loop_name_thread("a name that is too long");
    crpc_loop_run(crowd.loop);
    for (int i = 0; i < THREADS; i++) (void)pthread_join(threads[i], NULL);
    EXPECT_EQUAL(crowd.ran, THREADS * POSTS);
    crpc_loop_free(crowd.loop);
}

static void *run_loop(void *context) {
    crpc_loop_run(context);
    return NULL;
}

TEST(another_thread_stops_a_loop_that_sleeps) {
    log log = {0};
    crpc_loop *loop = make_loop(&log);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, run_loop, loop) == 0);
    (void)usleep(20000);
    crpc_loop_stop(loop);
    (void)pthread_join(thread, NULL);
    crpc_loop_free(loop);
}

static void log_closing(void *context) {
    log *log = context;
    write_log(log, 'c');
    EXPECT_EQUAL(crpc_loop_post(log->loop, log_b, log), CRPC_OK); // closing something may still post
    EXPECT_EQUAL(crpc_loop_enqueue(log->loop, (void *)log_j), CRPC_OK);
}

static void enqueue_again(void *context) {
    log *log = context;
    write_log(log, 'r');
    if (log->length < 20) EXPECT_EQUAL(crpc_loop_enqueue(log->loop, (void *)enqueue_again), CRPC_OK);
}

TEST(what_was_posted_before_the_end_runs_and_nothing_can_be_posted_after) {
    log log = {0};
    crpc_loop *loop = make_loop(&log);
    crpc_loop_stop(loop);
    crpc_loop_run(loop);
    EXPECT_EQUAL(crpc_loop_post(loop, log_a, &log), CRPC_OK);
    crpc_loop_end(loop, log_closing);
    EXPECT_BYTES(log.text, log.length, "cabj", 4);
    EXPECT(crpc_loop_current() == NULL);
    EXPECT_EQUAL(crpc_loop_post(loop, log_a, &log), CRPC_ERROR_CLOSED);
    EXPECT_EQUAL(crpc_loop_enqueue(loop, (void *)log_a), CRPC_ERROR_CLOSED);
    EXPECT_EQUAL(log.length, 4);
    crpc_loop_free(loop);
}

TEST(a_thread_stands_in_for_a_loop_that_has_ended) {
    log log = {0};
    crpc_loop *loop = make_loop(&log);
    crpc_loop_stop(loop);
    crpc_loop_run(loop);
    crpc_loop_end(loop, NULL);
    bool is_more = crpc_loop_run_late(loop, log_a, &log);
    EXPECT(!is_more);
    is_more = crpc_loop_run_late(loop, NULL, (void *)log_b);
    EXPECT(!is_more);
    is_more = crpc_loop_run_late(loop, NULL, NULL);
    EXPECT(!is_more);
    EXPECT_BYTES(log.text, log.length, "ab", 2);
    is_more = crpc_loop_run_late(loop, NULL, (void *)enqueue_again);
    EXPECT(!is_more);
    EXPECT_EQUAL(log.length, 20);
    EXPECT(crpc_loop_current() == NULL);
    crpc_loop_free(loop);
}

static void enqueue_for_ever(void *context) {
    EXPECT_EQUAL(crpc_loop_enqueue(((log *)context)->loop, (void *)enqueue_for_ever), CRPC_OK);
}

TEST(jobs_that_never_end_do_not_keep_the_thread) {
    log log = {0};
    crpc_loop *loop = make_loop(&log);
    crpc_loop_stop(loop);
    crpc_loop_run(loop);
    crpc_loop_end(loop, NULL);
    EXPECT(crpc_loop_run_late(loop, NULL, (void *)enqueue_for_ever));
    EXPECT(crpc_loop_run_late(loop, NULL, NULL));
    crpc_loop_free(loop);
}

TEST(sigpipe_is_ignored_unless_somebody_wants_it) {
    log log = {0};
    struct sigaction action = {0};
    action.sa_handler = SIG_DFL;
    (void)sigaction(SIGPIPE, &action, NULL);
    crpc_loop_free(make_loop(&log));
    (void)sigaction(SIGPIPE, NULL, &action);
    EXPECT(action.sa_handler == SIG_IGN);
}
