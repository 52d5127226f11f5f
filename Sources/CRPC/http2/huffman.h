/// The Huffman code of HPACK's string literals (RFC 7541 section 5.2 and appendix B), decoded two symbols at a time.
///
/// It knows the codes of at most CRPC_HUFFMAN_LOOKUP_BITS bits, which those of letters, digits and most signs have. What
/// has a longer one is left to somebody who knows it.
#ifndef CRPC_HUFFMAN_H
#define CRPC_HUFFMAN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Bits that are looked at once. The table has four bytes for each of their values: with one bit more it would push
/// everything else out of a processor's nearest cache, with one less far fewer pairs of letters fit.
enum { CRPC_HUFFMAN_LOOKUP_BITS = 13 };

/// Bytes written at a time, whether or not there are so many symbols: room that is needed past the last one.
enum { CRPC_HUFFMAN_SLACK = 1 };

/// Makes the table, once for the process. Any thread; before the first decoding in it.
void crpc_huffman_prepare(void);

/// Room that decoding takes: no code has less than five bits.
static inline size_t crpc_huffman_room(size_t length) { return length * 8 / 5 + CRPC_HUFFMAN_SLACK; }

/// Decodes a literal into `target`, which has `crpc_huffman_room(length)` bytes. The length of the text; -1 where a code
/// is longer than those that are known, the text ends inside a code, or the padding is not as section 5.2 has it: then
/// `target` holds nothing of use. Any thread; nothing is kept.
ssize_t crpc_huffman_decode(const uint8_t *bytes, size_t length, uint8_t *target);

#endif
