// Writes what a crash report says into memory of a fixed size. Async-signal-safe.
#ifndef CCRASH_REPORT_H
#define CCRASH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Bytes of the log line and of the report: room for `CCRASH_LISTED_MAX` calls and the rest.
#define CCRASH_REPORT_BYTES_MAX 24576

/// Text that is being written. What does not fit is left out.
typedef struct {
    char *bytes;
    size_t count;
    size_t max;
} ccrash_text;

/// When and by what the process crashed.
typedef struct {
    int signal;
    int64_t seconds;      ///< since 1970
    int64_t milliseconds; ///< of that second
} ccrash_moment;

/// Writes the log line, as other lines of the log are written.
void ccrash_write_line(ccrash_text *text, const char *program, const char *version, bool writes_json, const ccrash_moment *moment);

/// Writes the report file: one fact a line. The lines of calls are `running METHOD ID` for the one that the crashed thread handled, and
/// `call METHOD ID` for others; an unknown id is `-`.
void ccrash_write_report(ccrash_text *text, const char *version, const ccrash_moment *moment);

#endif
