/// Exchanges on a rig's server (`rig_setup.takes_exchanges`), with a record of every callback. What crpc_exchange.h promises of
/// callbacks is checked in each of them.
#ifndef CRPC_TEST_RIG_EXCHANGES_H
#define CRPC_TEST_RIG_EXCHANGES_H

#include "raw.h"

/// What the server does with a request, by its target:
///
///     /now    answers with "now", before `on_exchange` returns
///     /echo   keeps the body and answers with it, once it has ended
///     /null   does not take it
///     other   what the test says; it consumes the body, but of /slow
typedef struct exchange {
    rig *rig;
    peer *peer;
    crpc_exchange *exchange; // NULL once it has ended
    crpc_handlers *handlers; // NULL once its handler has ended
    uint32_t version;
    crpc_fault fault;
    char method[32], authority[300], *target;
    uint8_t *fields;
    size_t fields_length;
    int64_t content_length;
    bool is_last;
    uint8_t *body;
    size_t body_length;
    bool has_ended;     // the body, well
    int broken;         // the error with which it did not
    int consume_error;  // of the last `consume`
    unsigned bodies, writables, deadlines, closes;
    bool is_complete;
} exchange;

/// The newest one.
exchange *rig_exchange(rig *rig);
int exchange_respond(exchange *exchange, uint32_t status, const char *body);
int exchange_respond_with(
    exchange *exchange, uint32_t status, const uint8_t *fields, size_t fields_length, const void *body, size_t length);
int exchange_send_head(exchange *exchange, uint32_t status, int64_t content_length);
/// Sends so many bytes, behind a few that are not sent.
int exchange_send(exchange *exchange, const void *bytes, size_t length);
int exchange_finish(exchange *exchange, const uint8_t *trailers, size_t length);
int exchange_consume(exchange *exchange, size_t length, bool keeps);
int exchange_set_deadline_ms(exchange *exchange, unsigned ms);
void exchange_set_body_deadline_ms(exchange *exchange, unsigned ms);
void exchange_reset(exchange *exchange);
bool exchange_is_writable(exchange *exchange);

/// Sends a request's head on HTTP/2: method, target, and up to one more field.
void raw_send_exchange(
    raw *raw, uint8_t flags, int32_t id, const char *method, const char *target, const char *name, const char *value);

#endif
