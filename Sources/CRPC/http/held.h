/// What one client may make us hold, whichever protocol it speaks: counted by connection, and by loop in its `held_bytes`.
/// Loop thread; no callback.
#ifndef CRPC_HTTP_HELD_H
#define CRPC_HTTP_HELD_H

#include "http/service.h"

/// What a client that may make us hold `most` may while the loop holds much.
size_t crpc_service_held_share(const crpc_service *service, size_t most);
/// What it may make us hold now. While the loop holds more than half of what it may, each connection has an equal share of
/// the other half, so that connections which hold little go on.
static inline size_t crpc_service_held_max(const crpc_service *service, size_t most) {
    bool has_share = service->turn->stats.held_bytes > service->held_bytes_max / 2;
    return has_share ? crpc_service_held_share(service, most) : most;
}
/// Counts bytes that are held for a client, in its connection's count and the loop's: modulo 2^n, where it is less.
static inline void crpc_service_hold(const crpc_service *service, size_t *held, size_t bytes) {
    *held += bytes;
    crpc_count(&service->turn->stats.held_bytes, bytes);
}

#endif
