/// The inside of an exchange: a member of whatever carries one, a stream of HTTP/2 or a request of HTTP/1.x. The functions of
/// crpc_exchange.h call its table's, which say and promise the same.
#ifndef CRPC_EXCHANGE_INSIDE_H
#define CRPC_EXCHANGE_INSIDE_H

#include "crpc_exchange.h"
#include "crpc_field.h"
#include "http/service.h"

typedef struct crpc_exchange_table {
    int (*respond)(
        crpc_exchange *exchange, uint32_t status, const uint8_t *fields, size_t fields_length, const uint8_t *body,
        size_t body_length);
    int (*send_head)(
        crpc_exchange *exchange, uint32_t status, const uint8_t *fields, size_t fields_length, int64_t content_length);
    int (*send)(crpc_exchange *exchange, void *memory, size_t offset, size_t length);
    bool (*is_writable)(const crpc_exchange *exchange);
    int (*finish)(crpc_exchange *exchange, const uint8_t *trailers, size_t trailers_length);
    int (*consume)(crpc_exchange *exchange, size_t length, bool keeps);
    void (*release)(crpc_exchange *exchange, size_t length);
    int (*set_deadline)(crpc_exchange *exchange, uint64_t deadline_ns);
    void (*set_body_deadline)(crpc_exchange *exchange, uint64_t deadline_ns);
    void (*set_last)(crpc_exchange *exchange);
    void (*reset)(crpc_exchange *exchange);
} crpc_exchange_table;

struct crpc_exchange {
    const crpc_exchange_table *table;
};

/// Whether a server takes exchanges at all.
static inline bool crpc_service_takes_exchanges(const crpc_service *service) {
    return service->callbacks->exchange.on_exchange != NULL;
}

/// A name that most answers have. The id of a request is no two times the same.
typedef struct crpc_usual_name {
    const char *text;
    bool is_unique; // its values
} crpc_usual_name;
/// The usual name that a field has, which may be sent; NULL if it has another one.
const crpc_usual_name *crpc_exchange_usual_name(const uint8_t *name, size_t length);
/// Whether a field may be sent in an answer: a token in lower case that neither the layer (Date, Content-Length) nor the
/// connection (RFC 9110 section 7.6.1) keeps for itself, and a value without controls or a space at either end.
bool crpc_exchange_may_send(const crpc_entry *field);
/// Whether packed fields are whole, and each may be sent.
bool crpc_exchange_may_send_all(const uint8_t *fields, size_t length);
/// Whether a status may be sent as the last one: 200 to 999.
static inline bool crpc_exchange_is_status(uint32_t status) { return status >= 200 && status <= 999; }
/// Whether an answer may have a body (RFC 9110 section 6.4.1).
static inline bool crpc_exchange_has_body(bool is_head, uint32_t status) {
    return !is_head && status != 204 && status != 304;
}
/// Whether an answer says its length (RFC 9110 section 8.6), which 204 must not.
static inline bool crpc_exchange_tells_length(uint32_t status) { return status != 204; }

/// The text of an answer's Date (RFC 9110 section 5.6.7), good until the next turn. A loop writes it once a second.
enum { CRPC_DATE_LENGTH = 29 };
const char *crpc_service_date(crpc_service *service);
/// Writes one for a second since 1970.
void crpc_date_write(uint64_t second, char text[CRPC_DATE_LENGTH]);

#endif
