#include "crpc_exchange.h"
#include "grpc/call.h"
#include "grpc/held_calls.h"
#include "http/bytes.h"

#include <stdlib.h>
#include <string.h>

// An exchange on a stream of HTTP/2: a request that is no gRPC call. It has the stream's queue, window and counts as a call
// has; in the place of messages there are bytes.

static crpc_stream *exchange_stream(const crpc_exchange *exchange) {
    return (crpc_stream *)((uintptr_t)exchange - offsetof(crpc_stream, exchange));
}

static const crpc_exchange_callbacks *exchange_callbacks(const crpc_stream *stream) {
    return &crpc_call_connection(stream)->service->callbacks->exchange;
}

// ---- The head of the request ----

/// A client may send a cookie in parts; to others than HTTP/2 it is one field (RFC 9113 section 8.2.3). What was read of the
/// block's fields is replaced. Errors: MEMORY.
static int exchange_join_cookies(crpc_stream *stream, size_t begin) {
    static const char name[] = "cookie";
    size_t offset = begin, count = 0, length = 0, kept = 0;
    crpc_entry field;
    while (crpc_metadata_next(stream->block, stream->block_length, &offset, &field)) {
        if (field.name_length != sizeof name - 1 || memcmp(field.name, name, sizeof name - 1) != 0) continue;
        count += 1;
        length += field.value_length + 2;
    }
    if (count < 2) return CRPC_OK;
    uint8_t *block = malloc(stream->block_length + 2), *cookie = malloc(length);
    if (block == NULL || cookie == NULL) {
        free(block);
        free(cookie);
        return CRPC_ERROR_MEMORY;
    }
    memcpy(block, stream->block, begin);
    kept = begin;
    length = 0;
    for (offset = begin; crpc_metadata_next(stream->block, stream->block_length, &offset, &field);) {
        if (field.name_length != sizeof name - 1 || memcmp(field.name, name, sizeof name - 1) != 0) {
            kept += crpc_metadata_put(block + kept, &field);
            continue;
        }
        if (length > 0) memcpy(cookie + length, "; ", 2);
        if (length > 0) length += 2;
        if (field.value_length > 0) memcpy(cookie + length, field.value, field.value_length);
        length += field.value_length;
    }
    // Each entry has more overhead than what joins two.
    crpc_entry whole = {
        .name = (const uint8_t *)name, .name_length = sizeof name - 1, .value = cookie, .value_length = length};
    kept += crpc_metadata_put(block + kept, &whole);
    memcpy(stream->block, block, kept);
    stream->block_length = kept;
    free(block);
    free(cookie);
    return CRPC_OK;
}

/// Whether a target can be looked at as a path, or is OPTIONS' asterisk; in visible ASCII, without a fragment (RFC 9112
/// section 3.2, which says what the same request is in HTTP/1.1).
static bool exchange_is_target(const uint8_t *target, size_t length, bool is_options) {
    if (length == 0 || (target[0] != '/' && !(is_options && length == 1 && target[0] == '*'))) return false;
    for (size_t i = 0; i < length; i++)
        if (target[i] < 0x21 || target[i] > 0x7e || target[i] == '#') return false;
    return true;
}

/// Takes the head apart. Where the fields begin in the block.
static size_t exchange_read_head(const crpc_stream *stream, crpc_exchange_head *head) {
    static const char post[] = "POST";
    size_t begin = 0, offset = 0;
    crpc_entry field;
    head->method = (const uint8_t *)post;
    head->method_length = sizeof post - 1;
    if (stream->head.method >= 0) {
        const crpc_service *service = crpc_call_connection(stream)->service;
        const struct crpc_path *path = crpc_paths_at(&service->paths, stream->head.method);
        head->target = (const uint8_t *)path->text;
        head->target_length = path->length;
        head->method_number = (uint32_t)stream->head.method + 1;
    }
    while (crpc_metadata_next(stream->block, stream->block_length, &offset, &field)) {
        if (field.name_length == 0 || field.name[0] != ':') break;
        begin = offset;
        bool is_method = field.name[1] == 'm';
        *(is_method ? &head->method : &head->target) = field.value;
        *(is_method ? &head->method_length : &head->target_length) = field.value_length;
    }
    return begin;
}

static crpc_fault exchange_fault_of(const crpc_stream *stream, const crpc_exchange_head *head, size_t begin) {
    const crpc_h2 *h2 = stream->h2.h2;
    uint32_t count = 0;
    crpc_entry field;
    while (crpc_metadata_next(stream->block, stream->block_length, &begin, &field)) count += 1;
    if (stream->h2.remote.is_head_too_large || count > h2->limits.header_fields_max) return CRPC_FAULT_HEAD_TOO_LARGE;
    if (head->target_length > CRPC_TARGET_MAX) return CRPC_FAULT_TARGET_TOO_LONG;
    if (h2->remote.authority.length == 0) return CRPC_FAULT_HOST_MALFORMED;
    if (crpc_equals(head->method, head->method_length, "CONNECT")) return CRPC_FAULT_METHOD_UNKNOWN;
    bool is_options = crpc_equals(head->method, head->method_length, "OPTIONS");
    return exchange_is_target(head->target, head->target_length, is_options) ? CRPC_FAULT_NONE : CRPC_FAULT_MALFORMED;
}

static const crpc_exchange_table exchange_table;

/// Reports the exchange. False if nobody wants it.
static bool exchange_tell(crpc_stream *stream, const crpc_exchange_head *head) {
    crpc_connection *connection = crpc_call_connection(stream);
    crpc_service *service = connection->service;
    stream->exchange.table = &exchange_table;
    stream->exchanged.is_it = true;
    stream->in.consumes_manually = true;
    stream->in.is_end_told = head->is_last; // with a fault nothing more is reported either
    if (!head->is_last)
        stream->exchanged.body_due_ns = crpc_call_now_ns(stream) + crpc_ns_of_ms(connection->h2.limits.body_timeout_ms);
    service->call_count += 1;
    crpc_handler_begin(connection->handlers);
    stream->call = service->callbacks->exchange.on_exchange(service->server, connection->context, &stream->exchange, head);
    if (stream->call != NULL) return true;
    service->call_count -= 1;
    crpc_handler_ended(connection->handlers);
    stream->exchanged.is_it = false;
    return false;
}

static void exchange_refuse(crpc_stream *stream, bool is_shed) {
    if (is_shed) crpc_count(&stream->h2.h2->turn->stats.calls_shed, 1);
    if (crpc_h2_stream_is_finished(&stream->h2)) return;
    stream->outcome.is_refused = stream->h2.local.is_cut_short = true;
    crpc_call_answer_plain(stream, "503", "the server takes no more requests now\n");
}

void crpc_call_exchange(crpc_stream *stream, bool is_last) {
    crpc_connection *connection = crpc_call_connection(stream);
    const crpc_service *service = connection->service;
    stream->h2.remote.reads_on = true;
    if (!crpc_service_has_place(service, service->call_count, connection->h2.stream_count - 1) ||
        !crpc_handlers_have_room(connection->handlers, connection->h2.limits.streams_max) ||
        crpc_holds_too_much(connection)) {
        exchange_refuse(stream, true);
        return;
    }
    crpc_exchange_head head = {
        .version = 20,
        .is_last = is_last,
        .authority = connection->h2.remote.authority.text,
        .authority_length = connection->h2.remote.authority.length,
        .content_length = stream->h2.remote.request.content_length,
        .handlers = connection->handlers,
    };
    size_t begin = exchange_read_head(stream, &head);
    head.fault = exchange_fault_of(stream, &head, begin);
    if (head.fault == CRPC_FAULT_NONE && exchange_join_cookies(stream, begin) != CRPC_OK) {
        exchange_refuse(stream, true);
        return;
    }
    if (head.fault != CRPC_FAULT_NONE) {
        head.is_last = true;
        head.content_length = -1;
        if (head.target_length > CRPC_TARGET_MAX) head.target_length = 0;
    } else {
        head.fields = stream->block + begin;
        head.fields_length = stream->block_length - begin;
    }
    if (!exchange_tell(stream, &head)) {
        exchange_refuse(stream, false);
        return;
    }
    // The handler has a copy of the head, which may be much longer than what came of it (RFC 7541 section 7.3).
    stream->in.kept_bytes += stream->block_length;
    crpc_hold(connection, stream->block_length);
    bool is_awaited = stream->head.expects_continue && !head.is_last && stream->h2.local.state == CRPC_LOCAL_IDLE;
    if (is_awaited && crpc_session_continue(&stream->h2) != CRPC_OK) crpc_stream_reset(stream, CRPC_H2_INTERNAL_ERROR);
}

// ---- The body of the request ----

/// Tells the client that nothing more of its request is wanted (RFC 9113 section 8.1).
static void exchange_stop(crpc_stream *stream) { crpc_stream_reset(stream, CRPC_H2_NO_ERROR); }

/// Counts bytes that are dropped.
static void exchange_count_dropped(crpc_stream *stream, size_t length) {
    crpc_connection *connection = crpc_call_connection(stream);
    size_t count = length + CRPC_MESSAGE_OVERHEAD;
    if (stream->exchanged.has_dropped_enough) return;
    stream->exchanged.dropped_bytes += (uint32_t)count;
    connection->dropped_bytes += count;
    stream->exchanged.has_dropped_enough = stream->exchanged.dropped_bytes > CRPC_DROPPED_BODY_MAX ||
                                           connection->dropped_bytes > CRPC_DROPPED_BODIES_MAX;
}

/// Drops bytes that nobody wants. Past a bound the stream is reset or, while its answer is not out, the client gets no more of its
/// window. Errors: MEMORY.
static int exchange_drop(crpc_stream *stream, size_t length, bool is_last) {
    int error = crpc_session_give_back(stream->h2.h2, length);
    if (error != CRPC_OK) return error;
    exchange_count_dropped(stream, length);
    if (!stream->exchanged.has_dropped_enough) return crpc_session_give_back_stream(&stream->h2, length);
    if (stream->h2.local.is_answered && !is_last) exchange_stop(stream);
    return CRPC_OK;
}

int crpc_exchange_on_data(crpc_stream *stream, const uint8_t *bytes, size_t length, bool is_last) {
    if (!crpc_call_takes_messages(stream) || stream->in.is_end_told) return exchange_drop(stream, length, is_last);
    crpc_connection *connection = crpc_call_connection(stream);
    int error = crpc_give_back_or_withhold(connection, true, length);
    if (error != CRPC_OK) return error;
    stream->in.unreleased_bytes += length;
    connection->held.unreleased_bytes += length;
    if (stream->in.unread_bytes == 0) stream->in.read_ns = crpc_call_now_ns(stream);
    stream->in.unread_bytes += length;
    crpc_hold(connection, length);
    if (is_last) {
        crpc_h2_stream_set_remote(&stream->h2, CRPC_REMOTE_CLOSED);
        stream->in.is_end_told = true;
    }
    stream->in.is_receiving = true;
    exchange_callbacks(stream)->on_exchange_body(stream->call, bytes, length, is_last);
    stream->in.is_receiving = false;
    // A handler that reads as fast as bytes come may go on.
    if (stream->in.unread_bytes > 0 && crpc_call_takes_messages(stream) && crpc_holds_too_much(connection))
        crpc_stream_reset(stream, CRPC_H2_ENHANCE_YOUR_CALM);
    crpc_call_release(stream);
    return CRPC_OK;
}

void crpc_exchange_on_end(crpc_stream *stream) { exchange_callbacks(stream)->on_exchange_body(stream->call, NULL, 0, true); }

void crpc_exchange_on_answered(crpc_stream *stream) {
    // Whatever the handler said.
    stream->exchanged.body_due_ns = crpc_h2_after_ms(stream->h2.h2, stream->h2.h2->limits.body_timeout_ms);
    crpc_call_tell_close(stream, CRPC_H2_NO_ERROR);
    if (!stream->exchanged.has_dropped_enough) {
        crpc_call_release(stream); // what its handler left
    } else {
        exchange_stop(stream);
    }
}

/// Stops what is left of an answered request, if it takes too long. While the connection drains it has no more than the time
/// of a round trip, in which the client reads its answer.
static void exchange_sweep_answered(crpc_stream *stream) {
    const crpc_h2 *h2 = stream->h2.h2;
    uint64_t due = stream->exchanged.body_due_ns;
    bool is_hurried = crpc_h2_is_draining(h2) && h2->limits.body_timeout_ms > CRPC_ROUND_TRIP_MAX_MS;
    if (is_hurried) due -= crpc_ns_of_ms(h2->limits.body_timeout_ms - CRPC_ROUND_TRIP_MAX_MS);
    if (due <= h2->turn->now_ns) exchange_stop(stream);
}

void crpc_exchange_sweep(crpc_stream *stream) {
    if (stream->h2.local.is_answered) {
        exchange_sweep_answered(stream);
        return;
    }
    uint64_t due = stream->exchanged.body_due_ns;
    if (due == 0 || due > crpc_call_now_ns(stream) || stream->in.is_end_told || !crpc_call_takes_messages(stream)) return;
    stream->in.is_end_told = stream->h2.local.is_cut_short = true;
    exchange_callbacks(stream)->on_exchange_broken(stream->call, CRPC_ERROR_TIMEOUT);
}

static int exchange_consume(crpc_exchange *exchange, size_t length, bool keeps) {
    crpc_stream *stream = exchange_stream(exchange);
    crpc_connection *connection = crpc_call_connection(stream);
    size_t bytes = length < stream->in.unread_bytes ? length : stream->in.unread_bytes;
    stream->in.unread_bytes -= bytes;
    stream->in.read_ns = crpc_call_now_ns(stream);
    if (keeps) {
        stream->in.kept_bytes += bytes;
    } else {
        crpc_let_go(connection, bytes);
    }
    if (connection->held.withheld_bytes > 0) crpc_h2_mark(&connection->h2); // some may be given back
    if (!stream->in.is_receiving) crpc_call_release(stream); // else when all that arrived is looked through
    return keeps && crpc_holds_too_much(connection) ? CRPC_ERROR_LIMIT : CRPC_OK;
}

static void exchange_release(crpc_exchange *exchange, size_t length) {
    crpc_stream *stream = exchange_stream(exchange);
    crpc_connection *connection = crpc_call_connection(stream);
    size_t bytes = length < stream->in.kept_bytes ? length : stream->in.kept_bytes;
    stream->in.kept_bytes -= bytes;
    crpc_let_go(connection, bytes);
    if (connection->held.withheld_bytes > 0) crpc_h2_mark(&connection->h2); // some may be given back
}

// ---- The answer ----

/// A usual name need not be copied.
static void exchange_note_name(crpc_sent_field *field) {
    const crpc_usual_name *usual = crpc_exchange_usual_name(field->name, field->name_length);
    if (usual == NULL) return;
    field->name = (uint8_t *)(uintptr_t)usual->text; // which is only read
    field->flags = usual->is_unique ? CRPC_FIELD_NAMED | CRPC_FIELD_UNIQUE : CRPC_FIELD_NAMED;
}

/// Sends the head of the answer; `length` is -1 for a body of unknown length.
static int exchange_send_head(
    crpc_stream *stream, uint32_t status, const uint8_t *fields, size_t fields_length, int64_t length, bool has_body) {
    char status_text[CRPC_DECIMAL_MAX], length_text[CRPC_DECIMAL_MAX];
    size_t status_length = crpc_put_decimal(status, status_text);
    crpc_sent_field entries[CRPC_ENTRIES_MAX];
    size_t count = 0;
    entries[count++] = crpc_named_field(":status", status_text, status_length);
    const char *date = crpc_service_date(crpc_call_connection(stream)->service);
    entries[count++] = crpc_named_field("date", date, CRPC_DATE_LENGTH);
    if (length >= 0 && crpc_exchange_tells_length(status)) {
        size_t digits = crpc_put_decimal((uint64_t)length, length_text);
        entries[count++] = crpc_named_field("content-length", length_text, digits);
    }
    size_t first = count;
    int error = crpc_call_append_fields(entries, &count, fields, fields_length, 0, true);
    if (error != CRPC_OK) return error;
    for (size_t i = first; i < count; i++) exchange_note_name(&entries[i]);
    error = crpc_session_answer(&stream->h2, entries, count, has_body);
    crpc_h2_mark(stream->h2.h2);
    return error;
}

static bool exchange_may_begin(uint32_t status, const uint8_t *fields, size_t fields_length) {
    return crpc_exchange_is_status(status) && crpc_exchange_may_send_all(fields, fields_length);
}

/// Ends it where what was asked for cannot be done.
static int exchange_fail(crpc_stream *stream, int error) {
    if (error == CRPC_ERROR_MEMORY) crpc_stream_reset(stream, CRPC_H2_INTERNAL_ERROR);
    if (error == CRPC_ERROR_LIMIT) crpc_stream_reset(stream, CRPC_H2_ENHANCE_YOUR_CALM);
    return error;
}

static int exchange_respond(
    crpc_exchange *exchange, uint32_t status, const uint8_t *fields, size_t fields_length, const uint8_t *body,
    size_t body_length) {
    crpc_stream *stream = exchange_stream(exchange);
    if (stream->h2.local.state != CRPC_LOCAL_IDLE) return CRPC_ERROR_CLOSED;
    if (body_length > INT64_MAX || !exchange_may_begin(status, fields, fields_length)) return CRPC_ERROR_ARGUMENT;
    bool has_body = body_length > 0 && crpc_exchange_has_body(stream->head.is_head, status);
    if (has_body && crpc_holds_too_much(crpc_call_connection(stream))) return exchange_fail(stream, CRPC_ERROR_LIMIT);
    uint8_t *memory = has_body ? malloc(body_length) : NULL;
    if (has_body && memory == NULL) return exchange_fail(stream, CRPC_ERROR_MEMORY);
    int64_t length = status == 304 && body_length == 0 ? -1 : (int64_t)body_length; // what GET would get is not known
    int error = exchange_send_head(stream, status, fields, fields_length, length, has_body);
    if (error != CRPC_OK) {
        free(memory);
        return exchange_fail(stream, error);
    }
    stream->out.is_plain = true;
    if (has_body) {
        memcpy(memory, body, body_length);
        error = crpc_call_queue(stream, memory, 0, body_length);
    }
    crpc_h2_stream_set_local(&stream->h2, CRPC_LOCAL_FINISHED);
    stream->out.moved_ns = crpc_call_now_ns(stream);
    return exchange_fail(stream, error);
}

static int exchange_begin_answer(
    crpc_exchange *exchange, uint32_t status, const uint8_t *fields, size_t fields_length, int64_t content_length) {
    crpc_stream *stream = exchange_stream(exchange);
    if (stream->h2.local.state != CRPC_LOCAL_IDLE) return CRPC_ERROR_CLOSED;
    if (!exchange_may_begin(status, fields, fields_length)) return CRPC_ERROR_ARGUMENT;
    int error = exchange_send_head(stream, status, fields, fields_length, content_length, true);
    if (error != CRPC_OK) return exchange_fail(stream, error);
    stream->exchanged.has_body = crpc_exchange_has_body(stream->head.is_head, status);
    stream->exchanged.tells_length = content_length >= 0 && stream->exchanged.has_body;
    stream->exchanged.length_left = stream->exchanged.tells_length ? (uint64_t)content_length : 0;
    crpc_h2_stream_set_local(&stream->h2, CRPC_LOCAL_OPEN);
    return CRPC_OK;
}

static int exchange_send(crpc_exchange *exchange, void *memory, size_t offset, size_t length) {
    crpc_stream *stream = exchange_stream(exchange);
    int error = crpc_h2_stream_is_finished(&stream->h2)           ? CRPC_ERROR_CLOSED
                : stream->h2.local.state == CRPC_LOCAL_IDLE       ? CRPC_ERROR_ARGUMENT
                : stream->exchanged.tells_length && length > stream->exchanged.length_left ? CRPC_ERROR_ARGUMENT
                                                                  : CRPC_OK;
    bool is_sent = error == CRPC_OK && length > 0 && stream->exchanged.has_body;
    if (is_sent && crpc_holds_too_much(crpc_call_connection(stream))) error = CRPC_ERROR_LIMIT;
    if (!is_sent || error != CRPC_OK) {
        free(memory);
        return exchange_fail(stream, error);
    }
    if (stream->exchanged.tells_length) stream->exchanged.length_left -= length;
    return exchange_fail(stream, crpc_call_queue(stream, memory, offset, length));
}

static bool exchange_is_writable(const crpc_exchange *exchange) {
    return crpc_stream_is_writable(exchange_stream(exchange));
}

/// Keeps trailers until the body went. Those that may not be sent, and those past CRPC_TRAILERS_MAX, are left out. Errors:
/// MEMORY.
static int exchange_keep_trailers(crpc_stream *stream, const uint8_t *trailers, size_t length) {
    stream->out.is_plain = true;
    if (length == 0) return CRPC_OK;
    uint8_t *kept = malloc(length);
    if (kept == NULL) return CRPC_ERROR_MEMORY;
    size_t offset = 0, kept_length = 0, cost = 0, entries = 0;
    crpc_entry field;
    while (crpc_metadata_next(trailers, length, &offset, &field)) {
        cost += field.name_length + field.value_length + CRPC_ENTRY_COST;
        if (cost > CRPC_TRAILERS_MAX || entries == CRPC_ENTRIES_MAX) break;
        if (!crpc_exchange_may_send(&field)) continue;
        kept_length += crpc_metadata_put(kept + kept_length, &field);
        entries += 1;
    }
    stream->out.is_plain = entries == 0;
    stream->out.trailers = kept;
    stream->out.trailers_length = kept_length;
    return CRPC_OK;
}

static int exchange_finish(crpc_exchange *exchange, const uint8_t *trailers, size_t trailers_length) {
    crpc_stream *stream = exchange_stream(exchange);
    if (crpc_h2_stream_is_finished(&stream->h2)) return CRPC_ERROR_CLOSED;
    if (stream->h2.local.state == CRPC_LOCAL_IDLE) return CRPC_ERROR_ARGUMENT;
    if (stream->exchanged.tells_length && stream->exchanged.length_left > 0) {
        crpc_stream_reset(stream, CRPC_H2_INTERNAL_ERROR);
        return CRPC_ERROR_ARGUMENT;
    }
    int error = exchange_keep_trailers(stream, trailers, trailers_length);
    if (error != CRPC_OK) return exchange_fail(stream, error);
    crpc_h2_stream_set_local(&stream->h2, CRPC_LOCAL_FINISHED);
    stream->out.moved_ns = crpc_call_now_ns(stream);
    crpc_h2_stream_resume(&stream->h2);
    return CRPC_OK;
}

// ---- Time, and the end ----

static int exchange_set_deadline(crpc_exchange *exchange, uint64_t deadline_ns) {
    crpc_stream *stream = exchange_stream(exchange);
    crpc_timer_end(&stream->deadline);
    if (deadline_ns == 0) return CRPC_OK;
    crpc_h2_mark(stream->h2.h2); // the driver looks at the connection's next moment
    return crpc_call_set_deadline(stream, deadline_ns);
}

static void exchange_set_body_deadline(crpc_exchange *exchange, uint64_t deadline_ns) {
    exchange_stream(exchange)->exchanged.body_due_ns = deadline_ns;
}

static void exchange_set_last(crpc_exchange *exchange) { (void)exchange; }

static void exchange_reset(crpc_exchange *exchange) {
    crpc_stream_reset(exchange_stream(exchange), CRPC_H2_INTERNAL_ERROR);
}

static const crpc_exchange_table exchange_table = {
    .respond = exchange_respond,
    .send_head = exchange_begin_answer,
    .send = exchange_send,
    .is_writable = exchange_is_writable,
    .finish = exchange_finish,
    .consume = exchange_consume,
    .release = exchange_release,
    .set_deadline = exchange_set_deadline,
    .set_body_deadline = exchange_set_body_deadline,
    .set_last = exchange_set_last,
    .reset = exchange_reset,
};
