// `Synchronization.Mutex` takes a free lock with an atomic instruction in the caller's own code, which ThreadSanitizer sees.
// A contended one it takes and gives in the standard library, which is not instrumented: what the lock guards would look
// like a race. The two functions here stand in front of the library's and say what they order.

#define _GNU_SOURCE
#include "MutexOrder.h"

#if defined(__has_feature) && __has_feature(thread_sanitizer)

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

// Synchronization._MutexHandle._lockSlow(Swift.UInt32) -> () and ._unlockSlow() -> ()
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef __attribute__((swiftcall)) void lock_slow(uint32_t self_id, __attribute__((swift_context)) void *handle);
typedef __attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *handle);

__attribute__((swiftcall)) void mutex_order_lock(uint32_t self_id, __attribute__((swift_context)) void *handle)
    __asm__(LOCK_SLOW);
__attribute__((swiftcall)) void mutex_order_unlock(__attribute__((swift_context)) void *handle) __asm__(UNLOCK_SLOW);

static void *library(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL)
        abort();
    return function;
}

__attribute__((swiftcall)) void mutex_order_lock(uint32_t self_id, __attribute__((swift_context)) void *handle)
{
    lock_slow *real = (lock_slow *)library(LOCK_SLOW);
    real(self_id, handle);
    __tsan_acquire(handle);
}

__attribute__((swiftcall)) void mutex_order_unlock(__attribute__((swift_context)) void *handle)
{
    unlock_slow *real = (unlock_slow *)library(UNLOCK_SLOW);
    __tsan_release(handle);
    real(handle);
}

#endif
