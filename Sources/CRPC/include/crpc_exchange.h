/// One HTTP request and its answer, whatever carries it: a stream of HTTP/2 or a turn of a connection of HTTP/1.x. The same
/// functions serve both. gRPC calls over HTTP/2 of registered paths never come here: they are streams (crpc_stream.h).
///
/// The request:  HEAD (`on_exchange`) → BODY (`on_exchange_body`…) → ENDED (told with the head or the last bytes)
/// The answer:   IDLE → OPEN (head sent) → FINISHED, or RESET
/// An exchange ends with `on_exchange_close`, exactly once, whatever happened; from then on its pointer is dead. After a whole
/// answer it fires at once, whether or not the request has ended. On HTTP/1.x the next request of a connection begins after it,
/// so that pipelined requests are answered in their order.
/// Illegal, answered with CRPC_ERROR_CLOSED and no other effect: to send once the answer is FINISHED or RESET.
///
/// What a client still sends of a request after its whole answer is read on and dropped, since many that write first lose the
/// answer where they are stopped too early, for no longer than `body_timeout_ms` since the answer, whatever
/// `set_body_deadline` said. HTTP/2: as far as CRPC_DROPPED_BODY_MAX, and CRPC_DROPPED_BODIES_MAX on all
/// its streams; then the client is asked to stop (RST_STREAM with NO_ERROR, RFC 9113 section 8.1), until which its stream is one of
/// `streams_max`. While the connection drains, two seconds since the answer are all that it waits. HTTP/1.x: as far as CRPC_KEPT_BODY_MAX, and the connection goes on; past it, or where Content-Length says
/// that there is more (then the answer says Connection: close), the connection ends, and its socket lingers: it says FIN, and
/// drops as much as CRPC_LINGER_BODY_BYTES_MAX in CRPC_LINGER_BODY_MS (crpc_connect.h) before it is closed.
///
/// Loop thread. Callbacks fire from inside of the loop's turn, `on_exchange_close` also from the end of its connection; none
/// fires from inside of a function of this header.
#ifndef CRPC_EXCHANGE_H
#define CRPC_EXCHANGE_H

#include "crpc_metadata.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct crpc_exchange crpc_exchange;
struct crpc_handlers;

/// What is wrong with a request. It is reported nevertheless, so that the callee answers it in its turn, in its own words. No body follows, and the connection ends after the answer (HTTP/1.x) or the stream does (HTTP/2).
typedef enum crpc_fault {
    CRPC_FAULT_NONE = 0,
    CRPC_FAULT_MALFORMED,                  // no HTTP (RFC 9112)                                            400
    CRPC_FAULT_HOST_COUNT,                 // no Host in HTTP/1.1, or more than one (RFC 9112 section 3.2)   400
    CRPC_FAULT_HOST_MALFORMED,             // a Host that can be none (RFC 9110 section 7.2)                400
    CRPC_FAULT_CONTENT_LENGTH_INVALID,     // not one number (RFC 9112 section 6.3)                         400
    CRPC_FAULT_TRANSFER_ENCODING_INVALID,  // leaves the body's length open, or contradicts something (6.1) 400
    CRPC_FAULT_TRANSFER_ENCODING_UNKNOWN,  // a coding other than chunked                                   501
    CRPC_FAULT_HEAD_TOO_LARGE,             // past `header_bytes_max` or `header_fields_max` (RFC 6585)     431
    CRPC_FAULT_TARGET_TOO_LONG,            // past CRPC_TARGET_MAX                                          414
    CRPC_FAULT_VERSION,                    // an HTTP version that we do not speak, or gRPC over HTTP/1.x   505
    CRPC_FAULT_HEAD_TIMEOUT,               // a head that was begun and did not come in time                408
    CRPC_FAULT_METHOD_UNKNOWN,             // CONNECT, or HTTP/1.x and longer than CRPC_METHOD_MAX          501
} crpc_fault;

/// The longest method that HTTP/1.x reads, in bytes. Any other token is reported unchanged: the callee decides which methods
/// exist, and what another one gets (501, RFC 9110 section 15.6.2).
enum { CRPC_METHOD_MAX = 32 };
/// The longest request target, in bytes.
enum { CRPC_TARGET_MAX = 8192 };

/// The head of a request. Pointers are valid during the callback only.
typedef struct crpc_exchange_head {
    uint32_t version; // 10, 11 or 20
    crpc_fault fault; // with one, what could not be read is empty
    const uint8_t *method;
    size_t method_length;
    /// Path and query, from the slash on; `*` of OPTIONS. An absolute-form target is taken apart into this and the authority.
    const uint8_t *target;
    size_t target_length;
    /// One more than the number of the server's method whose path the target is; 0 where it is none's, or nobody looked.
    uint32_t method_number;
    /// Host or `:authority`; empty where HTTP/1.0 has none.
    const uint8_t *authority;
    size_t authority_length;
    /// The fields in their order, names in lower case, packed (crpc_metadata.h); without those of the connection (Connection,
    /// Keep-Alive, Proxy-Connection, Transfer-Encoding, Upgrade, TE, Host, Content-Length, Expect).
    const uint8_t *fields;
    size_t fields_length;
    /// Content-Length; -1 where none was said.
    int64_t content_length;
    /// Whether the request ends with its head.
    bool is_last;
    /// What to tell when the exchange's handler has ended: `crpc_handler_ended`.
    struct crpc_handlers *handlers;
} crpc_exchange_head;

/// The callbacks about exchanges; a part of `crpc_server_callbacks`. All NULL if the server takes none: such requests get a
/// response of this layer, and HTTP/1.x is not spoken.
typedef struct crpc_exchange_callbacks {
    /// A request's head came. Returns the exchange's context, and owes `crpc_handler_ended` once for it; NULL refuses it with
    /// 503, and owes nothing. It may answer before it returns.
    void *(*on_exchange)(void *server, void *peer, crpc_exchange *exchange, const crpc_exchange_head *head);
    /// Bytes of the body, which are valid during the callback only. Each owes `crpc_exchange_consume`. `is_last`: the request
    /// has ended, well; `length` may be 0 then, and then only.
    void (*on_exchange_body)(void *context, const uint8_t *bytes, size_t length, bool is_last);
    /// The body broke the rules of its framing, or did not come in time (`body_timeout_ms`): no more of it follows. What was
    /// not begun may still be answered; then the connection ends (HTTP/1.x), or the stream does. `error` is PROTOCOL or TIMEOUT.
    void (*on_exchange_broken)(void *context, int error);
    /// The queue fell under its low-water mark after it had been over the high one (CRPC_STREAM_HIGH_WATER).
    void (*on_exchange_writable)(void *context);
    /// The moment of `crpc_exchange_set_deadline` passed.
    void (*on_exchange_deadline)(void *context);
    /// The exchange has ended: `is_complete` if the whole answer was handed to the socket or its windows; else it was reset, or
    /// its connection ended. Last callback of the exchange.
    void (*on_exchange_close)(void *context, bool is_complete);
} crpc_exchange_callbacks;

/// Sends the whole answer: head and body. Both are copied. `fields` are packed and must be sendable (ARGUMENT); the layer adds
/// Date, Content-Length, and on HTTP/1.x Connection where the connection ends. To HEAD, and with 204 and 304, no body is sent;
/// Content-Length tells what GET would get, but with 204.
/// Errors: CLOSED, ARGUMENT, LIMIT (the client makes us hold more than `buffered_bytes_max`), MEMORY; with the last two the
/// exchange is reset.
int crpc_exchange_respond(
    crpc_exchange *exchange, uint32_t status, const uint8_t *fields, size_t fields_length, const uint8_t *body,
    size_t body_length);

/// Sends the head of an answer whose body follows: with `content_length` of so many bytes, with -1 until `finish` says so
/// (chunked; to HTTP/1.0 until the connection ends). Errors as above, and CLOSED where a head was sent.
int crpc_exchange_send_head(
    crpc_exchange *exchange, uint32_t status, const uint8_t *fields, size_t fields_length, int64_t content_length);

/// Queues bytes of the body. `memory` was allocated with malloc: `offset` bytes of room, then `length` of body. It is taken over
/// and freed in every case. Errors: CLOSED, ARGUMENT (no head yet, or more than its Content-Length), LIMIT, MEMORY.
int crpc_exchange_send(crpc_exchange *exchange, void *memory, size_t offset, size_t length);

/// Whether more may be sent: false once more than the high-water mark is queued, until `on_exchange_writable`.
bool crpc_exchange_is_writable(const crpc_exchange *exchange);

/// Ends the answer, with trailers (packed; may be empty), which HTTP/2 sends and chunked HTTP/1.1 where the request's TE said so,
/// else drops. Errors: CLOSED, ARGUMENT (no head yet; less than its Content-Length: then it is reset), MEMORY.
int crpc_exchange_finish(crpc_exchange *exchange, const uint8_t *trailers, size_t trailers_length);

/// Says that bytes of the body were taken off, so that the client may send more. With `keeps` they stay counted as held for the
/// client until the end of the exchange (a body that is collected), or until `release`. Errors: LIMIT (the client makes us hold
/// too much: answer it).
int crpc_exchange_consume(crpc_exchange *exchange, size_t length, bool keeps);

/// Says that bytes which were kept by `consume` are not kept any more, so that they are not counted as held.
void crpc_exchange_release(crpc_exchange *exchange, size_t length);

/// `on_exchange_deadline` fires at a moment on the loop's clock; 0 for none. Errors: MEMORY.
int crpc_exchange_set_deadline(crpc_exchange *exchange, uint64_t deadline_ns);

/// When the request's body must be whole, in the place of `body_timeout_ms`, on the loop's clock; 0 for no such moment, where it
/// is a stream that the handler bounds otherwise.
void crpc_exchange_set_body_deadline(crpc_exchange *exchange, uint64_t deadline_ns);

/// Makes the answer, whose head was not sent yet, the last of its connection of HTTP/1.x, which says Connection: close. Nothing
/// on HTTP/2, where a stream ends by itself.
void crpc_exchange_set_last(crpc_exchange *exchange);

/// Ends the exchange at once without (the rest of) an answer: RST_STREAM, or the end of the connection. `on_exchange_close`
/// follows in this turn or the next.
void crpc_exchange_reset(crpc_exchange *exchange);

/// HTTP/2: bytes of a body that are read on and dropped after the answer, so that a client that writes first reads its answer.
/// Each piece of it counts for CRPC_MESSAGE_OVERHEAD more, so that a crowd of small ones is no cheaper.
/// Also those of all open streams of a connection; past it one that drops more is stopped as past its own bound.
enum { CRPC_DROPPED_BODY_MAX = 8 << 20, CRPC_DROPPED_BODIES_MAX = 64 << 20 };
/// HTTP/1.x: those after which the connection still goes on.
enum { CRPC_KEPT_BODY_MAX = 262144 };

#endif
