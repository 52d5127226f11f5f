#include "transport/driver.h"
#include "transport/listener.h"

// A server's driver that carries HTTP/1.x.

static crpc_h1 *carried(crpc_driver *driver) { return &driver->h1; }
static const crpc_h1 *seen(const crpc_driver *driver) { return &driver->h1; }

// ---- The beginning ----

static void http1_on_flush(crpc_chore *chore) {
    crpc_driver_on_flush(crpc_driver_of_h1(CRPC_CONTAINER(chore, crpc_h1, flush)));
}
static void http1_on_close(crpc_chore *chore) {
    crpc_driver_end(crpc_driver_of_h1(CRPC_CONTAINER(chore, crpc_h1, close)));
}

static int http1_begin(crpc_driver *driver) {
    crpc_listener *listener = driver->listener;
    driver->protocol = &crpc_protocol_http1;
    driver->h1.flush.run = http1_on_flush;
    driver->h1.close.run = http1_on_close;
    return crpc_h1_begin(carried(driver), &listener->service, &listener->options.limits, &crpc_listener_h1_below);
}
static void http1_start(crpc_driver *driver) {
    const crpc_service *service = &driver->listener->service;
    driver->peer_context = service->callbacks->on_open(service->server, &driver->connection);
    bool is_encrypted = driver->tls.ssl != NULL; // its handshake had a time of its own
    crpc_h1_start(
        carried(driver), driver->peer_context, is_encrypted ? driver->loop->turn.now_ns : driver->accepted_ns);
}

// ---- What a driver asks of it ----

static bool http1_is_broken(const crpc_driver *driver) { return crpc_h1_is_broken(seen(driver)); }
static int http1_error(const crpc_driver *driver) { return seen(driver)->error; }
static void http1_fail(crpc_driver *driver, int error) { crpc_h1_break(carried(driver), error); }
static void http1_make_room(crpc_driver *driver) { crpc_h1_make_room(carried(driver)); }
static void http1_drain(crpc_driver *driver) { crpc_h1_drain(carried(driver)); }
static void http1_mark(crpc_driver *driver) { crpc_h1_mark(carried(driver)); }
static bool http1_is_marked(const crpc_driver *driver) { return !crpc_link_is_empty(&seen(driver)->flush.link); }
static size_t http1_read_room(const crpc_driver *driver) { return crpc_h1_read_room(seen(driver)); }
static int http1_reads(const crpc_driver *driver) {
    return driver->end.has_peer_ended || http1_read_room(driver) == 0 ? 0 : CRPC_READABLE;
}
static uint64_t http1_next_ns(const crpc_driver *driver) { return crpc_h1_next_ns(seen(driver)); }
static void http1_on_time(crpc_driver *driver) { crpc_h1_on_time(carried(driver)); }
static const crpc_limits *http1_limits(const crpc_driver *driver) { return &seen(driver)->limits; }
static void http1_set_blocked(crpc_driver *driver, bool is_blocked) { driver->h1.is_blocked = is_blocked; }
static void http1_tell_end(crpc_driver *driver) {
    const crpc_service *service = &driver->listener->service;
    crpc_h1_tell_end(carried(driver));
    if (!driver->loop->turn.is_ending) service->callbacks->on_connection_close(service->server, driver->peer_context);
}
static void http1_end(crpc_driver *driver) { crpc_h1_end(carried(driver)); }

static bool http1_note_readable(crpc_driver *driver) { return crpc_h1_note_readable(carried(driver)); }
static bool http1_feed(crpc_driver *driver, const uint8_t *bytes, size_t length) {
    return crpc_h1_feed(carried(driver), bytes, length);
}
static bool http1_note_fed(crpc_driver *driver) { return crpc_h1_note_fed(carried(driver)); }
static bool http1_note_end(crpc_driver *driver) { return crpc_h1_note_end(carried(driver)); }
static bool http1_charge(crpc_driver *driver, uint32_t cost) { return crpc_h1_charge(carried(driver), cost); }
static bool http1_prepare(crpc_driver *driver) { return crpc_h1_prepare(carried(driver)); }
static ssize_t http1_produce(crpc_driver *driver, uint8_t *buffer, size_t room) {
    return crpc_h1_produce(carried(driver), buffer, room);
}
static void http1_conclude(crpc_driver *driver) { crpc_h1_conclude(carried(driver)); }
static ssize_t http1_goodbye(crpc_driver *driver, uint8_t *buffer, size_t room) {
    (void)driver, (void)buffer, (void)room;
    return 0; // it has no last words
}
static bool http1_is_cut_short(const crpc_driver *driver) {
    return seen(driver)->output.is_until_end &&
           (seen(driver)->answer != CRPC_H1_ANSWER_NONE || driver->out.rest_length > 0);
}
static bool http1_leaves_rest(const crpc_driver *driver) { return seen(driver)->leaves_rest; }

const crpc_protocol crpc_protocol_http1 = {
    .begin = http1_begin, .start = http1_start, .is_broken = http1_is_broken, .error = http1_error, .fail = http1_fail,
    .make_room = http1_make_room, .drain = http1_drain, .mark = http1_mark, .is_marked = http1_is_marked,
    .reads = http1_reads, .next_ns = http1_next_ns, .on_time = http1_on_time, .limits = http1_limits,
    .set_blocked = http1_set_blocked, .tell_end = http1_tell_end, .end = http1_end,
    .note_readable = http1_note_readable, .read_room = http1_read_room, .feed = http1_feed, .note_fed = http1_note_fed,
    .note_end = http1_note_end, .charge = http1_charge, .prepare = http1_prepare, .produce = http1_produce,
    .conclude = http1_conclude, .goodbye = http1_goodbye, .is_cut_short = http1_is_cut_short,
    .leaves_rest = http1_leaves_rest, .is_paced = true,
};
