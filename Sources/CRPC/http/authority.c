#include "http/authority.h"

#include "crpc_error.h"

#include <arpa/inet.h>
#include <stdlib.h>

static char authority_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

int crpc_names_begin(crpc_names *names, const char *const *texts, uint32_t count) {
    *names = (crpc_names){.is_checked = true};
    if (count == 0) return CRPC_OK;
    names->texts = calloc(count, sizeof *names->texts);
    if (names->texts == NULL) return CRPC_ERROR_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        char *text = strdup(texts[i]);
        if (text == NULL) return CRPC_ERROR_MEMORY;
        for (char *c = text; *c != 0; c++) *c = authority_lower(*c);
        names->texts[names->count++] = text;
    }
    return CRPC_OK;
}

void crpc_names_end(crpc_names *names) {
    for (uint32_t i = 0; i < names->count; i++) free(names->texts[i]);
    free(names->texts);
    *names = (crpc_names){0};
}

/// Takes a port off the end (RFC 3986 section 3.2.3). False if what is behind the colon is none.
static bool authority_take_port(const char *text, size_t *length) {
    size_t end = *length;
    while (end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9') end -= 1;
    if (end > 0 && text[end - 1] == ':') {
        *length = end - 1;
        return true;
    }
    return memchr(text, ':', *length) == NULL || text[*length - 1] == ']';
}

/// A name of letters, digits, hyphens and underscores; dots are counted.
static bool authority_is_name(const char *host, size_t length, size_t *dots) {
    *dots = 0;
    for (size_t i = 0; i < length; i++) {
        char c = host[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        if (!is_plain && c != '.') return false;
        *dots += c == '.';
    }
    return length > 0;
}

bool crpc_names_have(const crpc_names *names, const uint8_t *authority, size_t length) {
    if (!names->is_checked) return true;
    char host[CRPC_AUTHORITY_MAX + 1];
    if (length == 0 || length > CRPC_AUTHORITY_MAX) return false;
    for (size_t i = 0; i < length; i++) host[i] = authority_lower((char)authority[i]);
    if (!authority_take_port(host, &length) || length == 0) return false;
    host[length] = 0;
    uint8_t address[sizeof(struct in6_addr)];
    if (host[0] == '[') {
        if (host[length - 1] != ']') return false;
        host[length - 1] = 0;
        return inet_pton(AF_INET6, host + 1, address) == 1;
    }
    if (inet_pton(AF_INET, host, address) == 1) return true;
    if (host[length - 1] == '.') host[--length] = 0; // as names may end (RFC 1034 section 3.1)
    size_t dots;
    if (!authority_is_name(host, length, &dots)) return false;
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp(names->texts[i], host) == 0) return true;
    return dots == 0;
}
