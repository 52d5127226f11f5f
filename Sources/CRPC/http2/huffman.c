#include "http2/huffman.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { LOOKUP_BITS = CRPC_HUFFMAN_LOOKUP_BITS, PAIR = 2, LEAST_BITS = 5, PADDING_BITS_MAX = 7 };

/// Bits of each symbol's code (RFC 7541 appendix B), without the one that ends a string, which is an error inside of one.
/// The code is canonical: codes of the same length follow each other in the order of their symbols, and longer ones
/// follow shorter ones. So their lengths say all.
static const uint8_t code_bits[256] = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28,
    28, 28, 6,  10, 10, 12, 13, 6,  8,  11, 10, 10, 8,  11, 8,  6,  6,  6,  5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8,
    15, 6,  12, 10, 13, 6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  8,  7,
    8,  13, 19, 13, 14, 6,  15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,  6,  7,  6,  5,  5,  6,  7,  7,
    7,  7,  7,  15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23,
    23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21,
    23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21,
    26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
};

/// The symbols whose codes lie whole at the front of the bits looked at, and the bits that they take. No symbols: what
/// lies there is part of a longer code.
typedef struct lookup {
    uint8_t symbols[PAIR];
    uint8_t count, bits;
} lookup;

static lookup huffman_table[1 << LOOKUP_BITS];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

/// Enters all that begins with the symbols `found` already has, at the front of `code`, and ends there.
static void huffman_enter(lookup found, uint32_t code) {
    unsigned free_bits = LOOKUP_BITS - found.bits;
    for (uint32_t rest = 0; rest < 1u << free_bits; rest++) huffman_table[code << free_bits | rest] = found;
}

/// Enters each pair of symbols that begins with this one, wherever a second fits.
static void huffman_enter_pairs(lookup first, uint32_t first_code, const uint32_t codes[256]) {
    for (unsigned symbol = 0; symbol < 256; symbol++) {
        unsigned bits = first.bits + code_bits[symbol];
        if (bits > LOOKUP_BITS) continue;
        lookup both = {.symbols = {first.symbols[0], (uint8_t)symbol}, .count = PAIR, .bits = (uint8_t)bits};
        huffman_enter(both, first_code << code_bits[symbol] | codes[symbol]);
    }
}

static void huffman_make_table(void) {
    uint32_t codes[256] = {0}, next = 0;
    for (unsigned bits = LEAST_BITS; bits <= LOOKUP_BITS; bits++) {
        for (unsigned symbol = 0; symbol < 256; symbol++)
            if (code_bits[symbol] == bits) codes[symbol] = next++;
        next <<= 1;
    }
    for (unsigned symbol = 0; symbol < 256; symbol++) {
        if (code_bits[symbol] > LOOKUP_BITS) continue;
        lookup one = {.symbols = {(uint8_t)symbol}, .count = 1, .bits = code_bits[symbol]};
        huffman_enter(one, codes[symbol]);
        huffman_enter_pairs(one, codes[symbol], codes);
    }
}

void crpc_huffman_prepare(void) { (void)pthread_once(&table_once, huffman_make_table); }

/// Bits that wait to be decoded: the `count` highest of `bits`. Those after them are the next ones, or zero.
typedef struct window {
    const uint8_t *next, *end;
    uint64_t bits;
    unsigned count;
} window;

/// Takes in bytes until there is no room for another, or none is left.
static inline void fill(window *window) {
    if (window->end - window->next >= 8) {
        uint64_t more;
        memcpy(&more, window->next, sizeof more);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        more = __builtin_bswap64(more);
#endif
        unsigned taken = (63 - window->count) / 8; // whole bytes; what else of them goes in is seen again
        window->bits |= more >> window->count;
        window->next += taken;
        window->count += taken * 8;
        return;
    }
    while (window->count <= 56 && window->next < window->end) {
        window->bits |= (uint64_t)*window->next++ << (56 - window->count);
        window->count += 8;
    }
}

/// Decodes the last bits, which are fewer than are looked at once. The end of the text, or NULL.
static uint8_t *decode_last(window *window, uint8_t *target) {
    while (window->count > 0) {
        uint64_t padded = window->bits | UINT64_MAX >> window->count;
        const lookup *found = &huffman_table[padded >> (64 - LOOKUP_BITS)];
        unsigned bits = code_bits[found->symbols[0]];
        if (found->count == 0 || bits > window->count) break;
        *target++ = found->symbols[0];
        window->bits <<= bits;
        window->count -= bits;
    }
    // Padding is the beginning of the code that ends a string: ones, and less than a byte of them.
    bool is_padding = (window->bits | UINT64_MAX >> window->count) == UINT64_MAX;
    return window->count == 0 || (is_padding && window->count <= PADDING_BITS_MAX) ? target : NULL;
}

ssize_t crpc_huffman_decode(const uint8_t *bytes, size_t length, uint8_t *target) {
    window window = {.next = bytes, .end = bytes + length};
    uint8_t *end = target;
    for (;;) {
        if (window.count < LOOKUP_BITS) {
            fill(&window);
            if (window.count < LOOKUP_BITS) break;
        }
        const lookup *found = &huffman_table[window.bits >> (64 - LOOKUP_BITS)];
        if (found->count == 0) return -1;
        memcpy(end, found->symbols, PAIR); // without a branch that no processor could predict
        end += found->count;
        window.bits <<= found->bits;
        window.count -= found->bits;
    }
    end = decode_last(&window, end);
    return end == NULL ? -1 : end - target;
}
