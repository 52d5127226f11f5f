/// The names that gRPC keeps for itself, beside HTTP's. Pure; any thread.
#ifndef CRPC_GRPC_NAMES_H
#define CRPC_GRPC_NAMES_H

#include "http2/fields.h"

enum {
    CRPC_HEADER_GRPC_TIMEOUT = CRPC_HEADER_ONCE,
    CRPC_HEADER_GRPC_ENCODING,
    CRPC_HEADER_GRPC_STATUS = CRPC_HEADER_ABOVE,
    CRPC_HEADER_GRPC_MESSAGE,
    CRPC_HEADER_GRPC_ACCEPT_ENCODING,
};

extern const crpc_known_names crpc_grpc_names;

/// The bit of a request's field whose value is another one for each call or caller, or a secret; 0 for any other field. In the table
/// of HPACK such values would drive out those that repeat, each call would be compared with all of them, and the server would keep
/// them; secrets are not to be in it at all (RFC 7541 section 7.1.3).
uint8_t crpc_unrepeated_field(const uint8_t *name, size_t length);

#endif
