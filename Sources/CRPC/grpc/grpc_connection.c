#include "grpc/grpc_connection.h"

#include "grpc/call.h"
#include "grpc/held_calls.h"

#include <stdlib.h>

void crpc_connection_start(crpc_connection *connection) {
    crpc_h2_start(&connection->h2);
    if (connection->callbacks != NULL) { // on_open follows with the server's SETTINGS
        crpc_count(&connection->h2.turn->stats.client_connections_opened, 1);
        return;
    }
    connection->told.has_opened = true;
    connection->context = connection->service->callbacks->on_open(connection->service->server, connection);
}

// ---- Feeding ----

/// While messages are held, and on a server calls are open, looks now and then for what does not move.
static void connection_schedule_sweep(crpc_connection *connection) {
    crpc_h2 *h2 = &connection->h2;
    bool has_calls = h2->is_server && h2->stream_count > 0;
    if ((connection->held.bytes == 0 && !has_calls) || h2->due_ns[CRPC_DUE_SWEEP] != 0) return;
    const crpc_limits *limits = &h2->limits;
    uint32_t shorter = limits->answer_stall_timeout_ms < limits->message_timeout_ms ? limits->answer_stall_timeout_ms
                                                                                    : limits->message_timeout_ms;
    if (h2->is_server && crpc_service_takes_exchanges(connection->service) && limits->body_timeout_ms < shorter)
        shorter = limits->body_timeout_ms;
    uint32_t interval = shorter / 4 + 1;
    if (crpc_h2_is_draining(h2) && interval > CRPC_DRAIN_SWEEP_MS) interval = CRPC_DRAIN_SWEEP_MS;
    crpc_h2_limit(h2, CRPC_DUE_SWEEP, interval);
}

bool crpc_connection_note_fed(crpc_connection *connection) {
    if (!crpc_h2_note_fed(&connection->h2)) return false;
    connection_schedule_sweep(connection);
    if (crpc_h2_has_something(&connection->h2)) crpc_h2_mark(&connection->h2);
    return true;
}

// ---- Flushing ----

static void connection_tell_writable(crpc_connection *connection) {
    if (!connection->told.owes_writable) return;
    connection->told.owes_writable = false;
    crpc_link *streams = &connection->h2.streams;
    for (crpc_link *link = streams->next; link != streams; link = link->next) {
        crpc_stream *stream = crpc_stream_of(CRPC_CONTAINER(link, crpc_h2_stream, link));
        if (!stream->out.owes_writable) continue;
        stream->out.owes_writable = false;
        if (stream->call != NULL && !crpc_h2_stream_is_finished(&stream->h2)) connection->role->tell_writable(stream);
    }
}

static void connection_tell_closes(crpc_connection *connection) {
    if (!connection->told.owes_closes) return;
    connection->told.owes_closes = false;
    crpc_link *streams = &connection->h2.streams;
    for (crpc_link *link = streams->next; link != streams; link = link->next) {
        crpc_stream *stream = crpc_stream_of(CRPC_CONTAINER(link, crpc_h2_stream, link));
        if (stream->h2.local.state == CRPC_LOCAL_RESET) crpc_call_tell_close(stream, stream->h2.local.reset_error);
    }
}

/// Client: tells once that no new calls are taken.
static void connection_tell_draining(crpc_connection *connection) {
    if (connection->callbacks == NULL || connection->told.has_drained) return;
    connection->told.has_drained = true;
    connection->callbacks->on_draining(connection->context);
}

bool crpc_connection_prepare(crpc_connection *connection) {
    crpc_h2 *h2 = &connection->h2;
    connection_tell_closes(connection);
    if (connection->held.withheld_bytes > 0 && !crpc_h2_is_broken(h2)) crpc_give_back_withheld(connection);
    if (crpc_h2_is_draining(h2)) {
        connection_tell_draining(connection);
        crpc_h2_submit_last_goaway(h2);
    }
    return h2->is_started && !crpc_h2_is_broken(h2);
}

ssize_t crpc_connection_produce(crpc_connection *connection, uint8_t *target, size_t room) {
    ssize_t length = crpc_h2_produce(&connection->h2, target, room);
    if (length >= 0) connection_tell_writable(connection);
    return length;
}

void crpc_connection_conclude(crpc_connection *connection) {
    if (connection->held.withheld_bytes > 0) crpc_give_back_withheld(connection); // answers went, and less is held
    crpc_h2_note_produced(&connection->h2);
    connection_schedule_sweep(connection);
}

// ---- Time ----

void crpc_connection_on_time(crpc_connection *connection) {
    crpc_timers_run(&connection->deadlines, connection->h2.turn->now_ns);
    crpc_h2_on_time(&connection->h2);
}

/// Whether what is queued waits for the socket, or for its turn, and not for the peer's windows: a slow link, whose time
/// `write_stall_timeout_ms` bounds for the whole connection.
static bool connection_awaits_socket(const crpc_stream *stream) {
    const crpc_h2 *h2 = stream->h2.h2;
    size_t queued = stream->out.queued_bytes, least = queued < CRPC_STREAM_PROGRESS_MIN ? queued : CRPC_STREAM_PROGRESS_MIN;
    return h2->remote.is_blocked || crpc_session_window(&stream->h2) >= least;
}

/// Ends the call if its answer has waited for the peer's windows, or its message for its end, for too long.
static void connection_sweep_call(crpc_stream *stream) {
    const crpc_connection *connection = crpc_call_connection(stream);
    const crpc_limits *limits = &connection->h2.limits;
    uint64_t now = crpc_call_now_ns(stream), stall_ns = crpc_ns_of_ms(limits->answer_stall_timeout_ms);
    uint64_t message_ns = crpc_ns_of_ms(limits->message_timeout_ms), much_ns = connection->held.much_ns;
    bool is_server = connection->h2.is_server, is_finished = crpc_h2_stream_is_finished(&stream->h2);
    // A streaming call may wait for its client, but not with all that a stream may queue.
    bool is_stuck = is_server && stream->out.queued_bytes > 0 && (is_finished || stream->out.was_full);
    if (is_stuck && connection_awaits_socket(stream)) stream->out.moved_ns = now;
    uint64_t unread_ns = stream->in.read_ns > much_ns ? stream->in.read_ns : much_ns;
    // A request of one message has no handler yet that could end it, and takes a place among the calls.
    bool is_awaited = is_server && stream->call != NULL && !stream->in.consumes_manually && !is_finished &&
                      !crpc_h2_stream_is_half_closed(&stream->h2) && stream->in.partial_bytes == 0;
    bool is_unread = much_ns != 0 && stream->in.unread_bytes > 0 && !is_finished;
    if (is_stuck && now - stream->out.moved_ns >= stall_ns) {
        crpc_stream_reset(stream, CRPC_H2_CANCEL);
    } else if (is_unread && now - unread_ns >= stall_ns) {
        connection->role->refuse_message(
            stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "messages wait for too long, and too many with them");
    } else if (stream->h2.remote.reads_on) {
        crpc_exchange_sweep(stream);
    } else if (stream->in.partial_bytes > 0 && now - stream->in.partial_ns >= message_ns) {
        connection->role->refuse_message(
            stream, CRPC_STATUS_DEADLINE_EXCEEDED, "the message took too long to arrive");
        crpc_call_drop_partial(stream);
    } else if (is_awaited && now - stream->h2.began_ns >= 2 * message_ns) {
        connection->role->refuse_message(
            stream, CRPC_STATUS_DEADLINE_EXCEEDED, "the request took too long to arrive");
    }
}

void crpc_connection_on_sweep(crpc_h2 *h2) {
    crpc_connection *connection = crpc_connection_of(h2);
    if (!crpc_holds_much(connection)) {
        connection->held.much_ns = 0;
    } else if (connection->held.much_ns == 0) {
        connection->held.much_ns = h2->turn->now_ns;
    }
    // None is ended in here, only reset or answered, so that the list stays as it is.
    for (crpc_link *link = h2->streams.next; link != &h2->streams; link = link->next)
        connection_sweep_call(crpc_stream_of(CRPC_CONTAINER(link, crpc_h2_stream, link)));
    crpc_h2_mark(h2); // what is withheld may depend on what other connections hold
    connection_schedule_sweep(connection);
}

// ---- What the peer says of the connection ----

void crpc_connection_on_settings(crpc_h2 *h2) {
    crpc_connection *connection = crpc_connection_of(h2);
    if (connection->callbacks == NULL) return;
    connection->told.has_opened = true;
    connection->callbacks->on_open(connection->context);
}

void crpc_connection_on_goaway(crpc_h2 *h2) { connection_tell_draining(crpc_connection_of(h2)); }

// ---- The end ----

void crpc_connection_tell_end(crpc_connection *connection) {
    crpc_turn *turn = connection->h2.turn;
    crpc_h2_end_streams(&connection->h2);
    if (connection->callbacks != NULL && connection->h2.is_started)
        crpc_count(&turn->stats.client_connections_closed, 1);
    if (turn->is_ending) return;
    if (connection->callbacks != NULL) {
        connection->callbacks->on_connection_close(connection->context, connection->h2.end.error);
    } else if (connection->told.has_opened) {
        connection->service->callbacks->on_connection_close(connection->service->server, connection->context);
    }
}

void crpc_connection_end(crpc_connection *connection) {
    crpc_h2_end(&connection->h2);
    crpc_timers_end(&connection->deadlines);
    crpc_handlers_leave(connection->handlers);
    free(connection->authority);
}

void crpc_connection_close(crpc_connection *connection) { crpc_h2_break(&connection->h2, CRPC_ERROR_CLOSED); }
void crpc_connection_drain(crpc_connection *connection) { crpc_h2_drain(&connection->h2); }

// ---- Asking ----

bool crpc_connection_has_pinged_too_often(const crpc_connection *connection) {
    return connection->h2.end.pinged_too_often;
}
uint32_t crpc_connection_stream_count(const crpc_connection *connection) { return connection->h2.stream_count; }

bool crpc_connection_has_room(const crpc_connection *connection) {
    const crpc_h2 *h2 = &connection->h2;
    return h2->state == CRPC_H2_OPEN && h2->stream_count < crpc_session_streams_max(h2);
}
