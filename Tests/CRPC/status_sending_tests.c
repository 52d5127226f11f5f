#include "raw.h"

#include <stdio.h>

// A status always arrives, whatever comes with it.

/// Has the server finish with a status, after a message or with trailers only; checks the status that the client gets.
static void finish_and_expect(const crpc_status *status, bool after_message, const char *text) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 1);
    if (after_message) EXPECT_EQUAL(call_send_text(rig_server_call(rig), "m"), CRPC_OK);
    EXPECT_EQUAL(call_finish_with(rig_server_call(rig), status), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, status->code);
    EXPECT(call->is_from_server);
    EXPECT_TEXT(call->text, call->text_length, text);
    EXPECT_EQUAL(call->messages, after_message ? 1 : 0);
    rig_end(rig);
}

static void check_message(const char *message, const char *told) {
    crpc_status status = {.code = 9, .message = (const uint8_t *)message, .message_length = strlen(message)};
    finish_and_expect(&status, false, told);
    finish_and_expect(&status, true, told);
}

TEST(spaces_around_a_message_survive) {
    check_message(" both ends ", " both ends ");
    check_message(" ", " ");
    check_message("tab at the end\t", "tab at the end\t");
}

TEST(a_message_over_the_maximum_is_cut_between_characters) {
    static char message[CRPC_STATUS_MESSAGE_MAX * 2 + 1], told[CRPC_STATUS_MESSAGE_MAX + 1];
    memset(message, 'm', sizeof message - 1);
    memset(told, 'm', sizeof told - 1);
    check_message(message, told);
    // A character of two bytes, of three and of four over the end is left out whole.
    static const char *const characters[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(characters[i]);
        for (size_t over = 1; over < length; over++) {
            memset(message, 'm', sizeof message - 1);
            size_t at = CRPC_STATUS_MESSAGE_MAX - length + over;
            memcpy(message + at, characters[i], length);
            memcpy(told, message, sizeof told - 1);
            told[at] = 0;
            check_message(message, told);
        }
        memset(message, 'm', sizeof message - 1);
        memcpy(message + CRPC_STATUS_MESSAGE_MAX - length, characters[i], length);
        memcpy(told, message, sizeof told - 1);
        told[CRPC_STATUS_MESSAGE_MAX] = 0;
        check_message(message, told);
    }
    // What is no UTF-8 is cut where the maximum is.
    memset(message, 0x80, sizeof message - 1);
    memset(told, 0x80, CRPC_STATUS_MESSAGE_MAX);
    check_message(message, told);
}

TEST(a_status_with_many_entries_arrives) {
    static uint8_t block[8192];
    size_t length = 0;
    for (int i = 0; i < 400; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n%d", i);
        length = metadata_add(block, length, name, "v");
    }
    crpc_status status = {
        .code = 9, .message = (const uint8_t *)"told", .message_length = 4, .metadata = block,
        .metadata_length = length};
    finish_and_expect(&status, false, "told");
    finish_and_expect(&status, true, "told");
}

TEST(a_status_with_all_that_it_may_carry_arrives) {
    static uint8_t details[CRPC_TRAILERS_MAX], block[CRPC_TRAILERS_MAX + 100];
    static char message[CRPC_STATUS_MESSAGE_MAX + 1], value[CRPC_TRAILERS_MAX];
    memset(message, 0x01, sizeof message - 1); // three bytes each, encoded
    memset(value, 'v', sizeof value - 1);
    static const size_t details_lengths[] = {0, 1000, CRPC_TRAILERS_MAX / 2, CRPC_TRAILERS_MAX};
    static const size_t value_lengths[] = {0, 2000, CRPC_TRAILERS_MAX / 2, CRPC_TRAILERS_MAX - 7};
    for (size_t i = 0; i < 16; i++) {
        value[value_lengths[i % 4]] = 0;
        crpc_status status = {
            .code = 9, .message = (const uint8_t *)message, .message_length = CRPC_STATUS_MESSAGE_MAX,
            .details = details, .details_length = details_lengths[i / 4], .metadata = block,
            .metadata_length = metadata_add(block, 0, "x", value)};
        finish_and_expect(&status, false, message);
        finish_and_expect(&status, true, message);
        value[value_lengths[i % 4]] = 'v';
    }
}

/// What RFC 9113 section 6.5.2 counts for a header block, which `raw` keeps as lines of "name: value".
static size_t block_cost(const raw_frame *frame) {
    size_t cost = frame->length;
    for (size_t i = 0; i < frame->length; i++)
        if (frame->payload[i] == '\n') cost += 32 - 3;
    return cost;
}

TEST(trailers_stay_under_what_every_client_takes) {
    static uint8_t details[CRPC_TRAILERS_MAX], block[CRPC_TRAILERS_MAX + 100];
    static char message[CRPC_STATUS_MESSAGE_MAX + 1], value[CRPC_TRAILERS_MAX];
    memset(message, 0x01, sizeof message - 1);
    memset(value, 'v', sizeof value - 1);
    rig *rig = rig_start(NULL);
    raw *raw = raw_connect(rig);
    int32_t id = 1;
    for (size_t details_length = 0; details_length <= sizeof details; details_length += 512) {
        for (size_t value_length = 0; value_length < sizeof value; value_length += 1000) {
            for (size_t message_length = 0; message_length <= CRPC_STATUS_MESSAGE_MAX; message_length += 512, id += 2) {
                value[value_length] = 0;
                raw_send_request(raw, 0, id, rig_paths[METHOD_HOLD], NULL, NULL);
                size_t count = rig->server_call_count;
                UNTIL(rig, rig->server_call_count > count);
                size_t length = metadata_add(block, 0, "first", "1");
                length = metadata_add(block, length, "x", value);
                length = metadata_add(block, length, "last", "1");
                crpc_status status = {
                    .code = 9, .message = (const uint8_t *)message, .message_length = message_length,
                    .details = details, .details_length = details_length, .metadata = block, .metadata_length = length};
                EXPECT_EQUAL(call_finish_with(rig_server_call(rig), &status), CRPC_OK);
                value[value_length] = 'v';
                raw_forget(raw);
                UNTIL(rig, raw_read(raw) && raw_find_end(raw, id) != NULL);
                EXPECT(raw_frame_has(raw_find_end(raw, id), "grpc-status", "9"));
                EXPECT(block_cost(raw_find_end(raw, id)) <= CRPC_TRAILERS_MAX);
                // What fits is there: the message, the details, then entries, also after one that does not fit.
                const raw_frame *end = raw_find_end(raw, id);
                bool has_details = memmem(end->payload, end->length, "-bin: AAAA", 10) != NULL;
                if (message_length == 0) EXPECT_EQUAL(has_details, details_length > 0 && details_length <= 5632);
                EXPECT(has_details || raw_frame_has(raw_find_end(raw, id), "first", "1"));
                EXPECT(has_details || raw_frame_has(raw_find_end(raw, id), "last", "1"));
            }
        }
    }
    raw_free(raw);
    rig_end(rig);
}

TEST(entries_that_may_not_be_sent_are_left_out_of_trailers) {
    rig *rig = rig_start(NULL);
    peer *peer = rig_open(rig);
    call *call = call_unary(peer, METHOD_HOLD, "x");
    UNTIL(rig, rig->server_call_count == 1);
    uint8_t block[256];
    size_t length = metadata_add(block, 0, "grpc-status", "0");
    length = metadata_add(block, length, "Upper", "x");
    length = metadata_add(block, length, "x-good", "1");
    length = metadata_add(block, length, "x-bad", "line\nbreak");
    crpc_status status = {.code = 9, .metadata = block, .metadata_length = length};
    EXPECT_EQUAL(call_finish_with(rig_server_call(rig), &status), CRPC_OK);
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 9);
    EXPECT_EQUAL(metadata_count(call->trailers, call->trailers_length), 1);
    EXPECT(metadata_has(call->trailers, call->trailers_length, "x-good", "1"));
    rig_end(rig);
}
