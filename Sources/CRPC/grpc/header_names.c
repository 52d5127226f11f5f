#include "grpc/header_names.h"

#include "crpc_stream.h"
#include "http/bytes.h"

const crpc_known_names crpc_grpc_names = {
    CRPC_KNOWN_NAMES_OF_HTTP,
    .of_length[11][0] = {"grpc-status", CRPC_HEADER_GRPC_STATUS},
    .of_length[12][1] = {"grpc-timeout", CRPC_HEADER_GRPC_TIMEOUT},
    .of_length[12][2] = {"grpc-message", CRPC_HEADER_GRPC_MESSAGE},
    .of_length[13][0] = {"grpc-encoding", CRPC_HEADER_GRPC_ENCODING},
    .of_length[17][1] = {"grpc-message-type", CRPC_HEADER_PROTOCOL},
    .of_length[20][0] = {"grpc-accept-encoding", CRPC_HEADER_GRPC_ACCEPT_ENCODING},
};

uint8_t crpc_unrepeated_field(const uint8_t *name, size_t length) {
    switch (length) { // most names have another one
    case 10: return crpc_equals(name, length, "tracestate") ? 0x01 : 0;
    case 11: return crpc_equals(name, length, "traceparent") ? 0x02 : 0;
    case 12: return crpc_equals(name, length, "x-request-id") ? 0x04 : 0;
    case 22: return crpc_equals(name, length, "vestibule-caller-proof") ? 0x08 : 0;
    case 24: return crpc_equals(name, length, "vestibule-client-address") ? 0x10 : 0;
    default: return 0; // nghttp2 keeps no `authorization` by itself; `grpc-timeout` is looked at where it is written
    }
}

bool crpc_metadata_is_reserved(const uint8_t *name, size_t length) {
    return crpc_header_named(&crpc_grpc_names, name, length) != CRPC_HEADER_APPLICATION;
}
