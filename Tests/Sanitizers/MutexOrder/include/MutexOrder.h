// Lets ThreadSanitizer see what a contended `Synchronization.Mutex` orders. Nothing is to be called: linking is enough.
