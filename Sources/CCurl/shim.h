/// libcurl 7.88 or later, and what Swift cannot see of it: functions with variable arguments. For each type of argument that we
/// use there is one function here, and nothing more.
#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H

#include <curl/curl.h>
#include <stdint.h>

_Static_assert(LIBCURL_VERSION_NUM >= 0x075800, "libcurl 7.88 or later");

// The parentheses leave out curl's macros of the same names: their checks want an option that is constant.

/// `curl_easy_setopt` is variadic; options that take a number.
static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
    return (curl_easy_setopt)(easy, option, value);
}

/// `curl_easy_setopt` is variadic; options that take a size.
static inline CURLcode ccurl_set_size(CURL *easy, CURLoption option, int64_t value) {
    return (curl_easy_setopt)(easy, option, (curl_off_t)value);
}

/// `curl_easy_setopt` is variadic; options that take a text, which libcurl copies.
static inline CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value) {
    return (curl_easy_setopt)(easy, option, value);
}

/// `curl_easy_setopt` is variadic; options that take a pointer, which must live as long as `easy` uses it.
static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return (curl_easy_setopt)(easy, option, value);
}

/// `curl_easy_setopt` is variadic; CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
static inline CURLcode ccurl_set_receiver(
    CURL *easy, CURLoption option, size_t (*function)(char *bytes, size_t one, size_t count, void *context)) {
    return (curl_easy_setopt)(easy, option, function);
}

/// `curl_easy_setopt` is variadic; CURLOPT_PREREQFUNCTION.
static inline CURLcode ccurl_set_before_request(CURL *easy, curl_prereq_callback function) {
    return (curl_easy_setopt)(easy, CURLOPT_PREREQFUNCTION, function);
}

/// `curl_easy_setopt` is variadic; CURLOPT_RESOLVER_START_FUNCTION.
static inline CURLcode ccurl_set_before_resolving(CURL *easy, curl_resolver_start_callback function) {
    return (curl_easy_setopt)(easy, CURLOPT_RESOLVER_START_FUNCTION, function);
}

/// `curl_easy_setopt` is variadic; CURLOPT_OPENSOCKETFUNCTION.
static inline CURLcode ccurl_set_open_socket(CURL *easy, curl_opensocket_callback function) {
    return (curl_easy_setopt)(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}

/// `curl_easy_setopt` is variadic; CURLOPT_CLOSESOCKETFUNCTION.
static inline CURLcode ccurl_set_close_socket(CURL *easy, curl_closesocket_callback function) {
    return (curl_easy_setopt)(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
}

/// `curl_easy_setopt` is variadic; CURLOPT_SSL_CTX_FUNCTION.
static inline CURLcode ccurl_set_tls_context(CURL *easy, curl_ssl_ctx_callback function) {
    return (curl_easy_setopt)(easy, CURLOPT_SSL_CTX_FUNCTION, function);
}

/// `curl_easy_getinfo` is variadic; information that is a number.
static inline CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) {
    return (curl_easy_getinfo)(easy, info, value);
}

/// `curl_multi_setopt` is variadic; options that take a number.
static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return (curl_multi_setopt)(multi, option, value);
}

/// `curl_multi_setopt` is variadic; options that take a pointer, which must live as long as `multi`.
static inline CURLMcode ccurl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return (curl_multi_setopt)(multi, option, value);
}

/// `curl_multi_setopt` is variadic; CURLMOPT_SOCKETFUNCTION.
static inline CURLMcode ccurl_multi_set_watch(CURLM *multi, curl_socket_callback function) {
    return (curl_multi_setopt)(multi, CURLMOPT_SOCKETFUNCTION, function);
}

/// `curl_multi_setopt` is variadic; CURLMOPT_TIMERFUNCTION.
static inline CURLMcode ccurl_multi_set_timer(CURLM *multi, curl_multi_timer_callback function) {
    return (curl_multi_setopt)(multi, CURLMOPT_TIMERFUNCTION, function);
}

#endif
