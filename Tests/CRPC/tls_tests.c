#include "raw.h"
#include "tls_rig.h"

#include <openssl/err.h>
#include <stdio.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// TLS with certificates from certificates.sh: which peers trust each other, and the reported errors.

TEST(calls_go_over_tls_1_3) {
    rig *rig = tls_start(tls_server_rules("server", NULL), tls_client_rules(NULL, "authority"), "localhost");
    peer *peer = rig_open(rig);
    tls_expect_call(rig, peer);
    EXPECT(crpc_connection_is_encrypted(peer->connection));
    EXPECT(crpc_connection_is_encrypted(rig_server_peer(rig)->connection));
    EXPECT_TEXT(SSL_get_version(crpc_driver_of(peer->connection)->tls.ssl), 7, "TLSv1.3");
    tls_end(rig);
}

TEST(calls_go_over_tls_1_2_and_not_below) {
    static const int versions[] = {TLS1_2_VERSION, TLS1_1_VERSION};
    for (int i = 0; i < 2; i++) {
        crpc_tls *client = tls_client_rules(NULL, "authority");
        REQUIRE(SSL_CTX_set_min_proto_version(client->context, 0) == 1);
        REQUIRE(SSL_CTX_set_max_proto_version(client->context, versions[i]) == 1);
        rig *rig = tls_start(tls_server_rules("server", NULL), client, "localhost");
        peer *peer = rig_connect(rig);
        UNTIL(rig, peer->opens == 1 || peer->closes == 1);
        EXPECT_EQUAL(peer->opens, i == 0);
        if (i == 0) tls_expect_call(rig, peer);
        if (i == 1) EXPECT_EQUAL(peer->error, CRPC_ERROR_TLS);
        tls_end(rig);
    }
}

TEST(large_messages_cross_tls) {
    enum { SIZE = 1 << 20 };
    rig *rig = tls_start(tls_server_rules("server", NULL), tls_client_rules(NULL, "authority"), "localhost");
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
    tls_end(rig);
}

static void count_name(void *context, const char *name, size_t length) {
    char *text = context;
    size_t used = strlen(text);
    (void)snprintf(text + used, 256 - used, "%.*s,", (int)length, name);
}

TEST(mutual_tls_tells_who_calls) {
    rig *rig = tls_start(tls_server_rules("server", "authority"), tls_client_rules("client", "authority"), "localhost");
    peer *peer = rig_open(rig);
    tls_expect_call(rig, peer);
    char names[256] = "";
    crpc_connection_peer_names(rig_server_peer(rig)->connection, count_name, names);
    EXPECT_TEXT(names, strlen(names), "spiffe://test/caller,caller.test,");
    names[0] = 0;
    crpc_connection_peer_names(peer->connection, count_name, names);
    EXPECT_TEXT(names, strlen(names), "localhost,");
    tls_end(rig);
}

TEST(without_a_certificate_the_peer_has_no_names) {
    rig *rig = tls_start(tls_server_rules("server", NULL), tls_client_rules("client", "authority"), "localhost");
    (void)rig_open(rig);
    char names[256] = "";
    crpc_connection_peer_names(rig_server_peer(rig)->connection, count_name, names);
    EXPECT_TEXT(names, strlen(names), "");
    tls_end(rig);
    rig = rig_start(NULL);
    (void)rig_open(rig);
    crpc_connection_peer_names(rig_server_peer(rig)->connection, count_name, names);
    EXPECT_TEXT(names, strlen(names), "");
    rig_end(rig);
}

/// A connection that must not come about; the client's error is TLS, and no call reaches the server.
static void expect_failure(crpc_tls *server, crpc_tls *client, const char *name) {
    rig *rig = tls_start(server, client, name);
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
    tls_end(rig);
}

TEST(a_server_of_another_authority_is_refused) {
    expect_failure(tls_server_rules("stranger", NULL), tls_client_rules(NULL, "authority"), "localhost");
    expect_failure(tls_server_rules("server", NULL), tls_client_rules(NULL, "other"), "localhost");
    expect_failure(tls_server_rules("server", NULL), tls_client_rules(NULL, NULL), "localhost"); // the system's
}

TEST(a_server_of_another_name_is_refused) {
    expect_failure(tls_server_rules("server", NULL), tls_client_rules(NULL, "authority"), "example.org");
    expect_failure(tls_server_rules("server", NULL), tls_client_rules(NULL, "authority"), "sub.localhost");
    expect_failure(tls_server_rules("server", NULL), tls_client_rules(NULL, "authority"), "127.0.0.2");
    expect_failure(tls_server_rules("client", NULL), tls_client_rules(NULL, "authority"), "localhost");
}

TEST(a_server_is_verified_by_its_address_too) {
    rig *rig = tls_start(tls_server_rules("server", NULL), tls_client_rules(NULL, "authority"), "127.0.0.1");
    tls_expect_call(rig, rig_open(rig));
    tls_end(rig);
}

TEST(an_expired_certificate_is_refused) {
    expect_failure(tls_server_rules("expired", NULL), tls_client_rules(NULL, "authority"), "localhost");
    expect_failure(tls_server_rules("server", "authority"), tls_client_rules("expired", "authority"), "localhost");
}

TEST(a_client_without_a_good_certificate_is_refused) {
    expect_failure(tls_server_rules("server", "authority"), tls_client_rules(NULL, "authority"), "localhost");
    expect_failure(tls_server_rules("server", "authority"), tls_client_rules("stranger", "authority"), "localhost");
}

TEST(a_peer_without_alpn_is_refused) {
    crpc_tls *client = tls_client_rules(NULL, "authority");
    REQUIRE(SSL_CTX_set_alpn_protos(client->context, NULL, 0) == 0);
    expect_failure(tls_server_rules("server", NULL), client, "localhost");
    crpc_tls *server = tls_server_rules("server", NULL);
    SSL_CTX_set_alpn_select_cb(server->context, NULL, NULL);
    expect_failure(server, tls_client_rules(NULL, "authority"), "localhost");
    static const unsigned char other[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    client = tls_client_rules(NULL, "authority");
    REQUIRE(SSL_CTX_set_alpn_protos(client->context, other, sizeof other) == 0);
    expect_failure(tls_server_rules("server", NULL), client, "localhost");
}

TEST(clear_text_on_a_tls_port_is_refused_and_the_other_way_round) {
    rig *rig = tls_start(tls_server_rules("server", NULL), NULL, NULL);
    peer *peer = rig_connect(rig);
    UNTIL(rig, peer->closes == 1);
    EXPECT_EQUAL(peer->opens, 0);
    EXPECT_EQUAL(rig->server_peer_count, 0);
    tls_end(rig);
    expect_failure(NULL, tls_client_rules(NULL, "authority"), "localhost");
}

TEST(a_tls_client_needs_a_name) {
    rig *rig = tls_start(tls_server_rules("server", NULL), tls_client_rules(NULL, "authority"), NULL);
    EXPECT(rig_connect(rig) == NULL);
    EXPECT_EQUAL(rig->last_error, CRPC_ERROR_ARGUMENT);
    tls_end(rig);
}

TEST(a_name_that_no_certificate_can_have_fails_at_once) {
    char name[301] = "";
    memset(name, 'n', sizeof name - 1);
    rig *rig = tls_start(tls_server_rules("server", NULL), tls_client_rules(NULL, "authority"), name);
    EXPECT(rig_connect(rig) == NULL);
    EXPECT_EQUAL(rig->last_error, CRPC_ERROR_TLS);
    EXPECT_EQUAL(ERR_peek_error(), 0);
    tls_end(rig);
}

TEST(a_tls_client_that_says_nothing_loses_the_connection) {
    rig_setup setup = rig_defaults();
    setup.server_tls = tls_server_rules("server", NULL);
    setup.server.handshake_timeout_ms = 60;
    rig *rig = rig_start(&setup);
    raw *raw = raw_connect_silently(rig);
    raw_send(raw, "\x16\x03\x01", 3);
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == 1);
    UNTIL(rig, crpc_listener_connection_count(rig->listener) == 0);
    EXPECT_EQUAL(rig->server_peer_count, 0); // it was never open
    raw_free(raw);
    tls_end(rig);
}

TEST(new_rules_hold_for_new_connections) {
    rig *rig = tls_start(tls_server_rules("stranger", NULL), tls_client_rules(NULL, "authority"), "localhost");
    peer *peer = rig_connect(rig);
    UNTIL(rig, peer->closes == 1);
    EXPECT_EQUAL(peer->error, CRPC_ERROR_TLS);
    crpc_tls *next = tls_server_rules("server", NULL);
    crpc_listener_set_tls(rig->listener, next);
    crpc_tls_free(next); // the listener keeps its own reference
    peer = rig_open(rig);
    tls_expect_call(rig, peer);
    next = tls_server_rules("stranger", NULL);
    crpc_listener_set_tls(rig->listener, next);
    crpc_tls_free(next);
    tls_expect_call(rig, peer); // those there keep theirs
    tls_end(rig);
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
            cases[i].certificate == NULL ? NULL : tls_path(cases[i].certificate, texts[0]),
            cases[i].key == NULL ? NULL : tls_path(cases[i].key, texts[1]),
            cases[i].authorities == NULL ? NULL : tls_path(cases[i].authorities, texts[2])};
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

TEST(a_key_with_a_password_is_refused_without_asking_for_it) {
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    REQUIRE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    const char *name = ptsname(terminal);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        (void)setsid();
        int own = open(name, O_RDWR); // the child's terminal from here on, on which nobody answers
        char certificate[256], key[256], reason[CRPC_TLS_REASON_LENGTH];
        crpc_tls_files chosen = {tls_path("server.pem", certificate), tls_path("encrypted.key", key), NULL};
        crpc_tls *tls;
        _exit(own >= 0 && crpc_tls_server_new(&chosen, reason, &tls) == CRPC_ERROR_TLS ? 0 : 1);
    }
    int status = -1;
    uint64_t end = now_ms() + 5000;
    while (waitpid(child, &status, WNOHANG) == 0 && now_ms() < end) (void)usleep(1000);
    EXPECT_EQUAL(status, 0);
    (void)kill(child, SIGKILL);
    (void)close(terminal);
}

TEST(a_wildcard_stands_for_a_whole_label) {
    expect_failure(tls_server_rules("partial", NULL), tls_client_rules(NULL, "authority"), "part.wild.test");
    rig *rig = tls_start(tls_server_rules("partial", NULL), tls_client_rules(NULL, "authority"), "part.whole.test");
    tls_expect_call(rig, rig_open(rig));
    tls_end(rig);
}

TEST(a_server_keeps_no_sessions_of_tls_1_2) {
    crpc_tls *client = tls_client_rules(NULL, "authority");
    REQUIRE(SSL_CTX_set_max_proto_version(client->context, TLS1_2_VERSION) == 1);
    (void)SSL_CTX_set_options(client->context, SSL_OP_NO_TICKET);
    rig *rig = tls_start(tls_server_rules("server", NULL), client, "localhost");
    for (int i = 0; i < 3; i++) tls_expect_call(rig, rig_open(rig));
    EXPECT_EQUAL(SSL_CTX_sess_number(rig->setup.server_tls->context), 0);
    tls_end(rig);
}

/// The sessions that a client got which it could take up again.
static long sessions_to_take_up(int version, const char *authorities) {
    crpc_tls *client = tls_client_rules("client", "authority");
    REQUIRE(SSL_CTX_set_max_proto_version(client->context, version) == 1);
    (void)SSL_CTX_set_session_cache_mode(client->context, SSL_SESS_CACHE_CLIENT);
    rig *rig = tls_start(tls_server_rules("server", authorities), client, "localhost");
    tls_expect_call(rig, rig_open(rig));
    long count = SSL_CTX_sess_number(client->context);
    tls_end(rig);
    return count;
}

TEST(a_client_with_a_certificate_takes_up_no_session) {
    EXPECT(sessions_to_take_up(TLS1_3_VERSION, NULL) > 0 && sessions_to_take_up(TLS1_2_VERSION, NULL) > 0);
    // Its certificate is verified with each connection, and not only with the first.
    EXPECT_EQUAL(sessions_to_take_up(TLS1_3_VERSION, "authority"), 0);
    EXPECT_EQUAL(sessions_to_take_up(TLS1_2_VERSION, "authority"), 0);
}

TEST(errors_that_others_left_in_openssl_break_no_connection) {
    rig *rig = tls_start(tls_server_rules("server", NULL), tls_client_rules(NULL, "authority"), "localhost");
    peer *peer = rig_open(rig);
    rig->react = leave_an_error;
    for (int i = 0; i < 3; i++) tls_expect_call(rig, peer);
    ERR_raise(ERR_LIB_USER, 1);
    rig->react = NULL;
    tls_expect_call(rig, rig_open(rig));
    EXPECT_EQUAL(peer->closes, 0);
    ERR_clear_error();
    tls_end(rig);
}
