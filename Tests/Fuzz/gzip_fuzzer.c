#include "fuzz.h"

// gzip: whatever comes is inflated within the limit or refused, and what is deflated comes back.

enum { INFLATED_MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    uint8_t *inflated = NULL, *deflated = NULL;
    size_t inflated_length = 0, deflated_length = 0;
    int error = crpc_gzip_inflate(bytes, length, INFLATED_MAX, &inflated, &inflated_length);
    CHECK(error == CRPC_OK || error == CRPC_ERROR_PROTOCOL || error == CRPC_ERROR_LIMIT);
    CHECK((error == CRPC_OK) == (inflated != NULL) && inflated_length <= INFLATED_MAX);
    free(inflated);

    CHECK(crpc_gzip_deflate(bytes, length, &deflated, &deflated_length) == CRPC_OK);
    if (deflated == NULL) return 0;
    CHECK(deflated_length < length);
    const uint8_t *member = deflated + CRPC_PREFIX_LENGTH;
    CHECK(crpc_gzip_inflate(member, deflated_length, length, &inflated, &inflated_length) == CRPC_OK);
    CHECK(inflated_length == length && memcmp(inflated, bytes, length) == 0);
    free(inflated);
    CHECK(crpc_gzip_inflate(member, deflated_length, length - 1, &inflated, &inflated_length) == CRPC_ERROR_LIMIT);
    free(deflated);
    return 0;
}
