/// Handlers that run, counted.
///
/// A client ends its streams when it likes and opens others in their place, so that a bound on streams is none on the
/// handlers that still run for those which have ended (CVE-2023-44487, CVE-2025-8671). A handler counts until its
/// runner says that it has ended. Loop thread; after the loop's end one thread at a time.
///
///     counted by connection, service and loop ──> the connection has ended ──> the service, too, and perhaps the loop
///
/// Freed in either of the last two once no handler is left.
#ifndef CRPC_HANDLERS_H
#define CRPC_HANDLERS_H

#include "http/service.h"

struct crpc_handlers {
    crpc_turn *turn;       // NULL once its loop was freed
    crpc_service *service; // NULL once it has ended
    uint32_t count;
    bool has_left; // the connection
    crpc_resident resident; // in the service's list, then in the turn's
};

/// Makes the count of a connection's handlers. NULL without memory.
crpc_handlers *crpc_handlers_new(crpc_service *service);
/// The connection has ended. NULL does nothing.
void crpc_handlers_leave(crpc_handlers *handlers);
/// The service ends: handlers that still run are counted by the loop alone.
void crpc_handlers_orphan(crpc_service *service);
/// A call's handler begins.
void crpc_handler_begin(crpc_handlers *handlers);
/// Whether one more may run on a connection that may have so many streams.
bool crpc_handlers_have_room(const crpc_handlers *handlers, uint32_t streams_max);

#endif
