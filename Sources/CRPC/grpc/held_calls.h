/// What peers make us hold: answers that wait for their windows, messages that are not whole, messages that no handler has
/// read, what a handler keeps of a request. Counted with what it takes to hold it, by connection and, for servers, by loop.
///
/// A connection that holds little has its window given back as bytes come, so that a stream whose handler is slow holds up
/// no other. Past half of what it may hold, bytes of unread messages are withheld from that window, up to all of it, and
/// given back as the messages are read (RFC 9113 section 5.2). Past all of it calls are refused. Loop thread; no callback.
#ifndef CRPC_HELD_H
#define CRPC_HELD_H

#include "grpc/grpc_connection.h"
#include "http/held.h"
#include "http2/session.h"

/// Counts bytes that are held for the peer of a connection; a server's also for its loop.
static inline void crpc_hold(crpc_connection *connection, size_t bytes) {
    connection->held.bytes += bytes;
    if (connection->h2.is_server) crpc_count(&connection->h2.turn->stats.held_bytes, bytes);
}
static inline void crpc_let_go(crpc_connection *connection, size_t bytes) { crpc_hold(connection, 0 - bytes); }
/// Server: what the client may make us hold now.
static inline size_t crpc_held_max(const crpc_connection *connection) {
    return crpc_service_held_max(connection->service, connection->h2.limits.buffered_bytes_max);
}
/// Server: whether the client makes us hold so much that nothing is added.
static inline bool crpc_holds_too_much(const crpc_connection *connection) {
    return connection->h2.is_server && connection->held.bytes > crpc_held_max(connection);
}
/// Server: whether the client makes us hold more than half of what it may.
static inline bool crpc_holds_much(const crpc_connection *connection) {
    return connection->h2.is_server && connection->held.bytes > crpc_held_max(connection) / 2;
}
/// Gives bytes that came on a stream back to the window of the connection, or withholds them where the stream is
/// `read_slowly`. Errors: MEMORY.
static inline int crpc_give_back_or_withhold(crpc_connection *connection, bool is_read_slowly, size_t length) {
    if (is_read_slowly && crpc_holds_much(connection)) {
        connection->held.withheld_bytes += length;
        return CRPC_OK;
    }
    return crpc_session_give_back(&connection->h2, length);
}
/// Gives back what need not be withheld any more.
void crpc_give_back_withheld(crpc_connection *connection);

#endif
