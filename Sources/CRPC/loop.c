#include "internal.h"
#include "plain_literals.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static _Thread_local crpc_loop *current_loop;

enum { FIRST_JOB_CAPACITY = 256 };

/// What a loop that has ended has in place of mail.
static crpc_mail ended;

_Noreturn void crpc_die(const char *why) {
    (void)fprintf(stderr, "fatal: %s\n", why);
    abort();
}

uint64_t crpc_loop_clock_ns(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void drain_wake_fd(void *context, int ready) {
    (void)ready;
    uint64_t count;
    // Nonblocking; that there is nothing to read is as good as having read it.
    ssize_t ignored = read(((crpc_loop *)context)->wake_fd, &count, sizeof count);
    (void)ignored;
}

static void ignore_sigpipe(void) {
    // OpenSSL writes to sockets without MSG_NOSIGNAL; a peer that went away must not end the process.
    struct sigaction action;
    if (sigaction(SIGPIPE, NULL, &action) != 0 || action.sa_handler != SIG_DFL) return;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGPIPE, &action, NULL);
}

int crpc_loop_new(crpc_job_function run_job, void *context, crpc_loop **result) {
    crpc_loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL) return CRPC_ERROR_MEMORY;
    ignore_sigpipe();
    loop->run_job = run_job;
    loop->context = context;
    loop->epoll_fd = -1;
    loop->wake_fd = -1;
    crpc_link_init(&loop->hooks);
    crpc_link_init(&loop->dirty);
    crpc_link_init(&loop->closing);
    crpc_link_init(&loop->freed_watches);
    crpc_link_init(&loop->lingering);
    crpc_link_init(&loop->listeners);
    crpc_link_init(&loop->clients);
    crpc_link_init(&loop->handlers);
    loop->now_ns = crpc_loop_clock_ns();
    loop->read_buffer = malloc(CRPC_READ_BUFFER);
    loop->coded_buffer = malloc(CRPC_READ_BUFFER);
    loop->plain_buffer = malloc(crpc_plain_literals_room(CRPC_READ_BUFFER));
    loop->write_buffer = malloc(CRPC_WRITE_BUFFER + CRPC_WRITE_SLACK);
    loop->jobs = calloc(FIRST_JOB_CAPACITY, sizeof *loop->jobs);
    loop->job_capacity = FIRST_JOB_CAPACITY;
    int error = CRPC_ERROR_MEMORY;
    bool has_buffers = loop->read_buffer != NULL && loop->coded_buffer != NULL && loop->plain_buffer != NULL &&
                       loop->write_buffer != NULL;
    if (has_buffers && loop->jobs != NULL) {
        loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        error = CRPC_ERROR_SYSTEM;
        if (loop->epoll_fd >= 0 && loop->wake_fd >= 0) {
            crpc_watch *watch;
            error = crpc_watch_new(loop, loop->wake_fd, CRPC_READABLE, drain_wake_fd, loop, &watch);
            if (error == CRPC_OK) {
                // The watch lives as long as the loop; it is freed with the list that it is put on here.
                crpc_link_append(&loop->freed_watches, &watch->link);
                *result = loop;
                return CRPC_OK;
            }
        }
    }
    crpc_loop_free(loop);
    return error;
}

static void free_watches(crpc_loop *loop, bool all) {
    crpc_link *link = loop->freed_watches.next;
    while (link != &loop->freed_watches) {
        crpc_watch *watch = CRPC_CONTAINER(link, crpc_watch, link);
        link = link->next;
        if (all || watch->function == NULL) {
            crpc_link_remove(&watch->link);
            free(watch);
        }
    }
}

void crpc_loop_free(crpc_loop *loop) {
    if (loop == NULL) return;
    (void)atomic_load(&loop->is_at_rest); // after all that the last thread did, if it ended
    loop->is_ending = true;
    while (!crpc_link_is_empty(&loop->clients))
        crpc_connection_destroy(CRPC_CONTAINER(loop->clients.next, crpc_connection, link));
    while (!crpc_link_is_empty(&loop->listeners))
        crpc_listener_free(CRPC_CONTAINER(loop->listeners.next, crpc_listener, link));
    crpc_handlers_outlive(loop);
    crpc_linger_end_all(loop);
    free_watches(loop, true);
    crpc_mail *mail = atomic_exchange(&loop->mail, NULL);
    while (mail != NULL && mail != &ended) {
        crpc_mail *next = mail->next;
        free(mail);
        mail = next;
    }
    if (loop->epoll_fd >= 0) (void)close(loop->epoll_fd);
    if (loop->wake_fd >= 0) (void)close(loop->wake_fd);
    free(loop->read_buffer);
    free(loop->coded_buffer);
    free(loop->plain_buffer);
    free(loop->write_buffer);
    free(loop->jobs);
    free(loop->timers);
    free(loop);
}

crpc_loop *crpc_loop_current(void) { return current_loop; }
void *crpc_loop_context(const crpc_loop *loop) { return loop->context; }
uint64_t crpc_loop_now_ns(const crpc_loop *loop) { return loop->now_ns; }

// ---- Jobs and mail ----

static void grow_jobs(crpc_loop *loop) {
    size_t capacity = loop->job_capacity * 2;
    void **jobs = malloc(capacity * sizeof *jobs);
    if (jobs == NULL) crpc_die("no memory for a job");
    for (size_t i = 0; i < loop->job_count; i++)
        jobs[i] = loop->jobs[(loop->job_head + i) & (loop->job_capacity - 1)];
    free(loop->jobs);
    loop->jobs = jobs;
    loop->job_capacity = capacity;
    loop->job_head = 0;
}

static void push_job(crpc_loop *loop, void *job) {
    if (loop->job_count == loop->job_capacity) grow_jobs(loop);
    loop->jobs[(loop->job_head + loop->job_count) & (loop->job_capacity - 1)] = job;
    loop->job_count += 1;
}

static void wake(crpc_loop *loop) {
    // Only a loop that sleeps, or is about to, needs the system call; it looks at its mail once more after it said so.
    if (!atomic_exchange(&loop->sleeping, false)) return;
    uint64_t one = 1;
    ssize_t ignored = write(loop->wake_fd, &one, sizeof one);
    (void)ignored;
}

static int post(crpc_loop *loop, crpc_function function, void *context) {
    crpc_mail *mail = malloc(sizeof *mail);
    if (mail == NULL) crpc_die("no memory for a message to a loop");
    mail->function = function;
    mail->context = context;
    crpc_mail *first = atomic_load(&loop->mail);
    do {
        if (first == &ended) {
            free(mail);
            return CRPC_ERROR_CLOSED;
        }
        mail->next = first;
    } while (!atomic_compare_exchange_weak(&loop->mail, &first, mail));
    wake(loop);
    return CRPC_OK;
}

int crpc_loop_post(crpc_loop *loop, crpc_function function, void *context) { return post(loop, function, context); }

int crpc_loop_enqueue(crpc_loop *loop, void *job) {
    if (current_loop != loop) return post(loop, NULL, job);
    push_job(loop, job);
    return CRPC_OK;
}

/// Runs what was posted, in order. `next_mail` is what the loop has from then on: nothing, or the sign that it has ended.
static void read_mail(crpc_loop *loop, crpc_mail *next_mail) {
    crpc_mail *newest = atomic_exchange(&loop->mail, next_mail);
    crpc_mail *oldest = NULL;
    while (newest != NULL) { // it was pushed like a stack: turn it around
        crpc_mail *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest != NULL) {
        crpc_mail *next = oldest->next;
        if (oldest->function == NULL) {
            push_job(loop, oldest->context);
        } else {
            oldest->function(oldest->context);
        }
        free(oldest);
        oldest = next;
    }
}

static void run_jobs(crpc_loop *loop) {
    for (int run = 0; run < CRPC_JOBS_PER_TURN_MAX && loop->job_count > 0; run++) {
        void *job = loop->jobs[loop->job_head];
        loop->job_head = (loop->job_head + 1) & (loop->job_capacity - 1);
        loop->job_count -= 1;
        loop->run_job(job, loop->context);
    }
}

// ---- Turns ----

/// Counts the turn that ends now.
static void end_turn(crpc_loop *loop) {
    loop->stamp_ns = crpc_loop_clock_ns();
    uint64_t length = loop->stamp_ns - loop->now_ns;
    crpc_count(&loop->stats.busy_ns, length);
    crpc_count_time(loop->stats.turns, length);
    __atomic_store_n(&loop->stats.turn_began_ns, 0, __ATOMIC_RELAXED);
}

static void begin_turn(crpc_loop *loop) {
    loop->now_ns = loop->stamp_ns = crpc_loop_clock_ns();
    __atomic_store_n(&loop->stats.turn_began_ns, loop->now_ns, __ATOMIC_RELAXED);
}

static int sleep_ms(const crpc_loop *loop) {
    if (loop->job_count > 0 || !crpc_link_is_empty(&loop->hooks) || !crpc_link_is_empty(&loop->dirty) ||
        !crpc_link_is_empty(&loop->closing))
        return 0;
    uint64_t due = crpc_timers_next_ns(loop);
    if (due == UINT64_MAX) return -1;
    uint64_t now = loop->stamp_ns;
    if (due <= now) return 0;
    uint64_t ms = (due - now + 999999) / 1000000;
    return ms > 60000 ? 60000 : (int)ms;
}

static void wait_for_files(crpc_loop *loop) {
    struct epoll_event events[CRPC_EVENTS_MAX];
    end_turn(loop);
    int timeout = sleep_ms(loop);
    if (timeout != 0) {
        atomic_store(&loop->sleeping, true);
        // Whoever posted before it saw that we sleep did not wake us: look once more.
        if (atomic_load(&loop->mail) != NULL || atomic_load(&loop->stopping)) timeout = 0;
    }
    int count = epoll_wait(loop->epoll_fd, events, CRPC_EVENTS_MAX, timeout);
    atomic_store_explicit(&loop->sleeping, false, memory_order_relaxed);
    begin_turn(loop);
    for (int i = 0; i < count; i++) {
        crpc_watch *watch = events[i].data.ptr;
        if (watch->function == NULL) continue; // freed by a callback of this turn
        int ready = 0;
        if (events[i].events & (EPOLLIN | EPOLLRDHUP)) ready |= CRPC_READABLE;
        if (events[i].events & EPOLLOUT) ready |= CRPC_WRITABLE;
        if (events[i].events & (EPOLLERR | EPOLLHUP)) ready |= CRPC_FAILED;
        watch->function(watch->context, ready);
    }
}

/// Moves a list's elements to another: what is appended to the first from then on waits for the next turn.
static void take_all(crpc_link *list, crpc_link *taken) {
    crpc_link_init(taken);
    if (crpc_link_is_empty(list)) return;
    *taken = *list;
    taken->next->previous = taken;
    taken->previous->next = taken;
    crpc_link_init(list);
}

static void run_hooks(crpc_loop *loop) {
    crpc_link now;
    take_all(&loop->hooks, &now);
    while (!crpc_link_is_empty(&now)) {
        crpc_hook *hook = CRPC_CONTAINER(now.next, crpc_hook, link);
        crpc_link_remove(&hook->link);
        hook->function(hook->context);
    }
}

static void flush_connections(crpc_loop *loop) {
    crpc_link now;
    take_all(&loop->dirty, &now);
    // Calls that end here are timed by this one look at the clock.
    if (!crpc_link_is_empty(&now)) loop->stamp_ns = crpc_loop_clock_ns();
    while (!crpc_link_is_empty(&now)) {
        crpc_connection *connection = CRPC_CONTAINER(now.next, crpc_connection, dirty);
        crpc_link_remove(&connection->dirty);
        crpc_connection_flush(connection);
    }
    while (!crpc_link_is_empty(&loop->closing)) {
        crpc_connection *connection = CRPC_CONTAINER(loop->closing.next, crpc_connection, closing);
        crpc_connection_destroy(connection);
    }
}

void crpc_loop_run(crpc_loop *loop) {
    current_loop = loop;
    begin_turn(loop);
    while (!atomic_load_explicit(&loop->stopping, memory_order_relaxed)) {
        wait_for_files(loop);
        crpc_timers_run(loop);
        if (atomic_load_explicit(&loop->mail, memory_order_relaxed) != NULL) read_mail(loop, NULL);
        run_jobs(loop);
        run_hooks(loop);
        flush_connections(loop);
        free_watches(loop, false);
    }
    end_turn(loop);
    current_loop = NULL;
}

void crpc_loop_end(crpc_loop *loop, crpc_function close) {
    current_loop = loop;
    // What is there is closed before the mail is: whoever is told by it may still post.
    if (close != NULL) close(loop->context);
    flush_connections(loop);
    read_mail(loop, &ended);
    run_jobs(loop);
    flush_connections(loop);
    free_watches(loop, false);
    current_loop = NULL;
    atomic_store(&loop->is_at_rest, true);
}

bool crpc_loop_run_late(crpc_loop *loop, crpc_function function, void *context) {
    // Whoever calls this sees to it that nobody else runs the loop; were it otherwise, nothing here would be safe.
    if (!atomic_exchange(&loop->is_at_rest, false)) abort();
    crpc_loop *outer = current_loop;
    current_loop = loop;
    if (function != NULL) {
        function(context);
    } else if (context != NULL) {
        push_job(loop, context);
    }
    run_jobs(loop);
    flush_connections(loop);
    free_watches(loop, false);
    current_loop = outer;
    bool are_jobs_left = loop->job_count > 0;
    atomic_store(&loop->is_at_rest, true);
    return are_jobs_left;
}

void crpc_loop_name_thread(const char *name) {
    char text[16];
    (void)snprintf(text, sizeof text, "%s", name);
    (void)pthread_setname_np(pthread_self(), text);
}

void crpc_loop_stop(crpc_loop *loop) {
    atomic_store(&loop->stopping, true);
    wake(loop);
}

// ---- Watches and hooks ----

static uint32_t epoll_events(int interest) {
    return (interest & CRPC_READABLE ? (uint32_t)EPOLLIN : 0u) | (interest & CRPC_WRITABLE ? (uint32_t)EPOLLOUT : 0u);
}

int crpc_watch_new(
    crpc_loop *loop, int fd, int interest, crpc_watch_function function, void *context, crpc_watch **result) {
    crpc_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) return CRPC_ERROR_MEMORY;
    watch->loop = loop;
    watch->fd = fd;
    watch->interest = interest;
    watch->function = function;
    watch->context = context;
    crpc_link_init(&watch->link);
    struct epoll_event event = {.events = epoll_events(interest), .data = {.ptr = watch}};
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        free(watch);
        return CRPC_ERROR_SYSTEM;
    }
    *result = watch;
    return CRPC_OK;
}

int crpc_watch_set_interest(crpc_watch *watch, int interest) {
    if (interest == watch->interest) return CRPC_OK;
    struct epoll_event event = {.events = epoll_events(interest), .data = {.ptr = watch}};
    if (epoll_ctl(watch->loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event) != 0) return CRPC_ERROR_SYSTEM;
    watch->interest = interest;
    return CRPC_OK;
}

void crpc_watch_free(crpc_watch *watch) {
    if (watch == NULL || watch->function == NULL) return;
    // It fails only for a file that was closed before, which epoll has forgotten by itself.
    (void)epoll_ctl(watch->loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    watch->function = NULL;
    crpc_link_append(&watch->loop->freed_watches, &watch->link);
}

int crpc_hook_new(crpc_loop *loop, crpc_function function, void *context, crpc_hook **result) {
    crpc_hook *hook = calloc(1, sizeof *hook);
    if (hook == NULL) return CRPC_ERROR_MEMORY;
    hook->loop = loop;
    hook->function = function;
    hook->context = context;
    crpc_link_init(&hook->link);
    *result = hook;
    return CRPC_OK;
}

void crpc_hook_request(crpc_hook *hook) {
    if (crpc_link_is_empty(&hook->link)) crpc_link_append(&hook->loop->hooks, &hook->link);
}

void crpc_hook_free(crpc_hook *hook) {
    if (hook == NULL) return;
    crpc_link_remove(&hook->link);
    free(hook);
}
