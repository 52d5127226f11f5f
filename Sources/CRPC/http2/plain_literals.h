/// Rewrites received header blocks so that their long strings are plain ones, before the session gets them.
///
/// Clients send what they don't index, such as bearer tokens, as Huffman-coded strings anew with each call. nghttp2
/// decodes those half a byte at a time, and cannot be given another decoder. What it is given instead is an equivalent block (RFC 7541 section 5.2: whether a string is coded is
/// the sender's choice, and the dynamic table is not concerned). Whatever is unusual stays as it came, so that nghttp2
/// is the one to judge it: frames that don't lie whole in what was read, that are padded or go on in CONTINUATION, or
/// would become too large; blocks that cannot be read; strings that cannot be decoded.
///
/// What it saves of the C layer's instructions for a unary call with five further fields, by Tests/Performance/HeaderBlocks/run.sh:
///
///     nghttp2                                    1.52                   1.64                   1.70
///     one bearer token for all calls             33,388 to 23,815       33,975 to 24,475       31,126 to 24,192
///     a hundred, which take turns                33,357 to 27,391       33,877 to 28,063       31,130 to 27,754
///     no further fields                          15,155 to 14,851       15,747 to 15,445       15,139 to 15,198
///
/// The Swift side adds about 10,000 to each. Of a whole echo the saving is then 22 % with one token and 14 % with a hundred (1.70:
/// 17 % and 8 %).
#ifndef CRPC_PLAIN_LITERALS_H
#define CRPC_PLAIN_LITERALS_H

#include "http2/known_literals.h"

#include <stddef.h>
#include <stdint.h>

/// Least bytes of a coded string that is made a plain one: for fewer it does not pay.
enum { CRPC_PLAIN_LITERAL_MIN = 8 };

/// Most bytes that lie between two rewritten frames and are copied, so that both are handed over at once. More, such as
/// large messages, are cheaper left where they are.
enum { CRPC_PLAIN_COPY_MAX = 2048 };

/// Room that takes the rewritten form of so many bytes: strings grow by three fifths at most.
static inline size_t crpc_plain_literals_room(size_t length) { return 2 * length; }

/// Rewrites a front part of what was read of a connection, which `*taken` tells the length of: it ends where a frame does,
/// or all does. `first_head` is where the first frame's head begins, at the end or past it if none does. `target` has
/// `crpc_plain_literals_room(length)` bytes and does not overlap.
/// The bytes written; 0, with nothing of use in `target`, where the part stays as it is. After `crpc_huffman_prepare`, on the
/// thread of the connection, whose strings `known` keeps; nothing else is.
size_t crpc_plain_literals(
    crpc_known_literals *known, const uint8_t *bytes, size_t length, size_t first_head, uint8_t *target, size_t *taken);

#endif
