#include "http2/frames.h"

const char *crpc_h2_error_name(uint32_t code) {
    static const char *const names[CRPC_H2_ERRORS] = {
        "NO_ERROR",       "PROTOCOL_ERROR",   "INTERNAL_ERROR",      "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",  "FRAME_SIZE_ERROR", "REFUSED_STREAM",      "CANCEL",             "COMPRESSION_ERROR",
        "CONNECT_ERROR",  "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    };
    return code < CRPC_H2_ERRORS ? names[code] : "unknown";
}
