#include "raw.h"

#include <openssl/err.h>
#include <stdio.h>
#include <sys/socket.h>

// TLS with certificates that certificates.sh made: who trusts whom, and what of a failure is told.

static const char *path(const char *file, char text[256]) {
    const char *folder = getenv("CRPC_TEST_CERTIFICATES");
    REQUIRE(folder != NULL); // run.sh makes it
    (void)snprintf(text, 256, "%s/%s", folder, file);
    return text;
}

/// The files of a name, such as "server": NULL for none. `authority` likewise.
static crpc_tls_files files(const char *name, const char *authority) {
    static char texts[6][256];
    static int next;
    char *certificate = texts[next++ % 6], *key = texts[next++ % 6], *authorities = texts[next++ % 6], file[64];
    crpc_tls_files files = {NULL, NULL, NULL};
    if (name != NULL) {
        (void)snprintf(file, sizeof file, "%s.pem", name);
        files.certificate_chain = path(file, certificate);
        (void)snprintf(file, sizeof file, "%s.key", name);
        files.private_key = path(file, key);
    }
    if (authority != NULL) {
        (void)snprintf(file, sizeof file, "%s.pem", authority);
        files.authorities = path(file, authorities);
    }
    return files;
}

static crpc_tls *server_rules(const char *name, const char *authority) {
    crpc_tls_files chosen = files(name, authority);
    char reason[CRPC_TLS_REASON_LENGTH] = "";
    crpc_tls *tls = NULL;
    if (!EXPECT_EQUAL(crpc_tls_server_new(&chosen, reason, &tls), CRPC_OK)) test_note("%s", reason);
    REQUIRE(tls != NULL);
    return tls;
}

static crpc_tls *client_rules(const char *name, const char *authority) {
    crpc_tls_files chosen = files(name, authority);
    char reason[CRPC_TLS_REASON_LENGTH] = "";
    crpc_tls *tls = NULL;
    if (!EXPECT_EQUAL(crpc_tls_client_new(&chosen, reason, &tls), CRPC_OK)) test_note("%s", reason);
    REQUIRE(tls != NULL);
    return tls;
}

/// A rig that has taken the rules over.
static rig *start(crpc_tls *server, crpc_tls *client, const char *name) {
    rig_setup setup = rig_defaults();
    setup.server_tls = server;
    setup.client_tls = client;
    setup.tls_name = name;
    return rig_start(&setup);
}

static void end(rig *rig) {
    crpc_tls *server = rig->setup.server_tls, *client = rig->setup.client_tls;
    rig_end(rig);
    crpc_tls_free(server);
    crpc_tls_free(client);
}

static void expect_call(rig *rig, peer *peer) {
    call *call = call_unary(peer, METHOD_UNARY, "secret");
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT_TEXT(call->received, call->received_length, "secret");
}

TEST(calls_go_over_tls_1_3) {
    rig *rig = start(server_rules("server", NULL), client_rules(NULL, "authority"), "localhost");
    peer *peer = rig_open(rig);
    expect_call(rig, peer);
    EXPECT(crpc_connection_is_encrypted(peer->connection));
    EXPECT(crpc_connection_is_encrypted(rig_server_peer(rig)->connection));
    EXPECT_TEXT(SSL_get_version(peer->connection->ssl), 7, "TLSv1.3");
    end(rig);
}

TEST(calls_go_over_tls_1_2_and_not_below) {
    static const int versions[] = {TLS1_2_VERSION, TLS1_1_VERSION};
    for (int i = 0; i < 2; i++) {
        crpc_tls *client = client_rules(NULL, "authority");
        REQUIRE(SSL_CTX_set_min_proto_version(client->context, 0) == 1);
        REQUIRE(SSL_CTX_set_max_proto_version(client->context, versions[i]) == 1);
        rig *rig = start(server_rules("server", NULL), client, "localhost");
        peer *peer = rig_connect(rig);
        UNTIL(rig, peer->opens == 1 || peer->closes == 1);
        EXPECT_EQUAL(peer->opens, i == 0);
        if (i == 0) expect_call(rig, peer);
        if (i == 1) EXPECT_EQUAL(peer->error, CRPC_ERROR_TLS);
        end(rig);
    }
}

TEST(large_messages_cross_tls) {
    enum { SIZE = 1 << 20 };
    rig *rig = start(server_rules("server", NULL), client_rules(NULL, "authority"), "localhost");
    peer *peer = rig_open(rig);
    uint8_t *bytes = malloc(SIZE);
    REQUIRE(bytes != NULL);
    for (size_t i = 0; i < SIZE; i++) bytes[i] = (uint8_t)(i * 13 + i / 251);
    call *calls[4];
    for (int i = 0; i < 4; i++) {
        calls[i] = call_open(peer, METHOD_UNARY, 0);
        EXPECT_EQUAL(call_send(calls[i], bytes, SIZE), CRPC_OK);
        EXPECT_EQUAL(call_half_close(calls[i]), CRPC_OK);
    }
    for (int i = 0; i < 4; i++) {
        UNTIL(rig, calls[i]->closes == 1);
        EXPECT_EQUAL(calls[i]->status, 0);
        EXPECT_BYTES(calls[i]->received, calls[i]->received_length, bytes, SIZE);
    }
    free(bytes);
    end(rig);
}

static void count_name(void *context, const char *name, size_t length) {
    char *text = context;
    size_t used = strlen(text);
    (void)snprintf(text + used, 256 - used, "%.*s,", (int)length, name);
}

TEST(mutual_tls_tells_who_calls) {
    rig *rig = start(server_rules("server", "authority"), client_rules("client", "authority"), "localhost");
    peer *peer = rig_open(rig);
    expect_call(rig, peer);
    char names[256] = "";
    crpc_connection_peer_names(rig_server_peer(rig)->connection, count_name, names);
    EXPECT_TEXT(names, strlen(names), "spiffe://test/caller,caller.test,");
    names[0] = 0;
    crpc_connection_peer_names(peer->connection, count_name, names);
    EXPECT_TEXT(names, strlen(names), "localhost,");
    end(rig);
}

TEST(without_a_certificate_the_peer_has_no_names) {
    rig *rig = start(server_rules("server", NULL), client_rules("client", "authority"), "localhost");
    (void)rig_open(rig);
    char names[256] = "";
    crpc_connection_peer_names(rig_server_peer(rig)->connection, count_name, names);
    EXPECT_TEXT(names, strlen(names), "");
    end(rig);
    rig = rig_start(NULL);
    (void)rig_open(rig);
    crpc_connection_peer_names(rig_server_peer(rig)->connection, count_name, names);
    EXPECT_TEXT(names, strlen(names), "");
    rig_end(rig);
}

/// A connection that must not come about; the client's error is TLS, and no call reaches the server.
static void expect_failure(crpc_tls *server, crpc_tls *client, const char *name) {
    rig *rig = start(server, client, name);
    peer *peer = rig_connect(rig);
    REQUIRE(peer != NULL);
    call *call = call_unary(peer, METHOD_UNARY, "secret");
    UNTIL(rig, peer->closes == 1);
    EXPECT_EQUAL(peer->error, CRPC_ERROR_TLS);
    EXPECT_EQUAL(peer->opens, 0);
    EXPECT_EQUAL(call->status, 14);
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == 0);
    EXPECT_EQUAL(rig->server_call_count, 0);
    EXPECT_EQUAL(ERR_peek_error(), 0);
    end(rig);
}

TEST(a_server_of_another_authority_is_refused) {
    expect_failure(server_rules("stranger", NULL), client_rules(NULL, "authority"), "localhost");
    expect_failure(server_rules("server", NULL), client_rules(NULL, "other"), "localhost");
    expect_failure(server_rules("server", NULL), client_rules(NULL, NULL), "localhost"); // the system's
}

TEST(a_server_of_another_name_is_refused) {
    expect_failure(server_rules("server", NULL), client_rules(NULL, "authority"), "example.org");
    expect_failure(server_rules("server", NULL), client_rules(NULL, "authority"), "sub.localhost");
    expect_failure(server_rules("server", NULL), client_rules(NULL, "authority"), "127.0.0.2");
    expect_failure(server_rules("client", NULL), client_rules(NULL, "authority"), "localhost");
}

TEST(a_server_is_verified_by_its_address_too) {
    rig *rig = start(server_rules("server", NULL), client_rules(NULL, "authority"), "127.0.0.1");
    expect_call(rig, rig_open(rig));
    end(rig);
}

TEST(an_expired_certificate_is_refused) {
    expect_failure(server_rules("expired", NULL), client_rules(NULL, "authority"), "localhost");
    expect_failure(server_rules("server", "authority"), client_rules("expired", "authority"), "localhost");
}

TEST(a_client_without_a_good_certificate_is_refused) {
    expect_failure(server_rules("server", "authority"), client_rules(NULL, "authority"), "localhost");
    expect_failure(server_rules("server", "authority"), client_rules("stranger", "authority"), "localhost");
}

TEST(a_peer_without_alpn_is_refused) {
    crpc_tls *client = client_rules(NULL, "authority");
    REQUIRE(SSL_CTX_set_alpn_protos(client->context, NULL, 0) == 0);
    expect_failure(server_rules("server", NULL), client, "localhost");
    crpc_tls *server = server_rules("server", NULL);
    SSL_CTX_set_alpn_select_cb(server->context, NULL, NULL);
    expect_failure(server, client_rules(NULL, "authority"), "localhost");
    static const unsigned char other[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    client = client_rules(NULL, "authority");
    REQUIRE(SSL_CTX_set_alpn_protos(client->context, other, sizeof other) == 0);
    expect_failure(server_rules("server", NULL), client, "localhost");
}

TEST(clear_text_on_a_tls_port_is_refused_and_the_other_way_round) {
    rig *rig = start(server_rules("server", NULL), NULL, NULL);
    peer *peer = rig_connect(rig);
    UNTIL(rig, peer->closes == 1);
    EXPECT_EQUAL(peer->opens, 0);
    EXPECT_EQUAL(rig->server_peer_count, 0);
    end(rig);
    expect_failure(NULL, client_rules(NULL, "authority"), "localhost");
}

TEST(a_tls_client_needs_a_name) {
    rig *rig = start(server_rules("server", NULL), client_rules(NULL, "authority"), NULL);
    EXPECT(rig_connect(rig) == NULL);
    EXPECT_EQUAL(rig->last_error, CRPC_ERROR_ARGUMENT);
    end(rig);
}

TEST(a_name_that_no_certificate_can_have_fails_at_once) {
    char name[301] = "";
    memset(name, 'n', sizeof name - 1);
    rig *rig = start(server_rules("server", NULL), client_rules(NULL, "authority"), name);
    EXPECT(rig_connect(rig) == NULL);
    EXPECT_EQUAL(rig->last_error, CRPC_ERROR_TLS);
    EXPECT_EQUAL(ERR_peek_error(), 0);
    end(rig);
}

TEST(a_tls_client_that_says_nothing_loses_the_connection) {
    rig_setup setup = rig_defaults();
    setup.server_tls = server_rules("server", NULL);
    setup.server.handshake_timeout_ms = 60;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect_silently(rig);
    raw_send(raw, "\x16\x03\x01", 3);
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == 1);
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == 0);
    EXPECT_EQUAL(rig->server_peer_count, 0); // it was never open
    raw_free(raw);
    end(rig);
}

TEST(new_rules_hold_for_new_connections) {
    rig *rig = start(server_rules("stranger", NULL), client_rules(NULL, "authority"), "localhost");
    peer *peer = rig_connect(rig);
    UNTIL(rig, peer->closes == 1);
    EXPECT_EQUAL(peer->error, CRPC_ERROR_TLS);
    crpc_tls *next = server_rules("server", NULL);
    crpc_listener_set_tls(rig->listener, next);
    crpc_tls_free(next); // the listener keeps its own reference
    peer = rig_open(rig);
    expect_call(rig, peer);
    next = server_rules("stranger", NULL);
    crpc_listener_set_tls(rig->listener, next);
    crpc_tls_free(next);
    expect_call(rig, peer); // those there keep theirs
    end(rig);
}

TEST(bad_files_are_told_without_their_content) {
    static const struct {
        const char *certificate, *key, *authorities;
        int error;
        const char *word;
    } cases[] = {
        {"missing.pem", "server.key", NULL, CRPC_ERROR_TLS, "missing.pem"},
        {"server.pem", "missing.key", NULL, CRPC_ERROR_TLS, "missing.key"},
        {"server.key", "server.key", NULL, CRPC_ERROR_TLS, "server.key"},
        {"server.pem", "server.pem", NULL, CRPC_ERROR_TLS, "server.pem"},
        {"server.pem", "client.key", NULL, CRPC_ERROR_TLS, "client.key"},
        {"server.pem", "server.key", "missing.pem", CRPC_ERROR_TLS, "missing.pem"},
        {"server.pem", "server.key", "server.key", CRPC_ERROR_TLS, "server.key"},
        {NULL, "server.key", NULL, CRPC_ERROR_ARGUMENT, "certificate"},
        {"server.pem", NULL, NULL, CRPC_ERROR_ARGUMENT, "private key"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char texts[3][256], reason[CRPC_TLS_REASON_LENGTH] = "";
        crpc_tls_files chosen = {
            cases[i].certificate == NULL ? NULL : path(cases[i].certificate, texts[0]),
            cases[i].key == NULL ? NULL : path(cases[i].key, texts[1]),
            cases[i].authorities == NULL ? NULL : path(cases[i].authorities, texts[2])};
        crpc_tls *tls = NULL;
        EXPECT_EQUAL(crpc_tls_server_new(&chosen, reason, &tls), cases[i].error);
        EXPECT(tls == NULL);
        EXPECT(strstr(reason, cases[i].word) != NULL);
        EXPECT(strstr(reason, "BEGIN") == NULL);
        EXPECT_EQUAL(ERR_peek_error(), 0);
    }
    crpc_tls_free(NULL);
}

static void leave_an_error(call *call, rig_event event) {
    (void)call;
    (void)event;
    ERR_raise(ERR_LIB_USER, 1); // as a failed verification of a token on this thread does
}

TEST(errors_that_others_left_in_openssl_break_no_connection) {
    rig *rig = start(server_rules("server", NULL), client_rules(NULL, "authority"), "localhost");
    peer *peer = rig_open(rig);
    rig->react = leave_an_error;
    for (int i = 0; i < 3; i++) expect_call(rig, peer);
    ERR_raise(ERR_LIB_USER, 1);
    rig->react = NULL;
    expect_call(rig, rig_open(rig));
    EXPECT_EQUAL(peer->closes, 0);
    ERR_clear_error();
    end(rig);
}
