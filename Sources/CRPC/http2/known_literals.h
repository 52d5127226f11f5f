/// The last long strings that came coded on a connection, beside what they decode to.
///
/// A client sends its bearer token with each request, and as most do in a representation that no table keeps (RFC 7541
/// section 7.1.3), so that the same hundreds of bytes are to be decoded anew for each. Comparing and copying them is a twentieth
/// of that: 3,270 instructions less of a call with a token of 347 letters, and 260 more where a hundred tokens take turns
/// (Tests/Performance/HeaderBlocks/run.sh).
///
/// What it tells to somebody who measures time is whether a whole string came before on the same connection. That is the
/// client itself, or for a proxy that carries requests of several others, those: they would have to guess the whole string at
/// once, as the comparison takes as long wherever two differ.
///
/// Memory: none before a string that is kept came, then as much as the longest of them takes, coded and decoded, at most
/// CRPC_KNOWN_LITERALS times 13/5 of CRPC_KNOWN_LITERAL_MAX, 5.2 KiB. It is part of what a connection takes, as HPACK's tables
/// are, which the number of connections bounds. Ownership: a member of its connection, which ends it. Loop thread; no callback.
#ifndef CRPC_KNOWN_LITERALS_H
#define CRPC_KNOWN_LITERALS_H

#include "http2/huffman.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Strings that are kept: a token, and another such as a long path that is a new one each time. The one that was used last
/// stays.
enum { CRPC_KNOWN_LITERALS = 2 };
/// Bytes of a coded string that is kept, at least and at most. Less is decoded as fast.
enum { CRPC_KNOWN_LITERAL_MIN = 64, CRPC_KNOWN_LITERAL_MAX = 1024 };

typedef struct crpc_known_literal {
    uint8_t *memory; // the coded string, and behind it the text; NULL before there is one
    size_t room;     // bytes of it
    size_t coded_length, text_length;
} crpc_known_literal;

/// Zeros are one that keeps nothing.
typedef struct crpc_known_literals {
    crpc_known_literal at[CRPC_KNOWN_LITERALS];
    uint8_t last; // the one that was used last
} crpc_known_literals;

/// The same as the next, for strings of a length that is kept.
ssize_t crpc_known_literals_decode_long(crpc_known_literals *known, const uint8_t *bytes, size_t length, uint8_t *target);
/// As `crpc_huffman_decode`. Keeps what decodes, if it is neither too short nor too long; without memory it does not.
static inline ssize_t crpc_known_literals_decode(
    crpc_known_literals *known, const uint8_t *bytes, size_t length, uint8_t *target) {
    bool is_kept = length >= CRPC_KNOWN_LITERAL_MIN && length <= CRPC_KNOWN_LITERAL_MAX;
    return is_kept ? crpc_known_literals_decode_long(known, bytes, length, target)
                   : crpc_huffman_decode(bytes, length, target);
}
/// Frees what it keeps. It is as new.
void crpc_known_literals_end(crpc_known_literals *known);

#endif
