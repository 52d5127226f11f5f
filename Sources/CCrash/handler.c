#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ccrash.h"
#include "report.h"

static const int signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV};
#define SIGNALS_COUNT (sizeof signals / sizeof signals[0])

// Written by `ccrash_install` before other threads start, and only read from then on.
static struct sigaction actions_before[SIGNALS_COUNT];
static char program[CCRASH_NAME_BYTES_MAX];
static char version[CCRASH_NAME_BYTES_MAX];
static char report_path[CCRASH_PATH_BYTES_MAX];
static int log_descriptor = STDERR_FILENO;
static bool writes_json;

/// Set by the first thread that crashes, which then has the memory below.
static atomic_flag is_reporting = ATOMIC_FLAG_INIT;
static char memory[CCRASH_REPORT_BYTES_MAX];

/// The longest time that a report may take.
#define CCRASH_REPORT_SECONDS_MAX 5

/// Room for the handler: it keeps its text in static memory, and the kernel's frame has the vector registers.
#define HANDLER_STACK_BYTES 32768
static _Thread_local char handler_stack[HANDLER_STACK_BYTES] __attribute__((aligned(16)));

static void write_all(int descriptor, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(descriptor, bytes, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return; // nobody reads any more, and there is nowhere to say so
        bytes += written;
        count -= (size_t)written;
    }
}

/// Bounds the time of the report: a write to a pipe that is full, or to a file system that has gone, need not return, and a
/// process that hangs in its handler is never started again. SIGALRM ends it then.
static void bound_report(void) {
    struct sigaction end = {.sa_handler = SIG_DFL};
    (void)sigemptyset(&end.sa_mask); // fails for no set
    (void)sigaction(SIGALRM, &end, NULL);
    (void)sigaddset(&end.sa_mask, SIGALRM);
    (void)pthread_sigmask(SIG_UNBLOCK, &end.sa_mask, NULL);
    (void)alarm(CCRASH_REPORT_SECONDS_MAX);
}

static void report(int signal) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now); // without it the time is 1970's
    ccrash_moment moment = {.signal = signal, .seconds = now.tv_sec, .milliseconds = now.tv_nsec / 1000000};
    ccrash_text text = {.bytes = memory, .count = 0, .max = sizeof memory};
    // The file first: it has no reader that may not read.
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    int file = report_path[0] == '\0' ? -1 : open(report_path, flags, S_IRUSR | S_IWUSR);
    if (file >= 0) { // else the log line has it all
        ccrash_write_report(&text, version, &moment);
        write_all(file, text.bytes, text.count);
        (void)close(file); // what was written is in the page cache, which outlives the process
    }
    text.count = 0;
    ccrash_write_line(&text, program, version, writes_json, &moment);
    write_all(log_descriptor, text.bytes, text.count);
}

static void handle(int signal, siginfo_t *info, void *context) {
    (void)context;
    int error = errno;
    if (atomic_flag_test_and_set(&is_reporting)) {
        for (;;) (void)pause(); // until the thread that crashed first has ended the process
    }
    bound_report();
    report(signal);
    (void)alarm(0); // what handled the signal before may take longer
    for (size_t i = 0; i < SIGNALS_COUNT; i++) {
        if (signals[i] == signal) (void)sigaction(signal, &actions_before[i], NULL);
    }
    // A fault of the processor happens again once this returns. What `kill` or `raise` sent has to be sent again.
    if (info->si_code <= 0) (void)syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), signal);
    // Further threads that crash are reported no more: without a handler that resets itself the flag stays set.
    errno = error;
}

static int copy(char *to, size_t max, const char *from) {
    size_t count = strlen(from);
    if (count >= max) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(to, from, count + 1);
    return 0;
}

int ccrash_thread_began(void) {
    stack_t before;
    if (sigaltstack(NULL, &before) != 0) return -1;
    // AddressSanitizer gives each thread a stack, and frees what it finds when the thread ends.
    if (!(before.ss_flags & SS_DISABLE) && before.ss_size >= HANDLER_STACK_BYTES) return 0;
    stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    return sigaltstack(&stack, NULL);
}

int ccrash_install(const ccrash_options *options) {
    if (copy(program, sizeof program, options->program) != 0) return -1;
    if (copy(version, sizeof version, options->version) != 0) return -1;
    if (copy(report_path, sizeof report_path, options->report_path != NULL ? options->report_path : "") != 0) return -1;
    log_descriptor = options->log_descriptor;
    writes_json = options->writes_json;
    if (ccrash_thread_began() != 0) return -1;
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    (void)sigemptyset(&action.sa_mask); // fails for no set
    // A second fault inside the handler ends the process at once.
    for (size_t i = 0; i < SIGNALS_COUNT; i++) (void)sigaddset(&action.sa_mask, signals[i]);
    for (size_t i = 0; i < SIGNALS_COUNT; i++) {
        if (sigaction(signals[i], &action, &actions_before[i]) != 0) return -1;
    }
    return 0;
}
