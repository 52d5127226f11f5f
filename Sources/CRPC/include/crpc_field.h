/// A field of HTTP: a name and a value. It points to memory of somebody else.
#ifndef CRPC_FIELD_H
#define CRPC_FIELD_H

#include <stddef.h>
#include <stdint.h>

typedef struct crpc_entry {
    const uint8_t *name;
    const uint8_t *value;
    size_t name_length;
    size_t value_length;
} crpc_entry;

#endif
