#include "tls/tls_filter.h"

#include "crpc_error.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

// `coded` is what OpenSSL has not taken of what was read. It lies in a shared buffer, so it is used up before another
// connection reads: OpenSSL holds on to a record that is not whole by itself.

// ---- Between OpenSSL and the socket ----

static int tls_read_coded(BIO *bio, char *target, int length) {
    crpc_tls_filter *filter = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t count = (size_t)length < filter->coded_length ? (size_t)length : filter->coded_length;
    if (count == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(target, filter->coded, count);
    filter->coded += count;
    filter->coded_length -= count;
    return (int)count;
}

static int tls_write_coded(BIO *bio, const char *bytes, int length) {
    const crpc_tls_filter *filter = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t count = send(filter->fd, bytes, (size_t)length, MSG_NOSIGNAL);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) BIO_set_retry_write(bio);
    return (int)count;
}

static long tls_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH; // nothing is held back
}

/// The functions above, made once and kept. NULL without memory.
static BIO_METHOD *tls_socket_method(void) {
    static _Atomic(BIO_METHOD *) made;
    BIO_METHOD *method = atomic_load(&made);
    if (method != NULL) return method;
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "the socket of a connection");
    bool is_whole = method != NULL && BIO_meth_set_read(method, tls_read_coded) == 1 &&
                    BIO_meth_set_write(method, tls_write_coded) == 1 && BIO_meth_set_ctrl(method, tls_control) == 1;
    BIO_METHOD *before = NULL;
    if (is_whole && atomic_compare_exchange_strong(&made, &before, method)) return method;
    BIO_meth_free(method);
    return before; // another thread's, which was faster
}

/// Messages of TLS that come once the connection is open: keys that change, tickets, handshakes begun anew, which we
/// answer with an alert. They cost us keys to be derived, and the sender next to nothing.
static void tls_on_message(
    int is_ours, int version, int type, const void *bytes, size_t length, SSL *ssl, void *context) {
    (void)version;
    (void)bytes;
    (void)length;
    (void)ssl;
    crpc_tls_filter *filter = context;
    if (filter->is_open && type == (is_ours ? SSL3_RT_ALERT : SSL3_RT_HANDSHAKE)) filter->messages += 1;
}

int crpc_tls_filter_begin(
    crpc_tls_filter *filter, crpc_tls *tls, const char *name, int fd, uint8_t *buffer, size_t buffer_length) {
    SSL *ssl;
    int error = crpc_tls_begin(tls, name, &ssl);
    if (error != CRPC_OK) {
        ERR_clear_error();
        return error;
    }
    BIO_METHOD *method = tls_socket_method();
    BIO *bio = method == NULL ? NULL : BIO_new(method);
    if (bio == NULL) {
        SSL_free(ssl);
        return CRPC_ERROR_MEMORY;
    }
    BIO_set_data(bio, filter);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio); // takes it over
    SSL_set_msg_callback(ssl, tls_on_message);
    SSL_set_msg_callback_arg(ssl, filter);
    bool is_known = SSL_set_app_data(ssl, filter) == 1; // to who chooses the protocol
    if (!is_known) {
        SSL_free(ssl);
        return CRPC_ERROR_MEMORY;
    }
    *filter = (crpc_tls_filter){.ssl = ssl, .fd = fd, .buffer = buffer, .buffer_length = buffer_length};
    return CRPC_OK;
}

void crpc_tls_filter_end(crpc_tls_filter *filter) {
    if (filter->ssl == NULL) return;
    SSL_free(filter->ssl);
    filter->ssl = NULL;
    free(filter->coded_kept);
    ERR_clear_error();
}

// ---- Reading and writing ----

/// SSL_get_error looks at the thread's queue of errors, so this must be empty before each call, whatever left an error there.
static int tls_failure_of(crpc_tls_filter *filter, int outcome) {
    int error = SSL_get_error(filter->ssl, outcome);
    ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return CRPC_IO_WAITS;
    if (error == SSL_ERROR_ZERO_RETURN) return CRPC_IO_ENDED;
    filter->has_failed = true;
    return error == SSL_ERROR_SSL ? CRPC_IO_TLS_FAILED : CRPC_IO_FAILED;
}

/// Reads at most so much from the socket, once, unless something is left. Bytes that are there, or a failure.
static ssize_t tls_fetch(crpc_tls_filter *filter, size_t most) {
    if (filter->coded_length > 0) return (ssize_t)filter->coded_length;
    free(filter->coded_kept);
    filter->coded_kept = NULL;
    ssize_t count = crpc_socket_read(filter->fd, filter->buffer, most);
    if (count <= 0) return count;
    filter->coded = filter->buffer;
    filter->coded_length = (size_t)count;
    return count;
}

bool crpc_tls_has_more(const crpc_tls_filter *filter) {
    return filter->coded_length > 0 || (filter->ssl != NULL && SSL_pending(filter->ssl) > 0);
}

crpc_reading crpc_tls_read(
    crpc_tls_filter *filter, uint8_t *target, size_t room, uint32_t messages_max, bool drains) {
    enum { IDLE_READS_MAX = 8 };
    crpc_reading reading = {0};
    // No more than there is room for, so that next to nothing of it has to be kept.
    size_t most = room < filter->buffer_length ? room : filter->buffer_length;
    ssize_t fetched = drains ? CRPC_IO_WAITS : tls_fetch(filter, most);
    if (fetched <= 0 && !crpc_tls_has_more(filter)) {
        // A peer that closed without saying so in TLS: HTTP/2 knows by itself whether something is missing.
        return (crpc_reading){.has_failed = fetched != CRPC_IO_WAITS, .failure = (int)fetched};
    }
    int idle_reads = 0; // that took nothing, as one may that answers a KeyUpdate
    while (reading.length < room && crpc_tls_has_more(filter) && filter->messages <= messages_max) {
        size_t left = filter->coded_length;
        ERR_clear_error();
        int count = SSL_read(filter->ssl, target + reading.length, (int)(room - reading.length));
        if (count > 0) {
            reading.length += (size_t)count;
            continue;
        }
        reading.failure = tls_failure_of(filter, count);
        reading.has_failed = reading.failure != CRPC_IO_WAITS;
        // A record without data was taken, or the last one is not whole.
        if (reading.has_failed || filter->coded_length == 0) break;
        idle_reads = filter->coded_length < left ? 0 : idle_reads + 1;
        if (idle_reads <= IDLE_READS_MAX) continue;
        // It wants to write before it reads on: an answer to a second KeyUpdate, though the first one's waits for the socket.
        // Nobody needs that.
        reading.has_failed = true;
        reading.failure = CRPC_IO_TLS_FAILED;
        break;
    }
    reading.is_full = fetched == (ssize_t)most || crpc_tls_has_more(filter);
    return reading;
}

ssize_t crpc_tls_write(crpc_tls_filter *filter, const uint8_t *bytes, size_t length) {
    ERR_clear_error();
    int count = SSL_write(filter->ssl, bytes, (int)length);
    return count > 0 ? count : tls_failure_of(filter, count);
}

/// Keeps what was read and not taken until the socket takes what must go out before it. False without memory.
static bool tls_keep_coded(crpc_tls_filter *filter) {
    if (filter->coded_length == 0 || filter->coded_kept != NULL) return true;
    filter->coded_kept = malloc(filter->coded_length);
    if (filter->coded_kept == NULL) return false;
    memcpy(filter->coded_kept, filter->coded, filter->coded_length);
    filter->coded = filter->coded_kept;
    return true;
}

int crpc_tls_hold(crpc_tls_filter *filter) { return tls_keep_coded(filter) ? CRPC_OK : CRPC_ERROR_MEMORY; }

crpc_handshake crpc_tls_shake_hands(crpc_tls_filter *filter, bool is_readable) {
    enum { HANDSHAKE_READ_MAX = 16384 }; // what is behind the handshake may have to be kept for a while
    ssize_t fetched = is_readable ? tls_fetch(filter, HANDSHAKE_READ_MAX) : CRPC_IO_WAITS;
    if (fetched <= 0 && fetched != CRPC_IO_WAITS) return CRPC_HANDSHAKE_FAILED;
    size_t left;
    int outcome, error;
    do { // it may stop between two records
        left = filter->coded_length;
        ERR_clear_error();
        outcome = SSL_do_handshake(filter->ssl);
        error = SSL_get_error(filter->ssl, outcome);
    } while (error == SSL_ERROR_WANT_READ && filter->coded_length > 0 && filter->coded_length < left);
    ERR_clear_error();
    if (outcome == 1) {
        filter->is_open = true;
        return CRPC_HANDSHAKE_DONE;
    }
    if (error == SSL_ERROR_WANT_READ && filter->coded_length == 0) return CRPC_HANDSHAKE_READS;
    if (error == SSL_ERROR_WANT_WRITE && tls_keep_coded(filter)) return CRPC_HANDSHAKE_WRITES;
    filter->has_failed = true;
    return CRPC_HANDSHAKE_FAILED;
}

bool crpc_tls_speaks_http2(const crpc_tls_filter *filter) {
    const unsigned char *protocol;
    unsigned int length;
    SSL_get0_alpn_selected(filter->ssl, &protocol, &length);
    return length == 2 && memcmp(protocol, "h2", 2) == 0;
}

bool crpc_tls_awaits_peer(const crpc_tls_filter *filter) { return SSL_want_read(filter->ssl); }

void crpc_tls_close(crpc_tls_filter *filter) {
    if (!filter->has_failed) (void)SSL_shutdown(filter->ssl);
}

void crpc_tls_peer_names(
    const crpc_tls_filter *filter, int names_max, void (*each)(void *context, const char *name, size_t length),
    void *context) {
    if (filter->ssl == NULL || SSL_get_verify_result(filter->ssl) != X509_V_OK) return;
    X509 *certificate = SSL_get1_peer_certificate(filter->ssl);
    if (certificate == NULL) return;
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    int count = sk_GENERAL_NAME_num(names); // -1 for NULL
    for (int i = 0, told = 0; i < count && told < names_max; i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type != GEN_DNS && name->type != GEN_URI) continue;
        const ASN1_STRING *text = name->d.ia5;
        each(context, (const char *)ASN1_STRING_get0_data(text), (size_t)ASN1_STRING_length(text));
        told += 1;
    }
    GENERAL_NAMES_free(names);
    X509_free(certificate);
}
