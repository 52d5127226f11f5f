/// The inside of `crpc_tls`: OpenSSL's context. Any thread; OpenSSL counts its references.
#ifndef CRPC_TLS_CONTEXT_H
#define CRPC_TLS_CONTEXT_H

#include "crpc_tls.h"

#include <openssl/ssl.h>

struct crpc_tls {
    SSL_CTX *context;
};

/// Makes a connection's TLS state, which is the caller's; `name` is NULL on a server. Errors: TLS, MEMORY.
int crpc_tls_begin(crpc_tls *tls, const char *name, SSL **result);
/// Takes another reference, to be dropped with `crpc_tls_free`. NULL for NULL, and without memory.
crpc_tls *crpc_tls_retain(crpc_tls *tls);

#endif
