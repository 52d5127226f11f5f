// Swift's Glibc module leaves this header out.
#include <sys/timerfd.h>
