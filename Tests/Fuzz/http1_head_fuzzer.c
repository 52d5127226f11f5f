#include "fuzz.h"
#include "http1/head.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

// Parses a head, and each prefix of it: a result must not change with more bytes. An accepted head must fulfil the rules, which
// are written in another way here, and its reported fields must be those that a simple parser finds.

static uint8_t room[CRPC_H1_HEAD_ROOM], other_room[CRPC_H1_HEAD_ROOM];

/// Reads from memory that is exactly as long.
static crpc_h1_reading read_exact(
    const crpc_h1_head_limits *limits, const uint8_t *bytes, size_t length, crpc_h1_head *head) {
    uint8_t *exact = malloc(length > 0 ? length : 1);
    CHECK(exact != NULL);
    if (length > 0) memcpy(exact, bytes, length);
    crpc_h1_reading reading = crpc_h1_read_head(limits, exact, length, other_room, head);
    free(exact);
    return reading;
}

/// The end of a line, where its CR is; no CR and no LF stands alone.
static const uint8_t *line_end(const uint8_t *at, const uint8_t *end) {
    while (at < end && *at != '\r' && *at != '\n') at += 1;
    CHECK(end - at >= 2 && at[0] == '\r' && at[1] == '\n');
    return at;
}

static bool is_named(const uint8_t *name, size_t length, const char *wanted) {
    return length == strlen(wanted) && strncasecmp((const char *)name, wanted, length) == 0;
}

/// Reads a head that was taken, line by line and with plain means.
static void check_whole(const crpc_h1_head *head, const uint8_t *bytes) {
    static const char *const connection_fields[] = {
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "te", "host", "content-length", "expect"};
    const crpc_exchange_head *shown = &head->shown;
    const uint8_t *at = bytes, *end = bytes + head->length;
    size_t offset = 0, hosts = 0, lengths = 0, codings = 0;
    CHECK(head->length >= 16 && memcmp(end - 4, "\r\n\r\n", 4) == 0);
    const uint8_t *first_end = line_end(at, end);
    char version[16];
    (void)snprintf(version, sizeof version, " HTTP/1.%u", (unsigned)shown->version % 10);
    CHECK(first_end - at > 9 && memcmp(first_end - 9, version, 9) == 0);
    CHECK(memchr(at, ' ', (size_t)(first_end - at)) == at + shown->method_length && shown->method == at);
    const uint8_t *target = at + shown->method_length + 1, *target_end = first_end - 9;
    for (const uint8_t *c = target; c < target_end; c++) CHECK(*c > ' ' && *c < 0x7f && *c != '#');
    CHECK(shown->target_length > 0 && (shown->target[0] == '/' || *shown->target == '*'));
    CHECK(shown->target == target || *target != '/');
    for (at = first_end + 2; at + 2 < end;) {
        const uint8_t *stop = line_end(at, end), *colon = memchr(at, ':', (size_t)(stop - at)), *value = colon + 1, *back = stop;
        CHECK(colon != NULL && colon > at);
        size_t name_length = (size_t)(colon - at);
        for (const uint8_t *c = at; c < colon; c++) CHECK(*c > ' ' && *c < 0x7f && strchr("()<>@,;\\\"/[]?={}", *c) == NULL);
        while (value < back && (*value == ' ' || *value == '\t')) value += 1;
        while (back > value && (back[-1] == ' ' || back[-1] == '\t')) back -= 1;
        for (const uint8_t *c = value; c < back; c++) CHECK((*c >= ' ' && *c != 0x7f) || *c == '\t');
        bool is_packed = true;
        for (size_t i = 0; i < sizeof connection_fields / sizeof connection_fields[0]; i++)
            if (is_named(at, name_length, connection_fields[i])) is_packed = false;
        hosts += is_named(at, name_length, "host");
        lengths += is_named(at, name_length, "content-length");
        if (is_named(at, name_length, "transfer-encoding")) {
            codings += 1;
            CHECK(is_named(value, (size_t)(back - value), "chunked"));
        }
        if (is_packed) {
            crpc_entry entry;
            CHECK(crpc_metadata_next(shown->fields, shown->fields_length, &offset, &entry));
            CHECK(entry.name_length == name_length);
            for (size_t i = 0; i < name_length; i++) CHECK(entry.name[i] == (uint8_t)tolower(at[i]));
            CHECK(entry.value_length == (size_t)(back - value) && memcmp(entry.value, value, entry.value_length) == 0);
        }
        at = stop + 2;
    }
    CHECK(offset == shown->fields_length);
    CHECK(hosts == 1 || (hosts == 0 && shown->version == 10));
    CHECK(lengths <= 1 && codings <= 1 && lengths + codings <= 1 && (codings == 0 || shown->version == 11));
    CHECK(head->is_chunked == (codings == 1) && (shown->content_length >= 0) == (lengths == 1));
    CHECK(shown->is_last == (!head->is_chunked && shown->content_length <= 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    crpc_h1_head_limits limits = {.bytes_max = 16384, .fields_max = 100};
    if (length > 0 && bytes[0] == '!') { // with limits that are soon reached
        limits = (crpc_h1_head_limits){.bytes_max = 40, .fields_max = 3};
        bytes += 1;
        length -= 1;
    }
    crpc_h1_head head, part;
    crpc_h1_reading reading = crpc_h1_read_head(&limits, bytes, length, room, &head);
    if (reading == CRPC_H1_WHOLE) check_whole(&head, bytes);
    CHECK((reading == CRPC_H1_FAULTY) == (head.shown.fault != CRPC_FAULT_NONE));
    size_t more_at = 0;
    for (size_t i = 1; i <= length; i++) {
        bool is_due = bytes[i - 1] == '\n' || i >= more_at;
        if (!is_due) continue;
        crpc_h1_reading early = read_exact(&limits, bytes, i, &part);
        if (early == CRPC_H1_MORE) {
            CHECK(part.more_at > i);
            more_at = part.more_at;
            continue;
        }
        CHECK(early == reading && part.shown.fault == head.shown.fault && part.length == head.length);
        return 0;
    }
    CHECK(reading == CRPC_H1_MORE);
    return 0;
}
