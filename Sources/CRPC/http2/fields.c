#include "http2/fields.h"

#include <stdbool.h>
#include <string.h>

int crpc_header_named(const crpc_known_names *names, const uint8_t *name, size_t length) {
    int otherwise = length == 0 || name[0] == ':' ? CRPC_HEADER_PROTOCOL : CRPC_HEADER_APPLICATION;
    if (length == 0 || length > CRPC_KNOWN_LENGTH_MAX) return otherwise;
    const crpc_known_name *known = names->of_length[length];
    for (int i = 0; i < CRPC_KNOWN_PER_LENGTH_MAX && known[i].text != NULL; i++) {
        // The last letters tell more of these apart than the first ones.
        bool may_be = (uint8_t)known[i].text[length - 1] == name[length - 1];
        if (may_be && memcmp(known[i].text, name, length) == 0) return known[i].header;
    }
    return otherwise;
}
