/// A loop, a listener on it and clients of it, all in this thread, with a record of every callback.
///
/// What crpc.h promises of callbacks is checked in each of them: the right thread, none from inside a function that was
/// called, none after an object's closing one. `rig_end` checks that each closing one came, once, and that no file
/// descriptor is left.
#ifndef CRPC_TEST_RIG_H
#define CRPC_TEST_RIG_H

#include "layer.h"
#include "test.h"

/// What the server does with a call; the index of its path.
enum {
    METHOD_UNARY,   // answers with the request's message, once the request has ended
    METHOD_STREAM,  // answers each message with itself, and ends when the request does
    METHOD_HOLD,    // nothing: the test says what
    METHOD_REFUSED, // takes no call
    METHOD_COUNT
};
extern const char *const rig_paths[METHOD_COUNT];

enum { RIG_CALLS_MAX = 2048, RIG_PEERS_MAX = 256, RIG_LENGTHS_MAX = 64, RIG_TEXT_MAX = 4096, RIG_PATIENCE_MS = 10000 };
enum { RIG_INFLATED_MAX = 1 << 20, RIG_EXCHANGES_MAX = 512 };

typedef struct rig rig;

/// One side's view of a connection.
typedef struct peer {
    rig *rig;
    crpc_connection *connection; // NULL once closed
    bool is_server;
    unsigned opens, drainings, closes;
    int error;
    bool sends_gzip; // the heads of its calls say so, and their messages are compressed
} peer;

/// One side's view of a call.
typedef struct call {
    rig *rig;
    peer *peer;
    crpc_stream *stream; // NULL once closed
    bool is_server;
    uint32_t method;
    uint64_t deadline_ns;
    unsigned headers, messages, half_closes, writables, deadlines, closes;
    bool is_last_told;
    crpc_handlers *handlers; // server; NULL once its handler has ended
    bool outlives_stream;    // its handler: the test says when it ends
    bool accepts_gzip, sends_gzip;
    unsigned compressed; // messages that came so
    uint8_t *received; // messages, one after the other
    size_t received_length;
    size_t message_lengths[RIG_LENGTHS_MAX];
    uint8_t *head, *trailers; // metadata, packed
    size_t head_length, trailers_length;
    // Server
    uint32_t error;
    // Client
    int status;
    bool is_from_server, is_unprocessed;
    char text[RIG_TEXT_MAX];
    size_t text_length;
} call;

typedef enum rig_event {
    EVENT_CALL, EVENT_HEADERS, EVENT_MESSAGE, EVENT_HALF_CLOSE, EVENT_WRITABLE, EVENT_DEADLINE, EVENT_CLOSE,
} rig_event;

/// How a rig is made. `rig_defaults` fills it.
typedef struct rig_setup {
    crpc_limits server, client;
    crpc_tls *server_tls, *client_tls;
    const char *address, *tls_name;
    uint32_t calls_max, connections_max, handshakes_max, connections_per_address_max;
    bool has_no_listener;
    bool outlive_streams; // the server's handlers, until the test ends them or the rig ends
    uint64_t held_bytes_max;
    crpc_call_table *calls; // a row for each path and one more, or NULL
    bool takes_exchanges;   // rig_exchanges.h
    const char *const *names;
    uint32_t name_count;
    bool checks_names;
    const crpc_proxy_network *proxies;
    size_t proxy_count;
} rig_setup;

struct rig {
    rig_setup setup;
    crpc_loop *loop;
    crpc_listener *listener;
    uint16_t port;
    peer *server_peers[RIG_PEERS_MAX], *client_peers[RIG_PEERS_MAX];
    call *server_calls[RIG_CALLS_MAX], *client_calls[RIG_CALLS_MAX];
    struct exchange *exchanges[RIG_EXCHANGES_MAX]; // rig_exchanges.h
    size_t server_peer_count, client_peer_count, server_call_count, client_call_count, exchange_count;
    int api_depth;         // inside functions of the layer
    bool is_freeing;       // whose callbacks may come from inside
    int last_error;        // of the last function that failed
    unsigned jobs;
    int file_count;        // of the process, before
    /// Called at the end of each callback of a call.
    void (*react)(call *call, rig_event event);
    void *note; // for `react`
};

extern const crpc_server_callbacks rig_server_callbacks;
extern const crpc_client_callbacks rig_client_callbacks;

rig_setup rig_defaults(void);
rig *rig_start(const rig_setup *setup);
/// The same, but gives back the error where the loop or the listener cannot be made.
int rig_try_start(const rig_setup *setup, rig **result);
/// Closes all there is, checks what must be true of every end, frees.
void rig_end(rig *rig);
/// Those, and what rig_exchanges.h tells.
const crpc_server_callbacks *rig_callbacks_with_exchanges(void);
/// What of exchanges must be so at the end. Frees them.
void rig_free_exchanges(rig *rig);
/// Runs one turn of the loop, which waits a millisecond for something to happen.
void rig_turn(rig *rig);
void rig_run_ms(rig *rig, unsigned ms);
uint64_t now_ms(void);

/// Runs the loop until the condition is so; the test fails if that takes too long.
#define UNTIL(rig, condition) \
    do { \
        uint64_t until_ = now_ms() + RIG_PATIENCE_MS; \
        while (!(condition) && now_ms() < until_) rig_turn(rig); \
        REQUIRE(condition); \
    } while (0)

/// A client's connection to the rig's listener, or to another port. NULL on errors.
peer *rig_connect(rig *rig);
peer *rig_connect_to(rig *rig, uint16_t port);
/// A connection that is open on both sides.
peer *rig_open(rig *rig);
/// The server's side of the newest connection.
peer *rig_server_peer(rig *rig);
void peer_close(peer *peer);
void peer_drain(peer *peer);
void rig_drain(rig *rig);
void rig_free_listener(rig *rig);

/// Opens a call; 0 ms for no deadline. NULL on errors.
call *call_open(peer *peer, uint32_t method, uint32_t timeout_ms);
call *call_open_with(
    peer *peer, const char *path, uint64_t deadline_ns, const uint8_t *metadata, size_t metadata_length);
/// Opens a call, sends a message, half-closes.
call *call_unary(peer *peer, uint32_t method, const char *text);
int call_send(call *call, const void *bytes, size_t length);
int call_send_text(call *call, const char *text);
/// The messages that the server sends on a call are compressed.
int call_set_gzip(call *call);
int call_send_headers(call *call, const uint8_t *metadata, size_t length);
int call_finish(call *call, int code, const char *message);
int call_finish_with(call *call, const crpc_status *status);
int call_half_close(call *call);
void call_reset(call *call, uint32_t error);
void call_consume(call *call, size_t length);
void call_consume_manually(call *call);
/// The call's handler ends. For those that outlive their stream; others end with it.
void call_end_handler(call *call);
/// The server's side of the newest call.
call *rig_server_call(rig *rig);

/// Appends an entry to a block; the block's new length.
size_t metadata_add(uint8_t *block, size_t length, const char *name, const char *value);
bool metadata_has(const uint8_t *block, size_t length, const char *name, const char *value);
size_t metadata_count(const uint8_t *block, size_t length);

#endif
