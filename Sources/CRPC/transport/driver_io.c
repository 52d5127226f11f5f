#include "transport/driver.h"

#include <stdlib.h>
#include <string.h>

// Reading and writing: between the socket, or TLS on it, and the connection.

/// Reads of one connection in one turn, so that others get theirs.
enum { READS_PER_TURN_MAX = 4 };
/// Buffers written to one connection in one turn.
enum { WRITES_PER_TURN_MAX = 16 };

void crpc_driver_set_interest(crpc_driver *driver, int interest) {
    if (crpc_watch_set_interest(&driver->watch, interest) != CRPC_OK) driver->protocol->fail(driver, CRPC_ERROR_SYSTEM);
}

void crpc_driver_set_timer(crpc_driver *driver) {
    uint64_t next = driver->protocol->next_ns(driver);
    if (driver->out.stall_ns < next) next = driver->out.stall_ns;
    if (crpc_timer_set_before(&driver->timer, next) != CRPC_OK) driver->protocol->fail(driver, CRPC_ERROR_MEMORY);
}

/// The socket, or TLS, came to an end.
static void driver_fail(crpc_driver *driver, ssize_t failure) {
    driver->end.has_peer_ended = true;
    driver->protocol->fail(
        driver, failure == CRPC_IO_ENDED        ? CRPC_ERROR_CLOSED
                : failure == CRPC_IO_TLS_FAILED ? CRPC_ERROR_TLS
                                                : CRPC_ERROR_SYSTEM);
}

// ---- Reading ----

static crpc_reading driver_read_clear(const crpc_driver *driver, uint8_t *target, size_t room) {
    ssize_t count = crpc_socket_read(driver->fd, target, room);
    if (count > 0) return (crpc_reading){.length = (size_t)count, .is_full = (size_t)count == room};
    return (crpc_reading){.has_failed = count != CRPC_IO_WAITS, .failure = (int)count};
}

/// The same through TLS, whose messages cost the peer credit, so that a flood of them ends the connection.
static crpc_reading driver_read_tls(crpc_driver *driver, uint8_t *target, size_t room, bool drains) {
    uint32_t messages_max = driver->protocol->limits(driver)->credit_max / CRPC_COST_TLS;
    crpc_reading reading = crpc_tls_read(&driver->tls, target, room, messages_max, drains);
    uint32_t messages = driver->tls.messages;
    driver->tls.messages = 0;
    if (messages > 0 && !driver->protocol->charge(driver, messages * CRPC_COST_TLS)) reading.length = 0;
    return reading;
}

/// The peer sends no more. Whether the connection goes on.
static bool driver_note_end(crpc_driver *driver, int failure) {
    if (failure == CRPC_IO_ENDED) {
        driver->end.has_peer_ended = true;
        return driver->protocol->note_end(driver);
    }
    driver_fail(driver, failure);
    return false;
}

/// A paced protocol takes no more than it has room for. What TLS has beyond that waits in TLS, and not in the shared buffer.
static void driver_hold_off(crpc_driver *driver) {
    if (crpc_tls_hold(&driver->tls) != CRPC_OK) {
        driver->protocol->fail(driver, CRPC_ERROR_MEMORY);
        return;
    }
    int writes = driver->out.rest_length > 0 ? CRPC_WRITABLE : 0;
    crpc_driver_set_interest(driver, driver->protocol->reads(driver) | writes);
}

void crpc_driver_read(crpc_driver *driver) {
    if (!driver->protocol->note_readable(driver)) return;
    uint8_t *buffer = driver->loop->read_buffer;
    bool is_encrypted = driver->tls.ssl != NULL;
    crpc_reading reading = {.is_full = true};
    // What TLS holds already is read however often it takes: the socket does not become readable for it again. It is not read
    // past the bound, or a peer that sends as fast as we read would keep the turn.
    for (int i = 0; reading.is_full && (i < READS_PER_TURN_MAX || crpc_tls_has_more(&driver->tls)); i++) {
        size_t room = driver->protocol->read_room(driver);
        if (room == 0) break;
        reading = is_encrypted ? driver_read_tls(driver, buffer, room, i >= READS_PER_TURN_MAX)
                               : driver_read_clear(driver, buffer, room);
        if (driver->protocol->is_broken(driver)) return;
        if (reading.length > 0) {
            crpc_count(&driver->loop->turn.stats.received_bytes, reading.length);
            if (!driver->protocol->feed(driver, buffer, reading.length)) return;
        }
        if (reading.has_failed && !driver_note_end(driver, reading.failure)) return;
        if (reading.has_failed) break;
    }
    if (!driver->protocol->note_fed(driver)) return;
    if (driver->protocol->is_paced) driver_hold_off(driver);
    // What came may let TLS write on.
    if (is_encrypted && driver->out.rest_length > 0) driver->protocol->mark(driver);
}

// ---- Writing ----

/// Bytes written, or CRPC_IO_….
static ssize_t driver_write_some(crpc_driver *driver, const uint8_t *bytes, size_t length) {
    ssize_t count = driver->tls.ssl != NULL ? crpc_tls_write(&driver->tls, bytes, length)
                                            : crpc_socket_write(driver->fd, bytes, length);
    if (count > 0) crpc_count(&driver->loop->turn.stats.sent_bytes, (uint64_t)count);
    return count;
}

/// Bytes that the peer has not taken. What the kernel holds is not taken either.
static size_t driver_waiting_bytes(const crpc_driver *driver) {
    return driver->out.rest_length + crpc_socket_unsent(driver->fd);
}

/// Bytes wait: the peer must take some in time.
static void driver_begin_stall(crpc_driver *driver) {
    uint32_t ms = driver->protocol->limits(driver)->write_stall_timeout_ms;
    if (driver->out.stall_ns != UINT64_MAX || ms == 0) return;
    driver->out.stalled_bytes = driver_waiting_bytes(driver);
    driver->out.stall_ns = driver->loop->turn.now_ns + crpc_ns_of_ms(ms);
}

bool crpc_driver_is_written_on(crpc_driver *driver) {
    size_t waiting = driver_waiting_bytes(driver);
    if (waiting + CRPC_WRITE_PROGRESS_MIN > driver->out.stalled_bytes) return false;
    driver->out.stalled_bytes = waiting;
    uint32_t ms = driver->protocol->limits(driver)->write_stall_timeout_ms;
    driver->out.stall_ns = driver->loop->turn.now_ns + crpc_ns_of_ms(ms);
    return true;
}

/// Keeps what the socket does not take, and waits for it.
static void driver_keep_rest(crpc_driver *driver, const uint8_t *bytes, size_t length) {
    if (driver->out.rest == NULL) driver->out.rest = malloc(CRPC_WRITE_BUFFER + CRPC_WRITE_SLACK);
    if (driver->out.rest == NULL) {
        driver->protocol->fail(driver, CRPC_ERROR_MEMORY);
        return;
    }
    memmove(driver->out.rest, bytes, length);
    driver->out.rest_length = length;
    driver->protocol->set_blocked(driver, true);
    driver_begin_stall(driver);
    // Half a message of TLS after the handshake keeps OpenSSL from writing until the rest came: room in the socket, which
    // there is, would wake us in vain.
    bool awaits_peer = driver->tls.ssl != NULL && crpc_tls_awaits_peer(&driver->tls);
    int reads = awaits_peer ? CRPC_READABLE : driver->protocol->reads(driver);
    crpc_driver_set_interest(driver, awaits_peer ? reads : reads | CRPC_WRITABLE);
}

/// Writes all, or keeps the rest. True if all went.
static bool driver_write_all(crpc_driver *driver, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = driver_write_some(driver, bytes, length);
        if (count == CRPC_IO_WAITS) {
            driver_keep_rest(driver, bytes, length);
            return false;
        }
        if (count <= 0) {
            driver_fail(driver, count);
            return false;
        }
        bytes += count;
        length -= (size_t)count;
    }
    return true;
}

static bool driver_write_rest(crpc_driver *driver) {
    if (driver->out.rest_length == 0) return true;
    size_t length = driver->out.rest_length;
    driver->out.rest_length = 0;
    driver->protocol->set_blocked(driver, false);
    if (!driver_write_all(driver, driver->out.rest, length)) return false;
    free(driver->out.rest); // a connection that keeps up holds no buffer
    driver->out.rest = NULL;
    driver->out.stall_ns = UINT64_MAX;
    crpc_driver_set_interest(driver, driver->protocol->reads(driver));
    return true;
}

/// All that there was went out.
static void driver_conclude(crpc_driver *driver) {
    driver->protocol->conclude(driver);
    if (!driver->protocol->is_paced || driver->protocol->is_broken(driver)) return;
    driver_hold_off(driver);
    // The next request may wait in TLS, for which the socket does not become readable again.
    if (crpc_tls_has_more(&driver->tls) && driver->protocol->reads(driver) != 0) crpc_driver_read(driver);
}

void crpc_driver_write(crpc_driver *driver) {
    if (!driver->protocol->prepare(driver) || !driver_write_rest(driver)) return;
    uint8_t *buffer = driver->loop->write_buffer;
    for (int i = 0; i < WRITES_PER_TURN_MAX; i++) {
        ssize_t length = driver->protocol->produce(driver, buffer, CRPC_WRITE_BUFFER + CRPC_WRITE_SLACK);
        if (length < 0) {
            driver->protocol->fail(driver, (int)length);
            return;
        }
        if (length == 0) break;
        if (!driver_write_all(driver, buffer, (size_t)length)) return;
        if (length < CRPC_WRITE_BUFFER) break;
    }
    driver_conclude(driver);
}

/// Writes what the socket takes at once; whether that is all.
static bool driver_try_to_write(crpc_driver *driver, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = driver_write_some(driver, bytes, length);
        if (count <= 0) return false;
        bytes += count;
        length -= (size_t)count;
    }
    return true;
}

void crpc_driver_say_goodbye(crpc_driver *driver) {
    // That a peer learns why it is dismissed is a courtesy: what fails or would wait ends it. The GOAWAY comes after the frames
    // that the session has queued, which may be more than one buffer holds.
    if (driver->out.rest_length == 0 && !driver->end.has_peer_ended) {
        uint8_t *buffer = driver->loop->write_buffer;
        for (int i = 0; i < WRITES_PER_TURN_MAX; i++) {
            ssize_t length = driver->protocol->goodbye(driver, buffer, CRPC_WRITE_BUFFER + CRPC_WRITE_SLACK);
            if (length <= 0 || !driver_try_to_write(driver, buffer, (size_t)length)) break;
            if (length < CRPC_WRITE_BUFFER) break; // that was the last of it
        }
    }
    if (driver->tls.ssl != NULL) crpc_tls_close(&driver->tls);
}

void crpc_driver_on_flush(crpc_driver *driver) {
    driver->loop->turn.callback_depth += 1;
    crpc_driver_write(driver);
    crpc_driver_set_timer(driver); // also where it is to be flushed again, which may go on turn after turn
    driver->loop->turn.callback_depth -= 1;
}
