/*
 * A C face for the two questions that this project asks libphonenumber: which number does a text mean, and what kind
 * of number is it. Nothing of C++ crosses this header.
 *
 * Threads: every function may be called from any thread at any time. The library's metadata is loaded once, by the
 * first call that needs it (some milliseconds; cphone_prepare() pays that at start, before the first request), and
 * only read from then on.
 *
 * Ownership: nothing is handed over. Texts are read during the call only, results are written into the caller's
 * memory, and nothing has to be freed.
 *
 * Failure: no exception leaves these functions; what the library throws, running out of memory included, becomes
 * CPHONE_FAILED. The library's own log is silenced, since it would print people's numbers.
 *
 * Cost: one cphone_parse() is about ten microseconds of CPU, without I/O and without a lock that is ever held for longer
 * than a look into the cache of compiled patterns, so it may be called on an event loop.
 */
#ifndef CPHONENUMBER_H
#define CPHONENUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest text that is looked at, in bytes: room for 15 full-width digits with separators and marks. */
#define CPHONE_INPUT_BYTES_MAX 128

/* The most digits a number has, country code included (E.164, section 6.1). */
#define CPHONE_DIGITS_MAX 15

/* What became of a text. */
enum cphone_result {
    /* The text is a number that its region's numbering plan assigns. */
    CPHONE_OK = 0,
    /* The text can't be read as a number. */
    CPHONE_NOT_A_NUMBER = 1,
    /* The text reads as a number, but no region's numbering plan has it. */
    CPHONE_NOT_ASSIGNED = 2,
    /* The text is longer than CPHONE_INPUT_BYTES_MAX. */
    CPHONE_TOO_LONG = 3,
    /* The text names an extension behind the number, and so isn't a number of its own. */
    CPHONE_HAS_EXTENSION = 4,
    /* The default region is unknown to the library. */
    CPHONE_UNKNOWN_REGION = 5,
    /* The library failed, most likely for lack of memory. */
    CPHONE_FAILED = 6
};

/* The kinds of numbers that numbering plans tell apart. */
enum cphone_kind {
    CPHONE_KIND_FIXED_LINE = 0,
    CPHONE_KIND_MOBILE = 1,
    /* The plan doesn't tell the two apart, as in North America. */
    CPHONE_KIND_FIXED_LINE_OR_MOBILE = 2,
    CPHONE_KIND_VOIP = 3,
    /* Toll-free, premium, shared cost, pager, voice mail and what else no single person owns. */
    CPHONE_KIND_OTHER = 4
};

/* A number as cphone_parse() found it. */
struct cphone_number {
    /* The E.164 digits without the plus, country code first, ended by a zero byte. */
    char digits[CPHONE_DIGITS_MAX + 1];
    /* How many digits there are, 1 to CPHONE_DIGITS_MAX. */
    size_t digit_count;
    /* The ISO 3166-1 alpha-2 code of the region that the number belongs to, in capitals, ended by a zero byte;
       "001" for numbers of no region, such as those of international networks. */
    char region[4];
    /* The kind of the number. */
    enum cphone_kind kind;
};

/*
 * Loads the library's metadata now instead of with the first parse. May be called any number of times.
 * Returns false if the library failed.
 */
bool cphone_prepare(void);

/*
 * Whether the library knows a region. `region` is an ISO 3166-1 alpha-2 code in capitals, ended by a zero byte.
 * Returns false for anything else, also for a null pointer, and if the library failed.
 */
bool cphone_region_is_known(const char *region);

/*
 * Reads `length` bytes of UTF-8 at `text` as a phone number, in the notations that people in `default_region`
 * (as in cphone_region_is_known) use, or in the international one. A stray trunk prefix after the country code is
 * dropped, as the region's plan says.
 *
 * `text` needs no zero byte at its end and may be null if `length` is 0. `number` is written only with CPHONE_OK and
 * must not be null.
 */
enum cphone_result cphone_parse(const char *text, size_t length, const char *default_region,
                                struct cphone_number *number);

#ifdef __cplusplus
}
#endif

#endif
