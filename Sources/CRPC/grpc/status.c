#include "crpc_wire.h"
#include "http2/frames.h"

static const char status_hexadecimal[] = "0123456789ABCDEF";

size_t crpc_percent_encode(const uint8_t *text, size_t length, uint8_t *target) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        bool is_outer_space = text[i] == ' ' && (i == 0 || i == length - 1);
        if (text[i] >= 0x20 && text[i] <= 0x7e && text[i] != '%' && !is_outer_space) {
            target[count++] = text[i];
        } else {
            target[count++] = '%';
            target[count++] = (uint8_t)status_hexadecimal[text[i] >> 4];
            target[count++] = (uint8_t)status_hexadecimal[text[i] & 15];
        }
    }
    return count;
}

static int status_hexadecimal_value(uint8_t digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

size_t crpc_percent_decode(const uint8_t *text, size_t length, uint8_t *target) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '%' && length - i > 2) {
            int high = status_hexadecimal_value(text[i + 1]), low = status_hexadecimal_value(text[i + 2]);
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
    case CRPC_H2_REFUSED_STREAM: return CRPC_STATUS_UNAVAILABLE;
    case CRPC_H2_CANCEL: return CRPC_STATUS_CANCELLED;
    case CRPC_H2_ENHANCE_YOUR_CALM: return CRPC_STATUS_RESOURCE_EXHAUSTED;
    case CRPC_H2_INADEQUATE_SECURITY: return CRPC_STATUS_PERMISSION_DENIED;
    default: return CRPC_STATUS_INTERNAL;
    }
}
