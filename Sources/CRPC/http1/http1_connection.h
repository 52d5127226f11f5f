/// HTTP/1.x on a server's connection (RFC 9112): bytes in, bytes out, and the next moment at which it wants to be asked.
///
/// It knows neither sockets nor what requests mean. What carries its bytes, a socket (transport/driver.h) or a test, does in
/// each turn:
///
///     crpc_h1_feed       for bytes that came, at most crpc_h1_read_room each time, between _note_readable and _note_fed;
///                        where that is 0, nothing is to be read until a flush or a moment has changed it
///     crpc_h1_note_end   when the peer said that nothing more comes (a FIN, TLS's close_notify)
///     crpc_h1_on_time    at crpc_h1_next_ns
///     crpc_h1_prepare, crpc_h1_produce until it gives 0, crpc_h1_conclude
///                        where its `flush` chore was asked for
///     crpc_h1_tell_end, crpc_h1_end
///                        where its `close` chore was asked for; nothing is left to be said then
///
/// One request at a time: it is an exchange (crpc_exchange.h), and what follows it waits in a bounded buffer, then in the
/// kernel's, until its answer is out. A request whose end is uncertain is reported as a fault and answered in its turn;
/// then the connection ends.
///
/// Ownership: part of what carries it; it does not move. Service, limits' copy and what is below outlive it. Thread: that of its
/// turn. Callbacks: from inside of all of these but begin, next_ns and read_room; none from inside of functions that users
/// call (crpc_exchange.h); none after `crpc_h1_tell_end`.
///
/// The connection, what comes in, and the answer:
///
///     OPEN ──> DRAINING ──> BROKEN ──> CLOSED     DRAINING: the answer to what has come is the last; BROKEN: it ends with
///       └──────────────────────┘                  this turn; CLOSED: its exchange got its end
///
///     HEAD ──> BODY ──> ENDED ──> HEAD            HEAD: waits for a head, or for the rest of one; ENDED: the request is whole,
///       └────────┴────────┴──> DEAF               what comes waits for its answer; DEAF: what comes is dropped
///
///     NONE ──> IDLE ──> OPEN ──> FINISHED ──> NONE    NONE: there is no exchange; OPEN: a head was sent;
///                └────────┴─────────┴──> NONE         FINISHED: some of the answer may wait to go out
#ifndef CRPC_H1_CONNECTION_H
#define CRPC_H1_CONNECTION_H

#include "crpc_error.h"
#include "crpc_limits.h"
#include "http/authority.h"
#include "http/exchange.h"
#include "http/handlers.h"
#include "http/service.h"
#include "http1/chunks.h"
#include "http1/output.h"
#include "loop/link.h"
#include "loop/states.h"
#include "loop/turn.h"

#include <sys/types.h>

typedef struct crpc_h1 crpc_h1;

typedef enum crpc_h1_state {
    CRPC_H1_OPEN, CRPC_H1_DRAINING, CRPC_H1_BROKEN, CRPC_H1_CLOSED, CRPC_H1_STATES
} crpc_h1_state;
typedef enum crpc_h1_coming {
    CRPC_H1_HEAD, CRPC_H1_BODY, CRPC_H1_ENDED, CRPC_H1_DEAF, CRPC_H1_COMINGS
} crpc_h1_coming;
typedef enum crpc_h1_answer {
    CRPC_H1_ANSWER_NONE, CRPC_H1_ANSWER_IDLE, CRPC_H1_ANSWER_OPEN, CRPC_H1_ANSWER_FINISHED, CRPC_H1_ANSWERS
} crpc_h1_answer;

/// The moves above, as bits of the states that each may go to.
extern const uint8_t crpc_h1_moves[CRPC_H1_STATES];
extern const uint8_t crpc_h1_coming_moves[CRPC_H1_COMINGS];
extern const uint8_t crpc_h1_answer_moves[CRPC_H1_ANSWERS];

/// What a connection waits for; the first to be due is when it wants to be asked.
typedef enum crpc_h1_due {
    CRPC_H1_DUE_HEAD,     // the rest of a head, or the first byte of the first
    CRPC_H1_DUE_IDLE,     // another request
    CRPC_H1_DUE_BODY,     // the end of a body
    CRPC_H1_DUE_DEADLINE, // of the exchange
    CRPC_H1_DUE_LEAVE,    // idle while it drains
    CRPC_H1_DUE_DRAIN,    // it has drained for too long
    CRPC_H1_DUE_AGE,
    CRPC_H1_DUE_HALF,     // the peer has ended its half
    CRPC_H1_DUE_COUNT
} crpc_h1_due;

/// What is below, where somebody there wants to know; each may be NULL.
typedef struct crpc_h1_below {
    void (*on_ready)(crpc_h1 *h1); // the first head is whole: its handshake is done
    void (*on_idle)(crpc_h1 *h1);  // no request is being answered, or none any more; first after `on_ready`
    void (*on_busy)(crpc_h1 *h1);  // one is
} crpc_h1_below;

struct crpc_h1 {
    crpc_exchange exchange;          // the one that is there; always at the same place
    crpc_turn *turn;
    crpc_service *service;
    const crpc_h1_below *below;
    crpc_handlers *handlers;
    void *peer;                      // what on_open returned
    void *context;                   // what on_exchange returned, while there is an exchange; NULL: nothing is reported
    crpc_h1_state state;             // written by `crpc_h1_set_state` alone
    uint8_t coming;                  // crpc_h1_coming; written by `crpc_h1_set_coming` alone
    uint8_t answer;                  // crpc_h1_answer; written by `crpc_h1_set_answer` alone
    bool is_started;                 // what carries it is open
    bool is_ready;                   // a head, or a fault, came
    bool is_blocked;                 // what we produced waits for the peer; what is below writes it
    bool has_peer_ended;             // nothing more comes
    bool has_moved;                  // bytes were given out since the last look at a half-closed client
    bool leaves_rest;                // it ends within a body, or before one, which the client may send to its end
    int error;                       // why it is broken
    crpc_limits limits;
    crpc_chore flush, close;         // what is below sets their functions
    uint64_t due_ns[CRPC_H1_DUE_COUNT]; // 0 for not at all
    uint64_t next_ns;                // no later than the first of these
    uint64_t idle_ns;                // since when there is no request
    uint64_t half_ends_ns;           // until when a client that has ended its half is answered
    uint32_t request_count;
    crpc_authority authority;        // of the last request
    struct {                         // what the peer may have us do (crpc_limits.h)
        int32_t left;
        uint64_t refilled_ns;
    } credit;
    struct {                         // what came and was not looked at yet: a part of a head, or pipelined requests
        uint8_t *bytes;
        size_t start, length, capacity;
        size_t more_at;              // of a head: crpc_h1_head; 0 where none has begun
    } waiting;
    struct {                         // the request that is there
        bool is_old;                 // HTTP/1.0
        bool is_head;                // HEAD
        bool is_chunked;
        bool takes_trailers;
        bool keeps_alive;            // as far as the client is concerned
        bool awaits_continue;        // Expect: 100-continue, and neither that nor a byte of the body went
        bool is_followed;            // others had come when its end was reported
        bool is_counted;             // among the service's calls
        bool is_refused;             // answered here, which earns the client nothing
        uint64_t left;               // of a body with Content-Length
        crpc_chunks chunks;
        size_t unread_bytes;         // told, and not consumed
        size_t kept_bytes;           // consumed, and kept
        size_t dropped_bytes;
    } request;
    crpc_h1_output output;           // what goes out
    size_t held_bytes;               // of all that the client makes us hold
};

static inline crpc_h1 *crpc_h1_of(crpc_exchange *exchange) { return CRPC_CONTAINER(exchange, crpc_h1, exchange); }

// ---- States ----

static inline void crpc_h1_set_state(crpc_h1 *h1, crpc_h1_state state) {
    if (crpc_may_move(crpc_h1_moves, h1->state, state, "an illegal move of an HTTP/1.x connection")) h1->state = state;
}
static inline void crpc_h1_set_coming(crpc_h1 *h1, crpc_h1_coming coming) {
    if (crpc_may_move(crpc_h1_coming_moves, h1->coming, coming, "an illegal move of an HTTP/1.x request"))
        h1->coming = (uint8_t)coming;
}
static inline void crpc_h1_set_answer(crpc_h1 *h1, crpc_h1_answer answer) {
    if (crpc_may_move(crpc_h1_answer_moves, h1->answer, answer, "an illegal move of an HTTP/1.x answer"))
        h1->answer = (uint8_t)answer;
}
/// Whether it ends with this turn, or has.
static inline bool crpc_h1_is_broken(const crpc_h1 *h1) { return h1->state >= CRPC_H1_BROKEN; }

// ---- Bytes in, bytes out, time ----

/// Begins a connection in memory of zeros. `flush.run` and `close.run` are set by the caller. Errors: MEMORY; then nothing is
/// held.
int crpc_h1_begin(crpc_h1 *h1, crpc_service *service, const crpc_limits *limits, const crpc_h1_below *below);
/// What carries it is open. `peer` is what the service's `on_open` returned, which what is below calls, as it does
/// `on_connection_close` after `crpc_h1_tell_end`.
/// `head_timeout_ms` of the first head runs from `began_ns` on.
void crpc_h1_start(crpc_h1 *h1, void *peer, uint64_t began_ns);
/// Something came, or is to be read: once before the first `feed` of a turn. False if the connection cannot go on.
static inline bool crpc_h1_note_readable(crpc_h1 *h1) { return !crpc_h1_is_broken(h1); }
/// Most bytes that may be fed now, at most CRPC_READ_BUFFER; 0 if nothing is to be read.
size_t crpc_h1_read_room(const crpc_h1 *h1);
/// Takes bytes that came. False as above.
bool crpc_h1_feed(crpc_h1 *h1, const uint8_t *bytes, size_t length);
/// The peer sends no more. A request that is whole is still answered, within CRPC_H1_HALF_CLOSED_MS; nothing more is to be
/// read. False if the connection ends with this turn.
bool crpc_h1_note_end(crpc_h1 *h1);
/// After the last `feed` of a turn: asks to be flushed, if there is something to send. False as above.
bool crpc_h1_note_fed(crpc_h1 *h1);
/// Before bytes are taken. False if there is nothing to be sent.
bool crpc_h1_prepare(crpc_h1 *h1);
/// Writes what waits to go out, as far as there is room, and goes on with the next request once an answer is out. The bytes
/// written, or a crpc_error: then the connection cannot go on.
ssize_t crpc_h1_produce(crpc_h1 *h1, uint8_t *target, size_t room);
/// After the last bytes that were taken: asks to be flushed again, or ends the connection if nothing is left to do.
void crpc_h1_conclude(crpc_h1 *h1);
/// When it wants to be asked; UINT64_MAX for never. It may turn out to be too early.
static inline uint64_t crpc_h1_next_ns(const crpc_h1 *h1) { return h1->next_ns; }
void crpc_h1_on_time(crpc_h1 *h1);
/// Ends its exchange, then frees all but `h1` itself.
void crpc_h1_tell_end(crpc_h1 *h1);
void crpc_h1_end(crpc_h1 *h1);

/// Asks for a flush at the end of this turn: there is something to send or to tell, or a moment has changed.
static inline void crpc_h1_mark(crpc_h1 *h1) { crpc_chore_request(&h1->turn->flushes, &h1->flush); }

// ---- The end ----

/// The connection cannot go on: it ends with this turn.
void crpc_h1_break(crpc_h1 *h1, int error);
/// The same for one without a request, well and at once, since another needs its place.
static inline void crpc_h1_make_room(crpc_h1 *h1) { crpc_h1_break(h1, CRPC_OK); }
/// Answers what is there and what has come, the last with Connection: close; then ends. One that has been idle for a while
/// ends at once; one that has not waits as long for a request that may be on its way.
void crpc_h1_drain(crpc_h1 *h1);
/// Takes credit. Whether the connection goes on.
bool crpc_h1_charge(crpc_h1 *h1, uint32_t cost);

/// Time that a client which has ended its half still has for its answer: it may as well have gone. Each LOOK an answer that was
/// begun, of which nothing waits to go out and nothing went out since the last one, ends its connection.
enum { CRPC_H1_HALF_CLOSED_MS = 10000, CRPC_H1_HALF_LOOK_MS = 1000 };
/// A connection that drains ends once it has been idle for so long: a client that makes one request after the other has the
/// next one on its way, and learns from its answer that it is the last.
enum { CRPC_H1_LEAVE_MS = 500 };
/// Bytes that are read on while a request is being answered, those of pipelined requests.
enum { CRPC_H1_PIPELINED_MAX = 16384 };

#endif
