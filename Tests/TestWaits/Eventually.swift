import Testing

/// How long a test waits for something that must happen. It bounds a test that would hang and measures nothing, so it is long enough
/// for a machine whose cores do something else.
public let eventualLimit = Duration.seconds(120)

/// Waits until a condition holds. Fails the test and throws if it doesn't within the limit.
public func eventually(
    _ what: Comment? = nil,
    within limit: Duration = eventualLimit,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ holds: () async throws -> Bool
) async throws {
    try await eventualValue(what, within: limit, sourceLocation: sourceLocation) { try await holds() ? () : nil }
}

/// Waits until there is a value, and returns it. Fails the test and throws if there is none within the limit.
public func eventualValue<Value>(
    _ what: Comment? = nil,
    within limit: Duration = eventualLimit,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ value: () async throws -> Value?
) async throws -> Value {
    let end = ContinuousClock.now + limit
    while true {
        if let value = try await value() { return value }
        try #require(ContinuousClock.now < end, what ?? "not within \(limit)", sourceLocation: sourceLocation)
        try await Task.sleep(for: .milliseconds(2))
    }
}
