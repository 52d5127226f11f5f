import API
import IdentityDomain
import Logging
import Models
import Postgres
import RPC
import ServiceKit

/// Performs absorptions: asks invites and profile whether an account is empty, upon which they hold and close it, and moves
/// identity's data. A guest's account need not be empty: its groups follow once it is closed.
///
/// Each step is idempotent, and is stored before the next: after a crash another process continues with the unfinished step.
/// Profile's yes is the point of no return; until then everything can be undone.
struct AccountMerger: Sendable {
    /// How often to look for unfinished absorptions that no process works on.
    static let pollInterval: Duration = .seconds(5)
    /// The maximum of unfinished absorptions that one round takes.
    static let takenMax = 16
    /// How long a service may take for one step.
    static let timeout: Duration = .seconds(3)

    let store: IdentityStore
    let profile: ProfileServiceClient
    let invites: InvitesServiceClient
    let keys: CurrentKeys
    let identifiers: IdentifierSource
    let clock: WallClock
    /// Called after a commit that ended sessions and closed an account.
    let accountClosed: @Sendable () -> Void
    let guests: GuestMetrics
    let logger: Logger
    let metrics = AbsorptionMetrics()

    /// Performs all remaining steps.
    ///
    /// - Parameter isNew: whether the absorption was just begun, so that no step was tried before.
    /// - Returns: the finished absorption; nil if neither account is empty.
    /// - Throws: the errors of a service or the database; then the absorption continues later.
    ///   `IdentityError.link(.absorptionUnderWay)` if another process works on it.
    func finish(_ begun: Absorption, isNew: Bool = false) async throws -> Absorption? {
        var absorption = begun
        // Whether this is the first request in this step. Otherwise an earlier request may have been executed, whatever the response
        // is now.
        var isFirst = isNew
        while true {
            switch absorption.step {
            case .asking:
                guard try await isHeld(absorption, isFirst: isFirst) else {
                    guard let turned = try await turned(absorption) else { return nil }
                    absorption = turned
                    isFirst = true
                    continue
                }
                // Profile's closing is final, so it isn't done for an account that is gone or mustn't be opened any more.
                let isWanted = try await store.isWanted(absorption, nowMilliseconds: clock.nowMilliseconds)
                absorption = try await go(absorption, to: isWanted ? .closing : .reopening)
            case .closing:
                absorption = try await go(absorption, to: isClosed(absorption, isFirst: isFirst) ? .moving : .reopening)
            case .reopening:
                try await reopen(absorption)
                guard let turned = try await turned(absorption) else { return nil }
                absorption = turned
            case .moving:
                let isDone = try await store.absorb(
                    absorption,
                    vault: keys.current.vault,
                    eventIDs: (identifiers.make(), identifiers.make()),
                    nowMilliseconds: clock.nowMilliseconds
                )
                if isDone {
                    accountClosed()
                    if absorption.isGuest { guests.count(.merged) }
                }
                return absorption
            }
            isFirst = true
        }
    }

    /// Continues absorptions that other processes left unfinished, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await round()
            try? await Task.sleep(for: Self.pollInterval)
        }
    }

    /// Continues unfinished absorptions, one after the other. A failed one waits behind the others.
    func round() async {
        do {
            var turnsLeft = Self.takenMax
            while turnsLeft > 0, let left = try await store.takeAbsorption(nowMilliseconds: clock.nowMilliseconds) {
                turnsLeft -= 1
                do { _ = try await finish(left) } catch IdentityError.link(.absorptionUnderWay) {
                    // Another process works on it.
                } catch {
                    guard !Task.isCancelled else { return }
                    metrics.countFailure()
                    logger.warning(
                        "an absorption is gone on with later",
                        metadata: ["step": "\(left.step.rawValue)", "cause": "\(error)"]
                    )
                    try await store.postpone(left, nowMilliseconds: clock.nowMilliseconds)
                }
            }
            metrics.set(oldest: try await store.oldestAbsorption(), nowMilliseconds: clock.nowMilliseconds)
        } catch {
            guard !Task.isCancelled else { return }
            logger.debug("absorptions are not looked for", metadata: ["cause": "\(error)"])
        }
    }

    private func go(_ absorption: Absorption, to step: Absorption.Step) async throws -> Absorption {
        let isMine = try await store.go(absorption, to: step, nowMilliseconds: clock.nowMilliseconds)
        guard isMine else { throw IdentityError.link(.absorptionUnderWay) }
        return Absorption(
            id: absorption.id,
            absorbed: absorption.absorbed,
            absorber: absorption.absorber,
            asker: absorption.asker,
            isGuest: absorption.isGuest,
            step: step
        )
    }

    private func turned(_ absorption: Absorption) async throws -> Absorption? {
        try await store.turn(absorption, as: identifiers.make(), nowMilliseconds: clock.nowMilliseconds)
    }

    /// Returns whether invites holds the account. A version without this method has done nothing, but another replica may have.
    private func isHeld(_ absorption: Absorption, isFirst: Bool) async throws -> Bool {
        var request = InvitesV1.CloseIfEmptyRequest()
        request.userID = absorption.absorbed.description
        request.absorptionID = absorption.id.description
        request.isGuest = absorption.isGuest
        do {
            return try await invites.closeIfEmpty(request, options: CallOptions(timeout: Self.timeout)).isEmpty
        } catch {
            guard isFirst, Self.isUnknown(error) else { throw error }
            return false
        }
    }

    /// Returns whether profile has closed the account.
    private func isClosed(_ absorption: Absorption, isFirst: Bool) async throws -> Bool {
        var request = ProfileV1.CloseIfEmptyRequest()
        request.userID = absorption.absorbed.description
        request.absorptionID = absorption.id.description
        request.isGuest = absorption.isGuest
        do {
            return try await profile.closeIfEmpty(request, options: CallOptions(timeout: Self.timeout)).isEmpty
        } catch {
            guard isFirst, Self.isUnknown(error) else { throw error }
            return false
        }
    }

    private func reopen(_ absorption: Absorption) async throws {
        var request = InvitesV1.ReopenAccountRequest()
        request.userID = absorption.absorbed.description
        request.absorptionID = absorption.id.description
        _ = try await invites.reopenAccount(request, options: CallOptions(timeout: Self.timeout))
    }

    /// Returns whether the service doesn't know the method, or doesn't let us call it.
    private static func isUnknown(_ error: RPCError) -> Bool {
        error.code == .unimplemented || error.code == .permissionDenied
    }
}
