#include "internal.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <sys/socket.h>

// TLS between the socket and the session. OpenSSL never reads from the socket: it gets what one read brought, and nothing
// more in that call. Left to read by itself it stays in one call for as long as a peer sends records without data
// (KeyUpdate, RFC 8446 section 4.6.3; a ClientHello anew in TLS 1.2), which would stop the loop with all its timers. It
// also makes one read of a wake-up of what would be three: a record's head, its body, and the answer that there is no more.
//
// `coded` is what OpenSSL has not taken of what was read. It lies in a buffer of the loop, so it is used up before another
// connection reads: OpenSSL holds on to a record that is not whole by itself.

// ---- Between OpenSSL and the socket ----

static int read_coded(BIO *bio, char *target, int length) {
    crpc_connection *connection = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t count = (size_t)length < connection->coded_length ? (size_t)length : connection->coded_length;
    if (count == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(target, connection->coded, count);
    connection->coded += count;
    connection->coded_length -= count;
    return (int)count;
}

static int write_coded(BIO *bio, const char *bytes, int length) {
    const crpc_connection *connection = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t count = send(connection->fd, bytes, (size_t)length, MSG_NOSIGNAL);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) BIO_set_retry_write(bio);
    return (int)count;
}

static long control(BIO *bio, int command, long number, void *pointer) {
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH; // nothing is held back
}

/// The functions above, made once and kept. NULL without memory.
static BIO_METHOD *socket_method(void) {
    static _Atomic(BIO_METHOD *) made;
    BIO_METHOD *method = atomic_load(&made);
    if (method != NULL) return method;
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "the socket of a connection");
    bool is_whole = method != NULL && BIO_meth_set_read(method, read_coded) == 1 &&
                    BIO_meth_set_write(method, write_coded) == 1 && BIO_meth_set_ctrl(method, control) == 1;
    BIO_METHOD *before = NULL;
    if (is_whole && atomic_compare_exchange_strong(&made, &before, method)) return method;
    BIO_meth_free(method);
    return before; // another thread's, which was faster
}

/// Messages of TLS that come once the connection is open: keys that change, tickets, handshakes begun anew, which we
/// answer with an alert. They cost us keys to be derived, and the sender next to nothing.
static void on_message(
    int is_ours, int version, int type, const void *bytes, size_t length, SSL *ssl, void *context) {
    (void)version;
    (void)bytes;
    (void)length;
    (void)ssl;
    crpc_connection *connection = context;
    if (connection->phase != CRPC_OPEN || type != (is_ours ? SSL3_RT_ALERT : SSL3_RT_HANDSHAKE)) return;
    (void)crpc_guard_charge(connection, CRPC_COST_TLS); // reading looks whether it was too much
}

int crpc_tls_attach(crpc_connection *connection, crpc_tls *tls, const char *name) {
    SSL *ssl;
    int error = crpc_tls_begin(tls, name, &ssl);
    if (error != CRPC_OK) {
        ERR_clear_error();
        return error;
    }
    BIO_METHOD *method = socket_method();
    BIO *bio = method == NULL ? NULL : BIO_new(method);
    if (bio == NULL) {
        SSL_free(ssl);
        return CRPC_ERROR_MEMORY;
    }
    BIO_set_data(bio, connection);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio); // takes it over
    SSL_set_msg_callback(ssl, on_message);
    SSL_set_msg_callback_arg(ssl, connection);
    connection->ssl = ssl;
    return CRPC_OK;
}

void crpc_tls_detach(crpc_connection *connection) {
    if (connection->ssl == NULL) return;
    SSL_free(connection->ssl);
    connection->ssl = NULL;
    free(connection->coded_kept);
    ERR_clear_error();
}

// ---- Reading and writing ----

/// SSL_get_error looks at the thread's queue of errors, so this must be empty before each call, whoever left one there.
static int failure_of(const crpc_connection *connection, int outcome) {
    int error = SSL_get_error(connection->ssl, outcome);
    ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return CRPC_IO_WAITS;
    if (error == SSL_ERROR_ZERO_RETURN) return CRPC_IO_ENDED;
    return error == SSL_ERROR_SSL ? CRPC_IO_TLS_FAILED : CRPC_IO_FAILED;
}

/// Reads from the socket once, unless something is left. Bytes that are there, or a failure.
static ssize_t fetch(crpc_connection *connection) {
    if (connection->coded_length > 0) return (ssize_t)connection->coded_length;
    free(connection->coded_kept);
    connection->coded_kept = NULL;
    ssize_t count = crpc_socket_read(connection->fd, connection->loop->coded_buffer, CRPC_READ_BUFFER);
    if (count <= 0) return count;
    connection->coded = connection->loop->coded_buffer;
    connection->coded_length = (size_t)count;
    return count;
}

bool crpc_tls_has_more(const crpc_connection *connection) {
    return connection->coded_length > 0 || (connection->ssl != NULL && SSL_pending(connection->ssl) > 0);
}

crpc_reading crpc_tls_read(crpc_connection *connection, uint8_t *target, size_t room) {
    enum { IDLE_READS_MAX = 8 };
    crpc_reading reading = {0};
    ssize_t fetched = fetch(connection);
    if (fetched <= 0 && SSL_pending(connection->ssl) == 0) {
        // A peer that closed without saying so in TLS: HTTP/2 knows by itself whether something is missing.
        return (crpc_reading){.has_failed = fetched != CRPC_IO_WAITS, .failure = (int)fetched};
    }
    int idle_reads = 0; // that took nothing, as one may that answers a KeyUpdate
    while (reading.length < room && crpc_tls_has_more(connection) && !connection->is_broken) {
        size_t left = connection->coded_length;
        ERR_clear_error();
        int count = SSL_read(connection->ssl, target + reading.length, (int)(room - reading.length));
        if (count > 0) {
            reading.length += (size_t)count;
            continue;
        }
        reading.failure = failure_of(connection, count);
        reading.has_failed = reading.failure != CRPC_IO_WAITS;
        // A record without data was taken, or the last one is not whole.
        if (reading.has_failed || connection->coded_length == 0) break;
        idle_reads = connection->coded_length < left ? 0 : idle_reads + 1;
        if (idle_reads <= IDLE_READS_MAX) continue;
        // It wants to write before it reads on: an answer to a second KeyUpdate, though the first one's waits for the socket.
        // Nobody needs that.
        reading.has_failed = true;
        reading.failure = CRPC_IO_TLS_FAILED;
        break;
    }
    reading.is_full = fetched == CRPC_READ_BUFFER || crpc_tls_has_more(connection);
    return reading;
}

ssize_t crpc_tls_write(crpc_connection *connection, const uint8_t *bytes, size_t length) {
    ERR_clear_error();
    int count = SSL_write(connection->ssl, bytes, (int)length);
    return count > 0 ? count : failure_of(connection, count);
}

/// Keeps what was read and not taken until the socket takes what must go out before it. False without memory.
static bool keep_coded(crpc_connection *connection) {
    if (connection->coded_length == 0 || connection->coded_kept != NULL) return true;
    connection->coded_kept = malloc(connection->coded_length);
    if (connection->coded_kept == NULL) return false;
    memcpy(connection->coded_kept, connection->coded, connection->coded_length);
    connection->coded = connection->coded_kept;
    return true;
}

crpc_handshake crpc_tls_shake_hands(crpc_connection *connection, bool is_readable) {
    ssize_t fetched = is_readable ? fetch(connection) : CRPC_IO_WAITS;
    if (fetched <= 0 && fetched != CRPC_IO_WAITS) return CRPC_HANDSHAKE_FAILED;
    size_t left;
    int outcome, error;
    do { // it may stop between two records
        left = connection->coded_length;
        ERR_clear_error();
        outcome = SSL_do_handshake(connection->ssl);
        error = SSL_get_error(connection->ssl, outcome);
    } while (error == SSL_ERROR_WANT_READ && connection->coded_length > 0 && connection->coded_length < left);
    ERR_clear_error();
    if (outcome == 1) return CRPC_HANDSHAKE_DONE;
    if (error == SSL_ERROR_WANT_READ && connection->coded_length == 0) return CRPC_HANDSHAKE_READS;
    return error == SSL_ERROR_WANT_WRITE && keep_coded(connection) ? CRPC_HANDSHAKE_WRITES : CRPC_HANDSHAKE_FAILED;
}
