#include "internal.h"

// A connection's time limits: one timer, set for whichever is due first. Also the defaults of all limits.

/// "keepaliv": what our PINGs carry.
static const uint8_t ping_payload[8] = {'k', 'e', 'e', 'p', 'a', 'l', 'i', 'v'};

void crpc_limits_default(crpc_limits *limits) {
    *limits = (crpc_limits){
        .streams_max = 256,
        .message_bytes_max = 4u << 20,
        .header_bytes_max = 16384,
        .continuations_max = 8,
        .stream_window_bytes = 256u << 10,
        .connection_window_bytes = 1u << 20,
        .buffered_bytes_max = 24u << 20,
        .queued_frames_max = 8192,
        .credit_max = 10000,
        .credit_per_second = 2000,
        .handshake_timeout_ms = 10000,
        .idle_timeout_ms = 0,
        .write_stall_timeout_ms = 20000,
        .answer_stall_timeout_ms = 30000,
        .message_timeout_ms = 60000,
        .drain_timeout_ms = 20000,
        .connection_age_max_ms = 0,
        .connection_age_grace_ms = 20000,
        .keepalive_interval_ms = 0,
        .keepalive_timeout_ms = 20000,
        .keepalive_without_calls = false,
        .ping_interval_min_ms = 300000,
        .ping_strikes_max = 2,
        .permits_pings_without_calls = false,
    };
}

// ---- The timer ----

void crpc_connection_set_timer(crpc_connection *connection) {
    uint64_t due = UINT64_MAX;
    for (size_t i = 0; i < CRPC_DUE_COUNT; i++)
        if (connection->due_ns[i] != 0 && connection->due_ns[i] < due) due = connection->due_ns[i];
    if (due == UINT64_MAX) {
        crpc_timer_cancel(connection->timer);
    } else if (crpc_timer_set(connection->timer, due) != CRPC_OK) {
        crpc_connection_break(connection, CRPC_ERROR_MEMORY);
    }
}

void crpc_connection_limit(crpc_connection *connection, crpc_due due, uint32_t ms) {
    connection->due_ns[due] = ms == 0 ? 0 : crpc_connection_after_ms(connection, ms);
    crpc_connection_set_timer(connection);
}

/// Sets a limit for later, without the timer, which the caller sets.
static void set_after(crpc_connection *connection, crpc_due due, uint64_t from_ns, uint32_t ms) {
    connection->due_ns[due] = from_ns + ms * 1000000ull;
}

void crpc_connection_begin_idling(crpc_connection *connection) {
    if (connection->limits.idle_timeout_ms == 0) return;
    crpc_connection_limit(connection, CRPC_DUE_IDLE, connection->limits.idle_timeout_ms);
}

void crpc_connection_begin_limits(crpc_connection *connection) {
    const crpc_limits *limits = &connection->limits;
    uint64_t now = connection->loop->now_ns;
    connection->last_received_ns = now;
    if (limits->keepalive_interval_ms != 0)
        set_after(connection, CRPC_DUE_KEEPALIVE, now, limits->keepalive_interval_ms);
    if (connection->listener != NULL && limits->connection_age_max_ms != 0) {
        // Nine to eleven tenths; it need not be hard to guess, only different from one connection to the next.
        uint64_t mixed = (now ^ (uint64_t)(uintptr_t)connection) * 0x9e3779b97f4a7c15u;
        uint64_t tenth = limits->connection_age_max_ms / 10u;
        uint64_t age_ms = limits->connection_age_max_ms - tenth + (mixed >> 32) % (2 * tenth + 1);
        connection->due_ns[CRPC_DUE_AGE] = now + age_ms * 1000000u;
    }
    if (connection->stream_count == 0) crpc_connection_begin_idling(connection);
    crpc_connection_set_timer(connection);
}

// ---- Keepalive ----

void crpc_connection_note_life(crpc_connection *connection) {
    connection->last_received_ns = connection->loop->now_ns;
    if (connection->due_ns[CRPC_DUE_PONG] == 0) return;
    connection->due_ns[CRPC_DUE_PONG] = 0;
    crpc_connection_limit(connection, CRPC_DUE_KEEPALIVE, connection->limits.keepalive_interval_ms);
}

/// Asks for a sign of life if there was none for the interval, or looks again when that is over.
static void keep_alive(crpc_connection *connection) {
    const crpc_limits *limits = &connection->limits;
    uint64_t now = connection->loop->now_ns;
    set_after(connection, CRPC_DUE_KEEPALIVE, connection->last_received_ns, limits->keepalive_interval_ms);
    if (connection->due_ns[CRPC_DUE_KEEPALIVE] > now) return;
    if (connection->callbacks != NULL && connection->stream_count == 0 && !limits->keepalive_without_calls) {
        set_after(connection, CRPC_DUE_KEEPALIVE, now, limits->keepalive_interval_ms);
        return;
    }
    connection->due_ns[CRPC_DUE_KEEPALIVE] = 0; // until the answer
    set_after(connection, CRPC_DUE_PONG, now, limits->keepalive_timeout_ms);
    if (nghttp2_submit_ping(connection->session, NGHTTP2_FLAG_NONE, ping_payload) != 0)
        crpc_connection_break(connection, CRPC_ERROR_MEMORY);
    crpc_connection_mark(connection);
}

// ---- What is due ----

void crpc_connection_note_round_trip(crpc_connection *connection) {
    if (connection->due_ns[CRPC_DUE_GOAWAY] == 0) return;
    connection->due_ns[CRPC_DUE_GOAWAY] = connection->loop->now_ns;
    crpc_connection_set_timer(connection); // not here, inside of what nghttp2 receives
}

static void say_final_goaway(crpc_connection *connection) {
    connection->is_goaway_final = true;
    if (nghttp2_submit_goaway(
            connection->session, NGHTTP2_FLAG_NONE, connection->last_id, NGHTTP2_NO_ERROR, NULL, 0) != 0)
        crpc_connection_break(connection, CRPC_ERROR_MEMORY);
    crpc_connection_mark(connection);
}

/// Whether the peer took enough of what waited for it; then it has another while.
static bool is_taking_bytes(crpc_connection *connection) {
    size_t waiting = crpc_connection_waiting_bytes(connection);
    if (waiting + CRPC_WRITE_PROGRESS_MIN > connection->stalled_bytes) return false;
    connection->stalled_bytes = waiting;
    set_after(connection, CRPC_DUE_STALL, connection->loop->now_ns, connection->limits.write_stall_timeout_ms);
    return true;
}

/// Whether the frame that is not whole is another one than when its limit was set, or none is; else it is too late.
static bool has_frame_ended(crpc_connection *connection) {
    if (!crpc_guard_is_partial(&connection->guard)) return true;
    uint64_t due = connection->guard.partial_ns + connection->limits.handshake_timeout_ms * 1000000ull;
    if (due <= connection->loop->now_ns) return false;
    connection->due_ns[CRPC_DUE_FRAME] = due;
    return true;
}

static void sweep(crpc_connection *connection) {
    if (!crpc_holds_much(connection)) {
        connection->much_ns = 0;
    } else if (connection->much_ns == 0) {
        connection->much_ns = connection->loop->now_ns;
    }
    // None is ended in here, only reset or answered, so that the list stays as it is.
    for (crpc_link *link = connection->streams.next; link != &connection->streams; link = link->next)
        crpc_stream_sweep(CRPC_CONTAINER(link, crpc_stream, link));
    crpc_connection_mark(connection); // what is withheld may depend on what other connections hold
    crpc_connection_watch_buffers(connection);
}

/// Takes a limit that is due off. It may be set anew by what follows.
static bool take_due(crpc_connection *connection, crpc_due due) {
    if (connection->due_ns[due] == 0 || connection->due_ns[due] > connection->loop->now_ns) return false;
    connection->due_ns[due] = 0;
    return true;
}

/// Whether a limit has passed that ends the connection at once.
static bool is_too_late(crpc_connection *connection) {
    return take_due(connection, CRPC_DUE_HANDSHAKE) || take_due(connection, CRPC_DUE_DRAIN) ||
           (take_due(connection, CRPC_DUE_STALL) && !is_taking_bytes(connection)) ||
           (take_due(connection, CRPC_DUE_FRAME) && !has_frame_ended(connection));
}

static void do_due(crpc_connection *connection) {
    if (take_due(connection, CRPC_DUE_PONG)) {
        crpc_connection_dismiss(connection, CRPC_ERROR_TIMEOUT, NGHTTP2_NO_ERROR, "ping_timeout");
        return;
    }
    if (is_too_late(connection)) {
        crpc_connection_break(connection, CRPC_ERROR_TIMEOUT);
        return;
    }
    if (take_due(connection, CRPC_DUE_IDLE)) crpc_connection_drain(connection);
    if (take_due(connection, CRPC_DUE_AGE) && !connection->is_draining) {
        crpc_connection_drain(connection);
        set_after(connection, CRPC_DUE_DRAIN, connection->loop->now_ns, connection->limits.connection_age_grace_ms);
    }
    if (take_due(connection, CRPC_DUE_GOAWAY)) say_final_goaway(connection);
    if (take_due(connection, CRPC_DUE_KEEPALIVE)) keep_alive(connection);
    if (take_due(connection, CRPC_DUE_SWEEP)) sweep(connection);
    if (!connection->is_broken) crpc_connection_set_timer(connection);
}

void crpc_connection_on_timer(void *context) {
    crpc_connection *connection = context;
    if (connection->is_broken) return;
    connection->loop->callback_depth += 1;
    do_due(connection);
    connection->loop->callback_depth -= 1;
}
