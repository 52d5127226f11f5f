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

/// Whether an application may send this entry: a lowercase name of gRPC's alphabet that neither HTTP/2 nor gRPC keeps
/// for itself, and a printable ASCII value without a space at either end (RFC 9113 section 8.2, gRPC over HTTP/2
/// "Custom-Metadata"). Any thread.
bool crpc_metadata_is_sendable(const crpc_entry *entry);

/// Whether a received header is the protocol's own and therefore not shown as metadata. Any thread.
bool crpc_metadata_is_reserved(const uint8_t *name, size_t length);

#endif
