/// What a server's connections on one loop share, whatever they speak: callbacks, methods, names, the counts that bounds are
/// for. Part of the listener, or of a test; outlives its connections, but not the handlers that still run when it ends. Loop
/// thread.
#ifndef CRPC_SERVICE_H
#define CRPC_SERVICE_H

#include "crpc_server.h"
#include "http/authority.h"
#include "http/buffers.h"
#include "http/paths.h"
#include "loop/turn.h"

struct crpc_call_table;

typedef struct crpc_service {
    crpc_turn *turn;
    const crpc_server_callbacks *callbacks;
    void *server;
    crpc_paths paths;
    uint32_t calls_max;
    uint64_t held_bytes_max;
    struct crpc_call_table *calls; // NULL where nobody counts
    crpc_names names;              // that it answers to
    uint32_t connection_count, call_count, handler_count;
    crpc_link handlers;     // of its connections, and of those that have ended before their handlers
    crpc_buffers buffers;   // of connections of HTTP/1.x
    struct {                // of answers (http/exchange.h)
        uint64_t until_ns;
        char text[32];
    } date;
} crpc_service;

/// Begins a service without bounds but those of its connections, which the caller may set. `paths` are copied; `callbacks`
/// outlive it. Errors: MEMORY; `crpc_service_end` is then still due.
int crpc_service_begin(
    crpc_service *service, crpc_turn *turn, const char *const *paths, uint32_t path_count,
    const crpc_server_callbacks *callbacks, void *server);
/// Frees what it holds. Its connections have ended; handlers that still run are counted by the turn alone.
void crpc_service_end(crpc_service *service);

/// Fewer places than these are not worth sharing out.
enum { CRPC_SHARED_PLACES_MIN = 64 };

/// Whether there is a place among `calls_max` where `count` are taken, `own` of them by the connection that asks. The first
/// half is anybody's. Of the other half each connection has an equal share, so that a few that hold places for long leave
/// some to those that come.
static inline bool crpc_service_has_place(const crpc_service *service, uint32_t count, uint32_t own) {
    uint32_t most = service->calls_max;
    bool is_shared = most >= CRPC_SHARED_PLACES_MIN && service->connection_count > 1;
    if (count < most / 2 || !is_shared) return count < most;
    uint32_t share = most / 2 / service->connection_count;
    return count < most && own < (share > 0 ? share : 1);
}

#endif
