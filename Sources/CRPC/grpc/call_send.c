#include "crpc_gzip.h"
#include "grpc/call.h"
#include "grpc/header_names.h"
#include "grpc/held_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is sent: heads, messages, trailers.

int crpc_call_append_fields(
    crpc_sent_field *entries, size_t *count, const uint8_t *fields, size_t length, size_t used, bool is_checked) {
    size_t offset = 0;
    crpc_entry entry;
    while (crpc_metadata_next(fields, length, &offset, &entry)) {
        used += entry.name_length + entry.value_length + CRPC_ENTRY_COST;
        if (*count == CRPC_ENTRIES_MAX || used > CRPC_METADATA_SENT_MAX) return CRPC_ERROR_ARGUMENT;
        if (!is_checked && !crpc_metadata_is_sendable(&entry)) return CRPC_ERROR_ARGUMENT;
        entries[*count] = crpc_field_of(entry.name, entry.name_length, entry.value, entry.value_length);
        *count += 1;
    }
    return offset == length ? CRPC_OK : CRPC_ERROR_ARGUMENT;
}

// ---- Heads ----

static const crpc_sent_field send_gzip_encoding = CRPC_CONSTANT_FIELD("grpc-encoding", "gzip");

static int send_response(
    crpc_stream *stream, const uint8_t *metadata, size_t metadata_length, bool is_checked, bool is_only_trailers) {
    static const crpc_sent_field head[] = {
        CRPC_CONSTANT_FIELD(":status", "200"),
        CRPC_CONSTANT_FIELD("content-type", "application/grpc"),
    };
    crpc_sent_field entries[CRPC_ENTRIES_MAX]; // kilobytes, of which most calls use a few bytes: not filled with zeros
    size_t count = sizeof head / sizeof head[0];
    memcpy(entries, head, sizeof head);
    if (stream->out.sends_gzip) entries[count++] = send_gzip_encoding;
    int error = crpc_call_append_fields(entries, &count, metadata, metadata_length, 0, is_checked);
    if (error != CRPC_OK) return error;
    error = crpc_session_answer(&stream->h2, entries, count, !is_only_trailers);
    crpc_h2_mark(stream->h2.h2);
    return error;
}

int crpc_stream_send_headers(crpc_stream *stream, const uint8_t *metadata, size_t metadata_length) {
    if (stream->h2.local.state != CRPC_LOCAL_IDLE) return CRPC_ERROR_CLOSED;
    int error = send_response(stream, metadata, metadata_length, false, false);
    if (error == CRPC_OK) crpc_h2_stream_set_local(&stream->h2, CRPC_LOCAL_OPEN);
    return error;
}

int crpc_stream_set_gzip(crpc_stream *stream) {
    if (stream->h2.local.state != CRPC_LOCAL_IDLE) return CRPC_ERROR_CLOSED;
    if (!stream->head.accepts_gzip) return CRPC_ERROR_ARGUMENT;
    stream->out.sends_gzip = true;
    return CRPC_OK;
}

// ---- Messages ----

/// Puts the compressed message in the place of one, if it is shorter.
static int send_deflate(void **memory, size_t *length, bool *is_compressed) {
    uint8_t *shorter = NULL;
    size_t shorter_length = 0;
    int error = crpc_gzip_deflate((uint8_t *)*memory + CRPC_PREFIX_LENGTH, *length, &shorter, &shorter_length);
    *is_compressed = shorter != NULL;
    if (shorter == NULL) return error;
    free(*memory);
    *memory = shorter;
    *length = shorter_length;
    return CRPC_OK;
}

/// Ends a server's call whose message is not held.
static int send_end_at_limit(crpc_stream *stream) {
    const crpc_connection *connection = crpc_call_connection(stream);
    if (connection->h2.is_server)
        connection->role->refuse_message(
            stream, CRPC_STATUS_RESOURCE_EXHAUSTED, "too many bytes are held for the client");
    return CRPC_ERROR_LIMIT;
}

/// Puts a message behind what is queued. Its memory is taken over.
static void send_queue(crpc_stream *stream, crpc_outgoing *outgoing, void *memory, size_t offset, size_t length) {
    *outgoing = (crpc_outgoing){.memory = memory, .length = offset + length, .sent = offset};
    if (stream->out.last == NULL) {
        stream->out.first = outgoing;
    } else {
        stream->out.last->next = outgoing;
    }
    stream->out.last = outgoing;
    if (stream->out.queued_bytes == 0) stream->out.moved_ns = crpc_call_now_ns(stream);
    stream->out.queued_bytes += length;
    // The first costs nothing beside its bytes: most calls send no other.
    size_t overhead = outgoing == &stream->inline_outgoing ? 0 : CRPC_MESSAGE_OVERHEAD;
    crpc_hold(crpc_call_connection(stream), length + overhead);
    if (stream->out.queued_bytes > CRPC_STREAM_HIGH_WATER) stream->out.was_full = true;
}

/// Room to queue one message. NULL without memory.
static crpc_outgoing *send_new_outgoing(crpc_stream *stream) {
    if (stream->out.is_inline_used) return malloc(sizeof(crpc_outgoing));
    stream->out.is_inline_used = true;
    return &stream->inline_outgoing;
}

int crpc_call_queue(crpc_stream *stream, void *memory, size_t offset, size_t length) {
    crpc_outgoing *outgoing = send_new_outgoing(stream);
    if (outgoing == NULL) {
        free(memory);
        return CRPC_ERROR_MEMORY;
    }
    send_queue(stream, outgoing, memory, offset, length);
    crpc_h2_stream_resume(&stream->h2);
    return CRPC_OK;
}

int crpc_stream_send_message(crpc_stream *stream, void *memory, size_t length, bool compressed) {
    int error = crpc_h2_stream_is_finished(&stream->h2) ? CRPC_ERROR_CLOSED : CRPC_OK;
    bool is_over = length > UINT32_MAX || crpc_holds_too_much(crpc_call_connection(stream));
    if (error == CRPC_OK && is_over) error = send_end_at_limit(stream);
    if (error == CRPC_OK && compressed && !stream->out.sends_gzip) error = CRPC_ERROR_ARGUMENT;
    if (error == CRPC_OK && compressed) error = send_deflate(&memory, &length, &compressed);
    bool needs_head = stream->h2.local.state == CRPC_LOCAL_IDLE;
    if (error == CRPC_OK && needs_head) error = crpc_stream_send_headers(stream, NULL, 0);
    crpc_outgoing *outgoing = error == CRPC_OK ? send_new_outgoing(stream) : NULL;
    if (error == CRPC_OK && outgoing == NULL) error = CRPC_ERROR_MEMORY;
    if (error != CRPC_OK) {
        free(memory);
        return error;
    }
    crpc_prefix_write(memory, compressed, (uint32_t)length);
    send_queue(stream, outgoing, memory, 0, length + CRPC_PREFIX_LENGTH);
    crpc_h2_stream_resume(&stream->h2);
    return CRPC_OK;
}

bool crpc_stream_is_writable(const crpc_stream *stream) {
    return !crpc_h2_stream_is_finished(&stream->h2) && !stream->out.was_full;
}

// ---- Trailers ----

/// Base64 of RFC 4648 section 4 without padding, as gRPC asks of `-bin` values.
static size_t send_base64(const uint8_t *bytes, size_t length, uint8_t *target) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t count = 0;
    uint32_t bits = 0;
    int bit_count = 0;
    for (size_t i = 0; i < length; i++) {
        bits = bits << 8 | bytes[i];
        bit_count += 8;
        while (bit_count >= 6) {
            bit_count -= 6;
            target[count++] = (uint8_t)alphabet[bits >> bit_count & 63];
        }
    }
    if (bit_count > 0) target[count++] = (uint8_t)alphabet[bits << (6 - bit_count) & 63];
    return count;
}

/// Trailers being packed. `room` is what is left of CRPC_TRAILERS_MAX and of the entries that go into one block.
typedef struct packing {
    uint8_t *target;
    size_t length, room, entries;
} packing;

/// Packs an entry, or leaves it out if it does not fit.
static void send_pack(packing *packing, const crpc_entry *entry) {
    size_t cost = entry->name_length + entry->value_length + CRPC_ENTRY_COST;
    if (cost > packing->room || packing->entries == 0) return;
    packing->room -= cost;
    packing->entries -= 1;
    packing->length += crpc_metadata_put(packing->target + packing->length, entry);
}

static void send_pack_named(packing *packing, const char *name, const void *value, size_t value_length) {
    crpc_entry entry = {
        .name = (const uint8_t *)name, .name_length = strlen(name), .value = value, .value_length = value_length};
    send_pack(packing, &entry);
}

/// The length of a message that is not over the maximum, and not cut inside a character of UTF-8.
static size_t send_cut(const uint8_t *message, size_t length) {
    if (length <= CRPC_STATUS_MESSAGE_MAX) return length;
    size_t end = CRPC_STATUS_MESSAGE_MAX;
    while (end > CRPC_STATUS_MESSAGE_MAX - 3 && (message[end] & 0xc0) == 0x80) end -= 1;
    return (message[end] & 0xc0) == 0x80 ? CRPC_STATUS_MESSAGE_MAX : end; // the latter if it is no UTF-8
}

/// Packs a status and metadata into the stream's trailers. What does not fit is left out, so that the status itself
/// always arrives.
static int send_pack_trailers(crpc_stream *stream, const crpc_status *status) {
    enum { HEAD_ENTRIES = 2, HEAD_COST = 7 + 3 + 12 + 16 + HEAD_ENTRIES * CRPC_ENTRY_COST }; // where there was none yet
    size_t message_length = send_cut(status->message, status->message_length);
    size_t details_length = status->details_length > CRPC_TRAILERS_MAX ? 0 : status->details_length;
    uint8_t *encoded = malloc(message_length * 3 + details_length * 2 + 1);
    // What does not fit is left out, and an entry costs more than it takes.
    size_t capacity = 128 + message_length * 3 + details_length * 2 + status->metadata_length;
    uint8_t *trailers = malloc(capacity < CRPC_TRAILERS_MAX ? capacity : CRPC_TRAILERS_MAX);
    if (encoded == NULL || trailers == NULL) {
        free(encoded);
        free(trailers);
        return CRPC_ERROR_MEMORY;
    }
    packing packing = {
        .target = trailers, .room = CRPC_TRAILERS_MAX - HEAD_COST, .entries = CRPC_ENTRIES_MAX - HEAD_ENTRIES};
    char code[12];
    (void)snprintf(code, sizeof code, "%d", status->code);
    send_pack_named(&packing, "grpc-status", code, strlen(code));
    // What we take, where the peer asked for what we don't (gRPC, "Compression").
    if (stream->outcome.is_refused && stream->head.encoding == CRPC_ENCODING_UNKNOWN)
        send_pack_named(&packing, "grpc-accept-encoding", "gzip", 4);
    if (message_length > 0)
        send_pack_named(&packing, "grpc-message", encoded, crpc_percent_encode(status->message, message_length, encoded));
    if (details_length > 0)
        send_pack_named(&packing, "grpc-status-details-bin", encoded, send_base64(status->details, details_length, encoded));
    free(encoded);
    size_t offset = 0;
    crpc_entry entry;
    while (crpc_metadata_next(status->metadata, status->metadata_length, &offset, &entry))
        if (crpc_metadata_is_sendable(&entry)) send_pack(&packing, &entry);
    stream->out.trailers = trailers;
    stream->out.trailers_length = packing.length;
    return CRPC_OK;
}

int crpc_stream_finish(crpc_stream *stream, const crpc_status *status) {
    if (crpc_h2_stream_is_finished(&stream->h2)) return CRPC_ERROR_CLOSED;
    bool has_head = stream->h2.local.state == CRPC_LOCAL_OPEN;
    bool is_plain_ok = status->code == CRPC_STATUS_OK && status->message_length == 0 && status->details_length == 0 &&
                       status->metadata_length == 0;
    int error = is_plain_ok && has_head ? CRPC_OK : send_pack_trailers(stream, status);
    if (error == CRPC_OK) {
        crpc_h2_stream_set_local(&stream->h2, CRPC_LOCAL_FINISHED);
        stream->outcome.grpc_status = status->code;
        stream->out.moved_ns = crpc_call_now_ns(stream);
        if (has_head) {
            crpc_h2_stream_resume(&stream->h2);
        } else {
            error = send_response(stream, stream->out.trailers, stream->out.trailers_length, true, true);
        }
    }
    if (error != CRPC_OK) crpc_stream_reset(stream, CRPC_H2_INTERNAL_ERROR);
    return error;
}

static int send_trailers(crpc_stream *stream) {
    static const crpc_sent_field ok = CRPC_CONSTANT_FIELD("grpc-status", "0");
    if (stream->out.trailers == NULL) return crpc_session_trailers(&stream->h2, &ok, 1);
    crpc_sent_field entries[CRPC_ENTRIES_MAX];
    size_t count = 0;
    // Trailers are packed so that they fit.
    (void)crpc_call_append_fields(entries, &count, stream->out.trailers, stream->out.trailers_length, 0, true);
    return crpc_session_trailers(&stream->h2, entries, count);
}

// ---- Bodies ----

/// Moves queued bytes into a DATA frame.
static size_t send_take_queued(crpc_stream *stream, uint8_t *target, size_t room) {
    crpc_connection *connection = crpc_call_connection(stream);
    size_t count = 0;
    while (stream->out.first != NULL && count < room) {
        crpc_outgoing *outgoing = stream->out.first;
        size_t left = outgoing->length - outgoing->sent, most = room - count;
        size_t taken = left < most ? left : most;
        memcpy(target + count, outgoing->memory + outgoing->sent, taken);
        outgoing->sent += taken;
        count += taken;
        if (outgoing->sent < outgoing->length) break;
        stream->out.first = outgoing->next;
        if (stream->out.first == NULL) stream->out.last = NULL;
        free(outgoing->memory);
        outgoing->memory = NULL;
        if (outgoing != &stream->inline_outgoing) {
            crpc_let_go(connection, CRPC_MESSAGE_OVERHEAD);
            free(outgoing);
        } else {
            stream->out.is_inline_used = false;
        }
    }
    stream->out.queued_bytes -= count;
    crpc_let_go(connection, count);
    stream->out.moved_bytes += count;
    if (stream->out.moved_bytes >= CRPC_STREAM_PROGRESS_MIN || stream->out.queued_bytes == 0) {
        stream->out.moved_bytes = 0;
        stream->out.moved_ns = crpc_call_now_ns(stream);
    }
    return count;
}

size_t crpc_call_on_body(crpc_h2_stream *h2_stream, uint8_t *target, size_t room, crpc_body *next) {
    crpc_stream *stream = crpc_stream_of(h2_stream);
    crpc_connection *connection = crpc_call_connection(stream);
    size_t count = send_take_queued(stream, target, room);
    if (stream->out.was_full && stream->out.queued_bytes < CRPC_STREAM_LOW_WATER) {
        stream->out.was_full = false;
        stream->out.owes_writable = connection->told.owes_writable = true;
    }
    if (stream->out.first != NULL) return count;
    if (!crpc_h2_stream_is_finished(h2_stream)) {
        if (count == 0) *next = CRPC_BODY_WAITS;
    } else if (stream->out.is_plain || !connection->h2.is_server) {
        *next = CRPC_BODY_ENDS;
    } else {
        *next = send_trailers(stream) == CRPC_OK ? CRPC_BODY_TRAILERS : CRPC_BODY_FAILED;
    }
    return count;
}

void crpc_call_answer_plain(crpc_stream *stream, const char *http_status, const char *text) {
    size_t length = strlen(text);
    // The answer to HEAD says the length of what another method would get, without it (RFC 9110 section 9.3.2).
    bool has_body = !stream->head.is_head;
    uint8_t *body = has_body ? malloc(length) : NULL;
    if (has_body && body == NULL) {
        crpc_stream_reset(stream, CRPC_H2_INTERNAL_ERROR);
        return;
    }
    if (has_body) {
        memcpy(body, text, length);
        send_queue(stream, send_new_outgoing(stream), body, 0, length);
    }
    char length_text[24];
    (void)snprintf(length_text, sizeof length_text, "%zu", length);
    crpc_sent_field entries[] = {
        crpc_field_of(":status", 7, http_status, strlen(http_status)),
        CRPC_CONSTANT_FIELD("content-type", "text/plain; charset=utf-8"),
        crpc_field_of("content-length", 14, length_text, strlen(length_text)),
        CRPC_CONSTANT_FIELD("allow", "POST"),
    };
    bool needs_allow = strcmp(http_status, "405") == 0; // RFC 9110 section 15.5.6
    stream->out.is_plain = true;
    if (crpc_session_answer(&stream->h2, entries, needs_allow ? 4 : 3, has_body) != CRPC_OK) {
        crpc_stream_reset(stream, CRPC_H2_INTERNAL_ERROR);
        return;
    }
    crpc_h2_stream_set_local(&stream->h2, CRPC_LOCAL_FINISHED);
    stream->outcome.grpc_status =
        crpc_status_from_http(crpc_status_parse((const uint8_t *)http_status, strlen(http_status)));
    crpc_h2_mark(stream->h2.h2);
}

// ---- Client: requests ----

/// Keeps values that don't repeat out of HPACK's table; but for the first one of each, which brings the name there.
static void send_note_unrepeated(crpc_connection *connection, crpc_sent_field *entries, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint8_t bit = crpc_unrepeated_field(entries[i].name, entries[i].name_length);
        if (connection->unrepeated_sent & bit) entries[i].flags |= CRPC_FIELD_UNIQUE;
        connection->unrepeated_sent |= bit;
    }
}

/// Whether a timeout is another one than that of the call before, and not the first. What is left of a deadline differs with each call, and
/// is no more kept than other values that don't repeat; a client that gives each call the same time sends the same text.
static bool send_is_other_timeout(crpc_connection *connection, const uint8_t *text, size_t length) {
    size_t last = connection->last_timeout_length;
    bool is_same = last == length && memcmp(connection->last_timeout, text, length) == 0;
    memcpy(connection->last_timeout, text, length);
    connection->last_timeout_length = length;
    return last > 0 && !is_same;
}

/// Opens a stream with a head. Errors: MEMORY, CLOSED; then there is none.
static int send_request(
    crpc_connection *connection, const crpc_sent_field *entries, size_t count, uint64_t deadline_ns, bool sends_gzip,
    crpc_stream **result) {
    crpc_h2_stream *h2_stream = crpc_h2_stream_begin(&connection->h2, -1);
    if (h2_stream == NULL) return CRPC_ERROR_MEMORY;
    crpc_stream *stream = crpc_stream_of(h2_stream);
    stream->deadline_ns = deadline_ns;
    stream->out.sends_gzip = sends_gzip;
    int error = deadline_ns != 0 ? crpc_call_set_deadline(stream, deadline_ns) : CRPC_OK;
    if (error == CRPC_OK) error = crpc_session_request(h2_stream, entries, count);
    if (error != CRPC_OK) {
        crpc_h2_stream_end(h2_stream, CRPC_H2_INTERNAL_ERROR); // no callback: it has no call yet
        return error;
    }
    crpc_h2_stream_set_local(h2_stream, CRPC_LOCAL_OPEN);
    *result = stream;
    return CRPC_OK;
}

int crpc_stream_open(
    crpc_connection *connection, const char *path, size_t path_length, uint64_t deadline_ns, bool sends_gzip,
    const uint8_t *metadata, size_t metadata_length, void *call, crpc_stream **result) {
    if (connection->h2.state != CRPC_H2_OPEN) return CRPC_ERROR_CLOSED;
    static const crpc_sent_field https = CRPC_CONSTANT_FIELD(":scheme", "https");
    const crpc_sent_field head[] = {
        CRPC_CONSTANT_FIELD(":method", "POST"),
        CRPC_CONSTANT_FIELD(":scheme", "http"),
        crpc_named_field(":path", path, path_length),
        crpc_named_field(":authority", connection->authority, connection->authority_length),
        CRPC_CONSTANT_FIELD("te", "trailers"),
        CRPC_CONSTANT_FIELD("content-type", "application/grpc"),
        CRPC_CONSTANT_FIELD("grpc-accept-encoding", "gzip"),
        CRPC_CONSTANT_FIELD("user-agent", "grpc-vestibule/1"),
    };
    crpc_sent_field entries[CRPC_ENTRIES_MAX];
    size_t count = sizeof head / sizeof head[0];
    memcpy(entries, head, sizeof head);
    if (connection->is_encrypted) entries[1] = https;
    if (sends_gzip) entries[count++] = send_gzip_encoding;
    uint8_t timeout[CRPC_TIMEOUT_LENGTH_MAX];
    if (deadline_ns != 0) {
        uint64_t now = connection->h2.turn->now_ns;
        size_t length = crpc_timeout_format(deadline_ns > now ? deadline_ns - now : 1, timeout);
        entries[count] = crpc_named_field("grpc-timeout", timeout, length);
        if (send_is_other_timeout(connection, timeout, length)) entries[count].flags |= CRPC_FIELD_UNIQUE;
        count += 1;
    }
    if (path_length > CRPC_METADATA_SENT_MAX) return CRPC_ERROR_ARGUMENT;
    int error = crpc_call_append_fields(entries, &count, metadata, metadata_length, path_length, false);
    if (error == CRPC_OK) send_note_unrepeated(connection, entries, count);
    crpc_stream *stream;
    if (error == CRPC_OK) error = send_request(connection, entries, count, deadline_ns, sends_gzip, &stream);
    if (error != CRPC_OK) return error;
    stream->call = call;
    crpc_h2_mark(&connection->h2);
    *result = stream;
    return CRPC_OK;
}

int crpc_stream_half_close(crpc_stream *stream) {
    if (crpc_h2_stream_is_finished(&stream->h2)) return CRPC_ERROR_CLOSED;
    crpc_h2_stream_set_local(&stream->h2, CRPC_LOCAL_FINISHED);
    crpc_h2_stream_resume(&stream->h2);
    return CRPC_OK;
}
