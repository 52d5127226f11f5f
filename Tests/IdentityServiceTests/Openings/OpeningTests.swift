import API
import AccountImport
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceModels
import SwiftProtobuf
import Testing

@testable import IdentityService

/// A user who proves the number of an imported account without identities gets that account.
struct OpeningTests {
    @Test func `A sign-in with the number finds the old account, and the audit log says how`() async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            let token = try person.token()
            let answer = try await service.signIn(token: token)
            #expect(answer.tokens.userID == person.old && !answer.isNewUser)
            #expect(try await service.check(answer.tokens.accessToken).userID == person.old)
            try await person.expectOpen()
            let closed = try await service.words("SELECT user_id || ' ' || why FROM account_closings")
            let absorbed = try #require(service.others.proofs.first).userID
            #expect(closed == ["\(absorbed) absorbed"])
            // The number is proven for the old account now, and opens no further account.
            #expect(service.others.proofs.map(\.userID) == [absorbed, person.old])
            #expect(service.others.proofs.map(\.phoneNumber) == [ImportedPerson.number, ImportedPerson.number])
            #expect(try await service.phoneEvents() == ["phone_proven \(person.old) {\"proof\": \"provider\"}"])
            #expect(
                try await person.openings() == [
                    #"account_opening \#(person.old) {"by": "provider", "absorbed": "\#(absorbed)"}"#,
                    #"account_opened \#(person.old) {"by": "provider", "absorbed": "\#(absorbed)", "providers": ["apple"]}"#,
                ]
            )
            // The same token, as after a lost answer, gets the same session. From then on it is a usual account.
            #expect(try await service.signIn(token: token).tokens.sessionID == answer.tokens.sessionID)
            service.pass(seconds: 60)
            #expect(try await service.signIn(token: person.token()).tokens.userID == person.old)
            #expect(try await service.signInAnew().userID == person.old)
            #expect(service.others.proofs.count == 2, "the number was known")
            try await service.operators().find(.importedID("test:1001")).accounts.forEach {
                #expect($0.identities.map(\.provider) == ["apple"])
            }
        }
    }

    @Test func `An assertion opens it too, and ends the session that presented it`() async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            let session = try await service.signIn()
            let text = try person.assertion(of: session)
            await expectFailure(.unauthenticated, "ACCOUNT_OPENED") { _ = try await service.prove(text, by: session) }
            try await person.expectOpen()
            await expectFailure(.unauthenticated, "SESSION_INVALID") {
                _ = try await service.check(session.tokens.accessToken)
            }
            #expect(try await service.phoneEvents() == ["phone_proven \(person.old) {\"proof\": \"assertion\"}"])
            // Replayed with the caller's proof, which is still good for some seconds, or in the new session.
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.prove(text, by: session) }
            service.pass(seconds: 1)
            let again = try await service.signIn()
            #expect(again.tokens.userID == person.old)
            await expectFailure(.invalidArgument, "ASSERTION_MISMATCHED") {
                _ = try await service.prove(text, by: again)
            }
            _ = try await service.prove(person.assertion(of: again, id: "second"), by: again)
            try await person.expectOpen()
            #expect(try await person.openings().count == 2)
        }
    }

    /// Apple, which here also accepts tokens without a nonce, and Google.
    private static func providersOfBareTokens() throws -> [ProviderConfiguration] {
        let apple = try ProviderPolicy(
            name: .apple,
            issuers: ["https://appleid.apple.com"],
            audiences: [
                AudiencePolicy(id: "com.example.app", match: .sha256),
                AudiencePolicy(id: "com.example.bare", match: .sha256, nonce: .optional, withoutNonce: .fresh),
            ],
            algorithms: [.es256],
            keysURL: "http://127.0.0.1:1/apple",
            isTrustedForPhones: true
        )
        return try [ProviderConfiguration(policy: apple)]
            + TestProvider.providers().filter { $0.policy.name == .google }
    }

    @Test(arguments: [true, false])
    func `The sign-in with the number must be proven itself, whatever else its account has`(isProven: Bool)
        async throws
    {
        try await ImportedPerson.run(providers: Self.providersOfBareTokens()) { person in
            let service = person.service
            // A thief's account has a proven session. The person's identity was linked to it by a leaked token.
            let thief = try await service.signInByGoogle("thief")
            let user = try #require(UserID(thief.userID))
            try await service.database.execute(
                """
                INSERT INTO provider_identities (provider, subject, user_id, is_email_verified, is_private_email, created_at,
                    last_sign_in_at) VALUES ('apple', '001.person', \(user.uuid), false, false, now(), now())
                """
            )
            let answer: IdentityV1.SignInResponse
            if isProven {
                answer = try await service.signIn(token: person.token())
            } else {
                let leaked = try service.provider.bareToken(
                    at: service.clock,
                    PhoneBackend.verified(ImportedPerson.number)
                )
                answer = try await service.signIn { $0.idToken = leaked }
            }
            try await person.settle()
            #expect((answer.tokens.userID == person.old) == isProven)
            let openings = try await person.openings().filter { $0.hasPrefix("account_opened") }
            #expect(openings.isEmpty == !isProven)
            if !isProven {
                #expect(answer.tokens.userID == thief.userID)
                try await person.expectNothingUnderWay()
                #expect(try await service.phoneEvents() == ["phone_conflict \(thief.userID) {\"proof\": \"provider\"}"])
            }
        }
    }

    @Test func `An assertion opens nothing in a session that was opened by a token alone`() async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            let proven = try await service.signIn()
            let bare = try await service.signIn(changes: ["jti": "second"])
            #expect(bare.tokens.userID == proven.tokens.userID)
            try await service.setProof("fresh", of: bare.tokens)
            let text = try person.assertion(of: bare)
            await expectFailure(.alreadyExists, "PHONE_TAKEN") { _ = try await service.prove(text, by: bare) }
            try await person.expectNothingUnderWay()
            // The same assertion in a proven session.
            await expectFailure(.unauthenticated, "ACCOUNT_OPENED") { _ = try await service.prove(text, by: proven) }
            try await person.expectOpen()
        }
    }

    /// Why an account stays closed although profile allows to open it.
    enum Hindrance: String, CaseIterable, Sendable {
        case native, gone, blocked, hasProvider, hasSession
        case claimantBare, claimantDisabled, claimantHasNumber, claimantHasGroup

        func apply(_ person: ImportedPerson, _ claimant: String) async throws {
            let (service, old) = (person.service, person.old)
            func run(_ sql: String) async throws { try await service.database.execute(Query(unsafeSQL: sql)) }
            switch self {
            case .native: try await run("UPDATE accounts SET imported_at = NULL WHERE user_id = '\(old)'")
            case .gone: try await run("DELETE FROM accounts WHERE user_id = '\(old)'")
            case .blocked: try await service.block(old)
            case .hasProvider:
                try await run(
                    """
                    INSERT INTO provider_identities (provider, subject, user_id, is_email_verified, is_private_email,
                        created_at, last_sign_in_at, disabled_at) VALUES ('google', '1', '\(old)', false, false, now(), now(), now())
                    """
                )
            case .hasSession:
                try await run(
                    """
                    INSERT INTO sessions (session_id, user_id, provider, client_id, opened_account, nonce, proof, created_at,
                        last_used_at, expires_at)
                    SELECT gen_random_uuid(), '\(old)', provider, client_id, false, nonce, proof, created_at, last_used_at,
                        expires_at FROM sessions LIMIT 1
                    """
                )
            case .claimantBare: try await run("UPDATE sessions SET proof = 'fresh'")
            case .claimantDisabled: try await run("UPDATE provider_identities SET disabled_at = now()")
            case .claimantHasNumber: _ = service.others.absorptions { $0.withNumber = [claimant] }
            case .claimantHasGroup: _ = service.others.absorptions { $0.inGroup = [claimant] }
            }
        }
    }

    @Test(arguments: Hindrance.allCases)
    func `Any uncertainty is a dispute, and nothing changes`(hindrance: Hindrance) async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            let session = try await service.signIn()
            let claimant = session.tokens.userID
            try await hindrance.apply(person, claimant)
            let before = try await service.identities()
            let text = try person.assertion(of: session)
            for _ in 0..<2 {
                await expectFailure(.alreadyExists, "PHONE_TAKEN") { _ = try await service.prove(text, by: session) }
            }
            #expect(service.others.proofs.map(\.mayOpen) == [true, false, true, false])
            #expect(try await service.identities() == before)
            try await person.expectNothingUnderWay()
            let known = service.others.absorptions()
            #expect(known.held.isEmpty && known.closed.isEmpty)
            #expect(try await service.phoneEvents() == ["phone_conflict \(claimant) {\"proof\": \"assertion\"}"])
            #expect(try await !person.openings().contains { $0.hasPrefix("account_opened") })
            // The user who proved the number continues in their own account.
            #expect(try await service.check(session.tokens.accessToken).userID == claimant)
        }
    }

    @Test func `If its account can't be absorbed, a sign-in continues there`() async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            let before = try await service.signIn()
            _ = service.others.absorptions { $0.inGroup = [before.tokens.userID] }
            service.pass(seconds: 1)
            for _ in 0..<2 {
                #expect(try await service.signIn(token: person.token()).tokens.userID == before.tokens.userID)
            }
            try await person.expectNothingUnderWay()
            #expect(service.others.absorptions().held.isEmpty)
            #expect(try await service.phoneEvents().allSatisfy { $0.hasPrefix("phone_conflict") })
            // Once the group is gone, the next sign-in proves the number again.
            _ = service.others.absorptions { $0.inGroup = [] }
            #expect(try await service.signIn(token: person.token()).tokens.userID == person.old)
            try await person.expectOpen()
        }
    }

    @Test func `If a second person proves the number after the opening, it is a dispute`() async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            #expect(try await service.signIn(token: person.token()).tokens.userID == person.old)
            let other = try await service.signIn(token: person.token(subject: "002.person"))
            #expect(other.tokens.userID != person.old && other.isNewUser)
            #expect(
                try await service.phoneEvents() == [
                    "phone_conflict \(other.tokens.userID) {\"proof\": \"provider\"}",
                    "phone_proven \(person.old) {\"proof\": \"provider\"}",
                ]
            )
            #expect(try await service.count("accounts") == 2)
        }
    }

    @Test func `All providers of the account are moved, with the app's data`() async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            let session = try await service.signIn()
            service.pass(seconds: 1)
            try await service.linkGoogle(session.tokens.accessToken, token: service.googleToken())
            let change = IdentityV1.UpdateUserMetadataRequest.with { $0.changesJson = #"{"colour":"blue"}"# }
            _ = try await service.client.updateUserMetadata(
                change,
                options: service.options(for: session.tokens.userID)
            )
            #expect(try await service.signIn(token: person.token()).tokens.userID == person.old)
            try await person.expectOpen(["apple 001.person", "google 77"])
            #expect(try await service.account(person.old).metadataJson == #"{"colour":"blue"}"#)
            #expect(try await person.openings().last?.contains(#""providers": ["apple", "google"]"#) == true)
        }
    }

    @Test func `If an earlier version of invites doesn't know the method, it is a dispute`() async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            _ = service.others.absorptions { $0.unknown = ["invites.closeIfEmpty"] }
            let answer = try await service.signIn(token: person.token())
            #expect(answer.tokens.userID != person.old)
            try await person.expectNothingUnderWay()
            #expect(try await service.phoneEvents().count == 1)
        }
    }

    @Test func `A lookup of a person without an account finds none, and opens nothing`() async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            let token = try person.token()
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") {
                _ = try await service.signIn {
                    ($0.idToken, $0.nonce, $0.create) = (token, TestProvider.rawNonce, false)
                }
            }
            #expect(service.others.proofs.isEmpty)
            #expect(try await service.signIn(token: token).tokens.userID == person.old)
        }
    }
}
