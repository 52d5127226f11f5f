/// Comparing bytes with texts, and looking through them. Pure; any thread.
#ifndef CRPC_BYTES_H
#define CRPC_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool crpc_equals(const uint8_t *text, size_t length, const char *wanted) {
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

/// Sixteen bytes at a time, where the processor has it.
typedef uint8_t crpc_bytes16 __attribute__((vector_size(16)));

/// Whether one of 32 bytes is a control character, or DEL.
static inline bool crpc_have_control(const uint8_t *at) {
    crpc_bytes16 first, second;
    memcpy(&first, at, sizeof first);
    memcpy(&second, at + sizeof first, sizeof second);
    const crpc_bytes16 space = (crpc_bytes16){0} + (uint8_t)0x20, del = (crpc_bytes16){0} + (uint8_t)0x7f;
    crpc_bytes16 found = (crpc_bytes16)((first < space) | (first == del) | (second < space) | (second == del));
    uint64_t halves[2];
    memcpy(halves, &found, sizeof halves);
    return (halves[0] | halves[1]) != 0;
}

/// Whether one of eight bytes is less than `least`, or is DEL.
static inline bool crpc_have_low_or_del(const uint8_t *eight, uint8_t least) {
    const uint64_t each = UINT64_MAX / UINT8_MAX; // a one in each byte
    uint64_t bytes;
    memcpy(&bytes, eight, sizeof bytes);
    uint64_t without_del = bytes ^ each * 0x7f; // zero where there is one
    // What is subtracted borrows from a byte's highest bit where the byte is less.
    uint64_t low = (bytes - each * least) & ~bytes, del = (without_del - each) & ~without_del;
    return ((low | del) & each * 0x80) != 0;
}

/// The first control character, or DEL; the end if there is none.
static inline const uint8_t *crpc_find_control(const uint8_t *at, const uint8_t *end) {
    while (end - at >= 32 && !crpc_have_control(at)) at += 32;
    while (end - at >= 8 && !crpc_have_low_or_del(at, 0x20)) at += 8;
    while (at < end && *at >= 0x20 && *at != 0x7f) at += 1;
    return at;
}

/// Whether a field's value has no controls but HTAB, and no white space at either end (RFC 9110 section 5.5, RFC 9113 section
/// 8.2.1).
static inline bool crpc_is_field_value(const uint8_t *value, size_t length) {
    const uint8_t *end = value + length;
    if (length == 0) return true;
    if (value[0] == ' ' || value[0] == '\t' || end[-1] == ' ' || end[-1] == '\t') return false;
    for (const uint8_t *at = crpc_find_control(value, end); at < end; at = crpc_find_control(at + 1, end))
        if (*at != '\t') return false;
    return true;
}

/// Bytes that the digits of a number take at most.
enum { CRPC_DECIMAL_MAX = 20 };

/// Writes a number in decimal digits, and gives their count.
static inline size_t crpc_put_decimal(uint64_t number, char target[CRPC_DECIMAL_MAX]) {
    char digits[CRPC_DECIMAL_MAX];
    size_t begin = CRPC_DECIMAL_MAX;
    do {
        digits[--begin] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    memcpy(target, digits + begin, CRPC_DECIMAL_MAX - begin);
    return CRPC_DECIMAL_MAX - begin;
}

#endif
