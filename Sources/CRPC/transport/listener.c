#include "transport/listener.h"

#include "transport/proxy_header.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// Connections accepted in one turn, so that calls on those there are not held up.
enum { ACCEPTS_PER_TURN_MAX = 64 };
/// How long accepting pauses when file descriptors, or the kernel's memory, ran out and nothing could be given up.
enum { ACCEPT_PAUSE_MS = 100 };

// ---- Accepting ----

static void listener_resume_accepting(void *context) { crpc_listener_update_accepting(context); }

/// Makes a connection of an accepted socket, or closes it.
static void listener_take_in(crpc_listener *listener, int fd, const struct sockaddr_storage *from) {
    bool is_proxy = crpc_proxy_networks_have(listener->proxies, listener->options.proxy_count, from);
    crpc_address *address = is_proxy ? NULL : crpc_listener_take_address(listener, from);
    bool may_come = is_proxy || address != NULL;
    if (!may_come || !crpc_listener_makes_room(listener)) {
        if (address != NULL) crpc_addresses_give_back(&listener->addresses, address);
        (void)close(fd);
        return;
    }
    crpc_socket_set_nodelay(fd);
    if (crpc_driver_accept(listener, fd, from, address) != CRPC_OK && address != NULL)
        crpc_addresses_give_back(&listener->addresses, address);
}

/// Accepts what waits, at most so many. Whether none waits any more.
static bool listener_accept_at_most(crpc_listener *listener, int most) {
    for (int i = 0; i < most && crpc_listener_can_take(listener); i++) {
        struct sockaddr_storage from = {0};
        socklen_t length = sizeof from;
        int fd = accept4(listener->fd, (struct sockaddr *)&from, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            listener_take_in(listener, fd, &from);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            bool is_out_of_files = errno == EMFILE || errno == ENFILE;
            if (!is_out_of_files || !crpc_listener_frees_file(listener))
                listener->paused_until_ns = listener->loop->turn.now_ns + ACCEPT_PAUSE_MS * 1000000ull;
            return false;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return true;
        }
    }
    return false;
}

static void listener_accept_some(void *context, int ready) {
    (void)ready;
    crpc_listener *listener = context;
    (void)listener_accept_at_most(listener, ACCEPTS_PER_TURN_MAX);
    crpc_listener_update_accepting(listener);
}

static void listener_stop_accepting(crpc_listener *listener) {
    listener->is_draining = true;
    listener->is_accepting = false;
    crpc_timer_cancel(&listener->resume);
    crpc_watch_end(&listener->watch);
    if (listener->fd >= 0) (void)close(listener->fd);
    listener->fd = -1;
}

static void listener_destroy(crpc_listener *listener) {
    listener_stop_accepting(listener);
    crpc_link_remove(&listener->resident.link);
    while (!crpc_link_is_empty(&listener->connections)) {
        crpc_driver *driver = CRPC_CONTAINER(listener->connections.next, crpc_driver, link);
        driver->end.is_forced = true;
        crpc_driver_end(driver);
    }
    crpc_service_end(&listener->service);
    crpc_addresses_end(&listener->addresses);
    free(listener->proxies);
    crpc_tls_free(listener->options.tls);
    free(listener);
}

static void listener_end_with_loop(crpc_resident *resident) {
    listener_destroy(CRPC_CONTAINER(resident, crpc_listener, resident));
}

/// Makes what it needs and listens. On errors what was made is left to the caller.
static int listener_begin(crpc_listener *listener, crpc_tls *tls) {
    crpc_loop *loop = listener->loop;
    const crpc_listener_options *options = &listener->options;
    listener->options.tls = crpc_tls_retain(tls);
    int error = tls != NULL && listener->options.tls == NULL ? CRPC_ERROR_MEMORY : CRPC_OK;
    if (error == CRPC_OK && options->checks_names)
        error = crpc_names_begin(&listener->service.names, options->names, options->name_count);
    if (error == CRPC_OK && options->proxy_count > 0) {
        listener->proxies = calloc(options->proxy_count, sizeof *listener->proxies);
        if (listener->proxies == NULL) return CRPC_ERROR_MEMORY;
        memcpy(listener->proxies, options->proxies, options->proxy_count * sizeof *listener->proxies);
    }
    if (error == CRPC_OK) error = crpc_addresses_begin(&listener->addresses, options->connections_max);
    if (error == CRPC_OK)
        error = crpc_socket_listen(
            options->address, options->port, options->shared_port, options->joins_port, &listener->fd, &listener->port);
    if (error == CRPC_OK)
        error = crpc_watch_begin(&listener->watch, loop, listener->fd, CRPC_READABLE, listener_accept_some, listener);
    return error;
}

int crpc_listener_new(
    crpc_loop *loop, const crpc_listener_options *options, const char *const *paths, uint32_t path_count,
    const crpc_server_callbacks *callbacks, void *server, crpc_listener **result) {
    if (path_count > CRPC_METHODS_MAX) return CRPC_ERROR_ARGUMENT;
    crpc_listener *listener = calloc(1, sizeof *listener);
    if (listener == NULL) return CRPC_ERROR_MEMORY;
    listener->loop = loop;
    listener->options = *options;
    listener->fd = -1;
    crpc_link_init(&listener->connections);
    crpc_link_init(&listener->shaking);
    crpc_link_init(&listener->idle);
    crpc_timer_init(&listener->resume, &loop->timers, listener_resume_accepting, listener);
    listener->resident.end = listener_end_with_loop;
    crpc_link_init(&listener->resident.link);
    crpc_link_append(&loop->turn.residents, &listener->resident.link);
    int error = crpc_service_begin(&listener->service, &loop->turn, paths, path_count, callbacks, server);
    listener->service.calls_max = options->calls_max;
    if (options->held_bytes_max != 0) listener->service.held_bytes_max = options->held_bytes_max;
    listener->service.calls = options->calls;
    listener->options.tls = NULL; // until there is a reference
    if (error == CRPC_OK) error = listener_begin(listener, options->tls);
    listener->options.address = NULL; // the caller's, as are these
    listener->options.names = NULL;
    listener->options.proxies = NULL;
    if (error != CRPC_OK) {
        int saved = errno;
        listener_destroy(listener);
        errno = saved;
        return error;
    }
    listener->is_accepting = true;
    *result = listener;
    return CRPC_OK;
}

uint16_t crpc_listener_port(const crpc_listener *listener) { return listener->port; }
uint32_t crpc_listener_connection_count(const crpc_listener *listener) { return listener->service.connection_count; }

void crpc_listener_set_tls(crpc_listener *listener, crpc_tls *tls) {
    crpc_tls *copy = crpc_tls_retain(tls);
    if (copy == NULL) return; // the old rules stay
    crpc_tls_free(listener->options.tls);
    listener->options.tls = copy;
}

void crpc_listener_drain(crpc_listener *listener) {
    // Who is in the kernel's queue would be reset: it thinks that it is connected, and may have sent a request.
    if (!listener->is_draining) (void)listener_accept_at_most(listener, CRPC_BACKLOG_MAX);
    listener_stop_accepting(listener);
    for (crpc_link *link = listener->connections.next; link != &listener->connections; link = link->next) {
        crpc_driver *driver = CRPC_CONTAINER(link, crpc_driver, link);
        driver->protocol->drain(driver);
    }
}

void crpc_listener_free(crpc_listener *listener) {
    if (listener->loop->turn.callback_depth > 0) crpc_die("a listener is freed inside a callback of a connection");
    listener_destroy(listener);
}
