#include "request_oracle.h"

#include <strings.h>

// Sentence by sentence, and byte by byte: nothing here is shared with request_rules.c.

static bool is_in(const char *set, uint8_t c) { return c != 0 && strchr(set, c) != NULL; }
static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
static bool is_letter(uint8_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// RFC 9110 section 5.6.2.
static bool is_tchar(uint8_t c) { return is_letter(c) || is_digit(c) || is_in("!#$%&'*+-.^_`|~", c); }

static bool is_named(const oracle_field *field, const char *name) {
    return field->name_length == strlen(name) && memcmp(field->name, name, field->name_length) == 0;
}

static bool says(const oracle_field *field, const char *value) {
    return field->value_length == strlen(value) && memcmp(field->value, value, field->value_length) == 0;
}

static bool says_in_any_case(const oracle_field *field, const char *value) {
    return field->value_length == strlen(value) && strncasecmp((const char *)field->value, value, strlen(value)) == 0;
}

static bool is_all(const oracle_field *field, bool (*is_right)(uint8_t)) {
    for (size_t i = 0; i < field->value_length; i++)
        if (!is_right(field->value[i])) return false;
    return true;
}

static bool is_path_byte(uint8_t c) { return c > 0x20 && c != 0x7f; }
static bool is_scheme_byte(uint8_t c) { return is_letter(c) || is_digit(c) || is_in("+-.", c); }
/// RFC 9110 section 5.5.
static bool is_value_byte(uint8_t c) { return c == '\t' || (c >= 0x20 && c != 0x7f); }

static bool is_hex(uint8_t c) { return is_digit(c) || is_in("abcdefABCDEF", c); }

/// RFC 3986 section 3.2 without user information (RFC 9113 section 8.3.1), and with a host (RFC 9110 section 4.2.1): what is
/// behind the last colon that is in no bracket is a port of digits, and in front of it a name, or an address in brackets.
static bool is_authority(const oracle_field *field) {
    const uint8_t *text = field->value;
    size_t end = field->value_length;
    while (end > 0 && is_digit(text[end - 1])) end -= 1;
    bool has_port = end > 0 && text[end - 1] == ':' && (text[0] != '[' || (end > 1 && text[end - 2] == ']'));
    size_t length = has_port ? end - 1 : field->value_length;
    if (length == 0) return false;
    if (text[0] == '[') {
        if (length < 4 || text[length - 1] != ']') return false;
        for (size_t i = 1; i + 1 < length; i++)
            if (!is_hex(text[i]) && !is_in(":.", text[i])) return false;
        return true;
    }
    for (size_t i = 0; i < length; i++) {
        if (!is_letter(text[i]) && !is_digit(text[i]) && !is_in("-._~%!$&'()*+,;=", text[i])) return false;
        if (text[i] == '%' && (i + 2 >= length || !is_hex(text[i + 1]) || !is_hex(text[i + 2]))) return false;
    }
    return true;
}

static bool is_pseudo_right(const oracle_field *field) {
    if (field->value_length == 0) return false;
    if (is_named(field, ":method")) return is_all(field, is_tchar);
    if (is_named(field, ":path")) return is_all(field, is_path_byte);
    if (is_named(field, ":authority")) return is_authority(field);
    return is_named(field, ":scheme") && is_letter(field->value[0]) && is_all(field, is_scheme_byte);
}

static bool is_length(const oracle_field *field, int64_t *length) {
    char text[32] = "";
    size_t skipped = 0;
    while (skipped + 1 < field->value_length && field->value[skipped] == '0') skipped += 1;
    size_t count = field->value_length - skipped;
    if (count == 0 || !is_all(field, is_digit)) return false;
    if (count > 19) return false;
    memcpy(text, field->value + skipped, count);
    *length = 0;
    if (count == 19 && strcmp(text, "9223372036854775807") > 0) return false;
    *length = strtoll(text, NULL, 10);
    return true;
}

/// RFC 9113 sections 8.2.1 and 8.2.2 for one field that is no pseudo-header.
static bool is_regular_right(const oracle_field *field) {
    static const char *const of_http_1[] = {
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"};
    if (field->name_length == 0) return false;
    for (size_t i = 0; i < field->name_length; i++)
        if (!is_tchar(field->name[i]) || (field->name[i] >= 'A' && field->name[i] <= 'Z')) return false;
    for (size_t i = 0; i < sizeof of_http_1 / sizeof of_http_1[0]; i++)
        if (is_named(field, of_http_1[i])) return false;
    if (is_named(field, "te")) return says_in_any_case(field, "trailers");
    if (is_named(field, "host")) return field->value_length > 0 && is_authority(field);
    if (field->value_length == 0) return !is_named(field, "content-length");
    uint8_t first = field->value[0], last = field->value[field->value_length - 1];
    return is_all(field, is_value_byte) && !is_in(" \t", first) && !is_in(" \t", last);
}

static const oracle_field *find(const oracle *oracle, const char *name) {
    for (size_t i = 0; i < oracle->count; i++)
        if (is_named(&oracle->fields[i], name)) return &oracle->fields[i];
    return NULL;
}

static bool is_there_twice(const oracle *oracle, const char *name) {
    size_t count = 0;
    for (size_t i = 0; i < oracle->count; i++) count += is_named(&oracle->fields[i], name) ? 1u : 0u;
    return count > 1;
}

/// RFC 9113 sections 8.3.1 and 8.5, RFC 9110 section 9.3.7.
static bool is_head_right(const oracle *oracle) {
    const oracle_field *method = find(oracle, ":method"), *scheme = find(oracle, ":scheme"),
                       *path = find(oracle, ":path"), *authority = find(oracle, ":authority");
    if (method == NULL) return false;
    if (says(method, "CONNECT")) return scheme == NULL && path == NULL && authority != NULL;
    if (scheme == NULL || path == NULL || (authority == NULL && find(oracle, "host") == NULL)) return false;
    bool is_http = says_in_any_case(scheme, "http") || says_in_any_case(scheme, "https");
    return !is_http || path->value[0] == '/' || (says(method, "OPTIONS") && says(path, "*"));
}

static bool is_block_right(oracle *oracle, size_t first, bool is_trailer) {
    static const char *const once[] = {
        ":method", ":scheme", ":path", ":authority", "host", "content-length", "content-type", "grpc-timeout",
        "grpc-encoding"};
    bool is_past_pseudo = is_trailer;
    for (size_t i = first; i < oracle->count; i++) {
        const oracle_field *field = &oracle->fields[i];
        bool is_pseudo = field->name_length > 0 && field->name[0] == ':';
        if (is_pseudo && (is_past_pseudo || !is_pseudo_right(field))) return false;
        if (!is_pseudo && !is_regular_right(field)) return false;
        if (!is_pseudo) is_past_pseudo = true;
        if (is_named(field, "content-length") && !is_length(field, &oracle->announced)) return false;
    }
    for (size_t i = 0; i < sizeof once / sizeof once[0]; i++)
        if (is_there_twice(oracle, once[i]) && !(i == 5 && oracle->is_connect)) return false;
    const oracle_field *host = find(oracle, "host"), *authority = find(oracle, ":authority");
    if (host == NULL || authority == NULL) return true;
    return host->value_length == authority->value_length && host->value_length <= CRPC_AUTHORITY_MAX &&
           strncasecmp((const char *)host->value, (const char *)authority->value, host->value_length) == 0;
}

void oracle_begin(oracle *oracle) { *oracle = (struct oracle){.announced = -1}; }

void oracle_add(oracle *oracle, const uint8_t *name, size_t name_length, const uint8_t *value, size_t value_length) {
    if (oracle->count < ORACLE_FIELDS_MAX)
        oracle->fields[oracle->count++] = (oracle_field){name, value, name_length, value_length};
}

static bool is_whole(const oracle *oracle) {
    return oracle->announced < 0 || oracle->received == (uint64_t)oracle->announced;
}

void oracle_take_block(oracle *oracle, bool ends_stream) {
    if (oracle->is_broken || oracle->is_over) return;
    bool is_trailer = oracle->has_head;
    bool is_right = is_block_right(oracle, oracle->judged, is_trailer) && (is_trailer ? ends_stream : is_head_right(oracle));
    const oracle_field *method = find(oracle, ":method");
    oracle->is_connect = method != NULL && says(method, "CONNECT");
    if (!is_trailer && oracle->is_connect) oracle->announced = -1;
    oracle->judged = oracle->count;
    oracle->has_head = true;
    oracle->is_over = ends_stream;
    if (!is_right || (ends_stream && !is_whole(oracle))) oracle->is_broken = true;
}

void oracle_take_data(oracle *oracle, size_t length, bool ends_stream) {
    if (oracle->is_broken || oracle->is_over) return;
    oracle->received += length;
    oracle->is_over = ends_stream;
    bool is_too_much = oracle->announced >= 0 && oracle->received > (uint64_t)oracle->announced;
    if (is_too_much || (ends_stream && !is_whole(oracle))) oracle->is_broken = true;
}
