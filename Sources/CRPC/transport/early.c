#include "http/bytes.h"
#include "http2/frames.h"
#include "transport/driver.h"
#include "transport/listener.h"
#include "transport/proxy_header.h"

#include <stdlib.h>
#include <string.h>

// A server's connection before it is known what it speaks: the header of a proxy, then, in clear text, the first bytes.

/// The client's connection preface (RFC 9113 section 3.4), which distinguishes HTTP/2 from HTTP/1.x.
static const char early_preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
_Static_assert(sizeof early_preface - 1 == CRPC_PREFACE_LENGTH, "the preface is as long as it is");

static void early_forget(crpc_driver *driver) {
    free(driver->early.bytes);
    driver->early.bytes = NULL;
    driver->early.length = 0;
}

/// Reads at most so many bytes. How many, or 0 where none are there or the driver ends.
static size_t early_read(crpc_driver *driver, uint8_t *target, size_t room) {
    ssize_t count = crpc_socket_read(driver->fd, target, room);
    if (count > 0) return (size_t)count;
    if (count != CRPC_IO_WAITS) {
        driver->end.has_peer_ended = true;
        driver->protocol->fail(driver, count == CRPC_IO_ENDED ? CRPC_ERROR_CLOSED : CRPC_ERROR_SYSTEM);
    }
    return 0;
}

void crpc_driver_open_as(crpc_driver *driver, const crpc_protocol *protocol) {
    int error = protocol->begin(driver);
    if (error != CRPC_OK) {
        driver->protocol = &crpc_protocol_none;
        driver->protocol->fail(driver, error);
        return;
    }
    crpc_driver_set_phase(driver, CRPC_PHASE_OPEN);
    crpc_driver_set_interest(driver, CRPC_READABLE);
    protocol->start(driver);
    if (driver->listener->is_draining && !driver->protocol->is_broken(driver)) driver->protocol->drain(driver);
}

// ---- The header of a proxy ----

/// The proxy has said whose connection it is.
static void early_take_header(crpc_driver *driver) {
    crpc_proxy_header header;
    int error = crpc_proxy_header_read(driver->early.bytes, driver->early.length, &header);
    early_forget(driver);
    if (error == CRPC_OK && !crpc_listener_place(driver->listener, driver, header.has_source ? &header.source : NULL))
        error = CRPC_ERROR_LIMIT;
    if (error != CRPC_OK) {
        driver->protocol->fail(driver, error);
    } else if (driver->tls.ssl != NULL) {
        crpc_driver_set_phase(driver, CRPC_PHASE_HANDSHAKING);
    } else if (crpc_service_takes_exchanges(&driver->listener->service)) {
        crpc_driver_set_phase(driver, CRPC_PHASE_TELLING);
    } else {
        crpc_driver_open_as(driver, &crpc_protocol_http2);
    }
}

void crpc_driver_read_proxy(crpc_driver *driver) {
    if (driver->early.bytes == NULL) driver->early.bytes = malloc(CRPC_PROXY_MAX);
    if (driver->early.bytes == NULL) {
        driver->protocol->fail(driver, CRPC_ERROR_MEMORY);
        return;
    }
    // Never more than the header: what is behind it is TLS's, or the protocol's.
    int whole = crpc_proxy_header_length(driver->early.bytes, driver->early.length);
    while (whole > 0 && driver->early.length < (size_t)whole) {
        size_t count =
            early_read(driver, driver->early.bytes + driver->early.length, (size_t)whole - driver->early.length);
        if (count == 0) return;
        driver->early.length += count;
        whole = crpc_proxy_header_length(driver->early.bytes, driver->early.length);
    }
    if (whole < 0) {
        driver->protocol->fail(driver, whole);
    } else {
        early_take_header(driver);
    }
}

// ---- The protocol ----

/// Keeps the first bytes of what may become the preface.
static void early_keep(crpc_driver *driver, const uint8_t *bytes, size_t length) {
    if (driver->early.bytes == NULL) driver->early.bytes = malloc(CRPC_PREFACE_LENGTH);
    if (driver->early.bytes == NULL) {
        driver->protocol->fail(driver, CRPC_ERROR_MEMORY);
        return;
    }
    memcpy(driver->early.bytes, bytes, length);
    driver->early.length = length;
}

void crpc_driver_tell_protocol(crpc_driver *driver) {
    uint8_t bytes[CRPC_PREFACE_LENGTH];
    size_t length = driver->early.length; // less than the preface
    if (length > 0) memcpy(bytes, driver->early.bytes, length);
    size_t count = early_read(driver, bytes + length, sizeof bytes - length);
    if (count == 0) return;
    length += count;
    bool may_be_http2 = memcmp(bytes, early_preface, length) == 0;
    if (may_be_http2 && length < sizeof bytes) {
        early_keep(driver, bytes, length);
        return;
    }
    early_forget(driver);
    crpc_driver_open_as(driver, may_be_http2 ? &crpc_protocol_http2 : &crpc_protocol_http1);
    if (driver->protocol->is_broken(driver)) return;
    crpc_count(&driver->loop->turn.stats.received_bytes, length);
    if (driver->protocol->note_readable(driver) && driver->protocol->feed(driver, bytes, length)) crpc_driver_read(driver);
}

// ---- No protocol yet ----

static bool none_is_broken(const crpc_driver *driver) { return driver->early.is_broken; }
static int none_error(const crpc_driver *driver) {
    (void)driver;
    return CRPC_OK;
}
static void none_fail(crpc_driver *driver, int error) {
    (void)error; // no user knows of it
    driver->early.is_broken = true;
    crpc_chore_request(&driver->loop->turn.closes, &driver->early.close);
}
static void none_make_room(crpc_driver *driver) { none_fail(driver, CRPC_OK); }
static void none_drain(crpc_driver *driver) {
    // It is drained once it is open.
    uint64_t due = driver->loop->turn.now_ns + crpc_ns_of_ms(CRPC_ROUND_TRIP_MAX_MS);
    if (due < driver->early.due_ns) driver->early.due_ns = due;
    crpc_driver_set_timer(driver);
}
static void none_mark(crpc_driver *driver) { (void)driver; }
static bool none_never(const crpc_driver *driver) {
    (void)driver;
    return false;
}
static int none_reads(const crpc_driver *driver) {
    (void)driver;
    return CRPC_READABLE;
}
static uint64_t none_next_ns(const crpc_driver *driver) { return driver->early.due_ns; }
static void none_on_time(crpc_driver *driver) {
    if (driver->early.due_ns <= driver->loop->turn.now_ns) none_fail(driver, CRPC_ERROR_TIMEOUT);
}
static const crpc_limits *none_limits(const crpc_driver *driver) { return &driver->listener->options.limits; }
static void none_set_blocked(crpc_driver *driver, bool is_blocked) { (void)driver, (void)is_blocked; }
static void none_tell_end(crpc_driver *driver) { (void)driver; }
static void none_end(crpc_driver *driver) { crpc_link_remove(&driver->early.close.link); }

const crpc_protocol crpc_protocol_none = {
    .is_broken = none_is_broken, .error = none_error, .fail = none_fail, .make_room = none_make_room,
    .drain = none_drain, .mark = none_mark, .is_marked = none_never, .reads = none_reads, .next_ns = none_next_ns,
    .on_time = none_on_time, .limits = none_limits, .set_blocked = none_set_blocked, .tell_end = none_tell_end,
    .end = none_end, .is_cut_short = none_never, .leaves_rest = none_never,
};
