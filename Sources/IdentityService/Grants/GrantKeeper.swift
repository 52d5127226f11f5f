import IdentityDomain
import Logging
import Models
import Postgres
import RPC
import ServiceKit

/// Keeps the refresh tokens that come with sign-ins, sealed.
///
/// If a code proved the sign-in, its token is kept before the response. If something else did, the code is exchanged after the response,
/// by a queue in memory: a sign-in doesn't wait and writes nothing more. The waiting codes are lost when the process ends, and counted as
/// `lost` if it stops gracefully. They aren't stored, for this reason: a code would be one more secret and one more commit at each
/// sign-in, and the user's next authorization brings the token again. A user without a kept token learns at deletion how to withdraw their
/// consent themselves (Apple's TN3194).
///
/// Any thread. ``run()`` performs the waiting jobs.
final class GrantKeeper: Sendable {
    /// The maximum of waiting jobs; jobs beyond it are lost.
    static let waitingMax = 1_024
    /// The maximum of concurrent jobs.
    static let atOnceMax = 16
    /// The pauses before each try: a code lives for minutes.
    static let pauses: [Duration] = [.zero, .seconds(2), .seconds(10)]

    /// How long a sign-in that is proven by its code waits until its token is kept; then the queue tries.
    static let keptBeforeAnswer: Duration = .seconds(1)

    /// How long a deletion waits until the code that came with it is exchanged.
    static let exchangedBeforeDeletion: Duration = .seconds(4)

    private enum Source: Sendable {
        case token(NewGrant)
        case code(CodeGrant, address: [UInt8]?)
    }

    private struct Job: Sendable {
        let person: Person
        let source: Source
    }

    /// Who signed in, how, and when.
    private struct Person: Sendable {
        let userID: UserID
        let provider: ProviderName
        let subject: String
        let clientID: String
        let atMilliseconds: Int64

        func grant(_ refreshToken: String) -> NewGrant {
            NewGrant(
                userID: userID,
                provider: provider,
                subject: subject,
                clientID: clientID,
                refreshToken: refreshToken,
                grantedAtMilliseconds: atMilliseconds
            )
        }
    }

    private let store: IdentityStore
    private let keys: CurrentKeys
    private let codes: [ProviderName: any CodeExchanging]
    private let canExchange: @Sendable (CodeGrant) -> Bool
    private let metrics: GrantMetrics
    private let clock: WallClock
    private let randomBytes: @Sendable (Int) -> [UInt8]
    private let logger: Logger
    private let pauses: [Duration]
    private let jobs: AsyncStream<Job>
    private let addJob: AsyncStream<Job>.Continuation

    /// A keeper with an empty queue.
    ///
    /// - Parameters:
    ///   - codes: exchange codes after responses.
    ///   - canExchange: whether a code can be exchanged.
    init(
        store: IdentityStore,
        keys: CurrentKeys,
        codes: [ProviderName: any CodeExchanging],
        canExchange: @escaping @Sendable (CodeGrant) -> Bool,
        metrics: GrantMetrics,
        clock: WallClock,
        randomBytes: @escaping @Sendable (Int) -> [UInt8],
        pauses: [Duration] = GrantKeeper.pauses,
        logger: Logger
    ) {
        self.store = store
        self.keys = keys
        self.codes = codes
        self.canExchange = canExchange
        self.metrics = metrics
        self.clock = clock
        self.randomBytes = randomBytes
        self.pauses = pauses
        self.logger = logger
        (jobs, addJob) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.waitingMax))
    }

    /// Takes the evidence of a sign-in that opened a session: keeps its token, or leaves its code to the queue. Does nothing
    /// without a vault key.
    ///
    /// - Parameter address: a code of the address that the sign-in came from; nil if that isn't known.
    func take(
        _ evidence: Evidence,
        of userID: UserID,
        provider: ProviderName,
        address: @autoclosure () -> [UInt8]?,
        nowMilliseconds: Int64
    ) async {
        guard keys.current.vault != nil else { return }
        let person = Person(
            userID: userID,
            provider: provider,
            subject: evidence.claims.subject,
            clientID: evidence.claims.audience,
            atMilliseconds: nowMilliseconds
        )
        if let refreshToken = evidence.refreshToken {
            let grant = person.grant(refreshToken)
            do {
                try await keep(grant, limit: Self.keptBeforeAnswer)
            } catch {
                // The session was opened all the same.
                add(Job(person: person, source: .token(grant)))
            }
        } else if let grant = evidence.unexchangedCode, canExchange(grant) {
            add(Job(person: person, source: .code(grant, address: address())))
        }
    }

    /// Takes the evidence of the credentials that confirm a deletion, before the account is deleted. Returns when the token is kept or
    /// unavailable: the deletion waits for a provider no longer than ``exchangedBeforeDeletion``, and goes on without the token.
    ///
    /// - Parameter address: a code of the address that the request came from; nil if that isn't known.
    func takeBeforeDeletion(
        _ evidence: Evidence,
        of userID: UserID,
        provider: ProviderName,
        address: [UInt8]?,
        nowMilliseconds: Int64
    ) async {
        guard keys.current.vault != nil else { return }
        let person = Person(
            userID: userID,
            provider: provider,
            subject: evidence.claims.subject,
            clientID: evidence.claims.audience,
            atMilliseconds: nowMilliseconds
        )
        let job: Job
        if let refreshToken = evidence.refreshToken {
            job = Job(person: person, source: .token(person.grant(refreshToken)))
        } else if let code = evidence.unexchangedCode, canExchange(code) {
            job = Job(person: person, source: .code(code, address: address))
        } else {
            return
        }
        do {
            try await attempt(job, deadline: .after(Self.exchangedBeforeDeletion), limit: Self.keptBeforeAnswer)
        } catch {
            fail(job, error)
        }
    }

    private func add(_ job: Job) {
        switch addJob.yield(job) {
        case .enqueued: break
        default: metrics.count(job.person.provider, .lost)
        }
    }

    /// Performs waiting jobs until the task is cancelled. Jobs that still wait then are lost.
    func run() async {
        await withTaskGroup(of: Void.self) { tasks in
            var count = 0
            for await job in jobs {
                if Task.isCancelled {
                    metrics.count(job.person.provider, .lost)
                    continue
                }
                if count >= Self.atOnceMax { await tasks.next() } else { count += 1 }
                tasks.addTask { await self.perform(job) }
            }
        }
    }

    private func perform(_ job: Job) async {
        for (index, pause) in pauses.enumerated() {
            do {
                if pause > .zero { try await Task.sleep(for: pause) }
                return try await attempt(job)
            } catch {
                if Task.isCancelled { return metrics.count(job.person.provider, .lost) }
                guard index + 1 < pauses.count, Self.mayPass(error) else { return fail(job, error) }
            }
        }
    }

    private func attempt(
        _ job: Job,
        deadline: Deadline? = nil,
        limit: Duration = IdentityStore.grantStatementLimit
    ) async throws {
        switch job.source {
        case .token(let grant): try await keep(grant, limit: limit)
        case .code(let code, let address):
            guard let codes = codes[job.person.provider] else { return metrics.count(job.person.provider, .none) }
            let exchanged = try await codes.claims(
                code: code.code,
                clientID: code.clientID,
                redirectURI: code.redirectURI,
                codeVerifier: code.codeVerifier,
                address: address,
                deadline: deadline
            )
            // Else the client sent another user's code along.
            guard exchanged.claims.subject == job.person.subject, exchanged.claims.audience == job.person.clientID
            else {
                throw IdentityError.signIn(.codeForeign)
            }
            guard let refreshToken = exchanged.refreshToken else { return metrics.count(job.person.provider, .none) }
            try await keep(job.person.grant(refreshToken), limit: limit)
        }
    }

    /// Seals a token and keeps it. Throws the database's errors.
    private func keep(_ grant: NewGrant, limit: Duration) async throws {
        guard let vault = keys.current.vault else { return metrics.count(grant.provider, .lost) }
        let place = GrantPlace(
            grantID: randomBytes(16),
            userID: grant.userID,
            provider: grant.provider,
            clientID: grant.clientID
        )
        let spread = Int64.random(in: 0...IdentityStore.checkSpreadMilliseconds)
        let kept = try await store.keep(
            grant,
            at: place,
            vault.seal(grant.refreshToken, at: place),
            checkAtMilliseconds: grant.grantedAtMilliseconds + IdentityStore.checkPauseMilliseconds + spread,
            limit: limit
        )
        metrics.count(grant.provider, GrantMetrics.Kept(kept))
    }

    private static func mayPass(_ error: any Error) -> Bool {
        switch error {
        case IdentityError.providerUnavailable, is PostgresError: true
        default: false
        }
    }

    private func fail(_ job: Job, _ error: any Error) {
        let outcome: GrantMetrics.Kept = error is IdentityError ? .refused : .failed
        metrics.count(job.person.provider, outcome)
        logger.log(
            level: outcome == .failed ? .warning : .info,
            "no token of the provider is kept",
            metadata: ["provider": "\(job.person.provider)", "client": "\(job.person.clientID)", "cause": "\(error)"]
        )
    }
}
