/// A small test runner. Each test is a function that runs in a process of its own, under a time limit, so that a crash,
/// a hang or a leak is the failure of one test.
#ifndef CRPC_TEST_H
#define CRPC_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Defines a test and makes it known to the runner. Its name is what the report says.
#define TEST(name) \
    static void name(void); \
    __attribute__((constructor)) static void name##_registers(void) { test_register(#name, name); } \
    static void name(void)

/// Makes a test known. Called before `main`.
void test_register(const char *name, void (*run)(void));

/// Fails the test and goes on.
#define EXPECT(condition) test_check((condition), #condition, __FILE__, __LINE__)
#define EXPECT_EQUAL(actual, expected) \
    test_check_equal((long long)(actual), (long long)(expected), #actual, __FILE__, __LINE__)
#define EXPECT_BYTES(actual, actual_length, expected, expected_length) \
    test_check_bytes((actual), (actual_length), (expected), (expected_length), #actual, __FILE__, __LINE__)
#define EXPECT_TEXT(actual, actual_length, expected) \
    EXPECT_BYTES((actual), (actual_length), (expected), __builtin_strlen(expected))
/// Fails the test and ends it.
#define REQUIRE(condition) \
    do { \
        if (!test_check((condition), #condition, __FILE__, __LINE__)) test_give_up(); \
    } while (0)

bool test_check(bool condition, const char *text, const char *file, int line);
bool test_check_equal(long long actual, long long expected, const char *text, const char *file, int line);
bool test_check_bytes(
    const void *actual, size_t actual_length, const void *expected, size_t expected_length, const char *text,
    const char *file, int line);
/// Says what a test was doing, for the report of a failure.
void test_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/// Whether a check of this test has failed.
bool test_has_failed(void);
_Noreturn void test_give_up(void);

#endif
