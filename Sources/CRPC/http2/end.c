#include "http2/http2_connection.h"
#include "http2/session.h"

// How a connection drains, breaks and says why.

const uint8_t crpc_h2_moves[CRPC_H2_STATES] = {
    [CRPC_H2_OPEN] = CRPC_TO(CRPC_H2_DRAINING) | CRPC_TO(CRPC_H2_FINAL) | CRPC_TO(CRPC_H2_BROKEN),
    [CRPC_H2_DRAINING] = CRPC_TO(CRPC_H2_FINAL) | CRPC_TO(CRPC_H2_BROKEN),
    [CRPC_H2_FINAL] = CRPC_TO(CRPC_H2_BROKEN),
    [CRPC_H2_BROKEN] = CRPC_TO(CRPC_H2_CLOSED),
};

const uint8_t crpc_goodbye_payload[8] = {'g', 'o', 'o', 'd', 'b', 'y', 'e', '!'};

void crpc_h2_break(crpc_h2 *h2, int error) {
    if (crpc_h2_is_broken(h2)) return;
    crpc_h2_set_state(h2, CRPC_H2_BROKEN);
    h2->end.error = error;
    crpc_chore_request(&h2->turn->closes, &h2->close);
}

void crpc_h2_dismiss(crpc_h2 *h2, int error, uint32_t code, const char *reason) {
    if (crpc_h2_is_broken(h2)) return;
    h2->end.code = code;
    h2->end.reason = reason;
    // Without memory for it the peer does not learn why.
    if (!h2->end.is_session_over) (void)crpc_session_goaway(h2, code, reason);
    crpc_h2_break(h2, error);
}

void crpc_h2_make_room(crpc_h2 *h2) { crpc_h2_dismiss(h2, CRPC_OK, CRPC_H2_NO_ERROR, "too_many_connections"); }

void crpc_h2_calm(crpc_h2 *h2, const char *reason) {
    if (h2->is_server && !crpc_h2_is_broken(h2)) crpc_count(&h2->turn->stats.connections_dismissed, 1);
    crpc_h2_dismiss(h2, CRPC_ERROR_LIMIT, CRPC_H2_ENHANCE_YOUR_CALM, reason);
}

bool crpc_h2_obey(crpc_h2 *h2, crpc_verdict verdict) {
    if (verdict == CRPC_VERDICT_FINE) return true;
    crpc_h2_calm(h2, crpc_verdict_text(verdict));
    return false;
}

void crpc_h2_drain(crpc_h2 *h2) {
    if (h2->state != CRPC_H2_OPEN) return;
    crpc_h2_mark(h2);
    if (h2->is_server && !h2->is_started) {
        // A client that has not heard from us may have sent calls, which would be lost. It is drained once it is open.
        uint64_t due = crpc_h2_after_ms(h2, CRPC_ROUND_TRIP_MAX_MS);
        if (due < h2->due_ns[CRPC_DUE_HANDSHAKE]) crpc_h2_set_due(h2, CRPC_DUE_HANDSHAKE, due);
        return;
    }
    crpc_h2_set_state(h2, CRPC_H2_DRAINING);
    crpc_h2_set_due(h2, CRPC_DUE_DRAIN, crpc_h2_after_ms(h2, h2->limits.drain_timeout_ms));
    // Some streams may have less time now.
    if (h2->due_ns[CRPC_DUE_SWEEP] != 0) crpc_h2_limit(h2, CRPC_DUE_SWEEP, CRPC_DRAIN_SWEEP_MS);
    if (!h2->is_started && h2->stream_count == 0) {
        crpc_h2_break(h2, CRPC_OK);
        return;
    }
    if (!h2->is_server) return;
    if (crpc_session_shutdown_notice(h2) != CRPC_OK || crpc_session_ping(h2, crpc_goodbye_payload) != CRPC_OK)
        crpc_h2_break(h2, CRPC_ERROR_MEMORY);
    crpc_h2_set_due(h2, CRPC_DUE_GOAWAY, crpc_h2_after_ms(h2, CRPC_ROUND_TRIP_MAX_MS));
}

void crpc_h2_submit_last_goaway(crpc_h2 *h2) {
    if (h2->is_server || !h2->is_started || h2->state != CRPC_H2_DRAINING || h2->stream_count > 0) return;
    crpc_h2_set_state(h2, CRPC_H2_FINAL);
    if (crpc_session_goaway(h2, CRPC_H2_NO_ERROR, "") != CRPC_OK) crpc_h2_break(h2, CRPC_ERROR_MEMORY);
}
