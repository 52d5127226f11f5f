#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ccrash.h"
#include "test.h"

// What is noted of calls in flight, and what a process that crashes leaves behind.

static ccrash_call *began(const char *method, const char *id) {
    return ccrash_call_began(method, strlen(method), id, strlen(id), false);
}

static char report[65536];
static char line[65536];
static char full_log_report[] = "/tmp/ccrash-full-XXXXXX";

static size_t read_file(int file, char *bytes, size_t max) {
    size_t count = 0;
    ssize_t more;
    while (count < max - 1 && (more = read(file, bytes + count, max - 1 - count)) > 0) count += (size_t)more;
    bytes[count] = '\0';
    return count;
}

/// Runs `crash` in a process that reports crashes, and reads what that left behind. Returns how the process ended.
static int crash_in_child(void (*crash)(void), bool writes_json) {
    char path[] = "/tmp/ccrash-test-XXXXXX";
    int placeholder = mkstemp(path);
    REQUIRE(placeholder >= 0);
    close(placeholder);
    unlink(path);
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        close(ends[0]);
        ccrash_options options = {
            .program = "test", .version = "1.2", .log_descriptor = ends[1], .writes_json = writes_json, .report_path = path};
        // What handled the signals before is the sanitizers', which would print for long.
        for (int i = 1; i < 32; i++) signal(i, SIG_DFL);
        if (ccrash_install(&options) != 0) _exit(99);
        crash();
        _exit(0);
    }
    close(ends[1]);
    (void)read_file(ends[0], line, sizeof line);
    close(ends[0]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    int file = open(path, O_RDONLY);
    report[0] = '\0';
    if (file >= 0) {
        (void)read_file(file, report, sizeof report);
        close(file);
        unlink(path);
    }
    return status;
}

static void trap_in_a_call(void) {
    (void)ccrash_call_began("/a.A/Stream", strlen("/a.A/Stream"), NULL, 0, true);
    ccrash_call_ended(began("/a.A/Ended", "gone"));
    (void)began("/a.A/Add", "id-7");
    __builtin_trap();
}

static void trap_in_a_call_with_spaces_in_its_id(void) {
    (void)began("POST /v1/add", "id-7 /a.A/Other id-8");
    __builtin_trap();
}

/// Crashes with a log that nobody reads and that is full, in a thread that takes no SIGALRM, which another part handles.
static void trap_with_a_full_log(void) {
    int ends[2];
    if (pipe(ends) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) _exit(98);
    while (write(ends[1], line, sizeof line) > 0) continue;
    while (write(ends[1], line, 1) > 0) continue;
    if (fcntl(ends[1], F_SETFL, 0) != 0) _exit(98);
    ccrash_options options = {.program = "test", .version = "1.2", .log_descriptor = ends[1], .report_path = full_log_report};
    if (ccrash_install(&options) != 0) _exit(99);
    (void)signal(SIGALRM, SIG_IGN);
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGALRM);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)began("/a.A/Add", "id-7");
    __builtin_trap();
}

static void *begin_elsewhere(void *unused) {
    (void)unused;
    (void)began("/a.A/Elsewhere", "id-8");
    return NULL;
}

static void abort_in_no_call(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, begin_elsewhere, NULL) != 0) _exit(98);
    pthread_join(thread, NULL);
    abort();
}

static void send_a_signal(void) { kill(getpid(), SIGSEGV); }

static void crash_with_many_calls(void) {
    char long_name[400];
    memset(long_name, 'm', sizeof long_name);
    long_name[3] = '"';
    long_name[4] = '\n';
    for (int i = 0; i < 3000; i++) {
        (void)ccrash_call_began(long_name, sizeof long_name, long_name, sizeof long_name, false);
    }
    __builtin_trap();
}

static volatile char *volatile sink;
static volatile bool stops;
__attribute__((noinline, no_sanitize("address"))) static void overflow(volatile char *before) {
    volatile char bytes[4096];
    bytes[0] = before == NULL ? 0 : before[0];
    sink = bytes;
    if (!stops) overflow(bytes);
    sink = bytes;
}

static void overflow_the_stack(void) { overflow(NULL); }

TEST(a_crash_is_attributed_to_the_call_of_its_thread) {
    int status = crash_in_child(trap_in_a_call, true);
    EXPECT(WIFSIGNALED(status));
    EXPECT(strstr(line, "\"level\":\"critical\",\"logger\":\"test\",\"message\":\"crashed\",\"signal\":\"SIG") != NULL);
    EXPECT(strstr(line, "\"version\":\"1.2\"") != NULL && line[strlen(line) - 1] == '\n');
    EXPECT(strstr(line, "\"in_flight_count\":2") != NULL && strstr(line, "Ended") == NULL);
    EXPECT(strstr(report, "\nend\n") != NULL && strstr(report, "version 1.2\n") != NULL);
    // Both began on this thread and outside of a task; whichever is named, it is one of them.
    EXPECT(strstr(report, "running /a.A/") != NULL);
}

TEST(an_id_with_spaces_names_no_other_call) {
    (void)crash_in_child(trap_in_a_call_with_spaces_in_its_id, false);
    EXPECT(strstr(report, "\nrunning POST /v1/add id-7?/a.A/Other?id-8\n") != NULL);
    EXPECT(strstr(line, "running=\"POST /v1/add id-7?/a.A/Other?id-8\"") != NULL);
    (void)crash_in_child(trap_in_a_call_with_spaces_in_its_id, true);
    EXPECT(strstr(line, "\"method\":\"POST /v1/add\",\"request_id\":\"id-7?/a.A/Other?id-8\"") != NULL);
}

TEST(a_crash_with_a_log_that_nobody_reads_ends_the_process) {
    int placeholder = mkstemp(full_log_report);
    REQUIRE(placeholder >= 0);
    close(placeholder);
    unlink(full_log_report);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        for (int i = 1; i < 32; i++) signal(i, SIG_DFL);
        trap_with_a_full_log();
        _exit(0);
    }
    int status = 0;
    pid_t ended = 0;
    for (int i = 0; i < 100 && (ended = waitpid(child, &status, WNOHANG)) == 0; i++) (void)usleep(100000);
    EXPECT_EQUAL(ended, child);
    if (ended == 0) {
        (void)kill(child, SIGKILL);
        (void)waitpid(child, &status, 0);
    }
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    int file = open(full_log_report, O_RDONLY);
    REQUIRE(file >= 0);
    (void)read_file(file, report, sizeof report);
    close(file);
    unlink(full_log_report);
    EXPECT(strstr(report, "running /a.A/Add id-7\n") != NULL && strstr(report, "\nend\n") != NULL); // written before
}

TEST(a_crash_in_no_call_is_attributed_to_none) {
    int status = crash_in_child(abort_in_no_call, false);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    EXPECT(strstr(line, " critical test: crashed signal=SIGABRT version=1.2 in_flight=\"/a.A/Elsewhere id-8\"") != NULL);
    EXPECT(strstr(report, "running") == NULL && strstr(report, "call /a.A/Elsewhere id-8\n") != NULL);
}

TEST(a_signal_that_was_sent_ends_the_process_too) {
    int status = crash_in_child(send_a_signal, true);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    EXPECT(strstr(report, "signal SIGSEGV\n") != NULL);
}

TEST(an_overflow_of_the_stack_is_reported) {
    int status = crash_in_child(overflow_the_stack, true);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    EXPECT(strstr(report, "signal SIGSEGV\n") != NULL);
}

TEST(a_report_of_many_calls_lists_some_and_stays_one_line) {
    int status = crash_in_child(crash_with_many_calls, true);
    EXPECT(WIFSIGNALED(status));
    EXPECT(strstr(line, "\"in_flight_count\":3000}\n") != NULL);
    EXPECT(strchr(line, '\n') == line + strlen(line) - 1);
    EXPECT(strstr(line, "mmm??mmm") != NULL);
    size_t listed = 0;
    for (const char *at = line; (at = strstr(at, "\"request_id\"")) != NULL; at++) listed++;
    // The one that it is attributed to, and the list.
    EXPECT_EQUAL(listed, CCRASH_LISTED_MAX + 1);
}

TEST(streams_leave_room_for_other_calls) {
    static ccrash_call *streams[CCRASH_CALLS_MAX];
    size_t count = 0;
    while (count < CCRASH_CALLS_MAX && (streams[count] = ccrash_call_began("s", 1, NULL, 0, true)) != NULL) count++;
    EXPECT_EQUAL(count, CCRASH_STREAMS_MAX);
    static ccrash_call *calls[CCRASH_CALLS_MAX];
    size_t others = 0;
    while (others < CCRASH_CALLS_MAX && (calls[others] = began("c", "")) != NULL) others++;
    EXPECT_EQUAL(others, CCRASH_CALLS_MAX - CCRASH_STREAMS_MAX);
    // What ends makes room again.
    ccrash_call_ended(calls[17]);
    calls[17] = began("again", "1");
    EXPECT(calls[17] != NULL);
    ccrash_call_set_id(calls[17], "2", 1);
    for (size_t i = 0; i < others; i++) ccrash_call_ended(calls[i]);
    for (size_t i = 0; i < count; i++) ccrash_call_ended(streams[i]);
    ccrash_call_ended(NULL);
    ccrash_call_set_id(NULL, "x", 1);
    EXPECT(began("c", "") != NULL);
}

static void *begin_and_end(void *unused) {
    (void)unused;
    for (int i = 0; i < 20000; i++) {
        ccrash_call *first = began("/a.A/First", "1");
        ccrash_call *second = began("/a.A/Second", "2");
        ccrash_call_ended(first);
        ccrash_call_ended(second);
    }
    return NULL;
}

TEST(many_threads_note_calls_at_once) {
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) REQUIRE(pthread_create(&threads[i], NULL, begin_and_end, NULL) == 0);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    EXPECT(began("c", "") != NULL);
}

static char own_stack[65536];

/// Returns whether the thread's stack for signal handlers is what it gave itself.
static void *keep_own_stack(void *is_kept) {
    stack_t before = {0}, own = {.ss_sp = own_stack, .ss_size = sizeof own_stack}, now = {0};
    bool is_set = sigaltstack(&own, &before) == 0 && ccrash_thread_began() == 0 && sigaltstack(NULL, &now) == 0;
    *(bool *)is_kept = is_set && now.ss_sp == own_stack;
    (void)sigaltstack(&before, NULL); // AddressSanitizer's, which it frees
    return NULL;
}

TEST(a_stack_that_a_thread_has_for_signal_handlers_is_kept) {
    pthread_t thread;
    bool is_kept = false;
    REQUIRE(pthread_create(&thread, NULL, keep_own_stack, &is_kept) == 0);
    pthread_join(thread, NULL);
    EXPECT(is_kept);
}

TEST(names_that_are_too_long_are_refused) {
    char name[2 * CCRASH_PATH_BYTES_MAX];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    ccrash_options options = {.program = name, .version = "1", .log_descriptor = 2};
    EXPECT(ccrash_install(&options) == -1 && errno == ENAMETOOLONG);
    options = (ccrash_options){.program = "p", .version = "1", .log_descriptor = 2, .report_path = name};
    EXPECT(ccrash_install(&options) == -1 && errno == ENAMETOOLONG);
}
