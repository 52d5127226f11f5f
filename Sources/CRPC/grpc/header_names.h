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

#endif
