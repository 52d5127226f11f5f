// Crash reports: what a process was doing when a signal such as SIGILL or SIGSEGV ended it.
//
// A process notes each call while it is in flight. When it crashes, a signal handler writes one log line and, where a folder was
// named, a report file, and the process then ends by that signal as it would have without this. Nothing is allocated after
// `ccrash_install`; the handler calls only functions that POSIX lists as async-signal-safe.
#ifndef CCRASH_H
#define CCRASH_H

#include <stdbool.h>
#include <stddef.h>

/// Calls in flight that are noted at once, and how many of those places are for streams alone, so that streams, which last, leave
/// room for other calls. Further ones are not noted.
#define CCRASH_CALLS_MAX 4096
#define CCRASH_STREAMS_MAX 1024
/// Bytes of a method's name that are kept; the rest is cut.
#define CCRASH_METHOD_BYTES_MAX 112
/// Bytes of a request id that are kept; the rest is cut.
#define CCRASH_ID_BYTES_MAX 128
/// Calls in flight that a report lists. It counts all of them.
#define CCRASH_LISTED_MAX 64
/// Bytes of a program's name, of its version and of a report file's path, each with its end.
#define CCRASH_NAME_BYTES_MAX 64
#define CCRASH_PATH_BYTES_MAX 1024

/// A noted call.
typedef struct ccrash_call ccrash_call;

/// Notes a call in flight, and the Swift task or thread that runs it, by which a crash is attributed to it.
///
/// Any thread; never waits, allocates nothing. The bytes are copied. Call it inside the task that handles the call.
///
/// Returns NULL if as many are noted as there may be, or nearly so. Whatever is returned must be given to `ccrash_call_ended` once.
ccrash_call *ccrash_call_began(const char *method, size_t method_bytes, const char *id, size_t id_bytes, bool is_stream);

/// Sets a noted call's request id, where that was not known at its beginning. Does nothing for NULL.
///
/// Any thread, but not at the same time as another function on this call.
void ccrash_call_set_id(ccrash_call *call, const char *id, size_t id_bytes);

/// Forgets a noted call. Does nothing for NULL. Any thread.
void ccrash_call_ended(ccrash_call *call);

/// How reports are written.
typedef struct {
    const char *program;     ///< the name in the log line
    const char *version;     ///< the program's version
    int log_descriptor;      ///< where the log line goes
    bool writes_json;        ///< whether the log line is JSON, or text
    const char *report_path; ///< the file to create for the report, which must not exist; NULL for none
} ccrash_options;

/// Has crashes reported: SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS and SIGSEGV. What handled a signal before handles it after the
/// report. The strings are copied.
///
/// Call it once, before other threads start. Returns 0, or -1 with `errno` set: ENAMETOOLONG for a string that is too long,
/// else what `sigaction` or `sigaltstack` sets.
int ccrash_install(const ccrash_options *options);

/// Gives the calling thread a stack for the signal handler, so that an overflow of its own stack is reported too. The memory is
/// the thread's own and ends with it. A stack that the thread has already is kept if it is large enough.
///
/// Returns 0, or -1 with `errno` set as `sigaltstack` does.
int ccrash_thread_began(void);

#endif
