#include "rig_exchanges.h"
#include "tls_rig.h"

#include <fcntl.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

// HTTP/1.x over TLS. It takes no more than it has room for, and what TLS holds beyond that wakes nobody.

#define GET_NOW "GET /now HTTP/1.1\r\nHost: a\r\n\r\n"

/// A client with OpenSSL on a socket that never blocks, in the thread of the rig.
typedef struct client {
    raw *raw;
    SSL_CTX *context;
    SSL *ssl;
    char *text; // what is to be sent
    size_t length, sent;
    size_t answers, received;
    bool is_shaken, has_ended;
} client;

static bool client_move(client *client) {
    static char buffer[65536];
    if (!client->is_shaken) client->is_shaken = SSL_connect(client->ssl) == 1;
    while (client->is_shaken && client->sent < client->length) {
        int count = SSL_write(client->ssl, client->text + client->sent, (int)(client->length - client->sent));
        if (count <= 0) break;
        client->sent += (size_t)count;
    }
    for (int count; client->is_shaken && (count = SSL_read(client->ssl, buffer, sizeof buffer)) > 0;) {
        client->received += (size_t)count;
        for (int i = 0; i + 15 < count; i++) client->answers += memcmp(buffer + i, "HTTP/1.1 200 OK", 15) == 0;
    }
    client->has_ended = (SSL_get_shutdown(client->ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
    return true;
}

static client client_begin(rig *rig, char *text, size_t length) {
    static const unsigned char alpn[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    client client = {.raw = raw_connect_silently(rig), .context = SSL_CTX_new(TLS_client_method()), .text = text};
    client.length = length;
    REQUIRE(client.context != NULL && fcntl(client.raw->fd, F_SETFL, O_NONBLOCK) == 0);
    client.ssl = SSL_new(client.context);
    REQUIRE(client.ssl != NULL && SSL_set_fd(client.ssl, client.raw->fd) == 1);
    SSL_set_mode(client.ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    REQUIRE(SSL_set_alpn_protos(client.ssl, alpn, sizeof alpn) == 0);
    return client;
}

static void client_end(client *client) {
    SSL_free(client->ssl);
    SSL_CTX_free(client->context);
    raw_free(client->raw);
    free(client->text);
}

static rig *start(void) {
    rig_setup setup = rig_defaults();
    setup.server_tls = tls_server_rules("server", NULL);
    setup.client_tls = tls_client_rules(NULL, "authority");
    setup.tls_name = "localhost";
    setup.takes_exchanges = true;
    return rig_start(&setup);
}

/// A text, then so many bytes of a body, then so many times a request.
static char *text_of(const char *head, size_t body, const char *request, size_t times, size_t *length) {
    *length = strlen(head) + body + times * strlen(request);
    char *text = malloc(*length + 1), *at = text;
    REQUIRE(text != NULL);
    memcpy(at, head, strlen(head));
    at += strlen(head);
    memset(at, 'b', body);
    at += body;
    for (size_t i = 0; i < times; i++, at += strlen(request)) memcpy(at, request, strlen(request));
    return text;
}

TEST(h1_much_that_is_sent_at_once_is_read_over_tls_as_there_is_room) {
    rig *rig = start();
    size_t length;
    char *text = text_of("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n", 300000, GET_NOW, 300, &length);
    client client = client_begin(rig, text, length);
    UNTIL(rig, client_move(&client) && rig->exchange_count == 301 && client.received > 300000);
    EXPECT_EQUAL(rig->exchanges[0]->body_length, 300000);
    UNTIL(rig, client_move(&client) && rig_exchange(rig)->closes == 1);
    EXPECT(rig_exchange(rig)->is_complete);
    client_end(&client);
    tls_end(rig);
}

TEST(h1_a_handler_that_does_not_read_holds_up_a_client_of_tls) {
    enum { LENGTH = 3000000 };
    rig *rig = start();
    size_t length;
    char *text = text_of("POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n", LENGTH, GET_NOW, 1, &length);
    client client = client_begin(rig, text, length);
    size_t window = rig->setup.server.stream_window_bytes;
    UNTIL(rig, client_move(&client) && rig->exchange_count == 1 && rig_exchange(rig)->body_length == window);
    for (int i = 0; i < 20; i++) {
        client_move(&client);
        rig_run_ms(rig, 1);
    }
    exchange *exchange = rig_exchange(rig);
    EXPECT_EQUAL(exchange->body_length, window);
    for (size_t taken = 0, step = 1; taken < LENGTH; step = step < 100000 ? step * 3 : step) {
        size_t there = exchange->body_length - taken, count = there < step ? there : step;
        if (count > 0) EXPECT_EQUAL(exchange_consume(exchange, count, false), CRPC_OK);
        taken += count;
        size_t most = taken + window < LENGTH ? taken + window : LENGTH;
        UNTIL(rig, client_move(&client) && exchange->body_length == most);
    }
    EXPECT(exchange->has_ended);
    EXPECT_EQUAL(exchange_respond(exchange, 200, "late"), CRPC_OK);
    UNTIL(rig, client_move(&client) && client.answers == 2);
    client_end(&client);
    tls_end(rig);
}

TEST(h1_a_client_of_tls_that_says_it_is_done_gets_its_answer) {
    rig *rig = start();
    size_t length;
    client client = client_begin(rig, NULL, 0);
    client.text = text_of("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n", 0, "", 0, &length);
    client.length = length;
    UNTIL(rig, client_move(&client) && rig->exchange_count == 1);
    (void)SSL_shutdown(client.ssl);
    rig_run_ms(rig, 20);
    EXPECT_EQUAL(rig_exchange(rig)->closes, 0);
    EXPECT_EQUAL(exchange_respond(rig_exchange(rig), 200, "after"), CRPC_OK);
    UNTIL(rig, client_move(&client) && client.answers == 1 && client.has_ended);
    client_end(&client);
    tls_end(rig);
}

// ---- What a turn reads ----

extern unsigned long tls_socket_reads; // tls_flood_tests.c

TEST(h1_a_turn_reads_no_more_of_a_socket_under_tls_than_its_share) {
    // Records of a multiple of what a read has room for, so that OpenSSL often has something left and we nothing.
    enum { ROOM = 1000, RECORD = 16 * ROOM, OVERHEAD = 22, LENGTH = 4000000, SHARE = 4 };
    rig_setup setup = rig_defaults();
    setup.server_tls = tls_server_rules("server", NULL);
    setup.takes_exchanges = true;
    setup.server.stream_window_bytes = ROOM;
    rig *rig = rig_start(&setup);
    size_t length;
    char *text = text_of("POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n", LENGTH, "", 0, &length);
    client client = client_begin(rig, text, length - LENGTH);
    REQUIRE(SSL_set_max_send_fragment(client.ssl, RECORD - OVERHEAD) == 1);
    UNTIL(rig, client_move(&client) && rig->exchange_count == 1);
    client.length = length;
    unsigned long most = 0;
    for (int i = 0; i < 400; i++) {
        client_move(&client);
        unsigned long before = tls_socket_reads;
        rig_turn(rig);
        if (tls_socket_reads - before > most) most = tls_socket_reads - before;
    }
    EXPECT(rig_exchange(rig)->body_length > 100 * ROOM);
    EXPECT_EQUAL(most, SHARE);
    client_end(&client);
    tls_end(rig);
}

/// Calls of SSL_shutdown.
static unsigned shutdowns;
int __real_SSL_shutdown(SSL *ssl);
int __wrap_SSL_shutdown(SSL *ssl);
int __wrap_SSL_shutdown(SSL *ssl) {
    shutdowns += 1;
    return __real_SSL_shutdown(ssl);
}

TEST(h1_tls_that_has_failed_is_not_shut_down) {
    static const char forged[5 + 32] = "\x17\x03\x03\x00\x20";
    rig *rig = start();
    for (int is_forged = 0; is_forged < 2; is_forged++) {
        size_t length, before = rig->exchange_count;
        char *text = text_of("", 0, "GET /now HTTP/1.1\r\nHost: a\r\n\r\n", 1, &length);
        client client = client_begin(rig, text, length);
        UNTIL(rig, client_move(&client) && rig->exchange_count == before + 1 && client.answers == 1);
        shutdowns = 0;
        if (is_forged) raw_send(client.raw, forged, sizeof forged);
        if (!is_forged) raw_close(client.raw, false);
        UNTIL(rig, crpc_listener_connection_count(rig->listener) == 0);
        EXPECT_EQUAL(shutdowns, is_forged ? 0 : 1);
        client_end(&client);
    }
    tls_end(rig);
}
