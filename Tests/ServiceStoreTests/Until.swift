import Testing

/// Waits until something is so; fails after five seconds.
func until(_ isSo: () async throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let end = ContinuousClock.now + .seconds(5)
    while try await !isSo() {
        guard ContinuousClock.now < end else {
            Issue.record("not so within five seconds", sourceLocation: sourceLocation)
            throw CancellationError()
        }
        try await Task.sleep(for: .milliseconds(1))
    }
}
