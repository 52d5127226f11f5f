#include "crpc_metadata.h"
#include "http1/request.h"

#include <stdlib.h>
#include <string.h>

// Answers: how heads are written, and what users of an exchange call. Nothing here calls back.

/// Room for a head beside its fields: the status line, Date, Content-Length or Transfer-Encoding, Connection.
enum { ANSWER_HEAD_ROOM = 256 };

// ---- Heads ----

static const char *answer_reason(uint32_t status) {
    switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "";
    }
}

static uint8_t *answer_put(uint8_t *at, const void *text, size_t length) {
    if (length > 0) memcpy(at, text, length);
    return at + length;
}
#define PUT(at, text) answer_put(at, text, sizeof(text) - 1)

static uint8_t *answer_put_number(uint8_t *at, uint64_t number) {
    uint8_t digits[20];
    size_t first = sizeof digits;
    do digits[--first] = (uint8_t)('0' + number % 10);
    while ((number /= 10) > 0);
    return answer_put(at, digits + first, sizeof digits - first);
}

static uint8_t *answer_put_status(uint8_t *at, uint32_t status) {
    if (status == 200) return PUT(at, "HTTP/1.1 200 OK\r\n");
    const char *reason = answer_reason(status);
    at = PUT(at, "HTTP/1.1 ");
    at = answer_put_number(at, status);
    *at++ = ' ';
    at = answer_put(at, reason, strlen(reason));
    return PUT(at, "\r\n");
}

/// Writes packed fields as lines. NULL if one may not be sent, or they are not whole.
static uint8_t *answer_put_fields(uint8_t *at, const uint8_t *fields, size_t length) {
    size_t offset = 0;
    crpc_entry field;
    while (crpc_metadata_next(fields, length, &offset, &field)) {
        if (!crpc_exchange_may_send(&field)) return NULL;
        at = answer_put(at, field.name, field.name_length);
        at = PUT(at, ": ");
        at = answer_put(at, field.value, field.value_length);
        at = PUT(at, "\r\n");
    }
    return offset == length ? at : NULL;
}

/// Whether the connection ends after the answer that is being written.
static bool answer_is_last(const crpc_h1 *h1) {
    uint32_t most = h1->limits.requests_per_connection_max;
    bool is_followed = h1->request.is_followed || h1->waiting.length > 0;
    if (h1->coming == CRPC_H1_DEAF || !h1->request.keeps_alive || (most != 0 && h1->request_count >= most)) return true;
    if ((h1->state == CRPC_H1_DRAINING || h1->has_peer_ended) && !is_followed) return true;
    if (h1->coming != CRPC_H1_BODY) return false;
    // Whether a client that was not told to continue sends its body nobody knows (RFC 9110 section 10.1.1).
    return h1->request.awaits_continue || h1->request.left > CRPC_KEPT_BODY_MAX;
}

/// How the end of a body is marked.
typedef enum answer_framing { ANSWER_COUNTED, ANSWER_CHUNKED, ANSWER_UNTIL_END, ANSWER_UNTOLD } answer_framing;

/// Writes a head. NULL if a field may not be sent.
static uint8_t *answer_put_head(
    crpc_h1 *h1, uint8_t *at, uint32_t status, const uint8_t *fields, size_t fields_length, answer_framing framing,
    uint64_t length) {
    h1->output.is_until_end = framing == ANSWER_UNTIL_END;
    h1->output.closes = h1->output.is_until_end || answer_is_last(h1);
    at = answer_put_fields(answer_put_status(at, status), fields, fields_length);
    if (at == NULL) return NULL;
    at = PUT(at, "date: ");
    at = answer_put(at, crpc_service_date(h1->service), CRPC_DATE_LENGTH);
    if (framing == ANSWER_COUNTED) {
        at = PUT(at, "\r\ncontent-length: ");
        at = answer_put_number(at, length);
    }
    if (framing == ANSWER_CHUNKED) at = PUT(at, "\r\ntransfer-encoding: chunked");
    if (h1->output.closes)
        at = PUT(at, "\r\nconnection: close");
    else if (h1->request.is_old)
        at = PUT(at, "\r\nconnection: keep-alive");
    return PUT(at, "\r\n\r\n");
}

// ---- What users call ----

static bool answer_is_over(const crpc_h1 *h1) {
    return crpc_h1_is_broken(h1) || h1->answer == CRPC_H1_ANSWER_FINISHED || h1->answer == CRPC_H1_ANSWER_NONE;
}

/// Ends an exchange that cannot be answered.
static int answer_fail(crpc_h1 *h1, int error) {
    crpc_h1_break(h1, error == CRPC_ERROR_MEMORY ? error : CRPC_ERROR_CLOSED);
    return error;
}

/// Whether the client lets so much wait that nothing is added. What its request makes us hold goes with the answer.
static bool answer_is_held_up(const crpc_h1 *h1) {
    size_t held = h1->held_bytes - h1->request.unread_bytes - h1->request.kept_bytes;
    return held > crpc_service_held_max(h1->service, h1->limits.buffered_bytes_max);
}

/// Marks that the user must pause, so that `on_exchange_writable` follows. `crpc_exchange_is_writable` has the same bound.
static void answer_note_full(crpc_h1 *h1) {
    if (h1->output.queued_bytes > CRPC_STREAM_HIGH_WATER) h1->output.was_full = true;
}

static void answer_commit(crpc_h1 *h1, const uint8_t *end, crpc_h1_answer answer) {
    crpc_h1_output *output = &h1->output;
    crpc_h1_output_commit(output, (size_t)(end - (output->bytes + output->length)));
    crpc_h1_count_held(h1);
    crpc_h1_set_answer(h1, answer);
    crpc_h1_mark(h1);
}

static int answer_respond(
    crpc_exchange *exchange, uint32_t status, const uint8_t *fields, size_t fields_length, const uint8_t *body,
    size_t body_length) {
    crpc_h1 *h1 = crpc_h1_of(exchange);
    if (answer_is_over(h1) || h1->answer != CRPC_H1_ANSWER_IDLE) return CRPC_ERROR_CLOSED;
    if (!crpc_exchange_is_status(status)) return CRPC_ERROR_ARGUMENT;
    if (answer_is_held_up(h1)) return answer_fail(h1, CRPC_ERROR_LIMIT);
    size_t sent = crpc_exchange_has_body(h1->request.is_head, status) ? body_length : 0;
    uint8_t *at = crpc_h1_output_room(&h1->output, ANSWER_HEAD_ROOM + fields_length + sent);
    if (at == NULL) return answer_fail(h1, CRPC_ERROR_MEMORY);
    // What a 304 would be as a 200 nobody says here who has no body for it.
    bool tells_length = crpc_exchange_tells_length(status) && (status != 304 || body_length > 0);
    at = answer_put_head(
        h1, at, status, fields, fields_length, tells_length ? ANSWER_COUNTED : ANSWER_UNTOLD, body_length);
    if (at == NULL) return CRPC_ERROR_ARGUMENT;
    answer_commit(h1, answer_put(at, body, sent), CRPC_H1_ANSWER_FINISHED);
    return CRPC_OK;
}

static int answer_send_head(
    crpc_exchange *exchange, uint32_t status, const uint8_t *fields, size_t fields_length, int64_t content_length) {
    crpc_h1 *h1 = crpc_h1_of(exchange);
    crpc_h1_output *output = &h1->output;
    if (answer_is_over(h1) || h1->answer != CRPC_H1_ANSWER_IDLE) return CRPC_ERROR_CLOSED;
    if (!crpc_exchange_is_status(status) || content_length < -1) return CRPC_ERROR_ARGUMENT;
    if (answer_is_held_up(h1)) return answer_fail(h1, CRPC_ERROR_LIMIT);
    bool has_body = crpc_exchange_has_body(h1->request.is_head, status);
    answer_framing framing = content_length >= 0 && crpc_exchange_tells_length(status) ? ANSWER_COUNTED
                             : !has_body                                               ? ANSWER_UNTOLD
                             : h1->request.is_old                                      ? ANSWER_UNTIL_END
                                                                                       : ANSWER_CHUNKED;
    uint8_t *at = crpc_h1_output_room(output, ANSWER_HEAD_ROOM + fields_length);
    if (at == NULL) return answer_fail(h1, CRPC_ERROR_MEMORY);
    at = answer_put_head(h1, at, status, fields, fields_length, framing, (uint64_t)content_length);
    if (at == NULL) return CRPC_ERROR_ARGUMENT;
    output->is_chunked = framing == ANSWER_CHUNKED;
    output->has_body = has_body;
    output->left = content_length;
    answer_commit(h1, at, CRPC_H1_ANSWER_OPEN);
    answer_note_full(h1);
    return CRPC_OK;
}

static int answer_send(crpc_exchange *exchange, void *memory, size_t offset, size_t length) {
    crpc_h1 *h1 = crpc_h1_of(exchange);
    crpc_h1_output *output = &h1->output;
    bool is_too_long = output->left >= 0 && length > (uint64_t)output->left;
    int error = answer_is_over(h1)                                         ? CRPC_ERROR_CLOSED
                : h1->answer == CRPC_H1_ANSWER_IDLE || is_too_long         ? CRPC_ERROR_ARGUMENT
                : answer_is_held_up(h1) && output->has_body && length > 0 ? answer_fail(h1, CRPC_ERROR_LIMIT)
                                                                           : CRPC_OK;
    if (error != CRPC_OK || length == 0 || !output->has_body) {
        free(memory);
        if (error == CRPC_OK && output->left >= 0) output->left -= (int64_t)length;
        return error;
    }
    if (crpc_h1_output_add(output, memory, offset, length) != CRPC_OK) return answer_fail(h1, CRPC_ERROR_MEMORY);
    if (output->left >= 0) output->left -= (int64_t)length;
    answer_note_full(h1);
    crpc_h1_count_held(h1);
    crpc_h1_mark(h1);
    return CRPC_OK;
}

static bool answer_is_writable(const crpc_exchange *exchange) {
    const crpc_h1 *h1 = CRPC_CONTAINER(exchange, crpc_h1, exchange);
    return !h1->output.was_full;
}

/// Ends a chunked body, with trailers where the client takes them.
static int answer_put_end(crpc_h1 *h1, const uint8_t *trailers, size_t length) {
    if (!h1->request.takes_trailers || length == 0) return crpc_h1_output_add_end(&h1->output, NULL, 0);
    uint8_t *lines = malloc(length); // what surrounds a field packed is more than as a line
    if (lines == NULL) return CRPC_ERROR_MEMORY;
    const uint8_t *end = answer_put_fields(lines, trailers, length);
    int error = end == NULL ? CRPC_ERROR_ARGUMENT
                            : crpc_h1_output_add_end(&h1->output, lines, (size_t)(end - lines));
    free(lines);
    return error;
}

static int answer_finish(crpc_exchange *exchange, const uint8_t *trailers, size_t trailers_length) {
    crpc_h1 *h1 = crpc_h1_of(exchange);
    crpc_h1_output *output = &h1->output;
    if (answer_is_over(h1)) return CRPC_ERROR_CLOSED;
    if (h1->answer == CRPC_H1_ANSWER_IDLE || !crpc_exchange_may_send_all(trailers, trailers_length))
        return CRPC_ERROR_ARGUMENT;
    if (output->has_body && output->left > 0) return answer_fail(h1, CRPC_ERROR_ARGUMENT);
    if (output->is_chunked && answer_put_end(h1, trailers, trailers_length) != CRPC_OK)
        return answer_fail(h1, CRPC_ERROR_MEMORY);
    crpc_h1_count_held(h1);
    crpc_h1_set_answer(h1, CRPC_H1_ANSWER_FINISHED);
    crpc_h1_mark(h1);
    return CRPC_OK;
}

static int answer_consume(crpc_exchange *exchange, size_t length, bool keeps) {
    crpc_h1 *h1 = crpc_h1_of(exchange);
    if (h1->answer == CRPC_H1_ANSWER_NONE) return CRPC_OK;
    if (length > h1->request.unread_bytes) length = h1->request.unread_bytes;
    h1->request.unread_bytes -= length;
    if (keeps) h1->request.kept_bytes += length;
    crpc_h1_count_held(h1);
    crpc_h1_mark(h1); // what is below may read on
    bool is_too_much = h1->held_bytes > crpc_service_held_max(h1->service, h1->limits.buffered_bytes_max);
    return keeps && is_too_much ? CRPC_ERROR_LIMIT : CRPC_OK;
}

static void answer_release(crpc_exchange *exchange, size_t length) {
    crpc_h1 *h1 = crpc_h1_of(exchange);
    if (h1->answer == CRPC_H1_ANSWER_NONE) return;
    h1->request.kept_bytes -= length < h1->request.kept_bytes ? length : h1->request.kept_bytes;
    crpc_h1_count_held(h1);
}

static int answer_set_deadline(crpc_exchange *exchange, uint64_t deadline_ns) {
    crpc_h1 *h1 = crpc_h1_of(exchange);
    if (h1->answer == CRPC_H1_ANSWER_NONE) return CRPC_OK;
    bool is_next = deadline_ns != 0 && deadline_ns < h1->next_ns;
    crpc_h1_set_due(h1, CRPC_H1_DUE_DEADLINE, deadline_ns);
    if (is_next) crpc_h1_mark(h1); // what is below has to know
    return CRPC_OK;
}

static void answer_set_last(crpc_exchange *exchange) {
    crpc_h1 *h1 = crpc_h1_of(exchange);
    if (h1->answer == CRPC_H1_ANSWER_IDLE) h1->request.keeps_alive = false;
}

static void answer_set_body_deadline(crpc_exchange *exchange, uint64_t deadline_ns) {
    crpc_h1 *h1 = crpc_h1_of(exchange);
    if (h1->answer == CRPC_H1_ANSWER_NONE || h1->coming != CRPC_H1_BODY) return;
    crpc_h1_set_due(h1, CRPC_H1_DUE_BODY, deadline_ns);
    crpc_h1_mark(h1); // what is below has to know
}

static void answer_reset(crpc_exchange *exchange) {
    crpc_h1 *h1 = crpc_h1_of(exchange);
    if (h1->answer != CRPC_H1_ANSWER_NONE) crpc_h1_break(h1, CRPC_ERROR_CLOSED);
}

const crpc_exchange_table crpc_h1_exchange_table = {
    .respond = answer_respond,
    .send_head = answer_send_head,
    .send = answer_send,
    .is_writable = answer_is_writable,
    .finish = answer_finish,
    .consume = answer_consume,
    .release = answer_release,
    .set_deadline = answer_set_deadline,
    .set_last = answer_set_last,
    .set_body_deadline = answer_set_body_deadline,
    .reset = answer_reset,
};
