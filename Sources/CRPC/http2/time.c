#include "http2/http2_connection.h"
#include "http2/session.h"

// A connection's time limits and keepalive. `next_ns` may be earlier than the first of them, where one was taken off or set
// for later: then it is asked in vain, and says anew.

/// "keepaliv": what our PINGs carry.
static const uint8_t time_ping_payload[8] = {'k', 'e', 'e', 'p', 'a', 'l', 'i', 'v'};

void crpc_h2_begin_limits(crpc_h2 *h2) {
    const crpc_limits *limits = &h2->limits;
    uint64_t now = h2->turn->now_ns;
    h2->last_received_ns = now;
    crpc_h2_limit(h2, CRPC_DUE_KEEPALIVE, limits->keepalive_interval_ms);
    if (h2->is_server && limits->connection_age_max_ms != 0) {
        // Nine to eleven tenths; it need not be hard to guess, only different from one connection to the next.
        uint64_t mixed = (now ^ (uint64_t)(uintptr_t)h2) * 0x9e3779b97f4a7c15u;
        uint64_t tenth = limits->connection_age_max_ms / 10u;
        uint64_t age_ms = limits->connection_age_max_ms - tenth + (mixed >> 32) % (2 * tenth + 1);
        crpc_h2_set_due(h2, CRPC_DUE_AGE, now + crpc_ns_of_ms(age_ms));
    }
    if (h2->stream_count == 0) crpc_h2_limit(h2, CRPC_DUE_IDLE, limits->idle_timeout_ms);
}

/// Asks for a sign of life if there was none for the interval, or looks again when that is over.
static void time_keep_alive(crpc_h2 *h2) {
    const crpc_limits *limits = &h2->limits;
    uint64_t now = h2->turn->now_ns, interval_ns = crpc_ns_of_ms(limits->keepalive_interval_ms);
    crpc_h2_set_due(h2, CRPC_DUE_KEEPALIVE, h2->last_received_ns + interval_ns);
    if (h2->due_ns[CRPC_DUE_KEEPALIVE] > now) return;
    if (!h2->is_server && h2->stream_count == 0 && !limits->keepalive_without_calls) {
        crpc_h2_set_due(h2, CRPC_DUE_KEEPALIVE, now + interval_ns);
        return;
    }
    crpc_h2_set_due(h2, CRPC_DUE_KEEPALIVE, 0); // until the answer
    crpc_h2_set_due(h2, CRPC_DUE_PONG, crpc_h2_after_ms(h2, limits->keepalive_timeout_ms));
    if (crpc_session_ping(h2, time_ping_payload) != CRPC_OK) crpc_h2_break(h2, CRPC_ERROR_MEMORY);
    crpc_h2_mark(h2);
}

void crpc_h2_note_round_trip(crpc_h2 *h2) {
    // Not here, inside of what the session receives.
    if (h2->due_ns[CRPC_DUE_GOAWAY] != 0) crpc_h2_set_due(h2, CRPC_DUE_GOAWAY, h2->turn->now_ns);
}

static void time_say_final_goaway(crpc_h2 *h2) {
    if (h2->state == CRPC_H2_DRAINING) crpc_h2_set_state(h2, CRPC_H2_FINAL);
    if (crpc_session_goaway(h2, CRPC_H2_NO_ERROR, "") != CRPC_OK) crpc_h2_break(h2, CRPC_ERROR_MEMORY);
    crpc_h2_mark(h2);
}

/// Whether the frame that is not whole is another one than when its limit was set, or none is; else it is too late.
static bool time_has_frame_ended(crpc_h2 *h2) {
    if (!crpc_guard_is_partial(&h2->guard)) return true;
    uint64_t due = h2->guard.partial_ns + crpc_ns_of_ms(h2->limits.handshake_timeout_ms);
    if (due <= h2->turn->now_ns) return false;
    crpc_h2_set_due(h2, CRPC_DUE_FRAME, due);
    return true;
}

/// Takes a limit that is due off. It may be set anew by what follows.
static bool time_take_due(crpc_h2 *h2, crpc_due due) {
    if (h2->due_ns[due] == 0 || h2->due_ns[due] > h2->turn->now_ns) return false;
    h2->due_ns[due] = 0;
    return true;
}

/// Whether a limit has passed that ends the connection at once.
static bool time_is_too_late(crpc_h2 *h2) {
    return time_take_due(h2, CRPC_DUE_HANDSHAKE) || time_take_due(h2, CRPC_DUE_DRAIN) ||
           (time_take_due(h2, CRPC_DUE_FRAME) && !time_has_frame_ended(h2));
}

static void time_find_next(crpc_h2 *h2) {
    h2->next_ns = UINT64_MAX;
    for (size_t i = 0; i < CRPC_DUE_COUNT; i++)
        if (h2->due_ns[i] != 0 && h2->due_ns[i] < h2->next_ns) h2->next_ns = h2->due_ns[i];
}

void crpc_h2_on_time(crpc_h2 *h2) {
    if (crpc_h2_is_broken(h2) || h2->next_ns > h2->turn->now_ns) return;
    if (time_take_due(h2, CRPC_DUE_PONG)) {
        crpc_h2_dismiss(h2, CRPC_ERROR_TIMEOUT, CRPC_H2_NO_ERROR, "ping_timeout");
        return;
    }
    if (time_is_too_late(h2)) {
        crpc_h2_break(h2, CRPC_ERROR_TIMEOUT);
        return;
    }
    if (time_take_due(h2, CRPC_DUE_IDLE)) crpc_h2_drain(h2);
    if (time_take_due(h2, CRPC_DUE_AGE) && h2->state == CRPC_H2_OPEN) {
        crpc_h2_drain(h2);
        crpc_h2_set_due(h2, CRPC_DUE_DRAIN, crpc_h2_after_ms(h2, h2->limits.connection_age_grace_ms));
    }
    if (time_take_due(h2, CRPC_DUE_GOAWAY)) time_say_final_goaway(h2);
    if (time_take_due(h2, CRPC_DUE_KEEPALIVE)) time_keep_alive(h2);
    if (time_take_due(h2, CRPC_DUE_SWEEP)) h2->above->on_sweep(h2);
    time_find_next(h2);
}
