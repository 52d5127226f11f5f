import API
import APIDoubles
import RPC
import Synchronization

/// Simulates the invites service: records its requests, and can be down or refuse.
final class RecordingInvites: RPCService {
    private struct State {
        var isDown = false
        var poison: Set<String> = []
        var broken: Set<String> = []
        var held: Set<String> = []
        var eventDelay: Duration?
        var events: [InvitesV1.PhoneEvent] = []
        var callCount = 0
        var failureCount = 0
    }
    private let state = Mutex(State())

    /// Answers UNAVAILABLE while it is true.
    var isDown: Bool {
        get { state.withLock { $0.isDown } }
        set { state.withLock { $0.isDown = newValue } }
    }

    /// Refuses each request with this number.
    func refuse(phone: String) { state.withLock { _ = $0.poison.insert(phone) } }

    /// Fails with INTERNAL, as a bug would, for each request with this number, until it is mended.
    func breakOn(phone: String) { state.withLock { _ = $0.broken.insert(phone) } }
    func mend() { state.withLock { ($0.broken, $0.held) = ([], []) } }

    /// Answers that the user of this number is held, for each request with it, until it is mended.
    func hold(phone: String) { state.withLock { _ = $0.held.insert(phone) } }

    /// The delay of each event.
    var eventDelay: Duration? {
        get { state.withLock { $0.eventDelay } }
        set { state.withLock { $0.eventDelay = newValue } }
    }

    /// All accepted events, in order, repetitions included.
    var events: [InvitesV1.PhoneEvent] { state.withLock { $0.events } }

    /// The accepted events, as `kind phone user`.
    var told: [String] {
        events.map { event in
            switch event.change {
            case .claimed(let claimed): "claimed \(event.phoneNumber.dropFirst()) \(claimed.userID)"
            case .released(let released): "released \(event.phoneNumber.dropFirst()) \(released.userID)"
            case nil: "nothing"
            }
        }
    }

    /// The number of calls, and of those that failed because it was down.
    var callCount: Int { state.withLock { $0.callCount } }
    var failureCount: Int { state.withLock { $0.failureCount } }

    func register(in router: inout Router) {
        var answers = InvitesServiceDouble.Answers()
        answers.applyPhoneEvents = { request, _ in try await self.apply(request) }
        InvitesServiceDouble(answers).register(in: &router)
    }

    private func apply(
        _ request: InvitesV1.ApplyPhoneEventsRequest
    ) async throws -> InvitesV1.ApplyPhoneEventsResponse {
        let delay = try state.withLock { state in
            state.callCount += 1
            if state.isDown {
                state.failureCount += 1
                throw RPCError(.unavailable, "down")
            }
            if request.events.contains(where: { state.poison.contains($0.phoneNumber) }) {
                throw RPCError.domain(.invalidArgument, reason: "EVENT_INVALID", message: "poison")
            }
            if request.events.contains(where: { state.broken.contains($0.phoneNumber) }) {
                state.failureCount += 1
                throw RPCError(.internalError, "a bug")
            }
            if request.events.contains(where: { state.held.contains($0.phoneNumber) }) {
                state.failureCount += 1
                throw RPCError.domain(.unavailable, reason: "ACCOUNT_HELD", message: "held", retryAfter: .seconds(1))
            }
            return state.eventDelay
        }
        // Rolled back if the caller gives up meanwhile.
        if let delay { try await Task.sleep(for: delay * request.events.count) }
        state.withLock { $0.events += request.events }
        return InvitesV1.ApplyPhoneEventsResponse()
    }
}
