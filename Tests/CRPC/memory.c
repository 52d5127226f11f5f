#define CRPC_TEST_MEMORY_PLAIN
#include "memory.h"

static size_t fail_at, count;
static bool fails_after;
static int pauses;

void memory_fail_at(size_t n, bool and_all_after) {
    fail_at = n;
    fails_after = and_all_after;
    count = 0;
}

size_t memory_count(void) { return count; }
void memory_pause(bool paused) { pauses += paused ? 1 : -1; }

static bool fails(void) {
    if (pauses > 0) return false;
    count += 1;
    return fail_at != 0 && (count == fail_at || (fails_after && count > fail_at));
}

void *memory_malloc(size_t size) { return fails() ? NULL : malloc(size); }
void *memory_calloc(size_t number, size_t size) { return fails() ? NULL : calloc(number, size); }
void *memory_realloc(void *memory, size_t size) { return fails() ? NULL : realloc(memory, size); }
char *memory_strdup(const char *text) { return fails() ? NULL : strdup(text); }

// nghttp2 takes its allocator with the session only; what it makes before that fails here as a whole.

int memory_callbacks_new(nghttp2_session_callbacks **callbacks) {
    return fails() ? NGHTTP2_ERR_NOMEM : nghttp2_session_callbacks_new(callbacks);
}

int memory_option_new(nghttp2_option **option) { return fails() ? NGHTTP2_ERR_NOMEM : nghttp2_option_new(option); }

static void *session_malloc(size_t size, void *user) {
    (void)user;
    return memory_malloc(size);
}

static void session_free(void *memory, void *user) {
    (void)user;
    free(memory);
}

static void *session_calloc(size_t number, size_t size, void *user) {
    (void)user;
    return memory_calloc(number, size);
}

static void *session_realloc(void *memory, size_t size, void *user) {
    (void)user;
    return memory_realloc(memory, size);
}

static nghttp2_mem session_memory = {
    .malloc = session_malloc, .free = session_free, .calloc = session_calloc, .realloc = session_realloc};

int memory_server_new(
    nghttp2_session **session, const nghttp2_session_callbacks *callbacks, void *user, const nghttp2_option *option) {
    return nghttp2_session_server_new3(session, callbacks, user, option, &session_memory);
}

int memory_client_new(
    nghttp2_session **session, const nghttp2_session_callbacks *callbacks, void *user, const nghttp2_option *option) {
    return nghttp2_session_client_new3(session, callbacks, user, option, &session_memory);
}

static void *zlib_allocate(void *context, unsigned items, unsigned size) {
    (void)context;
    return memory_calloc(items, size);
}

static void zlib_free(void *context, void *memory) {
    (void)context;
    free(memory);
}

int memory_inflate_init(z_stream *stream, int window_bits, const char *version, int size) {
    stream->zalloc = zlib_allocate;
    stream->zfree = zlib_free;
    return inflateInit2_(stream, window_bits, version, size);
}

int memory_deflate_init(
    z_stream *stream, int level, int method, int window_bits, int memory_level, int strategy, const char *version,
    int size) {
    stream->zalloc = zlib_allocate;
    stream->zfree = zlib_free;
    return deflateInit2_(stream, level, method, window_bits, memory_level, strategy, version, size);
}
