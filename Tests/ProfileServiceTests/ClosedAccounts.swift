import API
import APIDoubles
import Models
import RPC
import SwiftProtobuf
import Synchronization

/// Simulates the identity service: knows closed accounts, receives events, and can fail.
final class ClosedAccounts: RPCService {
    private struct State {
        var closed: Set<String> = []
        var seen: [String: Int64] = [:]
        var failure: Status.Code?
        var questionCount = 0
        var wantedTypes: [String] = []
        var refusedUser = ""
        var events: [IdentityV1.ServiceEvent] = []
    }
    private let state = Mutex(State())

    /// From now on this account is closed.
    func close(_ userID: UserID) { state.withLock { _ = $0.closed.insert(userID.description) } }

    /// Sets when this account was last seen, in Unix milliseconds.
    func see(_ userID: UserID, atMilliseconds time: Int64) { state.withLock { $0.seen[userID.description] = time } }

    /// The error that each call returns while it is set.
    var failure: Status.Code? {
        get { state.withLock { $0.failure } }
        set { state.withLock { $0.failure = newValue } }
    }

    /// The number of calls.
    var questionCount: Int { state.withLock { $0.questionCount } }

    /// The event types that webhook targets want.
    var wantedTypes: [String] {
        get { state.withLock { $0.wantedTypes } }
        set { state.withLock { $0.wantedTypes = newValue } }
    }

    /// From now on events of this user are refused, with all others of their request.
    func refuse(_ userID: UserID) { state.withLock { $0.refusedUser = userID.description } }

    /// The accepted events, in order.
    var events: [IdentityV1.ServiceEvent] { state.withLock { $0.events } }

    func register(in router: inout Router) {
        var answers = IdentityServiceDouble.Answers()
        answers.getAccountState = { request, _ in
            try self.state.withLock { state in
                state.questionCount += 1
                if let failure = state.failure { throw RPCError(failure, "not now") }
                var response = IdentityV1.GetAccountStateResponse()
                response.isClosed = state.closed.contains(request.userID)
                response.lastSeenAtMs = state.seen[request.userID] ?? 0
                return response
            }
        }
        answers.acceptEvents = { request, _ in
            try self.state.withLock { state in
                if let failure = state.failure { throw RPCError(failure, "not now") }
                if request.events.contains(where: { $0.userID == state.refusedUser }) {
                    throw RPCError(.invalidArgument, "never")
                }
                state.events += request.events
                return IdentityV1.AcceptEventsResponse.with { $0.wantedTypes = state.wantedTypes }
            }
        }
        IdentityServiceDouble(answers).register(in: &router)
    }
}
