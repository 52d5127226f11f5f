/// What goes out on a connection of HTTP/1.x: heads and whole answers in a buffer, then bodies that come in pieces, which it
/// writes as chunks where they are. It owns the buffer and the pieces. One thread; no callback.
///
/// An idle connection holds no buffer. One of CRPC_BUFFER_BYTES comes from the service's spare ones and goes back there, so that
/// answers of ordinary size take no allocation.
#ifndef CRPC_H1_OUTPUT_H
#define CRPC_H1_OUTPUT_H

#include "http/buffers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crpc_h1_piece;

/// What a piece takes beside its bytes while it waits.
enum { CRPC_H1_PIECE_OVERHEAD = 96 };

typedef struct crpc_h1_output {
    crpc_buffers *spare;
    uint8_t *bytes;                      // what comes first
    size_t start, length, capacity;      // of these, `start` are out
    struct crpc_h1_piece *first, *last;  // of a body
    size_t queued_bytes;                 // of all that waits
    int64_t left;                        // of the body's Content-Length; -1 where it has none
    uint8_t *end;                        // the last chunk with the trailers, malloc'ed; NULL for none
    size_t end_length, end_start;
    bool is_chunked, has_body;
    bool closes;                         // the answer says that it is the connection's last, or its end is the body's
    bool was_full;                       // past the high-water mark, and not under the low one since
} crpc_h1_output;

/// Room for so many bytes behind those that are there; NULL without memory. `output->length` is then the caller's to raise, and
/// `queued_bytes` with it (`crpc_h1_output_commit`).
uint8_t *crpc_h1_output_room(crpc_h1_output *output, size_t room);
static inline void crpc_h1_output_commit(crpc_h1_output *output, size_t length) {
    output->length += length;
    output->queued_bytes += length;
}
/// Queues a piece of a body, which is malloc'ed and taken over in every case. Errors: MEMORY.
int crpc_h1_output_add(crpc_h1_output *output, void *memory, size_t offset, size_t length);
/// Ends a chunked body, with trailers as they are written. Errors: MEMORY.
int crpc_h1_output_add_end(crpc_h1_output *output, const uint8_t *trailers, size_t length);
/// Writes what waits, as far as there is room. The bytes written.
size_t crpc_h1_output_take(crpc_h1_output *output, uint8_t *target, size_t room);
static inline bool crpc_h1_output_is_empty(const crpc_h1_output *output) {
    return output->start == output->length && output->first == NULL && output->end == NULL;
}
/// Drops all that waits and frees what it holds.
void crpc_h1_output_drop(crpc_h1_output *output);

#endif
