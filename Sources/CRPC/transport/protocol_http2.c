#include "transport/driver.h"
#include "transport/listener.h"

// A driver that carries HTTP/2: a client's, or a server's.

static crpc_connection *carried(crpc_driver *driver) { return &driver->connection; }
static const crpc_h2 *seen(const crpc_driver *driver) { return &driver->connection.h2; }

// ---- The beginning ----

static void http2_on_flush(crpc_chore *chore) {
    crpc_driver_on_flush(crpc_driver_of_h2(CRPC_CONTAINER(chore, crpc_h2, flush)));
}
static void http2_on_close(crpc_chore *chore) {
    crpc_driver_end(crpc_driver_of_h2(CRPC_CONTAINER(chore, crpc_h2, close)));
}

void crpc_protocol_carry_http2(crpc_driver *driver) {
    driver->protocol = &crpc_protocol_http2;
    driver->connection.h2.flush.run = http2_on_flush;
    driver->connection.h2.close.run = http2_on_close;
}

static int http2_begin(crpc_driver *driver) {
    crpc_listener *listener = driver->listener;
    crpc_protocol_carry_http2(driver);
    int error = crpc_connection_begin_server(
        &driver->connection, &listener->service, &listener->options.limits, &crpc_listener_below,
        driver->tls.ssl != NULL);
    // The handshake has begun before.
    if (error == CRPC_OK) crpc_h2_set_due(&driver->connection.h2, CRPC_DUE_HANDSHAKE, driver->early.due_ns);
    return error;
}
static void http2_start(crpc_driver *driver) { crpc_connection_start(carried(driver)); }

// ---- What a driver asks of it ----

static bool http2_is_broken(const crpc_driver *driver) { return crpc_h2_is_broken(seen(driver)); }
static int http2_error(const crpc_driver *driver) { return seen(driver)->end.error; }
static void http2_fail(crpc_driver *driver, int error) { crpc_h2_break(&driver->connection.h2, error); }
static void http2_make_room(crpc_driver *driver) { crpc_h2_make_room(&driver->connection.h2); }
static void http2_drain(crpc_driver *driver) { crpc_connection_drain(carried(driver)); }
static void http2_mark(crpc_driver *driver) { crpc_h2_mark(&driver->connection.h2); }
static bool http2_is_marked(const crpc_driver *driver) { return !crpc_link_is_empty(&seen(driver)->flush.link); }
static int http2_reads(const crpc_driver *driver) {
    (void)driver;
    return CRPC_READABLE;
}
static uint64_t http2_next_ns(const crpc_driver *driver) { return crpc_connection_next_ns(&driver->connection); }
static void http2_on_time(crpc_driver *driver) {
    // One that is broken ends with this turn; a deadline that has passed is still reported.
    if (http2_is_broken(driver)) {
        crpc_timers_run(&driver->connection.deadlines, driver->loop->turn.now_ns);
    } else {
        crpc_connection_on_time(carried(driver));
    }
}
static const crpc_limits *http2_limits(const crpc_driver *driver) { return &seen(driver)->limits; }
static void http2_set_blocked(crpc_driver *driver, bool is_blocked) {
    driver->connection.h2.remote.is_blocked = is_blocked;
}
static void http2_tell_end(crpc_driver *driver) { crpc_connection_tell_end(carried(driver)); }
static void http2_end(crpc_driver *driver) { crpc_connection_end(carried(driver)); }

static bool http2_note_readable(crpc_driver *driver) { return crpc_connection_note_readable(carried(driver)); }
static size_t http2_read_room(const crpc_driver *driver) {
    (void)driver;
    return CRPC_READ_BUFFER;
}
static bool http2_feed(crpc_driver *driver, const uint8_t *bytes, size_t length) {
    return crpc_connection_feed(carried(driver), bytes, length);
}
static bool http2_note_fed(crpc_driver *driver) { return crpc_connection_note_fed(carried(driver)); }
static bool http2_note_end(crpc_driver *driver) {
    http2_fail(driver, CRPC_ERROR_CLOSED);
    return false;
}
static bool http2_charge(crpc_driver *driver, uint32_t cost) {
    return crpc_h2_charge(&driver->connection.h2, (int32_t)cost);
}
static bool http2_prepare(crpc_driver *driver) { return crpc_connection_prepare(carried(driver)); }
static ssize_t http2_produce(crpc_driver *driver, uint8_t *buffer, size_t room) {
    return crpc_connection_produce(carried(driver), buffer, room);
}
static void http2_conclude(crpc_driver *driver) { crpc_connection_conclude(carried(driver)); }
static ssize_t http2_goodbye(crpc_driver *driver, uint8_t *buffer, size_t room) {
    return crpc_h2_goodbye(&driver->connection.h2, buffer, room);
}
static bool http2_never(const crpc_driver *driver) {
    (void)driver;
    return false;
}

const crpc_protocol crpc_protocol_http2 = {
    .begin = http2_begin, .start = http2_start, .is_broken = http2_is_broken, .error = http2_error, .fail = http2_fail, .make_room = http2_make_room,
    .drain = http2_drain, .mark = http2_mark, .is_marked = http2_is_marked, .reads = http2_reads,
    .next_ns = http2_next_ns, .on_time = http2_on_time, .limits = http2_limits, .set_blocked = http2_set_blocked,
    .tell_end = http2_tell_end, .end = http2_end, .note_readable = http2_note_readable, .read_room = http2_read_room,
    .feed = http2_feed, .note_fed = http2_note_fed, .note_end = http2_note_end, .charge = http2_charge,
    .prepare = http2_prepare, .produce = http2_produce, .conclude = http2_conclude, .goodbye = http2_goodbye,
    .is_cut_short = http2_never, .leaves_rest = http2_never,
};
