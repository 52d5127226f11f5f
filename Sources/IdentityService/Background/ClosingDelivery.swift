import API
import Models
import RPC
import ServiceKit

/// Tells a service that accounts were closed.
struct ClosingDelivery: Sendable {
    /// How long the service may take for a batch. The relay holds a transaction meanwhile, so it is well below what that may
    /// take. It is enough for any account: a service answers when the closing is durable, and forgets what takes longer beside the calls.
    static let timeout = Duration.seconds(5)
    /// How many calls of a batch are under way at once.
    static let callsMax = 8
    /// A batch of so many is one of a backlog: nobody waits for each of them, so that they are told one at a time, with a rest of so
    /// many times as long as each took. Else the services and the database would have no time for those who do wait.
    static let backlogMin = 20
    static let restShare = 3
    /// The longest such rest: a service that is slow has time for others by itself.
    static let restMax = Duration.milliseconds(20)

    /// Closes an account at the service.
    let close: @Sendable (_ userID: String, CallOptions) async throws(RPCError) -> Void

    /// Tells all of these events or, if it throws, some: they may be told again.
    ///
    /// - Throws: `OutboxSetback` if the service failed on one or took too long, `RPCError` if it isn't there for anybody. None is
    ///   ever set aside: an account that was deleted is deleted everywhere, however long that takes.
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
    /// Tells profile.
    init(_ profile: ProfileServiceClient) {
        self.init { (userID, options) throws(RPCError) in
            var request = ProfileV1.CloseAccountRequest()
            request.userID = userID
            _ = try await profile.closeAccount(request, options: options)
        }
    }

    /// Tells invites.
    init(_ invites: InvitesServiceClient) {
        self.init { (userID, options) throws(RPCError) in
            var request = InvitesV1.CloseAccountRequest()
            request.userID = userID
            _ = try await invites.closeAccount(request, options: options)
        }
    }
}
