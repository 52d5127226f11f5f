/// A peer that speaks HTTP/2 by hand: it sends frames as the test writes them, right or wrong, and keeps what comes
/// back.
#ifndef CRPC_TEST_RAW_H
#define CRPC_TEST_RAW_H

#include "rig.h"

enum { RAW_FRAMES_MAX = 8192, RAW_BUFFER = 1 << 20 };

typedef struct raw_frame {
    uint8_t type, flags;
    int32_t id;
    uint8_t *payload; // of a frame with headers: "name: value\n" for each
    size_t length;
} raw_frame;

typedef struct raw {
    rig *rig;
    int listener; // -1 for a client
    int fd;
    uint16_t port;
    nghttp2_hd_inflater *inflater;
    uint8_t *buffer;
    size_t length;
    raw_frame frames[RAW_FRAMES_MAX];
    size_t count;
    bool has_ended; // the other side closed
    bool has_preface; // server: the client's preface was taken off
    bool is_text;     // no frames come: what does is in the buffer
    bool owes_acknowledgement; // SETTINGS came
} raw;

typedef const char *raw_entry[2];

/// A client of the rig's listener, with preface and SETTINGS sent.
raw *raw_connect(rig *rig);
/// The same, with nothing sent.
raw *raw_connect_silently(rig *rig);
/// The same, for HTTP/1.x: sends a text, if any.
raw *raw_connect_with(rig *rig, const char *text);
/// Whether a text has come, and how often.
size_t raw_count_text(raw *raw, const char *text);
/// A listening socket; `raw_accept` waits for its one connection, and sends SETTINGS.
raw *raw_listen(rig *rig);
void raw_accept(raw *raw);
void raw_accept_silently(raw *raw);
void raw_free(raw *raw);
/// Closes the socket: with a FIN, or with RST.
void raw_close(raw *raw, bool with_reset);

void raw_send(raw *raw, const void *bytes, size_t length);
void raw_send_frame(raw *raw, uint8_t type, uint8_t flags, int32_t id, const void *payload, size_t length);
/// HEADERS with each entry as a literal.
void raw_send_headers(raw *raw, uint8_t flags, int32_t id, const raw_entry *entries, size_t count);
/// A gRPC request's head for a path, with up to one more entry.
void raw_send_request(raw *raw, uint8_t flags, int32_t id, const char *path, const char *name, const char *value);
void raw_send_data(raw *raw, uint8_t flags, int32_t id, const void *bytes, size_t length);
/// DATA with a whole message.
void raw_send_message(raw *raw, uint8_t flags, int32_t id, const char *text);
void raw_send_reset(raw *raw, int32_t id, uint32_t error);
void raw_send_goaway(raw *raw, int32_t last, uint32_t error);
void raw_send_window_update(raw *raw, int32_t id, uint32_t increment);

/// Writes an entry as a literal without indexing (RFC 7541 section 6.2.2); the bytes written.
size_t raw_put_literal(uint8_t *target, const char *name, size_t name_length, const char *value, size_t value_length);

/// Takes in what has come. Always true, so that it can stand in a condition.
bool raw_read(raw *raw);
/// Drops the frames that were kept.
void raw_forget(raw *raw);
/// The first frame of a type on a stream, or NULL.
const raw_frame *raw_find(raw *raw, uint8_t type, int32_t id);
/// The same, with END_STREAM.
const raw_frame *raw_find_end(raw *raw, int32_t id);
bool raw_frame_has(const raw_frame *frame, const char *name, const char *value);
/// The error code of RST_STREAM or GOAWAY; UINT32_MAX if there is no such frame.
uint32_t raw_error(const raw_frame *frame);
/// DATA bytes that came on a stream.
size_t raw_data_length(const raw *raw, int32_t id);

#endif
