/// Memory that can be made to fail. `run.sh` puts this header before each file of CRPC, whose allocations, and those of
/// its nghttp2 sessions, then come here.
#ifndef CRPC_TEST_MEMORY_H
#define CRPC_TEST_MEMORY_H

#include "memory_control.h"

#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void *memory_malloc(size_t size);
void *memory_calloc(size_t count, size_t size);
void *memory_realloc(void *memory, size_t size);
char *memory_strdup(const char *text);
int memory_callbacks_new(nghttp2_session_callbacks **callbacks);
int memory_option_new(nghttp2_option **option);
int memory_server_new(
    nghttp2_session **session, const nghttp2_session_callbacks *callbacks, void *user, const nghttp2_option *option);
int memory_client_new(
    nghttp2_session **session, const nghttp2_session_callbacks *callbacks, void *user, const nghttp2_option *option);
int memory_inflate_init(z_stream *stream, int window_bits, const char *version, int size);
int memory_deflate_init(
    z_stream *stream, int level, int method, int window_bits, int memory_level, int strategy, const char *version, int size);

#ifndef CRPC_TEST_MEMORY_PLAIN
#define malloc(size) memory_malloc(size)
#define calloc(count, size) memory_calloc(count, size)
#define realloc(memory, size) memory_realloc(memory, size)
#undef strdup
#define strdup(text) memory_strdup(text)
#define nghttp2_session_callbacks_new(callbacks) memory_callbacks_new(callbacks)
#define nghttp2_option_new(option) memory_option_new(option)
#define nghttp2_session_server_new2(session, callbacks, user, option) \
    memory_server_new(session, callbacks, user, option)
#define nghttp2_session_client_new2(session, callbacks, user, option) \
    memory_client_new(session, callbacks, user, option)
#define inflateInit2_(stream, window_bits, version, size) memory_inflate_init(stream, window_bits, version, size)
#define deflateInit2_(stream, level, method, window_bits, memory_level, strategy, version, size) \
    memory_deflate_init(stream, level, method, window_bits, memory_level, strategy, version, size)
#endif

#endif
