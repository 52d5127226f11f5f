/// Rewrites received header blocks so that their long strings are plain ones, before the session gets them.
///
/// Clients send what they don't index, such as bearer tokens, as Huffman-coded strings anew with each call. nghttp2
/// decodes those half a byte at a time, which takes longer than all else that it does with a call, and cannot be given
/// another decoder. What it is given instead is an equivalent block (RFC 7541 section 5.2: whether a string is coded is
/// the sender's choice, and the dynamic table is not concerned). Whatever is unusual stays as it came, so that nghttp2
/// is the one to judge it: frames that don't lie whole in what was read, that are padded or go on in CONTINUATION, or
/// would become too large; blocks that cannot be read; strings that cannot be decoded.
///
/// Worth its lines: with it an echo with five further header fields takes 30,500 instructions on the server, without it 38,700; one without
/// them as many (callgrind, nghttp2 1.52).
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
