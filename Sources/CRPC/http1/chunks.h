/// A chunked body (RFC 9112 section 7.1), bytes in pieces as they come. Strict: lines end with CR LF, a size is hexadecimal
/// digits and nothing before or behind them but extensions, without blanks between their parts. Extensions and trailers are
/// bounded, checked and dropped; a trailer that says how long the body is, or for whom, breaks it (RFC 9110 section 6.5.1). Pure; one
/// thread.
///
///     SIZE ──> extensions ──> SIZE_LF ──> DATA ──> DATA_CR ──> DATA_LF ──> SIZE
///       └──────────────────────>│
///                               └──> LINE ──> NAME ──> VALUE ──> VALUE_LF ──> LINE       trailers
///                                    └──> LAST_LF ──> WHOLE           any ──> BROKEN
#ifndef CRPC_H1_CHUNKS_H
#define CRPC_H1_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum crpc_chunk_state {
    CRPC_CHUNK_SIZE,
    CRPC_CHUNK_EXTENSION, CRPC_CHUNK_EXTENSION_NAME, CRPC_CHUNK_EXTENSION_VALUE, CRPC_CHUNK_EXTENSION_TOKEN,
    CRPC_CHUNK_QUOTED, CRPC_CHUNK_QUOTED_PAIR, CRPC_CHUNK_QUOTED_END,
    CRPC_CHUNK_SIZE_LF, CRPC_CHUNK_DATA, CRPC_CHUNK_DATA_CR, CRPC_CHUNK_DATA_LF,
    CRPC_CHUNK_LINE, CRPC_CHUNK_NAME, CRPC_CHUNK_VALUE, CRPC_CHUNK_VALUE_LF, CRPC_CHUNK_LAST_LF, CRPC_CHUNK_WHOLE,
    CRPC_CHUNK_BROKEN,
} crpc_chunk_state;

/// Bytes of a trailer's name that are looked at: one more than the longest that may not be there.
enum { CRPC_CHUNK_NAME_MAX = 18 };

/// Zeros are one of which nothing has come.
typedef struct crpc_chunks {
    uint8_t state;          // crpc_chunk_state
    uint8_t digits;         // of the size that is coming
    uint16_t line_bytes;    // of the extensions that are coming
    uint32_t trailer_bytes; // of all trailers
    uint64_t left;          // of the chunk that is coming; its size until its data begins
    uint8_t name_length;    // of the trailer that is coming, as far as `name` goes
    uint8_t name[CRPC_CHUNK_NAME_MAX]; // in lower case
    uint32_t cost;          // what the client pays (crpc_limits.h), since the caller set it to 0
} crpc_chunks;

/// Most bytes of a chunk's extensions, of all trailers, and of digits that a size has.
enum { CRPC_CHUNK_EXTENSION_MAX = 256, CRPC_CHUNK_TRAILERS_MAX = 8192, CRPC_CHUNK_DIGITS_MAX = 16 };
/// A chunk of fewer bytes costs the client credit, and so does each extension and each trailer.
enum { CRPC_CHUNK_BYTES_FREE = 16 };

/// Reads what is between data, as far as it has come. The bytes taken; then the state is DATA, with `left` bytes of it to come
/// that the caller takes off, or WHOLE, or BROKEN, or all bytes were taken.
size_t crpc_chunks_read(crpc_chunks *chunks, const uint8_t *bytes, size_t length);

/// Bytes of data were taken, at most `left`.
static inline void crpc_chunks_take_data(crpc_chunks *chunks, size_t length) {
    chunks->left -= length;
    if (chunks->left == 0) chunks->state = CRPC_CHUNK_DATA_CR;
}

#endif
