/// What a header field is to this layer: numbers for names. Pure; any thread.
///
/// HTTP's own names are here. A protocol above HTTP adds its own to the table that it gives its connections, so that each
/// name is looked up once, and knows its numbers; nothing here does.
#ifndef CRPC_FIELDS_H
#define CRPC_FIELDS_H

#include "crpc_field.h"

#include <stdint.h>

enum {
    CRPC_HEADER_APPLICATION, // a name that nobody here knows
    CRPC_HEADER_PROTOCOL,    // one that is kept from applications, and not looked at
    CRPC_HEADER_TE,
    CRPC_HEADER_HOST,
    CRPC_HEADER_CONTENT_LENGTH,
    CRPC_HEADER_CONTENT_TYPE,
    CRPC_HEADER_CONNECTION,  // HTTP/1's, which HTTP/2 does not have (RFC 9113 section 8.2.2)
    CRPC_HEADER_AUTHORITY,
    CRPC_HEADER_SCHEME,
    CRPC_HEADER_PATH,
    CRPC_HEADER_METHOD,
    CRPC_HEADER_STATUS,
    CRPC_HEADER_EXPECT,
    /// Of the protocol above: first those that a request may have only once, then others.
    CRPC_HEADER_ONCE = 16, CRPC_HEADER_ONCE_COUNT = 2,
    CRPC_HEADER_ABOVE = CRPC_HEADER_ONCE + CRPC_HEADER_ONCE_COUNT,
};

enum { CRPC_KNOWN_LENGTH_MAX = 20, CRPC_KNOWN_PER_LENGTH_MAX = 4 };

/// Known names, found by their length.
typedef struct crpc_known_name {
    const char *text;
    int header;
} crpc_known_name;
typedef struct crpc_known_names {
    crpc_known_name of_length[CRPC_KNOWN_LENGTH_MAX + 1][CRPC_KNOWN_PER_LENGTH_MAX];
} crpc_known_names;

/// HTTP's rows of such a table. Others go behind them: lengths 2, 4, 5, 6, 12, 14, 16 and 17 have one, 7 four, 10 three.
#define CRPC_KNOWN_NAMES_OF_HTTP \
    .of_length[2][0] = {"te", CRPC_HEADER_TE}, .of_length[4][0] = {"host", CRPC_HEADER_HOST}, \
    .of_length[5][0] = {":path", CRPC_HEADER_PATH}, .of_length[6][0] = {"expect", CRPC_HEADER_EXPECT}, .of_length[7][0] = {":method", CRPC_HEADER_METHOD}, \
    .of_length[7][1] = {":scheme", CRPC_HEADER_SCHEME}, .of_length[7][2] = {":status", CRPC_HEADER_STATUS}, \
    .of_length[7][3] = {"upgrade", CRPC_HEADER_CONNECTION}, .of_length[10][0] = {":authority", CRPC_HEADER_AUTHORITY}, \
    .of_length[10][1] = {"connection", CRPC_HEADER_CONNECTION}, \
    .of_length[10][2] = {"keep-alive", CRPC_HEADER_CONNECTION}, \
    .of_length[12][0] = {"content-type", CRPC_HEADER_CONTENT_TYPE}, \
    .of_length[14][0] = {"content-length", CRPC_HEADER_CONTENT_LENGTH}, \
    .of_length[16][0] = {"proxy-connection", CRPC_HEADER_CONNECTION}, \
    .of_length[17][0] = {"transfer-encoding", CRPC_HEADER_CONNECTION}

/// What a name is. One that is not known but begins with a colon is the protocol's; so is an empty one.
int crpc_header_named(const crpc_known_names *names, const uint8_t *name, size_t length);

#endif
