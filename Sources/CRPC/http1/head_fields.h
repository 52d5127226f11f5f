/// The field lines of an HTTP/1.x head (RFC 9112 section 5): each read in one pass and packed, but for those that are about
/// the connection or the body's length, which are kept here. Pure; one thread.
#ifndef CRPC_H1_HEAD_FIELDS_H
#define CRPC_H1_HEAD_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What the fields read so far say. Zeros, but for `packed`, are none.
typedef struct crpc_h1_fields {
    uint8_t *packed;         // crpc_metadata.h; has room for 7 bytes for each 4 that are read
    size_t packed_length;
    uint32_t count;          // of all, those that are not packed among them
    uint32_t hosts, lengths; // of the fields Host and Content-Length
    uint32_t codings;        // named by Transfer-Encoding, in one field or several
    const uint8_t *host;     // the last one
    size_t host_length;
    int64_t content_length;
    bool is_host_bad, is_length_bad;
    bool is_chunked_last;    // the last coding so far is chunked
    bool are_codings_bad;    // one before it was, or is empty
    bool closes, keeps_alive;// Connection
    bool expects_continue, takes_trailers, is_grpc;
} crpc_h1_fields;

/// Reads a line. What follows it, or NULL if it is none, or none yet: bytes are missing.
const uint8_t *crpc_h1_take_field(crpc_h1_fields *fields, const uint8_t *line, const uint8_t *end);

/// Whether a text is a host with an optional port (`crpc_is_authority`), of at most CRPC_AUTHORITY_MAX bytes.
bool crpc_h1_is_host(const uint8_t *text, size_t length);
/// Whether two texts are the same but for the case of letters.
bool crpc_h1_are_alike(const uint8_t *text, size_t length, const uint8_t *other, size_t other_length);
/// The same with a text in lower case.
bool crpc_h1_is_text(const uint8_t *text, size_t length, const char *wanted);

#endif
