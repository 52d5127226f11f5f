#include "http1/chunks.h"

#include "crpc_limits.h"
#include "http/bytes.h"
#include "http/syntax.h"

static int chunks_digit(uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// What a quoted string or a trailer's value is made of: all but controls.
static bool chunks_is_text(uint8_t c) { return (c >= 0x20 && c != 0x7f) || c == '\t'; }

static crpc_chunk_state chunks_take_size(crpc_chunks *chunks, uint8_t c) {
    int digit = chunks_digit(c);
    if (digit < 0) {
        chunks->line_bytes = 0;
        if (chunks->digits == 0) return CRPC_CHUNK_BROKEN;
        return c == '\r' ? CRPC_CHUNK_SIZE_LF : c == ';' ? CRPC_CHUNK_EXTENSION : CRPC_CHUNK_BROKEN;
    }
    if (chunks->digits == CRPC_CHUNK_DIGITS_MAX || chunks->left > (INT64_MAX >> 4)) return CRPC_CHUNK_BROKEN;
    chunks->digits += 1;
    chunks->left = chunks->left << 4 | (uint64_t)digit;
    return CRPC_CHUNK_SIZE;
}

/// What follows an extension: another one, or the end of the line.
static crpc_chunk_state chunks_end_extension(crpc_chunks *chunks, uint8_t c) {
    if (c == ';') return CRPC_CHUNK_EXTENSION;
    if (c != '\r') return CRPC_CHUNK_BROKEN;
    chunks->cost += CRPC_COST_FRAME;
    return CRPC_CHUNK_SIZE_LF;
}

/// A byte of extensions: a name, and perhaps a value, which is a token or quoted.
static crpc_chunk_state chunks_take_extension(crpc_chunks *chunks, uint8_t c) {
    bool is_token = crpc_token_lower[c] != 0;
    if (c != '\r') chunks->line_bytes += 1;
    if (chunks->line_bytes > CRPC_CHUNK_EXTENSION_MAX) return CRPC_CHUNK_BROKEN;
    switch ((crpc_chunk_state)chunks->state) {
    case CRPC_CHUNK_EXTENSION: return is_token ? CRPC_CHUNK_EXTENSION_NAME : CRPC_CHUNK_BROKEN;
    case CRPC_CHUNK_EXTENSION_NAME:
        if (c == '=') return CRPC_CHUNK_EXTENSION_VALUE;
        return is_token ? CRPC_CHUNK_EXTENSION_NAME : chunks_end_extension(chunks, c);
    case CRPC_CHUNK_EXTENSION_VALUE:
        if (c == '"') return CRPC_CHUNK_QUOTED;
        return is_token ? CRPC_CHUNK_EXTENSION_TOKEN : CRPC_CHUNK_BROKEN;
    case CRPC_CHUNK_EXTENSION_TOKEN: return is_token ? CRPC_CHUNK_EXTENSION_TOKEN : chunks_end_extension(chunks, c);
    case CRPC_CHUNK_QUOTED:
        if (c == '"') return CRPC_CHUNK_QUOTED_END;
        if (c == '\\') return CRPC_CHUNK_QUOTED_PAIR;
        return chunks_is_text(c) ? CRPC_CHUNK_QUOTED : CRPC_CHUNK_BROKEN;
    case CRPC_CHUNK_QUOTED_PAIR: return chunks_is_text(c) ? CRPC_CHUNK_QUOTED : CRPC_CHUNK_BROKEN;
    default: return chunks_end_extension(chunks, c); // QUOTED_END
    }
}

static crpc_chunk_state chunks_end_size(crpc_chunks *chunks, uint8_t c) {
    if (c != '\n') return CRPC_CHUNK_BROKEN;
    chunks->digits = 0;
    if (chunks->left == 0) return CRPC_CHUNK_LINE;
    if (chunks->left < CRPC_CHUNK_BYTES_FREE) chunks->cost += CRPC_COST_FRAME;
    return CRPC_CHUNK_DATA;
}

/// A byte of a trailer's name, or the colon behind it.
static crpc_chunk_state chunks_take_name(crpc_chunks *chunks, uint8_t c) {
    const uint8_t *name = chunks->name;
    size_t length = chunks->name_length;
    if (c == ':') {
        bool is_framing = crpc_equals(name, length, "content-length") || crpc_equals(name, length, "transfer-encoding") ||
                          crpc_equals(name, length, "host");
        return is_framing ? CRPC_CHUNK_BROKEN : CRPC_CHUNK_VALUE;
    }
    if (length < CRPC_CHUNK_NAME_MAX) chunks->name[chunks->name_length++] = crpc_token_lower[c];
    return crpc_token_lower[c] != 0 ? CRPC_CHUNK_NAME : CRPC_CHUNK_BROKEN;
}

/// A byte of the trailers.
static crpc_chunk_state chunks_take_trailer(crpc_chunks *chunks, uint8_t c) {
    chunks->trailer_bytes += 1;
    if (chunks->trailer_bytes > CRPC_CHUNK_TRAILERS_MAX) return CRPC_CHUNK_BROKEN;
    switch ((crpc_chunk_state)chunks->state) {
    case CRPC_CHUNK_LINE:
        if (c == '\r') return CRPC_CHUNK_LAST_LF;
        chunks->cost += CRPC_COST_FRAME;
        chunks->name_length = 0;
        return c == ':' ? CRPC_CHUNK_BROKEN : chunks_take_name(chunks, c);
    case CRPC_CHUNK_NAME: return chunks_take_name(chunks, c);
    case CRPC_CHUNK_VALUE:
        if (c == '\r') return CRPC_CHUNK_VALUE_LF;
        return chunks_is_text(c) ? CRPC_CHUNK_VALUE : CRPC_CHUNK_BROKEN;
    case CRPC_CHUNK_VALUE_LF: return c == '\n' ? CRPC_CHUNK_LINE : CRPC_CHUNK_BROKEN;
    default: return c == '\n' ? CRPC_CHUNK_WHOLE : CRPC_CHUNK_BROKEN; // LAST_LF
    }
}

size_t crpc_chunks_read(crpc_chunks *chunks, const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        uint8_t c = bytes[i];
        crpc_chunk_state next;
        switch ((crpc_chunk_state)chunks->state) {
        case CRPC_CHUNK_SIZE: next = chunks_take_size(chunks, c); break;
        case CRPC_CHUNK_EXTENSION:
        case CRPC_CHUNK_EXTENSION_NAME:
        case CRPC_CHUNK_EXTENSION_VALUE:
        case CRPC_CHUNK_EXTENSION_TOKEN:
        case CRPC_CHUNK_QUOTED:
        case CRPC_CHUNK_QUOTED_PAIR:
        case CRPC_CHUNK_QUOTED_END: next = chunks_take_extension(chunks, c); break;
        case CRPC_CHUNK_SIZE_LF: next = chunks_end_size(chunks, c); break;
        case CRPC_CHUNK_DATA_CR: next = c == '\r' ? CRPC_CHUNK_DATA_LF : CRPC_CHUNK_BROKEN; break;
        case CRPC_CHUNK_DATA_LF: next = c == '\n' ? CRPC_CHUNK_SIZE : CRPC_CHUNK_BROKEN; break;
        case CRPC_CHUNK_DATA:
        case CRPC_CHUNK_WHOLE:
        case CRPC_CHUNK_BROKEN: return i;
        default: next = chunks_take_trailer(chunks, c); break;
        }
        chunks->state = (uint8_t)next;
    }
    return length;
}
