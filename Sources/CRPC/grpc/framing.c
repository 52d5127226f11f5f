#include "crpc_error.h"
#include "crpc_wire.h"

#include <stdlib.h>
#include <string.h>

// Messages with their prefixes (gRPC over HTTP/2, "Length-Prefixed-Message").

void crpc_prefix_write(uint8_t prefix[CRPC_PREFIX_LENGTH], bool compressed, uint32_t length) {
    prefix[0] = compressed ? 1 : 0;
    prefix[1] = (uint8_t)(length >> 24);
    prefix[2] = (uint8_t)(length >> 16);
    prefix[3] = (uint8_t)(length >> 8);
    prefix[4] = (uint8_t)length;
}

void crpc_deframer_init(crpc_deframer *deframer, uint32_t message_max) {
    memset(deframer, 0, sizeof *deframer);
    deframer->message_max = message_max;
}

void crpc_deframer_reset(crpc_deframer *deframer) {
    free(deframer->buffer);
    crpc_deframer_init(deframer, deframer->message_max);
}

void crpc_deframer_trim(crpc_deframer *deframer) {
    enum { KEPT_MAX = 4096 };
    if (deframer->received > 0 || deframer->capacity <= KEPT_MAX) return;
    free(deframer->buffer);
    deframer->buffer = NULL;
    deframer->capacity = 0;
}

bool crpc_deframer_is_between_messages(const crpc_deframer *deframer) {
    return !deframer->failed && deframer->prefix_length == 0;
}

static int deframer_fail(crpc_deframer *deframer, int error) {
    deframer->failed = true;
    return error;
}

/// Room for what is there and `more`, growing with what arrives and not with what was announced.
static int deframer_reserve(crpc_deframer *deframer, size_t more) {
    size_t needed = deframer->received + more;
    if (needed <= deframer->capacity) return CRPC_OK;
    size_t capacity = deframer->capacity == 0 ? 1024 : deframer->capacity;
    while (capacity < needed) capacity *= 2;
    if (capacity > deframer->expected) capacity = deframer->expected;
    uint8_t *buffer = realloc(deframer->buffer, capacity);
    if (buffer == NULL) return CRPC_ERROR_MEMORY;
    deframer->buffer = buffer;
    deframer->capacity = capacity;
    return CRPC_OK;
}

static int deframer_take_prefix(crpc_deframer *deframer, const uint8_t **bytes, size_t *length) {
    size_t missing = (size_t)(CRPC_PREFIX_LENGTH - deframer->prefix_length);
    size_t count = *length < missing ? *length : missing;
    if (count > 0) memcpy(deframer->prefix + deframer->prefix_length, *bytes, count);
    deframer->prefix_length = (uint8_t)(deframer->prefix_length + count);
    *bytes += count;
    *length -= count;
    if (deframer->prefix_length < CRPC_PREFIX_LENGTH) return 0;
    if (deframer->prefix[0] > 1) return deframer_fail(deframer, CRPC_ERROR_PROTOCOL);
    deframer->expected = (uint32_t)deframer->prefix[1] << 24 | (uint32_t)deframer->prefix[2] << 16 |
                         (uint32_t)deframer->prefix[3] << 8 | (uint32_t)deframer->prefix[4];
    if (deframer->expected > deframer->message_max) return deframer_fail(deframer, CRPC_ERROR_LIMIT);
    return 1;
}

int crpc_deframer_next(crpc_deframer *deframer, const uint8_t **bytes, size_t *length, crpc_message *message) {
    if (deframer->failed) return CRPC_ERROR_PROTOCOL;
    if (deframer->prefix_length < CRPC_PREFIX_LENGTH) {
        if (deframer->prefix_length == 0 && *length == 0) return 0;
        int found = deframer_take_prefix(deframer, bytes, length);
        if (found != 1) return found;
    }
    size_t missing = deframer->expected - deframer->received;
    bool is_whole = *length >= missing;
    if (deframer->received == 0 && is_whole) {
        message->bytes = *bytes;
    } else {
        size_t count = is_whole ? missing : *length;
        int error = deframer_reserve(deframer, count);
        if (error != CRPC_OK) return deframer_fail(deframer, error);
        if (count > 0) memcpy(deframer->buffer + deframer->received, *bytes, count);
        deframer->received += count;
        message->bytes = deframer->buffer;
        if (!is_whole) {
            *bytes += count;
            *length -= count;
            return 0;
        }
    }
    message->length = deframer->expected;
    message->compressed = deframer->prefix[0] == 1;
    *bytes += missing;
    *length -= missing;
    deframer->received = 0;
    deframer->prefix_length = 0;
    return 1;
}
