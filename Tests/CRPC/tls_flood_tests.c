#include "raw.h"
#include "tls_rig.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>


// Floods of TLS itself, whose records bring HTTP/2 nothing: keys that change, tickets, handshakes begun anew. The sender is
// a thread with OpenSSL on a socket of its own; meanwhile the calls of others on the loop go on, and it is dismissed.

/// On a machine that has other things to do; without the bounds there is no answer at all while the flood lasts.
enum { SLOWEST_CALL_MS = 4000, PATIENCE_MS = 15000 };

typedef enum flood { UPDATES, REQUESTED_UPDATES, TICKETS, RENEGOTIATIONS } flood;

typedef struct attacker {
    flood flood;
    int fd;
    bool is_server;
    SSL_CTX *context;
    pthread_t thread;
    _Atomic(bool) must_stop, has_ended;
    _Atomic(unsigned) sent;
} attacker;

// ---- Records of TLS 1.2 by hand ----

typedef struct sealer {
    uint8_t key[16], salt[4];
    uint64_t number;
} sealer;

/// The client's keys of AES-128-GCM (RFC 5246 section 6.3, RFC 5288).
static void derive_keys(sealer *sealer, SSL *ssl) {
    enum { RANDOM = 32, LABEL = 13, BLOCK = 40 };
    uint8_t seed[2 * RANDOM], master[48], block[BLOCK];
    (void)SSL_get_server_random(ssl, seed, RANDOM);
    (void)SSL_get_client_random(ssl, seed + RANDOM, RANDOM);
    size_t master_length = SSL_SESSION_get_master_key(SSL_get0_session(ssl), master, sizeof master);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(EVP_PKEY_TLS1_PRF, NULL);
    size_t length = sizeof block;
    REQUIRE(context != NULL && EVP_PKEY_derive_init(context) == 1 &&
            EVP_PKEY_CTX_set_tls1_prf_md(context, EVP_sha256()) == 1 &&
            EVP_PKEY_CTX_set1_tls1_prf_secret(context, master, (int)master_length) == 1 &&
            EVP_PKEY_CTX_add1_tls1_prf_seed(context, (const uint8_t *)"key expansion", LABEL) == 1 &&
            EVP_PKEY_CTX_add1_tls1_prf_seed(context, seed, sizeof seed) == 1 &&
            EVP_PKEY_derive(context, block, &length) == 1);
    EVP_PKEY_CTX_free(context);
    memcpy(sealer->key, block, sizeof sealer->key);
    memcpy(sealer->salt, block + 32, sizeof sealer->salt);
}

static void put_number(uint8_t target[8], uint64_t number) {
    for (int i = 0; i < 8; i++) target[i] = (uint8_t)(number >> (56 - 8 * i));
}

/// Sends a ClientHello as far as anybody looks at it. Whether it went.
static bool send_hello(sealer *sealer, int fd) {
    enum { HEAD = 5, NONCE = 8, HELLO = 4, TAG = 16 };
    static const uint8_t hello[HELLO] = {1, 0, 0, 0};
    uint8_t record[HEAD + NONCE + HELLO + TAG] = {22, 3, 3, 0, NONCE + HELLO + TAG};
    uint8_t nonce[12], about[13] = {[8] = 22, 3, 3, 0, HELLO};
    put_number(about, sealer->number);
    put_number(record + HEAD, sealer->number++);
    memcpy(nonce, sealer->salt, 4);
    memcpy(nonce + 4, record + HEAD, NONCE);
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    int length;
    REQUIRE(cipher != NULL && EVP_EncryptInit_ex(cipher, EVP_aes_128_gcm(), NULL, sealer->key, nonce) == 1 &&
            EVP_EncryptUpdate(cipher, NULL, &length, about, sizeof about) == 1 &&
            EVP_EncryptUpdate(cipher, record + HEAD + NONCE, &length, hello, HELLO) == 1 &&
            EVP_EncryptFinal_ex(cipher, record + HEAD + NONCE + HELLO, &length) == 1 &&
            EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, TAG, record + HEAD + NONCE + HELLO) == 1);
    EVP_CIPHER_CTX_free(cipher);
    return send(fd, record, sizeof record, MSG_NOSIGNAL) == sizeof record;
}

// ---- The attacker ----

/// Whether the other side has closed, of which OpenSSL says nothing where it sends a ticket.
static bool is_gone(int fd) {
    struct pollfd file = {.fd = fd, .events = POLLRDHUP};
    return poll(&file, 1, 0) == 1 && (file.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/// Sends one of what it floods with. False once that is not possible any more.
static bool send_one(attacker *attacker, SSL *ssl, sealer *sealer) {
    int kind = attacker->flood == REQUESTED_UPDATES ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED;
    switch (attacker->flood) {
    case RENEGOTIATIONS: return send_hello(sealer, attacker->fd);
    case TICKETS: return !is_gone(attacker->fd) && SSL_new_session_ticket(ssl) == 1 && SSL_do_handshake(ssl) == 1;
    default: return SSL_key_update(ssl, kind) == 1 && SSL_do_handshake(ssl) == 1;
    }
}

static void *attack(void *context) {
    static const char start[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    enum { PREFACE = 24, LENGTH = sizeof start - 1 };
    attacker *attacker = context;
    if (attacker->is_server) {
        int listener = attacker->fd;
        attacker->fd = accept(listener, NULL, NULL);
        (void)close(listener);
    }
    SSL *ssl = SSL_new(attacker->context);
    if (attacker->flood == RENEGOTIATIONS) (void)SSL_set_max_proto_version(ssl, TLS1_2_VERSION);
    bool ok = SSL_set_fd(ssl, attacker->fd) == 1 &&
              (attacker->is_server ? SSL_accept(ssl) == 1 : SSL_connect(ssl) == 1) &&
              (attacker->is_server ? SSL_write(ssl, start + PREFACE, LENGTH - PREFACE) : SSL_write(ssl, start, LENGTH)) > 0;
    REQUIRE(ok);
    sealer sealer = {.number = 2}; // after Finished and what was just sent
    if (attacker->flood == RENEGOTIATIONS) derive_keys(&sealer, ssl);
    while (!atomic_load(&attacker->must_stop) && send_one(attacker, ssl, &sealer))
        atomic_fetch_add(&attacker->sent, 1);
    SSL_free(ssl);
    (void)close(attacker->fd);
    atomic_store(&attacker->has_ended, true);
    return NULL;
}

static struct sockaddr_in loopback(uint16_t port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
}

static void begin_attack(attacker *attacker) {
    REQUIRE(pthread_create(&attacker->thread, NULL, attack, attacker) == 0);
}

/// Makes calls until the attacker is gone, at most for a few seconds; each must be answered soon.
static void expect_dismissal(rig *rig, attacker *attacker, peer *bystander) {
    uint64_t end = now_ms() + PATIENCE_MS, slowest = 0;
    unsigned calls = 0;
    for (; !atomic_load(&attacker->has_ended) && now_ms() < end && calls < 1500; calls++) {
        uint64_t start = now_ms();
        tls_expect_call(rig, bystander);
        if (now_ms() - start > slowest) slowest = now_ms() - start;
        rig_run_ms(rig, 10);
    }
    bool has_ended = atomic_load(&attacker->has_ended);
    atomic_store(&attacker->must_stop, true);
    UNTIL(rig, atomic_load(&attacker->has_ended));
    (void)pthread_join(attacker->thread, NULL);
    SSL_CTX_free(attacker->context);
    bool is_well = EXPECT(has_ended) && EXPECT(slowest < SLOWEST_CALL_MS) && EXPECT(calls > 0);
    is_well = EXPECT(atomic_load(&attacker->sent) > 100) && is_well;
    if (!is_well)
        test_note("flood %d: %u sent, %u calls, slowest %u ms", (int)attacker->flood, atomic_load(&attacker->sent), calls,
                  (unsigned)slowest);
}

static void attack_the_server(flood flood) {
    rig *rig = tls_start(tls_server_rules("server", NULL), tls_client_rules(NULL, "authority"), "localhost");
    peer *bystander = rig_open(rig);
    attacker attacker = {.flood = flood, .context = SSL_CTX_new(TLS_client_method())};
    REQUIRE(SSL_CTX_set_alpn_protos(attacker.context, (const uint8_t *)"\2h2", 3) == 0);
    REQUIRE(SSL_CTX_set_cipher_list(attacker.context, "ECDHE-ECDSA-AES128-GCM-SHA256") == 1);
    attacker.fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = loopback(rig->port);
    REQUIRE(attacker.fd >= 0 && connect(attacker.fd, (struct sockaddr *)&address, sizeof address) == 0);
    begin_attack(&attacker);
    expect_dismissal(rig, &attacker, bystander);
    EXPECT_EQUAL(rig->loop->turn.stats.connections_dismissed, 1);
    EXPECT_EQUAL(rig_server_peer(rig)->closes, 1);
    EXPECT_EQUAL(bystander->closes, 0);
    tls_end(rig);
}

TEST(a_flood_of_key_updates_is_dismissed_while_others_are_served) { attack_the_server(UPDATES); }
TEST(a_flood_of_key_updates_that_want_an_answer_is_dismissed) { attack_the_server(REQUESTED_UPDATES); }
TEST(a_flood_of_renegotiations_is_dismissed) { attack_the_server(RENEGOTIATIONS); }

static int take_http2(
    SSL *ssl, const unsigned char **chosen, unsigned char *length, const unsigned char *offered, unsigned offered_length,
    void *context) {
    (void)ssl;
    (void)context;
    *chosen = offered + 1;
    *length = 2;
    return offered_length >= 3 ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static void attack_a_client(flood flood) {
    char certificate[256], key[256];
    rig *rig = tls_start(tls_server_rules("server", NULL), tls_client_rules(NULL, "authority"), "localhost");
    peer *bystander = rig_open(rig);
    attacker attacker = {.flood = flood, .is_server = true, .context = SSL_CTX_new(TLS_server_method())};
    SSL_CTX_set_alpn_select_cb(attacker.context, take_http2, NULL);
    REQUIRE(SSL_CTX_use_certificate_file(attacker.context, tls_path("server.pem", certificate), SSL_FILETYPE_PEM) == 1);
    REQUIRE(SSL_CTX_use_PrivateKey_file(attacker.context, tls_path("server.key", key), SSL_FILETYPE_PEM) == 1);
    attacker.fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    REQUIRE(attacker.fd >= 0 && bind(attacker.fd, (struct sockaddr *)&address, length) == 0 &&
            listen(attacker.fd, 1) == 0 && getsockname(attacker.fd, (struct sockaddr *)&address, &length) == 0);
    peer *victim = rig_connect_to(rig, ntohs(address.sin_port));
    begin_attack(&attacker);
    UNTIL(rig, victim->opens == 1 || victim->closes == 1);
    expect_dismissal(rig, &attacker, bystander);
    UNTIL(rig, victim->closes == 1);
    EXPECT_EQUAL(victim->error, CRPC_ERROR_LIMIT);
    EXPECT_EQUAL(bystander->closes, 0);
    tls_end(rig);
}

TEST(a_client_leaves_a_server_that_floods_it_with_key_updates) { attack_a_client(UPDATES); }
TEST(a_client_leaves_a_server_that_floods_it_with_tickets) { attack_a_client(TICKETS); }

// ---- What honest peers do ----

TEST(keys_may_change_now_and_then) {
    rig *rig = tls_start(tls_server_rules("server", NULL), tls_client_rules(NULL, "authority"), "localhost");
    peer *peer = rig_open(rig);
    for (int i = 0; i < 300; i++) {
        crpc_connection *one = i % 2 == 0 ? peer->connection : rig_server_peer(rig)->connection;
        SSL *ssl = crpc_driver_of(one)->tls.ssl;
        REQUIRE(SSL_key_update(ssl, i % 3 == 0 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED) == 1);
        tls_expect_call(rig, peer);
    }
    EXPECT_EQUAL(peer->closes, 0);
    tls_end(rig);
}

/// Calls of recv in this process, all of them the layer's while nobody else reads.
unsigned long tls_socket_reads;
ssize_t __real_recv(int fd, void *target, size_t length, int flags);
ssize_t __wrap_recv(int fd, void *target, size_t length, int flags);
ssize_t __wrap_recv(int fd, void *target, size_t length, int flags) {
    tls_socket_reads += 1;
    return __real_recv(fd, target, length, flags);
}

TEST(a_wake_up_is_one_read_under_tls_as_in_clear_text) {
    unsigned long counts[2];
    for (int is_clear = 0; is_clear < 2; is_clear++) {
        rig *rig = is_clear ? rig_start(NULL)
                            : tls_start(tls_server_rules("server", NULL), tls_client_rules(NULL, "authority"), "localhost");
        peer *peer = rig_open(rig);
        tls_expect_call(rig, peer); // SETTINGS, tickets and windows are out of the way
        rig_run_ms(rig, 20);
        unsigned long before = tls_socket_reads;
        for (int i = 0; i < 50; i++) tls_expect_call(rig, peer);
        counts[is_clear] = tls_socket_reads - before;
        is_clear ? rig_end(rig) : tls_end(rig);
    }
    // A request is one, and an answer.
    EXPECT_EQUAL(counts[1], 100);
    EXPECT_EQUAL(counts[0], 100);
}

/// A server that speaks before its client has: SETTINGS go out with its first flight (0.5-RTT, RFC 8446 section 2.3), and
/// the client's own flight does not fit into its socket. What came behind the handshake is kept until it does.
typedef struct early_server {
    int listener, fd;
    SSL_CTX *context;
    _Atomic(bool) is_open;
} early_server;

static void *speak_early(void *context) {
    static const char settings[] = "\0\0\0\4\0\0\0\0\0";
    early_server *server = context;
    server->fd = accept(server->listener, NULL, NULL);
    SSL *ssl = SSL_new(server->context);
    REQUIRE(SSL_set_fd(ssl, server->fd) == 1);
    SSL_set_accept_state(ssl);
    size_t count;
    uint8_t early[16];
    REQUIRE(SSL_read_early_data(ssl, early, sizeof early, &count) == SSL_READ_EARLY_DATA_FINISH);
    REQUIRE(SSL_write_early_data(ssl, settings, sizeof settings - 1, &count) == 1);
    (void)usleep(200000); // reads nothing: the client cannot send all
    REQUIRE(SSL_accept(ssl) == 1);
    atomic_store(&server->is_open, true);
    uint8_t dropped[1024];
    while (SSL_read(ssl, dropped, sizeof dropped) > 0) continue;
    SSL_free(ssl);
    (void)close(server->fd);
    return NULL;
}

TEST(what_comes_behind_a_handshake_that_waits_to_write_is_kept) {
    char text[3][256];
    rig *rig = tls_start(tls_server_rules("server", NULL), tls_client_rules("large", "authority"), "localhost");
    early_server server = {.context = SSL_CTX_new(TLS_server_method())};
    SSL_CTX_set_alpn_select_cb(server.context, take_http2, NULL);
    SSL_CTX_set_verify(server.context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    REQUIRE(SSL_CTX_load_verify_locations(server.context, tls_path("authority.pem", text[0]), NULL) == 1);
    REQUIRE(SSL_CTX_use_certificate_file(server.context, tls_path("server.pem", text[1]), SSL_FILETYPE_PEM) == 1);
    REQUIRE(SSL_CTX_use_PrivateKey_file(server.context, tls_path("server.key", text[2]), SSL_FILETYPE_PEM) == 1);
    SSL_CTX_set_max_cert_list(server.context, 1 << 20);
    server.listener = socket(AF_INET, SOCK_STREAM, 0);
    int small = 1;
    REQUIRE(setsockopt(server.listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    REQUIRE(bind(server.listener, (struct sockaddr *)&address, length) == 0 && listen(server.listener, 1) == 0 &&
            getsockname(server.listener, (struct sockaddr *)&address, &length) == 0);
    peer *peer = rig_connect_to(rig, ntohs(address.sin_port));
    REQUIRE(setsockopt(crpc_driver_of(peer->connection)->fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small) == 0);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, speak_early, &server) == 0);
    UNTIL(rig, peer->closes == 1 || peer->opens == 1 || crpc_driver_of(peer->connection)->tls.coded_kept != NULL);
    UNTIL(rig, peer->closes == 1 || peer->opens == 1);
    EXPECT_EQUAL(peer->opens, 1);
    UNTIL(rig, peer->closes == 1 || atomic_load(&server.is_open));
    if (peer->closes == 0) peer_close(peer);
    UNTIL(rig, peer->closes == 1);
    (void)pthread_join(thread, NULL);
    (void)close(server.listener);
    SSL_CTX_free(server.context);
    tls_end(rig);
}

// ---- A KeyUpdate whose answer must wait ----

typedef struct slow_client {
    uint16_t port;
    SSL_CTX *context;
    _Atomic(bool) may_read;
    _Atomic(size_t) received;
} slow_client;

/// Asks for much, reads nothing, changes keys and asks again; then reads it all.
static void *ask_and_wait(void *context) {
    enum { FRAME_MAX = 400 };
    slow_client *client = context;
    int fd = socket(AF_INET, SOCK_STREAM, 0), small = 1;
    struct sockaddr_in address = loopback(client->port);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    REQUIRE(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    SSL *ssl = SSL_new(client->context);
    REQUIRE(SSL_set_fd(ssl, fd) == 1 && SSL_connect(ssl) == 1);
    static const uint8_t start[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\6\4\0\0\0\0\0\0\4\177\377\377\377"
                                   "\0\0\4\10\0\0\0\0\0\177\376\0\0";
    REQUIRE(SSL_write(ssl, start, sizeof start - 1) > 0);
    for (uint8_t id = 1; id <= 3; id += 2) {
        static const char *const fields[][2] = {
            {":method", "POST"}, {":scheme", "http"}, {":path", "/test.Calls/Hold"}, {":authority", "a"},
            {"te", "trailers"}, {"content-type", "application/grpc"}};
        uint8_t frame[FRAME_MAX];
        size_t length = CRPC_FRAME_HEAD;
        for (size_t i = 0; i < 6; i++)
            length += raw_put_literal(
                frame + length, fields[i][0], strlen(fields[i][0]), fields[i][1], strlen(fields[i][1]));
        const uint8_t head[] = {0, 0, (uint8_t)(length - CRPC_FRAME_HEAD), NGHTTP2_HEADERS, 5, 0, 0, 0, id};
        memcpy(frame, head, sizeof head);
        if (id == 3) {
            (void)usleep(200000); // the answer has filled the server's socket
            REQUIRE(SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1 && SSL_do_handshake(ssl) == 1);
        }
        REQUIRE(SSL_write(ssl, frame, (int)length) > 0);
    }
    while (!atomic_load(&client->may_read)) (void)usleep(1000);
    static uint8_t dropped[65536];
    for (int count; (count = SSL_read(ssl, dropped, sizeof dropped)) > 0;)
        atomic_fetch_add(&client->received, (size_t)count);
    SSL_free(ssl);
    (void)close(fd);
    return NULL;
}

static void answer_with_much(call *call, rig_event event) {
    static uint8_t bytes[1 << 20];
    if (!call->is_server || event != EVENT_CALL) return;
    for (int i = 0; i < 8; i++) EXPECT_EQUAL(call_send(call, bytes, sizeof bytes), CRPC_OK);
    EXPECT_EQUAL(call_finish(call, 0, ""), CRPC_OK);
}

TEST(keys_may_change_while_answers_wait_for_the_socket) {
    rig *rig = tls_start(tls_server_rules("server", NULL), tls_client_rules(NULL, "authority"), "localhost");
    rig->react = answer_with_much;
    slow_client client = {.port = rig->port, .context = SSL_CTX_new(TLS_client_method())};
    REQUIRE(SSL_CTX_set_alpn_protos(client.context, (const uint8_t *)"\2h2", 3) == 0);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, ask_and_wait, &client) == 0);
    UNTIL(rig, rig->server_call_count == 2);
    EXPECT(crpc_driver_of(rig_server_peer(rig)->connection)->out.rest_length > 0);
    atomic_store(&client.may_read, true);
    UNTIL(rig, rig->server_calls[0]->closes == 1 && rig->server_calls[1]->closes == 1);
    EXPECT_EQUAL(rig->server_calls[0]->error, 0);
    EXPECT_EQUAL(rig->server_calls[1]->error, 0);
    EXPECT_EQUAL(rig_server_peer(rig)->closes, 0);
    UNTIL(rig, atomic_load(&client.received) > 16 << 20);
    crpc_connection_close(rig_server_peer(rig)->connection);
    UNTIL(rig, rig_server_peer(rig)->closes == 1);
    (void)pthread_join(thread, NULL);
    SSL_CTX_free(client.context);
    tls_end(rig);
}
