/// The characters of tokens. Any thread.
#ifndef CRPC_H1_TEXT_H
#define CRPC_H1_TEXT_H

#include <stdint.h>

/// A token's characters in lower case; 0 for what is in none (RFC 9110 section 5.6.2).
extern const uint8_t crpc_h1_lower[256];

#endif
