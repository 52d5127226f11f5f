#include "transport/addresses.h"

#include "crpc_error.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/random.h>

// A hash table with chains; which addresses meet in one is not for others to know, so the hash begins with a random number.

enum { BUCKETS_MIN = 16, BUCKETS_MAX = 16384, CHAIN_LENGTH = 4 };

/// The part of an address that is counted. Others than IP's, which no listener has, are all one.
static crpc_network addresses_network_of(const struct sockaddr_storage *address) {
    crpc_network network = {0};
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
        network = (crpc_network){.is_v4 = true, .bits = ntohl(v4->sin_addr.s_addr)};
    } else if (address->ss_family == AF_INET6) {
        const uint8_t *bytes = ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr;
        bool is_mapped = IN6_IS_ADDR_V4MAPPED(&((const struct sockaddr_in6 *)address)->sin6_addr);
        network.is_v4 = is_mapped;
        for (int i = 0; i < 8; i++)
            if (!is_mapped || i < 4) network.bits = network.bits << 8 | bytes[is_mapped ? 12 + i : i];
    }
    return network;
}

int crpc_addresses_begin(crpc_addresses *addresses, uint32_t connections_max) {
    size_t count = BUCKETS_MIN;
    while (count < BUCKETS_MAX && count < connections_max / CHAIN_LENGTH) count *= 2;
    addresses->buckets = calloc(count, sizeof *addresses->buckets);
    if (addresses->buckets == NULL) return CRPC_ERROR_MEMORY;
    addresses->bucket_count = count;
    // Without randomness, as early in a system's start, it is as good a table.
    (void)!getrandom(&addresses->seed, sizeof addresses->seed, GRND_NONBLOCK);
    return CRPC_OK;
}

void crpc_addresses_end(crpc_addresses *addresses) { free(addresses->buckets); } // all are given back by then

static crpc_address **addresses_bucket_of(const crpc_addresses *addresses, crpc_network network) {
    uint64_t value = (network.bits ^ addresses->seed ^ network.is_v4) * 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 29) * 0xbf58476d1ce4e5b9u;
    return &addresses->buckets[(value ^ value >> 32) & (addresses->bucket_count - 1)];
}

crpc_address *crpc_addresses_take(crpc_addresses *addresses, const struct sockaddr_storage *from) {
    crpc_network network = addresses_network_of(from);
    crpc_address **bucket = addresses_bucket_of(addresses, network), *address = *bucket;
    while (address != NULL && (address->network.bits != network.bits || address->network.is_v4 != network.is_v4))
        address = address->next;
    if (address == NULL) {
        address = calloc(1, sizeof *address);
        if (address == NULL) return NULL;
        address->network = network;
        crpc_link_init(&address->idle);
        address->next = *bucket;
        *bucket = address;
    }
    address->count += 1;
    return address;
}

void crpc_addresses_give_back(crpc_addresses *addresses, crpc_address *address) {
    address->count -= 1;
    if (address->count > 0) return;
    crpc_address **place = addresses_bucket_of(addresses, address->network);
    while (*place != address) place = &(*place)->next;
    *place = address->next;
    free(address);
}
