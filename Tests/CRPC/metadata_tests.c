#include "layer.h"
#include "test.h"

// Metadata in packed blocks, and which of it may be sent.

static size_t put(uint8_t *block, const char *name, const char *value) {
    crpc_entry entry = {
        .name = (const uint8_t *)name, .name_length = strlen(name), .value = (const uint8_t *)value,
        .value_length = strlen(value)};
    return crpc_metadata_put(block, &entry);
}

static bool is_sendable(const char *name, const char *value) {
    crpc_entry entry = {
        .name = (const uint8_t *)name, .name_length = strlen(name), .value = (const uint8_t *)value,
        .value_length = strlen(value)};
    return crpc_metadata_is_sendable(&entry);
}

TEST(entries_come_out_as_they_went_in) {
    static const char *const entries[][2] = {{"a", "1"}, {"name", ""}, {"x-long-name", "a longer value"}, {"z", "é"}};
    uint8_t block[128];
    size_t length = 0;
    for (size_t i = 0; i < 4; i++) {
        size_t written = put(block + length, entries[i][0], entries[i][1]);
        EXPECT_EQUAL(written, CRPC_ENTRY_OVERHEAD + strlen(entries[i][0]) + strlen(entries[i][1]));
        length += written;
    }
    size_t offset = 0;
    crpc_entry entry;
    for (size_t i = 0; i < 4; i++) {
        REQUIRE(crpc_metadata_next(block, length, &offset, &entry));
        EXPECT_TEXT(entry.name, entry.name_length, entries[i][0]);
        EXPECT_TEXT(entry.value, entry.value_length, entries[i][1]);
    }
    EXPECT(!crpc_metadata_next(block, length, &offset, &entry));
    EXPECT_EQUAL(offset, length);
}

TEST(a_block_cut_at_any_offset_gives_its_whole_entries_only) {
    uint8_t block[128];
    size_t ends[3], length = 0;
    length += put(block + length, "first", "1");
    ends[0] = length;
    length += put(block + length, "second", "");
    ends[1] = length;
    length += put(block + length, "third", "a value");
    ends[2] = length;
    for (size_t cut = 0; cut <= length; cut++) {
        uint8_t *part = malloc(cut == 0 ? 1 : cut);
        REQUIRE(part != NULL);
        memcpy(part, block, cut);
        size_t offset = 0, count = 0;
        crpc_entry entry;
        while (crpc_metadata_next(part, cut, &offset, &entry)) {
            REQUIRE(count < 3);
            EXPECT_EQUAL(offset, ends[count]);
            count += 1;
        }
        EXPECT_EQUAL(count, (cut >= ends[0]) + (cut >= ends[1]) + (cut >= ends[2]));
        EXPECT_EQUAL(offset, count == 0 ? 0 : ends[count - 1]);
        free(part);
    }
}

TEST(lengths_that_reach_past_the_block_end_it) {
    uint8_t block[32];
    size_t offset = 0;
    crpc_entry entry;
    for (int byte = 0; byte < CRPC_ENTRY_OVERHEAD; byte++) {
        size_t length = put(block, "ab", "cd");
        block[byte] = 0xff;
        offset = 0;
        EXPECT(!crpc_metadata_next(block, length, &offset, &entry));
        EXPECT_EQUAL(offset, 0);
    }
    memset(block, 0xff, sizeof block);
    EXPECT(!crpc_metadata_next(block, sizeof block, &offset, &entry));
    offset = 0;
    EXPECT(!crpc_metadata_next(NULL, 0, &offset, &entry));
}

TEST(names_of_grpcs_alphabet_may_be_sent) {
    for (int c = 1; c < 256; c++) {
        char name[4] = {'x', (char)c, 'y', 0};
        bool is_allowed = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
        EXPECT_EQUAL(is_sendable(name, "value"), is_allowed);
    }
    EXPECT(!is_sendable("", "value"));
    EXPECT(is_sendable("trace-bin", "AAEC"));
}

TEST(values_of_printable_ascii_may_be_sent) {
    for (int c = 1; c < 256; c++) {
        char value[4] = {'x', (char)c, 'y', 0};
        EXPECT_EQUAL(is_sendable("name", value), c >= 0x20 && c <= 0x7e);
    }
    EXPECT(is_sendable("name", ""));
    EXPECT(is_sendable("name", "a b"));
    // RFC 9113 section 8.2.1: a receiver drops or refuses these.
    EXPECT(!is_sendable("name", " a"));
    EXPECT(!is_sendable("name", "a "));
    EXPECT(!is_sendable("name", " "));
    crpc_entry zero = {(const uint8_t *)"name", (const uint8_t *)"a\0b", 4, 3};
    EXPECT(!crpc_metadata_is_sendable(&zero));
}

TEST(names_that_the_protocol_keeps_may_not_be_sent) {
    static const char *const names[] = {
        ":path", ":status", ":x", "te", "content-type", "grpc-timeout", "grpc-encoding", "grpc-accept-encoding",
        "grpc-message-type", "grpc-status", "grpc-message", "connection", "keep-alive", "proxy-connection",
        "transfer-encoding", "upgrade", "host", "content-length",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        EXPECT(crpc_metadata_is_reserved((const uint8_t *)names[i], strlen(names[i])));
        EXPECT(!is_sendable(names[i], "value"));
        // A longer or shorter name is somebody else's.
        EXPECT(names[i][0] == ':' || !crpc_metadata_is_reserved((const uint8_t *)names[i], strlen(names[i]) - 1));
    }
    EXPECT(is_sendable("grpc-status-details-bin", "AAEC"));
    EXPECT(is_sendable("tea", "green"));
}
