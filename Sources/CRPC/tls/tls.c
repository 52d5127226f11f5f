#include "tls/tls.h"

#include "crpc_error.h"
#include "tls/tls_filter.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// What a server agrees to, the first of these that the client offers; a client offers the first one alone.
static const unsigned char tls_alpn[] = {
    2, 'h', '2',                               //
    8, 'h', 't', 't', 'p', '/', '1', '.', '1', //
    8, 'h', 't', 't', 'p', '/', '1', '.', '0', // what speaks HTTP/1.0 offers it alone
};
enum { TLS_ALPN_HTTP2_LENGTH = 3 };

static int tls_choose_alpn(
    SSL *ssl, const unsigned char **chosen, unsigned char *chosen_length, const unsigned char *offered,
    unsigned int offered_length, void *context) {
    (void)context;
    const crpc_tls_filter *filter = SSL_get_app_data(ssl);
    unsigned int length = filter->takes_http1 ? sizeof tls_alpn : TLS_ALPN_HTTP2_LENGTH;
    unsigned char *found;
    int outcome = SSL_select_next_proto(&found, chosen_length, tls_alpn, length, offered, offered_length);
    if (outcome != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

/// A key that is encrypted cannot be used: without this OpenSSL would ask on the terminal for its password, and wait.
static int tls_have_no_password(char *buffer, int size, int is_written, void *context) {
    (void)buffer;
    (void)size;
    (void)is_written;
    (void)context;
    return -1;
}

static void tls_explain(char reason[CRPC_TLS_REASON_LENGTH], const char *what, const char *file) {
    // The first one says what happened; those after it only who passed it on.
    unsigned long code = ERR_peek_error();
    const char *text = ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);
    (void)snprintf(
        reason, CRPC_TLS_REASON_LENGTH, "%s %s: %s", what, file, text == NULL ? "unknown error" : text);
    ERR_clear_error();
}

static int tls_load_files(SSL_CTX *context, const crpc_tls_files *files, char reason[CRPC_TLS_REASON_LENGTH]) {
    if (files->certificate_chain != NULL &&
        SSL_CTX_use_certificate_chain_file(context, files->certificate_chain) != 1) {
        tls_explain(reason, "certificate", files->certificate_chain);
        return CRPC_ERROR_TLS;
    }
    if (files->private_key != NULL &&
        (SSL_CTX_use_PrivateKey_file(context, files->private_key, SSL_FILETYPE_PEM) != 1 ||
         SSL_CTX_check_private_key(context) != 1)) {
        tls_explain(reason, "private key", files->private_key);
        return CRPC_ERROR_TLS;
    }
    if (files->authorities != NULL && SSL_CTX_load_verify_locations(context, files->authorities, NULL) != 1) {
        tls_explain(reason, "authorities", files->authorities);
        return CRPC_ERROR_TLS;
    }
    return CRPC_OK;
}

static int tls_make(
    const SSL_METHOD *method, const crpc_tls_files *files, char reason[CRPC_TLS_REASON_LENGTH], crpc_tls **result) {
    (void)snprintf(reason, CRPC_TLS_REASON_LENGTH, "out of memory");
    ERR_clear_error();
    crpc_tls *tls = calloc(1, sizeof *tls);
    if (tls == NULL) return CRPC_ERROR_MEMORY;
    tls->context = SSL_CTX_new(method);
    if (tls->context == NULL) {
        free(tls);
        return CRPC_ERROR_MEMORY;
    }
    (void)SSL_CTX_set_mode(
        tls->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    // A read ends with a record that brings no data, so that it is looked at in between whether there were too many.
    (void)SSL_CTX_clear_mode(tls->context, SSL_MODE_AUTO_RETRY);
    // Of TLS 1.2; who comes back with a ticket needs no place in memory.
    (void)SSL_CTX_set_session_cache_mode(tls->context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_default_passwd_cb(tls->context, tls_have_no_password);
    (void)SSL_CTX_set_options(tls->context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    int error = SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION) == 1 ? CRPC_OK : CRPC_ERROR_TLS;
    if (error == CRPC_OK) error = tls_load_files(tls->context, files, reason);
    if (error != CRPC_OK) {
        crpc_tls_free(tls);
        return error;
    }
    *result = tls;
    return CRPC_OK;
}

int crpc_tls_server_new(const crpc_tls_files *files, char reason[CRPC_TLS_REASON_LENGTH], crpc_tls **result) {
    if (files->certificate_chain == NULL || files->private_key == NULL) {
        (void)snprintf(reason, CRPC_TLS_REASON_LENGTH, "a server needs a certificate and a private key");
        return CRPC_ERROR_ARGUMENT;
    }
    int error = tls_make(TLS_server_method(), files, reason, result);
    if (error != CRPC_OK) return error;
    SSL_CTX *context = (*result)->context;
    SSL_CTX_set_alpn_select_cb(context, tls_choose_alpn, NULL);
    static const unsigned char session_context[] = "vestibule";
    bool ok = SSL_CTX_set_session_id_context(context, session_context, sizeof session_context - 1) == 1;
    if (ok && files->authorities != NULL) {
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
        STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(files->authorities);
        if (names != NULL) SSL_CTX_set_client_CA_list(context, names);
        ok = names != NULL;
        // A session that is taken up again would keep a client whose certificate has ended since: OpenSSL verifies it at whole
        // handshakes alone.
        (void)SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
        if (ok) ok = SSL_CTX_set_num_tickets(context, 0) == 1;
    }
    if (ok) return CRPC_OK;
    tls_explain(reason, "authorities", files->authorities == NULL ? "" : files->authorities);
    crpc_tls_free(*result);
    *result = NULL;
    return CRPC_ERROR_TLS;
}

int crpc_tls_client_new(const crpc_tls_files *files, char reason[CRPC_TLS_REASON_LENGTH], crpc_tls **result) {
    int error = tls_make(TLS_client_method(), files, reason, result);
    if (error != CRPC_OK) return error;
    SSL_CTX *context = (*result)->context;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    // SSL_CTX_set_alpn_protos returns 0 on success, unlike its neighbours.
    bool ok = SSL_CTX_set_alpn_protos(context, tls_alpn, TLS_ALPN_HTTP2_LENGTH) == 0;
    if (ok && files->authorities == NULL) ok = SSL_CTX_set_default_verify_paths(context) == 1;
    if (ok) return CRPC_OK;
    tls_explain(reason, "authorities", "of the system");
    crpc_tls_free(*result);
    *result = NULL;
    return CRPC_ERROR_TLS;
}

crpc_tls *crpc_tls_retain(crpc_tls *tls) {
    if (tls == NULL) return NULL;
    crpc_tls *copy = calloc(1, sizeof *copy);
    if (copy == NULL || SSL_CTX_up_ref(tls->context) != 1) {
        free(copy);
        return NULL;
    }
    copy->context = tls->context;
    return copy;
}

void crpc_tls_free(crpc_tls *tls) {
    if (tls == NULL) return;
    SSL_CTX_free(tls->context);
    free(tls);
}

int crpc_tls_begin(crpc_tls *tls, const char *name, SSL **result) {
    SSL *ssl = SSL_new(tls->context);
    if (ssl == NULL) return CRPC_ERROR_MEMORY;
    if (name == NULL) {
        SSL_set_accept_state(ssl);
    } else {
        SSL_set_connect_state(ssl);
        // RFC 9525 section 6.3: a wildcard stands for a whole label.
        SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        // An address in digits is checked as one; a name is also sent as SNI (RFC 6066 section 3 allows names only).
        bool ok = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1 ||
                  (SSL_set1_host(ssl, name) == 1 && SSL_set_tlsext_host_name(ssl, name) == 1);
        if (!ok) {
            SSL_free(ssl);
            return CRPC_ERROR_TLS;
        }
    }
    *result = ssl;
    return CRPC_OK;
}
