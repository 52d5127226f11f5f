/// The head of a request as HTTP/1.x writes it (RFC 9112 sections 2 to 6): bytes in, a head or what is wrong with it out.
///
/// Strict: lines end with CR LF, names are tokens with the colon behind them, nothing is folded, values have no controls but
/// HTAB, and what could be read in two ways is a fault. Stricter than it must be: equal Content-Lengths, and an absolute-form
/// whose authority is not what Host says (a server before us may take the other one).
///
/// Pure; one thread; no memory of its own.
#ifndef CRPC_H1_HEAD_H
#define CRPC_H1_HEAD_H

#include "crpc_exchange.h"

/// Most bytes of a field section, whatever `header_bytes_max` says; and of the room that its fields are packed into, with a
/// target that is put together.
enum { CRPC_H1_FIELDS_MAX = 65536, CRPC_H1_HEAD_ROOM = 2 * CRPC_H1_FIELDS_MAX };

typedef struct crpc_h1_head_limits {
    uint32_t bytes_max;  // of all field lines, at most CRPC_H1_FIELDS_MAX
    uint32_t fields_max;
} crpc_h1_head_limits;

typedef enum crpc_h1_reading {
    CRPC_H1_MORE,  // the head is not whole, and nothing is wrong with the lines that are
    CRPC_H1_WHOLE,
    CRPC_H1_FAULTY, // `shown.fault` says what it is; nothing behind it can be believed
} crpc_h1_reading;

/// What a head says. Pointers are into the bytes that were read, or into the room.
typedef struct crpc_h1_head {
    crpc_exchange_head shown; // but for `handlers`
    size_t length;            // of a whole one
    /// Of one that is not whole: nothing new can be said before another LF has come, or so many bytes are there in all.
    size_t more_at;
    bool is_chunked;
    bool keeps_alive;         // RFC 9112 section 9.3
    bool expects_continue;    // RFC 9110 section 10.1.1
    bool takes_trailers;      // TE: trailers
} crpc_h1_head;

/// Reads a head from its first byte on; empty lines in front of it (RFC 9112 section 2.2) are the caller's to take off. `room`:
/// CRPC_H1_HEAD_ROOM bytes.
crpc_h1_reading crpc_h1_read_head(
    const crpc_h1_head_limits *limits, const uint8_t *bytes, size_t length, uint8_t *room, crpc_h1_head *head);

#endif
