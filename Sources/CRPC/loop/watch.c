#include "loop/loop.h"

#include <stdlib.h>
#include <sys/epoll.h>

// Watches, hooks and timers that Swift or a test makes: on the heap, freed by their creator.

static uint32_t watch_events(int interest) {
    return (interest & CRPC_READABLE ? (uint32_t)EPOLLIN : 0u) | (interest & CRPC_WRITABLE ? (uint32_t)EPOLLOUT : 0u);
}

int crpc_watch_begin(
    crpc_watch *watch, crpc_loop *loop, int fd, int interest, crpc_watch_function function, void *context) {
    struct epoll_event event = {.events = watch_events(interest), .data = {.ptr = watch}};
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) return CRPC_ERROR_SYSTEM;
    *watch = (crpc_watch){.loop = loop, .function = function, .context = context, .fd = fd, .interest = interest};
    return CRPC_OK;
}

int crpc_watch_new(
    crpc_loop *loop, int fd, int interest, crpc_watch_function function, void *context, crpc_watch **result) {
    crpc_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) return CRPC_ERROR_MEMORY;
    int error = crpc_watch_begin(watch, loop, fd, interest, function, context);
    if (error != CRPC_OK) {
        free(watch);
        return error;
    }
    *result = watch;
    return CRPC_OK;
}

int crpc_watch_set_interest(crpc_watch *watch, int interest) {
    if (interest == watch->interest) return CRPC_OK;
    struct epoll_event event = {.events = watch_events(interest), .data = {.ptr = watch}};
    if (epoll_ctl(watch->loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event) != 0) return CRPC_ERROR_SYSTEM;
    watch->interest = interest;
    return CRPC_OK;
}

/// Ends it. False if epoll has not removed the file, since its descriptor was closed before.
static bool watch_remove(crpc_watch *watch) {
    if (watch->function == NULL) return true;
    crpc_loop *loop = watch->loop;
    bool is_removed = epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL) == 0;
    watch->function = NULL;
    for (int i = loop->ready_at; i < loop->ready_count; i++)
        if (loop->ready[i] == watch) loop->ready[i] = NULL;
    return is_removed;
}

void crpc_watch_end(crpc_watch *watch) { (void)watch_remove(watch); }

void crpc_watch_free(crpc_watch *watch) {
    if (watch == NULL) return;
    crpc_loop *loop = watch->loop;
    if (watch_remove(watch)) {
        free(watch);
        return;
    }
    // epoll forgets a closed descriptor with its open file, which lives on while another process has it: a child between fork
    // and exec. Until then it reports the file, with the pointer to this watch. libcurl closes sockets whose connection failed
    // before it ends their watch.
    free(loop->stale[loop->stale_at]);
    loop->stale[loop->stale_at] = watch;
    loop->stale_at = (loop->stale_at + 1) % CRPC_STALE_WATCHES_MAX;
}

int crpc_timer_new(crpc_loop *loop, crpc_function function, void *context, crpc_timer **result) {
    crpc_timer *timer = malloc(sizeof *timer);
    if (timer == NULL) return CRPC_ERROR_MEMORY;
    crpc_timer_init(timer, &loop->timers, function, context);
    *result = timer;
    return CRPC_OK;
}

void crpc_timer_free(crpc_timer *timer) {
    if (timer == NULL) return;
    crpc_timer_cancel(timer);
    free(timer);
}

int crpc_hook_new(crpc_loop *loop, crpc_function function, void *context, crpc_hook **result) {
    crpc_hook *hook = calloc(1, sizeof *hook);
    if (hook == NULL) return CRPC_ERROR_MEMORY;
    hook->loop = loop;
    hook->function = function;
    hook->context = context;
    crpc_link_init(&hook->link);
    *result = hook;
    return CRPC_OK;
}

void crpc_hook_request(crpc_hook *hook) {
    if (crpc_link_is_empty(&hook->link)) crpc_link_append(&hook->loop->hooks, &hook->link);
}

void crpc_hook_free(crpc_hook *hook) {
    if (hook == NULL) return;
    crpc_link_remove(&hook->link);
    free(hook);
}
