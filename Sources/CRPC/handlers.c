#include "internal.h"

// Handlers that run. A client ends its streams when it likes and opens others in their place, so that a bound on streams
// is none on the handlers that still run for those which have ended (CVE-2023-44487, CVE-2025-8671). A handler counts
// until whoever runs it says that it has ended.
//
// States: counted by connection, listener and loop → the connection has ended → the listener, too, and perhaps the loop.
// Freed in either of the last two once no handler is left.

struct crpc_handlers {
    crpc_loop *loop;         // NULL once it was freed
    crpc_listener *listener; // NULL once it has ended
    uint32_t count;
    bool has_left; // the connection
    crpc_link link; // in the listener's, then in the loop's
};

crpc_handlers *crpc_handlers_new(crpc_listener *listener) {
    crpc_handlers *handlers = calloc(1, sizeof *handlers);
    if (handlers == NULL) return NULL;
    handlers->loop = listener->loop;
    handlers->listener = listener;
    crpc_link_append(&listener->handlers, &handlers->link);
    return handlers;
}

static void free_if_done(crpc_handlers *handlers) {
    if (!handlers->has_left || handlers->count > 0) return;
    crpc_link_remove(&handlers->link);
    free(handlers);
}

void crpc_handlers_leave(crpc_handlers *handlers) {
    if (handlers == NULL) return;
    handlers->has_left = true;
    free_if_done(handlers);
}

void crpc_handlers_orphan(crpc_listener *listener) {
    while (!crpc_link_is_empty(&listener->handlers)) {
        crpc_handlers *handlers = CRPC_CONTAINER(listener->handlers.next, crpc_handlers, link);
        handlers->listener = NULL;
        crpc_link_remove(&handlers->link);
        crpc_link_append(&listener->loop->handlers, &handlers->link);
    }
}

void crpc_handlers_outlive(crpc_loop *loop) {
    while (!crpc_link_is_empty(&loop->handlers)) {
        crpc_handlers *handlers = CRPC_CONTAINER(loop->handlers.next, crpc_handlers, link);
        handlers->loop = NULL;
        crpc_link_remove(&handlers->link);
    }
}

void crpc_handler_begin(crpc_handlers *handlers) {
    handlers->count += 1;
    handlers->listener->handler_count += 1;
    crpc_count(&handlers->loop->stats.handlers, 1);
}

void crpc_handler_ended(crpc_handlers *handlers) {
    handlers->count -= 1;
    if (handlers->listener != NULL) handlers->listener->handler_count -= 1;
    if (handlers->loop != NULL) crpc_count(&handlers->loop->stats.handlers, UINT64_MAX); // one less
    free_if_done(handlers);
}

bool crpc_handlers_have_room(const crpc_connection *connection) {
    const crpc_listener *listener = connection->listener;
    // As many as have streams, and as many again that still wind up after their streams: an honest client at its limit
    // opens a stream in the place of one that it has just ended.
    return connection->handlers->count < 2ull * connection->limits.streams_max &&
           crpc_listener_has_place(listener, listener->handler_count, connection->handlers->count);
}
