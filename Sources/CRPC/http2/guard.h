/// The guard against floods: it looks at the frames that come in before anybody else does, and counts what they cost.
///
/// Pure: bytes, limits and the time go in, a verdict comes out. Part of its connection, whose limits outlive it; one thread;
/// no callback, no memory of its own.
///
/// Each frame is judged by its nine bytes of head (and of padded DATA the tenth), so that also those count which the
/// session drops without a word. A connection has credit; a frame that is not part of a call's data costs some
/// (crpc_limits.h says how much), time and what we send of calls bring some back. Who keeps to calls never runs out of it,
/// and who does nothing else is out of it soon.
///
///     in the client's preface ──> in a head (head_length < 9) ──> in a payload (payload_left > 0) ──> in the next head
#ifndef CRPC_GUARD_H
#define CRPC_GUARD_H

#include "crpc_limits.h"
#include "http2/frames.h"

#include <stddef.h>

typedef enum crpc_verdict {
    CRPC_VERDICT_FINE,
    CRPC_VERDICT_TOO_MANY_FRAMES,
    CRPC_VERDICT_TOO_MANY_PINGS,
    CRPC_VERDICT_HEADER_BLOCK_TOO_LARGE,
} crpc_verdict;

typedef struct crpc_guard {
    const crpc_limits *limits;
    bool is_server;
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
    uint32_t late_bytes;      // of DATA that may still come on streams that we have ended
    uint8_t head[CRPC_FRAME_HEAD];
    uint8_t head_length;
} crpc_guard;

void crpc_guard_begin(crpc_guard *guard, const crpc_limits *limits, bool is_server, uint64_t now_ns);

/// Where the first head of a frame begins in bytes that came and were not looked at yet; past their end if none does.
size_t crpc_guard_next_head(const crpc_guard *guard, const uint8_t *bytes, size_t length);
/// Looks at the frames in bytes that came, before the session gets them. `has_streams`: any is open.
crpc_verdict crpc_guard_look(
    crpc_guard *guard, const uint8_t *bytes, size_t length, uint64_t now_ns, bool has_streams);
/// The text of GOAWAY for a verdict; a constant.
const char *crpc_verdict_text(crpc_verdict verdict);

/// Gives credit for the time that has passed; whether there is any now.
crpc_verdict crpc_guard_refill(crpc_guard *guard, uint64_t now_ns);
/// Takes credit.
static inline crpc_verdict crpc_guard_charge(crpc_guard *guard, int32_t cost, uint64_t now_ns) {
    guard->credit -= cost;
    return guard->credit >= 0 ? CRPC_VERDICT_FINE : crpc_guard_refill(guard, now_ns);
}
/// Gives credit for a HEADERS or DATA frame that we sent.
static inline void crpc_guard_earn(crpc_guard *guard, int32_t gain) {
    guard->has_sent = true;
    guard->credit += gain;
    if (guard->credit > (int32_t)guard->limits->credit_max) guard->credit = (int32_t)guard->limits->credit_max;
}

/// Whether a frame, or a header block, has begun and not ended. DATA does not count: its message has a limit.
static inline bool crpc_guard_is_partial(const crpc_guard *guard) {
    return guard->is_in_block || guard->head_length > 0 || (guard->payload_left > 0 && !guard->is_data);
}

// ---- DATA on streams that are over ----

// DATA that the session drops is of streams that are over. What a peer sent before it could know of that is no fault of
// its, and windows say how much it can be: of each stream what was left of the stream's, and in all no more than the
// connection's. More of it is charged.

/// The session shows a DATA frame with its padding: its stream is there.
static inline void crpc_guard_note_data(crpc_guard *guard, size_t length) {
    if (length == 0) return;
    guard->unseen_frames -= 1;
    guard->unseen_bytes -= (uint32_t)length;
}
/// A stream ends, and the peer, which may not have seen that yet, could send so much more on it.
void crpc_guard_expect_late(crpc_guard *guard, int32_t window);
/// Charges DATA that the session has not shown. Not in the turn in which it came, nor while the peer lets us wait: only
/// with our RST_STREAM is a stream over.
crpc_verdict crpc_guard_settle(crpc_guard *guard, uint64_t now_ns);

// ---- Policy: what ends of streams and frames that we sent are worth ----

/// Whether a stream has only just begun. Who ends it now, or sets it a deadline that passes now, wastes it: that
/// costs a reset (CVE-2023-44487). One that was given up after a while, as at a deadline, is not counted: what bounds those
/// is how many handlers may run.
static inline bool crpc_guard_is_rapid(uint64_t began_ns, uint64_t now_ns) {
    return now_ns - began_ns < CRPC_RAPID_RESET_MS * 1000000ull;
}
/// What an RST_STREAM that we sent costs the peer: nothing where it was of our own will (`is_ours`), and not because the peer
/// broke the rules on the stream (CVE-2025-8671). REFUSED_STREAM is what one past the greatest number gets until the
/// peer has acknowledged our SETTINGS, before which it cannot know better.
static inline int32_t crpc_guard_cost_of_reset(const crpc_guard *guard, uint32_t error, bool is_ours) {
    if (!guard->is_server || is_ours || error == CRPC_H2_NO_ERROR) return 0;
    return error == CRPC_H2_REFUSED_STREAM ? CRPC_COST_FRAME : CRPC_COST_RESET;
}
/// What HEADERS that we sent bring the peer. A server's client gets it when its stream has ended: only then is it known
/// whether the request ran to its end, or was cut short in its handler's place.
static inline int32_t crpc_guard_gain_of_headers(
    const crpc_guard *guard, bool ends_stream, bool is_head, bool is_cut_short) {
    if (!guard->is_server) return CRPC_GAIN_HEADERS;
    if (!ends_stream) return 0;
    if (is_cut_short) return CRPC_COST_FRAME;
    return is_head ? CRPC_GAIN_HEADERS : 2 * CRPC_GAIN_HEADERS; // head and trailers
}
static inline int32_t crpc_guard_gain_of_data(size_t length) {
    return length < CRPC_EARNING_BYTES_MIN ? 0 : CRPC_GAIN_DATA;
}

#endif
