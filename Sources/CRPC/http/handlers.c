#include "http/handlers.h"

#include <stdlib.h>

static void handlers_free_if_done(crpc_handlers *handlers) {
    if (!handlers->has_left || handlers->count > 0) return;
    crpc_link_remove(&handlers->resident.link);
    free(handlers);
}

/// The loop is being freed, after its services: handlers that still run are counted by nobody.
static void handlers_outlive(crpc_resident *resident) {
    CRPC_CONTAINER(resident, crpc_handlers, resident)->turn = NULL;
    crpc_link_remove(&resident->link);
}

crpc_handlers *crpc_handlers_new(crpc_service *service) {
    crpc_handlers *handlers = calloc(1, sizeof *handlers);
    if (handlers == NULL) return NULL;
    handlers->turn = service->turn;
    handlers->service = service;
    handlers->resident.end = handlers_outlive;
    crpc_link_append(&service->handlers, &handlers->resident.link);
    return handlers;
}

void crpc_handlers_leave(crpc_handlers *handlers) {
    if (handlers == NULL) return;
    handlers->has_left = true;
    handlers_free_if_done(handlers);
}

void crpc_handlers_orphan(crpc_service *service) {
    while (!crpc_link_is_empty(&service->handlers)) {
        crpc_handlers *handlers = CRPC_CONTAINER(service->handlers.next, crpc_handlers, resident.link);
        handlers->service = NULL;
        crpc_link_remove(&handlers->resident.link);
        crpc_link_append(&service->turn->residents, &handlers->resident.link);
    }
}

void crpc_handler_begin(crpc_handlers *handlers) {
    handlers->count += 1;
    handlers->service->handler_count += 1;
    crpc_count(&handlers->turn->stats.handlers, 1);
}

void crpc_handler_ended(crpc_handlers *handlers) {
    handlers->count -= 1;
    if (handlers->service != NULL) handlers->service->handler_count -= 1;
    if (handlers->turn != NULL) crpc_count(&handlers->turn->stats.handlers, UINT64_MAX); // one less
    handlers_free_if_done(handlers);
}

bool crpc_handlers_have_room(const crpc_handlers *handlers, uint32_t streams_max) {
    // As many as have streams, and as many again that still wind up after their streams: an honest client at its limit
    // opens a stream in the place of one that it has just ended.
    return handlers->count < 2ull * streams_max &&
           crpc_service_has_place(handlers->service, handlers->service->handler_count, handlers->count);
}
