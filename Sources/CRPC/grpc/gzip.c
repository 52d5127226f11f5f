#include "crpc_error.h"
#include "crpc_gzip.h"
#include "crpc_wire.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    /// Added to the number of window bits, it asks zlib for gzip's head and checksum.
    GZIP = 16,
    WINDOW_BITS_MIN = 9,
    WINDOW_BITS_MAX = 15,
    /// A gzip head and checksum: nothing shorter than that gets shorter.
    OVERHEAD = 18,
    /// What an inflated message is first given room for.
    FIRST_ROOM_MIN = 1024,
    /// Texts of protobuf messages shrink to a third or so.
    FIRST_ROOM_RATIO = 4,
};

// ---- Inflating ----

/// Room for more: all there may be in the end, or twice as much as before.
static int gzip_grow(uint8_t **memory, size_t *capacity, size_t capacity_max) {
    size_t larger = *capacity > capacity_max / 2 ? capacity_max : *capacity * 2;
    uint8_t *moved = realloc(*memory, larger);
    if (moved == NULL) return CRPC_ERROR_MEMORY;
    *memory = moved;
    *capacity = larger;
    return CRPC_OK;
}

static int gzip_inflate_all(z_stream *stream, size_t inflated_max, uint8_t **memory, size_t capacity) {
    // One byte more than allowed tells what is too long from what just fits.
    size_t capacity_max = inflated_max + 1;
    while (true) {
        size_t written = stream->total_out;
        stream->next_out = *memory + written;
        stream->avail_out = (uInt)(capacity - written);
        int outcome = inflate(stream, Z_FINISH);
        if (stream->total_out > inflated_max) return CRPC_ERROR_LIMIT;
        if (outcome == Z_STREAM_END) return stream->avail_in == 0 ? CRPC_OK : CRPC_ERROR_PROTOCOL;
        if (outcome == Z_MEM_ERROR) return CRPC_ERROR_MEMORY;
        // Z_BUF_ERROR: nothing more could be done, with or without room left.
        if (outcome != Z_OK && outcome != Z_BUF_ERROR) return CRPC_ERROR_PROTOCOL;
        if (stream->avail_out > 0) return CRPC_ERROR_PROTOCOL; // it wants bytes that are not there
        int error = gzip_grow(memory, &capacity, capacity_max);
        if (error != CRPC_OK) return error;
    }
}

/// zlib's type is not const where it only reads (ZLIB_CONST is not defined in every build of it).
static Bytef *gzip_reading(const uint8_t *bytes) {
    union {
        const uint8_t *in;
        Bytef *out;
    } pointer = {.in = bytes};
    return pointer.out;
}

int crpc_gzip_inflate(
    const uint8_t *bytes, size_t length, size_t inflated_max, uint8_t **result, size_t *result_length) {
    if (inflated_max >= UINT_MAX || length > UINT_MAX) return CRPC_ERROR_LIMIT;
    z_stream stream = {.next_in = gzip_reading(bytes), .avail_in = (uInt)length};
    int started = inflateInit2(&stream, WINDOW_BITS_MAX + GZIP);
    if (started != Z_OK) return CRPC_ERROR_MEMORY;
    size_t capacity = length > inflated_max / FIRST_ROOM_RATIO ? inflated_max + 1 : length * FIRST_ROOM_RATIO;
    if (capacity < FIRST_ROOM_MIN) capacity = FIRST_ROOM_MIN;
    uint8_t *memory = malloc(capacity);
    int error = memory == NULL ? CRPC_ERROR_MEMORY : gzip_inflate_all(&stream, inflated_max, &memory, capacity);
    size_t inflated = stream.total_out;
    (void)inflateEnd(&stream); // it fails only for a stream that is not one
    if (error != CRPC_OK) {
        free(memory);
        return error;
    }
    *result = memory;
    *result_length = inflated;
    return CRPC_OK;
}

// ---- Deflating ----

/// The window that a message of this length can make use of: zlib allocates eight times as much, which for most
/// messages would be more work than to compress them.
static int gzip_window_bits(size_t length) {
    int bits = WINDOW_BITS_MIN;
    while (bits < WINDOW_BITS_MAX && (size_t)1 << bits < length) bits += 1;
    return bits;
}

int crpc_gzip_deflate(const uint8_t *bytes, size_t length, uint8_t **result, size_t *result_length) {
    *result = NULL;
    if (length <= OVERHEAD || length > UINT_MAX) return CRPC_OK;
    // The fastest level: it gets most of what there is to get, for a fraction of the loop's time.
    z_stream stream = {.next_in = gzip_reading(bytes), .avail_in = (uInt)length};
    int bits = gzip_window_bits(length);
    int started = deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, bits + GZIP, bits - 7, Z_DEFAULT_STRATEGY);
    if (started != Z_OK) return CRPC_ERROR_MEMORY;
    // What does not fit is not shorter than the message.
    size_t room = length - 1;
    uint8_t *memory = malloc(CRPC_PREFIX_LENGTH + room);
    int outcome = Z_MEM_ERROR;
    if (memory != NULL) {
        stream.next_out = memory + CRPC_PREFIX_LENGTH;
        stream.avail_out = (uInt)room;
        outcome = deflate(&stream, Z_FINISH);
    }
    size_t deflated = stream.total_out;
    (void)deflateEnd(&stream); // it complains of what is left undone, which is meant
    if (outcome == Z_STREAM_END) {
        *result = memory;
        *result_length = deflated;
        return CRPC_OK;
    }
    free(memory);
    return memory == NULL ? CRPC_ERROR_MEMORY : CRPC_OK;
}
