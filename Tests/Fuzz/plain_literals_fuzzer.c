#include "fuzz.h"
#include "http2/huffman.h"
#include "http2/plain_literals.h"

// Header blocks that share a dynamic table: from the rewritten one nghttp2 reads the same fields as from what came, or
// fails just so. The blocks are frames in a row, as one read gives them.
//
// The input: a byte that says where the first frame begins, then blocks in short form: a byte that says how it is made
// (bit 0, whether nghttp2's deflater makes it of fields, and not the bytes themselves; bit 1, CONTINUATION; bit 2,
// PRIORITY; bit 3, whether a byte with other flags follows; from bit 4 on, how often the bytes are repeated), two of its
// length, and its bytes.

enum { BLOCK_MAX = 17000, BLOCKS_MAX = 8, FRAMES_MAX = BLOCKS_MAX * (CRPC_FRAME_HEAD + 5 + BLOCK_MAX), FIELDS_MAX = 8 };

/// A block of bytes as they come.
static size_t put_raw(uint8_t *payload, const uint8_t *bytes, size_t length, unsigned times) {
    size_t count = 0;
    // What comes once may come many times: so an input may be short, and its block long.
    for (unsigned i = 0; i < times && count + length <= BLOCK_MAX; i++) {
        if (length > 0) memcpy(payload + count, bytes, length);
        count += length;
    }
    return count;
}

/// A block that nghttp2's deflater makes: names and values parted by zeros.
static size_t put_deflated(nghttp2_hd_deflater *deflater, uint8_t *payload, const uint8_t *bytes, size_t length) {
    nghttp2_nv fields[FIELDS_MAX];
    uint8_t text[BLOCK_MAX], *end = text + length, *at = text;
    memcpy(text, bytes, length);
    size_t count = 0;
    while (at < end && count < FIELDS_MAX) {
        uint8_t *name = at, *name_end = memchr(at, 0, (size_t)(end - at));
        if (name_end == NULL) name_end = end;
        uint8_t *value = name_end < end ? name_end + 1 : end, *value_end = memchr(value, 0, (size_t)(end - value));
        if (value_end == NULL) value_end = end;
        fields[count++] = (nghttp2_nv){name, value, (size_t)(name_end - name), (size_t)(value_end - value), 0};
        at = value_end < end ? value_end + 1 : end;
    }
    ssize_t made = nghttp2_hd_deflate_hd(deflater, payload, BLOCK_MAX, fields, count);
    return made < 0 ? 0 : (size_t)made;
}

static size_t put_frame(fuzz_input *input, nghttp2_hd_deflater *deflater, uint8_t *frame) {
    uint8_t how = fuzz_take_byte(input);
    size_t wanted = (size_t)fuzz_take_byte(input) << 8, length = 0;
    wanted |= fuzz_take_byte(input);
    const uint8_t *bytes;
    size_t count = fuzz_take(input, wanted % 4096, &bytes);
    uint8_t flags = how & 4 ? NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_PRIORITY : NGHTTP2_FLAG_END_HEADERS;
    if (how & 8) flags = fuzz_take_byte(input);
    uint8_t *payload = frame + CRPC_FRAME_HEAD;
    memset(frame, 0, CRPC_FRAME_HEAD + 5);
    if (flags & NGHTTP2_FLAG_PRIORITY) length = 5;
    length += how & 1 ? put_deflated(deflater, payload + length, bytes, count)
                      : put_raw(payload + length, bytes, count, 1u << (how >> 4 & 7));
    frame[0] = (uint8_t)(length >> 16);
    frame[1] = (uint8_t)(length >> 8);
    frame[2] = (uint8_t)length;
    frame[3] = how & 2 ? NGHTTP2_CONTINUATION : NGHTTP2_HEADERS;
    frame[4] = flags;
    return CRPC_FRAME_HEAD + length;
}

/// One block being read.
typedef struct reading {
    nghttp2_hd_inflater *inflater;
    const uint8_t *at, *end;
    bool has_ended, has_failed;
} reading;

/// Reads on to the next field. False at the block's end, and at its fault.
static bool read_field(reading *reading, nghttp2_nv *field) {
    while (!reading->has_ended && !reading->has_failed) {
        int flags = 0;
        size_t left = (size_t)(reading->end - reading->at);
        ssize_t taken = nghttp2_hd_inflate_hd2(reading->inflater, field, &flags, reading->at, left, 1);
        reading->has_failed = taken < 0;
        if (taken > 0) reading->at += taken;
        if (flags & NGHTTP2_HD_INFLATE_FINAL) reading->has_ended = true;
        if (taken >= 0 && flags & NGHTTP2_HD_INFLATE_EMIT) return true;
    }
    if (reading->has_ended) CHECK(nghttp2_hd_inflate_end_headers(reading->inflater) == 0);
    return false;
}

/// Whether both blocks were read to their ends; checks that they are the same.
static bool are_same(reading *came, reading *plain) {
    nghttp2_nv a, b;
    while (read_field(came, &a)) {
        CHECK(read_field(plain, &b));
        CHECK(a.namelen == b.namelen && memcmp(a.name, b.name, a.namelen) == 0);
        CHECK(a.valuelen == b.valuelen && memcmp(a.value, b.value, a.valuelen) == 0);
        CHECK(a.flags == b.flags);
    }
    CHECK(!read_field(plain, &b));
    CHECK(came->has_failed == plain->has_failed);
    return !came->has_failed;
}

static size_t length_of(const uint8_t *frame) {
    return (size_t)frame[0] << 16 | (size_t)frame[1] << 8 | (size_t)frame[2];
}

static void compare(const uint8_t *came, size_t came_length, const uint8_t *plain, size_t plain_length) {
    reading a = {0}, b = {0};
    CHECK(nghttp2_hd_inflate_new(&a.inflater) == 0 && nghttp2_hd_inflate_new(&b.inflater) == 0);
    const uint8_t *came_end = came + came_length, *plain_end = plain + plain_length;
    bool goes_on = true;
    while (goes_on && came < came_end) {
        CHECK(plain_end - plain >= CRPC_FRAME_HEAD && memcmp(came + 3, plain + 3, CRPC_FRAME_HEAD - 3) == 0);
        size_t skipped = CRPC_FRAME_HEAD + (came[4] & NGHTTP2_FLAG_PRIORITY ? 5 : 0);
        CHECK(length_of(plain) <= 16384 || length_of(plain) == length_of(came));
        a.at = came + skipped;
        b.at = plain + skipped;
        a.end = came += CRPC_FRAME_HEAD + length_of(came);
        b.end = plain += CRPC_FRAME_HEAD + length_of(plain);
        CHECK(plain <= plain_end);
        a.has_ended = b.has_ended = false;
        goes_on = are_same(&a, &b);
    }
    CHECK(!goes_on || plain == plain_end);
    nghttp2_hd_inflate_del(a.inflater);
    nghttp2_hd_inflate_del(b.inflater);
}

/// Rewrites part by part, in memory whose bounds are watched, as a connection does. The length of all.
static size_t rewrite(
    crpc_known_literals *known, const uint8_t *bytes, size_t length, size_t first_head, uint8_t *target, bool *has_changed) {
    size_t used = 0;
    *has_changed = false;
    while (length > 0) {
        uint8_t *part = malloc(crpc_plain_literals_room(length));
        CHECK(part != NULL);
        size_t taken, written = crpc_plain_literals(known, bytes, length, first_head, part, &taken);
        CHECK(taken > 0 && taken <= length);
        memcpy(target + used, written > 0 ? part : bytes, written > 0 ? written : taken);
        used += written > 0 ? written : taken;
        *has_changed = *has_changed || written > 0;
        free(part);
        bytes += taken;
        length -= taken;
        first_head = 0;
    }
    return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static uint8_t frames[FRAMES_MAX];
    crpc_huffman_prepare();
    fuzz_input input = {bytes, length};
    size_t skipped = fuzz_take_byte(&input), used = 0;
    nghttp2_hd_deflater *deflater;
    CHECK(nghttp2_hd_deflate_new(&deflater, 4096) == 0);
    for (int i = 0; i < BLOCKS_MAX && input.length > 0; i++) used += put_frame(&input, deflater, frames + used);
    nghttp2_hd_deflate_del(deflater);

    // Behind the end of another frame.
    size_t whole = skipped + used;
    uint8_t *came = calloc(1, whole + 1), *plain = malloc(2 * whole + 1), *again = malloc(4 * whole + 1);
    CHECK(came != NULL && plain != NULL && again != NULL);
    memcpy(came + skipped, frames, used);
    crpc_known_literals known = {0};
    bool has_changed;
    size_t plain_length = rewrite(&known, came, whole, skipped, plain, &has_changed);
    CHECK(plain_length >= skipped && memcmp(came, plain, skipped) == 0);
    if (has_changed) compare(came + skipped, used, plain + skipped, plain_length - skipped);
    // The same once more, now that some of its strings are known.
    bool changes_again;
    CHECK(rewrite(&known, came, whole, skipped, again, &changes_again) == plain_length && changes_again == has_changed);
    CHECK(memcmp(plain, again, plain_length) == 0);
    // Nothing is left to rewrite, but what would grow too large or cannot be decoded.
    CHECK(rewrite(&known, plain, plain_length, skipped, again, &has_changed) == plain_length && !has_changed);
    CHECK(memcmp(plain, again, plain_length) == 0);
    free(came);
    free(plain);
    free(again);
    crpc_known_literals_end(&known);
    return 0;
}
