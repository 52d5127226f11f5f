/// Certificates and rules of TLS, shared by connections. Reference-counted through OpenSSL; made on any thread.
#ifndef CRPC_TLS_H
#define CRPC_TLS_H

#include <stddef.h>
#include <stdint.h>

typedef struct crpc_tls crpc_tls;

/// Where the certificates are: PEM files. NULL where there is none.
typedef struct crpc_tls_files {
    /// Our certificate and its intermediates.
    const char *certificate_chain;
    /// Our private key.
    const char *private_key;
    /// The authorities that the peer's certificate must come from. NULL on a client means the system's; on a server it
    /// means that no certificate is asked for.
    const char *authorities;
} crpc_tls_files;

/// Room for the explanation of an error.
enum { CRPC_TLS_REASON_LENGTH = 256 };

/// Makes a server's rules: TLS 1.2 or 1.3; ALPN `h2` required or, where the listener takes exchanges, `http/1.1`, `http/1.0`
/// or none; a client certificate is required if `authorities` is given. Errors: ARGUMENT (no certificate or no key), TLS, MEMORY; `reason` then says which file and why, without
/// anything secret.
int crpc_tls_server_new(const crpc_tls_files *files, char reason[CRPC_TLS_REASON_LENGTH], crpc_tls **result);

/// Makes a client's rules: as above; the server's certificate is verified and must be for the host connected to.
int crpc_tls_client_new(const crpc_tls_files *files, char reason[CRPC_TLS_REASON_LENGTH], crpc_tls **result);

/// Drops the caller's reference; connections keep theirs. Any thread.
void crpc_tls_free(crpc_tls *tls);

#endif
