/// Whom requests are for: the names that a server answers to. A web page can reach a server on a developer's machine through a
/// name of its own that it points there (DNS rebinding), but not change the Host that the browser sends.
///
/// Part of a service and its connections; one thread.
#ifndef CRPC_AUTHORITY_H
#define CRPC_AUTHORITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CRPC_AUTHORITY_MAX = 255 };

/// The authority of a connection's last request: `:authority`, or Host. Clients name the same one in each, so that it is
/// looked at once.
typedef struct crpc_authority {
    bool is_served; // the names were asked, and it is among them
    uint8_t length;
    uint8_t text[CRPC_AUTHORITY_MAX];
} crpc_authority;

/// The names. Zeros are a server that answers to any.
typedef struct crpc_names {
    char **texts; // of the configured ones, in lower case
    uint32_t count;
    bool is_checked;
} crpc_names;

/// Copies the names. Errors: MEMORY; `crpc_names_end` is due in every case.
int crpc_names_begin(crpc_names *names, const char *const *texts, uint32_t count);
void crpc_names_end(crpc_names *names);

/// Whether a server with these names answers to an authority: its host is one of them, or an address in digits, or a name
/// without a dot, such as `localhost`. An empty one is none of these.
bool crpc_names_have(const crpc_names *names, const uint8_t *authority, size_t length);

/// Sets the authority of a request, of at most CRPC_AUTHORITY_MAX.
static inline void crpc_authority_set(crpc_authority *authority, const uint8_t *text, size_t length) {
    if (length == authority->length && memcmp(authority->text, text, length) == 0) return;
    authority->is_served = false;
    authority->length = (uint8_t)length;
    memcpy(authority->text, text, length);
}

/// Whether the request is for this server.
static inline bool crpc_authority_is_served(crpc_authority *authority, const crpc_names *names) {
    if (!authority->is_served && names->is_checked)
        authority->is_served = crpc_names_have(names, authority->text, authority->length);
    return authority->is_served || !names->is_checked;
}

#endif
