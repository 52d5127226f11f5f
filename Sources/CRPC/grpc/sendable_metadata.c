#include "crpc_stream.h"
#include "http/bytes.h"

/// Whether bytes are printable ASCII, eight at a time.
static bool sendable_value(const uint8_t *value, size_t length) {
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        uint64_t eight;
        memcpy(&eight, value + i, sizeof eight);
        if ((eight & UINT64_C(0x8080808080808080)) != 0 || crpc_have_low_or_del(value + i, 0x20)) return false;
    }
    for (; i < length; i++)
        if (value[i] < 0x20 || value[i] > 0x7e) return false;
    return true;
}

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
    return sendable_value(entry->value, length);
}
