#include "test.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TESTS_MAX = 1024, TEST_SECONDS_MAX = 30, OUTPUT_MAX = 16384, FAILURES_SHOWN_MAX = 20 };

static struct {
    const char *name;
    void (*run)(void);
} tests[TESTS_MAX];
static size_t test_count;
static int failure_count;

void test_register(const char *name, void (*run)(void)) {
    if (test_count == TESTS_MAX) {
        fprintf(stderr, "there are more tests than TESTS_MAX, %d\n", TESTS_MAX);
        abort();
    }
    tests[test_count].name = name;
    tests[test_count].run = run;
    test_count += 1;
}

// ---- Checks ----

static void fail(const char *file, int line) {
    failure_count += 1;
    const char *name = strrchr(file, '/');
    if (failure_count <= FAILURES_SHOWN_MAX) printf("%s:%d: ", name == NULL ? file : name + 1, line);
}

bool test_check(bool condition, const char *text, const char *file, int line) {
    if (condition) return true;
    fail(file, line);
    if (failure_count <= FAILURES_SHOWN_MAX) printf("not so: %s\n", text);
    return false;
}

bool test_check_equal(long long actual, long long expected, const char *text, const char *file, int line) {
    if (actual == expected) return true;
    fail(file, line);
    if (failure_count <= FAILURES_SHOWN_MAX) printf("%s is %lld and not %lld\n", text, actual, expected);
    return false;
}

static void print_bytes(const uint8_t *bytes, size_t length) {
    enum { SHOWN_MAX = 64 };
    printf("\"");
    for (size_t i = 0; i < length && i < SHOWN_MAX; i++) {
        if (bytes[i] >= 0x20 && bytes[i] <= 0x7e && bytes[i] != '\\') {
            printf("%c", bytes[i]);
        } else {
            printf("\\x%02x", bytes[i]);
        }
    }
    printf(length > SHOWN_MAX ? "…\" (%zu bytes)" : "\" (%zu bytes)", length);
}

bool test_check_bytes(
    const void *actual, size_t actual_length, const void *expected, size_t expected_length, const char *text,
    const char *file, int line) {
    if (actual_length == expected_length && (actual_length == 0 || memcmp(actual, expected, actual_length) == 0))
        return true;
    fail(file, line);
    if (failure_count > FAILURES_SHOWN_MAX) return false;
    printf("%s is ", text);
    print_bytes(actual, actual_length);
    printf(" and not ");
    print_bytes(expected, expected_length);
    printf("\n");
    return false;
}

void test_note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (failure_count <= FAILURES_SHOWN_MAX) {
        printf("    ");
        vprintf(format, arguments);
        printf("\n");
    }
    va_end(arguments);
}

bool test_has_failed(void) { return failure_count > 0; }

_Noreturn void test_give_up(void) {
    (void)fflush(stdout);
    _exit(1); // what the test holds is of no interest any more, so no search for leaks
}

// ---- Running ----

static _Noreturn void run_here(size_t index, int output) {
    (void)dup2(output, STDOUT_FILENO);
    (void)dup2(output, STDERR_FILENO);
    (void)close(output);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    (void)alarm(TEST_SECONDS_MAX);
    tests[index].run();
    if (failure_count > 0) test_give_up();
    exit(0); // the sanitizer looks for leaks now
}

static size_t read_output(int fd, char *output) {
    size_t length = 0;
    char rest[1024];
    for (;;) {
        bool is_full = length == OUTPUT_MAX;
        ssize_t count = read(fd, is_full ? rest : output + length, is_full ? sizeof rest : OUTPUT_MAX - length);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return length;
        if (!is_full) length += (size_t)count;
    }
}

static bool run(size_t index) {
    static char output[OUTPUT_MAX];
    struct timespec start, end;
    int ends[2];
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    if (pipe(ends) != 0) abort();
    pid_t child = fork();
    if (child < 0) abort();
    if (child == 0) {
        (void)close(ends[0]);
        run_here(index, ends[1]);
    }
    (void)close(ends[1]);
    size_t length = read_output(ends[0], output);
    (void)close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    long long ms = (end.tv_sec - start.tv_sec) * 1000ll + (end.tv_nsec - start.tv_nsec) / 1000000;
    bool has_passed = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("%s %s (%lld ms)\n", has_passed ? "ok  " : "FAIL", tests[index].name, ms);
    if (!has_passed) printf("%.*s", (int)length, output);
    if (WIFSIGNALED(status)) printf("    ended by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
    (void)fflush(stdout);
    return has_passed;
}

static bool is_chosen(const char *name, int count, char *const *words) {
    for (int i = 0; i < count; i++)
        if (strstr(name, words[i]) != NULL) return true;
    return count == 0;
}

/// `crpc-tests [word…]`: runs the tests whose names contain one of the words, or all.
int main(int argc, char **argv) {
    size_t passed = 0, failed = 0;
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < test_count; i++) {
        if (!is_chosen(tests[i].name, argc - 1, argv + 1)) continue;
        if (run(i)) {
            passed += 1;
        } else {
            failed += 1;
        }
    }
    printf("%zu passed, %zu failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
