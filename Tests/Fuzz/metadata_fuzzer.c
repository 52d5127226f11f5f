#include "fuzz.h"

// A block of metadata: what is read from it lies inside it, and packed again it is the same.

static void check_sendable(const crpc_entry *entry) {
    if (!crpc_metadata_is_sendable(entry)) return;
    CHECK(entry->name_length > 0 && !crpc_metadata_is_reserved(entry->name, entry->name_length));
    for (size_t i = 0; i < entry->name_length; i++) CHECK(entry->name[i] > 0x20 && entry->name[i] < 0x7f);
    for (size_t i = 0; i < entry->value_length; i++) CHECK(entry->value[i] >= 0x20 && entry->value[i] < 0x7f);
    // nghttp2's own rules, by which a receiver would judge it.
    CHECK(nghttp2_check_header_name(entry->name, entry->name_length));
    CHECK(nghttp2_check_header_value_rfc9113(entry->value, entry->value_length));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    uint8_t *block = malloc(length == 0 ? 1 : length), *again = malloc(length == 0 ? 1 : length);
    CHECK(block != NULL && again != NULL);
    if (length > 0) memcpy(block, bytes, length);
    size_t offset = 0, packed = 0;
    crpc_entry entry;
    while (crpc_metadata_next(block, length, &offset, &entry)) {
        CHECK(entry.name >= block && entry.value >= entry.name);
        CHECK(entry.value + entry.value_length <= block + length && offset <= length);
        check_sendable(&entry);
        packed += crpc_metadata_put(again + packed, &entry);
        CHECK(packed == offset);
    }
    CHECK(memcmp(block, again, packed) == 0);
    // The rest is no whole entry, and stays where it is.
    size_t same = offset;
    CHECK(!crpc_metadata_next(block, length, &same, &entry) && same == offset);
    free(block);
    free(again);
    return 0;
}
