#include "http/paths.h"

#include "crpc_error.h"

#include <stdlib.h>
#include <string.h>

/// The table's keys are ours, so nobody can aim at it. Eight bytes at a time: one by one, each would wait for the
/// multiplication of the one before.
static size_t paths_hash(const uint8_t *text, size_t length) {
    enum { STEP = 8 };
    const uint64_t factor = 0x9e3779b97f4a7c15u; // 2^64 divided by the golden ratio
    uint64_t value = length, more;
    for (; length >= STEP; text += STEP, length -= STEP) {
        memcpy(&more, text, STEP);
        value = (value ^ more) * factor;
        value ^= value >> 32;
    }
    for (more = 0; length > 0; length--) more = more << 8 | text[length - 1];
    value = (value ^ more) * factor;
    return (size_t)(value ^ value >> 32);
}

int crpc_paths_find(const crpc_paths *paths, const uint8_t *text, size_t length) {
    size_t mask = paths->capacity - 1;
    for (size_t i = paths_hash(text, length) & mask;; i = (i + 1) & mask) {
        const struct crpc_path *entry = &paths->entries[i];
        if (entry->text == NULL) return -1;
        if (entry->length == length && memcmp(entry->text, text, length) == 0) return (int)entry->index;
    }
}

int crpc_paths_begin(crpc_paths *paths, const char *const *texts, uint32_t count) {
    size_t capacity = 16;
    while (capacity < (size_t)count * 2 + 1) capacity *= 2; // never more than half full
    paths->entries = calloc(capacity, sizeof *paths->entries);
    paths->by_index = calloc((size_t)count + 1, sizeof(struct crpc_path *));
    if (paths->entries == NULL || paths->by_index == NULL) return CRPC_ERROR_MEMORY;
    paths->capacity = capacity;
    for (uint32_t index = 0; index < count; index++) {
        size_t length = strlen(texts[index]);
        size_t i = paths_hash((const uint8_t *)texts[index], length) & (capacity - 1);
        while (paths->entries[i].text != NULL) i = (i + 1) & (capacity - 1);
        paths->entries[i].text = strdup(texts[index]);
        if (paths->entries[i].text == NULL) return CRPC_ERROR_MEMORY;
        paths->entries[i].length = length;
        paths->entries[i].index = index;
        paths->by_index[index] = &paths->entries[i];
    }
    return CRPC_OK;
}

void crpc_paths_end(crpc_paths *paths) {
    for (size_t i = 0; i < paths->capacity; i++) free(paths->entries[i].text);
    free(paths->entries);
    free(paths->by_index);
}
