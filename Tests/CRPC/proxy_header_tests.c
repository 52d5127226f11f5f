#include "rig_exchanges.h"

#include "transport/proxy_header.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

// PROXY protocol v2: the header by itself, and connections that begin with one.

static const uint8_t signature[12] = {'\r', '\n', '\r', '\n', 0, '\r', '\n', 'Q', 'U', 'I', 'T', '\n'};

/// Writes a header; its length.
static size_t put_header(uint8_t *target, uint8_t command, uint8_t kind, const void *rest, size_t length) {
    memcpy(target, signature, 12);
    target[12] = command;
    target[13] = kind;
    target[14] = (uint8_t)(length >> 8);
    target[15] = (uint8_t)length;
    if (length > 0) memcpy(target + 16, rest, length);
    return 16 + length;
}

/// 192.0.2.7:4660 to 192.0.2.1:80.
static const uint8_t v4_addresses[12] = {192, 0, 2, 7, 192, 0, 2, 1, 0x12, 0x34, 0, 80};

static int read_it(const uint8_t *bytes, size_t length, crpc_proxy_header *header) {
    uint8_t *exact = malloc(length); // what goes past its end is seen
    REQUIRE(exact != NULL);
    memcpy(exact, bytes, length);
    int error = crpc_proxy_header_read(exact, length, header);
    free(exact);
    return error;
}

static void expect_source(const crpc_proxy_header *header, const char *source) {
    char text[CRPC_ADDRESS_LENGTH];
    EXPECT(header->has_source);
    crpc_socket_write_peer(&header->source, text);
    EXPECT_TEXT(text, strlen(text), source);
}

TEST(a_proxy_header_tells_the_client) {
    uint8_t bytes[CRPC_PROXY_MAX];
    crpc_proxy_header header;
    size_t length = put_header(bytes, 0x21, 0x11, v4_addresses, sizeof v4_addresses);
    EXPECT_EQUAL(crpc_proxy_header_length(bytes, length), length);
    EXPECT_EQUAL(read_it(bytes, length, &header), CRPC_OK);
    expect_source(&header, "192.0.2.7:4660");
    uint8_t v6[36] = {0x20, 1, 0xd, 0xb8, [15] = 9, [32] = 0x12, [33] = 0x34};
    length = put_header(bytes, 0x21, 0x21, v6, sizeof v6);
    EXPECT_EQUAL(read_it(bytes, length, &header), CRPC_OK);
    expect_source(&header, "[2001:db8::9]:4660");
}

TEST(a_proxy_header_may_tell_of_nobody) {
    uint8_t bytes[CRPC_PROXY_MAX];
    static const uint8_t unix_paths[216];
    crpc_proxy_header header;
    static const struct {
        uint8_t command, kind;
        size_t length;
    } cases[] = {{0x20, 0x11, 12}, {0x20, 0x00, 0}, {0x20, 0xff, 3}, {0x21, 0x00, 0}, {0x21, 0x00, 5}, {0x21, 0x31, 216}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length = put_header(bytes, cases[i].command, cases[i].kind, unix_paths, cases[i].length);
        EXPECT_EQUAL(read_it(bytes, length, &header), CRPC_OK);
        EXPECT(!header.has_source);
    }
}

TEST(a_proxy_header_that_is_none_is_refused_at_its_first_wrong_byte) {
    uint8_t bytes[CRPC_PROXY_MAX];
    size_t length = put_header(bytes, 0x21, 0x11, v4_addresses, sizeof v4_addresses);
    for (size_t cut = 0; cut < length; cut++)
        EXPECT_EQUAL(crpc_proxy_header_length(bytes, cut), cut < CRPC_PROXY_HEAD ? CRPC_PROXY_HEAD : length);
    for (size_t wrong = 0; wrong < 13; wrong++) {
        bytes[wrong] ^= 0x40;
        EXPECT_EQUAL(crpc_proxy_header_length(bytes, wrong), CRPC_PROXY_HEAD);
        EXPECT_EQUAL(crpc_proxy_header_length(bytes, wrong + 1), CRPC_ERROR_PROTOCOL);
        bytes[wrong] ^= 0x40;
    }
    static const char text[] = "PROXY TCP4 192.0.2.7 192.0.2.1 4660 80\r\n"; // version 1
    EXPECT_EQUAL(crpc_proxy_header_length((const uint8_t *)text, 1), CRPC_ERROR_PROTOCOL);
    bytes[14] = 0xff; // longer than any that is taken
    EXPECT_EQUAL(crpc_proxy_header_length(bytes, CRPC_PROXY_HEAD), CRPC_ERROR_PROTOCOL);
}

TEST(a_proxy_header_must_be_what_it_says) {
    uint8_t bytes[CRPC_PROXY_MAX];
    static const uint8_t zeros[216];
    crpc_proxy_header header;
    static const struct {
        uint8_t command, kind;
        size_t length;
    } cases[] = {
        {0x22, 0x11, 12}, {0x11, 0x11, 12}, {0x21, 0x12, 12}, {0x21, 0x22, 36}, {0x21, 0x10, 12},
        {0x21, 0x41, 12}, {0x21, 0x11, 11}, {0x21, 0x21, 35}, {0x21, 0x31, 215}, {0x21, 0x11, 14},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length = put_header(bytes, cases[i].command, cases[i].kind, zeros, cases[i].length);
        if (!EXPECT_EQUAL(read_it(bytes, length, &header), CRPC_ERROR_PROTOCOL)) test_note("case %zu", i);
    }
    size_t length = put_header(bytes, 0x21, 0x11, v4_addresses, sizeof v4_addresses);
    EXPECT_EQUAL(read_it(bytes, length - 1, &header), CRPC_ERROR_PROTOCOL);
}

TEST(what_a_proxy_adds_is_skipped_and_its_checksum_looked_at) {
    uint8_t bytes[CRPC_PROXY_MAX], rest[64];
    crpc_proxy_header header;
    memcpy(rest, v4_addresses, 12);
    memcpy(rest + 12, "\x04\0\3abc\x03\0\4\0\0\0\0\x05\0\0", 16); // NOOP, CRC32C, a unique id of no length
    size_t length = put_header(bytes, 0x21, 0x11, rest, 28);
    EXPECT_EQUAL(read_it(bytes, length, &header), CRPC_ERROR_PROTOCOL);
    // Of RFC 3720's polynomial, worked out by another program.
    static const uint8_t crc[4] = {0xfe, 0x06, 0x56, 0xd9};
    memcpy(bytes + 16 + 12 + 6 + 3, crc, 4);
    EXPECT_EQUAL(read_it(bytes, length, &header), CRPC_OK);
    expect_source(&header, "192.0.2.7:4660");
    for (size_t at = 16; at < length; at++) {
        if (at == 16 + 12 + 6) continue; // it would be no checksum any more
        bytes[at] ^= 1;
        EXPECT_EQUAL(read_it(bytes, length, &header), CRPC_ERROR_PROTOCOL);
        bytes[at] ^= 1;
    }
    memcpy(rest + 12, "\x04\0\4abc", 6); // cut short
    length = put_header(bytes, 0x21, 0x11, rest, 18);
    EXPECT_EQUAL(read_it(bytes, length, &header), CRPC_ERROR_PROTOCOL);
    memcpy(rest + 12, "\x03\0\3abc", 6); // a checksum that can be none
    length = put_header(bytes, 0x21, 0x11, rest, 18);
    EXPECT_EQUAL(read_it(bytes, length, &header), CRPC_ERROR_PROTOCOL);
}

static bool has(const char *network, const char *address) {
    crpc_proxy_network parsed;
    REQUIRE(crpc_proxy_network_parse(network, &parsed) == CRPC_OK);
    struct sockaddr_storage storage = {0};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&storage;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&storage;
    storage.ss_family = strchr(address, ':') == NULL ? AF_INET : AF_INET6;
    REQUIRE(inet_pton(storage.ss_family, address, storage.ss_family == AF_INET ? (void *)&v4->sin_addr : &v6->sin6_addr) == 1);
    return crpc_proxy_networks_have(&parsed, 1, &storage);
}

TEST(networks_of_proxies_have_the_addresses_that_they_say) {
    EXPECT(has("10.0.0.0/8", "10.255.0.1") && !has("10.0.0.0/8", "11.0.0.1"));
    EXPECT(has("10.0.0.0/8", "::ffff:10.1.2.3")); // how a socket of both kinds has it
    EXPECT(has("192.0.2.7", "192.0.2.7") && !has("192.0.2.7", "192.0.2.6"));
    EXPECT(has("0.0.0.0/0", "1.2.3.4") && !has("0.0.0.0/0", "::1"));
    EXPECT(has("::/0", "::1") && !has("::/0", "1.2.3.4"));
    EXPECT(has("2001:db8::/33", "2001:db8:7fff::1") && !has("2001:db8::/33", "2001:db8:8000::1"));
    static const char *const bad[] = {
        "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "::/129", "10.0.0.0/8x", "10.0.0.0/-1", "a.example",
        "2001:db8::1/64", "10.0.0.0/0008"};
    crpc_proxy_network network;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (!EXPECT_EQUAL(crpc_proxy_network_parse(bad[i], &network), CRPC_ERROR_ARGUMENT)) test_note("%s", bad[i]);
}

// ---- On connections ----

static rig *start(uint32_t connections_per_address_max) {
    static crpc_proxy_network loopback;
    REQUIRE(crpc_proxy_network_parse("127.0.0.0/8", &loopback) == CRPC_OK);
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    setup.proxies = &loopback;
    setup.proxy_count = 1;
    setup.connections_per_address_max = connections_per_address_max;
    setup.server.handshake_timeout_ms = 2000;
    return rig_start(&setup);
}

static raw *connect_as(rig *rig, uint8_t last_byte_of_address, const char *text) {
    uint8_t bytes[CRPC_PROXY_MAX], addresses[12];
    memcpy(addresses, v4_addresses, 12);
    addresses[3] = last_byte_of_address;
    size_t length = put_header(bytes, 0x21, 0x11, addresses, 12);
    raw *raw = raw_connect_with(rig, NULL);
    raw_send(raw, bytes, length);
    if (text != NULL) raw_send(raw, text, strlen(text));
    return raw;
}

#define GET_NOW "GET /now HTTP/1.1\r\nHost: a\r\n\r\n"

TEST(a_connection_behind_a_proxy_is_its_client_s) {
    rig *rig = start(0);
    uint8_t bytes[CRPC_PROXY_MAX];
    // The header cut at each byte, then a request of HTTP/1.1 at once.
    size_t length = put_header(bytes, 0x21, 0x11, v4_addresses, 12);
    memcpy(bytes + length, GET_NOW, sizeof GET_NOW - 1);
    size_t whole = length + sizeof GET_NOW - 1;
    for (size_t cut = 0; cut <= length + 1; cut++) {
        raw *raw = raw_connect_with(rig, NULL);
        raw_send(raw, bytes, cut);
        rig_run_ms(rig, 3);
        raw_send(raw, bytes + cut, whole - cut);
        UNTIL(rig, raw_count_text(raw, "\r\n\r\nnow") == 1);
        const char *peer = crpc_connection_peer(rig_server_peer(rig)->connection);
        EXPECT_TEXT(peer, strlen(peer), "192.0.2.7:4660");
        EXPECT(!crpc_connection_is_encrypted(rig_server_peer(rig)->connection));
        raw_free(raw);
    }
    rig_end(rig);
}

TEST(addresses_behind_a_proxy_are_counted_one_by_one) {
    rig *rig = start(1);
    raw *first = connect_as(rig, 1, NULL), *second = connect_as(rig, 2, GET_NOW);
    UNTIL(rig, raw_count_text(second, "\r\n\r\nnow") == 1);
    raw_send(first, GET_NOW, sizeof GET_NOW - 1);
    UNTIL(rig, raw_count_text(first, "\r\n\r\nnow") == 1);
    raw *third = connect_as(rig, 1, GET_NOW); // another one of the first address
    UNTIL(rig, raw_read(third) && third->has_ended);
    EXPECT_EQUAL(rig->loop->turn.stats.connections_refused, 1);
    EXPECT_EQUAL(third->length, 0);
    raw_free(first);
    raw_free(second);
    raw_free(third);
    rig_end(rig);
}

TEST(the_proxy_s_own_connection_has_the_proxy_s_address) {
    rig *rig = start(0);
    uint8_t bytes[CRPC_PROXY_MAX];
    size_t length = put_header(bytes, 0x20, 0, NULL, 0);
    raw *raw = raw_connect_with(rig, NULL);
    raw_send(raw, bytes, length);
    raw_send(raw, GET_NOW, sizeof GET_NOW - 1);
    UNTIL(rig, raw_count_text(raw, "\r\n\r\nnow") == 1);
    EXPECT(strncmp(crpc_connection_peer(rig_server_peer(rig)->connection), "127.0.0.1:", 10) == 0);
    raw_free(raw);
    rig_end(rig);
}

TEST(a_proxy_that_says_nothing_right_loses_its_connection) {
    rig *rig = start(0);
    raw *text = raw_connect_with(rig, GET_NOW); // no header
    raw *old = raw_connect_with(rig, "PROXY TCP4 192.0.2.7 192.0.2.1 4660 80\r\n");
    UNTIL(rig, raw_read(text) && text->has_ended && raw_read(old) && old->has_ended);
    raw *slow = raw_connect_with(rig, "\r\n\r\n");
    UNTIL(rig, raw_read(slow) && slow->has_ended); // the time of handshakes holds for it
    EXPECT_EQUAL(rig->server_peer_count, 0);
    EXPECT_EQUAL(rig->loop->turn.stats.server_connections_opened, 3);
    EXPECT_EQUAL(rig->loop->turn.stats.server_connections_closed, 3);
    raw *gone = raw_connect_with(rig, "\r\n");
    raw_close(gone, false);
    UNTIL(rig, rig->loop->turn.stats.server_connections_closed == 4);
    raw_free(text);
    raw_free(old);
    raw_free(slow);
    raw_free(gone);
    rig_end(rig);
}

TEST(a_header_from_elsewhere_is_no_header) {
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    rig *rig = rig_start(&setup);
    raw *raw = connect_as(rig, 1, GET_NOW);
    UNTIL(rig, rig->exchange_count == 1);
    EXPECT_EQUAL(rig_exchange(rig)->fault, CRPC_FAULT_MALFORMED);
    EXPECT_EQUAL(exchange_respond(rig_exchange(rig), 400, ""), CRPC_OK);
    UNTIL(rig, raw_read(raw) && raw->has_ended);
    raw_free(raw);
    rig_end(rig);
}
