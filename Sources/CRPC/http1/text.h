/// The characters of HTTP/1.x: tokens and values. Pure; any thread.
#ifndef CRPC_H1_TEXT_H
#define CRPC_H1_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// A token's characters in lower case; 0 for what is in none (RFC 9110 section 5.6.2).
extern const uint8_t crpc_h1_lower[256];

/// The first control character, or DEL; the end if there is none. Eight bytes at a time.
static inline const uint8_t *crpc_h1_find_control(const uint8_t *at, const uint8_t *end) {
    const uint64_t each = UINT64_MAX / UINT8_MAX; // a one in each byte
    while (end - at >= 8) {
        uint64_t bytes;
        memcpy(&bytes, at, sizeof bytes);
        uint64_t without_del = bytes ^ each * 0x7f; // zero where there is one
        // What is subtracted borrows from a byte's highest bit where the byte is less, and perhaps from the byte above.
        uint64_t low = (bytes - each * 0x20) & ~bytes, del = (without_del - each) & ~without_del;
        if (((low | del) & each * 0x80) != 0) break;
        at += 8;
    }
    while (at < end && *at >= 0x20 && *at != 0x7f) at += 1;
    return at;
}

#endif
