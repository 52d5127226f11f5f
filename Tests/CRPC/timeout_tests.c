#include "layer.h"
#include "test.h"

#include <stdio.h>

// grpc-timeout (gRPC over HTTP/2, "Timeout").

static const uint64_t second = 1000000000;

static int parse(const char *text, size_t length, uint64_t *nanoseconds) {
    uint8_t *exact = malloc(length == 0 ? 1 : length); // so that a read past the end is seen
    REQUIRE(exact != NULL);
    if (length > 0) memcpy(exact, text, length);
    int error = crpc_timeout_parse(exact, length, nanoseconds);
    free(exact);
    return error;
}

TEST(timeouts_are_read_in_every_unit) {
    static const struct {
        const char *text;
        uint64_t nanoseconds;
    } cases[] = {
        {"0n", 0}, {"1n", 1}, {"99999999n", 99999999}, {"00000001n", 1}, {"0H", 0},
        {"1u", 1000}, {"99999999u", 99999999000},
        {"1m", 1000000}, {"99999999m", 99999999000000},
        {"1S", 1000000000}, {"99999999S", 99999999000000000},
        {"1M", 60000000000}, {"99999999M", 5999999940000000000},
        {"1H", 3600000000000}, {"2562047H", 9223369200000000000u},
        // What does not fit is as good as for ever.
        {"2562048H", UINT64_MAX / 2}, {"99999999H", UINT64_MAX / 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t nanoseconds = 12345;
        EXPECT_EQUAL(parse(cases[i].text, strlen(cases[i].text), &nanoseconds), CRPC_OK);
        if (!EXPECT_EQUAL(nanoseconds, cases[i].nanoseconds)) test_note("in %s", cases[i].text);
    }
}

TEST(what_is_no_timeout_is_refused) {
    static const char *const texts[] = {
        "", "n", "1", "12345678", "123456789n", "1000000000S", "1s", "1h", "1x", "-1S", "+1S", "1.5S", " 1S", "1 S",
        "1S ", "0x1S", "1SS", "S1", "1\xc2\xb5", "1n\n", "１S",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        uint64_t nanoseconds = 12345;
        int error = parse(texts[i], strlen(texts[i]), &nanoseconds);
        if (!EXPECT_EQUAL(error, CRPC_ERROR_PROTOCOL)) test_note("%s", texts[i]);
        EXPECT_EQUAL(nanoseconds, 12345);
    }
    uint64_t nanoseconds;
    EXPECT_EQUAL(parse("1\0S", 3, &nanoseconds), CRPC_ERROR_PROTOCOL);
}

TEST(every_unit_letter_but_six_is_refused) {
    for (int unit = 0; unit < 256; unit++) {
        char text[2] = {'7', (char)unit};
        uint64_t nanoseconds;
        bool is_unit = unit != 0 && strchr("HMSmun", unit) != NULL;
        EXPECT_EQUAL(parse(text, 2, &nanoseconds), is_unit ? CRPC_OK : CRPC_ERROR_PROTOCOL);
    }
}

TEST(timeouts_are_written_in_the_finest_unit_that_fits) {
    static const struct {
        uint64_t nanoseconds;
        const char *text;
    } cases[] = {
        {0, "0n"}, {1, "1n"}, {99999999, "99999999n"}, {100000000, "100000u"}, {100000001, "100001u"},
        {99999999000, "99999999u"}, {99999999001, "100000m"}, {99999999000000, "99999999m"},
        {99999999000001, "100000S"}, {99999999ull * 1000000000, "99999999S"},
        {99999999ull * 1000000000 + 1, "1666667M"}, {99999999ull * 60000000000, "99999999M"},
        {99999999ull * 60000000000 + 1, "1666667H"}, {UINT64_MAX / 2, "2562048H"}, {UINT64_MAX, "5124096H"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t text[CRPC_TIMEOUT_LENGTH_MAX];
        size_t length = crpc_timeout_format(cases[i].nanoseconds, text);
        EXPECT_TEXT(text, length, cases[i].text);
    }
}

/// A written timeout, read back, is never shorter, and longer by less than one of its units.
static void check_rounding(uint64_t nanoseconds) {
    uint8_t text[CRPC_TIMEOUT_LENGTH_MAX];
    size_t length = crpc_timeout_format(nanoseconds, text);
    uint64_t back;
    EXPECT_EQUAL(crpc_timeout_parse(text, length, &back), CRPC_OK);
    uint64_t most = nanoseconds < UINT64_MAX / 2 ? nanoseconds : UINT64_MAX / 2;
    bool ok = EXPECT(back >= most);
    // A number in a coarser unit has six digits at least.
    ok = EXPECT(back - most <= most / 100000 || back == UINT64_MAX / 2) && ok;
    if (!ok) test_note("%llu was written as %.*s", (unsigned long long)nanoseconds, (int)length, text);
}

TEST(rounding_never_shortens) {
    for (uint64_t base = 1; base < UINT64_MAX / 10; base *= 10) {
        for (uint64_t digit = 1; digit < 10; digit++) {
            check_rounding(base * digit);
            check_rounding(base * digit - 1);
            check_rounding(base * digit + 1);
        }
    }
    for (int bit = 0; bit < 64; bit++) {
        check_rounding(1ull << bit);
        check_rounding((1ull << bit) - 1);
        check_rounding((1ull << bit) + 1);
    }
    uint64_t state = 1;
    for (int i = 0; i < 100000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        check_rounding(state >> (state % 61));
    }
    check_rounding(UINT64_MAX);
    check_rounding(5 * second);
}
