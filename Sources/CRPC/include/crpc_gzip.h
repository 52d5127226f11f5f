/// gzip (RFC 1952) as gRPC's message encoding of that name. Any thread; nothing is kept between calls.
#ifndef CRPC_GZIP_H
#define CRPC_GZIP_H

#include <stddef.h>
#include <stdint.h>

/// Inflates a message that is one gzip member and nothing else. Never writes over `inflated_max` bytes, however much
/// the message claims to hold, and takes memory as it goes, at most twice what it has inflated.
/// `*result` is allocated with malloc (also for an empty message) and the caller's to free.
/// Errors, with no memory left behind: PROTOCOL (not whole, damaged, or with bytes behind it), LIMIT (more than
/// `inflated_max`), MEMORY.
int crpc_gzip_inflate(
    const uint8_t *bytes, size_t length, size_t inflated_max, uint8_t **result, size_t *result_length);

/// Deflates a message if that makes it shorter. `*result` is allocated with malloc, with CRPC_PREFIX_LENGTH bytes of
/// room before the `*result_length` bytes, and the caller's to free; NULL if the message is not made shorter.
/// Errors: MEMORY.
int crpc_gzip_deflate(const uint8_t *bytes, size_t length, uint8_t **result, size_t *result_length);

#endif
