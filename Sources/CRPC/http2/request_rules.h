/// What makes an HTTP request of header fields and data (RFC 9113 sections 8.1 to 8.3, RFC 9110 section 8.6).
///
/// A server's session leaves these rules to this layer: nghttp2 has them too, but looks at each byte of each name and
/// value through a table, which takes a sixth of the time of a call with a token. The RFCs are the measure, and no version
/// of nghttp2, since these differ in what becomes of a field that breaks a rule. A request that breaks one is malformed, and
/// its stream is reset with PROTOCOL_ERROR.
///
/// Stricter than they must be: `host` has to be what `:authority` is but for the case of letters (RFC 9113 section 8.3.1:
/// two servers on a request's way could choose another one each), and of content-type, content-length and
/// fields of the protocol above (CRPC_HEADER_ONCE), which say one thing, there may be one only. Pure; any thread.
#ifndef CRPC_REQUEST_RULES_H
#define CRPC_REQUEST_RULES_H

#include "crpc_field.h"
#include "http/authority.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What was seen of a request. Part of its stream.
typedef struct crpc_request_state {
    int64_t content_length;  // as announced; -1 for nothing
    uint64_t received_bytes; // of DATA
    uint16_t seen;
    bool is_past_pseudo;
} crpc_request_state;

/// As for a request of which nothing has come.
void crpc_request_begin(crpc_request_state *state);

/// Looks at a field, whose name `header` stands for; false if it may not be there. Fields come in their order, first
/// those of the head and then those of the trailers. `authority` is the same for all fields of a head; once that is whole it
/// is what `:authority` or else `host` says, and empty where that is longer than CRPC_AUTHORITY_MAX.
bool crpc_request_takes_field(
    crpc_request_state *state, crpc_authority *authority, int header, const crpc_entry *field, bool is_trailer);

/// Whether the head is one, now that all its fields were looked at.
bool crpc_request_has_head(crpc_request_state *state);

/// Counts data that came. False if it is more than the head announced.
static inline bool crpc_request_takes_data(crpc_request_state *state, size_t length) {
    state->received_bytes += length;
    return state->content_length < 0 || state->received_bytes <= (uint64_t)state->content_length;
}

/// Whether so much data came as the head announced, if it did. Looked at where the request ends.
static inline bool crpc_request_is_whole(const crpc_request_state *state) {
    return state->content_length < 0 || state->received_bytes == (uint64_t)state->content_length;
}

#endif
