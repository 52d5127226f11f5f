/// The paths of a server's methods: a hash table with open addressing. Owns copies of their texts; one thread at a time.
#ifndef CRPC_PATHS_H
#define CRPC_PATHS_H

#include <stddef.h>
#include <stdint.h>

/// Zeros are a table that was not made.
typedef struct crpc_paths {
    struct crpc_path {
        char *text;
        size_t length;
        uint32_t index;
    } *entries;
    size_t capacity;
    const struct crpc_path **by_index;
} crpc_paths;

/// Makes the table. Errors: MEMORY; `crpc_paths_end` then frees what there is.
int crpc_paths_begin(crpc_paths *paths, const char *const *texts, uint32_t count);
void crpc_paths_end(crpc_paths *paths);
/// The index of a path, or -1.
int crpc_paths_find(const crpc_paths *paths, const uint8_t *text, size_t length);
/// The path of an index.
static inline const struct crpc_path *crpc_paths_at(const crpc_paths *paths, int index) { return paths->by_index[index]; }

#endif
