/// Metadata entries packed into one block, the layout that both sides of this layer read and write:
/// `name length (uint16) · value length (uint32) · name · value`, lengths in the machine's byte order.
#ifndef CRPC_METADATA_H
#define CRPC_METADATA_H

#include "crpc_field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Bytes that an entry takes in a block beside its name and value.
enum { CRPC_ENTRY_OVERHEAD = 6 };

/// Reads the entry at `*offset` and moves the offset past it. False at the end, and where an entry is cut short.
/// The entry points into the block. Any thread.
bool crpc_metadata_next(const uint8_t *block, size_t length, size_t *offset, crpc_entry *entry);

/// Writes an entry at `target`, which has room for the overhead, the name and the value. Returns the bytes written.
size_t crpc_metadata_put(uint8_t *target, const crpc_entry *entry);

#endif
