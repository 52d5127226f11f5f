/// Carries a connection in memory: without a socket, a loop or a clock. What it produces is kept for the test to take.
#ifndef CRPC_TEST_CARRIER_H
#define CRPC_TEST_CARRIER_H

#include "layer.h"

typedef struct carrier {
    crpc_turn turn;
    crpc_connection *connection; // NULL before its begin, and once it has ended
    uint8_t *sent;               // what it has produced, and nobody took
    size_t sent_length;
} carrier;

/// Makes one without a connection yet, at a time that is not 0.
void carrier_begin(carrier *carrier);
/// Begins a connection that is open at once. `carrier->turn` is the service's.
int carrier_serve(carrier *carrier, crpc_service *service, const crpc_limits *limits);
int carrier_connect(
    carrier *carrier, const crpc_limits *limits, const crpc_client_callbacks *callbacks, void *context);
/// Brings bytes; dropped once the connection has ended.
void carrier_feed(carrier *carrier, const uint8_t *bytes, size_t length);
/// Lets so much time pass, does what is due, and flushes.
void carrier_turn(carrier *carrier, uint64_t ns);
/// Drops bytes from the front of what was produced.
void carrier_take(carrier *carrier, size_t length);
/// The peer has gone: the connection ends, if it is there.
void carrier_cut(carrier *carrier);
/// Frees what was produced. The connection has ended.
void carrier_end(carrier *carrier);

#endif
