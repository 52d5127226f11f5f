#include "rig_exchanges.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

// Places for connections: who has no call makes room for who has one, and no address takes all.

/// A client that has said its SETTINGS and makes no call.
static raw *connect_idly(rig *rig) {
    raw *raw = raw_connect(rig);
    UNTIL(rig, raw_read(raw) && raw_find(raw, NGHTTP2_SETTINGS, 0) != NULL);
    return raw;
}

static bool was_sent_away(raw *raw) {
    (void)raw_read(raw);
    const raw_frame *goaway = raw_find(raw, NGHTTP2_GOAWAY, 0);
    static const char reason[] = "too_many_connections";
    return raw->has_ended && raw_error(goaway) == NGHTTP2_NO_ERROR &&
           goaway->length == 8 + sizeof reason - 1 && memcmp(goaway->payload + 8, reason, sizeof reason - 1) == 0;
}

static rig *start(uint32_t connections_max, uint32_t connections_per_address_max) {
    rig_setup setup = rig_defaults();
    setup.connections_max = connections_max;
    setup.connections_per_address_max = connections_per_address_max;
    return rig_start(&setup);
}

TEST(the_connection_that_idles_for_longest_makes_room) {
    rig *rig = start(3, 0);
    raw *first = connect_idly(rig), *second = connect_idly(rig), *third = connect_idly(rig);
    rig_run_ms(rig, 20);
    // The first one makes a call, and so is the last to go.
    raw_send_request(first, 0, 1, rig_paths[METHOD_UNARY], NULL, NULL);
    raw_send_message(first, NGHTTP2_FLAG_END_STREAM, 1, "x");
    UNTIL(rig, raw_read(first) && raw_find_end(first, 1) != NULL);
    uint64_t start = now_ms();
    peer *peer = rig_connect(rig);
    call *call = call_unary(peer, METHOD_UNARY, "let me in");
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT(now_ms() - start >= CRPC_ROOM_AFTER_MS - 200 && now_ms() - start < CRPC_ROOM_AFTER_MS + 1000);
    UNTIL(rig, raw_read(second) && second->has_ended);
    EXPECT(was_sent_away(second));
    EXPECT(raw_read(first) && !first->has_ended && raw_read(third) && !third->has_ended);
    EXPECT_EQUAL(rig->loop->turn.stats.connections_evicted, 1);
    EXPECT_EQUAL(rig->listener->leaving_count, 0);
    EXPECT_EQUAL(crpc_listener_connection_count(rig->listener), 3);
    raw_free(first);
    raw_free(second);
    raw_free(third);
    rig_end(rig);
}

TEST(a_connection_with_a_call_makes_no_room) {
    rig *rig = start(2, 0);
    raw *one = connect_idly(rig), *other = connect_idly(rig);
    raw_send_request(one, 0, 1, rig_paths[METHOD_HOLD], NULL, NULL);
    raw_send_request(other, 0, 1, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == 2);
    call *waiting = call_unary(rig_connect(rig), METHOD_UNARY, "patience");
    rig_run_ms(rig, CRPC_ROOM_AFTER_MS + 300);
    EXPECT_EQUAL(waiting->closes, 0);
    EXPECT(raw_read(one) && !one->has_ended && raw_read(other) && !other->has_ended);
    EXPECT(!rig->listener->is_accepting); // and it does not spin
    EXPECT_EQUAL(call_finish(rig->server_calls[1], 0, ""), CRPC_OK);
    UNTIL(rig, waiting->closes == 1);
    EXPECT_EQUAL(waiting->status, 0);
    UNTIL(rig, raw_read(one) && raw_read(other) && (one->has_ended || other->has_ended));
    EXPECT(was_sent_away(one->has_ended ? one : other));
    EXPECT(!one->has_ended || !other->has_ended);
    raw_free(one);
    raw_free(other);
    rig_end(rig);
}

TEST(what_was_sent_to_a_connection_that_made_room_can_be_tried_again) {
    rig *rig = start(1, 0);
    peer *idle = rig_open(rig);
    raw *next = raw_connect(rig);
    rig_run_ms(rig, CRPC_ROOM_AFTER_MS - 100);
    // Looked at in the same turn in which the other one comes in: it may win or lose, but is never in doubt.
    call *call = NULL;
    while (call == NULL && idle->closes == 0) {
        if (rig_server_peer(rig)->closes == 1 || rig->loop->turn.stats.connections_evicted == 1)
            call = call_open(idle, METHOD_UNARY, 0);
        rig_turn(rig);
    }
    UNTIL(rig, idle->closes == 1);
    EXPECT_EQUAL(idle->error, CRPC_OK);
    if (call != NULL) EXPECT(call->closes == 1 && call->is_unprocessed);
    raw_free(next);
    rig_end(rig);
}

TEST(handshakes_make_room_where_nobody_idles) {
    rig *rig = start(3, 0);
    raw *silent[3];
    for (int i = 0; i < 3; i++) silent[i] = raw_connect_silently(rig);
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == 3);
    uint64_t start = now_ms();
    call *call = call_unary(rig_connect(rig), METHOD_UNARY, "let me in");
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT(now_ms() - start < CRPC_ROOM_AFTER_MS + 1000);
    EXPECT(raw_read(silent[0]) && silent[0]->has_ended);
    EXPECT(raw_read(silent[2]) && !silent[2]->has_ended);
    EXPECT_EQUAL(rig->loop->turn.stats.handshakes_dropped, 1);
    for (int i = 0; i < 3; i++) raw_free(silent[i]);
    rig_end(rig);
}

TEST(a_crowd_that_makes_no_calls_locks_nobody_out) {
    enum { PLACES = 20, CROWD = 120 };
    rig *rig = start(PLACES, 0);
    peer *bystander = rig_open(rig);
    raw *crowd[CROWD];
    int come = 0;
    uint64_t slowest = 0, end = now_ms() + 3500;
    call *newcomer = NULL;
    for (unsigned round = 0; now_ms() < end || (newcomer != NULL && newcomer->closes == 0); round++) {
        REQUIRE(now_ms() < end + RIG_PATIENCE_MS);
        if (come < CROWD) crowd[come++] = raw_connect(rig);
        if (round == 60) newcomer = call_unary(rig_connect(rig), METHOD_UNARY, "an honest one");
        uint64_t start = now_ms();
        call *call = call_unary(bystander, METHOD_UNARY, "as ever");
        UNTIL(rig, call->closes == 1);
        EXPECT_EQUAL(call->status, 0);
        if (now_ms() - start > slowest) slowest = now_ms() - start;
        rig_run_ms(rig, 20);
    }
    REQUIRE(newcomer != NULL);
    EXPECT_EQUAL(newcomer->status, 0);
    EXPECT(slowest < 500);
    EXPECT_EQUAL(bystander->closes, 0);
    EXPECT(rig->loop->turn.stats.connections_evicted >= PLACES);
    EXPECT(crpc_listener_connection_count(rig->listener) <= PLACES);
    while (come > 0) raw_free(crowd[--come]);
    rig_end(rig);
}

/// A connected socket whose own address is this one of the loopback network's.
static int connect_from(rig *rig, const char *address) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in from = {.sin_family = AF_INET}, to = {.sin_family = AF_INET, .sin_port = htons(rig->port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(fd >= 0 && inet_pton(AF_INET, address, &from.sin_addr) == 1);
    REQUIRE(bind(fd, (struct sockaddr *)&from, sizeof from) == 0);
    REQUIRE(connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    return fd;
}

static bool is_closed(int fd) {
    char byte;
    return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

TEST(an_address_has_so_many_connections_and_others_have_theirs) {
    rig *rig = start(100, 2);
    raw *first = connect_idly(rig), *second = connect_idly(rig);
    int third = connect_from(rig, "127.0.0.1"), elsewhere = connect_from(rig, "127.0.0.2");
    UNTIL(rig, is_closed(third));
    EXPECT_EQUAL(rig->loop->turn.stats.connections_refused, 1);
    EXPECT_EQUAL(crpc_listener_connection_count(rig->listener), 3);
    EXPECT(!is_closed(elsewhere));
    // One that has had no call for a while makes room for another of its address.
    rig_run_ms(rig, CRPC_ROOM_AFTER_MS + 50);
    raw *fourth = connect_idly(rig);
    UNTIL(rig, raw_read(first) && first->has_ended);
    EXPECT(was_sent_away(first));
    EXPECT(raw_read(second) && !second->has_ended);
    EXPECT(!is_closed(elsewhere));
    EXPECT_EQUAL(rig->loop->turn.stats.connections_refused, 1);
    (void)close(third);
    (void)close(elsewhere);
    raw_free(first);
    raw_free(second);
    raw_free(fourth);
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == 0);
    rig_end(rig);
}

static struct sockaddr_storage address_of(const char *text) {
    struct sockaddr_storage storage = {0};
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&storage;
    struct sockaddr_in *v4 = (struct sockaddr_in *)&storage;
    bool is_v6 = strchr(text, ':') != NULL;
    storage.ss_family = is_v6 ? AF_INET6 : AF_INET;
    REQUIRE(inet_pton(storage.ss_family, text, is_v6 ? (void *)&v6->sin6_addr : (void *)&v4->sin_addr) == 1);
    return storage;
}

TEST(addresses_are_told_apart_by_network) {
    static const char *const same[][2] = {
        {"2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"}, {"192.0.2.1", "::ffff:192.0.2.1"}};
    static const char *const apart[][2] = {
        {"2001:db8:1:2::1", "2001:db8:1:3::1"}, {"192.0.2.1", "192.0.2.2"}, {"::1", "::ffff:192.0.2.1"},
        {"0.0.0.0", "::"}, {"0.0.0.1", "0:0:0:1::"}};
    crpc_addresses addresses = {0};
    REQUIRE(crpc_addresses_begin(&addresses, 100) == CRPC_OK);
    for (int are_same = 0; are_same < 2; are_same++) {
        size_t count = are_same ? sizeof same / sizeof same[0] : sizeof apart / sizeof apart[0];
        for (size_t i = 0; i < count; i++) {
            const char *const *pair = are_same ? same[i] : apart[i];
            struct sockaddr_storage one = address_of(pair[0]), other = address_of(pair[1]);
            crpc_address *first = crpc_addresses_take(&addresses, &one);
            crpc_address *second = crpc_addresses_take(&addresses, &other);
            REQUIRE(first != NULL && second != NULL);
            if (!EXPECT_EQUAL(first == second, are_same)) test_note("%s %s", pair[0], pair[1]);
            EXPECT_EQUAL(second->count, are_same ? 2 : 1);
            crpc_addresses_give_back(&addresses, first);
            crpc_addresses_give_back(&addresses, second);
        }
    }
    // Many that meet in one chain, given back in another order.
    enum { MANY = 2000 };
    crpc_address *all[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        struct sockaddr_storage from = address_of("10.0.0.0");
        ((struct sockaddr_in *)&from)->sin_addr.s_addr += htonl(i);
        all[i] = crpc_addresses_take(&addresses, &from);
        REQUIRE(all[i] != NULL && all[i]->count == 1);
    }
    for (uint32_t i = 0; i < MANY; i++) crpc_addresses_give_back(&addresses, all[(i * 7 + 3) % MANY]);
    for (size_t i = 0; i < addresses.bucket_count; i++) EXPECT(addresses.buckets[i] == NULL);
    crpc_addresses_end(&addresses);
}

TEST(a_client_of_an_ipv6_server_writes_its_address_in_brackets) {
    rig_setup setup = rig_defaults();
    setup.address = "::1";
    rig *rig;
    if (rig_try_start(&setup, &rig) != CRPC_OK) return; // a machine without IPv6
    peer *peer = rig_open(rig);
    char wanted[CRPC_ADDRESS_LENGTH];
    int length = snprintf(wanted, sizeof wanted, "[::1]:%u", (unsigned)rig->port);
    EXPECT_BYTES(crpc_connection_peer(peer->connection), strlen(wanted), wanted, (size_t)length);
    EXPECT(strncmp(crpc_connection_peer(rig_server_peer(rig)->connection), "[::1]:", 6) == 0);
    rig_end(rig);
}

// ---- File descriptors ----

/// Lets the process open so many more files.
static void leave_files(unsigned count) {
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    int next = dup(0); // the first that is free; those above it are, too
    REQUIRE(next >= 0);
    (void)close(next);
    limit.rlim_cur = (rlim_t)next + count;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

TEST(where_files_run_out_the_connection_that_idles_for_longest_makes_room) {
    enum { CROWD = 55 };
    rig *rig = start(10000, 0);
    raw *idle[CROWD];
    for (int i = 0; i < CROWD; i++) idle[i] = connect_idly(rig);
    raw *newcomer = raw_connect(rig);
    leave_files(0);
    UNTIL(rig, raw_read(newcomer) && raw_find(newcomer, NGHTTP2_SETTINGS, 0) != NULL);
    raw_send_request(newcomer, 0, 1, rig_paths[METHOD_UNARY], NULL, NULL);
    raw_send_message(newcomer, NGHTTP2_FLAG_END_STREAM, 1, "x");
    UNTIL(rig, raw_read(newcomer) && raw_find_end(newcomer, 1) != NULL);
    EXPECT(was_sent_away(idle[0]));
    EXPECT(raw_read(idle[1]) && !idle[1]->has_ended);
    EXPECT_EQUAL(rig->loop->turn.stats.connections_evicted, 1);
    EXPECT_EQUAL(crpc_listener_connection_count(rig->listener), CROWD);
    for (int i = 0; i < CROWD; i++) raw_free(idle[i]);
    raw_free(newcomer);
    rig_end(rig);
}

TEST(nobody_makes_room_where_the_last_file_is_enough) {
    rig *rig = start(10000, 0);
    raw *idle = connect_idly(rig);
    rig_run_ms(rig, CRPC_ROOM_AFTER_MS + 50);
    raw *newcomer = raw_connect(rig);
    leave_files(1);
    UNTIL(rig, raw_read(newcomer) && raw_find(newcomer, NGHTTP2_SETTINGS, 0) != NULL);
    rig_run_ms(rig, 50);
    EXPECT(raw_read(idle) && !idle->has_ended);
    EXPECT_EQUAL(rig->loop->turn.stats.connections_evicted, 0);
    raw_free(idle);
    raw_free(newcomer);
    rig_end(rig);
}

/// Whether so many bytes can be sent.
static bool can_send(rig *rig, int fd, size_t length) {
    static const uint8_t zeros[65536];
    for (uint64_t end = now_ms() + RIG_PATIENCE_MS; length > 0 && now_ms() < end; rig_turn(rig)) {
        size_t count = length < sizeof zeros ? length : sizeof zeros;
        ssize_t went = send(fd, zeros, count, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (went < 0 && errno != EAGAIN) return false;
        if (went > 0) length -= (size_t)went;
    }
    return length == 0;
}

TEST(an_address_with_many_sockets_that_linger_ends_its_own) {
    static const char head[] = "POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n";
    enum { CROWD = CRPC_LINGERING_MAX + 8 };
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    rig *rig = rig_start(&setup);
    int elsewhere = connect_from(rig, "127.0.0.2"); // the oldest of all
    EXPECT_EQUAL(send(elsewhere, head, sizeof head - 1, MSG_NOSIGNAL), sizeof head - 1);
    UNTIL(rig, rig->loop->lingering_count == 1);
    raw *crowd[CROWD];
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = raw_connect_with(rig, head);
        UNTIL(rig, rig->exchange_count == (size_t)i + 2 && crpc_listener_connection_count(rig->listener) == 0);
    }
    EXPECT_EQUAL(rig->loop->lingering_count, CRPC_LINGERING_MAX);
    EXPECT(can_send(rig, elsewhere, 4000000));
    EXPECT(!can_send(rig, crowd[0]->fd, 4000000));
    EXPECT(can_send(rig, crowd[CROWD - 1]->fd, 4000000));
    for (int i = 0; i < CROWD; i++) raw_free(crowd[i]);
    (void)close(elsewhere);
    rig_end(rig);
}

TEST(where_files_run_out_a_socket_that_lingers_goes_first) {
    rig_setup setup = rig_defaults();
    setup.takes_exchanges = true;
    rig *rig = rig_start(&setup);
    raw *idle = connect_idly(rig);
    raw *lingering = raw_connect_with(rig, "POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n");
    UNTIL(rig, rig->loop->lingering_count == 1);
    rig_run_ms(rig, CRPC_ROOM_AFTER_MS + 50);
    EXPECT_EQUAL(rig->loop->lingering_count, 1);
    raw *newcomer = raw_connect(rig);
    leave_files(0);
    UNTIL(rig, raw_read(newcomer) && raw_find(newcomer, NGHTTP2_SETTINGS, 0) != NULL);
    EXPECT_EQUAL(rig->loop->lingering_count, 0);
    EXPECT_EQUAL(raw_count_text(lingering, "HTTP/1.1 200"), 1); // which had been said
    EXPECT(raw_read(idle) && !idle->has_ended);
    raw_free(idle);
    raw_free(lingering);
    raw_free(newcomer);
    rig_end(rig);
}
