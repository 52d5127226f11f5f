#include "fuzz.h"

// grpc-message and grpc-status: any bytes survive being encoded, and whatever comes can be decoded.

static uint8_t *copy(const uint8_t *bytes, size_t length) {
    uint8_t *memory = malloc(length == 0 ? 1 : length);
    CHECK(memory != NULL);
    if (length > 0) memcpy(memory, bytes, length);
    return memory;
}

static void check_message(const uint8_t *text, size_t length) {
    uint8_t *encoded = malloc(length * 3 + 1), *decoded = malloc(length * 3 + 1), *direct = malloc(length + 1);
    CHECK(encoded != NULL && decoded != NULL && direct != NULL);
    size_t count = crpc_percent_encode(text, length, encoded);
    CHECK(count >= length && count <= length * 3);
    CHECK(nghttp2_check_header_value_rfc9113(encoded, count));
    for (size_t i = 0; i < count; i++) CHECK(encoded[i] >= 0x20 && encoded[i] <= 0x7e);
    CHECK(crpc_percent_decode(encoded, count, decoded) == length);
    CHECK(length == 0 || memcmp(decoded, text, length) == 0);
    CHECK(crpc_percent_decode(text, length, direct) <= length);
    free(encoded);
    free(decoded);
    free(direct);
}

static void check_status(const uint8_t *text, size_t length) {
    int status = crpc_status_parse(text, length);
    bool is_number = length > 0 && length <= 9 && (length == 1 || text[0] != '0');
    int wanted = 0;
    for (size_t i = 0; i < length && is_number; i++) {
        is_number = text[i] >= '0' && text[i] <= '9';
        wanted = wanted * 10 + (text[i] - '0');
    }
    CHECK(status == (is_number ? wanted : -1));
    int mapped = crpc_status_from_http(status);
    CHECK(mapped > 0 && mapped <= 16);
    mapped = crpc_status_from_http2_error((uint32_t)status);
    CHECK(mapped > 0 && mapped <= 16);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    uint8_t *text = copy(bytes, length);
    check_message(text, length);
    check_status(text, length);
    free(text);
    return 0;
}
