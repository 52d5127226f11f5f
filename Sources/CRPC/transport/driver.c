#include "transport/driver.h"

#include "crpc_connect.h"
#include "transport/listener.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The life of a driver: how it connects or is accepted, and what wakes it.

// ---- What wakes it ----

/// Callbacks of the connection may fire until the matching `driver_leave`.
static void driver_enter(crpc_driver *driver) { driver->loop->turn.callback_depth += 1; }
static void driver_leave(crpc_driver *driver) {
    // A flush comes here, too.
    if (!driver->protocol->is_marked(driver)) crpc_driver_set_timer(driver);
    driver->loop->turn.callback_depth -= 1;
}

static void driver_on_early_close(crpc_chore *chore) {
    crpc_driver_end(CRPC_CONTAINER(chore, crpc_driver, early.close));
}

static void driver_on_timer(void *context) {
    crpc_driver *driver = context;
    driver_enter(driver);
    bool is_stalled = driver->out.stall_ns <= driver->loop->turn.now_ns && !driver->protocol->is_broken(driver) &&
                      !crpc_driver_is_written_on(driver);
    if (is_stalled) {
        driver->protocol->fail(driver, CRPC_ERROR_TIMEOUT);
    } else {
        driver->protocol->on_time(driver);
    }
    driver_leave(driver);
}

/// A connection that was begun before is open: a client's.
static void driver_open(crpc_driver *driver) {
    crpc_driver_set_phase(driver, CRPC_PHASE_OPEN);
    crpc_driver_set_interest(driver, CRPC_READABLE);
    crpc_connection_start(&driver->connection);
}

/// What TLS agreed on.
static void driver_open_agreed(crpc_driver *driver) {
    bool is_http2 = crpc_tls_speaks_http2(&driver->tls);
    bool takes_http1 = driver->listener != NULL && crpc_service_takes_exchanges(&driver->listener->service);
    if (!is_http2 && !takes_http1) {
        driver->protocol->fail(driver, CRPC_ERROR_TLS);
        return;
    }
    if (driver->listener == NULL) {
        driver_open(driver);
    } else {
        crpc_driver_open_as(driver, is_http2 ? &crpc_protocol_http2 : &crpc_protocol_http1);
    }
    if (!driver->protocol->is_broken(driver) && crpc_tls_has_more(&driver->tls)) crpc_driver_read(driver);
}

static void driver_shake_hands(crpc_driver *driver, bool is_readable) {
    crpc_handshake handshake = crpc_tls_shake_hands(&driver->tls, is_readable);
    if (handshake == CRPC_HANDSHAKE_READS) {
        crpc_driver_set_interest(driver, CRPC_READABLE);
    } else if (handshake == CRPC_HANDSHAKE_WRITES) { // what comes meanwhile waits in the kernel
        crpc_driver_set_interest(driver, CRPC_WRITABLE);
    } else if (handshake == CRPC_HANDSHAKE_FAILED) {
        driver->protocol->fail(driver, CRPC_ERROR_TLS);
    } else {
        driver_open_agreed(driver);
    }
}

static void driver_finish_connecting(crpc_driver *driver) {
    if (crpc_socket_error(driver->fd) != 0) {
        driver->protocol->fail(driver, CRPC_ERROR_SYSTEM);
    } else if (driver->tls.ssl == NULL) {
        driver_open(driver);
    } else {
        crpc_driver_set_phase(driver, CRPC_PHASE_HANDSHAKING);
        driver_shake_hands(driver, false);
    }
}

static void driver_on_ready(void *context, int ready) {
    crpc_driver *driver = context;
    if (driver->protocol->is_broken(driver)) return;
    bool is_readable = (ready & (CRPC_READABLE | CRPC_FAILED)) != 0;
    driver_enter(driver);
    switch (driver->phase) {
    case CRPC_PHASE_CONNECTING: driver_finish_connecting(driver); break;
    case CRPC_PHASE_PROXYING: crpc_driver_read_proxy(driver); break;
    case CRPC_PHASE_HANDSHAKING: driver_shake_hands(driver, is_readable); break;
    case CRPC_PHASE_TELLING: crpc_driver_tell_protocol(driver); break;
    case CRPC_PHASE_OPEN:
        if (ready & CRPC_WRITABLE) driver->protocol->mark(driver);
        if ((ready & CRPC_FAILED) != 0 && driver->protocol->reads(driver) == 0) {
            // Nothing is read that would tell the failure, and the loop would be woken for it without end.
            driver->end.has_peer_ended = true;
            driver->protocol->fail(driver, CRPC_ERROR_SYSTEM);
        } else if (is_readable) {
            crpc_driver_read(driver);
        }
        break;
    case CRPC_PHASE_CLOSED:
    case CRPC_PHASES: break;
    }
    driver_leave(driver);
}

// ---- The beginning ----

/// What both sides have, beside the connection. On errors a connection that has begun is ended, the socket closed and the
/// driver freed.
static int driver_begin(crpc_driver *driver, crpc_tls *tls, const char *name, int interest) {
    crpc_loop *loop = driver->loop;
    int error = CRPC_OK;
    if (tls != NULL)
        error = crpc_tls_filter_begin(&driver->tls, tls, name, driver->fd, loop->coded_buffer, CRPC_READ_BUFFER);
    crpc_timer_init(&driver->timer, &loop->timers, driver_on_timer, driver);
    if (error == CRPC_OK) error = crpc_timer_set(&driver->timer, driver->protocol->next_ns(driver));
    if (error == CRPC_OK) error = crpc_watch_begin(&driver->watch, loop, driver->fd, interest, driver_on_ready, driver);
    if (error == CRPC_OK) return CRPC_OK;
    int saved = errno;
    crpc_timer_cancel(&driver->timer);
    crpc_tls_filter_end(&driver->tls);
    driver->protocol->end(driver);
    free(driver->early.bytes);
    (void)close(driver->fd);
    free(driver);
    errno = saved;
    return error;
}

static crpc_driver *driver_new(crpc_loop *loop, crpc_phase phase) {
    crpc_driver *driver = calloc(1, sizeof *driver);
    if (driver == NULL) return NULL;
    driver->loop = loop;
    driver->fd = -1;
    driver->phase = phase;
    driver->protocol = &crpc_protocol_none;
    driver->out.stall_ns = UINT64_MAX;
    driver->early.close.run = driver_on_early_close;
    crpc_link_init(&driver->early.close.link);
    crpc_link_init(&driver->resident.link);
    crpc_link_init(&driver->link);
    crpc_link_init(&driver->shaking);
    crpc_link_init(&driver->idle);
    crpc_link_init(&driver->idle_of_address);
    return driver;
}

int crpc_driver_accept(
    crpc_listener *listener, int fd, const struct sockaddr_storage *peer, crpc_address *address) {
    crpc_tls *tls = listener->options.tls;
    bool is_told = tls == NULL && crpc_service_takes_exchanges(&listener->service);
    crpc_phase phase = address == NULL ? CRPC_PHASE_PROXYING : is_told ? CRPC_PHASE_TELLING : CRPC_PHASE_HANDSHAKING;
    crpc_driver *driver = driver_new(listener->loop, phase);
    if (driver == NULL) {
        (void)close(fd);
        return CRPC_ERROR_MEMORY;
    }
    driver->fd = fd;
    driver->listener = listener;
    driver->address = address;
    driver->accepted_ns = driver->loop->turn.now_ns;
    driver->early.due_ns = driver->accepted_ns + crpc_ns_of_ms(listener->options.limits.handshake_timeout_ms);
    crpc_socket_write_peer(peer, driver->peer);
    int error = driver_begin(driver, tls, NULL, CRPC_READABLE);
    if (error != CRPC_OK) return error;
    driver->tls.takes_http1 = crpc_service_takes_exchanges(&listener->service);
    crpc_listener_keep(listener, driver);
    if (tls != NULL || phase != CRPC_PHASE_HANDSHAKING) return CRPC_OK;
    driver_enter(driver);
    crpc_driver_open_as(driver, &crpc_protocol_http2);
    driver_leave(driver);
    return CRPC_OK;
}

static void driver_end_with_loop(crpc_resident *resident) {
    crpc_driver_end(CRPC_CONTAINER(resident, crpc_driver, resident));
}

int crpc_connection_connect(
    crpc_loop *loop, const char *address, uint16_t port, const char *authority, crpc_tls *tls, const char *tls_name,
    const crpc_limits *limits, const crpc_client_callbacks *callbacks, void *context, crpc_connection **result) {
    if (tls != NULL && tls_name == NULL) return CRPC_ERROR_ARGUMENT;
    crpc_driver *driver = driver_new(loop, CRPC_PHASE_CONNECTING);
    if (driver == NULL) return CRPC_ERROR_MEMORY;
    crpc_protocol_carry_http2(driver);
    int error = crpc_socket_connect(address, port, &driver->fd);
    if (error == CRPC_OK)
        error = crpc_connection_begin_client(
            &driver->connection, &loop->turn, limits, callbacks, context, authority, tls != NULL);
    if (error != CRPC_OK) {
        int saved = errno;
        if (driver->fd >= 0) (void)close(driver->fd);
        free(driver);
        errno = saved;
        return error;
    }
    bool is_v6 = strchr(address, ':') != NULL;
    (void)snprintf(driver->peer, sizeof driver->peer, is_v6 ? "[%.45s]:%u" : "%.45s:%u", address, (unsigned)port);
    error = driver_begin(driver, tls, tls_name, CRPC_READABLE | CRPC_WRITABLE);
    if (error != CRPC_OK) return error;
    driver->resident.end = driver_end_with_loop;
    crpc_link_append(&loop->turn.residents, &driver->resident.link);
    *result = &driver->connection;
    return CRPC_OK;
}

// ---- Asking ----

const char *crpc_connection_peer(const crpc_connection *connection) {
    return ((const crpc_driver *)connection)->peer;
}

bool crpc_connection_is_encrypted(const crpc_connection *connection) {
    return ((const crpc_driver *)connection)->tls.ssl != NULL;
}

void crpc_connection_peer_names(
    const crpc_connection *connection, void (*each)(void *context, const char *name, size_t length), void *context) {
    crpc_tls_peer_names(&((const crpc_driver *)connection)->tls, CRPC_PEER_NAMES_MAX, each, context);
}
