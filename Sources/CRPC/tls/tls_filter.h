/// TLS over a socket: what is read is decrypted, what is written is encrypted. It knows nothing of what is above it.
///
/// Part of its owner, on the loop's thread; no callback. OpenSSL never reads from the socket: it gets what one read brought,
/// and nothing more in that call. Left to read by itself it stays in one call for as long as a peer sends records without
/// data (KeyUpdate, RFC 8446 section 4.6.3; a ClientHello anew in TLS 1.2), which would stop the loop with all its timers.
/// It also makes one read of a wake-up of what would be three: a record's head, its body, and the answer that there is no
/// more.
#ifndef CRPC_TLS_FILTER_H
#define CRPC_TLS_FILTER_H

#include "loop/sockets.h"
#include "tls/tls.h"

/// Zeros are a filter that is not there: a connection in clear text.
typedef struct crpc_tls_filter {
    SSL *ssl;
    int fd;
    uint8_t *buffer;      // for one read; shared with others, so nothing stays in it
    size_t buffer_length;
    const uint8_t *coded; // what was read and OpenSSL has not taken
    size_t coded_length;
    uint8_t *coded_kept;  // the memory that it is in, if that is not the buffer
    uint32_t messages;    // that came or went since the handshake, which cost keys; the owner sets it to 0
    bool is_open;         // the handshake is done
    bool has_failed;      // for good: nothing more may be asked of OpenSSL, SSL_shutdown neither
    bool takes_http1;     // server: HTTP/1.1 may be agreed on as well; the owner sets it
} crpc_tls_filter;

/// What a read came to: bytes, and what came after them.
typedef struct crpc_reading {
    size_t length;
    bool has_failed, is_full; // more may be there
    int failure;              // CRPC_IO_…, if it has failed
} crpc_reading;

typedef enum crpc_handshake {
    CRPC_HANDSHAKE_DONE, CRPC_HANDSHAKE_READS, CRPC_HANDSHAKE_WRITES, CRPC_HANDSHAKE_FAILED
} crpc_handshake;

/// Begins TLS on a socket, which stays the owner's; it and `buffer` outlive the filter, which must not move. `name` is
/// whom the server's certificate must be for; NULL on a server. Errors: TLS, MEMORY; then it is not there.
int crpc_tls_filter_begin(
    crpc_tls_filter *filter, crpc_tls *tls, const char *name, int fd, uint8_t *buffer, size_t buffer_length);
/// Frees what it holds, if it is there.
void crpc_tls_filter_end(crpc_tls_filter *filter);

/// Goes on with the handshake. Once it is done `crpc_tls_has_more` says whether bytes came behind it, to be read at once.
crpc_handshake crpc_tls_shake_hands(crpc_tls_filter *filter, bool is_readable);
/// Whether HTTP/2 was agreed on (ALPN).
bool crpc_tls_speaks_http2(const crpc_tls_filter *filter);
/// Reads from the socket once, unless bytes of the last time are left or `drains`, and decrypts. It stops once more than so many
/// messages were counted. `drains`: the connection has had its share of the turn, and only what is here already is taken.
crpc_reading crpc_tls_read(
    crpc_tls_filter *filter, uint8_t *target, size_t room, uint32_t messages_max, bool drains);
/// Whether OpenSSL has something without another read.
bool crpc_tls_has_more(const crpc_tls_filter *filter);
/// Keeps what was read and not taken, where its owner does not go on reading: the buffer is others', too. At most the buffer's
/// length. Errors: MEMORY.
int crpc_tls_hold(crpc_tls_filter *filter);
/// Bytes written, or CRPC_IO_….
ssize_t crpc_tls_write(crpc_tls_filter *filter, const uint8_t *bytes, size_t length);
/// Whether it cannot write on before the rest of a message of the peer has come.
bool crpc_tls_awaits_peer(const crpc_tls_filter *filter);
/// Says close_notify, if the socket takes it and TLS has not failed: SSL_shutdown must not follow a fatal error.
void crpc_tls_close(crpc_tls_filter *filter);
/// As `crpc_connection_peer_names`.
void crpc_tls_peer_names(
    const crpc_tls_filter *filter, int names_max, void (*each)(void *context, const char *name, size_t length),
    void *context);

#endif
