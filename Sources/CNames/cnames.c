#include "cnames.h"

#include <pthread.h>
#include <stdlib.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/uspoof.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Written once, under `once`; null if ICU failed. */
static const USpoofChecker *checker;

static void open_checker(void)
{
    UErrorCode status = U_ZERO_ERROR;
    USpoofChecker *made = uspoof_open(&status);
    if (U_FAILURE(status)) return;
    uspoof_setRestrictionLevel(made, USPOOF_MODERATELY_RESTRICTIVE);
    /* Invisible characters are the caller's business, which knows where a joiner is needed. */
    uspoof_setChecks(made, USPOOF_RESTRICTION_LEVEL | USPOOF_MIXED_NUMBERS, &status);
    if (U_FAILURE(status)) {
        uspoof_close(made);
        return;
    }
    checker = made;
}

bool cnames_prepare(void) { return pthread_once(&once, open_checker) == 0 && checker != NULL; }

/* The code point at *offset, which moves on; below zero if there is no UTF-8. ICU's macro converts as it likes. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
static UChar32 next_code_point(const char *text, int32_t length, int32_t *offset)
{
    UChar32 c;
    U8_NEXT(text, *offset, length, c);
    return c;
}
#pragma GCC diagnostic pop

/* Whether a code point is a letter or digit that only looks different from a plain one. */
static bool is_styled(UChar32 c)
{
    if (!u_isalnum(c)) return false;
    int32_t type = u_getIntPropertyValue(c, UCHAR_DECOMPOSITION_TYPE);
    return type == U_DT_FONT || type == U_DT_WIDE;
}

/*
 * Appends a code point, in plain style, to UTF-16 text of *length units with room for `room`. The decomposition of a styled
 * character is at most 18 units long (that of U+FDFA, which is none of these types).
 */
static bool append_plain(UChar32 c, const UNormalizer2 *compatible, UChar *units, int32_t room, int32_t *length)
{
    UChar plain[32];
    int32_t count = 0;
    if (is_styled(c)) {
        UErrorCode status = U_ZERO_ERROR;
        count = unorm2_getDecomposition(compatible, c, plain, 32, &status);
        if (U_FAILURE(status)) return false;
    }
    if (count <= 0) {
        count = 0;
        U16_APPEND_UNSAFE(plain, count, c);
    }
    if (room - *length < count) return false;
    u_memcpy(units + *length, plain, count);
    *length += count;
    return true;
}

/* With `units` and `normal`, rooms of `room` units each. */
static enum cnames_result normalize(const char *text, int32_t length, UChar *units, UChar *normal, int32_t room,
                                    char *output, int32_t output_room, size_t *output_length)
{
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *compatible = unorm2_getNFKCInstance(&status);
    const UNormalizer2 *canonical = unorm2_getNFCInstance(&status);
    if (U_FAILURE(status)) return CNAMES_FAILED;

    int32_t unit_count = 0;
    for (int32_t offset = 0; offset < length;) {
        UChar32 c = next_code_point(text, length, &offset);
        if (c < 0) return CNAMES_MALFORMED;
        if (!append_plain(c, compatible, units, room, &unit_count)) return CNAMES_TOO_LONG;
    }
    int32_t normal_count = unorm2_normalize(canonical, units, unit_count, normal, room, &status);
    if (status == U_BUFFER_OVERFLOW_ERROR) return CNAMES_TOO_LONG;
    if (U_FAILURE(status)) return CNAMES_FAILED;
    int32_t written = 0;
    u_strToUTF8(output, output_room, &written, normal, normal_count, &status);
    if (status == U_BUFFER_OVERFLOW_ERROR) return CNAMES_TOO_LONG;
    if (U_FAILURE(status)) return CNAMES_FAILED;
    *output_length = (size_t)written;
    return CNAMES_OK;
}

enum cnames_result cnames_normalize(const char *text, size_t length, char *normal, size_t room, size_t *normal_length)
{
    if (length > CNAMES_BYTES_MAX) return CNAMES_TOO_LONG;
    if (length == 0) {
        *normal_length = 0;
        return CNAMES_OK;
    }
    int32_t output_room = room > INT32_MAX ? INT32_MAX : (int32_t)room;
    /* A byte of UTF-8 is at most one unit of UTF-16, of which normal form C makes at most three (Annex 15, section 10). */
    int32_t unit_room = 3 * (int32_t)length;
    UChar *units = malloc(2 * (size_t)unit_room * sizeof *units);
    if (units == NULL) return CNAMES_FAILED;
    enum cnames_result result = normalize(text, (int32_t)length, units, units + unit_room, unit_room, normal,
                                          output_room, normal_length);
    free(units);
    return result;
}

/*
 * Whether Latin letters stand beside letters of another script that has capitals, as Armenian and Georgian: theirs pass for
 * Latin ones, and the checker takes them. (Marks and digits belong to no script of their own.)
 */
static bool mixes_capitals(const char *word, int32_t length)
{
    bool has_latin = false, has_other = false;
    for (int32_t offset = 0; offset < length;) {
        UChar32 c = next_code_point(word, length, &offset);
        if (c < 0) return false;
        UErrorCode status = U_ZERO_ERROR;
        UScriptCode script = uscript_getScript(c, &status);
        if (U_FAILURE(status) || script == USCRIPT_COMMON || script == USCRIPT_INHERITED) continue;
        int8_t type = u_charType(c);
        bool has_case = type == U_UPPERCASE_LETTER || type == U_LOWERCASE_LETTER || type == U_TITLECASE_LETTER;
        if (script == USCRIPT_LATIN) has_latin = true;
        else if (has_case) has_other = true;
    }
    return has_latin && has_other;
}

enum cnames_result cnames_check_word(const char *word, size_t length, bool *is_mixed)
{
    if (length > CNAMES_BYTES_MAX) return CNAMES_TOO_LONG;
    if (!cnames_prepare()) return CNAMES_FAILED;
    UErrorCode status = U_ZERO_ERROR;
    int32_t found = uspoof_checkUTF8(checker, word, (int32_t)length, NULL, &status);
    if (U_FAILURE(status)) return CNAMES_FAILED;
    *is_mixed = found != 0 || mixes_capitals(word, (int32_t)length);
    return CNAMES_OK;
}

enum cnames_joining cnames_joining(uint32_t code_point)
{
    if (code_point > UCHAR_MAX_VALUE) return CNAMES_JOINS_NONE;
    switch (u_getIntPropertyValue((UChar32)code_point, UCHAR_JOINING_TYPE)) {
    case U_JT_DUAL_JOINING:
    case U_JT_JOIN_CAUSING: return CNAMES_JOINS_BOTH;
    case U_JT_LEFT_JOINING: return CNAMES_JOINS_AFTER;
    case U_JT_RIGHT_JOINING: return CNAMES_JOINS_BEFORE;
    case U_JT_TRANSPARENT: return CNAMES_JOINS_TRANSPARENT;
    default: return CNAMES_JOINS_NONE;
    }
}
