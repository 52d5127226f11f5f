#include "grpc/held.h"

// Whoever only connects must not make a share less than what one call takes: a stream's queue, and a message of a few
// DATA frames.
enum { HELD_SHARE_MIN = 4 * CRPC_STREAM_HIGH_WATER };

size_t crpc_held_share(const crpc_connection *connection) {
    const crpc_loop_stats *stats = &connection->h2.turn->stats;
    uint64_t connections = stats->server_connections_opened - stats->server_connections_closed; // this one among them
    uint64_t budget = connection->service->held_bytes_max;
    uint64_t share = budget / 2 / (connections > 0 ? connections : 1);
    if (share < HELD_SHARE_MIN && stats->held_bytes < budget) share = HELD_SHARE_MIN;
    size_t most = connection->h2.limits.buffered_bytes_max;
    return share < most ? (size_t)share : most;
}

void crpc_give_back_withheld(crpc_connection *connection) {
    size_t kept = crpc_holds_much(connection) ? connection->held.unreleased_bytes : 0;
    if (connection->held.withheld_bytes <= kept) return;
    size_t given = connection->held.withheld_bytes - kept;
    connection->held.withheld_bytes = kept;
    if (crpc_session_give_back(&connection->h2, given) != CRPC_OK) crpc_h2_break(&connection->h2, CRPC_ERROR_MEMORY);
    crpc_h2_mark(&connection->h2);
}
