import Testing

/// All suites that run a server: one test after the other, since many of them look at the clock.
@Suite("With a real server", .serialized)
enum ServerTests {}
