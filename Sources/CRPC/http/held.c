#include "http/held.h"

#include "crpc_limits.h"

// Clients that only connect must not make a share less than what one call takes: a stream's queue, and a message of a few
// DATA frames.
enum { HELD_SHARE_MIN = 4 * CRPC_STREAM_HIGH_WATER };

size_t crpc_service_held_share(const crpc_service *service, size_t most) {
    const crpc_loop_stats *stats = &service->turn->stats;
    uint64_t connections = stats->server_connections_opened - stats->server_connections_closed; // this one among them
    uint64_t budget = service->held_bytes_max;
    uint64_t share = budget / 2 / (connections > 0 ? connections : 1);
    if (share < HELD_SHARE_MIN && stats->held_bytes < budget) share = HELD_SHARE_MIN;
    return share < most ? (size_t)share : most;
}
