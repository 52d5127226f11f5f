#include "transport/driver.h"
#include "transport/listener.h"

#include <stdlib.h>

// A driver carries a connection of HTTP/2 or of HTTP/1.x, or none yet: what differs between them.

void crpc_driver_break(crpc_driver *driver, int error) {
    switch (driver->protocol) {
    case CRPC_PROTOCOL_HTTP2: crpc_h2_break(&driver->connection.h2, error); break;
    case CRPC_PROTOCOL_HTTP1: crpc_h1_break(&driver->h1, error); break;
    case CRPC_PROTOCOL_NONE:
        driver->early.is_broken = true;
        crpc_chore_request(&driver->loop->turn.closes, &driver->early.close);
        break;
    }
}

void crpc_driver_make_room(crpc_driver *driver) {
    switch (driver->protocol) {
    case CRPC_PROTOCOL_HTTP2: crpc_h2_make_room(&driver->connection.h2); break;
    case CRPC_PROTOCOL_HTTP1: crpc_h1_make_room(&driver->h1); break;
    case CRPC_PROTOCOL_NONE: crpc_driver_break(driver, CRPC_OK); break;
    }
}

void crpc_driver_drain(crpc_driver *driver) {
    uint64_t due = driver->loop->turn.now_ns + crpc_ns_of_ms(CRPC_ROUND_TRIP_MAX_MS);
    switch (driver->protocol) {
    case CRPC_PROTOCOL_HTTP2: crpc_connection_drain(&driver->connection); break;
    case CRPC_PROTOCOL_HTTP1: crpc_h1_drain(&driver->h1); break;
    case CRPC_PROTOCOL_NONE: // it is drained once it is open
        if (due < driver->early.due_ns) driver->early.due_ns = due;
        crpc_driver_set_timer(driver);
        break;
    }
}

void crpc_driver_mark(crpc_driver *driver) {
    if (driver->protocol == CRPC_PROTOCOL_HTTP2) crpc_h2_mark(&driver->connection.h2);
    if (driver->protocol == CRPC_PROTOCOL_HTTP1) crpc_h1_mark(&driver->h1);
}

// ---- Bytes in ----

bool crpc_driver_note_readable(crpc_driver *driver) {
    return driver->protocol == CRPC_PROTOCOL_HTTP1 ? crpc_h1_note_readable(&driver->h1)
                                                   : crpc_connection_note_readable(&driver->connection);
}

bool crpc_driver_feed(crpc_driver *driver, const uint8_t *bytes, size_t length) {
    return driver->protocol == CRPC_PROTOCOL_HTTP1 ? crpc_h1_feed(&driver->h1, bytes, length)
                                                   : crpc_connection_feed(&driver->connection, bytes, length);
}

bool crpc_driver_note_fed(crpc_driver *driver) {
    return driver->protocol == CRPC_PROTOCOL_HTTP1 ? crpc_h1_note_fed(&driver->h1)
                                                   : crpc_connection_note_fed(&driver->connection);
}

bool crpc_driver_charge(crpc_driver *driver, uint32_t cost) {
    return driver->protocol == CRPC_PROTOCOL_HTTP1 ? crpc_h1_charge(&driver->h1, cost)
                                                   : crpc_h2_charge(&driver->connection.h2, (int32_t)cost);
}

int crpc_driver_reads(const crpc_driver *driver) {
    if (driver->protocol != CRPC_PROTOCOL_HTTP1) return CRPC_READABLE;
    return driver->end.has_peer_ended || crpc_h1_read_room(&driver->h1) == 0 ? 0 : CRPC_READABLE;
}

uint64_t crpc_driver_next_ns(const crpc_driver *driver) {
    if (driver->protocol == CRPC_PROTOCOL_HTTP2) return crpc_connection_next_ns(&driver->connection);
    return driver->protocol == CRPC_PROTOCOL_HTTP1 ? crpc_h1_next_ns(&driver->h1) : driver->early.due_ns;
}

// ---- The beginning and the end ----

static void protocol_on_h2_flush(crpc_chore *chore) {
    crpc_driver_on_flush(crpc_driver_of_h2(CRPC_CONTAINER(chore, crpc_h2, flush)));
}
static void protocol_on_h2_close(crpc_chore *chore) {
    crpc_driver_end(crpc_driver_of_h2(CRPC_CONTAINER(chore, crpc_h2, close)));
}
static void protocol_on_h1_flush(crpc_chore *chore) {
    crpc_driver_on_flush(crpc_driver_of_h1(CRPC_CONTAINER(chore, crpc_h1, flush)));
}
static void protocol_on_h1_close(crpc_chore *chore) {
    crpc_driver_end(crpc_driver_of_h1(CRPC_CONTAINER(chore, crpc_h1, close)));
}

void crpc_driver_set_protocol(crpc_driver *driver, crpc_protocol protocol) {
    driver->protocol = protocol;
    if (protocol == CRPC_PROTOCOL_HTTP2) {
        driver->connection.h2.flush.run = protocol_on_h2_flush;
        driver->connection.h2.close.run = protocol_on_h2_close;
    } else {
        driver->h1.flush.run = protocol_on_h1_flush;
        driver->h1.close.run = protocol_on_h1_close;
    }
}

int crpc_driver_begin_protocol(crpc_driver *driver, crpc_protocol protocol) {
    crpc_listener *listener = driver->listener;
    const crpc_limits *limits = &listener->options.limits;
    crpc_driver_set_protocol(driver, protocol);
    int error;
    if (protocol == CRPC_PROTOCOL_HTTP2) {
        error = crpc_connection_begin_server(
            &driver->connection, &listener->service, limits, &crpc_listener_below, driver->tls.ssl != NULL);
        // The handshake has begun before.
        if (error == CRPC_OK) crpc_h2_set_due(&driver->connection.h2, CRPC_DUE_HANDSHAKE, driver->early.due_ns);
    } else {
        error = crpc_h1_begin(&driver->h1, &listener->service, limits, &crpc_listener_h1_below);
    }
    if (error != CRPC_OK) driver->protocol = CRPC_PROTOCOL_NONE;
    return error;
}

void crpc_driver_start_protocol(crpc_driver *driver) {
    if (driver->protocol == CRPC_PROTOCOL_HTTP2) {
        crpc_connection_start(&driver->connection);
    } else {
        const crpc_service *service = &driver->listener->service;
        driver->peer_context = service->callbacks->on_open(service->server, &driver->connection);
        bool is_encrypted = driver->tls.ssl != NULL; // its handshake had a time of its own
        crpc_h1_start(
            &driver->h1, driver->peer_context, is_encrypted ? driver->loop->turn.now_ns : driver->accepted_ns);
    }
}

void crpc_driver_tell_end(crpc_driver *driver) {
    if (driver->protocol == CRPC_PROTOCOL_HTTP2) crpc_connection_tell_end(&driver->connection);
    if (driver->protocol != CRPC_PROTOCOL_HTTP1) return;
    const crpc_service *service = &driver->listener->service;
    crpc_h1_tell_end(&driver->h1);
    if (!driver->loop->turn.is_ending) service->callbacks->on_connection_close(service->server, driver->peer_context);
}

void crpc_driver_end_protocol(crpc_driver *driver) {
    switch (driver->protocol) {
    case CRPC_PROTOCOL_HTTP2: crpc_connection_end(&driver->connection); break;
    case CRPC_PROTOCOL_HTTP1: crpc_h1_end(&driver->h1); break;
    case CRPC_PROTOCOL_NONE: crpc_link_remove(&driver->early.close.link); break;
    }
    free(driver->early.bytes);
}
