/// Which tokens of a session were received, as its row has it: of two that were issued for the same one, only one ever counts.
public struct ReceivedNumbers: Sendable, Hashable {
    /// The newest that was received; -1 if none was.
    public let base: Int64
    /// The one that was received before it.
    public let previous: Int64
    /// The oldest that was issued since; one more than any issued if none was.
    public let firstChild: Int64

    /// What a row says.
    public init(base: Int64, previous: Int64, firstChild: Int64) {
        self.base = base
        self.previous = previous
        self.firstChild = firstChild
    }

    /// What the use of an access token of this number means for its session. It is let pass in any case: what is decided is
    /// decided by the row a moment later, behind the call.
    public func use(of number: UInt32) -> NumberUse {
        let number = Int64(number)
        if number >= firstChild { return .acknowledges }
        return number > previous && number != base ? .contradicts : .known
    }
}

/// What the use of an access token means for its session.
public enum NumberUse: Sendable, Hashable {
    /// It was received before; or it is from before the one that was, and lives on for its few minutes.
    case known
    /// It shows that its number was received.
    case acknowledges
    /// It was issued beside one that was received, or before one was: somebody else has that. Outside the grace it is theft.
    case contradicts
}
