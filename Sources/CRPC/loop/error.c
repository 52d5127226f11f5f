#include "crpc_error.h"
#include "loop/states.h"

#include <stdio.h>
#include <stdlib.h>

const char *crpc_error_text(int error) {
    switch (error) {
    case CRPC_OK: return "no error";
    case CRPC_ERROR_MEMORY: return "out of memory";
    case CRPC_ERROR_SYSTEM: return "a system call failed";
    case CRPC_ERROR_PROTOCOL: return "the peer broke the protocol";
    case CRPC_ERROR_TLS: return "TLS failed";
    case CRPC_ERROR_CLOSED: return "closed";
    case CRPC_ERROR_ARGUMENT: return "an argument is not acceptable";
    case CRPC_ERROR_LIMIT: return "a limit was reached";
    case CRPC_ERROR_TIMEOUT: return "the time limit passed";
    case CRPC_ERROR_ADDRESS_IN_USE: return "the address is in use";
    default: return "unknown error";
    }
}

_Noreturn void crpc_die(const char *why) {
    (void)fprintf(stderr, "fatal: %s\n", why);
    abort();
}
