/* Preloaded into a program: ends it, as kill -9 does, right after its n-th call that changes a file below a folder.
 *
 * KILLER_FOLDER is the folder, KILLER_AFTER is n. With n larger than the number of such calls nothing happens. With
 * KILLER_RENAMES only those calls count that give a file its name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { DESCRIPTORS = 1024 };
static int is_watched[DESCRIPTORS];
static long calls;

static int is_below(const char *path) {
    const char *folder = getenv("KILLER_FOLDER");
    return folder != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

enum change { CONTENT, NAME };

static void changed(enum change change) {
    const char *after = getenv("KILLER_AFTER");
    if (getenv("KILLER_RENAMES") != NULL && change != NAME) return;
    if (after != NULL && ++calls == strtol(after, NULL, 10)) kill(getpid(), SIGKILL);
}

static int opened(int descriptor, const char *path, int flags) {
    if (descriptor < 0 || descriptor >= DESCRIPTORS) return descriptor;
    is_watched[descriptor] = is_below(path);
    if (is_watched[descriptor] && (flags & O_CREAT) != 0) changed(CONTENT);
    return descriptor;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define MODE(flags, mode) \
    mode_t mode = 0; \
    if (((flags) & O_CREAT) != 0) { \
        va_list arguments; \
        va_start(arguments, flags); \
        mode = va_arg(arguments, mode_t); \
        va_end(arguments); \
    }

int open(const char *path, int flags, ...) {
    MODE(flags, mode)
    return opened(NEXT(open)(path, flags, mode), path, flags);
}

int open64(const char *path, int flags, ...) {
    MODE(flags, mode)
    return opened(NEXT(open64)(path, flags, mode), path, flags);
}

/* `status` of a call on a descriptor, after which the program may end. */
static int done(int status, int descriptor) {
    if (descriptor >= 0 && descriptor < DESCRIPTORS && is_watched[descriptor]) changed(CONTENT);
    return status;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    ssize_t written = NEXT(write)(descriptor, bytes, count);
    done(0, descriptor);
    return written;
}

int fsync(int descriptor) { return done(NEXT(fsync)(descriptor), descriptor); }
int fchmod(int descriptor, mode_t mode) { return done(NEXT(fchmod)(descriptor, mode), descriptor); }

int rename(const char *from, const char *to) {
    int status = NEXT(rename)(from, to);
    if (is_below(to)) changed(NAME);
    return status;
}

int unlink(const char *path) {
    int status = NEXT(unlink)(path);
    if (is_below(path)) changed(CONTENT);
    return status;
}
