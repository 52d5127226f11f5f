#include "internal.h"

// What peers make us hold: answers that wait for their windows, messages that are not whole, messages that no handler has
// read, what a handler keeps of a request. Counted with what it takes to hold it, by connection and, for servers, by loop.
//
// A connection that holds little has its window given back as bytes come, so that a stream whose handler is slow holds up
// no other. Past half of what it may hold, bytes of unread messages are withheld from that window, up to all of it, and
// given back as the messages are read (RFC 9113 section 5.2). Past all of it calls are refused.

// Whoever only connects must not make a share less than what one call takes: a stream's queue, and a message of a few
// DATA frames.
enum { CRPC_HELD_SHARE_MIN = 4 * CRPC_STREAM_HIGH_WATER };

size_t crpc_held_share(const crpc_connection *connection) {
    const crpc_loop_stats *stats = &connection->loop->stats;
    uint64_t connections = stats->server_connections_opened - stats->server_connections_closed; // this one among them
    uint64_t budget = connection->listener->options.held_bytes_max;
    uint64_t share = budget / 2 / connections;
    if (share < CRPC_HELD_SHARE_MIN && stats->held_bytes < budget) share = CRPC_HELD_SHARE_MIN;
    size_t most = connection->limits.buffered_bytes_max;
    return share < most ? (size_t)share : most;
}

void crpc_give_back(crpc_connection *connection) {
    size_t kept = crpc_holds_much(connection) ? connection->unreleased_bytes : 0;
    if (connection->withheld_bytes <= kept) return;
    size_t given = connection->withheld_bytes - kept;
    connection->withheld_bytes = kept;
    if (nghttp2_session_consume_connection(connection->session, given) != 0)
        crpc_connection_break(connection, CRPC_ERROR_MEMORY);
    crpc_connection_mark(connection);
}
