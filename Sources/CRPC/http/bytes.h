/// Comparing bytes with texts. Pure; any thread.
#ifndef CRPC_BYTES_H
#define CRPC_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool crpc_equals(const uint8_t *text, size_t length, const char *wanted) {
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

#endif
