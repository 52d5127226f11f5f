#include "http1/http1_connection.h"

#include "http1/head.h"
#include "http1/request.h"

#include <string.h>

// The life of a connection: how it begins, what it gives out, what it waits for, how it drains and ends. What it takes in is
// in request.c, answers are in answer.c.

_Static_assert((int)CRPC_SCRATCH >= (int)CRPC_H1_HEAD_ROOM, "heads are read into the turn's scratch memory");

int crpc_h1_begin(crpc_h1 *h1, crpc_service *service, const crpc_limits *limits, const crpc_h1_below *below) {
    h1->exchange.table = &crpc_h1_exchange_table;
    h1->turn = service->turn;
    h1->service = service;
    h1->below = below;
    h1->limits = *limits;
    if (h1->limits.credit_max > INT32_MAX) h1->limits.credit_max = INT32_MAX;
    h1->credit.left = (int32_t)h1->limits.credit_max;
    h1->credit.refilled_ns = h1->idle_ns = h1->turn->now_ns;
    h1->next_ns = UINT64_MAX;
    h1->output.spare = &service->buffers;
    crpc_link_init(&h1->flush.link);
    crpc_link_init(&h1->close.link);
    h1->handlers = crpc_handlers_new(service);
    return h1->handlers == NULL ? CRPC_ERROR_MEMORY : CRPC_OK;
}

void crpc_h1_start(crpc_h1 *h1, void *peer, uint64_t began_ns) {
    h1->is_started = true;
    h1->peer = peer;
    h1->idle_ns = h1->turn->now_ns;
    if (h1->limits.head_timeout_ms != 0)
        crpc_h1_set_due(h1, CRPC_H1_DUE_HEAD, began_ns + crpc_ns_of_ms(h1->limits.head_timeout_ms));
    if (h1->limits.connection_age_max_ms == 0) return;
    // Nine to eleven tenths; it need not be hard to guess, only different from one connection to the next.
    uint64_t mixed = (h1->turn->now_ns ^ (uint64_t)(uintptr_t)h1) * 0x9e3779b97f4a7c15u;
    uint64_t tenth = h1->limits.connection_age_max_ms / 10u;
    uint64_t age_ms = h1->limits.connection_age_max_ms - tenth + (mixed >> 32) % (2 * tenth + 1);
    crpc_h1_set_due(h1, CRPC_H1_DUE_AGE, h1->turn->now_ns + crpc_ns_of_ms(age_ms));
}

// ---- Bytes out ----

/// Answers to pipelined requests that are written at a time, so that other connections get their turn.
enum { ANSWERS_AT_A_TIME_MAX = 32, ANSWER_ROOM_MIN = 4096 };

bool crpc_h1_prepare(crpc_h1 *h1) { return h1->is_started && !crpc_h1_is_broken(h1); }

static void h1_tell_writable(crpc_h1 *h1) {
    crpc_h1_output *output = &h1->output;
    if (!output->was_full || output->queued_bytes >= CRPC_STREAM_LOW_WATER) return;
    output->was_full = false;
    if (h1->context != NULL && h1->answer == CRPC_H1_ANSWER_OPEN)
        h1->service->callbacks->exchange.on_exchange_writable(h1->context);
}

/// Whether the whole answer is out.
static bool h1_is_answered(const crpc_h1 *h1) {
    return h1->answer == CRPC_H1_ANSWER_FINISHED && crpc_h1_output_is_empty(&h1->output);
}

ssize_t crpc_h1_produce(crpc_h1 *h1, uint8_t *target, size_t room) {
    size_t used = 0;
    for (int answers = 0; !crpc_h1_is_broken(h1); answers++) {
        used += crpc_h1_output_take(&h1->output, target + used, room - used);
        if (used > 0) h1->has_moved = true;
        crpc_h1_count_held(h1);
        h1_tell_writable(h1);
        if (!h1_is_answered(h1)) break;
        crpc_h1_close_exchange(h1, true);
        if (room - used < ANSWER_ROOM_MIN || answers == ANSWERS_AT_A_TIME_MAX) break;
        crpc_h1_take_waiting(h1);
    }
    return (ssize_t)used;
}

void crpc_h1_conclude(crpc_h1 *h1) {
    if (crpc_h1_is_broken(h1)) return;
    bool has_output = !crpc_h1_output_is_empty(&h1->output);
    if (h1->answer == CRPC_H1_ANSWER_NONE && !has_output) {
        crpc_h1_take_waiting(h1);
        if (h1->coming == CRPC_H1_DEAF && h1->answer == CRPC_H1_ANSWER_NONE) crpc_h1_break(h1, CRPC_OK);
        has_output = !crpc_h1_output_is_empty(&h1->output);
    }
    if (has_output || h1_is_answered(h1)) crpc_h1_mark(h1);
}

// ---- Time ----

/// Takes a limit that is due off. It may be set anew by what follows.
static bool h1_take_due(crpc_h1 *h1, crpc_h1_due due) {
    if (h1->due_ns[due] == 0 || h1->due_ns[due] > h1->turn->now_ns) return false;
    h1->due_ns[due] = 0;
    return true;
}

static bool h1_is_idle(const crpc_h1 *h1) {
    return h1->answer == CRPC_H1_ANSWER_NONE && h1->coming == CRPC_H1_HEAD && h1->waiting.length == 0;
}

static void h1_find_next(crpc_h1 *h1) {
    h1->next_ns = UINT64_MAX;
    for (size_t i = 0; i < CRPC_H1_DUE_COUNT; i++)
        if (h1->due_ns[i] != 0 && h1->due_ns[i] < h1->next_ns) h1->next_ns = h1->due_ns[i];
}

/// Whether a client that has ended its half has had its time. An answer of which nothing waits to go out, and nothing did since the
/// last look, is a stream of events that may not end for long, and whose client has gone in all likelihood.
static bool h1_look_at_half(crpc_h1 *h1) {
    uint64_t now = h1->turn->now_ns, next = now + crpc_ns_of_ms(CRPC_H1_HALF_LOOK_MS);
    bool is_silent = h1->answer == CRPC_H1_ANSWER_OPEN && crpc_h1_output_is_empty(&h1->output) && !h1->is_blocked &&
                     !h1->has_moved;
    h1->has_moved = false;
    if (is_silent || h1->half_ends_ns <= now) return true;
    crpc_h1_set_due(h1, CRPC_H1_DUE_HALF, next < h1->half_ends_ns ? next : h1->half_ends_ns);
    return false;
}

void crpc_h1_on_time(crpc_h1 *h1) {
    if (crpc_h1_is_broken(h1) || h1->next_ns > h1->turn->now_ns) return;
    if (h1_take_due(h1, CRPC_H1_DUE_DRAIN)) {
        crpc_h1_break(h1, CRPC_ERROR_TIMEOUT);
        return;
    }
    if (h1_take_due(h1, CRPC_H1_DUE_HALF) && h1_look_at_half(h1)) {
        crpc_h1_break(h1, CRPC_ERROR_CLOSED);
        return;
    }
    if (h1_take_due(h1, CRPC_H1_DUE_IDLE) || (h1_take_due(h1, CRPC_H1_DUE_LEAVE) && h1_is_idle(h1))) {
        crpc_h1_break(h1, CRPC_OK);
        return;
    }
    if (h1_take_due(h1, CRPC_H1_DUE_AGE) && h1->state == CRPC_H1_OPEN) {
        crpc_h1_drain(h1);
        crpc_h1_limit(h1, CRPC_H1_DUE_DRAIN, h1->limits.connection_age_grace_ms);
    }
    if (h1_take_due(h1, CRPC_H1_DUE_HEAD)) crpc_h1_miss_head(h1);
    if (h1_take_due(h1, CRPC_H1_DUE_BODY)) crpc_h1_break_body(h1, CRPC_ERROR_TIMEOUT);
    if (h1_take_due(h1, CRPC_H1_DUE_DEADLINE) && h1->context != NULL && h1->answer < CRPC_H1_ANSWER_FINISHED)
        h1->service->callbacks->exchange.on_exchange_deadline(h1->context);
    h1_find_next(h1);
    crpc_h1_mark(h1);
}

// ---- The end ----

void crpc_h1_drain(crpc_h1 *h1) {
    if (h1->state != CRPC_H1_OPEN) return;
    crpc_h1_set_state(h1, CRPC_H1_DRAINING);
    crpc_h1_limit(h1, CRPC_H1_DUE_DRAIN, h1->limits.drain_timeout_ms);
    crpc_h1_mark(h1);
    if (!h1_is_idle(h1)) return;
    uint64_t leaves_ns = h1->idle_ns + crpc_ns_of_ms(CRPC_H1_LEAVE_MS);
    if (leaves_ns <= h1->turn->now_ns) {
        crpc_h1_break(h1, CRPC_OK);
    } else {
        crpc_h1_set_due(h1, CRPC_H1_DUE_LEAVE, leaves_ns);
    }
}

void crpc_h1_tell_end(crpc_h1 *h1) {
    if (!crpc_h1_is_broken(h1)) crpc_h1_set_state(h1, CRPC_H1_BROKEN);
    crpc_h1_set_state(h1, CRPC_H1_CLOSED);
    if (h1->answer != CRPC_H1_ANSWER_NONE) crpc_h1_close_exchange(h1, h1_is_answered(h1));
}

void crpc_h1_end(crpc_h1 *h1) {
    crpc_h1_output_drop(&h1->output);
    crpc_buffers_give_back(&h1->service->buffers, h1->waiting.bytes, h1->waiting.capacity);
    h1->waiting.bytes = NULL;
    h1->waiting.capacity = h1->waiting.length = 0;
    crpc_h1_count_held(h1);
    crpc_handlers_leave(h1->handlers);
    crpc_link_remove(&h1->close.link);
    crpc_link_remove(&h1->flush.link); // last, since the last callback may have asked for it
}
