import API
import AccountImport
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceStore
import TestWaits
import Testing

@testable import IdentityService

/// An account that came in with a number alone, and somebody who proves it.
struct ImportedPerson {
    static let number = "+639171234567"

    let service: TestService
    let backend: PhoneBackend
    /// The imported account.
    let old: String

    /// Runs with Apple, as if it told numbers, Google, and a backend that asserts them.
    static func run(
        providers: [ProviderConfiguration]? = nil,
        _ body: (ImportedPerson) async throws -> Void
    ) async throws {
        let backend = try PhoneBackend()
        let google = try TestProvider.providers().filter { $0.policy.name == .google }
        let known = try PhoneBackend.providers() + google
        try await TestService.run(providers: providers ?? known, phoneAssertions: backend.policy) { service in
            _ = service.others.absorptions { $0.closed = [] }
            let old = try await service.importAccount("1001")
            service.others.importNumber(number, of: old)
            try await body(ImportedPerson(service: service, backend: backend, old: old))
        }
    }

    /// A token of somebody whose provider tells the number.
    func token(subject: String = "001.person") throws -> String {
        var changes = PhoneBackend.verified(Self.number)
        changes["jti"] = .string(Base64URL.encode(SecureRandom.bytes(12)))
        return try service.provider.appleToken(subject: subject, at: service.clock, changes)
    }

    /// What the app's backend says of a session's user.
    func assertion(of session: IdentityV1.SignInResponse, id: String = "first") throws -> String {
        try backend.assertion(session.tokens.userID, Self.number, service, id: id)
    }

    /// Whether the account is the only one, opened by these.
    func expectOpen(
        _ identities: [String] = ["apple 001.person"],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(
            try await service.identities() == identities.map { "\($0) \(old)" },
            sourceLocation: sourceLocation
        )
        #expect(
            try await service.words("SELECT user_id::text FROM accounts") == [old],
            sourceLocation: sourceLocation
        )
        try await expectNothingUnderWay(sourceLocation: sourceLocation)
    }

    func expectNothingUnderWay(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for table in ["absorptions", "account_openings", "work WHERE queue = 'phone_proofs'"] {
            #expect(try await service.count(table) == 0, "\(table)", sourceLocation: sourceLocation)
        }
    }

    /// Continues what is left and delivers the proofs that wait, with time between, until nothing is left. One after the other, so that no
    /// time passes in the middle of an opening.
    func settle() async throws {
        for _ in 0..<200 {
            service.pass(seconds: 11)
            await service.parts.phoneProofs.runner.round()
            await service.parts.methods.absorber.round()
            if try await service.count("work WHERE queue = 'phone_proofs'") == 0 { return }
        }
        Issue.record("a proof still waits")
    }

    /// The same while a runner delivers the proofs.
    func settleRelayed() async throws {
        // Time for all retries, and no more: on a busy machine there are so many rounds that a day would pass.
        var rounds = 0
        try await eventually("nothing waits") {
            rounds += 1
            if rounds <= 200 { service.pass(seconds: 11) }
            await service.parts.methods.absorber.round()
            return try await service.count("work WHERE queue = 'phone_proofs'") == 0
        }
    }

    /// The audit log's events of openings, as kind, account and details.
    func openings() async throws -> [String] {
        try await service.words(
            """
            SELECT kind || ' ' || user_id || ' ' || details FROM security_events WHERE kind LIKE 'account_open%'
            ORDER BY occurred_at, kind DESC
            """
        )
    }
}

extension TestService {
    /// Makes an account as an import does, with a number alone.
    func importAccount(_ id: String, _ identities: [ImportedIdentity] = [], isBlocked: Bool = false) async throws
        -> String
    {
        let userID = try #require(ImportedID.userID(of: id, source: "test"))
        var account = ImportedAccount(oldID: id, userID: userID)
        account.phone = ImportedPerson.number
        account.identities = identities
        account.isBlocked = isBlocked
        account.createdAtMilliseconds = 1_600_000_000_000
        let names = ProviderNames([:], configured: ["apple", "google"])
        _ = try await parts.methods.store.importAccounts(
            [ImportCandidate(account, line: 2, names: names, policy: .philippines)],
            source: "test",
            earlier: [],
            keepsUnreachable: false,
            isDry: false,
            nowMilliseconds: clock.nowMilliseconds
        )
        return userID.description
    }
}
