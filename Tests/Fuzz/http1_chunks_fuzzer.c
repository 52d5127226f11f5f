#include "fuzz.h"
#include "http1/chunks.h"

#include <strings.h>

// A chunked body, in pieces as the first byte says, against a decoder that has it whole and looks at one line after the other.

enum { BODY_MAX = 65536 };

typedef struct outcome {
    bool is_whole, is_broken;
    size_t used, body_length;
    uint8_t body[BODY_MAX];
} outcome;

// ---- Ours ----

static void read_pieces(outcome *outcome, const uint8_t *bytes, size_t length, size_t piece) {
    crpc_chunks chunks = {0};
    *outcome = (struct outcome){0};
    while (outcome->used < length && chunks.state < CRPC_CHUNK_WHOLE) {
        size_t count = length - outcome->used < piece ? length - outcome->used : piece;
        uint8_t *exact = malloc(count);
        CHECK(exact != NULL);
        memcpy(exact, bytes + outcome->used, count);
        size_t used = 0;
        while (used < count && chunks.state < CRPC_CHUNK_WHOLE) {
            if (chunks.state != CRPC_CHUNK_DATA) {
                used += crpc_chunks_read(&chunks, exact + used, count - used);
                continue;
            }
            size_t part = chunks.left < count - used ? (size_t)chunks.left : count - used;
            CHECK(part > 0);
            memcpy(outcome->body + outcome->body_length, exact + used, part);
            outcome->body_length += part;
            crpc_chunks_take_data(&chunks, part);
            used += part;
        }
        outcome->used += used;
        free(exact);
    }
    outcome->is_whole = chunks.state == CRPC_CHUNK_WHOLE;
    outcome->is_broken = chunks.state == CRPC_CHUNK_BROKEN;
}

// ---- The other one ----

/// A line's length without CR LF; -1 if there is none.
static long line_length(const uint8_t *at, const uint8_t *end) {
    for (const uint8_t *c = at; end - c >= 2; c++)
        if (c[0] == '\r') return c[1] == '\n' ? (long)(c - at) : -1;
    return -1;
}

static bool is_text(const uint8_t *at, const uint8_t *end) {
    for (; at < end; at++)
        if (*at != '\t' && (*at < ' ' || *at == 0x7f)) return false;
    return true;
}

static size_t token_length(const uint8_t *at, const uint8_t *end) {
    const uint8_t *c = at;
    while (c < end && *c > ' ' && *c < 0x7f && strchr("()<>@,:;\\\"/[]?={}", *c) == NULL) c += 1;
    return (size_t)(c - at);
}

/// What stands behind a size: `;name`, `;name=value` or `;name="value"`, as often as it likes.
static bool are_extensions(const uint8_t *at, const uint8_t *end) {
    while (at < end) {
        size_t name = *at == ';' ? token_length(at + 1, end) : 0, value;
        if (name == 0) return false;
        at += 1 + name;
        if (at == end || *at != '=') continue;
        at += 1;
        if (at < end && *at == '"') {
            const uint8_t *close = at + 1;
            while (close < end && *close != '"') close += *close == '\\' ? 2 : 1;
            if (close >= end || !is_text(at, close)) return false;
            at = close + 1;
        } else {
            value = token_length(at, end);
            if (value == 0) return false;
            at += value;
        }
    }
    return true;
}

static bool is_trailer(const uint8_t *line, size_t length) {
    static const char *const framing[] = {"content-length:", "transfer-encoding:", "host:"};
    const uint8_t *colon = memchr(line, ':', length);
    if (colon == NULL || colon == line) return false;
    for (const uint8_t *c = line; c < colon; c++)
        if (*c <= ' ' || *c >= 0x7f || strchr("()<>@,;\\\"/[]?={}", *c) != NULL) return false;
    for (int i = 0; i < 3; i++)
        if (length >= strlen(framing[i]) && strncasecmp((const char *)line, framing[i], strlen(framing[i])) == 0) return false;
    return is_text(colon, line + length);
}

/// Whether the text begins with a whole body; where it ends, and what it is.
static bool decode(outcome *outcome, const uint8_t *bytes, size_t length) {
    const uint8_t *at = bytes, *end = bytes + length;
    *outcome = (struct outcome){0};
    for (;;) {
        long line = line_length(at, end);
        if (line < 0) return false;
        char digits[17] = "";
        size_t count = 0;
        while (count < 16 && (long)count < line && strchr("0123456789abcdefABCDEF", at[count]) != NULL && at[count] != 0) {
            digits[count] = (char)at[count];
            count += 1;
        }
        if (count == 0 || ((long)count < line && at[count] != ';')) return false;
        if ((long)count < line && (line - (long)count - 1 > CRPC_CHUNK_EXTENSION_MAX || !are_extensions(at + count, at + line)))
            return false;
        unsigned long long size = strtoull(digits, NULL, 16);
        at += line + 2;
        if (size == 0) break;
        if (size > (unsigned long long)(end - at) || end - at - (long long)size < 2) return false;
        memcpy(outcome->body + outcome->body_length, at, size);
        outcome->body_length += size;
        at += size;
        if (at[0] != '\r' || at[1] != '\n') return false;
        at += 2;
    }
    const uint8_t *trailers = at;
    for (;;) {
        long line = line_length(at, end);
        if (line < 0 || at + line + 2 - trailers > CRPC_CHUNK_TRAILERS_MAX) return false;
        at += line + 2;
        if (line == 0) break;
        if (!is_trailer(at - line - 2, (size_t)line)) return false;
    }
    outcome->used = (size_t)(at - bytes);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static outcome pieces, whole, other;
    if (length < 2 || length > BODY_MAX) return 0;
    size_t piece = bytes[0] == 0 ? length : bytes[0];
    read_pieces(&pieces, bytes + 1, length - 1, piece);
    read_pieces(&whole, bytes + 1, length - 1, length);
    CHECK(pieces.is_whole == whole.is_whole && pieces.is_broken == whole.is_broken && pieces.used == whole.used);
    CHECK(pieces.body_length == whole.body_length && memcmp(pieces.body, whole.body, whole.body_length) == 0);
    CHECK(decode(&other, bytes + 1, length - 1) == whole.is_whole);
    if (!whole.is_whole) return 0;
    CHECK(other.used == whole.used && other.body_length == whole.body_length);
    CHECK(memcmp(other.body, whole.body, whole.body_length) == 0);
    return 0;
}
