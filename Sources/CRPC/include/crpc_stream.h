/// One gRPC call on an HTTP/2 stream. The same functions serve unary and streaming calls.
///
/// Our half:        IDLE → OPEN (HEADERS) → FINISHED (server: trailers; client: END_STREAM), or RESET (RST_STREAM).
/// The peer's half: HEAD → BODY (its HEADERS came) → CLOSED (END_STREAM came), or RESET.
/// A stream ends with `on_close`, exactly once, whatever happened; from then on its pointer is dead.
/// Illegal, answered with CRPC_ERROR_CLOSED and no other effect: to send once our half is FINISHED or RESET.
#ifndef CRPC_STREAM_H
#define CRPC_STREAM_H

#include "crpc_metadata.h"
#include "crpc_server.h"
#include "crpc_wire.h"

typedef struct crpc_stream crpc_stream;
struct crpc_connection;

/// The head of a request as a server sees it. Pointers are valid during the callback only.
typedef struct crpc_request {
    /// The index that the path was registered with.
    uint32_t method;
    /// When the call must have ended, on the loop's clock; 0 if the caller set no limit.
    uint64_t deadline_ns;
    /// Metadata of the application.
    const uint8_t *metadata;
    size_t metadata_length;
    /// Whether the caller takes an answer with gzip.
    bool accepts_gzip;
    /// What to tell when the call's handler has ended: `crpc_handler_ended`. It is there until then.
    struct crpc_handlers *handlers;
} crpc_request;

/// Whether an application may send this entry: a lowercase name of gRPC's alphabet that neither HTTP/2 nor gRPC keeps
/// for itself, and a printable ASCII value without a space at either end (RFC 9113 section 8.2, gRPC over HTTP/2
/// "Custom-Metadata"). Any thread.
bool crpc_metadata_is_sendable(const crpc_entry *entry);

/// Whether a received header is the protocol's own and therefore not shown as metadata. Any thread.
bool crpc_metadata_is_reserved(const uint8_t *name, size_t length);

/// How a call ended, as a client sees it. Pointers are valid during the callback only.
typedef struct crpc_outcome {
    /// The gRPC status: the server's, or the one that stands for the HTTP status or HTTP/2 error that took its place.
    int status;
    /// Whether the server said `grpc-status` itself.
    bool is_from_server;
    /// Whether the server certainly did not process the call (REFUSED_STREAM, GOAWAY, or never sent), so that any call
    /// may be tried again.
    bool is_unprocessed;
    /// `grpc-message`, percent-decoded.
    const uint8_t *message;
    size_t message_length;
    /// Trailing metadata, with `grpc-status-details-bin` among it.
    const uint8_t *metadata;
    size_t metadata_length;
} crpc_outcome;

/// A client's view of its connection and the calls on it.
typedef struct crpc_client_callbacks {
    /// The connection is ready: TCP, TLS and the server's SETTINGS.
    void (*on_open)(void *client);
    /// The connection takes no new calls (GOAWAY, idle for too long, or drain was asked). At most once.
    void (*on_draining)(void *client);
    /// The connection has ended; `error` is a crpc_error, 0 after a drain of either side. Last callback of the
    /// connection.
    void (*on_connection_close)(void *client, int error);
    /// The answer's head arrived, with its metadata.
    void (*on_headers)(void *call, const uint8_t *metadata, size_t length);
    /// A message. Its bytes are valid during the callback only; a compressed one is for `crpc_gzip_inflate`.
    void (*on_message)(void *call, const crpc_message *message);
    void (*on_writable)(void *call);
    /// The call's deadline passed; the stream was reset and `on_close` follows with DEADLINE_EXCEEDED.
    void (*on_deadline)(void *call);
    /// The call has ended. Last callback of the call.
    void (*on_close)(void *call, const crpc_outcome *outcome);
} crpc_client_callbacks;

/// What a message takes beside its bytes while it waits, to be sent or to be read: what an allocator and a queue add to
/// it, on either side of this layer.
enum { CRPC_MESSAGE_OVERHEAD = 96 };

/// Longest `grpc-message` that a server sends, before it is encoded, cut between characters of UTF-8; and most that it
/// sends of trailers in all, names and values and 32 for each: what every client takes. What is over is dropped,
/// details before the message and metadata before details.
enum { CRPC_STATUS_MESSAGE_MAX = 1024, CRPC_TRAILERS_MAX = 8192 };

/// Most metadata that is sent with a head: names and values (and a request's path), and 32 for each entry.
enum { CRPC_METADATA_SENT_MAX = 32768 };

/// Server: sends the head of the answer, with metadata. Optional: the first message sends it.
/// Errors: CLOSED, ARGUMENT (metadata that may not be sent, or more than CRPC_METADATA_SENT_MAX), MEMORY.
int crpc_stream_send_headers(crpc_stream *stream, const uint8_t *metadata, size_t metadata_length);

/// Server: says in the head of the answer that its messages may be compressed. Before the head is sent.
/// Errors: CLOSED (it was sent), ARGUMENT (the caller does not take gzip).
int crpc_stream_set_gzip(crpc_stream *stream);

/// Queues a message. `memory` was allocated with malloc: CRPC_PREFIX_LENGTH bytes of room, then `length` bytes of
/// message. It is taken over and freed in every case, also on errors. With `compressed` it is sent compressed if that
/// makes it shorter, here and now, which the head must have announced (`crpc_stream_set_gzip`, `sends_gzip`).
/// Errors: CLOSED, MEMORY, ARGUMENT (the head does not say so), LIMIT (over 4 GB; or a server's client makes us hold more
/// than `buffered_bytes_max`: a server's call was then ended with RESOURCE_EXHAUSTED).
int crpc_stream_send_message(crpc_stream *stream, void *memory, size_t length, bool compressed);

/// Whether less than the high-water mark is queued.
bool crpc_stream_is_writable(const crpc_stream *stream);

/// How a server ends a call: a status, a message (percent-encoded when it is sent), `details`, a google.rpc.Status for
/// `grpc-status-details-bin` (base64-encoded then), and trailing metadata. It borrows what it points to.
typedef struct crpc_status {
    int code;
    const uint8_t *message;
    size_t message_length;
    const uint8_t *details;
    size_t details_length;
    const uint8_t *metadata;
    size_t metadata_length;
} crpc_status;

/// Server: ends the call with a status. What was queued is sent first. If the peer still sends, it is asked to stop
/// (RST_STREAM with NO_ERROR). Errors: CLOSED, MEMORY (then the stream is reset).
int crpc_stream_finish(crpc_stream *stream, const crpc_status *status);

/// Client: opens a call on a connection. `path` is the request's `:path`. `deadline_ns` on the loop's clock, 0 for
/// none; the time left goes into `grpc-timeout`, and the layer ends the call when it passes. `sends_gzip`: the head says
/// that messages may be compressed. `grpc-accept-encoding` always says gzip.
/// Errors: CLOSED (connection takes no calls), ARGUMENT (as in `crpc_stream_send_headers`), MEMORY; then no callback fires.
int crpc_stream_open(
    struct crpc_connection *connection, const char *path, size_t path_length, uint64_t deadline_ns,
    bool sends_gzip, const uint8_t *metadata, size_t metadata_length, void *call, crpc_stream **result);

/// Client: no more messages follow. Errors: CLOSED.
int crpc_stream_half_close(crpc_stream *stream);

/// Says that a message of `length` bytes was taken off, so that the peer may send more. Once for each message, also for
/// an empty one, which fills the window too. Streams that are not told to wait do this by themselves.
void crpc_stream_consume(crpc_stream *stream, size_t length);

/// Says that from now on the peer may only send what `crpc_stream_consume` makes room for: messages that were reported and
/// not consumed fill the stream's window, each with CRPC_MESSAGE_OVERHEAD. One message still arrives whole when there are
/// none, however large it is.
void crpc_stream_consume_manually(crpc_stream *stream);

/// Server: counts bytes that the callee keeps for a call until the call's `on_close`, beside what is counted anyway: a
/// message before the last one of a call that does not consume manually. Errors: LIMIT (the client makes us hold more
/// than `buffered_bytes_max`; the call was then ended with RESOURCE_EXHAUSTED).
int crpc_stream_keep(crpc_stream *stream, size_t bytes);

/// Ends the stream at once with an HTTP/2 error code (8 is CANCEL); `on_close` follows in this turn or the next.
void crpc_stream_reset(crpc_stream *stream, uint32_t error);

#endif
