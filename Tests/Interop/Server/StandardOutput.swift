import Glibc

/// Writes out what was printed: into a pipe it would wait in a buffer until the process ends.
func flushStandardOutput() {
    fflush(nil)
}
