#include "http1/http1_connection.h"

// A connection's states, and what ends it: a fault, or credit that is used up.

const uint8_t crpc_h1_moves[CRPC_H1_STATES] = {
    [CRPC_H1_OPEN] = CRPC_TO(CRPC_H1_DRAINING) | CRPC_TO(CRPC_H1_BROKEN),
    [CRPC_H1_DRAINING] = CRPC_TO(CRPC_H1_BROKEN),
    [CRPC_H1_BROKEN] = CRPC_TO(CRPC_H1_CLOSED),
};
const uint8_t crpc_h1_coming_moves[CRPC_H1_COMINGS] = {
    [CRPC_H1_HEAD] = CRPC_TO(CRPC_H1_BODY) | CRPC_TO(CRPC_H1_ENDED) | CRPC_TO(CRPC_H1_DEAF),
    [CRPC_H1_BODY] = CRPC_TO(CRPC_H1_ENDED) | CRPC_TO(CRPC_H1_DEAF),
    [CRPC_H1_ENDED] = CRPC_TO(CRPC_H1_HEAD) | CRPC_TO(CRPC_H1_DEAF),
};
const uint8_t crpc_h1_answer_moves[CRPC_H1_ANSWERS] = {
    [CRPC_H1_ANSWER_NONE] = CRPC_TO(CRPC_H1_ANSWER_IDLE),
    [CRPC_H1_ANSWER_IDLE] =
        CRPC_TO(CRPC_H1_ANSWER_OPEN) | CRPC_TO(CRPC_H1_ANSWER_FINISHED) | CRPC_TO(CRPC_H1_ANSWER_NONE),
    [CRPC_H1_ANSWER_OPEN] = CRPC_TO(CRPC_H1_ANSWER_FINISHED) | CRPC_TO(CRPC_H1_ANSWER_NONE),
    [CRPC_H1_ANSWER_FINISHED] = CRPC_TO(CRPC_H1_ANSWER_NONE),
};

void crpc_h1_break(crpc_h1 *h1, int error) {
    if (crpc_h1_is_broken(h1)) return;
    crpc_h1_set_state(h1, CRPC_H1_BROKEN);
    h1->error = error;
    crpc_chore_request(&h1->turn->closes, &h1->close);
}

bool crpc_h1_charge(crpc_h1 *h1, uint32_t cost) {
    const crpc_limits *limits = &h1->limits;
    if (crpc_h1_is_broken(h1)) return false;
    h1->credit.left -= cost < INT32_MAX / 2 ? (int32_t)cost : INT32_MAX / 2;
    if (h1->credit.left >= 0) return true;
    uint64_t elapsed_ms = (h1->turn->now_ns - h1->credit.refilled_ns) / 1000000u;
    if (elapsed_ms > 1000u * 3600) elapsed_ms = 1000u * 3600; // so that what follows fits
    uint64_t given = elapsed_ms * limits->credit_per_second / 1000;
    if (given > limits->credit_max) given = limits->credit_max;
    if (given > 0) h1->credit.refilled_ns = h1->turn->now_ns;
    h1->credit.left += (int32_t)given;
    if (h1->credit.left >= 0) return true;
    crpc_count(&h1->turn->stats.connections_dismissed, 1);
    crpc_h1_break(h1, CRPC_ERROR_LIMIT);
    return false;
}
