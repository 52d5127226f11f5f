#include "report.h"

#include <signal.h>
#include <string.h>

#include "calls.h"

static void add_byte(ccrash_text *text, char byte) {
    if (text->count < text->max) text->bytes[text->count++] = byte;
}

static void add(ccrash_text *text, const char *string) {
    while (*string != '\0') add_byte(text, *string++);
}

/// Names and ids are printable ASCII without quotation marks; what is not becomes a question mark, so that nothing breaks out of its
/// place. `least` is the first byte that may be there.
static void add_printable(ccrash_text *text, const char *bytes, size_t count, char least) {
    if (count == 0) add_byte(text, '-');
    for (size_t i = 0; i < count; i++) {
        char byte = bytes[i];
        bool is_plain = byte >= least && byte < 0x7F && byte != '"' && byte != '\\';
        add_byte(text, is_plain ? byte : '?');
    }
}

/// A route's name has a space in it.
static void add_name(ccrash_text *text, const char *bytes, size_t count) { add_printable(text, bytes, count, ' '); }

/// An id comes from a client. It has no space, since the last word behind a name is the id.
static void add_id(ccrash_text *text, const char *bytes, size_t count) { add_printable(text, bytes, count, '!'); }

static void add_number(ccrash_text *text, int64_t number, int width) {
    char digits[20];
    int count = 0;
    uint64_t rest = number < 0 ? 0 : (uint64_t)number;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0 && count < (int)sizeof digits);
    for (int i = count; i < width; i++) add_byte(text, '0');
    while (count > 0) add_byte(text, digits[--count]);
}

/// RFC 3339 in UTC with milliseconds. `gmtime` is not async-signal-safe.
static void add_time(ccrash_text *text, const ccrash_moment *moment) {
    int64_t second = moment->seconds % 86400;
    // Days to a civil date, in eras of 400 years that begin on 1 March.
    int64_t shifted = moment->seconds / 86400 + 719468;
    int64_t era = shifted / 146097;
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted_month = (5 * day_of_year + 2) / 153;
    int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
    add_number(text, year_of_era + era * 400 + (month <= 2 ? 1 : 0), 4);
    add_byte(text, '-');
    add_number(text, month, 2);
    add_byte(text, '-');
    add_number(text, day_of_year - (153 * shifted_month + 2) / 5 + 1, 2);
    add_byte(text, 'T');
    add_number(text, second / 3600, 2);
    add_byte(text, ':');
    add_number(text, second / 60 % 60, 2);
    add_byte(text, ':');
    add_number(text, second % 60, 2);
    add_byte(text, '.');
    add_number(text, moment->milliseconds, 3);
    add_byte(text, 'Z');
}

static const char *signal_name(int number) {
    switch (number) {
    case SIGILL: return "SIGILL";
    case SIGTRAP: return "SIGTRAP";
    case SIGABRT: return "SIGABRT";
    case SIGFPE: return "SIGFPE";
    case SIGBUS: return "SIGBUS";
    case SIGSEGV: return "SIGSEGV";
    default: return "another signal";
    }
}

static bool is_in_flight(const struct ccrash_call *call) {
    return atomic_load_explicit(&call->state, memory_order_acquire) == CCRASH_CALL_IN_FLIGHT;
}

/// Whether the crashed thread, which calls this, handled the call.
static bool is_running(const struct ccrash_call *call) {
    void *task = ccrash_current_task();
    return call->task != NULL ? call->task == task : task == NULL && pthread_equal(call->thread, pthread_self()) != 0;
}

static const struct ccrash_call *running_call(void) {
    for (size_t i = 0; i < CCRASH_CALLS_MAX; i++) {
        if (is_in_flight(&ccrash_calls[i]) && is_running(&ccrash_calls[i])) return &ccrash_calls[i];
    }
    return NULL;
}

static void add_call_as_json(ccrash_text *text, const struct ccrash_call *call) {
    add(text, "\"method\":\"");
    add_name(text, call->method, call->method_bytes);
    add(text, "\",\"request_id\":\"");
    add_id(text, call->id, call->id_bytes);
    add_byte(text, '"');
}

static void add_call_as_text(ccrash_text *text, const struct ccrash_call *call) {
    add_name(text, call->method, call->method_bytes);
    add_byte(text, ' ');
    add_id(text, call->id, call->id_bytes);
}

static int64_t add_calls_in_flight(ccrash_text *text, bool writes_json) {
    int64_t count = 0;
    for (size_t i = 0; i < CCRASH_CALLS_MAX; i++) {
        if (!is_in_flight(&ccrash_calls[i]) || ++count > CCRASH_LISTED_MAX) continue;
        if (count > 1) add(text, writes_json ? "," : "; ");
        if (writes_json) add_byte(text, '{');
        if (writes_json) add_call_as_json(text, &ccrash_calls[i]);
        else add_call_as_text(text, &ccrash_calls[i]);
        if (writes_json) add_byte(text, '}');
    }
    return count;
}

void ccrash_write_line(ccrash_text *text, const char *program, const char *version, bool writes_json, const ccrash_moment *moment) {
    const struct ccrash_call *running = running_call();
    if (writes_json) add(text, "{\"time\":\"");
    add_time(text, moment);
    add(text, writes_json ? "\",\"level\":\"critical\",\"logger\":\"" : " critical ");
    add_name(text, program, strlen(program));
    add(text, writes_json ? "\",\"message\":\"crashed\",\"signal\":\"" : ": crashed signal=");
    add(text, signal_name(moment->signal));
    add(text, writes_json ? "\",\"version\":\"" : " version=");
    add_name(text, version, strlen(version));
    if (writes_json) add_byte(text, '"');
    if (running != NULL) {
        add(text, writes_json ? "," : " running=\"");
        if (writes_json) add_call_as_json(text, running);
        else add_call_as_text(text, running);
        if (!writes_json) add_byte(text, '"');
    }
    add(text, writes_json ? ",\"in_flight\":[" : " in_flight=\"");
    int64_t count = add_calls_in_flight(text, writes_json);
    add(text, writes_json ? "],\"in_flight_count\":" : "\" in_flight_count=");
    add_number(text, count, 1);
    add(text, writes_json ? "}\n" : "\n");
}

void ccrash_write_report(ccrash_text *text, const char *version, const ccrash_moment *moment) {
    const struct ccrash_call *running = running_call();
    add(text, "signal ");
    add(text, signal_name(moment->signal));
    add(text, "\nversion ");
    add_name(text, version, strlen(version));
    add(text, "\nseconds ");
    add_number(text, moment->seconds, 1);
    add_byte(text, '\n');
    if (running != NULL) {
        add(text, "running ");
        add_call_as_text(text, running);
        add_byte(text, '\n');
    }
    int64_t listed = 0;
    for (size_t i = 0; i < CCRASH_CALLS_MAX && listed < CCRASH_LISTED_MAX; i++) {
        if (!is_in_flight(&ccrash_calls[i]) || &ccrash_calls[i] == running) continue;
        listed++;
        add(text, "call ");
        add_call_as_text(text, &ccrash_calls[i]);
        add_byte(text, '\n');
    }
    add(text, "end\n");
}
