#include "raw.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
enum { PREFACE_LENGTH = sizeof preface - 1, HEAD_LENGTH = 9, TEXT_MAX = 1 << 17 };

// ---- Sockets ----

static raw *make(rig *rig) {
    raw *raw = calloc(1, sizeof *raw);
    REQUIRE(raw != NULL);
    raw->rig = rig;
    raw->listener = raw->fd = -1;
    raw->buffer = malloc(RAW_BUFFER);
    REQUIRE(raw->buffer != NULL && nghttp2_hd_inflate_new(&raw->inflater) == 0);
    return raw;
}

static struct sockaddr_in loopback(uint16_t port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
}

raw *raw_connect_silently(rig *rig) {
    raw *raw = make(rig);
    raw->fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = loopback(rig->port);
    REQUIRE(raw->fd >= 0 && connect(raw->fd, (struct sockaddr *)&address, sizeof address) == 0);
    REQUIRE(fcntl(raw->fd, F_SETFL, O_NONBLOCK) == 0);
    int on = 1;
    REQUIRE(setsockopt(raw->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
    raw->has_preface = true;
    return raw;
}

raw *raw_connect(rig *rig) {
    raw *raw = raw_connect_silently(rig);
    raw_send(raw, preface, PREFACE_LENGTH);
    raw_send_frame(raw, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
    return raw;
}

raw *raw_connect_with(rig *rig, const char *text) {
    raw *raw = raw_connect_silently(rig);
    raw->is_text = true;
    if (text != NULL) raw_send(raw, text, strlen(text));
    return raw;
}

raw *raw_listen(rig *rig) {
    raw *raw = make(rig);
    raw->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    REQUIRE(raw->listener >= 0 && bind(raw->listener, (struct sockaddr *)&address, length) == 0);
    REQUIRE(listen(raw->listener, 8) == 0 && getsockname(raw->listener, (struct sockaddr *)&address, &length) == 0);
    raw->port = ntohs(address.sin_port);
    return raw;
}

void raw_accept_silently(raw *raw) {
    UNTIL(raw->rig, raw->fd >= 0 || (raw->fd = accept4(raw->listener, NULL, NULL, SOCK_NONBLOCK)) >= 0);
    int on = 1;
    REQUIRE(setsockopt(raw->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
}

void raw_accept(raw *raw) {
    raw_accept_silently(raw);
    raw_send_frame(raw, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
}

void raw_close(raw *raw, bool with_reset) {
    struct linger linger = {.l_onoff = with_reset, .l_linger = 0};
    if (raw->fd < 0) return;
    (void)setsockopt(raw->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    (void)close(raw->fd);
    raw->fd = -1;
}

void raw_free(raw *raw) {
    raw_close(raw, false);
    if (raw->listener >= 0) (void)close(raw->listener);
    nghttp2_hd_inflate_del(raw->inflater);
    for (size_t i = 0; i < raw->count; i++) free(raw->frames[i].payload);
    free(raw->buffer);
    free(raw);
}

// ---- Sending ----

void raw_send(raw *raw, const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    for (uint64_t end = now_ms() + RIG_PATIENCE_MS; length > 0 && now_ms() < end;) {
        ssize_t count = send(raw->fd, at, length, MSG_NOSIGNAL);
        if (count < 0 && (errno == EPIPE || errno == ECONNRESET)) return; // closed: the test sees it elsewhere
        REQUIRE(count > 0 || errno == EAGAIN);
        if (count > 0) {
            at += count;
            length -= (size_t)count;
        } else {
            rig_turn(raw->rig);
            (void)raw_read(raw);
        }
    }
    REQUIRE(length == 0);
}

void raw_send_frame(raw *raw, uint8_t type, uint8_t flags, int32_t id, const void *payload, size_t length) {
    uint8_t *frame = malloc(HEAD_LENGTH + length);
    REQUIRE(frame != NULL);
    uint32_t stream = (uint32_t)id;
    const uint8_t head[HEAD_LENGTH] = {
        (uint8_t)(length >> 16), (uint8_t)(length >> 8), (uint8_t)length, type, flags,
        (uint8_t)(stream >> 24), (uint8_t)(stream >> 16), (uint8_t)(stream >> 8), (uint8_t)stream};
    memcpy(frame, head, HEAD_LENGTH);
    if (length > 0) memcpy(frame + HEAD_LENGTH, payload, length);
    raw_send(raw, frame, HEAD_LENGTH + length);
    free(frame);
}

/// An integer with a 7-bit prefix (RFC 7541 section 5.1).
static size_t put_integer(uint8_t *target, size_t value) {
    if (value < 127) {
        target[0] = (uint8_t)value;
        return 1;
    }
    size_t count = 0;
    target[count++] = 127;
    for (value -= 127; value >= 128; value >>= 7) target[count++] = (uint8_t)(value | 128);
    target[count++] = (uint8_t)value;
    return count;
}

size_t raw_put_literal(uint8_t *target, const char *name, size_t name_length, const char *value, size_t value_length) {
    size_t count = 0;
    target[count++] = 0;
    count += put_integer(target + count, name_length);
    memcpy(target + count, name, name_length);
    count += name_length;
    count += put_integer(target + count, value_length);
    memcpy(target + count, value, value_length);
    return count + value_length;
}

void raw_send_headers(raw *raw, uint8_t flags, int32_t id, const raw_entry *entries, size_t count) {
    uint8_t *block = malloc(TEXT_MAX);
    REQUIRE(block != NULL);
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += raw_put_literal(
            block + length, entries[i][0], strlen(entries[i][0]), entries[i][1], strlen(entries[i][1]));
    enum { FRAME_MAX = 16384 };
    size_t first = length < FRAME_MAX ? length : FRAME_MAX;
    uint8_t end = first == length ? NGHTTP2_FLAG_END_HEADERS : 0;
    raw_send_frame(raw, NGHTTP2_HEADERS, flags | end, id, block, first);
    for (size_t at = first; at < length;) {
        size_t part = length - at < FRAME_MAX ? length - at : FRAME_MAX;
        end = at + part == length ? NGHTTP2_FLAG_END_HEADERS : 0;
        raw_send_frame(raw, NGHTTP2_CONTINUATION, end, id, block + at, part);
        at += part;
    }
    free(block);
}

void raw_send_request(raw *raw, uint8_t flags, int32_t id, const char *path, const char *name, const char *value) {
    raw_entry entries[] = {
        {":method", "POST"}, {":scheme", "http"}, {":path", path}, {":authority", "test.local"}, {"te", "trailers"},
        {"content-type", "application/grpc"}, {name, value}};
    raw_send_headers(raw, flags, id, entries, name == NULL ? 6 : 7);
}

void raw_send_data(raw *raw, uint8_t flags, int32_t id, const void *bytes, size_t length) {
    raw_send_frame(raw, NGHTTP2_DATA, flags, id, bytes, length);
}

void raw_send_message(raw *raw, uint8_t flags, int32_t id, const char *text) {
    uint8_t bytes[CRPC_PREFIX_LENGTH + RIG_TEXT_MAX];
    size_t length = strlen(text);
    REQUIRE(length <= RIG_TEXT_MAX);
    crpc_prefix_write(bytes, false, (uint32_t)length);
    memcpy(bytes + CRPC_PREFIX_LENGTH, text, length);
    raw_send_data(raw, flags, id, bytes, CRPC_PREFIX_LENGTH + length);
}

static void put_number(uint8_t *target, uint32_t number) {
    for (int i = 0; i < 4; i++) target[i] = (uint8_t)(number >> (24 - 8 * i));
}

void raw_send_reset(raw *raw, int32_t id, uint32_t error) {
    uint8_t payload[4];
    put_number(payload, error);
    raw_send_frame(raw, NGHTTP2_RST_STREAM, 0, id, payload, sizeof payload);
}

void raw_send_goaway(raw *raw, int32_t last, uint32_t error) {
    uint8_t payload[8];
    put_number(payload, (uint32_t)last);
    put_number(payload + 4, error);
    raw_send_frame(raw, NGHTTP2_GOAWAY, 0, 0, payload, sizeof payload);
}

void raw_send_window_update(raw *raw, int32_t id, uint32_t increment) {
    uint8_t payload[4];
    put_number(payload, increment);
    raw_send_frame(raw, NGHTTP2_WINDOW_UPDATE, 0, id, payload, sizeof payload);
}

// ---- Receiving ----

static size_t inflate(raw *raw, const uint8_t *block, size_t length, char *text) {
    size_t text_length = 0;
    for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
        nghttp2_nv entry;
        ssize_t count = nghttp2_hd_inflate_hd2(raw->inflater, &entry, &flags, block, length, 1);
        REQUIRE(count >= 0);
        block += count;
        length -= (size_t)count;
        if (flags & NGHTTP2_HD_INFLATE_EMIT)
            text_length += (size_t)snprintf(
                text + text_length, TEXT_MAX - text_length, "%.*s: %.*s\n", (int)entry.namelen, entry.name,
                (int)entry.valuelen, entry.value);
        REQUIRE(text_length < TEXT_MAX);
    }
    REQUIRE(nghttp2_hd_inflate_end_headers(raw->inflater) == 0);
    return text_length;
}

static void take_frame(raw *raw, const uint8_t *bytes, size_t length) {
    REQUIRE(raw->count < RAW_FRAMES_MAX);
    raw_frame *frame = &raw->frames[raw->count++];
    const uint8_t *payload = bytes + HEAD_LENGTH;
    *frame = (raw_frame){.type = bytes[3], .flags = bytes[4], .length = length};
    frame->id = (int32_t)((uint32_t)bytes[5] << 24 | (uint32_t)bytes[6] << 16 | (uint32_t)bytes[7] << 8 | bytes[8]);
    bool has_headers = frame->type == NGHTTP2_HEADERS;
    if (frame->type == NGHTTP2_SETTINGS && (frame->flags & NGHTTP2_FLAG_ACK) == 0) raw->owes_acknowledgement = true;
    frame->payload = malloc(has_headers ? TEXT_MAX : length + 1);
    REQUIRE(frame->payload != NULL);
    if (has_headers) {
        REQUIRE(frame->flags & NGHTTP2_FLAG_END_HEADERS); // neither side here sends a larger block
        size_t skipped = frame->flags & NGHTTP2_FLAG_PRIORITY ? 5 : 0;
        frame->length = inflate(raw, payload + skipped, length - skipped, (char *)frame->payload);
    } else if (length > 0) {
        memcpy(frame->payload, payload, length);
    }
}

bool raw_read(raw *raw) {
    for (;;) {
        if (raw->fd < 0 || raw->length == RAW_BUFFER) break;
        ssize_t count = recv(raw->fd, raw->buffer + raw->length, RAW_BUFFER - raw->length, 0);
        if (count == 0 || (count < 0 && errno != EAGAIN)) raw->has_ended = true;
        if (count <= 0) break;
        raw->length += (size_t)count;
    }
    if (raw->is_text) return true;
    size_t at = 0;
    if (!raw->has_preface && raw->length >= PREFACE_LENGTH) {
        EXPECT_BYTES(raw->buffer, PREFACE_LENGTH, preface, PREFACE_LENGTH);
        raw->has_preface = true;
        at = PREFACE_LENGTH;
    }
    while (raw->has_preface && raw->length - at >= HEAD_LENGTH) {
        const uint8_t *head = raw->buffer + at;
        size_t length = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        if (raw->length - at < HEAD_LENGTH + length) break;
        take_frame(raw, head, length);
        at += HEAD_LENGTH + length;
    }
    memmove(raw->buffer, raw->buffer + at, raw->length - at);
    raw->length -= at;
    if (raw->owes_acknowledgement && raw->fd >= 0 && !raw->has_ended) {
        raw->owes_acknowledgement = false;
        raw_send_frame(raw, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
    }
    return true;
}

size_t raw_count_text(raw *raw, const char *text) {
    size_t count = 0;
    (void)raw_read(raw);
    const uint8_t *at = raw->buffer, *end = raw->buffer + raw->length;
    while ((at = memmem(at, (size_t)(end - at), text, strlen(text))) != NULL) {
        count += 1;
        at += strlen(text);
    }
    return count;
}

void raw_forget(raw *raw) {
    if (raw->is_text) raw->length = 0;
    for (size_t i = 0; i < raw->count; i++) free(raw->frames[i].payload);
    raw->count = 0;
}

const raw_frame *raw_find(raw *raw, uint8_t type, int32_t id) {
    for (size_t i = 0; i < raw->count; i++)
        if (raw->frames[i].type == type && raw->frames[i].id == id) return &raw->frames[i];
    return NULL;
}

const raw_frame *raw_find_end(raw *raw, int32_t id) {
    for (size_t i = 0; i < raw->count; i++) {
        const raw_frame *frame = &raw->frames[i];
        bool can_end = frame->type == NGHTTP2_HEADERS || frame->type == NGHTTP2_DATA;
        if (frame->id == id && can_end && (frame->flags & NGHTTP2_FLAG_END_STREAM)) return frame;
    }
    return NULL;
}

bool raw_frame_has(const raw_frame *frame, const char *name, const char *value) {
    char line[1024];
    int length = snprintf(line, sizeof line, "%s: %s\n", name, value);
    return frame != NULL && memmem(frame->payload, frame->length, line, (size_t)length) != NULL;
}

uint32_t raw_error(const raw_frame *frame) {
    if (frame == NULL) return UINT32_MAX;
    const uint8_t *at = frame->payload + (frame->type == NGHTTP2_GOAWAY ? 4 : 0);
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

size_t raw_data_length(const raw *raw, int32_t id) {
    size_t length = 0;
    for (size_t i = 0; i < raw->count; i++)
        if (raw->frames[i].type == NGHTTP2_DATA && raw->frames[i].id == id) length += raw->frames[i].length;
    return length;
}
