import RPC

/// An error that defines its own response to callers.
public protocol AnswerableError: Error {
    /// The status, the stable reason and the words for people.
    ///
    /// - Parameter mayBeRepeated: whether the call has the effect of one however often it is made.
    func rpcError(mayBeRepeated: Bool) -> RPCError
}

/// All that the rules of one service refuse. It is a closed enum, and the service's `…ErrorMap.swift` says in one switch what
/// callers get for each case.
public protocol DomainError: AnswerableError {
    /// The status, the stable reason and the words for people.
    var rpcError: RPCError { get }
}

extension DomainError {
    /// The response to callers, which is the same whether the call may be repeated or not.
    public func rpcError(mayBeRepeated: Bool) -> RPCError { rpcError }
}
