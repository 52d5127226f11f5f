#include "internal.h"

const char *crpc_error_text(int error) {
    switch (error) {
    case CRPC_OK: return "no error";
    case CRPC_ERROR_MEMORY: return "out of memory";
    case CRPC_ERROR_SYSTEM: return "a system call failed";
    case CRPC_ERROR_PROTOCOL: return "the peer broke the protocol";
    case CRPC_ERROR_TLS: return "TLS failed";
    case CRPC_ERROR_CLOSED: return "closed";
    case CRPC_ERROR_ARGUMENT: return "an argument is not acceptable";
    case CRPC_ERROR_LIMIT: return "a limit was reached";
    case CRPC_ERROR_TIMEOUT: return "the time limit passed";
    case CRPC_ERROR_ADDRESS_IN_USE: return "the address is in use";
    default: return "unknown error";
    }
}

// ---- Messages ----

void crpc_prefix_write(uint8_t prefix[CRPC_PREFIX_LENGTH], bool compressed, uint32_t length) {
    prefix[0] = compressed ? 1 : 0;
    prefix[1] = (uint8_t)(length >> 24);
    prefix[2] = (uint8_t)(length >> 16);
    prefix[3] = (uint8_t)(length >> 8);
    prefix[4] = (uint8_t)length;
}

void crpc_deframer_init(crpc_deframer *deframer, uint32_t message_max) {
    memset(deframer, 0, sizeof *deframer);
    deframer->message_max = message_max;
}

void crpc_deframer_reset(crpc_deframer *deframer) {
    free(deframer->buffer);
    crpc_deframer_init(deframer, deframer->message_max);
}

void crpc_deframer_trim(crpc_deframer *deframer) {
    enum { KEPT_MAX = 4096 };
    if (deframer->received > 0 || deframer->capacity <= KEPT_MAX) return;
    free(deframer->buffer);
    deframer->buffer = NULL;
    deframer->capacity = 0;
}

bool crpc_deframer_is_between_messages(const crpc_deframer *deframer) {
    return !deframer->failed && deframer->prefix_length == 0;
}

static int fail(crpc_deframer *deframer, int error) {
    deframer->failed = true;
    return error;
}

/// Room for what is there and `more`, growing with what arrives and not with what was announced.
static int reserve(crpc_deframer *deframer, size_t more) {
    size_t needed = deframer->received + more;
    if (needed <= deframer->capacity) return CRPC_OK;
    size_t capacity = deframer->capacity == 0 ? 1024 : deframer->capacity;
    while (capacity < needed) capacity *= 2;
    if (capacity > deframer->expected) capacity = deframer->expected;
    uint8_t *buffer = realloc(deframer->buffer, capacity);
    if (buffer == NULL) return CRPC_ERROR_MEMORY;
    deframer->buffer = buffer;
    deframer->capacity = capacity;
    return CRPC_OK;
}

static int take_prefix(crpc_deframer *deframer, const uint8_t **bytes, size_t *length) {
    size_t missing = (size_t)(CRPC_PREFIX_LENGTH - deframer->prefix_length);
    size_t count = *length < missing ? *length : missing;
    if (count > 0) memcpy(deframer->prefix + deframer->prefix_length, *bytes, count);
    deframer->prefix_length = (uint8_t)(deframer->prefix_length + count);
    *bytes += count;
    *length -= count;
    if (deframer->prefix_length < CRPC_PREFIX_LENGTH) return 0;
    if (deframer->prefix[0] > 1) return fail(deframer, CRPC_ERROR_PROTOCOL);
    deframer->expected = (uint32_t)deframer->prefix[1] << 24 | (uint32_t)deframer->prefix[2] << 16 |
                         (uint32_t)deframer->prefix[3] << 8 | (uint32_t)deframer->prefix[4];
    if (deframer->expected > deframer->message_max) return fail(deframer, CRPC_ERROR_LIMIT);
    return 1;
}

int crpc_deframer_next(crpc_deframer *deframer, const uint8_t **bytes, size_t *length, crpc_message *message) {
    if (deframer->failed) return CRPC_ERROR_PROTOCOL;
    if (deframer->prefix_length < CRPC_PREFIX_LENGTH) {
        if (deframer->prefix_length == 0 && *length == 0) return 0;
        int found = take_prefix(deframer, bytes, length);
        if (found != 1) return found;
    }
    size_t missing = deframer->expected - deframer->received;
    bool is_whole = *length >= missing;
    if (deframer->received == 0 && is_whole) {
        message->bytes = *bytes;
    } else {
        size_t count = is_whole ? missing : *length;
        int error = reserve(deframer, count);
        if (error != CRPC_OK) return fail(deframer, error);
        if (count > 0) memcpy(deframer->buffer + deframer->received, *bytes, count);
        deframer->received += count;
        message->bytes = deframer->buffer;
        if (!is_whole) {
            *bytes += count;
            *length -= count;
            return 0;
        }
    }
    message->length = deframer->expected;
    message->compressed = deframer->prefix[0] == 1;
    *bytes += missing;
    *length -= missing;
    deframer->received = 0;
    deframer->prefix_length = 0;
    return 1;
}

// ---- Timeouts ----

static const struct {
    uint8_t unit;
    uint64_t nanoseconds;
} units[] = {
    {'n', 1u}, {'u', 1000u}, {'m', 1000000u}, {'S', 1000000000u}, {'M', 60000000000u}, {'H', 3600000000000u},
};
enum { UNIT_COUNT = sizeof units / sizeof units[0], TIMEOUT_NUMBER_MAX = 99999999 };

int crpc_timeout_parse(const uint8_t *text, size_t length, uint64_t *nanoseconds) {
    if (length < 2 || length > CRPC_TIMEOUT_LENGTH_MAX) return CRPC_ERROR_PROTOCOL;
    uint64_t number = 0;
    for (size_t i = 0; i < length - 1; i++) {
        if (text[i] < '0' || text[i] > '9') return CRPC_ERROR_PROTOCOL;
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    for (int i = 0; i < UNIT_COUNT; i++) {
        if (units[i].unit != text[length - 1]) continue;
        // 99,999,999 hours would not fit; what is over 292 years is as good as that.
        bool fits = number <= UINT64_MAX / 2 / units[i].nanoseconds;
        *nanoseconds = fits ? number * units[i].nanoseconds : UINT64_MAX / 2;
        return CRPC_OK;
    }
    return CRPC_ERROR_PROTOCOL;
}

size_t crpc_timeout_format(uint64_t nanoseconds, uint8_t text[CRPC_TIMEOUT_LENGTH_MAX]) {
    int unit = 0;
    uint64_t number = nanoseconds;
    while (number > TIMEOUT_NUMBER_MAX && unit < UNIT_COUNT - 1) {
        unit += 1;
        number = nanoseconds / units[unit].nanoseconds + (nanoseconds % units[unit].nanoseconds != 0);
    }
    if (number > TIMEOUT_NUMBER_MAX) number = TIMEOUT_NUMBER_MAX;
    uint8_t digits[CRPC_TIMEOUT_LENGTH_MAX];
    size_t count = 0;
    do {
        digits[count++] = (uint8_t)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    for (size_t i = 0; i < count; i++) text[i] = digits[count - 1 - i];
    text[count] = units[unit].unit;
    return count + 1;
}

// ---- Status ----

static const char hexadecimal[] = "0123456789ABCDEF";

size_t crpc_percent_encode(const uint8_t *text, size_t length, uint8_t *target) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        bool is_outer_space = text[i] == ' ' && (i == 0 || i == length - 1);
        if (text[i] >= 0x20 && text[i] <= 0x7e && text[i] != '%' && !is_outer_space) {
            target[count++] = text[i];
        } else {
            target[count++] = '%';
            target[count++] = (uint8_t)hexadecimal[text[i] >> 4];
            target[count++] = (uint8_t)hexadecimal[text[i] & 15];
        }
    }
    return count;
}

static int hexadecimal_value(uint8_t digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

size_t crpc_percent_decode(const uint8_t *text, size_t length, uint8_t *target) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '%' && length - i > 2) {
            int high = hexadecimal_value(text[i + 1]), low = hexadecimal_value(text[i + 2]);
            if (high >= 0 && low >= 0) {
                target[count++] = (uint8_t)(high << 4 | low);
                i += 2;
                continue;
            }
        }
        target[count++] = text[i];
    }
    return count;
}

int crpc_status_parse(const uint8_t *text, size_t length) {
    if (length == 0 || length > 9 || (length > 1 && text[0] == '0')) return -1;
    int number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return -1;
        number = number * 10 + (text[i] - '0');
    }
    return number;
}

int crpc_status_from_http(int http_status) {
    switch (http_status) {
    case 400: return CRPC_STATUS_INTERNAL;
    case 401: return CRPC_STATUS_UNAUTHENTICATED;
    case 403: return CRPC_STATUS_PERMISSION_DENIED;
    case 404: return CRPC_STATUS_UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504: return CRPC_STATUS_UNAVAILABLE;
    default: return CRPC_STATUS_UNKNOWN;
    }
}

int crpc_status_from_http2_error(uint32_t error) {
    switch (error) {
    case NGHTTP2_REFUSED_STREAM: return CRPC_STATUS_UNAVAILABLE;
    case NGHTTP2_CANCEL: return CRPC_STATUS_CANCELLED;
    case NGHTTP2_ENHANCE_YOUR_CALM: return CRPC_STATUS_RESOURCE_EXHAUSTED;
    case NGHTTP2_INADEQUATE_SECURITY: return CRPC_STATUS_PERMISSION_DENIED;
    default: return CRPC_STATUS_INTERNAL;
    }
}

// ---- Metadata ----

bool crpc_metadata_next(const uint8_t *block, size_t length, size_t *offset, crpc_entry *entry) {
    uint16_t name_length;
    uint32_t value_length;
    if (length - *offset < CRPC_ENTRY_OVERHEAD) return false;
    const uint8_t *at = block + *offset;
    memcpy(&name_length, at, sizeof name_length);
    memcpy(&value_length, at + sizeof name_length, sizeof value_length);
    if (length - *offset - CRPC_ENTRY_OVERHEAD < (size_t)name_length + value_length) return false;
    entry->name = at + CRPC_ENTRY_OVERHEAD;
    entry->name_length = name_length;
    entry->value = entry->name + name_length;
    entry->value_length = value_length;
    *offset += CRPC_ENTRY_OVERHEAD + (size_t)name_length + value_length;
    return true;
}

size_t crpc_metadata_put(uint8_t *target, const crpc_entry *entry) {
    uint16_t name_length = (uint16_t)entry->name_length;
    uint32_t value_length = (uint32_t)entry->value_length;
    memcpy(target, &name_length, sizeof name_length);
    memcpy(target + sizeof name_length, &value_length, sizeof value_length);
    memcpy(target + CRPC_ENTRY_OVERHEAD, entry->name, entry->name_length);
    if (value_length > 0) memcpy(target + CRPC_ENTRY_OVERHEAD + entry->name_length, entry->value, entry->value_length);
    return CRPC_ENTRY_OVERHEAD + entry->name_length + entry->value_length;
}

bool crpc_metadata_is_sendable(const crpc_entry *entry) {
    if (crpc_metadata_is_reserved(entry->name, entry->name_length)) return false;
    for (size_t i = 0; i < entry->name_length; i++) {
        uint8_t c = entry->name[i];
        bool is_allowed = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
        if (!is_allowed) return false;
    }
    size_t length = entry->value_length;
    // A receiver drops or refuses these (RFC 9113 section 8.2.1).
    if (length > 0 && (entry->value[0] == ' ' || entry->value[length - 1] == ' ')) return false;
    for (size_t i = 0; i < length; i++)
        if (entry->value[i] < 0x20 || entry->value[i] > 0x7e) return false;
    return true;
}
