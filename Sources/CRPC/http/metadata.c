#include "crpc_metadata.h"

#include <string.h>

bool crpc_metadata_next(const uint8_t *block, size_t length, size_t *offset, crpc_entry *entry) {
    uint16_t name_length;
    uint32_t value_length;
    if (length - *offset < CRPC_ENTRY_OVERHEAD) return false;
    const uint8_t *at = block + *offset;
    memcpy(&name_length, at, sizeof name_length);
    memcpy(&value_length, at + sizeof name_length, sizeof value_length);
    if (length - *offset - CRPC_ENTRY_OVERHEAD < (size_t)name_length + value_length) return false;
    entry->name = at + CRPC_ENTRY_OVERHEAD;
    entry->name_length = name_length;
    entry->value = entry->name + name_length;
    entry->value_length = value_length;
    *offset += CRPC_ENTRY_OVERHEAD + (size_t)name_length + value_length;
    return true;
}

size_t crpc_metadata_put(uint8_t *target, const crpc_entry *entry) {
    uint16_t name_length = (uint16_t)entry->name_length;
    uint32_t value_length = (uint32_t)entry->value_length;
    memcpy(target, &name_length, sizeof name_length);
    memcpy(target + sizeof name_length, &value_length, sizeof value_length);
    memcpy(target + CRPC_ENTRY_OVERHEAD, entry->name, entry->name_length);
    if (value_length > 0) memcpy(target + CRPC_ENTRY_OVERHEAD + entry->name_length, entry->value, entry->value_length);
    return CRPC_ENTRY_OVERHEAD + entry->name_length + entry->value_length;
}
