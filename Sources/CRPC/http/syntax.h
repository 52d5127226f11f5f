/// What HTTP/1.x and HTTP/2 have in common of syntax: tokens, authorities, Content-Length. Both ask here, so that neither takes one
/// that the other refuses; but an empty Host, which only HTTP/1.1 permits (RFC 9112 section 3.2). Pure; any thread.
#ifndef CRPC_SYNTAX_H
#define CRPC_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A token's characters in lower case; 0 for what is in none (RFC 9110 section 5.6.2).
extern const uint8_t crpc_token_lower[256];

/// Whether a text is a token, as methods and field names are (RFC 9110 sections 5.1 and 9.1).
bool crpc_is_token(const uint8_t *text, size_t length);
/// The same without capital letters, as HTTP/2 has field names (RFC 9113 section 8.2.1).
bool crpc_is_lower_token(const uint8_t *text, size_t length);

/// Whether a text is a host with an optional port (RFC 9110 section 7.2, RFC 3986 section 3.2): an address in brackets or a name,
/// and no user information (RFC 9110 section 4.2.4, RFC 9113 section 8.3.1). An empty one is. How long it may be is the
/// caller's to say (CRPC_AUTHORITY_MAX).
bool crpc_is_authority(const uint8_t *text, size_t length);

/// The number that a Content-Length says (RFC 9110 section 8.6); -1 if it is none, or more than INT64_MAX.
int64_t crpc_read_content_length(const uint8_t *text, size_t length);

#endif
