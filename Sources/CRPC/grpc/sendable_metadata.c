#include "crpc_stream.h"

bool crpc_metadata_is_sendable(const crpc_entry *entry) {
    if (crpc_metadata_is_reserved(entry->name, entry->name_length)) return false;
    for (size_t i = 0; i < entry->name_length; i++) {
        uint8_t c = entry->name[i];
        bool is_allowed = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
        if (!is_allowed) return false;
    }
    size_t length = entry->value_length;
    // A receiver drops or refuses these (RFC 9113 section 8.2.1).
    if (length > 0 && (entry->value[0] == ' ' || entry->value[length - 1] == ' ')) return false;
    for (size_t i = 0; i < length; i++)
        if (entry->value[i] < 0x20 || entry->value[i] > 0x7e) return false;
    return true;
}
