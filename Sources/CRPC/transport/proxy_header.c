#include "transport/proxy_header.h"

#include "crpc_error.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t proxy_signature[12] = {'\r', '\n', '\r', '\n', 0, '\r', '\n', 'Q', 'U', 'I', 'T', '\n'};

enum { PROXY_LOCAL = 0x20, PROXY_PROXY = 0x21 }; // version 2 and the command
/// Family and transport.
enum { PROXY_UNKNOWN = 0x00, PROXY_TCP4 = 0x11, PROXY_TCP6 = 0x21, PROXY_UNIX_STREAM = 0x31 };
/// Bytes of addresses and ports.
enum { PROXY_TCP4_LENGTH = 12, PROXY_TCP6_LENGTH = 36, PROXY_UNIX_LENGTH = 216 };
enum { PROXY_TLV_HEAD = 3, PROXY_TLV_CRC32C = 0x03, PROXY_CRC_LENGTH = 4 };

static size_t proxy_number(const uint8_t *bytes) { return (size_t)bytes[0] << 8 | bytes[1]; }

int crpc_proxy_header_length(const uint8_t *bytes, size_t length) {
    size_t known = length < sizeof proxy_signature ? length : sizeof proxy_signature;
    if (memcmp(bytes, proxy_signature, known) != 0) return CRPC_ERROR_PROTOCOL;
    if (length > 12 && bytes[12] != PROXY_LOCAL && bytes[12] != PROXY_PROXY) return CRPC_ERROR_PROTOCOL;
    if (length < CRPC_PROXY_HEAD) return CRPC_PROXY_HEAD;
    size_t whole = CRPC_PROXY_HEAD + proxy_number(bytes + 14);
    return whole <= CRPC_PROXY_MAX ? (int)whole : CRPC_ERROR_PROTOCOL;
}

/// Continues CRC32C (RFC 3720 section 12.1) over more bytes. Once a connection, and not for many bytes: without a table.
static uint32_t proxy_crc(uint32_t crc, const uint8_t *bytes, size_t length) {
    const uint32_t polynomial = 0x82f63b78;
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (polynomial & (0 - (crc & 1)));
    }
    return crc;
}

/// Whether a header is what its checksum at `offset` says, which counts as zeros.
static bool proxy_has_checksum(const uint8_t *bytes, size_t length, size_t offset) {
    static const uint8_t zeros[PROXY_CRC_LENGTH];
    uint32_t crc = proxy_crc(UINT32_MAX, bytes, offset);
    crc = proxy_crc(crc, zeros, sizeof zeros);
    crc = ~proxy_crc(crc, bytes + offset + PROXY_CRC_LENGTH, length - offset - PROXY_CRC_LENGTH);
    uint32_t said = (uint32_t)(proxy_number(bytes + offset) << 16 | proxy_number(bytes + offset + 2));
    return crc == said;
}

/// Whether what is behind the addresses is whole. Of it only the checksum concerns us.
static bool proxy_has_additions(const uint8_t *bytes, size_t length, size_t offset) {
    while (offset < length) {
        if (length - offset < PROXY_TLV_HEAD) return false;
        size_t size = proxy_number(bytes + offset + 1), value = offset + PROXY_TLV_HEAD;
        if (length - value < size) return false;
        bool is_checksum = bytes[offset] == PROXY_TLV_CRC32C;
        if (is_checksum && (size != PROXY_CRC_LENGTH || !proxy_has_checksum(bytes, length, value))) return false;
        offset = value + size;
    }
    return true;
}

/// Bytes of addresses for what a header says it is about; -1 for what there is not, or what is no connection.
static int proxy_address_length(uint8_t kind) {
    switch (kind) {
    case PROXY_UNKNOWN: return 0;
    case PROXY_TCP4: return PROXY_TCP4_LENGTH;
    case PROXY_TCP6: return PROXY_TCP6_LENGTH;
    case PROXY_UNIX_STREAM: return PROXY_UNIX_LENGTH;
    default: return -1;
    }
}

int crpc_proxy_header_read(const uint8_t *bytes, size_t length, crpc_proxy_header *header) {
    *header = (crpc_proxy_header){0};
    if (length < CRPC_PROXY_HEAD || crpc_proxy_header_length(bytes, length) != (int)length) return CRPC_ERROR_PROTOCOL;
    if (bytes[12] == PROXY_LOCAL) return CRPC_OK; // section 2.2: whatever follows is to be skipped
    const uint8_t *addresses = bytes + CRPC_PROXY_HEAD;
    int size = proxy_address_length(bytes[13]);
    if (size < 0 || length - CRPC_PROXY_HEAD < (size_t)size) return CRPC_ERROR_PROTOCOL;
    // What is behind an address of no kind cannot be distinguished.
    bool is_whole = bytes[13] == PROXY_UNKNOWN || proxy_has_additions(bytes, length, CRPC_PROXY_HEAD + (size_t)size);
    if (!is_whole) return CRPC_ERROR_PROTOCOL;
    if (bytes[13] == PROXY_TCP4) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)&header->source;
        v4->sin_family = AF_INET;
        memcpy(&v4->sin_addr, addresses, 4);
        memcpy(&v4->sin_port, addresses + 8, 2);
    } else if (bytes[13] == PROXY_TCP6) {
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&header->source;
        v6->sin6_family = AF_INET6;
        memcpy(&v6->sin6_addr, addresses, 16);
        memcpy(&v6->sin6_port, addresses + 32, 2);
    }
    header->has_source = bytes[13] == PROXY_TCP4 || bytes[13] == PROXY_TCP6;
    return CRPC_OK;
}

// ---- Networks ----

enum { V4_PREFIX_BITS = 96 };

static void network_map_v4(uint8_t address[16], const void *v4) {
    memset(address, 0, 10);
    address[10] = address[11] = 0xff;
    memcpy(address + 12, v4, 4);
}

static bool network_is_mapped(const uint8_t address[16]) {
    static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return memcmp(address, prefix, sizeof prefix) == 0;
}

static bool network_is_v4(const crpc_proxy_network *network) {
    return network->prefix_bits >= V4_PREFIX_BITS && network_is_mapped(network->address);
}

static bool network_has_bit(const uint8_t address[16], unsigned bit) { return (address[bit / 8] & 0x80u >> bit % 8) != 0; }

int crpc_proxy_network_parse(const char *text, crpc_proxy_network *network) {
    char address[INET6_ADDRSTRLEN];
    size_t length = strcspn(text, "/");
    uint8_t v4[4];
    if (length >= sizeof address) return CRPC_ERROR_ARGUMENT;
    memcpy(address, text, length);
    address[length] = 0;
    unsigned base = 0, prefix = 0;
    if (inet_pton(AF_INET, address, v4) == 1) {
        base = V4_PREFIX_BITS;
        network_map_v4(network->address, v4);
    } else if (inet_pton(AF_INET6, address, network->address) != 1) {
        return CRPC_ERROR_ARGUMENT;
    }
    if (text[length] == 0) {
        prefix = 128 - base;
    } else {
        const char *digits = text + length + 1;
        size_t count = strspn(digits, "0123456789");
        if (count == 0 || count > 3 || digits[count] != 0) return CRPC_ERROR_ARGUMENT;
        prefix = (unsigned)strtoul(digits, NULL, 10);
    }
    if (prefix > 128 - base) return CRPC_ERROR_ARGUMENT;
    network->prefix_bits = (uint8_t)(base + prefix);
    for (unsigned bit = network->prefix_bits; bit < 128; bit++)
        if (network_has_bit(network->address, bit)) return CRPC_ERROR_ARGUMENT;
    return CRPC_OK;
}

bool crpc_proxy_networks_have(
    const crpc_proxy_network *networks, size_t count, const struct sockaddr_storage *address) {
    uint8_t bytes[16];
    if (address->ss_family == AF_INET) {
        network_map_v4(bytes, &((const struct sockaddr_in *)address)->sin_addr);
    } else if (address->ss_family == AF_INET6) {
        memcpy(bytes, &((const struct sockaddr_in6 *)address)->sin6_addr, sizeof bytes);
    } else {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (network_is_v4(&networks[i]) != network_is_mapped(bytes)) continue; // ::/0 has no address of IPv4
        unsigned bit = 0;
        while (bit < networks[i].prefix_bits &&
               network_has_bit(bytes, bit) == network_has_bit(networks[i].address, bit))
            bit += 1;
        if (bit == networks[i].prefix_bits) return true;
    }
    return false;
}
