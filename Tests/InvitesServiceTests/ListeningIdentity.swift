import API
import APIDoubles
import RPC
import SwiftProtobuf
import Synchronization

/// Simulates the identity service: receives events.
final class ListeningIdentity: Sendable {
    private struct State {
        var wantedTypes: [String] = []
        var events: [IdentityV1.ServiceEvent] = []
    }
    private let state = Mutex(State())

    /// The event types that webhook targets want.
    var wantedTypes: [String] {
        get { state.withLock { $0.wantedTypes } }
        set { state.withLock { $0.wantedTypes = newValue } }
    }

    /// The received events, in order.
    var events: [IdentityV1.ServiceEvent] { state.withLock { $0.events } }

    /// A client of the simulated service.
    var router: Router {
        var answers = IdentityServiceDouble.Answers()
        answers.acceptEvents = { request, _ in
            self.state.withLock { state in
                state.events += request.events
                return IdentityV1.AcceptEventsResponse.with { $0.wantedTypes = state.wantedTypes }
            }
        }
        var router = Router()
        IdentityServiceDouble(answers).register(in: &router)
        return router
    }
}
