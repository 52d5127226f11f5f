/// The pure parts of gRPC's wire format. Any thread; no I/O; nothing is kept between calls but in the given object.
#ifndef CRPC_WIRE_H
#define CRPC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The prefix of a message: a compressed flag and a big-endian length.
enum { CRPC_PREFIX_LENGTH = 5 };

/// Writes a message's prefix.
void crpc_prefix_write(uint8_t prefix[CRPC_PREFIX_LENGTH], bool compressed, uint32_t length);

/// Takes a stream of bytes apart into messages. States: in a prefix (`prefix_length` < 5) → in a message
/// (`received` < `expected`) → in the next prefix. It ends in `failed`, from which nothing leads out.
typedef struct crpc_deframer {
    uint8_t *buffer;
    size_t capacity;
    size_t received;
    uint32_t expected;
    uint32_t message_max;
    uint8_t prefix[CRPC_PREFIX_LENGTH];
    uint8_t prefix_length;
    bool failed;
} crpc_deframer;

/// One message: valid until the deframer is fed again, or the fed bytes go away.
typedef struct crpc_message {
    const uint8_t *bytes;
    size_t length;
    bool compressed;
} crpc_message;

/// Makes a deframer that takes messages of at most `message_max` bytes. It holds no memory yet.
void crpc_deframer_init(crpc_deframer *deframer, uint32_t message_max);

/// Frees what it holds and makes it as new.
void crpc_deframer_reset(crpc_deframer *deframer);
/// Lets go of the buffer of a message that is whole and was handed on, if it is large: a stream may live for long, and
/// memory that it does not need is not counted.
void crpc_deframer_trim(crpc_deframer *deframer);

/// Takes bytes from the front of `*bytes` until a message is whole or the bytes are used up. A message that lies whole
/// in the given bytes is not copied; one that doesn't is put together in memory that grows as its bytes arrive.
/// Returns 1 with a message, 0 when more bytes are needed, or a negative error: LIMIT (a message over the maximum),
/// PROTOCOL (a flag other than 0 and 1), MEMORY.
int crpc_deframer_next(crpc_deframer *deframer, const uint8_t **bytes, size_t *length, crpc_message *message);

/// Whether the bytes so far end between two messages.
bool crpc_deframer_is_between_messages(const crpc_deframer *deframer);

/// Room for a formatted timeout: eight digits, a unit.
enum { CRPC_TIMEOUT_LENGTH_MAX = 9 };

/// Reads `grpc-timeout` (1 to 8 digits and one of H M S m u n). PROTOCOL if it is anything else.
int crpc_timeout_parse(const uint8_t *text, size_t length, uint64_t *nanoseconds);

/// Writes a timeout in the finest unit that fits eight digits, rounded up so that it is never sent as shorter, but for
/// what is over 99,999,999 hours. Returns the length.
size_t crpc_timeout_format(uint64_t nanoseconds, uint8_t text[CRPC_TIMEOUT_LENGTH_MAX]);

/// Percent-encodes `grpc-message`: bytes outside 0x20…0x7e, `%`, and a space at either end, where HTTP/2 allows none
/// (RFC 9113 section 8.2.1). `target` has room for three times the length. Returns the length.
size_t crpc_percent_encode(const uint8_t *text, size_t length, uint8_t *target);

/// Decodes `grpc-message`; what is no valid escape stays as it is. `target` has room for the length.
/// Returns the length.
size_t crpc_percent_decode(const uint8_t *text, size_t length, uint8_t *target);

/// The statuses of gRPC that this layer itself gives.
enum {
    CRPC_STATUS_OK = 0,
    CRPC_STATUS_CANCELLED = 1,
    CRPC_STATUS_UNKNOWN = 2,
    CRPC_STATUS_DEADLINE_EXCEEDED = 4,
    CRPC_STATUS_PERMISSION_DENIED = 7,
    CRPC_STATUS_RESOURCE_EXHAUSTED = 8,
    CRPC_STATUS_UNIMPLEMENTED = 12,
    CRPC_STATUS_INTERNAL = 13,
    CRPC_STATUS_UNAVAILABLE = 14,
    CRPC_STATUS_UNAUTHENTICATED = 16,
};

/// Reads `grpc-status`: decimal digits without leading zeros, at most 9. Returns the number, or -1.
int crpc_status_parse(const uint8_t *text, size_t length);

/// The gRPC status that stands for an HTTP status where an answer has no `grpc-status`
/// (gRPC, "HTTP to gRPC Status Code Mapping").
int crpc_status_from_http(int http_status);

/// The gRPC status that stands for an HTTP/2 error code of RST_STREAM (gRPC over HTTP/2, "Errors").
int crpc_status_from_http2_error(uint32_t error);

#endif
