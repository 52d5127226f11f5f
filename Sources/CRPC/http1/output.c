#include "http1/output.h"

#include "crpc_error.h"

#include <stdlib.h>
#include <string.h>

/// Bytes of a body that wait.
typedef struct crpc_h1_piece {
    struct crpc_h1_piece *next;
    uint8_t *memory;
    size_t start, end; // of what is not out
    bool is_begun;     // the chunk's size is out
} crpc_h1_piece;

/// Digits of a size, and its CR LF.
enum { OUTPUT_CHUNK_HEAD_MAX = 18 };

uint8_t *crpc_h1_output_room(crpc_h1_output *output, size_t room) {
    if (output->bytes != NULL && output->capacity - output->length >= room) return output->bytes + output->length;
    size_t waiting = output->length - output->start, capacity;
    uint8_t *bytes = crpc_buffers_take(output->spare, waiting + room, &capacity);
    if (bytes == NULL) return NULL;
    if (waiting > 0) memcpy(bytes, output->bytes + output->start, waiting);
    crpc_buffers_give_back(output->spare, output->bytes, output->capacity);
    output->bytes = bytes;
    output->start = 0;
    output->length = waiting;
    output->capacity = capacity;
    return bytes + waiting;
}

int crpc_h1_output_add(crpc_h1_output *output, void *memory, size_t offset, size_t length) {
    crpc_h1_piece *piece = malloc(sizeof *piece);
    if (piece == NULL) {
        free(memory);
        return CRPC_ERROR_MEMORY;
    }
    *piece = (crpc_h1_piece){.memory = memory, .start = offset, .end = offset + length};
    if (output->last == NULL)
        output->first = piece;
    else
        output->last->next = piece;
    output->last = piece;
    output->queued_bytes += length + CRPC_H1_PIECE_OVERHEAD;
    return CRPC_OK;
}

int crpc_h1_output_add_end(crpc_h1_output *output, const uint8_t *trailers, size_t length) {
    static const char last[] = "0\r\n";
    size_t head = sizeof last - 1;
    output->end = malloc(head + length + 2);
    if (output->end == NULL) return CRPC_ERROR_MEMORY;
    memcpy(output->end, last, head);
    if (length > 0) memcpy(output->end + head, trailers, length);
    memcpy(output->end + head + length, "\r\n", 2);
    output->end_length = head + length + 2;
    output->end_start = 0;
    output->queued_bytes += output->end_length;
    return CRPC_OK;
}

// ---- Out ----

static size_t output_move(uint8_t *target, size_t room, const uint8_t *bytes, size_t *start, size_t end) {
    size_t length = end - *start < room ? end - *start : room;
    if (length > 0) memcpy(target, bytes + *start, length);
    *start += length;
    return length;
}

static size_t output_put_size(uint8_t *target, size_t size) {
    char digits[OUTPUT_CHUNK_HEAD_MAX];
    size_t at = sizeof digits;
    for (; size > 0; size >>= 4) digits[--at] = "0123456789abcdef"[size & 15];
    size_t length = sizeof digits - at;
    memcpy(target, digits + at, length);
    memcpy(target + length, "\r\n", 2);
    return length + 2;
}

static void output_free_first(crpc_h1_output *output) {
    crpc_h1_piece *piece = output->first;
    output->first = piece->next;
    if (output->first == NULL) output->last = NULL;
    free(piece->memory);
    free(piece);
}

/// Writes pieces, each as one chunk, while there is room for what stands around their bytes.
static size_t output_take_pieces(crpc_h1_output *output, uint8_t *target, size_t room) {
    size_t used = 0;
    while (output->first != NULL && room - used > OUTPUT_CHUNK_HEAD_MAX + 2) {
        crpc_h1_piece *piece = output->first;
        if (output->is_chunked && !piece->is_begun) {
            used += output_put_size(target + used, piece->end - piece->start);
            piece->is_begun = true;
        }
        size_t moved = output_move(target + used, room - used - 2, piece->memory, &piece->start, piece->end);
        used += moved;
        output->queued_bytes -= moved;
        if (piece->start < piece->end) break;
        if (output->is_chunked) {
            memcpy(target + used, "\r\n", 2);
            used += 2;
        }
        output->queued_bytes -= CRPC_H1_PIECE_OVERHEAD;
        output_free_first(output);
    }
    return used;
}

size_t crpc_h1_output_take(crpc_h1_output *output, uint8_t *target, size_t room) {
    size_t used = output_move(target, room, output->bytes, &output->start, output->length);
    output->queued_bytes -= used;
    if (output->start < output->length) return used;
    if (output->bytes != NULL) {
        crpc_buffers_give_back(output->spare, output->bytes, output->capacity);
        output->bytes = NULL;
        output->start = output->length = output->capacity = 0;
    }
    if (output->first != NULL) used += output_take_pieces(output, target + used, room - used);
    if (output->first != NULL || output->end == NULL) return used;
    size_t ended = output_move(target + used, room - used, output->end, &output->end_start, output->end_length);
    output->queued_bytes -= ended;
    if (output->end_start == output->end_length) {
        free(output->end);
        output->end = NULL;
    }
    return used + ended;
}

void crpc_h1_output_drop(crpc_h1_output *output) {
    crpc_buffers_give_back(output->spare, output->bytes, output->capacity);
    while (output->first != NULL) output_free_first(output);
    free(output->end);
    *output = (crpc_h1_output){.spare = output->spare};
}
