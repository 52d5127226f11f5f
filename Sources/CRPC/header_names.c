#include "internal.h"

// The names that the protocol keeps for itself, found by their length: each header of each call is looked up here.

enum { NAME_LENGTH_MAX = 20, NAMES_PER_LENGTH_MAX = 4 };

static const struct known_name {
    const char *text;
    crpc_header header;
} known_names[NAME_LENGTH_MAX + 1][NAMES_PER_LENGTH_MAX] = {
    [2] = {{"te", CRPC_HEADER_TE}},
    [4] = {{"host", CRPC_HEADER_HOST}},
    [5] = {{":path", CRPC_HEADER_PATH}},
    [7] = {{":method", CRPC_HEADER_METHOD}, {":scheme", CRPC_HEADER_SCHEME}, {":status", CRPC_HEADER_STATUS},
           {"upgrade", CRPC_HEADER_CONNECTION}},
    [10] = {{":authority", CRPC_HEADER_AUTHORITY}, {"connection", CRPC_HEADER_CONNECTION},
            {"keep-alive", CRPC_HEADER_CONNECTION}},
    [11] = {{"grpc-status", CRPC_HEADER_GRPC_STATUS}},
    [12] = {{"content-type", CRPC_HEADER_CONTENT_TYPE},
            {"grpc-timeout", CRPC_HEADER_GRPC_TIMEOUT},
            {"grpc-message", CRPC_HEADER_GRPC_MESSAGE}},
    [13] = {{"grpc-encoding", CRPC_HEADER_GRPC_ENCODING}},
    [14] = {{"content-length", CRPC_HEADER_CONTENT_LENGTH}},
    [16] = {{"proxy-connection", CRPC_HEADER_CONNECTION}},
    [17] = {{"transfer-encoding", CRPC_HEADER_CONNECTION}, {"grpc-message-type", CRPC_HEADER_OTHER}},
    [20] = {{"grpc-accept-encoding", CRPC_HEADER_GRPC_ACCEPT_ENCODING}},
};

crpc_header crpc_header_named(const uint8_t *name, size_t length) {
    crpc_header otherwise = length == 0 || name[0] == ':' ? CRPC_HEADER_OTHER : CRPC_HEADER_METADATA;
    if (length == 0 || length > NAME_LENGTH_MAX) return otherwise;
    const struct known_name *known = known_names[length];
    for (int i = 0; i < NAMES_PER_LENGTH_MAX && known[i].text != NULL; i++) {
        // The last letters tell more of these apart than the first ones.
        bool may_be = (uint8_t)known[i].text[length - 1] == name[length - 1];
        if (may_be && memcmp(known[i].text, name, length) == 0) return known[i].header;
    }
    return otherwise;
}

bool crpc_metadata_is_reserved(const uint8_t *name, size_t length) {
    return crpc_header_named(name, length) != CRPC_HEADER_METADATA;
}
