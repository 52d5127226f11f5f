import IdentityDomain
import Models
import RPC

/// Hands all Apple users over to another developer team, or takes over the users whom another team handed over.
///
/// It goes through the users in the order of their subjects, stores each answer at once, and asks only about users without an
/// answer. So a killed command resumes when it is run again, and two at once do no harm.
struct AppleTransfer: Sendable {
    /// The maximum of concurrent requests.
    static let atOnceMax = 8
    /// After so many rounds in a row without any answer the command fails.
    static let failuresMax = 12
    /// The longest pause between such rounds, in seconds: with ``failuresMax`` some seven minutes in all.
    static let pauseSecondsMax: Int64 = 60
    /// If at least so many are rejected and none succeeds, the team is wrong.
    static let rejectedFirstMax: Int64 = 20

    private enum Outcome: Sendable {
        case done
        case gone
        case rejected(String)
        case unauthorized
        case unavailable
    }

    let store: IdentityStore
    let endpoint: UserMigrationEndpoint
    let order: AppleTransferOrder
    let clock: WallClock
    /// Waits; tests replace it.
    var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// The two teams of the transfer.
    ///
    /// - Throws: ``AppleTransferError`` if the order doesn't fit the configuration.
    func teams() throws(AppleTransferError) -> TeamTransfer {
        let (transfer, other) =
            switch order.step {
            case .export(let team): (TeamTransfer(from: endpoint.teamID, to: team), team)
            case .import(let team): (TeamTransfer(from: team, to: endpoint.teamID), team)
            }
        guard UserMigration.isTeamID(other) else { throw .teamInvalid }
        guard transfer.from != transfer.to else { throw .sameTeam(other) }
        return transfer
    }

    /// Runs the transfer. A dry order only counts the users and asks Apple for an access token.
    ///
    /// - Throws: ``AppleTransferError``, or the database's errors; finished users stay done.
    func run(_ tell: @Sendable (AppleTransferEvent) -> Void) async throws -> AppleTransferProgress {
        let transfer = try teams()
        let total =
            switch order.step {
            case .export: try await store.exportableCount(to: transfer.to)
            case .import: try await store.importableCount(transfer)
            }
        var progress = AppleTransferProgress(total: total)
        var token = try await accessToken(tell)
        if order.isDry { return progress }
        tell(.progress(progress))
        var last = ""
        while true {
            let people = try await page(transfer, after: last)
            guard let end = people.last else { return progress }
            last = end.subject
            try await finish(people, transfer, &token, &progress, tell)
        }
    }

    private func page(_ transfer: TeamTransfer, after subject: String) async throws -> [TransferredPerson] {
        switch order.step {
        case .export: try await store.exportable(to: transfer.to, after: subject, limit: order.perSecond)
        case .import: try await store.importable(transfer, after: subject, limit: order.perSecond)
        }
    }

    /// Asks about users until there is an answer for each, no faster than ordered.
    private func finish(
        _ people: [TransferredPerson],
        _ transfer: TeamTransfer,
        _ token: inout String,
        _ progress: inout AppleTransferProgress,
        _ tell: @Sendable (AppleTransferEvent) -> Void
    ) async throws {
        var waiting = people
        var failures = 0
        while true {
            let begun = ContinuousClock.now
            let outcomes = try await ask(waiting, transfer, token)
            var again: [TransferredPerson] = []
            var isTokenOver = false
            for (person, outcome) in outcomes {
                switch outcome {
                case .done: progress.done += 1
                case .gone: progress.gone += 1
                case .rejected(let reason):
                    progress.rejected += 1
                    tell(.rejected(userID: person.userID.description, reason: reason))
                case .unauthorized:
                    isTokenOver = true
                    again.append(person)
                case .unavailable: again.append(person)
                }
            }
            tell(.progress(progress))
            if progress.rejected >= Self.rejectedFirstMax, progress.done == 0, progress.gone == 0 {
                throw AppleTransferError.allRejected(progress.rejected)
            }
            failures = again.count == waiting.count ? failures + 1 : 0
            guard failures < Self.failuresMax else { throw AppleTransferError.unavailable }
            if isTokenOver { token = try await accessToken(tell) }
            if again.isEmpty {
                let rest = .seconds(1) - (ContinuousClock.now - begun)
                if rest > .zero { try await pause(rest) }
                return
            }
            try await wait(failures, tell)
            waiting = again
        }
    }

    /// Asks about each user, a few at once, and stores the answers.
    private func ask(
        _ people: [TransferredPerson],
        _ transfer: TeamTransfer,
        _ token: String
    ) async throws -> [(TransferredPerson, Outcome)] {
        let results = await withEach(of: people, atOnce: Self.atOnceMax) { person in
            do {
                return Result<_, any Error>.success((person, try await ask(person, transfer, token)))
            } catch {
                return .failure(error)
            }
        }
        return try results.map { try $0.get() }
    }

    private func ask(_ person: TransferredPerson, _ transfer: TeamTransfer, _ token: String) async throws -> Outcome {
        switch (order.step, person.transferSubject) {
        case (.export, _):
            let answer = await endpoint.transferSubject(of: person.subject, to: transfer.to, token: token)
            return try await outcome(answer) { transferSubject in
                let isKept = try await store.keepTransfer(
                    of: person.subject,
                    transferSubject,
                    transfer,
                    nowMilliseconds: clock.nowMilliseconds
                )
                return isKept ? .done : .gone
            }
        case (.import, let transferSubject?):
            let answer = await endpoint.arrival(transferSubject, token: token)
            return try await outcome(answer) { arrival in
                let move = try await store.moveSubject(
                    transferredBy: transferSubject,
                    to: arrival.subject,
                    privateEmail: arrival.privateEmail,
                    nowMilliseconds: clock.nowMilliseconds,
                    deadline: .after(IdentityStore.transferStatementLimit)
                )
                switch move {
                case .moved: return .done
                case .gone: return .gone
                case .taken(let other): return .rejected("subject_taken by \(other)")
                }
            }
        case (.import, nil):
            return .gone
        }
    }

    private func outcome<Value>(
        _ answer: UserMigrationAnswer<Value>,
        _ keep: (Value) async throws -> Outcome
    ) async throws -> Outcome {
        switch answer {
        case .told(let value): try await keep(value)
        case .refused(let error): .rejected(error)
        case .unauthorized: .unauthorized
        case .notConfigured(let error): throw AppleTransferError.refused(error)
        case .unavailable: .unavailable
        }
    }

    private func accessToken(_ tell: @Sendable (AppleTransferEvent) -> Void) async throws -> String {
        for failures in 1...Self.failuresMax {
            switch await endpoint.accessToken() {
            case .told(let token): return token
            case .refused(let error), .notConfigured(let error): throw AppleTransferError.refused(error)
            case .unauthorized: throw AppleTransferError.refused("status 401")
            case .unavailable: try await wait(failures, tell)
            }
        }
        throw AppleTransferError.unavailable
    }

    /// Waits longer each time, with jitter between commands.
    private func wait(_ failures: Int, _ tell: @Sendable (AppleTransferEvent) -> Void) async throws {
        let seconds = min(Self.pauseSecondsMax, 1 << Int64(min(failures, 6)))
        tell(.waiting(seconds: seconds))
        try await pause(.seconds(seconds) + .milliseconds(Int64.random(in: 0...500)))
    }
}
