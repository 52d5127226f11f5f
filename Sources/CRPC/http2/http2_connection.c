#include "http2/http2_connection.h"

#include "http2/plain_literals.h"
#include "http2/session.h"

#include <stdlib.h>
#include <string.h>

// The life of a connection: how it begins, what it takes in and gives out, how its streams end with it.

_Static_assert(CRPC_SCRATCH >= 2 * CRPC_READ_BUFFER, "as crpc_plain_literals_room has it");

int crpc_h2_begin(
    crpc_h2 *h2, crpc_turn *turn, const crpc_limits *limits, bool is_server, const crpc_h2_above *above,
    const crpc_h2_below *below) {
    h2->turn = turn;
    h2->above = above;
    h2->below = below;
    h2->is_server = is_server;
    h2->limits = *limits;
    if (h2->limits.credit_max > INT32_MAX) h2->limits.credit_max = INT32_MAX;
    h2->next_ns = UINT64_MAX;
    crpc_link_init(&h2->flush.link);
    crpc_link_init(&h2->close.link);
    crpc_link_init(&h2->streams);
    crpc_guard_begin(&h2->guard, &h2->limits, is_server, turn->now_ns);
    crpc_h2_set_due(h2, CRPC_DUE_HANDSHAKE, crpc_h2_after_ms(h2, limits->handshake_timeout_ms));
    return crpc_session_begin(h2);
}

void crpc_h2_start(crpc_h2 *h2) {
    h2->is_started = true;
    crpc_h2_mark(h2);
    crpc_h2_begin_limits(h2);
}

// ---- Bytes in ----

/// Gives bytes to the session, with plain strings in the header blocks of requests.
static int h2_receive_plain(crpc_h2 *h2, const uint8_t *bytes, size_t length, size_t first_head) {
    uint8_t *plain = h2->turn->scratch;
    int error = CRPC_OK;
    while (error == CRPC_OK && length > 0) {
        size_t taken, plain_length = crpc_plain_literals(&h2->literals, bytes, length, first_head, plain, &taken);
        error = plain_length > 0 ? crpc_session_receive(h2, plain, plain_length) : crpc_session_receive(h2, bytes, taken);
        bytes += taken;
        length -= taken;
        first_head = 0; // a part ends where a frame does
    }
    return error;
}

bool crpc_h2_note_readable(crpc_h2 *h2) {
    h2->last_received_ns = h2->turn->now_ns;
    if (h2->due_ns[CRPC_DUE_PONG] != 0) { // the peer is there
        h2->due_ns[CRPC_DUE_PONG] = 0;
        crpc_h2_limit(h2, CRPC_DUE_KEEPALIVE, h2->limits.keepalive_interval_ms);
    }
    if (h2->guard.unseen_frames == 0 || h2->remote.is_blocked) return true;
    return crpc_h2_obey(h2, crpc_guard_settle(&h2->guard, h2->turn->now_ns));
}

bool crpc_h2_feed(crpc_h2 *h2, const uint8_t *bytes, size_t length) {
    if (length > CRPC_READ_BUFFER) crpc_die("more bytes at a time than there is room for");
    size_t first_head = crpc_guard_next_head(&h2->guard, bytes, length);
    crpc_verdict verdict = crpc_guard_look(&h2->guard, bytes, length, h2->turn->now_ns, h2->stream_count > 0);
    if (verdict != CRPC_VERDICT_FINE) return crpc_h2_obey(h2, verdict);
    if (h2->due_ns[CRPC_DUE_FRAME] == 0 && crpc_guard_is_partial(&h2->guard))
        crpc_h2_limit(h2, CRPC_DUE_FRAME, h2->limits.handshake_timeout_ms);
    int error = h2->is_server ? h2_receive_plain(h2, bytes, length, first_head) : crpc_session_receive(h2, bytes, length);
    if (error == CRPC_OK) return !crpc_h2_is_broken(h2);
    h2->end.is_session_over = true;
    if (crpc_h2_is_broken(h2)) return false; // a callback has said why
    if (error == CRPC_ERROR_LIMIT) {
        crpc_h2_calm(h2, "too_many_answers_wait");
    } else {
        bool is_memory = error == CRPC_ERROR_MEMORY;
        crpc_h2_dismiss(h2, error, is_memory ? CRPC_H2_INTERNAL_ERROR : CRPC_H2_PROTOCOL_ERROR, "");
    }
    return false;
}

bool crpc_h2_note_fed(crpc_h2 *h2) {
    if (!h2->is_server || crpc_session_queued_frames(h2) <= h2->limits.queued_frames_max) return true;
    crpc_h2_calm(h2, "too_many_answers_wait");
    return false;
}

// ---- Bytes out ----

ssize_t crpc_h2_produce(crpc_h2 *h2, uint8_t *target, size_t room) {
    size_t used = 0;
    while (room - used >= CRPC_FRAME_ROOM) {
        const uint8_t *frame;
        ssize_t length = crpc_session_next_frame(h2, &frame);
        if (length < 0) {
            // Header blocks before it may be lost, without which later ones cannot be read.
            h2->end.is_session_over = true;
            h2->end.code = CRPC_H2_INTERNAL_ERROR;
            return length;
        }
        if (length == 0) break;
        if ((size_t)length > room - used) return CRPC_ERROR_LIMIT;
        memcpy(target + used, frame, (size_t)length);
        used += (size_t)length;
    }
    return (ssize_t)used;
}

bool crpc_h2_has_something(const crpc_h2 *h2) {
    return crpc_session_wants_write(h2) || !crpc_session_wants_read(h2);
}

void crpc_h2_note_produced(crpc_h2 *h2) {
    if (crpc_session_wants_write(h2)) {
        crpc_h2_mark(h2);
    } else if (!crpc_session_wants_read(h2)) {
        // A GOAWAY went out or came, and no stream is left.
        crpc_h2_break(
            h2, h2->end.is_terminated  ? CRPC_ERROR_PROTOCOL
                : h2->end.is_dismissed ? CRPC_ERROR_CLOSED
                                       : CRPC_OK);
    } else if (h2->state == CRPC_H2_FINAL && h2->stream_count == 0) {
        crpc_h2_break(h2, CRPC_OK);
    }
}

/// Writes the frame that says why the connection ends (RFC 9113 section 6.8), where the session cannot. Its length.
static ssize_t h2_put_goaway(const crpc_h2 *h2, uint8_t *target) {
    enum { FIXED_LENGTH = 8 };
    const char *reason = h2->end.reason == NULL ? "" : h2->end.reason;
    size_t length = strlen(reason);
    uint32_t last = (uint32_t)h2->remote.last_id, code = h2->end.code;
    const uint8_t fixed[CRPC_FRAME_HEAD + FIXED_LENGTH] = {
        0, 0, (uint8_t)(FIXED_LENGTH + length), CRPC_FRAME_GOAWAY, 0, 0, 0, 0, 0,
        (uint8_t)(last >> 24), (uint8_t)(last >> 16), (uint8_t)(last >> 8), (uint8_t)last,
        (uint8_t)(code >> 24), (uint8_t)(code >> 16), (uint8_t)(code >> 8), (uint8_t)code};
    memcpy(target, fixed, sizeof fixed);
    memcpy(target + sizeof fixed, reason, length);
    return (ssize_t)(sizeof fixed + length);
}

ssize_t crpc_h2_goodbye(crpc_h2 *h2, uint8_t *target, size_t room) {
    return h2->end.is_session_over ? h2_put_goaway(h2, target) : crpc_h2_produce(h2, target, room);
}

// ---- Its end ----

void crpc_h2_end_streams(crpc_h2 *h2) {
    if (!crpc_h2_is_broken(h2)) crpc_h2_set_state(h2, CRPC_H2_BROKEN);
    crpc_h2_set_state(h2, CRPC_H2_CLOSED);
    while (!crpc_link_is_empty(&h2->streams))
        crpc_h2_stream_end(CRPC_CONTAINER(h2->streams.next, crpc_h2_stream, link), CRPC_H2_CANCEL);
}

void crpc_h2_end(crpc_h2 *h2) {
    crpc_session_end(h2);
    crpc_known_literals_end(&h2->literals);
    while (h2->free_streams != NULL) {
        crpc_h2_stream *stream = h2->free_streams;
        h2->free_streams = stream->next_free;
        h2->above->on_free(stream);
        free(stream);
    }
    crpc_link_remove(&h2->close.link);
    crpc_link_remove(&h2->flush.link); // last, since a call's last callback may have touched its neighbours
}
