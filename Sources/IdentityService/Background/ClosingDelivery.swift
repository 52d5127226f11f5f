import API
import Models
import RPC
import ServiceKit

/// Delivers closed accounts to a service.
struct ClosingDelivery: Sendable {
    /// How long the service may take for a batch. The relay holds a transaction meanwhile, so this is well below a transaction's limit.
    /// It is enough for any account: a service answers when the closing is durable, and deletes what takes longer in the background.
    static let timeout = Duration.seconds(5)
    /// How many calls of a batch are under way at once.
    static let callsMax = 8
    /// A batch of at least so many events is a backlog: no caller waits for them, so they are delivered one at a time, each followed
    /// by a rest of ``restShare`` times its duration. Else the services and the database would have no time for waiting callers.
    static let backlogMin = 20
    static let restShare = 3
    /// The longest such rest: a slow service has time for others anyway.
    static let restMax = Duration.milliseconds(20)

    /// Closes an account at the service.
    let close: @Sendable (_ userID: String, CallOptions) async throws(RPCError) -> Void

    /// Delivers all of these events or, if it throws, some: they may be delivered again.
    ///
    /// - Throws: `OutboxSetback` if the service failed on one or took too long, `RPCError` if it is unreachable. No event is ever
    ///   parked: an account that was deleted is deleted everywhere, however long that takes.
    func deliver(_ events: [ClosingRows.Event]) async throws {
        let options = CallOptions(deadline: .after(Self.timeout))
        guard events.count < Self.backlogMin else {
            for event in events {
                let began = ContinuousClock.now
                try await tell(event, options)
                try await Task.sleep(for: min((ContinuousClock.now - began) * Self.restShare, Self.restMax))
            }
            return
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, event) in events.enumerated() {
                if index >= Self.callsMax { try await group.next() }
                group.addTask { try await tell(event, options) }
            }
            try await group.waitForAll()
        }
    }

    private func tell(_ event: ClosingRows.Event, _ options: CallOptions) async throws {
        do {
            try await close(event.userID.description, options)
        } catch {
            switch error.outboxFailure {
            case let rejection as OutboxRejection:
                throw OutboxSetback(reason: rejection.reason, cause: error, isEventAtFault: false)
            case let setback as OutboxSetback:
                throw OutboxSetback(reason: setback.reason, cause: setback.cause, isEventAtFault: false)
            case let failure: throw failure
            }
        }
    }
}

extension ClosingDelivery {
    /// Delivers to profile.
    init(_ profile: ProfileServiceClient) {
        self.init { (userID, options) throws(RPCError) in
            var request = ProfileV1.CloseAccountRequest()
            request.userID = userID
            _ = try await profile.closeAccount(request, options: options)
        }
    }

    /// Delivers to invites.
    init(_ invites: InvitesServiceClient) {
        self.init { (userID, options) throws(RPCError) in
            var request = InvitesV1.CloseAccountRequest()
            request.userID = userID
            _ = try await invites.closeAccount(request, options: options)
        }
    }
}
