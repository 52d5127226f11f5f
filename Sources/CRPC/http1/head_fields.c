#include "http1/head_fields.h"

#include "crpc_metadata.h"
#include "http/authority.h"
#include "http/bytes.h"
#include "http/syntax.h"

#include <string.h>

static uint8_t fields_lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c; }
static bool fields_is_blank(uint8_t c) { return c == ' ' || c == '\t'; }

bool crpc_h1_are_alike(const uint8_t *text, size_t length, const uint8_t *other, size_t other_length) {
    if (length != other_length) return false;
    for (size_t i = 0; i < length; i++)
        if (fields_lower(text[i]) != fields_lower(other[i])) return false;
    return true;
}

bool crpc_h1_is_text(const uint8_t *text, size_t length, const char *wanted) {
    return crpc_h1_are_alike(text, length, (const uint8_t *)wanted, strlen(wanted));
}

bool crpc_h1_is_host(const uint8_t *text, size_t length) {
    return length <= CRPC_AUTHORITY_MAX && crpc_is_authority(text, length); // nobody's name is longer (RFC 1035 section 2.3.4)
}

// ---- Lists ----

/// Takes the next element off a list (RFC 9110 section 5.6.1): text between commas, without blanks around it. False at the end.
static bool fields_next_element(
    const uint8_t *value, size_t length, size_t *at, const uint8_t **element, size_t *element_length) {
    if (*at > length) return false;
    const uint8_t *comma = memchr(value + *at, ',', length - *at);
    size_t end = comma == NULL ? length : (size_t)(comma - value), start = *at;
    *at = end + 1;
    while (start < end && fields_is_blank(value[start])) start += 1;
    while (end > start && fields_is_blank(value[end - 1])) end -= 1;
    *element = value + start;
    *element_length = end - start;
    return true;
}

static bool fields_has_element(const uint8_t *value, size_t length, const char *wanted) {
    const uint8_t *element;
    size_t at = 0, element_length;
    while (fields_next_element(value, length, &at, &element, &element_length))
        if (crpc_h1_is_text(element, element_length, wanted)) return true;
    return false;
}

static void fields_take_codings(crpc_h1_fields *fields, const uint8_t *value, size_t length) {
    const uint8_t *element;
    size_t at = 0, element_length;
    while (fields_next_element(value, length, &at, &element, &element_length)) {
        if (fields->is_chunked_last || element_length == 0) fields->are_codings_bad = true;
        fields->is_chunked_last = crpc_h1_is_text(element, element_length, "chunked");
        fields->codings += 1;
    }
}

// ---- Fields that mean something here ----

/// gRPC itself, which needs trailers and streams of HTTP/2; gRPC-Web is something else.
static bool fields_are_grpc(const uint8_t *value, size_t length) {
    static const char grpc[] = "application/grpc";
    size_t known = sizeof grpc - 1;
    if (length < known || !crpc_h1_is_text(value, known, grpc)) return false;
    return length == known || value[known] == '+' || value[known] == ';' || fields_is_blank(value[known]);
}

#define IS(wanted) (memcmp(name, wanted, sizeof(wanted) - 1) == 0)

/// Keeps what a field means here. Whether it is packed as well. Most names differ in length, so that this alone distinguishes them.
static bool fields_keep(
    crpc_h1_fields *fields, const uint8_t *name, size_t name_length, const uint8_t *value, size_t length) {
    switch (name_length) {
    case 2:
        if (!IS("te")) return true;
        if (fields_has_element(value, length, "trailers")) fields->takes_trailers = true;
        return false;
    case 4:
        if (!IS("host")) return true;
        fields->hosts += 1;
        fields->host = value;
        fields->host_length = length;
        if (!crpc_h1_is_host(value, length)) fields->is_host_bad = true;
        return false;
    case 6:
        if (!IS("expect")) return true;
        if (crpc_h1_is_text(value, length, "100-continue")) fields->expects_continue = true;
        return false;
    case 7: return !IS("upgrade");
    case 10:
        if (IS("keep-alive")) return false;
        if (!IS("connection")) return true;
        if (fields_has_element(value, length, "close")) fields->closes = true;
        if (fields_has_element(value, length, "keep-alive")) fields->keeps_alive = true;
        return false;
    case 12:
        if (IS("content-type") && fields_are_grpc(value, length)) fields->is_grpc = true;
        return true;
    case 14:
        if (!IS("content-length")) return true;
        fields->lengths += 1;
        fields->content_length = crpc_read_content_length(value, length);
        if (fields->content_length < 0) fields->is_length_bad = true;
        return false;
    case 16: return !IS("proxy-connection");
    case 17:
        if (!IS("transfer-encoding")) return true;
        fields_take_codings(fields, value, length);
        return false;
    default: return true;
    }
}

// ---- A line ----

const uint8_t *crpc_h1_take_field(crpc_h1_fields *fields, const uint8_t *line, const uint8_t *end) {
    uint8_t *packed = fields->packed + fields->packed_length, *name = packed + CRPC_ENTRY_OVERHEAD, *to = name;
    const uint8_t *at = line;
    for (; at < end && crpc_token_lower[*at] != 0; at++) *to++ = crpc_token_lower[*at];
    if (at == end || at == line || *at != ':' || at - line > UINT16_MAX) return NULL;
    do at += 1;
    while (at < end && fields_is_blank(*at));
    const uint8_t *value = at, *next;
    for (;;) {
        at = crpc_find_control(at, end);
        if (end - at < 2) return NULL;
        if (*at != '\t') break;
        at += 1;
    }
    if (at[0] != '\r' || at[1] != '\n') return NULL;
    next = at + 2;
    while (at > value && fields_is_blank(at[-1])) at -= 1;
    uint16_t name_length = (uint16_t)(to - name);
    uint32_t length = (uint32_t)(at - value);
    fields->count += 1;
    if (!fields_keep(fields, name, name_length, value, length)) return next;
    memcpy(packed, &name_length, sizeof name_length);
    memcpy(packed + sizeof name_length, &length, sizeof length);
    memcpy(to, value, length);
    fields->packed_length += CRPC_ENTRY_OVERHEAD + name_length + length;
    return next;
}
