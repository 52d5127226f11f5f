/// HTTP/2 on one connection (RFC 9113): bytes in, bytes out, and the next moment at which it wants to be asked.
///
/// It knows neither sockets nor what its streams mean. What carries its bytes feeds it what came (`crpc_h2_feed`), takes
/// what is to go out (`crpc_h2_produce`), and calls it at the moment that it names (`crpc_h2_next_ns`, `crpc_h2_on_time`).
/// Streams are reported to the layer above through a table of functions.
///
/// Ownership: `crpc_h2` is the first member of what is above, and owns its streams, which are the first members of what is
/// above for streams; those it allocates and keeps some of for reuse. Turn, tables and what is below outlive it; it does not
/// move. Thread: that of its turn. Callbacks: from inside of feed, on_time and end, and on_body also of produce; none after
/// `crpc_h2_end`.
///
/// The connection:
///
///     OPEN ────> DRAINING ────> FINAL        OPEN: takes new streams; they wait until `crpc_h2_start`
///      │  └───────────────────>  │           DRAINING: takes none (server: the first GOAWAY went out)
///      └──────────┬──────────────┘           FINAL: the last GOAWAY went out or, for a client, one came
///                 v                          BROKEN: it cannot go on, and ends with this turn
///              BROKEN ────> CLOSED           CLOSED: its streams got their end
///
/// A stream, our half and the peer's:
///
///     IDLE ──> OPEN ──> FINISHED             IDLE: no HEADERS of ours; OPEN: more may be queued; FINISHED: nothing more is
///      └────────┴──────────┴──> RESET        queued; RESET: we said RST_STREAM
///     HEAD ──> BODY ──> CLOSED               HEAD: waits for the head of a request or an answer; BODY: it came; CLOSED:
///      └────────┴──────────┴──> RESET        END_STREAM came; RESET: RST_STREAM came. HEAD ──> CLOSED where an answer is
///                                            nothing but trailers.
#ifndef CRPC_H2_CONNECTION_H
#define CRPC_H2_CONNECTION_H

#include "crpc_error.h"
#include "crpc_limits.h"
#include "http2/fields.h"
#include "http2/guard.h"
#include "http2/known_literals.h"
#include "http2/request_rules.h"
#include "loop/link.h"
#include "loop/states.h"
#include "loop/turn.h"

#include <sys/types.h>

typedef struct crpc_h2 crpc_h2;
typedef struct crpc_h2_stream crpc_h2_stream;

typedef enum crpc_h2_state {
    CRPC_H2_OPEN, CRPC_H2_DRAINING, CRPC_H2_FINAL, CRPC_H2_BROKEN, CRPC_H2_CLOSED, CRPC_H2_STATES
} crpc_h2_state;
typedef enum crpc_local {
    CRPC_LOCAL_IDLE, CRPC_LOCAL_OPEN, CRPC_LOCAL_FINISHED, CRPC_LOCAL_RESET, CRPC_LOCAL_STATES
} crpc_local;
typedef enum crpc_remote {
    CRPC_REMOTE_HEAD, CRPC_REMOTE_BODY, CRPC_REMOTE_CLOSED, CRPC_REMOTE_RESET, CRPC_REMOTE_STATES
} crpc_remote;

/// The moves above, as bits of the states that each may go to.
extern const uint8_t crpc_h2_moves[CRPC_H2_STATES];
extern const uint8_t crpc_local_moves[CRPC_LOCAL_STATES];
extern const uint8_t crpc_remote_moves[CRPC_REMOTE_STATES];

/// What a connection waits for; the first to be due is when it wants to be asked.
typedef enum crpc_due {
    CRPC_DUE_HANDSHAKE,
    CRPC_DUE_IDLE,
    CRPC_DUE_DRAIN,
    CRPC_DUE_GOAWAY,    // the second one, at the latest
    CRPC_DUE_AGE,
    CRPC_DUE_KEEPALIVE, // to look whether a PING is due
    CRPC_DUE_PONG,      // a PING is out
    CRPC_DUE_FRAME,     // a frame or header block has begun
    CRPC_DUE_SWEEP,     // what is above wants to look at its streams
    CRPC_DUE_COUNT
} crpc_due;

/// What comes after bytes of a body that were asked for.
typedef enum crpc_body {
    CRPC_BODY_MORE,     // more of it, at once
    CRPC_BODY_WAITS,    // nothing, until `crpc_h2_stream_resume`
    CRPC_BODY_ENDS,     // END_STREAM
    CRPC_BODY_TRAILERS, // trailers, which were submitted
    CRPC_BODY_FAILED,   // nothing: without memory the stream is reset
} crpc_body;

/// What is above: one table for each role.
typedef struct crpc_h2_above {
    size_t stream_size;            // of its object for a stream, which has the `crpc_h2_stream` first
    const crpc_known_names *names; // that headers are looked up in
    /// A stream object is new, or used again: what is behind its first member is zeros or what the last use left.
    void (*on_begin)(crpc_h2_stream *stream);
    /// A field of a head or of trailers that keeps to the rules and the limits. Errors: MEMORY; then the stream is reset.
    int (*on_field)(crpc_h2_stream *stream, int header, const crpc_entry *field);
    /// A header block is whole: the head of a request or an answer, or trailers.
    void (*on_head)(crpc_h2_stream *stream, bool ends_stream);
    /// DATA. It gives the windows back, of stream and connection. Errors: MEMORY; then the connection ends.
    int (*on_data)(crpc_h2_stream *stream, const uint8_t *bytes, size_t length, bool ends_stream);
    /// END_STREAM came, and `on_data` was not told so.
    void (*on_end_stream)(crpc_h2_stream *stream);
    /// DATA is to be sent: writes at most `room` bytes and says what follows.
    size_t (*on_body)(crpc_h2_stream *stream, uint8_t *target, size_t room, crpc_body *next);
    /// Server: END_STREAM of ours went out on a stream that `reads_on`, before that of the peer came.
    void (*on_answered)(crpc_h2_stream *stream);
    /// The stream has ended, with an error code of HTTP/2. It is not used after it.
    void (*on_close)(crpc_h2_stream *stream, uint32_t error);
    /// A stream object is freed after it: frees what it still holds.
    void (*on_free)(crpc_h2_stream *stream);
    /// The peer's first SETTINGS came.
    void (*on_settings)(crpc_h2 *h2);
    /// GOAWAY came (client).
    void (*on_goaway)(crpc_h2 *h2);
    /// CRPC_DUE_SWEEP is due. No stream ends in it.
    void (*on_sweep)(crpc_h2 *h2);
} crpc_h2_above;

/// What is below, where somebody there wants to know; each may be NULL.
typedef struct crpc_h2_below {
    void (*on_settings)(crpc_h2 *h2); // the peer's first SETTINGS came: its handshake is done
    void (*on_idle)(crpc_h2 *h2);     // no stream is open, or none any more
    void (*on_busy)(crpc_h2 *h2);     // one is
} crpc_h2_below;

struct crpc_h2 {
    crpc_turn *turn;
    const crpc_h2_above *above;
    const crpc_h2_below *below;
    struct nghttp2_session *session; // http2/session.c's and session_events.c's alone
    crpc_h2_state state;             // written by `crpc_h2_set_state` alone
    bool is_server;
    bool is_started;                 // what carries it is open
    crpc_limits limits;
    crpc_guard guard;
    crpc_known_literals literals;    // server: of the heads of requests
    crpc_chore flush, close;         // what is below sets their functions
    uint64_t due_ns[CRPC_DUE_COUNT]; // 0 for not at all
    uint64_t next_ns;                // no later than the first of these
    uint64_t last_received_ns;
    struct {
        int error;              // why it is broken
        uint32_t code;          // for our own GOAWAY, where the session cannot send one: HTTP/2's error,
        const char *reason;     // and a constant text
        bool is_session_over;   // the session failed, and is only to be freed
        bool is_terminated;     // our GOAWAY named an error: the peer broke HTTP/2
        bool is_dismissed;      // the peer's did
        bool pinged_too_often;  // says the server
    } end;
    struct {
        bool has_settings;      // the peer's SETTINGS came
        bool is_blocked;        // what we produced waits for the peer; what is below writes it
        int32_t last_id;        // server: the last stream that the peer opened
        crpc_h2_stream *in_block; // whose header block is coming in, or NULL
        crpc_authority authority; // of the request in it
        uint32_t data_left;     // bytes of the DATA frame that is coming in
        bool data_ends_stream;
    } remote;
    crpc_link streams;          // open ones
    crpc_h2_stream *free_streams;
    uint32_t stream_count, free_stream_count;
};

/// A stream. Zeros are one that has just begun, but for its links and numbers.
struct crpc_h2_stream {
    crpc_h2 *h2;
    crpc_link link;
    crpc_h2_stream *next_free;
    uint64_t began_ns;
    int32_t id;               // -1 for a request that is not submitted
    struct {
        uint8_t state;        // crpc_local; written by `crpc_h2_stream_set_local` alone
        bool is_deferred;     // `on_body` said that it waits
        bool is_cut_short;    // server: ended in its handler's place, which earns the peer nothing
        bool is_answered;     // server: `on_answered` has fired
        uint32_t reset_error; // of our RST_STREAM
    } local;
    struct {
        uint8_t state;        // crpc_remote; written by `crpc_h2_stream_set_remote` alone
        bool is_malformed;    // server: it is no HTTP (RFC 9113 section 8.1.1), and is reset
        bool is_charged;      // server: as one that was wasted
        bool is_head_too_large; // past `header_bytes_max`: counted, and not handed on
        bool reads_on;        // server: what comes after the answer is read (`on_answered`), not stopped; set above
        size_t field_bytes;   // of the header block that is coming in
        crpc_request_state request;
    } remote;
};

/// Most stream objects that a connection keeps for reuse.
enum { CRPC_FREE_STREAMS_MAX = 32 };

// ---- States ----

static inline void crpc_h2_set_state(crpc_h2 *h2, crpc_h2_state state) {
    if (crpc_may_move(crpc_h2_moves, h2->state, state, "an illegal move of a connection")) h2->state = state;
}
static inline void crpc_h2_stream_set_local(crpc_h2_stream *stream, crpc_local state) {
    if (crpc_may_move(crpc_local_moves, stream->local.state, state, "an illegal move of a stream's local half"))
        stream->local.state = (uint8_t)state;
}
static inline void crpc_h2_stream_set_remote(crpc_h2_stream *stream, crpc_remote state) {
    if (crpc_may_move(crpc_remote_moves, stream->remote.state, state, "an illegal move of a stream's remote half"))
        stream->remote.state = (uint8_t)state;
}
/// Whether it ends with this turn, or has.
static inline bool crpc_h2_is_broken(const crpc_h2 *h2) { return h2->state >= CRPC_H2_BROKEN; }
/// Whether it takes no new streams though it goes on.
static inline bool crpc_h2_is_draining(const crpc_h2 *h2) {
    return h2->state == CRPC_H2_DRAINING || h2->state == CRPC_H2_FINAL;
}
/// Whether nothing more of ours is queued on a stream.
static inline bool crpc_h2_stream_is_finished(const crpc_h2_stream *stream) {
    return stream->local.state >= CRPC_LOCAL_FINISHED;
}
/// Whether nothing more of the peer comes on a stream.
static inline bool crpc_h2_stream_is_half_closed(const crpc_h2_stream *stream) {
    return stream->remote.state >= CRPC_REMOTE_CLOSED;
}

// ---- Bytes in, bytes out, time (http2_connection.c, time.c) ----

/// Begins a connection in memory of zeros. `flush.run` and `close.run` are set by the caller. Errors: MEMORY; then
/// nothing is held.
int crpc_h2_begin(
    crpc_h2 *h2, crpc_turn *turn, const crpc_limits *limits, bool is_server, const crpc_h2_above *above,
    const crpc_h2_below *below);
/// What carries it is open: bytes can go both ways.
void crpc_h2_start(crpc_h2 *h2);
/// Takes bytes that came, at most CRPC_READ_BUFFER. False if the connection cannot go on.
bool crpc_h2_feed(crpc_h2 *h2, const uint8_t *bytes, size_t length);
/// To be called once before the first `feed` of a turn: something came, or is to be read. False as above.
bool crpc_h2_note_readable(crpc_h2 *h2);
/// Writes frames while there is room for a whole one, CRPC_FRAME_ROOM bytes. The bytes written, 0 if nothing waits, or a
/// crpc_error: then the connection cannot go on.
ssize_t crpc_h2_produce(crpc_h2 *h2, uint8_t *target, size_t room);
/// Whether a flush has something to do: frames to send, or the end.
bool crpc_h2_has_something(const crpc_h2 *h2);
/// Looks whether too much waits to be sent. After the last `feed` of a turn. False as above.
bool crpc_h2_note_fed(crpc_h2 *h2);
/// After the last `produce` of a turn: ends the connection if nothing is left to do.
void crpc_h2_note_produced(crpc_h2 *h2);
/// Writes what is left to say where the connection ends, as `produce`; what fails is not told.
ssize_t crpc_h2_goodbye(crpc_h2 *h2, uint8_t *target, size_t room);
/// Ends the streams, then frees all but `h2` itself.
void crpc_h2_end_streams(crpc_h2 *h2);
void crpc_h2_end(crpc_h2 *h2);

/// When it wants to be asked; UINT64_MAX for never. It may turn out to be too early.
static inline uint64_t crpc_h2_next_ns(const crpc_h2 *h2) { return h2->next_ns; }
/// Does what is due.
void crpc_h2_on_time(crpc_h2 *h2);

/// Room for the longest frame that is sent.
enum { CRPC_FRAME_ROOM = 32768 };

/// Asks for a flush at the end of this turn: there is something to send or to tell, or a moment has changed.
static inline void crpc_h2_mark(crpc_h2 *h2) { crpc_chore_request(&h2->turn->flushes, &h2->flush); }

// ---- The end (end.c) ----

/// The connection cannot go on: it ends with this turn.
void crpc_h2_break(crpc_h2 *h2, int error);
/// The same, after a GOAWAY with an HTTP/2 error code and a constant text that say why.
void crpc_h2_dismiss(crpc_h2 *h2, int error, uint32_t code, const char *reason);
/// The same for a peer that asks too much: ENHANCE_YOUR_CALM and CRPC_ERROR_LIMIT.
void crpc_h2_calm(crpc_h2 *h2, const char *reason);
/// The same for one without streams, well and at once, since another needs its place: what the peer may have begun is past
/// the last stream that our GOAWAY names, so that it can try again elsewhere.
void crpc_h2_make_room(crpc_h2 *h2);
/// Takes no more streams, lets those there end, then ends.
void crpc_h2_drain(crpc_h2 *h2);
/// Client: says GOAWAY once it drains and its last stream has ended. Earlier, a server whose streams are all done might
/// close before it sees those that still wait to go out.
void crpc_h2_submit_last_goaway(crpc_h2 *h2);
/// Dismisses the peer if the guard says so. Whether the connection goes on.
bool crpc_h2_obey(crpc_h2 *h2, crpc_verdict verdict);
/// Takes credit. Whether the connection goes on.
static inline bool crpc_h2_charge(crpc_h2 *h2, int32_t cost) {
    crpc_verdict verdict = crpc_guard_charge(&h2->guard, cost, h2->turn->now_ns);
    return verdict == CRPC_VERDICT_FINE || crpc_h2_obey(h2, verdict);
}

// ---- Moments (time.c) ----

static inline uint64_t crpc_h2_after_ms(const crpc_h2 *h2, uint32_t ms) {
    return h2->turn->now_ns + crpc_ns_of_ms(ms);
}
/// Sets a moment.
static inline void crpc_h2_set_due(crpc_h2 *h2, crpc_due due, uint64_t ns) {
    h2->due_ns[due] = ns;
    if (ns != 0 && ns < h2->next_ns) h2->next_ns = ns;
}
/// Sets one for so long after now; 0 ms for none.
static inline void crpc_h2_limit(crpc_h2 *h2, crpc_due due, uint32_t ms) {
    crpc_h2_set_due(h2, due, ms == 0 ? 0 : crpc_h2_after_ms(h2, ms));
}
/// The peer answered the PING that went out with the first GOAWAY.
void crpc_h2_note_round_trip(crpc_h2 *h2);
/// Begins those that a connection has which is open.
void crpc_h2_begin_limits(crpc_h2 *h2);
/// Between the two GOAWAYs there is a round trip, which a PING measures, so that calls on their way are taken (RFC 9113
/// section 6.8); from a peer that does not answer it this long. A handshake that is under way has as long to end.
enum { CRPC_ROUND_TRIP_MAX_MS = 2000 };
/// Time between sweeps while a connection drains, at most.
enum { CRPC_DRAIN_SWEEP_MS = 500 };
/// "goodbye!": what the PING between the GOAWAYs carries.
extern const uint8_t crpc_goodbye_payload[8];

// ---- Streams (stream.c) ----

/// Begins a stream. NULL without memory.
crpc_h2_stream *crpc_h2_stream_begin(crpc_h2 *h2, int32_t id);
/// Ends a stream: its last callback, then the object goes back.
void crpc_h2_stream_end(crpc_h2_stream *stream, uint32_t error);
/// Says RST_STREAM, once. The stream ends when that is out. Without memory the connection breaks.
void crpc_h2_stream_reset(crpc_h2_stream *stream, uint32_t error);
/// `on_body` has something again.
void crpc_h2_stream_resume(crpc_h2_stream *stream);
/// Server: the peer wasted a stream, and pays for it, once. Whether the connection goes on.
bool crpc_h2_stream_charge(crpc_h2_stream *stream);
/// Whether it has only just begun (http2/guard.h).
static inline bool crpc_h2_stream_is_rapid(const crpc_h2_stream *stream) {
    return crpc_guard_is_rapid(stream->began_ns, stream->h2->turn->now_ns);
}

#endif
