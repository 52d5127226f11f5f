#include "fuzz.h"

#include "transport/proxy_header.h"

// A header of PROXY protocol v2, whole and as its first bytes come: what is read of it lies inside, and is what another
// reading of the specification says.

static size_t number(const uint8_t *bytes) { return (size_t)(bytes[0] << 8 | bytes[1]); }

/// Whether additions of this length are whole, or one is a checksum, which is for the reader to judge.
static bool may_be_whole(const uint8_t *bytes, size_t length) {
    while (length > 0) {
        if (length < 3 || length < 3 + number(bytes + 1)) return false;
        if (bytes[0] == 3) return true;
        length -= 3 + number(bytes + 1);
        bytes += 3 + number(bytes + 1);
    }
    return true;
}

/// Whether a whole header may be taken.
static bool may_be_taken(const uint8_t *bytes, size_t length) {
    static const uint8_t addresses[4] = {0, 12, 36, 216};
    if (bytes[12] == 0x20) return true;
    if (bytes[12] != 0x21) return false;
    if (bytes[13] == 0) return true;
    if ((bytes[13] & 15) != 1 || bytes[13] >> 4 > 3 || bytes[13] >> 4 == 0) return false;
    size_t size = addresses[bytes[13] >> 4];
    return length - 16 >= size && may_be_whole(bytes + 16 + size, length - 16 - size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    uint8_t *exact = malloc(length == 0 ? 1 : length);
    CHECK(exact != NULL);
    if (length > 0) memcpy(exact, bytes, length);
    int before = CRPC_PROXY_HEAD;
    for (size_t come = 0; come <= length && come <= CRPC_PROXY_HEAD; come++) {
        int whole = crpc_proxy_header_length(exact, come);
        CHECK(before > 0 || whole == before); // what is none stays so
        CHECK(whole == CRPC_ERROR_PROTOCOL || (whole >= CRPC_PROXY_HEAD && whole <= CRPC_PROXY_MAX));
        before = whole;
    }
    crpc_proxy_header header;
    int error = crpc_proxy_header_read(exact, length, &header);
    CHECK(error == CRPC_OK || error == CRPC_ERROR_PROTOCOL);
    if (error == CRPC_OK) {
        CHECK(before == (int)length && may_be_taken(exact, length));
        CHECK(header.has_source == (exact[12] == 0x21 && (exact[13] == 0x11 || exact[13] == 0x21)));
        CHECK(!header.has_source || header.source.ss_family == (exact[13] == 0x11 ? AF_INET : AF_INET6));
    }
    free(exact);
    return 0;
}
