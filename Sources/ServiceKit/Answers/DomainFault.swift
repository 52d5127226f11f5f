import RPC

/// All that the rules of one service refuse. It is a closed enum, and the service's `ErrorMap.swift` says in one switch what
/// callers are told of each case.
public protocol DomainFault: Error {
    /// The status, the stable reason and the words for people.
    var rpcError: RPCError { get }
}
