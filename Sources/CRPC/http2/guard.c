#include "http2/guard.h"

#include <string.h>

void crpc_guard_begin(crpc_guard *guard, const crpc_limits *limits, bool is_server, uint64_t now_ns) {
    *guard = (crpc_guard){
        .limits = limits,
        .is_server = is_server,
        .credit = (int32_t)limits->credit_max,
        .refilled_ns = now_ns,
        .payload_left = is_server ? CRPC_PREFACE_LENGTH : 0,
    };
}

const char *crpc_verdict_text(crpc_verdict verdict) {
    switch (verdict) {
    case CRPC_VERDICT_FINE: return "";
    case CRPC_VERDICT_TOO_MANY_FRAMES: return "too_many_frames";
    case CRPC_VERDICT_TOO_MANY_PINGS: return "too_many_pings";
    case CRPC_VERDICT_HEADER_BLOCK_TOO_LARGE: return "header_block_too_large";
    }
    return "";
}

crpc_verdict crpc_guard_refill(crpc_guard *guard, uint64_t now_ns) {
    const crpc_limits *limits = guard->limits;
    uint64_t elapsed_ms = (now_ns - guard->refilled_ns) / 1000000u;
    if (elapsed_ms > 1000u * 3600) elapsed_ms = 1000u * 3600; // so that what follows fits
    uint64_t given = elapsed_ms * limits->credit_per_second / 1000;
    if (given > limits->credit_max) given = limits->credit_max;
    if (given > 0) guard->refilled_ns = now_ns;
    guard->credit += (int32_t)given;
    return guard->credit >= 0 ? CRPC_VERDICT_FINE : CRPC_VERDICT_TOO_MANY_FRAMES;
}

void crpc_guard_expect_late(crpc_guard *guard, int32_t window) {
    uint64_t late = (uint64_t)guard->late_bytes + (window > 0 ? (uint64_t)window : 0);
    uint32_t most = guard->limits->connection_window_bytes;
    guard->late_bytes = late < most ? (uint32_t)late : most;
}

crpc_verdict crpc_guard_settle(crpc_guard *guard, uint64_t now_ns) {
    uint32_t frames = guard->unseen_frames, bytes = guard->unseen_bytes;
    guard->unseen_frames = guard->unseen_bytes = 0;
    if (bytes <= guard->late_bytes) {
        guard->late_bytes -= bytes;
        return CRPC_VERDICT_FINE;
    }
    guard->late_bytes = 0;
    return crpc_guard_charge(guard, (int32_t)frames * CRPC_COST_FRAME, now_ns);
}

/// gRFC A8: a server says how often it may be asked whether it is there.
static crpc_verdict guard_take_ping(crpc_guard *guard, uint64_t now_ns, bool has_streams) {
    const crpc_limits *limits = guard->limits;
    crpc_verdict verdict = crpc_guard_charge(guard, CRPC_COST_PING, now_ns);
    if (verdict != CRPC_VERDICT_FINE || !guard->is_server || limits->ping_interval_min_ms == 0) return verdict;
    if (guard->has_sent) {
        guard->has_sent = false;
        guard->ping_strikes = 0;
        guard->last_ping_ns = 0;
    }
    uint32_t interval_ms = limits->ping_interval_min_ms;
    bool is_idle = !has_streams && !limits->permits_pings_without_calls;
    if (is_idle && interval_ms < CRPC_PING_IDLE_MS) interval_ms = CRPC_PING_IDLE_MS;
    bool is_early = guard->last_ping_ns != 0 && now_ns - guard->last_ping_ns < interval_ms * 1000000ull;
    guard->last_ping_ns = now_ns;
    if (!is_early) return CRPC_VERDICT_FINE;
    guard->ping_strikes += 1;
    return guard->ping_strikes <= limits->ping_strikes_max ? CRPC_VERDICT_FINE : CRPC_VERDICT_TOO_MANY_PINGS;
}

/// A frame of a header block. The block is bounded before it is whole, since the session holds it until then.
static crpc_verdict guard_take_block(crpc_guard *guard, const uint8_t *head, uint32_t length, uint64_t now_ns) {
    if (head[3] == CRPC_FRAME_CONTINUATION) {
        guard->continuations += 1;
        guard->block_bytes += length;
    } else {
        guard->continuations = 0;
        guard->block_bytes = length;
    }
    guard->is_in_block = (head[4] & CRPC_FLAG_END_HEADERS) == 0;
    if (guard->continuations > guard->limits->continuations_max ||
        guard->block_bytes / 4 > guard->limits->header_bytes_max)
        return CRPC_VERDICT_HEADER_BLOCK_TOO_LARGE;
    return crpc_guard_charge(guard, CRPC_COST_FRAME, now_ns);
}

/// The payload of a padded DATA frame begins, with the length of the padding: is there anything beside it?
static crpc_verdict guard_take_padding(crpc_guard *guard, uint8_t padding, uint64_t now_ns) {
    guard->is_pad_next = false;
    if (guard->payload_left > 1u + padding) return CRPC_VERDICT_FINE;
    return crpc_guard_charge(guard, CRPC_COST_FRAME, now_ns);
}

/// The head of a frame is whole.
static crpc_verdict guard_take_head(
    crpc_guard *guard, const uint8_t head[CRPC_FRAME_HEAD], uint64_t now_ns, bool has_streams) {
    uint32_t length = crpc_frame_length(head);
    bool is_ack = (head[4] & CRPC_FLAG_ACK) != 0;
    guard->payload_left = length;
    guard->is_data = head[3] == CRPC_FRAME_DATA;
    switch (head[3]) {
    case CRPC_FRAME_DATA:
        guard->is_pad_next = length > 0 && (head[4] & CRPC_FLAG_PADDED) != 0;
        if (length == 0) return crpc_guard_charge(guard, CRPC_COST_FRAME, now_ns);
        guard->unseen_frames += 1;
        guard->unseen_bytes += length;
        return CRPC_VERDICT_FINE;
    case CRPC_FRAME_HEADERS:
    case CRPC_FRAME_CONTINUATION: return guard_take_block(guard, head, length, now_ns);
    case CRPC_FRAME_PING:
        return is_ack ? crpc_guard_charge(guard, CRPC_COST_FRAME, now_ns) : guard_take_ping(guard, now_ns, has_streams);
    case CRPC_FRAME_SETTINGS: return crpc_guard_charge(guard, is_ack ? CRPC_COST_FRAME : CRPC_COST_SETTINGS, now_ns);
    default: return crpc_guard_charge(guard, CRPC_COST_FRAME, now_ns);
    }
}

size_t crpc_guard_next_head(const crpc_guard *guard, const uint8_t *bytes, size_t length) {
    if (guard->head_length == 0) return guard->payload_left;
    size_t missing = (size_t)(CRPC_FRAME_HEAD - guard->head_length);
    if (length < missing) return length;
    uint8_t head[CRPC_FRAME_HEAD];
    memcpy(head, guard->head, guard->head_length);
    memcpy(head + guard->head_length, bytes, missing);
    return missing + crpc_frame_length(head);
}

crpc_verdict crpc_guard_look(
    crpc_guard *guard, const uint8_t *bytes, size_t length, uint64_t now_ns, bool has_streams) {
    bool has_begun = false; // what is not whole at the end
    while (length > 0) {
        crpc_verdict verdict = CRPC_VERDICT_FINE;
        if (guard->payload_left > 0) {
            if (guard->is_pad_next) verdict = guard_take_padding(guard, *bytes, now_ns);
            if (verdict != CRPC_VERDICT_FINE) return verdict;
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
        verdict = guard_take_head(guard, head, now_ns, has_streams);
        if (verdict != CRPC_VERDICT_FINE) return verdict;
    }
    if (has_begun && crpc_guard_is_partial(guard)) guard->partial_ns = now_ns;
    return CRPC_VERDICT_FINE;
}
