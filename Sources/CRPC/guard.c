#include "internal.h"

// Floods. Each frame that comes in is looked at here before the session gets it, from its nine bytes of head (and of
// padded DATA the tenth), so that also those count which the session drops without a word. A connection has credit; a frame that is not part of a
// call's data costs some (crpc_connection.h says how much), time and what we send of calls bring some back. Who keeps to
// calls never runs out of it, and who does nothing else is out of it soon.
//
// States: in the client's preface → in a head (`head_length` < 9) → in a payload (`payload_left` > 0) → in the next head.

enum { PREFACE_LENGTH = 24 };

void crpc_guard_begin(crpc_connection *connection) {
    crpc_guard *guard = &connection->guard;
    if (connection->limits.credit_max > INT32_MAX) connection->limits.credit_max = INT32_MAX;
    guard->credit = (int32_t)connection->limits.credit_max;
    guard->refilled_ns = connection->loop->now_ns;
    guard->payload_left = connection->listener != NULL ? PREFACE_LENGTH : 0;
}

bool crpc_guard_refill(crpc_connection *connection) {
    crpc_guard *guard = &connection->guard;
    if (connection->is_broken) return false;
    uint64_t elapsed_ms = (connection->loop->now_ns - guard->refilled_ns) / 1000000u;
    if (elapsed_ms > 1000u * 3600) elapsed_ms = 1000u * 3600; // so that what follows fits
    uint64_t given = elapsed_ms * connection->limits.credit_per_second / 1000;
    if (given > connection->limits.credit_max) given = connection->limits.credit_max;
    if (given > 0) guard->refilled_ns = connection->loop->now_ns;
    guard->credit += (int32_t)given;
    if (guard->credit >= 0) return true;
    crpc_connection_calm(connection, "too_many_frames");
    return false;
}

// DATA that the session drops is of streams that are over. What a peer sent before it could know of that is no fault of
// its, and windows say how much it can be: of each stream what was left of the stream's, and in all no more than the
// connection's (session.c adds that up in `late_bytes` where a stream ends before the peer has). More of it is charged.
bool crpc_guard_settle(crpc_connection *connection) {
    crpc_guard *guard = &connection->guard;
    uint32_t frames = guard->unseen_frames, bytes = guard->unseen_bytes;
    guard->unseen_frames = guard->unseen_bytes = 0;
    if (bytes <= connection->late_bytes) {
        connection->late_bytes -= bytes;
        return true;
    }
    connection->late_bytes = 0;
    return crpc_guard_charge(connection, (int32_t)frames * CRPC_COST_FRAME);
}

/// gRFC A8: a server says how often it may be asked whether it is there.
static bool take_ping(crpc_connection *connection) {
    crpc_guard *guard = &connection->guard;
    const crpc_limits *limits = &connection->limits;
    uint64_t now = connection->loop->now_ns;
    if (!crpc_guard_charge(connection, CRPC_COST_PING)) return false;
    if (connection->listener == NULL || limits->ping_interval_min_ms == 0) return true;
    if (guard->has_sent) {
        guard->has_sent = false;
        guard->ping_strikes = 0;
        guard->last_ping_ns = 0;
    }
    uint32_t interval_ms = limits->ping_interval_min_ms;
    bool is_idle = connection->stream_count == 0 && !limits->permits_pings_without_calls;
    if (is_idle && interval_ms < CRPC_PING_IDLE_MS) interval_ms = CRPC_PING_IDLE_MS;
    bool is_early = guard->last_ping_ns != 0 && now - guard->last_ping_ns < interval_ms * 1000000ull;
    guard->last_ping_ns = now;
    if (!is_early) return true;
    guard->ping_strikes += 1;
    if (guard->ping_strikes <= limits->ping_strikes_max) return true;
    crpc_connection_calm(connection, "too_many_pings");
    return false;
}

static uint32_t frame_length(const uint8_t head[CRPC_FRAME_HEAD]) {
    return (uint32_t)head[0] << 16 | (uint32_t)head[1] << 8 | (uint32_t)head[2];
}

/// A frame of a header block. The block is bounded before it is whole, since the session holds it until then.
static bool take_block_frame(crpc_connection *connection, const uint8_t *head, uint32_t length) {
    crpc_guard *guard = &connection->guard;
    if (head[3] == NGHTTP2_CONTINUATION) {
        guard->continuations += 1;
        guard->block_bytes += length;
    } else {
        guard->continuations = 0;
        guard->block_bytes = length;
    }
    guard->is_in_block = (head[4] & NGHTTP2_FLAG_END_HEADERS) == 0;
    if (guard->continuations > connection->limits.continuations_max ||
        guard->block_bytes / 4 > connection->limits.header_bytes_max) {
        crpc_connection_calm(connection, "header_block_too_large");
        return false;
    }
    return crpc_guard_charge(connection, CRPC_COST_FRAME);
}

/// The payload of a padded DATA frame begins, with the length of the padding: is there anything beside it?
static bool take_padding(crpc_connection *connection, uint8_t padding) {
    connection->guard.is_pad_next = false;
    return connection->guard.payload_left > 1u + padding || crpc_guard_charge(connection, CRPC_COST_FRAME);
}

/// The head of a frame is whole.
static bool take_head(crpc_connection *connection, const uint8_t head[CRPC_FRAME_HEAD]) {
    crpc_guard *guard = &connection->guard;
    uint32_t length = frame_length(head);
    guard->payload_left = length;
    guard->is_data = head[3] == NGHTTP2_DATA;
    switch (head[3]) {
    case NGHTTP2_DATA:
        guard->is_pad_next = length > 0 && (head[4] & NGHTTP2_FLAG_PADDED) != 0;
        if (length == 0) return crpc_guard_charge(connection, CRPC_COST_FRAME);
        guard->unseen_frames += 1;
        guard->unseen_bytes += length;
        return true;
    case NGHTTP2_HEADERS:
    case NGHTTP2_CONTINUATION: return take_block_frame(connection, head, length);
    case NGHTTP2_PING:
        if (head[4] & NGHTTP2_FLAG_ACK) return crpc_guard_charge(connection, CRPC_COST_FRAME);
        return take_ping(connection);
    case NGHTTP2_SETTINGS:
        return crpc_guard_charge(
            connection, head[4] & NGHTTP2_FLAG_ACK ? CRPC_COST_FRAME : CRPC_COST_SETTINGS);
    default: return crpc_guard_charge(connection, CRPC_COST_FRAME);
    }
}

size_t crpc_guard_next_head(const crpc_guard *guard, const uint8_t *bytes, size_t length) {
    if (guard->head_length == 0) return guard->payload_left;
    size_t missing = (size_t)(CRPC_FRAME_HEAD - guard->head_length);
    if (length < missing) return length;
    uint8_t head[CRPC_FRAME_HEAD];
    memcpy(head, guard->head, guard->head_length);
    memcpy(head + guard->head_length, bytes, missing);
    return missing + frame_length(head);
}

bool crpc_guard_look(crpc_connection *connection, const uint8_t *bytes, size_t length) {
    crpc_guard *guard = &connection->guard;
    bool has_begun = false; // what is not whole at the end
    while (length > 0) {
        if (guard->payload_left > 0) {
            if (guard->is_pad_next && !take_padding(connection, *bytes)) return false;
            size_t count = guard->payload_left < length ? guard->payload_left : length;
            guard->payload_left -= (uint32_t)count;
            bytes += count;
            length -= count;
            continue;
        }
        if (guard->head_length == 0 && !guard->is_in_block) has_begun = true;
        const uint8_t *head = bytes;
        if (guard->head_length > 0 || length < CRPC_FRAME_HEAD) {
            size_t missing = (size_t)(CRPC_FRAME_HEAD - guard->head_length);
            size_t count = missing < length ? missing : length;
            memcpy(guard->head + guard->head_length, bytes, count);
            guard->head_length = (uint8_t)(guard->head_length + count);
            bytes += count;
            length -= count;
            if (guard->head_length < CRPC_FRAME_HEAD) break;
            guard->head_length = 0;
            head = guard->head;
        } else {
            bytes += CRPC_FRAME_HEAD;
            length -= CRPC_FRAME_HEAD;
        }
        if (!take_head(connection, head)) return false;
    }
    if (!crpc_guard_is_partial(guard)) return true;
    if (has_begun) guard->partial_ns = connection->loop->now_ns;
    if (connection->due_ns[CRPC_DUE_FRAME] == 0)
        crpc_connection_limit(connection, CRPC_DUE_FRAME, connection->limits.handshake_timeout_ms);
    return true;
}
