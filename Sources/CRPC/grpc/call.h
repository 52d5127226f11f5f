/// A call: a stream of HTTP/2, and what gRPC makes of it. The public name of its object is `crpc_stream`.
///
/// The states of both halves are HTTP/2's (http2/http2_connection.h). Ownership: its connection allocates it and uses it again;
/// `call`, which is the user's, is NULL before the call is reported, and again once its end is. Loop thread. Callbacks fire through
/// the connection's role, from where grpc/grpc_connection.h says.
#ifndef CRPC_CALL_H
#define CRPC_CALL_H

#include "grpc/grpc_connection.h"
#include "http/exchange.h"
#include "http2/session.h"

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
    crpc_h2_stream h2;
    // Kept from one call to the next.
    uint8_t *block;               // received metadata, packed
    size_t block_capacity;
    crpc_timer deadline;
    crpc_deframer deframer;
    crpc_outgoing inline_outgoing; // saves an allocation for the first message
    crpc_exchange exchange;       // server: that the stream carries in the place of a call, if `exchanged.is_it`
    // From here on zeros when a call begins.
    void *call;
    size_t block_length;
    uint64_t deadline_ns;
    struct {                      // what we send
        crpc_outgoing *first, *last;
        size_t queued_bytes;
        uint64_t moved_ns;        // when the answer was finished, or enough of it sent (CRPC_STREAM_PROGRESS_MIN)
        size_t moved_bytes;       // sent since then
        uint8_t *trailers;        // packed; owned
        size_t trailers_length;
        bool is_inline_used;
        bool was_full;            // over the high-water mark
        bool owes_writable;       // and under the low one since: on_writable is owed
        bool sends_gzip;          // our head says, or will say, that messages may be compressed
        bool is_plain;            // server: no gRPC, but an ordinary HTTP answer
    } out;
    struct {                      // messages that come
        size_t unreleased_bytes;  // consumed manually: received, and not given back to the stream's window
        size_t unread_bytes;      // messages that were reported and not consumed, as they are counted; of the held bytes
        size_t kept_bytes;        // what else the callee keeps of the request; of the held bytes
        size_t partial_bytes;     // of a message that is coming in; of the held bytes
        uint64_t partial_ns;      // since when it is
        uint64_t read_ns;         // when a message was taken off, or the first one came that was not
        bool consumes_manually;
        bool is_receiving;        // DATA is being looked through
        bool is_end_told;         // server: its user knows that the request has ended
    } in;
    struct {                      // the head that came
        int method;               // server: index, -1 for an unknown path
        uint64_t timeout_ns;      // server; UINT64_MAX for none
        crpc_encoding encoding;   // of the peer's messages
        bool is_post, is_head, is_grpc, is_timeout_bad;
        bool accepts_gzip;        // server: the peer says that it takes it
        bool is_request;          // server: it is whole, and counted
        bool has_others;          // server: the block has fields that are not of a call's metadata
        bool expects_continue;    // server
    } head;
    struct {                      // server: an exchange (http2_exchange.c)
        bool is_it;
        bool has_body;            // the answer may have one
        bool tells_length;        // the answer's head did
        bool has_dropped_enough;  // past a bound: nothing more of the request is read on
        uint32_t dropped_bytes;   // of the request, since nobody wanted more of it
        uint64_t length_left;     // of the body, if so
        uint64_t body_due_ns;     // when the request's must be whole; 0 for never, until it is answered
    } exchanged;
    struct {                      // on a server what was sent to the client, -1 for nothing yet
        int http_status, grpc_status;
        uint8_t *message;
        size_t message_length;
        bool is_refused;          // server: answered here, without a call
        bool is_local;            // client: grpc_status was set here, not by the server
    } outcome;
};

static inline crpc_stream *crpc_stream_of(crpc_h2_stream *stream) { return CRPC_CONTAINER(stream, crpc_stream, h2); }
static inline crpc_connection *crpc_call_connection(const crpc_stream *stream) {
    return crpc_connection_of(stream->h2.h2);
}
static inline uint64_t crpc_call_now_ns(const crpc_stream *stream) { return stream->h2.h2->turn->now_ns; }

// ---- The life of a call (call.c) ----

/// HTTP/2's callbacks about any call's stream (`crpc_h2_above`).
void crpc_call_on_begin(crpc_h2_stream *stream);
void crpc_call_on_close(crpc_h2_stream *stream, uint32_t error);
void crpc_call_on_free(crpc_h2_stream *stream);
/// Tells a call that it has ended, if there is one that was not told. `error` is HTTP/2's.
void crpc_call_tell_close(crpc_stream *stream, uint32_t error);
/// Sets when the call's deadline passes. Errors: MEMORY.
int crpc_call_set_deadline(crpc_stream *stream, uint64_t deadline_ns);
/// Forgets the received metadata. Its memory stays with the object if there is little.
void crpc_call_drop_block(crpc_stream *stream);
/// Appends a field to the received metadata. Errors: MEMORY.
int crpc_call_append_field(crpc_stream *stream, const crpc_entry *field);
/// Drops what is queued.
void crpc_call_drop_queue(crpc_stream *stream);
/// Drops a message that is not whole.
void crpc_call_drop_partial(crpc_stream *stream);

// ---- Messages that come (call_receive.c) ----

int crpc_call_on_data(crpc_h2_stream *stream, const uint8_t *bytes, size_t length, bool ends_stream);
/// Whether messages are still told to the call.
static inline bool crpc_call_takes_messages(const crpc_stream *stream) {
    if (stream->call == NULL || stream->h2.local.state == CRPC_LOCAL_RESET) return false;
    return !stream->h2.h2->is_server || !crpc_h2_stream_is_finished(&stream->h2);
}
/// Gives the peer back what a stream that is consumed manually does not hold any more.
void crpc_call_release(crpc_stream *stream);
/// A message breaks gRPC, or is too large: the call is ended. On a server it was wasted, and its client pays.
void crpc_call_refuse_broken(crpc_stream *stream, int error);
crpc_encoding crpc_encoding_named(const uint8_t *value, size_t length);

// ---- What is sent (call_send.c) ----

/// Entries of one header block, the protocol's own among them.
enum { CRPC_ENTRIES_MAX = 128 };
/// Appends packed fields. ARGUMENT if there are too many, or they are not whole or, unless they were checked, one may not be
/// sent: nghttp2 would not send such a head, and the peer would wait for it. `used` counts what has been taken of
/// CRPC_METADATA_SENT_MAX.
int crpc_call_append_fields(
    crpc_sent_field *entries, size_t *count, const uint8_t *fields, size_t length, size_t used, bool is_checked);
/// Queues bytes of a body: `memory` is taken over, `offset` bytes of room in front of what is sent. Errors: MEMORY; then it is
/// freed.
int crpc_call_queue(crpc_stream *stream, void *memory, size_t offset, size_t length);
size_t crpc_call_on_body(crpc_h2_stream *stream, uint8_t *target, size_t room, crpc_body *next);
/// Server: answers with an ordinary HTTP answer, of constant texts. Without memory the stream is reset.
void crpc_call_answer_plain(crpc_stream *stream, const char *http_status, const char *text);

// ---- Exchanges (http2_exchange.c) ----

/// Server: the head of a request that is no call is whole. Its block is reported, with `:method` unless it is POST and with `:path`
/// unless it is a method's, in front.
void crpc_call_exchange(crpc_stream *stream, bool is_last);
int crpc_exchange_on_data(crpc_stream *stream, const uint8_t *bytes, size_t length, bool is_last);
/// END_STREAM came without data.
void crpc_exchange_on_end(crpc_stream *stream);
/// The whole answer is out, and the request has not ended: its exchange ends, and what still comes is dropped. Also for a
/// request that was answered here.
void crpc_exchange_on_answered(crpc_stream *stream);
/// The body, or what is left of it after the answer, takes too long.
void crpc_exchange_sweep(crpc_stream *stream);

// ---- HTTP/2's callbacks about the connection ----

void crpc_connection_on_settings(crpc_h2 *h2);
void crpc_connection_on_goaway(crpc_h2 *h2);
void crpc_connection_on_sweep(crpc_h2 *h2);

#endif
