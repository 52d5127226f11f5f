#include "internal.h"

#include <stdio.h>

// What is sent: heads, messages, trailers.

/// Entries of one header block, the protocol's own among them.
enum { ENTRIES_MAX = 128 };

#define STATIC_ENTRY(name, value) \
    {(uint8_t *)(name), (uint8_t *)(value), sizeof(name) - 1, sizeof(value) - 1, \
     NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE}

/// An entry whose name and value nghttp2 copies. nghttp2's type is not const, but it only reads.
static nghttp2_nv entry_of(const void *name, size_t name_length, const void *value, size_t value_length) {
    union {
        const void *in;
        uint8_t *out;
    } n = {.in = name}, v = {.in = value};
    return (nghttp2_nv){n.out, v.out, name_length, value_length, NGHTTP2_NV_FLAG_NONE};
}

/// Appends metadata. ARGUMENT if it has an entry that may not be sent, or too much: nghttp2 would not send such a head,
/// and the peer would wait for it. `used` counts what has been taken of the maximum.
static int append_metadata(
    nghttp2_nv *entries, size_t *count, const uint8_t *metadata, size_t length, size_t used, bool is_checked) {
    size_t offset = 0;
    crpc_entry entry;
    while (crpc_metadata_next(metadata, length, &offset, &entry)) {
        used += entry.name_length + entry.value_length + CRPC_ENTRY_COST;
        if (*count == ENTRIES_MAX || used > CRPC_METADATA_SENT_MAX) return CRPC_ERROR_ARGUMENT;
        if (!is_checked && !crpc_metadata_is_sendable(&entry)) return CRPC_ERROR_ARGUMENT;
        entries[*count] = entry_of(entry.name, entry.name_length, entry.value, entry.value_length);
        *count += 1;
    }
    return offset == length ? CRPC_OK : CRPC_ERROR_ARGUMENT;
}

// ---- Heads ----

static const nghttp2_nv gzip_encoding = STATIC_ENTRY("grpc-encoding", "gzip");

static int submit_response(
    crpc_stream *stream, const uint8_t *metadata, size_t metadata_length, bool is_checked, bool is_only_trailers) {
    static const nghttp2_nv head[] = {
        STATIC_ENTRY(":status", "200"),
        STATIC_ENTRY("content-type", "application/grpc"),
    };
    nghttp2_nv entries[ENTRIES_MAX]; // kilobytes, of which most calls use a few bytes: not filled with zeros
    size_t count = sizeof head / sizeof head[0];
    memcpy(entries, head, sizeof head);
    if (stream->sends_gzip) entries[count++] = gzip_encoding;
    int error = append_metadata(entries, &count, metadata, metadata_length, 0, is_checked);
    if (error != CRPC_OK) return error;
    nghttp2_data_provider provider = {.source = {.ptr = stream}, .read_callback = crpc_stream_read_data};
    crpc_connection *connection = stream->connection;
    if (nghttp2_submit_response(
            connection->session, stream->id, entries, count, is_only_trailers ? NULL : &provider) != 0)
        return CRPC_ERROR_MEMORY;
    stream->is_submitted = true;
    crpc_connection_mark(connection);
    return CRPC_OK;
}

int crpc_stream_send_headers(crpc_stream *stream, const uint8_t *metadata, size_t metadata_length) {
    if (stream->is_finished || stream->is_submitted) return CRPC_ERROR_CLOSED;
    return submit_response(stream, metadata, metadata_length, false, false);
}

int crpc_stream_set_gzip(crpc_stream *stream) {
    if (stream->is_finished || stream->is_submitted) return CRPC_ERROR_CLOSED;
    if (!stream->accepts_gzip) return CRPC_ERROR_ARGUMENT;
    stream->sends_gzip = true;
    return CRPC_OK;
}

// ---- Messages ----

static void resume(crpc_stream *stream) {
    crpc_connection *connection = stream->connection;
    if (stream->is_data_deferred) {
        stream->is_data_deferred = false;
        // It fails only for a stream that is gone already.
        (void)nghttp2_session_resume_data(connection->session, stream->id);
    }
    crpc_connection_mark(connection);
}

/// Puts the compressed message in the place of one, if it is shorter.
static int deflate_message(void **memory, size_t *length, bool *is_compressed) {
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
static int end_at_limit(crpc_stream *stream) {
    static const char text[] = "too many bytes are held for the client";
    crpc_status status = {
        .code = CRPC_STATUS_RESOURCE_EXHAUSTED, .message = (const uint8_t *)text, .message_length = sizeof text - 1};
    stream->is_cut_short = true;
    // If it cannot be said, the stream is reset.
    if (stream->connection->listener != NULL) (void)crpc_stream_finish(stream, &status);
    return CRPC_ERROR_LIMIT;
}

int crpc_stream_send_message(crpc_stream *stream, void *memory, size_t length, bool compressed) {
    int error = stream->is_finished ? CRPC_ERROR_CLOSED : CRPC_OK;
    bool is_over = length > UINT32_MAX || crpc_holds_too_much(stream->connection);
    if (error == CRPC_OK && is_over) error = end_at_limit(stream);
    if (error == CRPC_OK && compressed && !stream->sends_gzip) error = CRPC_ERROR_ARGUMENT;
    if (error == CRPC_OK && compressed) error = deflate_message(&memory, &length, &compressed);
    if (error == CRPC_OK && !stream->is_submitted) error = crpc_stream_send_headers(stream, NULL, 0);
    crpc_outgoing *outgoing = NULL;
    if (error == CRPC_OK) {
        if (!stream->is_inline_used) {
            outgoing = &stream->inline_outgoing;
            stream->is_inline_used = true;
        } else {
            outgoing = malloc(sizeof *outgoing);
            if (outgoing == NULL) error = CRPC_ERROR_MEMORY;
        }
    }
    if (error != CRPC_OK) {
        free(memory);
        return error;
    }
    crpc_prefix_write(memory, compressed, (uint32_t)length);
    *outgoing = (crpc_outgoing){.memory = memory, .length = length + CRPC_PREFIX_LENGTH};
    if (stream->last == NULL) {
        stream->first = outgoing;
    } else {
        stream->last->next = outgoing;
    }
    stream->last = outgoing;
    if (stream->queued_bytes == 0) stream->moved_ns = stream->connection->loop->now_ns;
    stream->queued_bytes += outgoing->length;
    // The first costs nothing beside its bytes: most calls send no other.
    crpc_hold(stream->connection, outgoing->length + (outgoing == &stream->inline_outgoing ? 0 : CRPC_MESSAGE_OVERHEAD));
    if (stream->queued_bytes > CRPC_STREAM_HIGH_WATER) stream->was_full = true;
    resume(stream);
    return CRPC_OK;
}

bool crpc_stream_is_writable(const crpc_stream *stream) {
    return !stream->is_finished && !stream->was_full;
}

// ---- Trailers ----

/// Base64 of RFC 4648 section 4 without padding, as gRPC asks of `-bin` values.
static size_t base64(const uint8_t *bytes, size_t length, uint8_t *target) {
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
static void pack(packing *packing, const crpc_entry *entry) {
    size_t cost = entry->name_length + entry->value_length + CRPC_ENTRY_COST;
    if (cost > packing->room || packing->entries == 0) return;
    packing->room -= cost;
    packing->entries -= 1;
    packing->length += crpc_metadata_put(packing->target + packing->length, entry);
}

static void pack_named(packing *packing, const char *name, const void *value, size_t value_length) {
    crpc_entry entry = {
        .name = (const uint8_t *)name, .name_length = strlen(name), .value = value, .value_length = value_length};
    pack(packing, &entry);
}

/// The length of a message that is not over the maximum, and not cut inside a character of UTF-8.
static size_t cut(const uint8_t *message, size_t length) {
    if (length <= CRPC_STATUS_MESSAGE_MAX) return length;
    size_t end = CRPC_STATUS_MESSAGE_MAX;
    while (end > CRPC_STATUS_MESSAGE_MAX - 3 && (message[end] & 0xc0) == 0x80) end -= 1;
    return (message[end] & 0xc0) == 0x80 ? CRPC_STATUS_MESSAGE_MAX : end; // the latter if it is no UTF-8
}

/// Packs a status and metadata into the stream's trailers. What does not fit is left out, so that the status itself
/// always arrives.
static int pack_trailers(crpc_stream *stream, const crpc_status *status) {
    enum { HEAD_ENTRIES = 2, HEAD_COST = 7 + 3 + 12 + 16 + HEAD_ENTRIES * CRPC_ENTRY_COST }; // where there was none yet
    size_t message_length = cut(status->message, status->message_length);
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
        .target = trailers, .room = CRPC_TRAILERS_MAX - HEAD_COST, .entries = ENTRIES_MAX - HEAD_ENTRIES};
    char code[12];
    (void)snprintf(code, sizeof code, "%d", status->code);
    pack_named(&packing, "grpc-status", code, strlen(code));
    // What we take, where the peer asked for what we don't (gRPC, "Compression").
    if (stream->is_refused && stream->encoding == CRPC_ENCODING_UNKNOWN)
        pack_named(&packing, "grpc-accept-encoding", "gzip", 4);
    if (message_length > 0)
        pack_named(&packing, "grpc-message", encoded, crpc_percent_encode(status->message, message_length, encoded));
    if (details_length > 0)
        pack_named(&packing, "grpc-status-details-bin", encoded, base64(status->details, details_length, encoded));
    free(encoded);
    size_t offset = 0;
    crpc_entry entry;
    while (crpc_metadata_next(status->metadata, status->metadata_length, &offset, &entry))
        if (crpc_metadata_is_sendable(&entry)) pack(&packing, &entry);
    stream->trailers = trailers;
    stream->trailers_length = packing.length;
    return CRPC_OK;
}

int crpc_stream_finish(crpc_stream *stream, const crpc_status *status) {
    if (stream->is_finished) return CRPC_ERROR_CLOSED;
    bool is_plain_ok = status->code == 0 && status->message_length == 0 && status->details_length == 0 &&
                       status->metadata_length == 0;
    int error = is_plain_ok && stream->is_submitted ? CRPC_OK : pack_trailers(stream, status);
    if (error == CRPC_OK) {
        stream->is_finished = true;
        stream->grpc_status = status->code;
        stream->moved_ns = stream->connection->loop->now_ns;
        if (!stream->is_submitted) {
            error = submit_response(stream, stream->trailers, stream->trailers_length, true, true);
        } else {
            resume(stream);
        }
    }
    if (error != CRPC_OK) crpc_stream_reset(stream, NGHTTP2_INTERNAL_ERROR);
    return error;
}

static int submit_trailers(crpc_stream *stream) {
    static const nghttp2_nv ok = STATIC_ENTRY("grpc-status", "0");
    nghttp2_session *session = stream->connection->session;
    if (stream->trailers == NULL) return nghttp2_submit_trailer(session, stream->id, &ok, 1) == 0 ? 0 : -1;
    nghttp2_nv entries[ENTRIES_MAX];
    size_t count = 0;
    // Trailers are packed so that they fit.
    (void)append_metadata(entries, &count, stream->trailers, stream->trailers_length, 0, true);
    return nghttp2_submit_trailer(session, stream->id, entries, count) == 0 ? 0 : -1;
}

/// Moves queued bytes into a DATA frame.
static size_t take_queued(crpc_stream *stream, uint8_t *target, size_t length) {
    size_t count = 0;
    while (stream->first != NULL && count < length) {
        crpc_outgoing *outgoing = stream->first;
        size_t left = outgoing->length - outgoing->sent, room = length - count;
        size_t taken = left < room ? left : room;
        memcpy(target + count, outgoing->memory + outgoing->sent, taken);
        outgoing->sent += taken;
        count += taken;
        if (outgoing->sent < outgoing->length) break;
        stream->first = outgoing->next;
        if (stream->first == NULL) stream->last = NULL;
        free(outgoing->memory);
        outgoing->memory = NULL;
        if (outgoing != &stream->inline_outgoing) {
            crpc_let_go(stream->connection, CRPC_MESSAGE_OVERHEAD);
            free(outgoing);
        } else {
            stream->is_inline_used = false;
        }
    }
    stream->queued_bytes -= count;
    crpc_let_go(stream->connection, count);
    stream->moved_ns = stream->connection->loop->now_ns;
    return count;
}

/// The body of an ordinary HTTP answer: it ends the stream by itself.
static ssize_t read_plain(
    nghttp2_session *session, int32_t id, uint8_t *target, size_t length, uint32_t *flags,
    nghttp2_data_source *source, void *user) {
    (void)session;
    (void)id;
    (void)user;
    crpc_stream *stream = source->ptr;
    size_t count = take_queued(stream, target, length);
    if (stream->first != NULL) return (ssize_t)count;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)count;
}

ssize_t crpc_stream_read_data(
    nghttp2_session *session, int32_t id, uint8_t *target, size_t length, uint32_t *flags,
    nghttp2_data_source *source, void *user) {
    (void)session;
    (void)id;
    crpc_connection *connection = user;
    crpc_stream *stream = source->ptr;
    size_t count = take_queued(stream, target, length);
    if (stream->was_full && stream->queued_bytes < CRPC_STREAM_LOW_WATER) {
        stream->was_full = false;
        stream->owes_writable = connection->owes_writable = true;
    }
    if (stream->first != NULL) return (ssize_t)count;
    if (stream->is_finished) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (connection->listener == NULL) return (ssize_t)count;
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        if (submit_trailers(stream) != 0) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    } else if (count == 0) {
        stream->is_data_deferred = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    return (ssize_t)count;
}

// ---- Server: answers to requests that never become calls ----

void crpc_stream_refuse(crpc_stream *stream, int code, const char *message) {
    crpc_status status = {.code = code, .message = (const uint8_t *)message, .message_length = strlen(message)};
    stream->is_refused = stream->is_cut_short = true;
    (void)crpc_stream_finish(stream, &status); // if it cannot be said, the stream is reset
}

/// Queues the body of an ordinary HTTP answer. False without memory.
static bool queue_plain(crpc_stream *stream, const char *text, size_t length) {
    uint8_t *memory = malloc(length);
    if (memory == NULL) return false;
    memcpy(memory, text, length);
    stream->inline_outgoing = (crpc_outgoing){.memory = memory, .length = length};
    stream->is_inline_used = true;
    stream->first = stream->last = &stream->inline_outgoing;
    stream->queued_bytes = length;
    crpc_hold(stream->connection, length);
    stream->moved_ns = stream->connection->loop->now_ns;
    return true;
}

void crpc_stream_refuse_http(crpc_stream *stream, const char *http_status, const char *text) {
    size_t length = strlen(text);
    // The answer to HEAD says the length of what another method would get, without it (RFC 9110 section 9.3.2).
    bool has_body = !stream->method_is_head;
    stream->is_refused = stream->is_cut_short = true;
    if (has_body && !queue_plain(stream, text, length)) {
        crpc_stream_reset(stream, NGHTTP2_INTERNAL_ERROR);
        return;
    }
    char length_text[24];
    (void)snprintf(length_text, sizeof length_text, "%zu", length);
    nghttp2_nv entries[] = {
        entry_of(":status", 7, http_status, strlen(http_status)),
        STATIC_ENTRY("content-type", "text/plain; charset=utf-8"),
        entry_of("content-length", 14, length_text, strlen(length_text)),
        STATIC_ENTRY("allow", "POST"),
    };
    bool needs_allow = strcmp(http_status, "405") == 0; // RFC 9110 section 15.5.6
    nghttp2_data_provider provider = {.source = {.ptr = stream}, .read_callback = read_plain};
    if (nghttp2_submit_response(
            stream->connection->session, stream->id, entries, needs_allow ? 4 : 3, has_body ? &provider : NULL) != 0) {
        crpc_stream_reset(stream, NGHTTP2_INTERNAL_ERROR);
        return;
    }
    stream->is_submitted = stream->is_finished = true;
    stream->grpc_status = crpc_status_from_http(crpc_status_parse((const uint8_t *)http_status, strlen(http_status)));
    crpc_connection_mark(stream->connection);
}

// ---- Client: requests ----

int crpc_stream_open(
    crpc_connection *connection, const char *path, size_t path_length, uint64_t deadline_ns, bool sends_gzip,
    const uint8_t *metadata, size_t metadata_length, void *call, crpc_stream **result) {
    if (connection->is_draining || connection->is_broken) return CRPC_ERROR_CLOSED;
    static const nghttp2_nv https = STATIC_ENTRY(":scheme", "https");
    const nghttp2_nv head[] = {
        STATIC_ENTRY(":method", "POST"),
        STATIC_ENTRY(":scheme", "http"),
        entry_of(":path", 5, path, path_length),
        entry_of(":authority", 10, connection->authority, connection->authority_length),
        STATIC_ENTRY("te", "trailers"),
        STATIC_ENTRY("content-type", "application/grpc"),
        STATIC_ENTRY("grpc-accept-encoding", "gzip"),
        STATIC_ENTRY("user-agent", "grpc-vestibule/1"),
    };
    nghttp2_nv entries[ENTRIES_MAX];
    size_t count = sizeof head / sizeof head[0];
    memcpy(entries, head, sizeof head);
    if (connection->ssl != NULL) entries[1] = https;
    if (sends_gzip) entries[count++] = gzip_encoding;
    uint8_t timeout[CRPC_TIMEOUT_LENGTH_MAX];
    if (deadline_ns != 0) {
        uint64_t now = connection->loop->now_ns;
        size_t length = crpc_timeout_format(deadline_ns > now ? deadline_ns - now : 1, timeout);
        entries[count++] = entry_of("grpc-timeout", 12, timeout, length);
    }
    if (path_length > CRPC_METADATA_SENT_MAX) return CRPC_ERROR_ARGUMENT;
    int error = append_metadata(entries, &count, metadata, metadata_length, path_length, false);
    if (error != CRPC_OK) return error;
    crpc_stream *stream = crpc_stream_take(connection, -1);
    if (stream == NULL) return CRPC_ERROR_MEMORY;
    stream->deadline_ns = deadline_ns;
    stream->sends_gzip = sends_gzip;
    if (deadline_ns != 0) error = crpc_stream_set_deadline(stream, deadline_ns);
    if (error == CRPC_OK) {
        nghttp2_data_provider provider = {.source = {.ptr = stream}, .read_callback = crpc_stream_read_data};
        stream->id = nghttp2_submit_request(connection->session, NULL, entries, count, &provider, stream);
        if (stream->id < 0) error = stream->id == NGHTTP2_ERR_NOMEM ? CRPC_ERROR_MEMORY : CRPC_ERROR_CLOSED;
    }
    if (error != CRPC_OK) {
        crpc_stream_end(stream, NGHTTP2_INTERNAL_ERROR); // no callback: it has no call yet
        return error;
    }
    stream->is_submitted = true;
    stream->call = call;
    crpc_connection_mark(connection);
    *result = stream;
    return CRPC_OK;
}

int crpc_stream_half_close(crpc_stream *stream) {
    if (stream->is_finished) return CRPC_ERROR_CLOSED;
    stream->is_finished = true;
    resume(stream);
    return CRPC_OK;
}
