import API
import IdentityDomain
import Logging
import Models
import Postgres
import RPC
import ServiceKit

/// Goes on with absorptions: asks invites and profile whether an account is empty, which hold and close it then, and moves what identity has.
///
/// Each step is as good twice as once, and is written down before the next: whoever comes after a crash goes on with the step
/// that isn't. Profile's yes is the point of no return; until then everything can be undone.
struct AccountMerger: Sendable {
    /// How often is looked for absorptions that nobody goes on with.
    static let pollInterval: Duration = .seconds(5)
    /// How many of them have their turn between two looks at what waits.
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
    let logger: Logger
    let metrics = AbsorptionMetrics()

    /// Goes through all steps that are left.
    ///
    /// - Parameter isNew: whether nobody has gone on with it before.
    /// - Returns: the absorption as it was done; nil if neither account is empty.
    /// - Throws: what a service or the database throws: it is gone on with later. `IdentityError.link(.absorptionUnderWay)` if somebody
    ///   else goes on with it.
    func finish(_ begun: Absorption, isNew: Bool = false) async throws -> Absorption? {
        var absorption = begun
        // Whether this is the first to ask in this step. Otherwise what was asked before may have been done, whatever is answered now.
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
                // What profile closes stays closed: not for an account that is gone, or mustn't be opened any more.
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
                if isDone { accountClosed() }
                return absorption
            }
            isFirst = true
        }
    }

    /// Goes on with what others have left, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await round()
            try? await Task.sleep(for: Self.pollInterval)
        }
    }

    /// Goes on with what others have left, one after the other. What fails waits behind the others.
    func round() async {
        do {
            var turnsLeft = Self.takenMax
            while turnsLeft > 0, let left = try await store.takeAbsorption(nowMilliseconds: clock.nowMilliseconds) {
                turnsLeft -= 1
                do { _ = try await finish(left) } catch IdentityError.link(.absorptionUnderWay) {
                    // Somebody else goes on with it.
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
            step: step
        )
    }

    private func turned(_ absorption: Absorption) async throws -> Absorption? {
        try await store.turn(absorption, as: identifiers.make(), nowMilliseconds: clock.nowMilliseconds)
    }

    /// Whether invites holds the account. A version that can't has done nothing, but another replica may have.
    private func isHeld(_ absorption: Absorption, isFirst: Bool) async throws -> Bool {
        var request = InvitesV1.CloseIfEmptyRequest()
        request.userID = absorption.absorbed.description
        request.absorptionID = absorption.id.description
        do {
            return try await invites.closeIfEmpty(request, options: CallOptions(timeout: Self.timeout)).isEmpty
        } catch {
            guard isFirst, Self.isUnknown(error) else { throw error }
            return false
        }
    }

    /// Whether profile has closed the account.
    private func isClosed(_ absorption: Absorption, isFirst: Bool) async throws -> Bool {
        var request = ProfileV1.CloseIfEmptyRequest()
        request.userID = absorption.absorbed.description
        request.absorptionID = absorption.id.description
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

    /// Whether the service doesn't know the method, or doesn't let us call it.
    private static func isUnknown(_ error: RPCError) -> Bool {
        error.code == .unimplemented || error.code == .permissionDenied
    }
}
