#include "http/exchange.h"

#include "crpc_metadata.h"
#include "http/bytes.h"

#include <time.h>

// ---- What users call ----

int crpc_exchange_respond(
    crpc_exchange *exchange, uint32_t status, const uint8_t *fields, size_t fields_length, const uint8_t *body,
    size_t body_length) {
    return exchange->table->respond(exchange, status, fields, fields_length, body, body_length);
}

int crpc_exchange_send_head(
    crpc_exchange *exchange, uint32_t status, const uint8_t *fields, size_t fields_length, int64_t content_length) {
    return exchange->table->send_head(exchange, status, fields, fields_length, content_length);
}

int crpc_exchange_send(crpc_exchange *exchange, void *memory, size_t offset, size_t length) {
    return exchange->table->send(exchange, memory, offset, length);
}

bool crpc_exchange_is_writable(const crpc_exchange *exchange) { return exchange->table->is_writable(exchange); }

int crpc_exchange_finish(crpc_exchange *exchange, const uint8_t *trailers, size_t trailers_length) {
    return exchange->table->finish(exchange, trailers, trailers_length);
}

int crpc_exchange_consume(crpc_exchange *exchange, size_t length, bool keeps) {
    return exchange->table->consume(exchange, length, keeps);
}

void crpc_exchange_release(crpc_exchange *exchange, size_t length) { exchange->table->release(exchange, length); }

int crpc_exchange_set_deadline(crpc_exchange *exchange, uint64_t deadline_ns) {
    return exchange->table->set_deadline(exchange, deadline_ns);
}

void crpc_exchange_set_body_deadline(crpc_exchange *exchange, uint64_t deadline_ns) {
    exchange->table->set_body_deadline(exchange, deadline_ns);
}

void crpc_exchange_set_last(crpc_exchange *exchange) { exchange->table->set_last(exchange); }

void crpc_exchange_reset(crpc_exchange *exchange) { exchange->table->reset(exchange); }

// ---- Fields of answers ----

/// The layer's own, and the connection's (RFC 9110 section 7.6.1, RFC 9113 section 8.2.2).
static bool exchange_keeps(const uint8_t *name, size_t length) {
    switch (length) { // which tells most of them apart
    case 2: return crpc_equals(name, length, "te");
    case 4: return crpc_equals(name, length, "date") || crpc_equals(name, length, "host");
    case 7: return crpc_equals(name, length, "trailer") || crpc_equals(name, length, "upgrade");
    case 10: return crpc_equals(name, length, "connection") || crpc_equals(name, length, "keep-alive");
    case 14: return crpc_equals(name, length, "content-length");
    case 16: return crpc_equals(name, length, "proxy-connection");
    case 17: return crpc_equals(name, length, "transfer-encoding");
    default: return false;
    }
}

const crpc_usual_name *crpc_exchange_usual_name(const uint8_t *name, size_t length) {
    enum { LENGTH_MAX = 23, PER_LENGTH = 2 };
    static const crpc_usual_name names[LENGTH_MAX + 1][PER_LENGTH] = {
        [12] = {{"content-type", false}, {"x-request-id", true}},
        [13] = {{"cache-control", false}},
        [15] = {{"referrer-policy", false}},
        [22] = {{"x-content-type-options", false}},
        [23] = {{"content-security-policy", false}},
    };
    if (length > LENGTH_MAX) return NULL;
    for (int i = 0; i < PER_LENGTH; i++) {
        const crpc_usual_name *usual = &names[length][i];
        if (usual->text != NULL && memcmp(usual->text, name, length) == 0) return usual;
    }
    return NULL;
}

/// A token in lower case (RFC 9110 section 5.6.2, RFC 9113 section 8.2.1).
static bool exchange_is_name(const uint8_t *name, size_t length) {
    static const uint8_t allowed[256] = {
        ['a' ... 'z'] = 1, ['0' ... '9'] = 1, ['!'] = 1, ['#'] = 1, ['$'] = 1, ['%'] = 1, ['&'] = 1, ['\''] = 1,
        ['*'] = 1, ['+'] = 1, ['-'] = 1, ['.'] = 1, ['^'] = 1, ['_'] = 1, ['`'] = 1, ['|'] = 1, ['~'] = 1,
    };
    for (size_t i = 0; i < length; i++)
        if (!allowed[name[i]]) return false;
    return length > 0;
}

bool crpc_exchange_may_send(const crpc_entry *field) {
    const uint8_t *name = field->name;
    size_t length = field->name_length;
    bool is_usual = crpc_exchange_usual_name(name, length) != NULL;
    if (!is_usual && (exchange_keeps(name, length) || !exchange_is_name(name, length))) return false;
    return crpc_is_field_value(field->value, field->value_length);
}

bool crpc_exchange_may_send_all(const uint8_t *fields, size_t length) {
    size_t offset = 0;
    crpc_entry field;
    while (crpc_metadata_next(fields, length, &offset, &field))
        if (!crpc_exchange_may_send(&field)) return false;
    return offset == length;
}

// ---- Date ----

static void date_put(char *text, unsigned number, int digits) {
    for (int i = digits - 1; i >= 0; i--, number /= 10) text[i] = (char)('0' + number % 10);
}

void crpc_date_write(uint64_t second, char text[CRPC_DATE_LENGTH]) {
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t time = (time_t)second;
    struct tm parts = {0};
    (void)gmtime_r(&time, &parts); // fails for years that no clock has
    memcpy(text, "xxx, 00 xxx 0000 00:00:00 GMT", CRPC_DATE_LENGTH);
    memcpy(text, days + 3 * parts.tm_wday, 3);
    date_put(text + 5, (unsigned)parts.tm_mday, 2);
    memcpy(text + 8, months + 3 * parts.tm_mon, 3);
    date_put(text + 12, (unsigned)parts.tm_year + 1900, 4);
    date_put(text + 17, (unsigned)parts.tm_hour, 2);
    date_put(text + 20, (unsigned)parts.tm_min, 2);
    date_put(text + 23, (unsigned)parts.tm_sec, 2);
}

const char *crpc_service_date(crpc_service *service) {
    uint64_t now = service->turn->now_ns;
    if (now >= service->date.until_ns) {
        struct timespec time;
        (void)clock_gettime(CLOCK_REALTIME, &time);
        crpc_date_write((uint64_t)time.tv_sec, service->date.text);
        service->date.until_ns = now + 1000000000u - (uint64_t)time.tv_nsec;
    }
    return service->date.text;
}
