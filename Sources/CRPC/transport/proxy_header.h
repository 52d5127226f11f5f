/// The header of PROXY protocol v2 in its binary form (haproxy.org, "The PROXY protocol", section 2.2): what a proxy that we trust
/// says in front of a connection, in clear text and before TLS, about the client that it stands for. Version 1, which is a
/// line of text, is not taken. Pure; any thread.
#ifndef CRPC_PROXY_HEADER_H
#define CRPC_PROXY_HEADER_H

#include "crpc_listener.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/// Its fixed part, and the longest whole one that is taken: addresses, and what proxies add, such as names of TLS.
enum { CRPC_PROXY_HEAD = 16, CRPC_PROXY_MAX = 2048 };

/// What a header says.
typedef struct crpc_proxy_header {
    /// False where the connection is the proxy's own (LOCAL, as to see whether we are there), or it cannot say whose it is.
    bool has_source;
    /// The client: of AF_INET or AF_INET6.
    struct sockaddr_storage source;
} crpc_proxy_header;

/// How many bytes of the connection are the header's, as far as `length` bytes of it tell: CRPC_PROXY_HEAD until these have
/// come. PROTOCOL if it is none, or too long, which is reported with the first byte that shows it.
int crpc_proxy_header_length(const uint8_t *bytes, size_t length);

/// Reads a whole header, as long as the function above said. PROTOCOL if it is not as it must be: a command, family or
/// transport that there is not or that carries no connection, addresses or additions that are cut short, or a checksum
/// (CRC32C) that is wrong.
int crpc_proxy_header_read(const uint8_t *bytes, size_t length, crpc_proxy_header *header);

/// Whether an address is in one of the networks.
bool crpc_proxy_networks_have(
    const crpc_proxy_network *networks, size_t count, const struct sockaddr_storage *address);

#endif
