#include "fuzz.h"

// A timeout as text, and as a number: what is read can be written, and writing never shortens.

static void check_format(uint64_t nanoseconds) {
    uint8_t text[CRPC_TIMEOUT_LENGTH_MAX];
    size_t length = crpc_timeout_format(nanoseconds, text);
    CHECK(length >= 2 && length <= sizeof text);
    uint64_t back;
    CHECK(crpc_timeout_parse(text, length, &back) == CRPC_OK);
    uint64_t most = nanoseconds < UINT64_MAX / 2 ? nanoseconds : UINT64_MAX / 2;
    CHECK(back >= most && back - most <= most / 100000);
}

static void check_parse(const uint8_t *bytes, size_t length) {
    uint8_t *text = malloc(length == 0 ? 1 : length);
    CHECK(text != NULL);
    if (length > 0) memcpy(text, bytes, length);
    uint64_t nanoseconds = 0;
    int error = crpc_timeout_parse(text, length, &nanoseconds);
    bool is_good = length >= 2 && length <= CRPC_TIMEOUT_LENGTH_MAX && memchr("HMSmun", text[length - 1], 6) != NULL;
    for (size_t i = 0; i + 1 < length; i++) is_good = is_good && text[i] >= '0' && text[i] <= '9';
    CHECK(error == (is_good ? CRPC_OK : CRPC_ERROR_PROTOCOL));
    if (error == CRPC_OK) check_format(nanoseconds);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    uint64_t number = 0;
    if (length >= sizeof number) memcpy(&number, bytes, sizeof number);
    check_format(number);
    check_parse(bytes, length);
    return 0;
}
