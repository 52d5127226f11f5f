/// The numbers of HTTP/2: frames, their flags, error codes (RFC 9113 sections 4.1, 6 and 7). Pure; any thread.
#ifndef CRPC_FRAMES_H
#define CRPC_FRAMES_H

#include <stdint.h>

/// A frame's head: length (3 bytes), type, flags, stream identifier (4 bytes).
enum { CRPC_FRAME_HEAD = 9 };
/// The client's connection preface (section 3.4).
enum { CRPC_PREFACE_LENGTH = 24 };
/// SETTINGS_MAX_FRAME_SIZE as it is where nobody says otherwise: larger frames are not taken.
enum { CRPC_FRAME_PAYLOAD_MAX = 16384 };
/// What SETTINGS_MAX_HEADER_LIST_SIZE counts for each field beside its name and value (section 6.5.2).
enum { CRPC_ENTRY_COST = 32 };

enum {
    CRPC_FRAME_DATA = 0,
    CRPC_FRAME_HEADERS = 1,
    CRPC_FRAME_RST_STREAM = 3,
    CRPC_FRAME_SETTINGS = 4,
    CRPC_FRAME_PING = 6,
    CRPC_FRAME_GOAWAY = 7,
    CRPC_FRAME_CONTINUATION = 9,
};

enum {
    CRPC_FLAG_ACK = 0x1,
    CRPC_FLAG_END_STREAM = 0x1,
    CRPC_FLAG_END_HEADERS = 0x4,
    CRPC_FLAG_PADDED = 0x8,
    CRPC_FLAG_PRIORITY = 0x20,
};

/// Error codes of RST_STREAM and GOAWAY.
enum {
    CRPC_H2_NO_ERROR = 0,
    CRPC_H2_PROTOCOL_ERROR = 1,
    CRPC_H2_INTERNAL_ERROR = 2,
    CRPC_H2_REFUSED_STREAM = 7,
    CRPC_H2_CANCEL = 8,
    CRPC_H2_ENHANCE_YOUR_CALM = 11,
    CRPC_H2_INADEQUATE_SECURITY = 12,
    CRPC_H2_ERRORS = 14,
};

/// A code's name as the RFC has it, "unknown" for one that it does not define. Constant.
const char *crpc_h2_error_name(uint32_t code);

/// The payload length that a frame's head tells.
static inline uint32_t crpc_frame_length(const uint8_t head[CRPC_FRAME_HEAD]) {
    return (uint32_t)head[0] << 16 | (uint32_t)head[1] << 8 | (uint32_t)head[2];
}

#endif
