/// The bounds of a connection, and what its peer may have us do.
#ifndef CRPC_LIMITS_H
#define CRPC_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/// Every bound of a connection. `crpc_limits_default` returns the defaults. Each says what happens to a peer that exceeds
/// it; "dismissed" means GOAWAY with ENHANCE_YOUR_CALM (RFC 9113 section 7), then the end of the connection, which
/// others do not notice.
typedef struct crpc_limits {
    /// Streams that the peer may have open at once; past it REFUSED_STREAM. Server: twice as many
    /// handlers of its calls may run at once, those among them whose streams have ended; past it RESOURCE_EXHAUSTED.
    uint32_t streams_max;
    /// Bytes of a message; past it RESOURCE_EXHAUSTED.
    uint32_t message_bytes_max;
    /// Bytes of one header block: names, values and 32 for each (RFC 9113 section 6.5.2); past it RESOURCE_EXHAUSTED. A
    /// peer whose block has more than four times as many in compressed form, or more than `continuations_max` frames
    /// after its first, is dismissed before the block ends.
    uint32_t header_bytes_max;
    uint32_t continuations_max;
    /// Flow control: bytes that the peer may send on one stream, and on all, before we take them off.
    uint32_t stream_window_bytes;
    uint32_t connection_window_bytes;
    /// Server: bytes that one connection may make us hold: answers that wait for its windows, messages that it has not sent
    /// to the end, messages that no handler has read, requests and metadata of calls that are being answered; those of a
    /// stream with CRPC_MESSAGE_OVERHEAD for each message. Past half of it, the peer's window for the connection is given
    /// back only as messages are read. Past it, new calls get RESOURCE_EXHAUSTED, and so do those to which a message would
    /// be added, either way. The one that goes past the bound is held whole. While a loop holds more than half of
    /// `held_bytes_max` (crpc_listener.h), this is no more than an equal share of the other half. A client's connection has no
    /// such bound: what it holds are the answers to calls that its own side opened, each within a stream's window, and
    /// messages that its own side queued although the stream was not writable.
    uint32_t buffered_bytes_max;
    /// Frames that wait to be sent, answers' heads among them; past it the peer is dismissed. At least four for each of
    /// `streams_max`.
    uint32_t queued_frames_max;
    /// What a peer may have us do beside its calls: see `CRPC_COST_FRAME` and its neighbours. It begins with as much
    /// credit, gets some back each second, and more by calls that run to their end. Without any left it is dismissed.
    uint32_t credit_max;
    uint32_t credit_per_second;
    /// Time for connecting, TLS and the peer's first SETTINGS; and for each frame (but DATA) and header block that was
    /// begun to be whole.
    uint32_t handshake_timeout_ms;
    /// Time without a call after which a connection is drained; 0 for never.
    uint32_t idle_timeout_ms;
    /// Time in which a peer that lets bytes wait must take CRPC_WRITE_PROGRESS_MIN of them, or all.
    uint32_t write_stall_timeout_ms;
    /// Server: time in which the peer's windows must take CRPC_STREAM_PROGRESS_MIN bytes, or all, of a call that we have
    /// answered, or that has more than the high-water mark queued; past it the stream is reset. Time in
    /// which the socket takes nothing does not count: that is `write_stall_timeout_ms`'s. Also, while more than half of
    /// `buffered_bytes_max` is held, for which a handler may leave messages unread; past it the call ends with
    /// RESOURCE_EXHAUSTED. Looked at, as the next limit is, each quarter of the shorter of the two.
    uint32_t answer_stall_timeout_ms;
    /// Time for a message that was begun to be whole; past it the call ends with DEADLINE_EXCEEDED. Server: a request that is
    /// not consumed manually has twice that, from its head to its end.
    uint32_t message_timeout_ms;
    /// Time for calls to finish once draining began.
    uint32_t drain_timeout_ms;
    /// Exchanges: fields of a request's head; past it, as past `header_bytes_max`, CRPC_FAULT_HEAD_TOO_LARGE.
    uint32_t header_fields_max;
    /// HTTP/1.x: time for the head of a request from its first byte on, and for the first one since the connection began: since
    /// it was accepted in clear text, since the handshake's end under TLS. Past it CRPC_FAULT_HEAD_TIMEOUT, or the end of the
    /// connection where nothing has come. (In clear text one of which not a byte has come ends at `handshake_timeout_ms`: which
    /// protocol it speaks is not known.)
    uint32_t head_timeout_ms;
    /// Exchanges: time for the whole body of a request, since its head; past it `on_exchange_broken`. Also for what is left of
    /// a body after the answer, since that; past it RST_STREAM with NO_ERROR, or the end of a connection of HTTP/1.x.
    uint32_t body_timeout_ms;
    /// HTTP/1.x: time without a request after which a connection is closed; 0 for never.
    uint32_t keep_alive_timeout_ms;
    /// HTTP/1.x: requests of one connection, the last of which says Connection: close; 0 for no bound.
    uint32_t requests_per_connection_max;
    /// Server: age at which a connection is drained, a tenth more or less so that not all go at once, and the time that
    /// its calls then have; 0 for no such age.
    uint32_t connection_age_max_ms;
    uint32_t connection_age_grace_ms;
    /// Keepalive (gRFC A8): time in which nothing was received after which a PING asks whether the peer is there; 0 for
    /// never. A client does so while it has calls, or always if `keepalive_without_calls`. Nothing received in
    /// `keepalive_timeout_ms` after that ends the connection, its calls with UNAVAILABLE.
    uint32_t keepalive_interval_ms;
    uint32_t keepalive_timeout_ms;
    bool keepalive_without_calls;
    /// Server: least time between a client's PINGs while we send it nothing. Without calls it is CRPC_PING_IDLE_MS at
    /// least, unless `permits_pings_without_calls`. Each that comes sooner is a strike; messages and heads that we send
    /// wipe them out; past the most strikes the client is dismissed with "too_many_pings" (gRFC A8, A9). 0 for any time.
    uint32_t ping_interval_min_ms;
    uint32_t ping_strikes_max;
    bool permits_pings_without_calls;
} crpc_limits;

/// What a peer pays out of its credit (`credit_max`), and why:
///
/// - FRAME: any frame but DATA with bytes in it, whether its type is known or not, since each is work. Also DATA on a stream
///   that is over, once the peer must know that; a stream past `streams_max`, since a peer may open it before it knows our
///   SETTINGS; and each entry of a header block past `header_bytes_max`.
/// - PING and SETTINGS: each wants an answer. An acknowledgement costs what a frame does.
/// - TLS: a message after the handshake, such as KeyUpdate, for which keys are derived.
/// - RESET: a call that is wasted. The peer resets it without an answer within CRPC_RAPID_RESET_MS of its begin
///   (CVE-2023-44487), or sets it a deadline that passes within that, or makes us end it by breaking the rules of HTTP or
///   gRPC (CVE-2025-8671).
enum { CRPC_COST_FRAME = 1, CRPC_COST_PING = 2, CRPC_COST_SETTINGS = 10, CRPC_COST_TLS = 10, CRPC_COST_RESET = 12 };
/// What frames that we send bring back: HEADERS, and DATA of CRPC_EARNING_BYTES_MIN. A server's HEADERS do so when the call
/// has ended, and if its handler ended it; one that was refused, or ended in the handler's place, brings back what its head
/// cost. A unary call that is answered earns as much as one that is cancelled at once costs.
enum { CRPC_GAIN_HEADERS = 5, CRPC_GAIN_DATA = 2, CRPC_EARNING_BYTES_MIN = 16, CRPC_RAPID_RESET_MS = 100 };
/// Least bytes that a slow peer must take in `write_stall_timeout_ms`.
enum { CRPC_WRITE_PROGRESS_MIN = 16384 };
/// Least bytes of one stream's answer that its client's windows must take in `answer_stall_timeout_ms`. Less than the above,
/// since many streams share a connection.
enum { CRPC_STREAM_PROGRESS_MIN = 4096 };
/// Least time between PINGs on a connection without calls: two hours, as gRPC's servers have it.
enum { CRPC_PING_IDLE_MS = 7200000 };
/// Past HIGH_WATER queued bytes a stream or exchange is not writable; below LOW_WATER `on_writable` fires.
enum { CRPC_STREAM_HIGH_WATER = 65536, CRPC_STREAM_LOW_WATER = 16384 };
/// Fills in the defaults.
void crpc_limits_default(crpc_limits *limits);

#endif
