/// What the fuzzers share: checks, and a connection carried in memory whose other end the fuzzer plays.
#ifndef CRPC_FUZZ_H
#define CRPC_FUZZ_H

#include "carrier.h"

/// Ends the process, which libFuzzer reports with the input.
#define CHECK(condition) \
    do { \
        if (!(condition)) fuzz_fail(#condition, __FILE__, __LINE__); \
    } while (0)
_Noreturn void fuzz_fail(const char *text, const char *file, int line);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/// An input being taken apart from its front. Past its end it gives zeros.
typedef struct fuzz_input {
    const uint8_t *bytes;
    size_t length;
} fuzz_input;

uint8_t fuzz_take_byte(fuzz_input *input);
/// At most `length` bytes; how many there are comes back.
size_t fuzz_take(fuzz_input *input, size_t length, const uint8_t **bytes);

/// One connection, without a socket and a clock: each turn takes a millisecond, so that an input does the same each time.
typedef struct fuzz_scene {
    carrier carrier;
    uint32_t live_calls; // reported and not closed
} fuzz_scene;

void fuzz_scene_begin(fuzz_scene *scene);
/// Runs a turn, and drops what the connection sent.
void fuzz_turn(fuzz_scene *scene);
/// The other end goes away. Checks that the connection ends, and that it leaves nothing behind.
void fuzz_scene_end(fuzz_scene *scene);
/// Plays the peer as the input says. Its first byte chooses: bit 0, whether it is a sequence of frames in short form
/// (type, flags, stream, length of two bytes, payload) and not raw bytes; bit 1, whether preface and SETTINGS go
/// before; bits 2 to 4, how many bytes go between two turns (0: all).
void fuzz_play(fuzz_scene *scene, fuzz_input *input, bool is_client);
/// Lets the connection finish what it has begun.
void fuzz_settle(fuzz_scene *scene);

/// Memory for a message to send, filled with a byte.
void *fuzz_message(size_t length, uint8_t fill);

#endif
