#include "http2/plain_literals.h"

#include "http2/frames.h"

#include <stdbool.h>
#include <string.h>

enum { PRIORITY_LENGTH = 5 };
/// Bytes of the integers of RFC 7541 section 5.1 that are read; a frame's lengths need no more.
enum { INTEGER_BYTES_MAX = 4 };
/// Room for a length that is written: the lengths of strings that fit into a frame need no more.
enum { LENGTH_BYTES_MAX = 3 };

/// What was read, being copied: all before `copied` is in the target, once anything is.
typedef struct copying {
    const uint8_t *copied;
    uint8_t *target;
    crpc_known_literals *known;
} copying;

static void literals_copy_until(copying *copying, const uint8_t *at) {
    size_t count = (size_t)(at - copying->copied);
    memcpy(copying->target, copying->copied, count);
    copying->target += count;
    copying->copied = at;
}

/// Reads an integer whose first byte has a prefix of so many bits. What follows it; NULL if it is cut short or too long.
static const uint8_t *literals_read_integer(const uint8_t *at, const uint8_t *end, unsigned prefix_bits, size_t *value) {
    if (at == end) return NULL;
    size_t prefix_max = (1u << prefix_bits) - 1;
    *value = *at++ & prefix_max;
    if (*value < prefix_max) return at;
    for (unsigned i = 0; i < INTEGER_BYTES_MAX - 1 && at < end; i++) {
        *value += (size_t)(*at & 0x7f) << (7 * i);
        if ((*at++ & 0x80) == 0) return at;
    }
    return NULL;
}

/// Writes the length of a plain string. The bytes that it takes.
static size_t literals_write_length(uint8_t target[LENGTH_BYTES_MAX], size_t length) {
    if (length < 0x7f) {
        target[0] = (uint8_t)length;
        return 1;
    }
    size_t rest = length - 0x7f, count = 0;
    target[count++] = 0x7f;
    for (; rest >= 0x80; rest >>= 7) target[count++] = (uint8_t)(0x80 | (rest & 0x7f));
    target[count++] = (uint8_t)rest;
    return count;
}

/// Passes over a string literal, and writes it anew if it is coded and long enough. What follows it, or NULL.
static const uint8_t *literals_pass_string(copying *copying, const uint8_t *at, const uint8_t *end) {
    size_t length;
    const uint8_t *text = literals_read_integer(at, end, 7, &length);
    if (text == NULL || length > (size_t)(end - text)) return NULL;
    bool is_coded = (*at & 0x80) != 0;
    if (!is_coded || length < CRPC_PLAIN_LITERAL_MIN) return text + length;
    // The text goes to its place if its length takes as many bytes as are guessed here, as it mostly does.
    size_t guessed = length < 0x7f * 5 / 8 ? 1 : LENGTH_BYTES_MAX;
    uint8_t *plain = copying->target + (at - copying->copied) + guessed;
    ssize_t plain_length = crpc_known_literals_decode(copying->known, text, length, plain);
    if (plain_length < 0 || plain_length > CRPC_FRAME_PAYLOAD_MAX) return text + length;
    literals_copy_until(copying, at);
    uint8_t size[LENGTH_BYTES_MAX];
    size_t size_length = literals_write_length(size, (size_t)plain_length);
    if (size_length != guessed) memmove(copying->target + size_length, plain, (size_t)plain_length);
    memcpy(copying->target, size, size_length);
    copying->target += size_length + (size_t)plain_length;
    copying->copied = text + length;
    return copying->copied;
}

/// Passes over one representation of RFC 7541 section 6. What follows it, or NULL.
static const uint8_t *literals_pass_field(copying *copying, const uint8_t *at, const uint8_t *end) {
    size_t index;
    if (*at & 0x80) return literals_read_integer(at, end, 7, &index);
    if ((*at & 0xe0) == 0x20) return literals_read_integer(at, end, 5, &index); // the dynamic table's size
    at = literals_read_integer(at, end, (*at & 0x40) != 0 ? 6 : 4, &index);
    if (at != NULL && index == 0) at = literals_pass_string(copying, at, end);
    return at == NULL ? NULL : literals_pass_string(copying, at, end);
}

/// Rewrites a HEADERS frame and copies what lies before it, or leaves it as it is.
static void literals_pass_headers(copying *copying, const uint8_t *head, const uint8_t *end) {
    const struct copying before = *copying;
    uint8_t *new_head = copying->target + (head - copying->copied);
    const uint8_t *at = head + CRPC_FRAME_HEAD;
    if (head[4] & CRPC_FLAG_PRIORITY) at = end - at < PRIORITY_LENGTH ? NULL : at + PRIORITY_LENGTH;
    while (at != NULL && at < end) at = literals_pass_field(copying, at, end);
    if (copying->copied == before.copied) return;
    size_t length = (size_t)(copying->target - new_head) - CRPC_FRAME_HEAD + (size_t)(end - copying->copied);
    if (at == NULL || length > CRPC_FRAME_PAYLOAD_MAX) {
        *copying = before;
        return;
    }
    literals_copy_until(copying, end);
    new_head[0] = (uint8_t)(length >> 16);
    new_head[1] = (uint8_t)(length >> 8);
    new_head[2] = (uint8_t)length;
}

static bool literals_is_whole_block(const uint8_t head[CRPC_FRAME_HEAD]) {
    unsigned flags = head[4] & (CRPC_FLAG_END_HEADERS | CRPC_FLAG_PADDED);
    return head[3] == CRPC_FRAME_HEADERS && flags == CRPC_FLAG_END_HEADERS;
}

size_t crpc_plain_literals(
    crpc_known_literals *known, const uint8_t *bytes, size_t length, size_t first_head, uint8_t *target, size_t *taken) {
    copying copying = {.copied = bytes, .target = target, .known = known};
    const uint8_t *end = bytes + length, *until = end;
    size_t at = first_head;
    while (at < length && length - at >= CRPC_FRAME_HEAD) {
        const uint8_t *head = bytes + at;
        size_t payload = crpc_frame_length(head);
        if (payload > length - at - CRPC_FRAME_HEAD) break;
        at += CRPC_FRAME_HEAD + payload;
        if (!literals_is_whole_block(head) || payload > CRPC_FRAME_PAYLOAD_MAX) continue;
        if (head - copying.copied > CRPC_PLAIN_COPY_MAX) {
            until = head;
            break;
        }
        literals_pass_headers(&copying, head, bytes + at);
    }
    if (copying.copied > bytes && until - copying.copied <= CRPC_PLAIN_COPY_MAX) literals_copy_until(&copying, until);
    *taken = copying.copied > bytes ? (size_t)(copying.copied - bytes) : (size_t)(until - bytes);
    return (size_t)(copying.target - target);
}
