#include "http/service.h"

#include "http/handlers.h"

int crpc_service_begin(
    crpc_service *service, crpc_turn *turn, const char *const *paths, uint32_t path_count,
    const crpc_server_callbacks *callbacks, void *server) {
    *service = (crpc_service){
        .turn = turn,
        .callbacks = callbacks,
        .server = server,
        .calls_max = UINT32_MAX,
        .held_bytes_max = UINT64_MAX,
    };
    crpc_link_init(&service->handlers);
    return crpc_paths_begin(&service->paths, paths, path_count);
}

void crpc_service_end(crpc_service *service) {
    crpc_handlers_orphan(service);
    crpc_names_end(&service->names);
    crpc_paths_end(&service->paths);
    crpc_buffers_end(&service->buffers);
}
