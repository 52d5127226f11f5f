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
    uint8_t *read_buffer;
    uint8_t *plain_buffer; // what was read, with plain strings in its header blocks; nothing stays in it
    uint8_t *write_buffer; // where a connection's frames of one flush are gathered
};

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

/// Opens a listening socket. Errors: SYSTEM, ADDRESS_IN_USE, ARGUMENT.
int crpc_socket_listen(
    const char *address, uint16_t port, bool shared_port, bool joins_port, int *fd, uint16_t *bound_port);
/// Begins to connect. Errors: SYSTEM, ARGUMENT.
int crpc_socket_connect(const char *address, uint16_t port, int *fd);
/// Writes the peer's address as text.
void crpc_socket_peer(int fd, char text[CRPC_ADDRESS_LENGTH]);

struct crpc_tls {
    SSL_CTX *context;
};
/// Makes a connection's TLS state on a socket; `name` is NULL on a server. Errors: TLS, MEMORY.
int crpc_tls_begin(crpc_tls *tls, int fd, const char *name, SSL **result);
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
    CRPC_DUE_GOAWAY,    // the second one
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
    uint8_t head[CRPC_FRAME_HEAD];
    uint8_t head_length;
} crpc_guard;

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
    crpc_watch *watch;
    crpc_timer *timer;        // for the first of these
    uint64_t due_ns[CRPC_DUE_COUNT]; // 0 for not at all
    uint64_t last_received_ns;
    crpc_guard guard;
    SSL *ssl;
    nghttp2_session *session;
    crpc_limits limits;
    crpc_link link;           // in the listener's connections
    crpc_link shaking;        // in the listener's, until the peer's SETTINGS
    crpc_link dirty;          // in loop->dirty
    crpc_link closing;        // in loop->closing
    crpc_link streams;        // live ones
    crpc_stream *free_streams;
    uint32_t stream_count, free_stream_count;
    crpc_stream *in_block;    // whose header block is being received, or NULL
    uint32_t data_frame_left; // bytes of the DATA frame that is being received
    bool data_frame_ends_stream;
    uint8_t *rest;            // what the socket did not take; at most the loop's write buffer
    size_t rest_start, rest_end;
    size_t stalled_bytes;     // that the peer had to take when the write stall's limit began
    size_t buffered_bytes;    // of all streams: queued ones, and of messages that are not whole
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
    bool has_sent_headers;    // server: as asked
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
    bool is_told_half_closed;
    bool has_received_head;
    crpc_request_state request; // server
    bool is_request_broken;   // server: it is no HTTP, and is reset
    bool is_refused;          // answered here, without a call
    bool consumes_manually;
    bool is_receiving;        // in crpc_stream_on_data
    size_t unreleased_bytes;  // consumed manually: received, and not given back to the peer's window
    size_t delivered_bytes;   // of messages that were not taken off, with their prefixes
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

struct crpc_listener {
    crpc_loop *loop;
    crpc_listener_options options;
    const crpc_server_callbacks *callbacks;
    void *server;
    int fd;
    uint16_t port;
    crpc_watch *watch;
    crpc_timer *resume; // accepting again after file descriptors ran out
    crpc_link connections;
    crpc_link shaking;        // those whose handshake is not done, the oldest first
    uint32_t connection_count, call_count, shaking_count;
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
/// A connection's handshake is done, or it has ended.
void crpc_listener_note_handshake(crpc_listener *listener, crpc_connection *connection);
/// A connection of the listener has ended.
void crpc_listener_forget(crpc_listener *listener, crpc_connection *connection);

/// Makes a server's connection out of an accepted socket, which it owns from then on, also on errors.
int crpc_connection_accept(crpc_listener *listener, int fd);
/// The connection has something to send: it is flushed at the end of this turn.
static inline void crpc_connection_mark(crpc_connection *connection) {
    if (crpc_link_is_empty(&connection->dirty)) crpc_link_append(&connection->loop->dirty, &connection->dirty);
}
/// The connection cannot go on: it closes at the end of this turn.
void crpc_connection_break(crpc_connection *connection, int error);
/// The same, after a GOAWAY with an HTTP/2 error code and a text that say why.
void crpc_connection_dismiss(crpc_connection *connection, int error, uint32_t code, const char *reason);
/// The same for a peer that asks too much: ENHANCE_YOUR_CALM and CRPC_ERROR_LIMIT.
void crpc_connection_calm(crpc_connection *connection, const char *reason);
/// Server: whether the client makes us hold so much that nothing is added.
static inline bool crpc_connection_holds_too_much(const crpc_connection *connection) {
    return connection->listener != NULL && connection->buffered_bytes > connection->limits.buffered_bytes_max;
}
/// Ends its streams and itself, and frees it. Called by the loop at the end of a turn.
void crpc_connection_destroy(crpc_connection *connection);
/// A call ended: idle time, drain and a listener's count follow from it.
void crpc_connection_stream_ended(crpc_connection *connection);
/// Client: tells once that no new calls are taken.
void crpc_connection_tell_draining(crpc_connection *connection);

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
/// Begins those that an open connection has.
void crpc_connection_begin_limits(crpc_connection *connection);
/// Without calls its idle time begins.
void crpc_connection_begin_idling(crpc_connection *connection);
/// Something came: the peer is there.
void crpc_connection_note_life(crpc_connection *connection);
/// While messages are held, looks now and then for what does not move.
static inline void crpc_connection_watch_buffers(crpc_connection *connection) {
    if (connection->buffered_bytes == 0 || connection->due_ns[CRPC_DUE_SWEEP] != 0) return;
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
/// Lets go of a message that is not whole.
void crpc_stream_drop_partial(crpc_stream *stream);
/// Answers a message that cannot be taken.
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
