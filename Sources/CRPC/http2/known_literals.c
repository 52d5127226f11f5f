#include "http2/known_literals.h"

#include <stdlib.h>
#include <string.h>

/// Whether bytes are the same, found in the same time wherever they differ.
static bool known_are_same(const uint8_t *some, const uint8_t *others, size_t length) {
    uint8_t difference = 0;
    for (size_t i = 0; i < length; i++) difference |= some[i] ^ others[i];
    return difference == 0;
}

/// Keeps a string in the place of the one that was not used last.
static void known_keep(
    crpc_known_literals *known, const uint8_t *bytes, size_t length, const uint8_t *text, size_t text_length) {
    uint8_t place = (uint8_t)((known->last + 1) % CRPC_KNOWN_LITERALS);
    crpc_known_literal *literal = &known->at[place];
    if (literal->room < length + text_length) {
        uint8_t *memory = malloc(length + text_length);
        if (memory == NULL) return; // it is decoded again the next time
        free(literal->memory);
        literal->memory = memory;
        literal->room = length + text_length;
    }
    memcpy(literal->memory, bytes, length);
    memcpy(literal->memory + length, text, text_length);
    literal->coded_length = length;
    literal->text_length = text_length;
    known->last = place;
}

ssize_t crpc_known_literals_decode_long(
    crpc_known_literals *known, const uint8_t *bytes, size_t length, uint8_t *target) {
    for (uint8_t i = 0; i < CRPC_KNOWN_LITERALS; i++) {
        const crpc_known_literal *literal = &known->at[i];
        if (literal->coded_length != length || !known_are_same(literal->memory, bytes, length)) continue;
        memcpy(target, literal->memory + length, literal->text_length);
        known->last = i;
        return (ssize_t)literal->text_length;
    }
    ssize_t text_length = crpc_huffman_decode(bytes, length, target);
    if (text_length >= 0) known_keep(known, bytes, length, target, (size_t)text_length);
    return text_length;
}

void crpc_known_literals_end(crpc_known_literals *known) {
    for (size_t i = 0; i < CRPC_KNOWN_LITERALS; i++) free(known->at[i].memory);
    *known = (crpc_known_literals){0};
}
