#include "http2/request_rules.h"

#include "http/bytes.h"
#include "http/syntax.h"
#include "http2/fields.h"

// States: in the pseudo-headers (`is_past_pseudo` is not set) → in the other fields of the head → in the data → in the
// trailers. Each field that may be there only once has its bit in `seen`.

enum {
    SEEN_METHOD = 1, SEEN_SCHEME = 2, SEEN_PATH = 4, SEEN_AUTHORITY = 8, SEEN_HOST = 16,
    IS_CONNECT = 32, IS_OPTIONS = 64, IS_HTTP = 128, HAS_ROOTED_PATH = 256, HAS_ASTERISK = 512,
    SEEN_CONTENT_TYPE = 1024, HAS_LONG_AUTHORITY = 2048,
    SEEN_ONCE = 4096, // and the next bit for each of CRPC_HEADER_ONCE_COUNT
};

void crpc_request_begin(crpc_request_state *state) { *state = (crpc_request_state){.content_length = -1}; }

static uint8_t rules_lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c; }

/// Whether so many letters are the same but for their case.
static bool rules_are_alike(const uint8_t *text, const uint8_t *other, size_t length) {
    if (memcmp(text, other, length) == 0) return true; // as nearly everybody writes them
    for (size_t i = 0; i < length; i++)
        if (rules_lower(text[i]) != rules_lower(other[i])) return false;
    return true;
}

static bool rules_equals_in_any_case(const uint8_t *text, size_t length, const char *wanted) {
    return length == strlen(wanted) && rules_are_alike(text, (const uint8_t *)wanted, length);
}

/// Whether all bytes are at least `least`, or `also`, and none is DEL: eight at a time, and one by one only where there is
/// something to see.
static bool rules_are_all(const uint8_t *text, size_t length, uint8_t least, uint8_t also) {
    bool has_fault = length < 8;
    for (size_t i = 0; i + 8 <= length && !has_fault; i += 8) has_fault = crpc_have_low_or_del(text + i, least);
    if (!has_fault && !crpc_have_low_or_del(text + length - 8, least)) return true;
    for (size_t i = 0; i < length; i++)
        if ((text[i] < least && text[i] != also) || text[i] == 0x7f) return false;
    return true;
}

/// Bytes of a value that is looked through 32 at a time.
enum { LONG_VALUE_MIN = 64 };

/// The same as below. Not inlined: most values are short, and would pay for the registers that it takes.
__attribute__((noinline)) static bool rules_is_long_value(const uint8_t *value, size_t length) {
    return crpc_is_field_value(value, length);
}

/// RFC 9113 section 8.2.1: no control characters, and no white space at either end.
static bool rules_is_value(const uint8_t *value, size_t length) {
    if (length == 0) return true;
    if (length >= LONG_VALUE_MIN) return rules_is_long_value(value, length);
    uint8_t first = value[0], last = value[length - 1];
    if (first == ' ' || first == '\t' || last == ' ' || last == '\t') return false;
    return rules_are_all(value, length, ' ', '\t');
}

/// RFC 3986 section 3.1.
static bool rules_is_scheme(const uint8_t *value, size_t length) {
    for (size_t i = 0; i < length; i++) {
        uint8_t c = value[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool is_inner = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
        if (!is_letter && (i == 0 || !is_inner)) return false;
    }
    return length > 0;
}

static bool rules_is_blank(const uint8_t *value, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (value[i] != ' ' && value[i] != '\t') return false;
    return true;
}

/// A field that may be there once, and not without a value.
static bool rules_is_first(crpc_request_state *state, unsigned bit, const uint8_t *value, size_t length) {
    bool is_again = (state->seen & bit) != 0;
    state->seen = (uint16_t)(state->seen | bit);
    return !is_again && !rules_is_blank(value, length);
}

static bool rules_take_method(crpc_request_state *state, const uint8_t *value, size_t length) {
    if (!rules_is_first(state, SEEN_METHOD, value, length)) return false;
    if (crpc_equals(value, length, "POST")) return true;
    if (crpc_equals(value, length, "CONNECT")) state->seen |= IS_CONNECT;
    if (crpc_equals(value, length, "OPTIONS")) state->seen |= IS_OPTIONS;
    return crpc_is_token(value, length);
}

static bool rules_take_scheme(crpc_request_state *state, const uint8_t *value, size_t length) {
    if (!rules_is_first(state, SEEN_SCHEME, value, length)) return false;
    bool is_http = rules_equals_in_any_case(value, length, "http") || rules_equals_in_any_case(value, length, "https");
    if (is_http) state->seen |= IS_HTTP;
    return is_http || rules_is_scheme(value, length);
}

static bool rules_take_path(crpc_request_state *state, const uint8_t *value, size_t length) {
    if (!rules_is_first(state, SEEN_PATH, value, length)) return false;
    if (value[0] == '/') state->seen |= HAS_ROOTED_PATH;
    if (crpc_equals(value, length, "*")) state->seen |= HAS_ASTERISK;
    return rules_are_all(value, length, '!', '!');
}

static bool rules_take_content_length(crpc_request_state *state, const uint8_t *value, size_t length) {
    if (state->content_length >= 0) return false;
    state->content_length = crpc_read_content_length(value, length);
    return state->content_length >= 0;
}

/// Whether a value is an authority. Clients name the same one in each request, and what was kept is one.
static bool rules_is_authority(const crpc_authority *authority, const uint8_t *value, size_t length) {
    bool is_kept = length > 0 && length == authority->length && memcmp(authority->text, value, length) == 0;
    return is_kept || crpc_is_authority(value, length);
}

static void rules_keep_authority(
    crpc_request_state *state, crpc_authority *authority, const uint8_t *value, size_t length) {
    bool is_long = length > CRPC_AUTHORITY_MAX; // nobody's name is (RFC 1035 section 2.3.4): it goes with no `host`
    if (is_long) state->seen |= HAS_LONG_AUTHORITY;
    crpc_authority_set(authority, value, is_long ? 0 : length);
}

static bool rules_take_authority(
    crpc_request_state *state, crpc_authority *authority, const uint8_t *value, size_t length) {
    if (!rules_is_first(state, SEEN_AUTHORITY, value, length) || !rules_is_authority(authority, value, length))
        return false;
    rules_keep_authority(state, authority, value, length);
    return true;
}

static bool rules_take_host(
    crpc_request_state *state, crpc_authority *authority, const uint8_t *value, size_t length) {
    if (!rules_is_authority(authority, value, length) || !rules_is_first(state, SEEN_HOST, value, length)) return false;
    if ((state->seen & SEEN_AUTHORITY) == 0) {
        rules_keep_authority(state, authority, value, length);
        return true;
    }
    return (state->seen & HAS_LONG_AUTHORITY) == 0 && length == authority->length &&
           rules_are_alike(value, authority->text, length);
}

/// A field that may be there only once.
static bool rules_take_once(crpc_request_state *state, unsigned bit) {
    bool is_again = (state->seen & bit) != 0;
    state->seen = (uint16_t)(state->seen | bit);
    return !is_again;
}

/// Fields whose name does not begin with a colon.
static bool rules_takes_regular(
    crpc_request_state *state, crpc_authority *authority, int header, const crpc_entry *field) {
    const uint8_t *value = field->value;
    size_t length = field->value_length;
    state->is_past_pseudo = true;
    // Names that are known have been compared with what they must be.
    bool is_known = header != CRPC_HEADER_APPLICATION && field->name_length > 0;
    if (!is_known && !crpc_is_lower_token(field->name, field->name_length)) return false;
    if (header == CRPC_HEADER_HOST) return rules_take_host(state, authority, value, length);
    if (!rules_is_value(value, length)) return false;
    switch (header) {
    case CRPC_HEADER_CONTENT_LENGTH: return rules_take_content_length(state, value, length);
    case CRPC_HEADER_TE: return rules_equals_in_any_case(value, length, "trailers");
    case CRPC_HEADER_CONNECTION: return false;
    case CRPC_HEADER_CONTENT_TYPE: return rules_take_once(state, SEEN_CONTENT_TYPE);
    case CRPC_HEADER_ONCE:
    case CRPC_HEADER_ONCE + 1: return rules_take_once(state, (unsigned)SEEN_ONCE << (header - CRPC_HEADER_ONCE));
    default: return true;
    }
}

bool crpc_request_takes_field(
    crpc_request_state *state, crpc_authority *authority, int header, const crpc_entry *field, bool is_trailer) {
    const uint8_t *value = field->value;
    size_t length = field->value_length;
    if (field->name_length == 0 || field->name[0] != ':') return rules_takes_regular(state, authority, header, field);
    if (is_trailer || state->is_past_pseudo) return false;
    switch (header) {
    case CRPC_HEADER_METHOD: return rules_take_method(state, value, length);
    case CRPC_HEADER_SCHEME: return rules_take_scheme(state, value, length);
    case CRPC_HEADER_PATH: return rules_take_path(state, value, length);
    case CRPC_HEADER_AUTHORITY: return rules_take_authority(state, authority, value, length);
    default: return false; // those of answers, and those that nobody knows
    }
}

bool crpc_request_has_head(crpc_request_state *state) {
    unsigned seen = state->seen;
    if (seen & IS_CONNECT) { // RFC 9113 section 8.5; how much data there is, such a head does not say
        state->content_length = -1;
        return (seen & (SEEN_SCHEME | SEEN_PATH)) == 0 && (seen & SEEN_AUTHORITY) != 0;
    }
    const unsigned needed = SEEN_METHOD | SEEN_SCHEME | SEEN_PATH;
    if ((seen & needed) != needed || (seen & (SEEN_AUTHORITY | SEEN_HOST)) == 0) return false;
    bool is_for_all = (seen & IS_OPTIONS) && (seen & HAS_ASTERISK);
    return !(seen & IS_HTTP) || (seen & HAS_ROOTED_PATH) || is_for_all;
}
