#include "http1/request.h"

#include "http1/head.h"

#include <string.h>

/// Pieces of a chunked body that are shorter are joined before they are reported.
enum { GATHERED_MAX = 2048 };

// ---- An exchange begins and ends ----

void crpc_h1_refuse(crpc_h1 *h1, uint32_t status) {
    h1->request.is_refused = true;
    (void)crpc_exchange_respond(&h1->exchange, status, NULL, 0, NULL, 0); // if it cannot be said, the connection is broken
}

/// Sets how long an answer goes on for a client that has ended its half.
static void h1_limit_half(crpc_h1 *h1) {
    h1->has_moved = false;
    h1->half_ends_ns = h1->turn->now_ns + crpc_ns_of_ms(CRPC_H1_HALF_CLOSED_MS);
    crpc_h1_limit(h1, CRPC_H1_DUE_HALF, CRPC_H1_HALF_LOOK_MS);
}

/// Reads no more requests. A client that is within a body may send it to its end before it reads.
static void h1_go_deaf(crpc_h1 *h1) {
    if (h1->coming == CRPC_H1_BODY) h1->leaves_rest = true;
    crpc_h1_set_coming(h1, CRPC_H1_DEAF);
}

static bool h1_is_overloaded(const crpc_h1 *h1) {
    const crpc_service *service = h1->service;
    return !crpc_service_has_place(service, service->call_count, 0) ||
           !crpc_handlers_have_room(h1->handlers, h1->limits.streams_max) ||
           h1->held_bytes > crpc_service_held_max(service, h1->limits.buffered_bytes_max);
}

/// Reports a request whose head has come, or what is wrong with it.
static void h1_begin_exchange(crpc_h1 *h1, crpc_exchange_head *shown) {
    crpc_service *service = h1->service;
    h1->due_ns[CRPC_H1_DUE_HEAD] = h1->due_ns[CRPC_H1_DUE_IDLE] = h1->due_ns[CRPC_H1_DUE_LEAVE] = 0;
    h1->request_count += 1;
    crpc_count(&h1->turn->stats.server_streams_opened, 1);
    crpc_h1_set_answer(h1, CRPC_H1_ANSWER_IDLE);
    if (h1->below != NULL && h1->below->on_ready != NULL && !h1->is_ready) h1->below->on_ready(h1);
    if (h1->below != NULL && h1->below->on_busy != NULL) h1->below->on_busy(h1);
    h1->is_ready = true;
    if (h1->has_peer_ended) h1_limit_half(h1);
    if (!crpc_h1_charge(h1, CRPC_COST_FRAME)) return;
    if (shown->fault == CRPC_FAULT_NONE) {
        crpc_authority_set(&h1->authority, shown->authority, shown->authority_length);
        if (!crpc_authority_is_served(&h1->authority, &service->names)) {
            crpc_h1_refuse(h1, 421);
            return;
        }
    }
    if (h1_is_overloaded(h1)) {
        crpc_count(&h1->turn->stats.calls_shed, 1);
        crpc_h1_refuse(h1, 503);
        return;
    }
    service->call_count += 1;
    h1->request.is_counted = true;
    crpc_handler_begin(h1->handlers);
    shown->handlers = h1->handlers;
    h1->context = service->callbacks->exchange.on_exchange(service->server, h1->peer, &h1->exchange, shown);
    if (h1->context != NULL) return;
    crpc_handler_ended(h1->handlers);
    crpc_h1_refuse(h1, 503);
}

/// The request and its answer are over: waits for the next one.
static void h1_await_next(crpc_h1 *h1) {
    uint32_t keep_ms = h1->limits.keep_alive_timeout_ms, idle_ms = h1->limits.idle_timeout_ms; // 0 for never, in both
    h1->idle_ns = h1->turn->now_ns;
    crpc_h1_set_coming(h1, CRPC_H1_HEAD);
    h1->waiting.more_at = 0;
    crpc_h1_limit(h1, CRPC_H1_DUE_IDLE, idle_ms != 0 && (keep_ms == 0 || idle_ms < keep_ms) ? idle_ms : keep_ms);
    if (h1->state == CRPC_H1_DRAINING) crpc_h1_limit(h1, CRPC_H1_DUE_LEAVE, CRPC_H1_LEAVE_MS);
    if (h1->below != NULL && h1->below->on_idle != NULL) h1->below->on_idle(h1);
}

void crpc_h1_close_exchange(crpc_h1 *h1, bool is_complete) {
    void *context = h1->context;
    h1->context = NULL;
    crpc_h1_set_answer(h1, CRPC_H1_ANSWER_NONE);
    crpc_count(&h1->turn->stats.server_streams_closed, 1);
    if (h1->request.is_counted) h1->service->call_count -= 1;
    h1->request.is_counted = false;
    h1->request.unread_bytes = h1->request.kept_bytes = 0;
    crpc_h1_count_held(h1);
    h1->due_ns[CRPC_H1_DUE_DEADLINE] = h1->due_ns[CRPC_H1_DUE_HALF] = 0;
    if (is_complete) {
        int32_t most = (int32_t)h1->limits.credit_max, gain = h1->request.is_refused ? CRPC_COST_FRAME : CRPC_GAIN_HEADERS;
        h1->credit.left = h1->credit.left > most - gain ? most : h1->credit.left + gain;
    }
    if (context != NULL && !h1->turn->is_ending)
        h1->service->callbacks->exchange.on_exchange_close(context, is_complete);
    if (crpc_h1_is_broken(h1)) return;
    if (h1->output.closes && h1->coming != CRPC_H1_DEAF) h1_go_deaf(h1);
    if (h1->coming == CRPC_H1_ENDED) h1_await_next(h1);
    // What is left of a body has its time, whatever the handler said.
    if (h1->coming == CRPC_H1_BODY) crpc_h1_limit(h1, CRPC_H1_DUE_BODY, h1->limits.body_timeout_ms);
}

// ---- Heads ----

/// Makes room for a request in the place of the last one.
static void h1_begin_request(crpc_h1 *h1, const crpc_h1_head *head) {
    bool is_head = head->shown.method_length == 4 && memcmp(head->shown.method, "HEAD", 4) == 0;
    memset(&h1->request, 0, sizeof h1->request);
    h1->request.is_old = head->shown.version == 10;
    h1->request.is_head = is_head;
    h1->request.is_chunked = head->is_chunked;
    h1->request.takes_trailers = head->takes_trailers;
    h1->request.keeps_alive = head->keeps_alive;
    h1->request.awaits_continue = head->expects_continue && !head->shown.is_last;
    if (head->shown.content_length > 0) h1->request.left = (uint64_t)head->shown.content_length;
    h1->output.closes = h1->output.is_chunked = h1->output.was_full = false;
}

/// Whether a request is HTTP and has a fault of its size or its framing, so that its client may be sending much behind it. One
/// that sends its head too slowly, or something else than a request, does not get more time for that.
static bool h1_leaves_rest(crpc_fault fault) {
    return fault == CRPC_FAULT_HEAD_TOO_LARGE || fault == CRPC_FAULT_CONTENT_LENGTH_INVALID ||
           fault == CRPC_FAULT_TRANSFER_ENCODING_INVALID || fault == CRPC_FAULT_TRANSFER_ENCODING_UNKNOWN;
}

/// Reports a request with which something is wrong; nothing behind it is read.
static void h1_tell_fault(crpc_h1 *h1, crpc_h1_head *head) {
    h1->leaves_rest = h1_leaves_rest(head->shown.fault);
    h1_go_deaf(h1);
    h1_begin_request(h1, head);
    head->shown.content_length = -1;
    head->shown.is_last = true;
    h1_begin_exchange(h1, &head->shown);
}

void crpc_h1_miss_head(crpc_h1 *h1) {
    if (h1->answer != CRPC_H1_ANSWER_NONE || h1->coming != CRPC_H1_HEAD) return;
    if (h1->waiting.length == 0) { // it never said anything
        crpc_h1_break(h1, CRPC_OK);
        return;
    }
    crpc_h1_head head;
    crpc_h1_head_limits limits = {h1->limits.header_bytes_max, h1->limits.header_fields_max};
    (void)crpc_h1_read_head(&limits, h1->waiting.bytes + h1->waiting.start, h1->waiting.length, h1->turn->scratch, &head);
    head.shown.fault = CRPC_FAULT_HEAD_TIMEOUT;
    h1_tell_fault(h1, &head);
}

/// Says that the body may come, unless some of it has, or there is an answer.
static void h1_continue(crpc_h1 *h1, bool has_more) {
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    if (!h1->request.awaits_continue || crpc_h1_is_broken(h1) || h1->answer != CRPC_H1_ANSWER_IDLE) return;
    h1->request.awaits_continue = false;
    if (has_more) return;
    uint8_t *target = crpc_h1_output_room(&h1->output, sizeof text - 1);
    if (target == NULL) {
        crpc_h1_break(h1, CRPC_ERROR_MEMORY);
        return;
    }
    memcpy(target, text, sizeof text - 1);
    crpc_h1_output_commit(&h1->output, sizeof text - 1);
    crpc_h1_count_held(h1);
    crpc_h1_mark(h1);
}

/// Takes a head, or an empty line in front of one. The bytes taken; 0 if it is not whole.
static size_t h1_take_head(crpc_h1 *h1, const uint8_t *bytes, size_t length) {
    if (length >= 2 && bytes[0] == '\r' && bytes[1] == '\n') {
        // RFC 9112 section 2.2: some clients put one behind a body. It begins no head, whose time would run.
        h1->waiting.more_at = 0;
        return crpc_h1_charge(h1, CRPC_COST_FRAME) ? 2 : length;
    }
    crpc_h1_head_limits limits = {h1->limits.header_bytes_max, h1->limits.header_fields_max};
    crpc_h1_head head;
    crpc_h1_reading reading = crpc_h1_read_head(&limits, bytes, length, h1->turn->scratch, &head);
    if (reading == CRPC_H1_MORE) {
        if (h1->waiting.more_at == 0 && *bytes != '\r') { // it has begun
            // The first one has no more time than the connection gave it when that began.
            if (h1->request_count > 0) crpc_h1_limit(h1, CRPC_H1_DUE_HEAD, h1->limits.head_timeout_ms);
            h1->due_ns[CRPC_H1_DUE_IDLE] = 0;
        }
        h1->waiting.more_at = head.more_at;
        return 0;
    }
    if (reading == CRPC_H1_FAULTY) {
        h1_tell_fault(h1, &head);
        return length;
    }
    crpc_h1_set_coming(h1, head.shown.is_last ? CRPC_H1_ENDED : CRPC_H1_BODY);
    h1_begin_request(h1, &head);
    h1->request.is_followed = head.shown.is_last && head.length < length;
    if (!head.shown.is_last) crpc_h1_limit(h1, CRPC_H1_DUE_BODY, h1->limits.body_timeout_ms);
    h1_begin_exchange(h1, &head.shown);
    h1_continue(h1, head.length < length);
    return head.length;
}

// ---- Bodies ----

/// Drops bytes of a body that nobody wants.
static void h1_drop(crpc_h1 *h1, size_t length) {
    h1->request.dropped_bytes += length;
    if (h1->request.dropped_bytes <= CRPC_KEPT_BODY_MAX || h1->coming == CRPC_H1_DEAF) return;
    h1_go_deaf(h1);
    crpc_h1_mark(h1);
}

static void h1_tell_body(crpc_h1 *h1, const uint8_t *bytes, size_t length, bool is_last) {
    h1->request.awaits_continue = false;
    if (is_last) {
        crpc_h1_set_coming(h1, CRPC_H1_ENDED);
        h1->due_ns[CRPC_H1_DUE_BODY] = 0;
    }
    if (h1->context != NULL && h1->answer < CRPC_H1_ANSWER_FINISHED) {
        h1->request.unread_bytes += length;
        crpc_h1_count_held(h1);
        h1->service->callbacks->exchange.on_exchange_body(h1->context, bytes, length, is_last);
        return;
    }
    if (!is_last)
        h1_drop(h1, length);
    else if (h1->answer == CRPC_H1_ANSWER_NONE)
        h1_await_next(h1);
}

void crpc_h1_break_body(crpc_h1 *h1, int error) {
    h1->due_ns[CRPC_H1_DUE_BODY] = 0;
    if (h1->coming != CRPC_H1_BODY) return;
    h1_go_deaf(h1);
    crpc_h1_mark(h1);
    if (h1->context != NULL && h1->answer < CRPC_H1_ANSWER_FINISHED)
        h1->service->callbacks->exchange.on_exchange_broken(h1->context, error);
}

static size_t h1_take_counted(crpc_h1 *h1, const uint8_t *bytes, size_t length) {
    h1->request.is_followed = h1->request.left < length;
    if (h1->request.is_followed) length = (size_t)h1->request.left;
    h1->request.left -= length;
    h1_tell_body(h1, bytes, length, h1->request.left == 0);
    return length;
}

/// Takes chunks. Short ones are put together, so that a client that sends many costs us less than it pays.
static size_t h1_take_chunks(crpc_h1 *h1, const uint8_t *bytes, size_t length) {
    crpc_chunks *chunks = &h1->request.chunks;
    uint8_t *gathered = h1->turn->scratch;
    size_t used = 0, count = 0;
    while (used < length && h1->coming == CRPC_H1_BODY && !crpc_h1_is_broken(h1)) {
        if (chunks->state == CRPC_CHUNK_DATA) {
            size_t part = chunks->left < length - used ? (size_t)chunks->left : length - used;
            bool is_long = part > GATHERED_MAX;
            if (!is_long) {
                memcpy(gathered + count, bytes + used, part);
                count += part;
            }
            if (count > 0 && (is_long || count > GATHERED_MAX)) {
                h1_tell_body(h1, gathered, count, false);
                count = 0;
            }
            if (is_long && h1->coming == CRPC_H1_BODY && !crpc_h1_is_broken(h1))
                h1_tell_body(h1, bytes + used, part, false);
            crpc_chunks_take_data(chunks, part);
            used += part;
            continue;
        }
        used += crpc_chunks_read(chunks, bytes + used, length - used);
        if (chunks->state >= CRPC_CHUNK_WHOLE) break;
    }
    uint32_t cost = chunks->cost;
    chunks->cost = 0;
    if (!crpc_h1_charge(h1, cost) || h1->coming != CRPC_H1_BODY) return length;
    h1->request.is_followed = chunks->state == CRPC_CHUNK_WHOLE && used < length;
    if (chunks->state == CRPC_CHUNK_WHOLE || count > 0)
        h1_tell_body(h1, gathered, count, chunks->state == CRPC_CHUNK_WHOLE);
    if (chunks->state != CRPC_CHUNK_BROKEN || crpc_h1_is_broken(h1)) return used;
    crpc_h1_break_body(h1, CRPC_ERROR_PROTOCOL);
    return length;
}

// ---- What comes ----

/// The bytes that could be taken.
static size_t h1_take(crpc_h1 *h1, const uint8_t *bytes, size_t length) {
    size_t used = 0;
    while (used < length && !crpc_h1_is_broken(h1)) {
        size_t taken = 0;
        switch ((crpc_h1_coming)h1->coming) {
        case CRPC_H1_HEAD: taken = h1_take_head(h1, bytes + used, length - used); break;
        case CRPC_H1_BODY:
            taken = h1->request.is_chunked ? h1_take_chunks(h1, bytes + used, length - used)
                                           : h1_take_counted(h1, bytes + used, length - used);
            break;
        case CRPC_H1_DEAF:
            taken = length - used;
            h1_drop(h1, taken);
            break;
        case CRPC_H1_ENDED:
        case CRPC_H1_COMINGS: break;
        }
        if (taken == 0) break;
        used += taken;
    }
    return used;
}

/// Keeps what cannot be taken yet. Errors: MEMORY.
static int h1_keep(crpc_h1 *h1, const uint8_t *bytes, size_t length) {
    size_t needed = h1->waiting.length + length;
    if (h1->waiting.start + needed > h1->waiting.capacity && needed <= h1->waiting.capacity) {
        memmove(h1->waiting.bytes, h1->waiting.bytes + h1->waiting.start, h1->waiting.length);
        h1->waiting.start = 0;
    } else if (needed > h1->waiting.capacity) {
        size_t capacity, wanted = needed > 2 * h1->waiting.capacity ? needed : 2 * h1->waiting.capacity;
        uint8_t *grown = crpc_buffers_take(&h1->service->buffers, wanted, &capacity);
        if (grown == NULL) return CRPC_ERROR_MEMORY;
        if (h1->waiting.length > 0) memcpy(grown, h1->waiting.bytes + h1->waiting.start, h1->waiting.length);
        crpc_buffers_give_back(&h1->service->buffers, h1->waiting.bytes, h1->waiting.capacity);
        h1->waiting.bytes = grown;
        h1->waiting.capacity = capacity;
        h1->waiting.start = 0;
    }
    memcpy(h1->waiting.bytes + h1->waiting.start + h1->waiting.length, bytes, length);
    h1->waiting.length = needed;
    crpc_h1_count_held(h1);
    return CRPC_OK;
}

void crpc_h1_take_waiting(crpc_h1 *h1) {
    size_t length = h1->waiting.length;
    if (length > 0) {
        h1->waiting.length = 0; // of what is taken nothing waits
        size_t taken = h1_take(h1, h1->waiting.bytes + h1->waiting.start, length);
        h1->waiting.start += taken;
        h1->waiting.length = length - taken;
        if (h1->waiting.length == 0) {
            crpc_buffers_give_back(&h1->service->buffers, h1->waiting.bytes, h1->waiting.capacity);
            h1->waiting.bytes = NULL;
            h1->waiting.capacity = h1->waiting.start = 0;
            crpc_h1_count_held(h1);
        }
    }
    // Of a request that is not whole no more comes.
    if (!h1->has_peer_ended || crpc_h1_is_broken(h1)) return;
    if (h1->coming == CRPC_H1_BODY) crpc_h1_break_body(h1, CRPC_ERROR_PROTOCOL);
    if (h1->coming == CRPC_H1_HEAD) crpc_h1_set_coming(h1, CRPC_H1_DEAF);
}

size_t crpc_h1_read_room(const crpc_h1 *h1) {
    if (h1->has_peer_ended || crpc_h1_is_broken(h1)) return 0;
    size_t window = h1->limits.stream_window_bytes, unread = h1->request.unread_bytes, room = CRPC_H1_PIPELINED_MAX;
    switch ((crpc_h1_coming)h1->coming) {
    case CRPC_H1_HEAD: return room;
    case CRPC_H1_BODY:
        room += h1->request.is_chunked ? (size_t)(h1->request.chunks.left & INT32_MAX) : (size_t)(h1->request.left & INT32_MAX);
        if (h1->context != NULL && unread >= window) return 0; // more than that may have come with the head
        if (h1->context != NULL && room > window - unread) room = window - unread;
        return room < CRPC_READ_BUFFER ? room : CRPC_READ_BUFFER;
    case CRPC_H1_ENDED: return h1->waiting.length < room ? room - h1->waiting.length : 0;
    case CRPC_H1_DEAF: return h1->request.dropped_bytes <= CRPC_KEPT_BODY_MAX ? CRPC_READ_BUFFER : 0;
    case CRPC_H1_COMINGS: break;
    }
    return 0;
}

bool crpc_h1_feed(crpc_h1 *h1, const uint8_t *bytes, size_t length) {
    if (crpc_h1_is_broken(h1)) return false;
    if (length > CRPC_READ_BUFFER) crpc_die("more bytes at a time than there is room for");
    if (h1->waiting.length == 0) {
        size_t taken = h1_take(h1, bytes, length);
        bytes += taken;
        length -= taken;
        if (length == 0 || crpc_h1_is_broken(h1)) return !crpc_h1_is_broken(h1);
        if (h1_keep(h1, bytes, length) != CRPC_OK) crpc_h1_break(h1, CRPC_ERROR_MEMORY);
        return !crpc_h1_is_broken(h1);
    }
    bool has_line = h1->coming != CRPC_H1_HEAD || memchr(bytes, '\n', length) != NULL;
    // A head in many pieces is much work for few bytes.
    if (h1->coming == CRPC_H1_HEAD && !crpc_h1_charge(h1, CRPC_COST_FRAME)) return false;
    if (h1_keep(h1, bytes, length) != CRPC_OK) {
        crpc_h1_break(h1, CRPC_ERROR_MEMORY);
        return false;
    }
    if (has_line || h1->waiting.length >= h1->waiting.more_at) crpc_h1_take_waiting(h1);
    return !crpc_h1_is_broken(h1);
}

bool crpc_h1_note_fed(crpc_h1 *h1) {
    if (crpc_h1_is_broken(h1)) return false;
    if (h1->coming == CRPC_H1_DEAF || !crpc_h1_output_is_empty(&h1->output)) crpc_h1_mark(h1);
    return true;
}

bool crpc_h1_note_end(crpc_h1 *h1) {
    if (crpc_h1_is_broken(h1)) return false;
    h1->has_peer_ended = true;
    if (h1->coming == CRPC_H1_BODY) crpc_h1_break_body(h1, CRPC_ERROR_PROTOCOL);
    if (h1->coming == CRPC_H1_HEAD) crpc_h1_set_coming(h1, CRPC_H1_DEAF);
    if (h1->answer != CRPC_H1_ANSWER_NONE) h1_limit_half(h1);
    crpc_h1_mark(h1);
    return true;
}
