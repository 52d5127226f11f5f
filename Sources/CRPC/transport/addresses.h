/// How many connections come from where. An IPv4 address stands for itself, and an IPv6 address for its network of 64 bits,
/// which is what one customer gets at least (RFC 6177 section 2). Owned by a listener, on its thread; no callback.
#ifndef CRPC_ADDRESSES_H
#define CRPC_ADDRESSES_H

#include "loop/link.h"

#include <stdint.h>
#include <sys/socket.h>

/// An address, or network, that connections come from.
typedef struct crpc_network {
    uint64_t bits;
    bool is_v4;
} crpc_network;
typedef struct crpc_address {
    struct crpc_address *next;
    crpc_network network;
    uint32_t count; // of its connections
    crpc_link idle; // those without a call, the one that is so for longest first
} crpc_address;
typedef struct crpc_addresses {
    crpc_address **buckets;
    size_t bucket_count;
    uint64_t seed;
} crpc_addresses;

/// Makes a table that is good for so many. Errors: MEMORY.
int crpc_addresses_begin(crpc_addresses *addresses, uint32_t connections_max);
/// Frees the table, to which all addresses were given back.
void crpc_addresses_end(crpc_addresses *addresses);
/// Counts a connection from there. NULL without memory.
crpc_address *crpc_addresses_take(crpc_addresses *addresses, const struct sockaddr_storage *from);
/// It has ended. The last one's end frees the address.
void crpc_addresses_give_back(crpc_addresses *addresses, crpc_address *address);

#endif
