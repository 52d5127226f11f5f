/// The session: frames from and to bytes, HPACK, flow control, stream identifiers. Only session.c and
/// session_events.c know that it is nghttp2's; the words here are RFC 9113's.
///
/// Part of its connection, on its thread. What comes in is reported to the connection's `above` from inside of
/// `crpc_session_receive`; bodies are asked for from inside of `crpc_session_next_frame`. What is submitted waits until that
/// asks for it. After an error of `receive` nothing but `crpc_session_end` may be called.
#ifndef CRPC_SESSION_H
#define CRPC_SESSION_H

#include "http2/http2_connection.h"

#include <string.h>

/// A field to be sent, as the session takes it: it copies name and value, but for those that are constant.
typedef struct crpc_sent_field {
    uint8_t *name, *value;
    size_t name_length, value_length;
    uint8_t flags;
} __attribute__((may_alias)) crpc_sent_field;

/// Name and value are constant, or the name is: such are not copied. Or the value is never sent again: HPACK keeps it in no table,
/// where it would drive out those that are (RFC 7541 section 6.2.3).
enum { CRPC_FIELD_CONSTANT = 0x2 | 0x4, CRPC_FIELD_NAMED = 0x2, CRPC_FIELD_UNIQUE = 0x1 };

#define CRPC_CONSTANT_FIELD(name, value) \
    {(uint8_t *)(name), (uint8_t *)(value), sizeof(name) - 1, sizeof(value) - 1, CRPC_FIELD_CONSTANT}

/// A field whose name and value are copied. The session's type is not const, but it only reads.
static inline crpc_sent_field crpc_field_of(const void *name, size_t name_length, const void *value, size_t value_length) {
    union {
        const void *in;
        uint8_t *out;
    } n = {.in = name}, v = {.in = value};
    return (crpc_sent_field){n.out, v.out, name_length, value_length, 0};
}
/// A field whose name is constant, and whose value is copied.
static inline crpc_sent_field crpc_named_field(const char *name, const void *value, size_t value_length) {
    crpc_sent_field field = crpc_field_of(name, strlen(name), value, value_length);
    field.flags = CRPC_FIELD_NAMED;
    return field;
}

/// Makes the session and submits our SETTINGS. Errors: MEMORY; then there is none.
int crpc_session_begin(crpc_h2 *h2);
/// Frees it, if there is one.
void crpc_session_end(crpc_h2 *h2);

/// Takes bytes that came. Errors: PROTOCOL, LIMIT (too many answers to PING and SETTINGS wait), MEMORY.
int crpc_session_receive(crpc_h2 *h2, const uint8_t *bytes, size_t length);
/// The next frame to be sent, valid until the next call: its length, 0 for none, or an error as above.
ssize_t crpc_session_next_frame(crpc_h2 *h2, const uint8_t **frame);
bool crpc_session_wants_write(const crpc_h2 *h2);
/// False once GOAWAY went out or came, and no stream is left.
bool crpc_session_wants_read(const crpc_h2 *h2);
/// Frames that wait to be sent.
size_t crpc_session_queued_frames(const crpc_h2 *h2);
/// Bytes of a stream's body that the peer's windows, the stream's and the connection's, take now.
size_t crpc_session_window(const crpc_h2_stream *stream);
/// Client: streams that the peer takes at once; 0 after GOAWAY.
uint32_t crpc_session_streams_max(const crpc_h2 *h2);

// Each of these submits a frame. Errors: MEMORY; `request` also CLOSED.

/// HEADERS of a request. Sets the stream's id.
int crpc_session_request(crpc_h2_stream *stream, const crpc_sent_field *fields, size_t count);
/// HEADERS of an answer. Without a body they have END_STREAM.
int crpc_session_answer(crpc_h2_stream *stream, const crpc_sent_field *fields, size_t count, bool has_body);
/// HEADERS that say 100 (Continue), before those of the answer.
int crpc_session_continue(crpc_h2_stream *stream);
/// HEADERS after the body, with END_STREAM.
int crpc_session_trailers(crpc_h2_stream *stream, const crpc_sent_field *fields, size_t count);
int crpc_session_rst_stream(crpc_h2_stream *stream, uint32_t error);
int crpc_session_ping(crpc_h2 *h2, const uint8_t payload[8]);
/// GOAWAY that names no last stream yet (section 6.8).
int crpc_session_shutdown_notice(crpc_h2 *h2);
int crpc_session_goaway(crpc_h2 *h2, uint32_t code, const char *reason);

/// The stream's body goes on.
void crpc_session_resume(crpc_h2_stream *stream);
/// Gives bytes that came back to a window of flow control (WINDOW_UPDATE). Errors: MEMORY.
int crpc_session_give_back(crpc_h2 *h2, size_t length);
int crpc_session_give_back_stream(crpc_h2_stream *stream, size_t length);

#endif
