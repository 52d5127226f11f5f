import API
import AccountImport
import IdentityDomain
import Models
import Postgres
import RPC
import Testing

@testable import IdentityService

/// How identity imports accounts.
struct ImportTests {
    private let names = ProviderNames([:], configured: ["apple", "google"])

    private func candidate(
        _ id: String,
        _ identities: [(String, String)],
        phone: String? = nil,
        isBlocked: Bool = false
    ) throws -> ImportCandidate {
        let userID = try #require(ImportedID.userID(of: id, source: "test"))
        var account = ImportedAccount(oldID: id, userID: userID)
        account.phone = phone
        account.isBlocked = isBlocked
        account.createdAtMilliseconds = 1_600_000_000_000
        account.identities = identities.map { provider, subject in
            var identity = ImportedIdentity(provider: provider, subject: subject)
            identity.email = "\(subject)@example.com"
            identity.isEmailVerified = true
            identity.name = "Maria"
            return identity
        }
        return ImportCandidate(account, line: 2, names: names, policy: .philippines)
    }

    private func bring(
        _ candidates: [ImportCandidate],
        isDry: Bool = false,
        _ service: TestService
    ) async throws -> ImportVerdicts {
        try await service.parts.methods.store.importAccounts(
            candidates,
            source: "test",
            earlier: [],
            keepsUnreachable: false,
            isDry: isDry,
            nowMilliseconds: service.clock.nowSeconds * 1000
        )
    }

    @Test func `A sign-in with an imported subject finds the imported account`() async throws {
        try await TestService.run { service in
            let rows = [
                try candidate("a", [("apple", "001.person")]), try candidate("b", [], phone: "09171234567"),
                try candidate("c", []),
            ]
            #expect(try await bring(rows, isDry: true, service).new.count == 2)
            #expect(try await service.count("accounts") == 0)
            let verdicts = try await bring(rows, service)
            #expect(verdicts.new.count == 2 && verdicts.unreachable.count == 1 && verdicts.rejections.isEmpty)
            for table in ["accounts", "imported_ids"] { #expect(try await service.count(table) == 2) }
            let answer = try await service.signIn()
            #expect(answer.tokens.userID == rows[0].account.userID.description && !answer.isNewUser)
            #expect(try await bring(rows, service).there.count == 2)
            #expect(try await service.count("provider_identities") == 1)
            // Nobody signed in to the other account, and operators can find it.
            let store = service.parts.methods.store
            let account = try #require(try await store.account(rows[1].account.userID, deadline: nil))
            #expect(account.identities.isEmpty && account.createdAtMilliseconds == 1_600_000_000_000)
            let found = try await service.operators().find(.importedID("test:b"))
            #expect(found.accounts.map(\.userID) == [rows[1].account.userID.description])
            for key in ["test:zz", "other:b"] {
                #expect(try await service.operators().find(.importedID(key)).accounts.isEmpty)
            }
            await expectFailure(.invalidArgument, "ACCOUNT_UNNAMED") {
                _ = try await service.operators().find(.importedID("b"))
            }
            #expect(try await store.importedIDs(of: "test", after: "", limit: 9).map(\.oldID) == ["a", "b"])
        }
    }

    @Test func `A subject that already has an account here keeps it, and accounts not from the import don't change`()
        async throws
    {
        try await TestService.run { service in
            let native = try await service.signIn()
            let verdicts = try await bring(
                [
                    try candidate("a", [("apple", "001.person"), ("google", "g")]),
                    try candidate(native.tokens.userID, [("google", "other")]),
                ],
                service
            )
            #expect(verdicts.rejections.map { "\($0.reason)" } == ["subject_taken apple", "account_exists"])
            #expect(verdicts.new.count == 1)
            #expect(try await service.signIn().tokens.userID == native.tokens.userID)
            #expect(try await service.count("provider_identities") == 2)
        }
    }

    @Test func `A person blocked at the former backend stays blocked`() async throws {
        try await TestService.run { service in
            _ = try await bring([try candidate("a", [("apple", "001.person")], isBlocked: true)], service)
            await expectFailure(.permissionDenied, "ACCOUNT_BLOCKED") { _ = try await service.signIn() }
        }
    }

    @Test func `People who sign in during the import have one account each`() async throws {
        try await TestService.run { service in
            let subjects = (0..<30).map { "00\($0).person" }
            let rows = try subjects.map { try candidate($0, [("apple", $0)]) }
            let accounts = try await withThrowingTaskGroup(of: (String, String)?.self) { group in
                for subject in subjects {
                    group.addTask { (subject, try await service.signIn(subject: subject).tokens.userID) }
                }
                for _ in 0..<2 {
                    group.addTask {
                        _ = try await bring(rows, service)
                        return nil
                    }
                }
                return try await group.reduce(into: [String: String]()) { accounts, answer in
                    if let (subject, account) = answer { accounts[subject] = account }
                }
            }
            let kept = try await service.parts.methods.store.database.query(
                "SELECT subject, user_id::text FROM provider_identities"
            )
            #expect(kept.count == subjects.count)
            for row in kept {
                let (subject, user) = try row.decode(String.self, String.self)
                #expect(accounts[subject] == user)
            }
            // Nobody has another person's account.
            let lost =
                "accounts WHERE NOT EXISTS (SELECT FROM provider_identities i WHERE i.user_id = accounts.user_id)"
            #expect(try await service.count(lost) == 0)
        }
    }
}
