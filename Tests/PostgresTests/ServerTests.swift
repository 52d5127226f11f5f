import Testing

/// All suites that run a server: one test after the other, since many of them look at the clock.
@Suite(.serialized)
enum ServerTests {}
