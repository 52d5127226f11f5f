/*
 * A C face for what this project asks ICU about names: the normal form of a text, whether a word mixes scripts so that it
 * can pass for another one, and how a letter joins its neighbours. ICU's own names carry its version and are macros, which
 * Swift can't see.
 *
 * Threads: every function may be called from any thread at any time. The checker is opened once, by the first call that
 * needs it (cnames_prepare() pays that at start), and only read from then on, which ICU allows from any number of threads
 * (uspoof.h, "Thread Safety").
 *
 * Ownership: nothing is handed over. Texts are read during the call only, results are written into the caller's memory, and
 * nothing has to be freed. The checker stays until the process ends.
 *
 * Cost: some microseconds for a name, without I/O and without a lock, so they may be called on an event loop.
 */
#ifndef CNAMES_H
#define CNAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest text that is looked at, in bytes of UTF-8. */
#define CNAMES_BYTES_MAX 8192

/* What became of a text. */
enum cnames_result {
    CNAMES_OK = 0,
    /* The text is longer than CNAMES_BYTES_MAX, or its normal form than the room for it. */
    CNAMES_TOO_LONG = 1,
    /* The text is not UTF-8. */
    CNAMES_MALFORMED = 2,
    /* ICU failed, most likely for lack of memory. */
    CNAMES_FAILED = 3
};

/* How a letter joins its neighbours in scripts such as Arabic (Unicode Standard, section 9.2, table 9-3). */
enum cnames_joining {
    CNAMES_JOINS_NONE = 0,
    CNAMES_JOINS_BEFORE = 1,
    CNAMES_JOINS_AFTER = 2,
    CNAMES_JOINS_BOTH = 3,
    /* A mark that is looked through. */
    CNAMES_JOINS_TRANSPARENT = 4
};

/* Opens the checker now instead of with the first word. May be called any number of times. Returns false if ICU failed. */
bool cnames_prepare(void);

/*
 * Writes the normal form C (Unicode Standard Annex 15) of `length` bytes at `text` to `normal`, which has room for `room`
 * bytes, and its length to `normal_length`; no zero byte is added. Letters and digits that are only another style or width
 * of plain ones (mathematical alphabets, full-width Latin) become these first; nothing else is made compatible.
 *
 * `text` and `normal` must not overlap. `normal_length` is written only with CNAMES_OK.
 */
enum cnames_result cnames_normalize(const char *text, size_t length, char *normal, size_t room, size_t *normal_length);

/*
 * Says by `is_mixed` whether the letters and digits of one word are from scripts that no language writes together
 * (Unicode Technical Standard 39, section 5.2). In order is what is moderately restrictive there: one script, the mixtures of Chinese,
 * Japanese and Korean, and Latin with one other recommended script but Greek and Cyrillic; and, narrower than there, with no
 * script that has capitals, since such letters pass for Latin ones. Digits must be of one system.
 *
 * `is_mixed` is written only with CNAMES_OK.
 */
enum cnames_result cnames_check_word(const char *word, size_t length, bool *is_mixed);

/* How a code point joins its neighbours; CNAMES_JOINS_NONE for what is none. */
enum cnames_joining cnames_joining(uint32_t code_point);

#endif
