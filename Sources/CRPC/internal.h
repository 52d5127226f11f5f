/// Long because all files of this layer share these structures.
/// What the files of this layer share and nobody else sees.
#ifndef CRPC_INTERNAL_H
#define CRPC_INTERNAL_H

#include "include/crpc.h"

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

// ---- Loop ----

/// Bytes read from a socket at a time, into a buffer that all connections of a loop share.
enum { CRPC_READ_BUFFER = 65536 };
/// Bytes gathered before a write, and room for the frame that goes past it.
enum { CRPC_WRITE_BUFFER = 65536, CRPC_WRITE_SLACK = 32768 };
/// Events taken from epoll at a time.
enum { CRPC_EVENTS_MAX = 256 };

/// A doubly linked list through its elements.
typedef struct crpc_link {
    struct crpc_link *previous, *next;
} crpc_link;

static inline void crpc_link_init(crpc_link *link) { link->previous = link->next = link; }
static inline bool crpc_link_is_empty(const crpc_link *link) { return link->next == link; }
static inline void crpc_link_remove(crpc_link *link) {
    link->previous->next = link->next;
    link->next->previous = link->previous;
    crpc_link_init(link);
}
static inline void crpc_link_append(crpc_link *list, crpc_link *link) {
    link->previous = list->previous;
    link->next = list;
    list->previous->next = link;
    list->previous = link;
}
#define CRPC_CONTAINER(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

struct crpc_watch {
    crpc_loop *loop;
    crpc_watch_function function; // NULL once freed
    void *context;
    int fd;
    int interest;
    crpc_link link; // in loop->freed_watches once freed
};

struct crpc_timer {
    crpc_loop *loop;
    crpc_function function;
    void *context;
    uint64_t due_ns;
    size_t index; // in loop->timers; SIZE_MAX if not set
};

struct crpc_hook {
    crpc_loop *loop;
    crpc_function function;
    void *context;
    crpc_link link;
};

typedef struct crpc_mail {
    struct crpc_mail *next;
    crpc_function function; // NULL for a job
    void *context;
} crpc_mail;

struct crpc_loop {
    crpc_job_function run_job;
    void *context;
    int epoll_fd;
    int wake_fd;
    _Atomic(bool) stopping;
    _Atomic(bool) sleeping;
    _Atomic(bool) is_at_rest; // it has ended, and nobody stands in for its thread now
    _Atomic(crpc_mail *) mail;
    uint64_t now_ns;
    uint64_t stamp_ns; // the clock as read last in this turn
    crpc_loop_stats stats;
    // Jobs: a ring whose capacity is a power of two.
    void **jobs;
    size_t job_capacity, job_head, job_count;
    // Timers: a binary heap by due time.
    crpc_timer **timers;
    size_t timer_count, timer_capacity;
    crpc_link hooks;         // requested ones
    crpc_link dirty;         // connections with something to send
    crpc_link closing;       // connections to be freed
    crpc_link freed_watches; // freed at the end of the turn
    crpc_link lingering;     // sockets whose connection has ended
    uint32_t lingering_count;
    crpc_link listeners;
    crpc_link clients;       // clients' connections
    crpc_link handlers;      // counts of those whose listeners have ended
    unsigned callback_depth; // nonzero while a connection's callbacks may fire
    bool is_ending;          // it is being freed: no callback fires
    uint8_t *read_buffer;
    uint8_t *coded_buffer; // what one read of a connection with TLS brought; nothing stays in it
    uint8_t *plain_buffer; // what was read, with plain strings in its header blocks; nothing stays in it
    uint8_t *write_buffer; // where a connection's frames of one flush are gathered
};

/// Ends the process, for what must not happen.
_Noreturn void crpc_die(const char *why);

/// The monotonic clock, now.
uint64_t crpc_loop_clock_ns(void);
/// Adds to a counter that other threads read.
static inline void crpc_count(uint64_t *counter, uint64_t more) {
    __atomic_store_n(counter, *counter + more, __ATOMIC_RELAXED);
}
/// Counts a time in a histogram.
void crpc_count_time(uint64_t counts[CRPC_TIME_COUNTS], uint64_t ns);

/// Removes the due timers one by one and calls them.
void crpc_timers_run(crpc_loop *loop);
/// When the next timer is due; UINT64_MAX if none is set.
static inline uint64_t crpc_timers_next_ns(const crpc_loop *loop) {
    return loop->timer_count == 0 ? UINT64_MAX : loop->timers[0]->due_ns;
}

// ---- Sockets and TLS (socket.c, tls.c) ----

/// Connections that wait in the kernel to be accepted.
enum { CRPC_BACKLOG_MAX = 1024 };

/// Opens a listening socket. Errors: SYSTEM, ADDRESS_IN_USE, ARGUMENT.
int crpc_socket_listen(
    const char *address, uint16_t port, bool shared_port, bool joins_port, int *fd, uint16_t *bound_port);
/// Begins to connect. Errors: SYSTEM, ARGUMENT.
int crpc_socket_connect(const char *address, uint16_t port, int *fd);
/// Writes an address as text.
void crpc_socket_write_peer(const struct sockaddr_storage *address, char text[CRPC_ADDRESS_LENGTH]);

/// What reading and writing come to where no bytes go.
enum { CRPC_IO_ENDED = 0, CRPC_IO_WAITS = -1, CRPC_IO_FAILED = -2, CRPC_IO_TLS_FAILED = -3 };

/// Reads once. Bytes read, or one of the above.
ssize_t crpc_socket_read(int fd, uint8_t *target, size_t length);

struct crpc_tls {
    SSL_CTX *context;
};
/// Makes a connection's TLS state, not on a socket yet; `name` is NULL on a server. Errors: TLS, MEMORY.
int crpc_tls_begin(crpc_tls *tls, const char *name, SSL **result);
/// Takes another reference.
crpc_tls *crpc_tls_retain(crpc_tls *tls);

// ---- Connections and streams ----

/// What RFC 9113 section 6.5.2 counts for each entry of a header block beside its name and value.
enum { CRPC_ENTRY_COST = 32 };

typedef enum crpc_phase { CRPC_CONNECTING, CRPC_HANDSHAKING, CRPC_OPEN, CRPC_CLOSED } crpc_phase;

/// What a connection's timer is set for, whichever is due first.
typedef enum crpc_due {
    CRPC_DUE_HANDSHAKE,
    CRPC_DUE_IDLE,
    CRPC_DUE_STALL,     // bytes wait for the socket
    CRPC_DUE_DRAIN,
    CRPC_DUE_GOAWAY,    // the second one, at the latest
    CRPC_DUE_AGE,
    CRPC_DUE_KEEPALIVE, // to look whether a PING is due
    CRPC_DUE_PONG,      // a PING is out
    CRPC_DUE_SWEEP,     // to look for answers and messages that do not move
    CRPC_DUE_FRAME,     // a frame or header block has begun
    CRPC_DUE_COUNT
} crpc_due;

enum { CRPC_FRAME_HEAD = 9 };

/// What the guard knows of the frames that come in (guard.c).
typedef struct crpc_guard {
    int32_t credit;
    uint32_t payload_left;    // of the frame, or of the client's preface
    uint64_t refilled_ns;     // when credit was given for time
    uint64_t last_ping_ns;
    uint64_t partial_ns;      // since when a frame or header block is not whole
    uint32_t block_bytes;     // of the header block that is coming in
    uint32_t continuations;
    uint8_t ping_strikes;
    bool has_sent;            // DATA or HEADERS, since the last PING
    bool is_in_block;
    bool is_data;             // the frame is DATA
    bool is_pad_next;         // the next byte tells how much of it is padding
    uint32_t unseen_frames, unseen_bytes; // of DATA that the session has not shown us
    uint8_t head[CRPC_FRAME_HEAD];
    uint8_t head_length;
} crpc_guard;

typedef struct crpc_address crpc_address;

/// The `:authority` of the request whose head is coming in, to be compared with its `host`.
enum { CRPC_AUTHORITY_MAX = 255 };
typedef struct crpc_authority {
    uint8_t length;
    uint8_t text[CRPC_AUTHORITY_MAX];
} crpc_authority;

struct crpc_connection {
    crpc_loop *loop;
    crpc_listener *listener;                // server's, else NULL
    const crpc_client_callbacks *callbacks; // client's, else NULL
    void *context;                          // server: the peer that on_open returned; client: the client
    int fd;
    crpc_phase phase;
    bool is_draining;
    bool is_draining_told;    // on_draining has fired
    bool is_goaway_final;     // server: the second GOAWAY went out; client: one went out or came
    bool is_session_over;     // nghttp2's session failed, and is only to be freed
    bool is_dismissed;        // the peer's GOAWAY named an error
    bool is_terminated;       // and ours did: the peer broke HTTP/2
    bool is_open_told;        // on_open has fired
    bool has_settings;        // the peer's SETTINGS arrived
    bool is_broken;           // closes at the end of the turn
    bool has_peer_ended;      // the peer's end of file, or an error of the socket
    bool has_pinged_too_often; // says the server
    bool is_forced;           // the listener goes away: nothing lingers
    bool is_closing;          // in loop->closing
    int error;                // why it is broken
    uint32_t goaway_code;     // what the peer is told where the session cannot: HTTP/2's error,
    const char *goaway_reason; // and a constant text
    int32_t last_id;          // server: the last stream that the peer opened
    crpc_watch *watch;
    crpc_timer *timer;        // for the first of these
    uint64_t due_ns[CRPC_DUE_COUNT]; // 0 for not at all
    uint64_t last_received_ns;
    crpc_guard guard;
    SSL *ssl;
    const uint8_t *coded;     // TLS: what was read and OpenSSL has not taken (tls_io.c)
    size_t coded_length;
    uint8_t *coded_kept;      // the memory that it is in, if that is not the loop's
    nghttp2_session *session;
    crpc_limits limits;
    crpc_link link;           // in the listener's connections, or the loop's clients
    crpc_link shaking;        // in the listener's, until the peer's SETTINGS
    crpc_link idle;           // in the listener's, from then on while it has no call
    crpc_link idle_of_address; // and in its address's
    crpc_address *address;    // server: where the peer is
    uint64_t idle_ns;         // since when it has no call, or is at its handshake
    bool is_leaving;          // server: makes room for another one
    crpc_link dirty;          // in loop->dirty
    crpc_link closing;        // in loop->closing
    crpc_link streams;        // live ones
    crpc_stream *free_streams;
    uint32_t stream_count, free_stream_count;
    crpc_stream *in_block;    // whose header block is being received, or NULL
    crpc_authority authority_seen;
    uint32_t data_frame_left; // bytes of the DATA frame that is being received
    bool data_frame_ends_stream;
    uint32_t late_bytes;      // of DATA that may still come on streams that we have ended
    crpc_handlers *handlers;  // server: of its calls
    uint8_t *rest;            // what the socket did not take; at most the loop's write buffer
    size_t rest_length;
    size_t stalled_bytes;     // that the peer had to take when the write stall's limit began
    size_t buffered_bytes;    // held for all streams (held.c)
    size_t unreleased_bytes;  // of all streams
    size_t withheld_bytes;    // of these: not given back to the peer's window for the connection
    uint64_t much_ns;         // since when much is held, as the last sweep saw it; 0 if not
    bool owes_writable;       // a stream's queue fell under its mark
    bool owes_closes;         // streams were reset here, and their calls not told yet
    char *authority;
    size_t authority_length;
    char peer[CRPC_ADDRESS_LENGTH];
};

/// What a header is to this layer (header_names.c).
typedef enum crpc_header {
    CRPC_HEADER_METADATA, // the application's
    CRPC_HEADER_OTHER,    // the protocol's own, not looked at here
    CRPC_HEADER_TE,
    CRPC_HEADER_HOST,
    CRPC_HEADER_CONTENT_LENGTH,
    CRPC_HEADER_CONNECTION, // HTTP/1's, which HTTP/2 does not have
    CRPC_HEADER_AUTHORITY,
    CRPC_HEADER_SCHEME,
    CRPC_HEADER_PATH,
    CRPC_HEADER_METHOD,
    CRPC_HEADER_STATUS,
    CRPC_HEADER_CONTENT_TYPE,
    CRPC_HEADER_GRPC_TIMEOUT,
    CRPC_HEADER_GRPC_STATUS,
    CRPC_HEADER_GRPC_MESSAGE,
    CRPC_HEADER_GRPC_ENCODING,
    CRPC_HEADER_GRPC_ACCEPT_ENCODING
} crpc_header;

crpc_header crpc_header_named(const uint8_t *name, size_t length);

/// What was seen of a request (request_rules.h).
typedef struct crpc_request_state {
    int64_t content_length;  // as announced; -1 for nothing
    uint64_t received_bytes; // of data
    uint16_t seen;
    bool is_past_pseudo;
} crpc_request_state;

/// How the peer says that it compresses messages.
typedef enum crpc_encoding { CRPC_ENCODING_IDENTITY, CRPC_ENCODING_GZIP, CRPC_ENCODING_UNKNOWN } crpc_encoding;

/// A message, or its rest, that waits to be sent.
typedef struct crpc_outgoing {
    struct crpc_outgoing *next;
    uint8_t *memory; // prefix and message, allocated with malloc
    size_t length;   // of both
    size_t sent;
} crpc_outgoing;

struct crpc_stream {
    crpc_connection *connection;
    void *call;               // NULL before on_call and once on_close was given
    int32_t id;               // -1 for a client's stream that waits for the handshake
    crpc_link link;
    crpc_stream *next_free;
    // Local half
    bool is_submitted;        // head (server) or request (client) was handed to nghttp2
    bool is_finished;         // nothing more will be queued
    bool is_data_deferred;
    bool was_full;            // over the high-water mark
    bool owes_writable;       // and under the low one since: on_writable is owed
    bool is_reset;
    uint32_t reset_error;
    crpc_outgoing *first, *last;
    size_t queued_bytes;
    crpc_outgoing inline_outgoing; // saves an allocation for the first message
    bool is_inline_used;
    uint8_t *trailers;        // packed; owned
    size_t trailers_length;
    // Remote half
    bool is_half_closed;      // the peer's end of stream arrived
    bool is_reset_by_peer;    // its RST_STREAM arrived
    bool is_told_half_closed;
    bool has_received_head;
    crpc_request_state request; // server
    bool is_request_broken;   // server: it is no HTTP, and is reset
    bool is_refused;          // answered here, without a call
    bool is_cut_short;        // server: ended in its handler's place
    bool is_charged;          // server: as a call that was wasted
    bool consumes_manually;
    bool is_receiving;        // in crpc_stream_on_data
    size_t unreleased_bytes;  // consumed manually: received, and not given back to the peer's window
    size_t unread_bytes;      // messages that were told and not taken off, as they are counted; of buffered_bytes
    size_t kept_bytes;        // what else the callee keeps of the request; of buffered_bytes
    uint64_t read_ns;         // when a message was taken off, or the first one came that was not
    crpc_deframer deframer;
    crpc_timer *timer;        // deadline
    uint64_t deadline_ns;
    uint64_t began_ns;
    uint64_t moved_ns;        // when the answer was finished, or some of it sent
    uint64_t partial_ns;      // since when a message is coming in
    size_t partial_bytes;     // of it, as counted in the connection's buffered bytes
    // Received header block, being put together
    uint8_t *block;           // packed metadata
    size_t block_length, block_capacity, header_bytes;
    int method;               // index, -1 unknown path
    uint8_t method_is_post, method_is_head, content_type_is_grpc, is_timeout_bad, is_header_too_large;
    crpc_encoding encoding;   // of the peer's messages
    bool accepts_gzip;        // server: the peer says that it takes it
    bool sends_gzip;          // our head says, or will say, that messages may be compressed
    uint64_t timeout_ns;      // UINT64_MAX for none
    // The outcome: on a server what the client was told, -1 for nothing yet
    int http_status, grpc_status;
    uint8_t *status_message;
    size_t status_message_length;
    bool is_local_end;        // grpc_status was set here, not by the server
    bool is_unsent;           // the connection ended before anything was sent on it
};

/// Most stream objects that a connection keeps for reuse.
enum { CRPC_FREE_STREAMS_MAX = 32 };

/// An address, or network, that connections come from (addresses.c).
typedef struct crpc_network {
    uint64_t bits;
    bool is_v4;
} crpc_network;
struct crpc_address {
    struct crpc_address *next;
    crpc_network network;
    uint32_t count;           // of its connections
    crpc_link idle;           // those without a call, the one that is so for longest first
};
typedef struct crpc_addresses {
    crpc_address **buckets;
    size_t bucket_count;
    uint64_t seed;
} crpc_addresses;

/// Makes a table that is good for so many. Errors: MEMORY.
int crpc_addresses_begin(crpc_addresses *addresses, uint32_t connections_max);
void crpc_addresses_end(crpc_addresses *addresses);
/// Counts a connection from there. NULL without memory.
crpc_address *crpc_addresses_take(crpc_addresses *addresses, const struct sockaddr_storage *from);
/// It has ended. The last one's end frees the address.
void crpc_addresses_give_back(crpc_addresses *addresses, crpc_address *address);

struct crpc_listener {
    crpc_loop *loop;
    crpc_link link;     // in loop->listeners
    crpc_listener_options options;
    const crpc_server_callbacks *callbacks;
    void *server;
    int fd;
    uint16_t port;
    crpc_watch *watch;
    crpc_timer *resume; // looks again whether to accept
    uint64_t paused_until_ns; // file descriptors ran out
    crpc_link connections;
    crpc_link shaking;        // those whose handshake is not done, the oldest first
    crpc_link idle;           // those without a call, the one that is so for longest first
    crpc_link handlers;       // of its connections, and of those that have ended before their handlers
    crpc_addresses addresses;
    uint32_t connection_count, call_count, handler_count, shaking_count;
    uint32_t leaving_count;   // of the connections, those that end to make room
    bool is_draining, is_accepting;
    // Paths: a hash table with open addressing.
    struct crpc_path {
        char *text;
        size_t length;
        uint32_t index;
    } *paths;
    size_t path_capacity;
};

/// The index of a path, or -1.
int crpc_listener_find(const crpc_listener *listener, const uint8_t *path, size_t length);
/// A connection has begun. Past the greatest number of handshakes the oldest of them ends.
void crpc_listener_keep(crpc_listener *listener, crpc_connection *connection);
/// A connection has no call, or none any more: it is the last that would make room for another one.
void crpc_listener_note_idle(crpc_listener *listener, crpc_connection *connection);
/// It has one: it makes room for none.
static inline void crpc_listener_note_busy(crpc_connection *connection) {
    crpc_link_remove(&connection->idle);
    crpc_link_remove(&connection->idle_of_address);
}
/// A connection's handshake is done, or it has ended.
void crpc_listener_note_handshake(crpc_listener *listener, crpc_connection *connection);
/// A connection of the listener has ended.
void crpc_listener_forget(crpc_listener *listener, crpc_connection *connection);

/// Makes a server's connection out of an accepted socket, which it owns from then on, also on errors; and `address`, which
/// is given back with it.
int crpc_connection_accept(
    crpc_listener *listener, int fd, const struct sockaddr_storage *peer, crpc_address *address);
/// The connection has something to send: it is flushed at the end of this turn.
static inline void crpc_connection_mark(crpc_connection *connection) {
    if (crpc_link_is_empty(&connection->dirty)) crpc_link_append(&connection->loop->dirty, &connection->dirty);
}
/// What the PING between the GOAWAYs carries.
extern const uint8_t crpc_goodbye_payload[8];
/// The connection cannot go on: it closes at the end of this turn.
void crpc_connection_break(crpc_connection *connection, int error);
/// The same, after a GOAWAY with an HTTP/2 error code and a text that say why.
void crpc_connection_dismiss(crpc_connection *connection, int error, uint32_t code, const char *reason);
/// The same for a peer that asks too much: ENHANCE_YOUR_CALM and CRPC_ERROR_LIMIT.
void crpc_connection_calm(crpc_connection *connection, const char *reason);
/// The same for one without calls, well and at once, since another needs its place: what the peer may have begun is past
/// the last stream that our GOAWAY names, so that it can try again elsewhere.
void crpc_connection_make_room(crpc_connection *connection);
/// Ends its streams and itself, and frees it. Called by the loop at the end of a turn.
void crpc_connection_destroy(crpc_connection *connection);
/// A call ended: idle time, drain and a listener's count follow from it.
void crpc_connection_stream_ended(crpc_connection *connection);
/// Client: tells once that no new calls are taken.
void crpc_connection_tell_draining(crpc_connection *connection);

// tls_io.c: TLS between socket and session

/// Gives a connection its TLS state. Errors: TLS, MEMORY.
int crpc_tls_attach(crpc_connection *connection, crpc_tls *tls, const char *name);
/// Frees it, if there is one.
void crpc_tls_detach(crpc_connection *connection);
/// What a read came to: bytes, and what came after them.
typedef struct crpc_reading {
    size_t length;
    bool has_failed, is_full; // more may be there
    int failure;              // CRPC_IO_…, if it has failed
} crpc_reading;
/// Reads from the socket once, unless bytes of the last time are left, and decrypts. On a flood of what is no data the
/// connection was dismissed.
crpc_reading crpc_tls_read(crpc_connection *connection, uint8_t *target, size_t room);
/// Whether OpenSSL has something for us without another read.
bool crpc_tls_has_more(const crpc_connection *connection);
/// Bytes written, or CRPC_IO_….
ssize_t crpc_tls_write(crpc_connection *connection, const uint8_t *bytes, size_t length);
typedef enum crpc_handshake {
    CRPC_HANDSHAKE_DONE, CRPC_HANDSHAKE_READS, CRPC_HANDSHAKE_WRITES, CRPC_HANDSHAKE_FAILED
} crpc_handshake;
/// Goes on with the handshake. After it `coded_length` may hold what came behind it, to be read at once.
crpc_handshake crpc_tls_shake_hands(crpc_connection *connection, bool is_readable);

// connection_io.c: reading and writing

/// Reads what has come, and hands it to the session.
void crpc_connection_receive(crpc_connection *connection);
/// Sends what can be sent. Called by the loop at the end of a turn.
void crpc_connection_flush(crpc_connection *connection);
/// Changes what the socket is watched for.
void crpc_connection_watch_for(crpc_connection *connection, int interest);
/// Tries once to send what waits, without waiting.
void crpc_connection_say_goodbye(crpc_connection *connection);
/// Bytes that the peer has not taken.
size_t crpc_connection_waiting_bytes(const crpc_connection *connection);

// held.c: what peers make us hold

/// Counts bytes that are held for the peer of a connection; a server's also for its loop.
static inline void crpc_hold(crpc_connection *connection, size_t bytes) {
    connection->buffered_bytes += bytes;
    if (connection->listener != NULL) crpc_count(&connection->loop->stats.held_bytes, bytes);
}
static inline void crpc_let_go(crpc_connection *connection, size_t bytes) { crpc_hold(connection, 0 - bytes); }
/// Server: what the client may make us hold while the loop holds much.
size_t crpc_held_share(const crpc_connection *connection);
/// Server: what the client may make us hold now. While the loop holds more than half of what it may, each connection has
/// an equal share of the other half, so that those who hold little go on.
static inline size_t crpc_held_max(const crpc_connection *connection) {
    bool has_share = connection->loop->stats.held_bytes > connection->listener->options.held_bytes_max / 2;
    return has_share ? crpc_held_share(connection) : connection->limits.buffered_bytes_max;
}
/// Server: whether the client makes us hold so much that nothing is added.
static inline bool crpc_holds_too_much(const crpc_connection *connection) {
    return connection->listener != NULL && connection->buffered_bytes > crpc_held_max(connection);
}
/// Server: whether the client makes us hold more than half of what it may.
static inline bool crpc_holds_much(const crpc_connection *connection) {
    return connection->listener != NULL && connection->buffered_bytes > crpc_held_max(connection) / 2;
}
/// Gives bytes that came on a stream, NULL for none, back to the peer's window for the connection, or withholds them.
/// Nonzero without memory.
static inline int crpc_take_in(crpc_connection *connection, const crpc_stream *stream, size_t length) {
    if (stream != NULL && stream->consumes_manually && crpc_holds_much(connection)) {
        connection->withheld_bytes += length;
        return CRPC_OK;
    }
    return nghttp2_session_consume_connection(connection->session, length) == 0 ? CRPC_OK : CRPC_ERROR_MEMORY;
}
/// Gives back what need not be withheld any more.
void crpc_give_back(crpc_connection *connection);

// handlers.c: handlers that run

/// Makes the count of a connection's handlers. NULL without memory.
crpc_handlers *crpc_handlers_new(crpc_listener *listener);
/// The connection has ended. NULL does nothing.
void crpc_handlers_leave(crpc_handlers *handlers);
/// The listener ends: handlers that still run are counted by the loop alone.
void crpc_handlers_orphan(crpc_listener *listener);
/// The loop is being freed, after its listeners: handlers that still run are counted by nobody.
void crpc_handlers_outlive(crpc_loop *loop);
/// A call's handler begins.
void crpc_handler_begin(crpc_handlers *handlers);
/// Whether there is a place among `calls_max` where `count` are taken, `own` of them by the connection that asks. The first
/// half is anybody's. Of the other half each connection has an equal share, so that a few that hold places for long leave
/// some to those that come. Fewer than CRPC_SHARED_PLACES_MIN are not worth sharing out.
enum { CRPC_SHARED_PLACES_MIN = 64 };
static inline bool crpc_listener_has_place(const crpc_listener *listener, uint32_t count, uint32_t own) {
    uint32_t most = listener->options.calls_max;
    bool is_shared = most >= CRPC_SHARED_PLACES_MIN && listener->connection_count > 1;
    if (count < most / 2 || !is_shared) return count < most;
    uint32_t share = most / 2 / listener->connection_count;
    return count < most && own < (share > 0 ? share : 1);
}
/// Whether one more may run on a connection.
bool crpc_handlers_have_room(const crpc_connection *connection);

// connection_time.c: time limits and keepalive

static inline uint64_t crpc_connection_after_ms(const crpc_connection *connection, uint32_t ms) {
    return connection->loop->now_ns + ms * 1000000ull;
}
/// The connection's timer fires.
void crpc_connection_on_timer(void *connection);
/// Sets one of the limits, 0 ms for none, and the timer for whichever is due first.
void crpc_connection_limit(crpc_connection *connection, crpc_due due, uint32_t ms);
/// Sets the timer for whichever limit is due first.
void crpc_connection_set_timer(crpc_connection *connection);
/// The peer answered the PING that went out with the first GOAWAY.
void crpc_connection_note_round_trip(crpc_connection *connection);
/// Begins those that an open connection has.
void crpc_connection_begin_limits(crpc_connection *connection);
/// Without calls its idle time begins.
void crpc_connection_begin_idling(crpc_connection *connection);
/// Something came: the peer is there.
void crpc_connection_note_life(crpc_connection *connection);
/// While messages are held, and on a server calls are open, looks now and then for what does not move.
static inline void crpc_connection_watch_buffers(crpc_connection *connection) {
    bool has_calls = connection->listener != NULL && connection->stream_count > 0;
    if ((connection->buffered_bytes == 0 && !has_calls) || connection->due_ns[CRPC_DUE_SWEEP] != 0) return;
    const crpc_limits *limits = &connection->limits;
    uint32_t shorter = limits->answer_stall_timeout_ms < limits->message_timeout_ms ? limits->answer_stall_timeout_ms
                                                                                    : limits->message_timeout_ms;
    crpc_connection_limit(connection, CRPC_DUE_SWEEP, shorter / 4 + 1);
}

// guard.c: floods

void crpc_guard_begin(crpc_connection *connection);
/// Where the first head of a frame begins in bytes that came and were not looked at yet; past their end if none does.
size_t crpc_guard_next_head(const crpc_guard *guard, const uint8_t *bytes, size_t length);
/// Looks at the frames in bytes that came, before the session gets them. False if they are too much: the connection was
/// dismissed.
bool crpc_guard_look(crpc_connection *connection, const uint8_t *bytes, size_t length);
/// The session shows us a DATA frame: its stream is there.
static inline void crpc_guard_note_data(crpc_guard *guard, size_t length) {
    if (length == 0) return;
    guard->unseen_frames -= 1;
    guard->unseen_bytes -= (uint32_t)length;
}
/// Charges DATA on streams that are over. False if it was too much: the connection was dismissed.
bool crpc_guard_settle(crpc_connection *connection);
/// Gives credit for the time that has passed; whether there is any now.
bool crpc_guard_refill(crpc_connection *connection);
/// Takes credit. False if there is none left: the connection was dismissed.
static inline bool crpc_guard_charge(crpc_connection *connection, int32_t cost) {
    connection->guard.credit -= cost;
    return connection->guard.credit >= 0 || crpc_guard_refill(connection);
}
static inline void crpc_guard_earn(crpc_connection *connection, int32_t gain) {
    crpc_guard *guard = &connection->guard;
    guard->has_sent = true;
    guard->credit += gain;
    if (guard->credit > (int32_t)connection->limits.credit_max) guard->credit = (int32_t)connection->limits.credit_max;
}
/// Whether a frame, or a header block, has begun and not ended. DATA does not count: its message has a limit.
static inline bool crpc_guard_is_partial(const crpc_guard *guard) {
    return guard->is_in_block || guard->head_length > 0 || (guard->payload_left > 0 && !guard->is_data);
}

// linger.c: sockets after their connection

/// Takes over a socket to which all was said: drops what still comes until the peer closes it, or a limit is reached.
void crpc_linger(crpc_loop *loop, int fd);
/// Closes those of a loop.
void crpc_linger_end_all(crpc_loop *loop);

/// Makes nghttp2's session with our callbacks. Errors: MEMORY.
int crpc_session_begin(crpc_connection *connection);

/// A stream object, fresh or used again. NULL without memory.
crpc_stream *crpc_stream_take(crpc_connection *connection, int32_t id);
/// Tells a stream's call that it has ended, if there is one that was not told. `error` is HTTP/2's.
void crpc_stream_tell_close(crpc_stream *stream, uint32_t error);
/// Ends a stream: its last callback, then the object goes back.
void crpc_stream_end(crpc_stream *stream, uint32_t error);
/// Frees a stream object with all it holds.
void crpc_stream_free(crpc_stream *stream);
/// Sets when the stream's deadline passes. Errors: MEMORY.
int crpc_stream_set_deadline(crpc_stream *stream, uint64_t deadline_ns);
/// Ends the stream if its answer has waited for the peer's windows, or its message for its end, for too long.
void crpc_stream_sweep(crpc_stream *stream);
/// Forgets the header block. Its memory stays with the object if there is little.
void crpc_stream_drop_block(crpc_stream *stream);
/// Lets go of a message that is not whole.
void crpc_stream_drop_partial(crpc_stream *stream);
/// Server: the peer wasted a call, and pays for it, once. False if the connection was dismissed.
bool crpc_stream_charge(crpc_stream *stream);
/// Answers a message that cannot be taken, in the handler's place.
void crpc_stream_refuse_message(crpc_stream *stream, int status, const char *text);

// Received things, called by the session's callbacks. Nonzero ends the connection.
int crpc_stream_on_header(crpc_stream *stream, crpc_header header, const crpc_entry *entry);
int crpc_stream_on_head(crpc_stream *stream, bool ends_stream);
int crpc_stream_on_data(crpc_stream *stream, const uint8_t *bytes, size_t length, bool ends_stream);
void crpc_stream_on_half_close(crpc_stream *stream);
/// Gives the peer back what a stream that is consumed manually does not hold any more.
void crpc_stream_release(crpc_stream *stream);

/// Server: answers a request that never becomes a call.
void crpc_stream_refuse(crpc_stream *stream, int status, const char *message);
void crpc_stream_refuse_http(crpc_stream *stream, const char *http_status, const char *text);

/// nghttp2's source of DATA frames.
ssize_t crpc_stream_read_data(
    nghttp2_session *session, int32_t id, uint8_t *target, size_t length, uint32_t *flags,
    nghttp2_data_source *source, void *user);

#endif
