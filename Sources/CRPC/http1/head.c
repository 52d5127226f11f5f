#include "http1/head.h"

#include "http/syntax.h"
#include "http1/head_fields.h"

#include <string.h>

// A head is read line by line, each in one pass. A fault counts once its line's LF is there, or could not be any more, so that
// it does not depend on how the bytes were cut.

enum { VERSION_LENGTH = 8, HEAD_LINE_MAX = CRPC_METHOD_MAX + 1 + CRPC_TARGET_MAX + 1 + VERSION_LENGTH + 2 };

static const uint8_t asterisk[] = "*", slash[] = "/";

/// Visible ASCII but for `#`: a target has no fragment (RFC 9112 section 3.2). Not all of it is URI; browsers send more.
static const uint8_t head_in_target[256] = {['!'] = 1, ['"'] = 1, ['$' ... '~'] = 1};

static bool head_is(const uint8_t *text, size_t length, const char *wanted, size_t wanted_length) {
    return length == wanted_length && memcmp(text, wanted, wanted_length) == 0;
}
#define IS(text, length, wanted) head_is(text, length, wanted, sizeof(wanted) - 1)

static crpc_h1_reading head_fail(crpc_h1_head *head, crpc_fault fault) {
    head->shown.fault = fault;
    return CRPC_H1_FAULTY;
}

/// What becomes of a line with which something is wrong, or which has not ended: `room` bytes of it may be there.
static crpc_h1_reading head_judge(
    crpc_h1_head *head, const uint8_t *bytes, const uint8_t *line, const uint8_t *end, size_t room, crpc_fault fault,
    crpc_fault too_long) {
    size_t there = (size_t)(end - line), seen = there < room ? there : room;
    if (memchr(line, '\n', seen) != NULL) return head_fail(head, fault);
    if (there >= room) return head_fail(head, too_long);
    head->more_at = (size_t)(line - bytes) + room;
    return CRPC_H1_MORE;
}

// ---- The request line ----

/// Takes an absolute-form apart (RFC 9112 section 3.2.2). False if it is none.
static bool head_take_absolute(crpc_h1_head *head, const uint8_t *target, size_t length, uint8_t *room) {
    crpc_exchange_head *shown = &head->shown;
    size_t scheme = length >= 7 && crpc_h1_is_text(target, 7, "http://")    ? 7
                    : length >= 8 && crpc_h1_is_text(target, 8, "https://") ? 8
                                                                            : 0;
    if (scheme == 0) return false;
    size_t authority = scheme;
    while (authority < length && target[authority] != '/' && target[authority] != '?') authority += 1;
    shown->authority = target + scheme;
    shown->authority_length = authority - scheme;
    shown->target = target + authority;
    shown->target_length = length - authority;
    if (authority == length) {
        bool is_options = IS(shown->method, shown->method_length, "OPTIONS");
        shown->target = is_options ? asterisk : slash;
        shown->target_length = 1;
    } else if (target[authority] == '?') {
        room[0] = '/';
        memcpy(room + 1, target + authority, length - authority);
        shown->target = room;
        shown->target_length = 1 + length - authority;
    }
    return shown->authority_length > 0 && crpc_h1_is_host(shown->authority, shown->authority_length);
}

/// Origin-form, absolute-form, or the asterisk of OPTIONS. CONNECT, which has the fourth one, never gets here.
static bool head_take_target(crpc_h1_head *head, const uint8_t *target, size_t length, uint8_t *room) {
    crpc_exchange_head *shown = &head->shown;
    if (length > 0 && target[0] == '/') {
        shown->target = target;
        shown->target_length = length;
        return true;
    }
    if (IS(target, length, "*") && IS(shown->method, shown->method_length, "OPTIONS")) {
        shown->target = asterisk;
        shown->target_length = length;
        return true;
    }
    return head_take_absolute(head, target, length, room);
}

/// Reads the request line. NULL if it is faulty or not whole; the reading is in `reading` then.
static const uint8_t *head_take_line(
    crpc_h1_head *head, const uint8_t *bytes, const uint8_t *line, const uint8_t *end, uint8_t *room,
    crpc_h1_reading *reading) {
    crpc_exchange_head *shown = &head->shown;
    crpc_fault fault = CRPC_FAULT_MALFORMED;
    const uint8_t *at = line;
    while (at < end && at - line <= CRPC_METHOD_MAX && crpc_token_lower[*at] != 0) at += 1;
    if (at - line > CRPC_METHOD_MAX) fault = CRPC_FAULT_METHOD_UNKNOWN;
    if (at == end || at == line || *at != ' ' || at - line > CRPC_METHOD_MAX) goto judge;
    shown->method = line;
    shown->method_length = (size_t)(at - line);
    if (IS(line, shown->method_length, "CONNECT")) { // whose target has a form of its own, and what follows it too
        fault = CRPC_FAULT_METHOD_UNKNOWN;
        goto judge;
    }
    const uint8_t *target = ++at;
    while (at < end && head_in_target[*at]) at += 1;
    size_t target_length = (size_t)(at - target);
    if (target_length > CRPC_TARGET_MAX) fault = CRPC_FAULT_TARGET_TOO_LONG;
    if (target_length > CRPC_TARGET_MAX || at == end || *at != ' ') goto judge;
    const uint8_t *version = ++at;
    bool is_whole = end - version >= VERSION_LENGTH + 2 && memcmp(version, "HTTP/1.", VERSION_LENGTH - 1) == 0 &&
                    memcmp(version + VERSION_LENGTH, "\r\n", 2) == 0;
    uint8_t minor = is_whole ? version[VERSION_LENGTH - 1] : 0;
    if ((minor != '1' && minor != '0') || !head_take_target(head, target, target_length, room)) goto judge;
    shown->version = minor == '1' ? 11 : 10;
    return version + VERSION_LENGTH + 2;
judge:
    *reading = head_judge(head, bytes, line, end, HEAD_LINE_MAX, fault, CRPC_FAULT_TARGET_TOO_LONG);
    return NULL;
}

// ---- The whole ----

/// What the fields say in all: what is missing, and what contradicts something.
static crpc_h1_reading head_conclude(crpc_h1_head *head, const crpc_h1_fields *fields) {
    crpc_exchange_head *shown = &head->shown;
    bool is_old = shown->version == 10;
    if (fields->hosts > 1 || (fields->hosts == 0 && !is_old)) return head_fail(head, CRPC_FAULT_HOST_COUNT);
    if (fields->is_host_bad) return head_fail(head, CRPC_FAULT_HOST_MALFORMED);
    if (shown->authority_length == 0) {
        if (fields->hosts > 0) shown->authority = fields->host;
        shown->authority_length = fields->host_length;
    } else if (
        fields->hosts > 0 &&
        !crpc_h1_are_alike(shown->authority, shown->authority_length, fields->host, fields->host_length)) {
        return head_fail(head, CRPC_FAULT_HOST_MALFORMED);
    }
    if (fields->codings > 0) {
        if (is_old || fields->lengths > 0 || !fields->is_chunked_last || fields->are_codings_bad)
            return head_fail(head, CRPC_FAULT_TRANSFER_ENCODING_INVALID);
        if (fields->codings > 1) return head_fail(head, CRPC_FAULT_TRANSFER_ENCODING_UNKNOWN);
    }
    if (fields->lengths > 1 || fields->is_length_bad) return head_fail(head, CRPC_FAULT_CONTENT_LENGTH_INVALID);
    if (fields->is_grpc) return head_fail(head, CRPC_FAULT_VERSION);
    head->is_chunked = fields->codings > 0;
    head->keeps_alive = !fields->closes && (!is_old || fields->keeps_alive);
    head->expects_continue = fields->expects_continue && !is_old;
    head->takes_trailers = fields->takes_trailers && !is_old;
    shown->content_length = fields->lengths > 0 ? fields->content_length : -1;
    shown->is_last = !head->is_chunked && shown->content_length <= 0;
    return CRPC_H1_WHOLE;
}

/// Reads the field lines and the empty line behind them. NULL if they are faulty or not whole, as above.
static const uint8_t *head_take_fields(
    const crpc_h1_head_limits *limits, crpc_h1_head *head, crpc_h1_fields *fields, const uint8_t *bytes,
    const uint8_t *line, const uint8_t *end, crpc_h1_reading *reading) {
    size_t left = limits->bytes_max < CRPC_H1_FIELDS_MAX ? limits->bytes_max : CRPC_H1_FIELDS_MAX;
    for (;;) {
        if (end - line >= 2 && line[0] == '\r' && line[1] == '\n') return line + 2;
        bool has_place = fields->count < limits->fields_max;
        const uint8_t *line_end = (size_t)(end - line) > left + 2 ? line + left + 2 : end;
        const uint8_t *next = has_place ? crpc_h1_take_field(fields, line, line_end) : NULL;
        if (next == NULL || (size_t)(next - line) > left) {
            bool is_too_much = !has_place || next != NULL;
            crpc_fault fault = is_too_much ? CRPC_FAULT_HEAD_TOO_LARGE : CRPC_FAULT_MALFORMED;
            *reading = head_judge(head, bytes, line, end, left + 2, fault, CRPC_FAULT_HEAD_TOO_LARGE);
            return NULL;
        }
        left -= (size_t)(next - line);
        line = next;
    }
}

crpc_h1_reading crpc_h1_read_head(
    const crpc_h1_head_limits *limits, const uint8_t *bytes, size_t length, uint8_t *room, crpc_h1_head *head) {
    const uint8_t *end = bytes + length, *line = bytes;
    // What could not be read is empty.
    *head = (crpc_h1_head){
        .more_at = 1,
        .shown = {.version = 11, .content_length = -1, .is_last = true, .method = slash, .target = slash,
                  .authority = slash, .fields = room}};
    if (length == 1 && bytes[0] == '\r') head->more_at = 2; // the half of an empty line, perhaps
    if (length == 0 || head->more_at == 2) return CRPC_H1_MORE;
    // What begins with no method is nothing of HTTP, and may bring no LF for long: the bytes of TLS, say.
    if (crpc_token_lower[*line] == 0) return head_fail(head, CRPC_FAULT_MALFORMED);
    crpc_h1_reading reading = CRPC_H1_MORE;
    // Behind the fields, which take at most 7 bytes for each 4 that came.
    line = head_take_line(head, bytes, line, end, room + CRPC_H1_HEAD_ROOM - CRPC_TARGET_MAX - 1, &reading);
    if (line == NULL) return reading;
    crpc_h1_fields fields = {.packed = room};
    line = head_take_fields(limits, head, &fields, bytes, line, end, &reading);
    head->shown.fields_length = fields.packed_length;
    if (line == NULL) return reading;
    head->length = (size_t)(line - bytes);
    return head_conclude(head, &fields);
}
