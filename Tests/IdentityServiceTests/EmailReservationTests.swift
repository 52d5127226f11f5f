import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import TestDatabases
import Testing

@testable import IdentityService

struct EmailReservationTests {
    @discardableResult
    private func signIn(
        _ service: TestService,
        subject: String,
        email: String,
        dialect: String = "wordpress",
        create: Bool = true,
        claims: [String: JSONValue?] = [:]
    ) async throws -> IdentityV1.SignInResponse {
        var claims = claims
        claims["jti"] = .string(Base64URL.encode(SecureRandom.bytes(8)))
        let token = try service.provider.appleToken(subject: subject, at: service.clock, claims)
        return try await service.signIn {
            ($0.idToken, $0.nonce, $0.create) = (token, TestProvider.rawNonce, create)
            ($0.emailReservation.dialect, $0.emailReservation.email) = (dialect, email)
        }
    }

    @Test func `No two accounts of a dialect have one address, whatever its case`() async throws {
        try await TestService.runWithAudiences { service in
            let ana = try await signIn(service, subject: "ana", email: "Ana@Example.com")
            await expectFailure(.alreadyExists, "EMAIL_TAKEN") {
                try await signIn(service, subject: "bea", email: "aNA@eXAMPLE.COM")
            }
            #expect(try await service.count("accounts") == 1, "nothing of the second is there")
            #expect(try await service.count("sign_ins") == 1)
            #expect(try await service.count("sessions") == 1)
            try await signIn(service, subject: "bea", email: "ana@example.com", dialect: "other")
            // Its owner may have it again.
            let again = try await signIn(service, subject: "ana", email: "ana@example.com")
            #expect(again.tokens.userID == ana.tokens.userID)
            let stored: String = try await service.value(
                "SELECT email FROM email_reservations WHERE dialect = 'wordpress'"
            )
            #expect(stored == "ana@example.com")
        }
    }

    @Test func `A refused token signs in with another address`() async throws {
        try await TestService.runWithAudiences { service in
            try await signIn(service, subject: "ana", email: "ana@example.com")
            let token = try service.provider.appleToken(subject: "bea", at: service.clock)
            func present(_ email: String) async throws -> IdentityV1.SignInResponse {
                try await service.signIn {
                    ($0.idToken, $0.nonce) = (token, TestProvider.rawNonce)
                    ($0.emailReservation.dialect, $0.emailReservation.email) = ("wordpress", email)
                }
            }
            await expectFailure(.alreadyExists, "EMAIL_TAKEN") { _ = try await present("ana@example.com") }
            let first = try await present("bea@example.com")
            #expect(first.isNewUser)
            #expect(try await present("bea@example.com").tokens.sessionID == first.tokens.sessionID)
        }
    }

    @Test func `An account has one address in a dialect`() async throws {
        try await TestService.runWithAudiences { service in
            for number in 0..<4 { try await signIn(service, subject: "ana", email: "ana\(number)@example.com") }
            #expect(try await service.count("email_reservations") == 1)
            try await signIn(service, subject: "bea", email: "ana0@example.com")
        }
    }

    @Test func `Of many users who want one address at the same moment one gets it`() async throws {
        try await TestService.runWithAudiences { service in
            let outcomes = try await gather(6) { number in
                do {
                    try await signIn(service, subject: "person \(number)", email: "one@example.com")
                    return "mine"
                } catch let error as RPCError {
                    return error.reason ?? "\(error)"
                }
            }
            #expect(outcomes.count { $0 == "mine" } == 1)
            #expect(outcomes.count { $0 == "EMAIL_TAKEN" } == 5, "\(outcomes)")
            #expect(try await service.count("accounts") == 1)
            #expect(try await service.count("email_reservations") == 1)
        }
    }

    /// Asks about an address as somebody whose token tells another one.
    private func find(
        _ service: TestService,
        _ subject: String,
        _ email: String,
        _ claims: [String: JSONValue?] = [:]
    ) async throws -> IdentityV1.FindAccountResponse {
        let token = try service.provider.appleToken(subject: subject, at: service.clock, claims)
        return try await service.findAccount {
            ($0.idToken, $0.nonce) = (token, TestProvider.rawNonce)
            ($0.emailReservation.dialect, $0.emailReservation.email) = ("wordpress", email)
        }
    }

    @Test func `An address that the provider verified beats one that somebody only said`() async throws {
        try await TestService.runWithAudiences { service in
            let address = "Victim@Example.com"
            let verified: [String: JSONValue?] = ["email": .string(address.lowercased()), "is_private_email": false]
            var said = verified
            said["email_verified"] = false
            let squatter = try await signIn(service, subject: "squatter", email: address).tokens.userID
            let kept = #"{"theme":1.50,"wordpress_email":"Victim@Example.com"}"#
            try await service.database.execute(
                """
                INSERT INTO user_metadata (user_id, metadata, updated_at)
                SELECT user_id, \(kept), created_at FROM accounts
                """
            )
            #expect(try await find(service, "owner", address, said).emailIsTaken)
            await expectFailure(.alreadyExists, "EMAIL_TAKEN") {
                try await signIn(service, subject: "owner", email: address, claims: said)
            }
            #expect(try await !find(service, "owner", address, verified).emailIsTaken)
            let owner = try await signIn(service, subject: "owner", email: address, claims: verified).tokens.userID
            let reserved: String = try await service.value(
                "SELECT user_id || ' ' || is_verified FROM email_reservations"
            )
            #expect(reserved == "\(owner) true")
            #expect(try await service.account(squatter).metadataJson == #"{"theme":1.50}"#)
            // It is nobody else's from now on, be it said or verified.
            for claims in [said, verified] {
                await expectFailure(.alreadyExists, "EMAIL_TAKEN") {
                    try await signIn(service, subject: "squatter", email: address, claims: claims)
                }
                #expect(try await find(service, "squatter", address, claims).emailIsTaken)
            }
            #expect(try await service.count("email_reservations") == 1)
        }
    }

    @Test func `A registration without proof loses its address to the owner, and it is stored nowhere`() async throws {
        try await TestService.runWithAudiences(unprovenDialects: ["wordpress"]) { service in
            let address = "Victim@example.com"
            let squatter = try await service.signIn {
                ($0.unproven.dialect, $0.unproven.subject, $0.email) = ("wordpress", "squatter", address)
                $0.tokenStyle = .single
                ($0.emailReservation.dialect, $0.emailReservation.email) = ("wordpress", address)
            }.tokens.userID
            let other = try await service.signIn {
                ($0.unproven.dialect, $0.unproven.subject, $0.email) = ("wordpress", "other", "other@example.com")
                $0.tokenStyle = .single
            }.tokens.userID
            func note(_ email: String, as member: String = "wordpress_email", of userID: String) async throws {
                _ = try await service.client.updateUserMetadata(
                    .with { $0.changesJson = #"{"\#(member)":"\#(email)"}"# },
                    options: service.options(for: userID)
                )
            }
            try await note(address, of: squatter)
            #expect(try await service.account(squatter).identities.map(\.email) == [address])
            let verified: [String: JSONValue?] = ["email": "victim@example.com", "is_private_email": false]
            let owner = try await signIn(service, subject: "owner", email: address, claims: verified).tokens.userID
            let left = try await service.account(squatter)
            #expect(left.metadataJson == "{}" && left.identities.map(\.email) == [""])
            #expect(try await service.account(other).identities.map(\.email) == ["other@example.com"])
            // As the registration does that lost it before it noted it.
            for email in [address, "VICTIM@example.com"] {
                await expectFailure(.alreadyExists, "EMAIL_TAKEN") { try await note(email, of: squatter) }
            }
            #expect(try await service.account(squatter).metadataJson == "{}")
            try await note(address, of: owner)
            try await note(address, as: "contact_email", of: squatter)
            #expect(try await service.account(owner).identities.map(\.email) == ["victim@example.com"])
        }
    }

    /// The address is noted while its owner's sign-in takes it, which isn't committed yet.
    @Test func `An address that is lost at that moment is not noted`() async throws {
        try await TestService.runWithAudiences { service in
            let squatter = try await signIn(service, subject: "squatter", email: "victim@example.com").tokens.userID
            let owner = try await signIn(service, subject: "owner", email: "owner@example.com").tokens.userID
            let id = try #require(UserID(owner)).uuid
            let noting = try await service.database.withTransaction { transaction in
                try await transaction.execute(
                    """
                    UPDATE email_reservations SET user_id = \(id), is_verified = true WHERE email = 'victim@example.com'
                    """
                )
                let noting = Task {
                    _ = try await service.client.updateUserMetadata(
                        .with { $0.changesJson = #"{"wordpress_email":"victim@example.com"}"# },
                        options: service.options(for: squatter)
                    )
                }
                try await service.database.waitForLockWaits()
                return noting
            }
            await expectFailure(.alreadyExists, "EMAIL_TAKEN") { try await noting.value }
            #expect(try await service.count("user_metadata") == 0)
        }
    }

    /// Crossing, each would hold what it wants and wait for what the other has.
    @Test func `Two who want each other's address lock both in one order`() async throws {
        try await TestService.runWithAudiences { service in
            try await signIn(service, subject: "ana", email: "a@example.com")
            try await signIn(service, subject: "bea", email: "b@example.com")
            let taking = try await service.database.withTransaction { transaction in
                try await transaction.query("SELECT FROM email_reservations WHERE email = 'a@example.com' FOR UPDATE")
                let verified: [String: JSONValue?] = ["email": "b@example.com", "email_verified": true]
                let taking = Task {
                    try await signIn(service, subject: "ana", email: "b@example.com", claims: verified)
                }
                try await service.database.waitForLockWaits()
                let wanted = try await transaction.query(
                    "SELECT FROM email_reservations WHERE email = 'b@example.com' FOR UPDATE SKIP LOCKED"
                )
                #expect(wanted.count == 1, "the first is waited for before the second is taken")
                return taking
            }
            _ = try await taking.value
            #expect(try await service.words("SELECT email FROM email_reservations") == ["b@example.com"])
        }
    }

    @Test func `A person's own address becomes verified once a token says so`() async throws {
        try await TestService.runWithAudiences { service in
            try await signIn(service, subject: "ana", email: "ana@example.com")
            let verified: [String: JSONValue?] = ["email": "ana@example.com", "email_verified": true]
            try await signIn(service, subject: "ana", email: "ana@example.com", claims: verified)
            await expectFailure(.alreadyExists, "EMAIL_TAKEN") {
                try await signIn(service, subject: "bea", email: "ana@example.com", claims: verified)
            }
            // A later token without it takes nothing back.
            try await signIn(service, subject: "ana", email: "ana@example.com")
            #expect(try await service.value("SELECT is_verified FROM email_reservations", as: Bool.self))
        }
    }

    @Test func `A person asks about some addresses and no more, by one token or many`() async throws {
        try await TestService.runWithAudiences { service in
            try await signIn(service, subject: "ana", email: "ana@example.com")
            let questions = IdentityStore.emailQuestions.countMax
            let outcomes = try await gather(questions + 10) { number in
                do {
                    return try await find(service, "prober", "ana@example.com").emailIsTaken ? "taken" : "free"
                } catch let error as RPCError {
                    return error.code == .resourceExhausted && error.retryAfter != nil ? error.reason ?? "" : "\(error)"
                }
            }
            #expect(outcomes.count { $0 == "taken" } == questions)
            #expect(outcomes.count { $0 == "RATE_LIMITED" } == 10, "\(outcomes)")
            // Without an address nothing is asked, and others have their own questions.
            let token = try service.provider.appleToken(subject: "prober", at: service.clock)
            _ = try await service.findAccount { ($0.idToken, $0.nonce) = (token, TestProvider.rawNonce) }
            #expect(try await find(service, "bea", "ana@example.com").emailIsTaken)
            service.clock.advance(seconds: 3_600)
            #expect(try await find(service, "prober", "ana@example.com").emailIsTaken)
        }
    }

    @Test func `An invalid address is refused, and a person without an account reserves nothing`() async throws {
        try await TestService.runWithAudiences { service in
            for (dialect, email) in [("wordpress", "none"), ("wordpress", ""), ("", "ana@example.com")] {
                await expectFailure(.invalidArgument, "EMAIL_INVALID") {
                    try await signIn(service, subject: "ana", email: email, dialect: dialect)
                }
            }
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") {
                try await signIn(service, subject: "ana", email: "ana@example.com", create: false)
            }
            let (reserved, accounts) = try await (service.count("email_reservations"), service.count("accounts"))
            #expect(reserved == 0 && accounts == 0)
        }
    }

    @Test func `An unproven registration whose address is taken leaves nothing`() async throws {
        try await TestService.runWithAudiences(unprovenDialects: ["wordpress"]) { service in
            try await signIn(service, subject: "ana", email: "ana@example.com")
            func register(_ email: String) async throws {
                try await service.signIn {
                    ($0.unproven.dialect, $0.unproven.subject) = ("wordpress", "bea")
                    $0.tokenStyle = .single
                    ($0.emailReservation.dialect, $0.emailReservation.email) = ("wordpress", email)
                }
            }
            await expectFailure(.alreadyExists, "EMAIL_TAKEN") { try await register("ANA@example.com") }
            #expect(try await service.count("accounts") == 1)
            try await register("bea@example.com")
            #expect(try await service.count("email_reservations") == 2)
        }
    }

    @Test func `Looking an account up tells whether another one has the address`() async throws {
        try await TestService.runWithAudiences { service in
            let ana = try await signIn(service, subject: "ana", email: "ana@example.com").tokens
            func find(_ subject: String, _ email: String) async throws -> IdentityV1.FindAccountResponse {
                let token = try service.provider.appleToken(subject: subject, at: service.clock)
                return try await service.findAccount {
                    ($0.idToken, $0.nonce) = (token, TestProvider.rawNonce)
                    ($0.emailReservation.dialect, $0.emailReservation.email) = ("wordpress", email)
                }
            }
            let own = try await find("ana", "Ana@example.com")
            #expect(own.userID == ana.userID && own.accountNumber == ana.accountNumber && !own.emailIsTaken)
            let others = try await find("bea", "Ana@example.com")
            #expect(others.userID.isEmpty && others.accountNumber == 0 && others.emailIsTaken)
            #expect(try await !find("bea", "bea@example.com").emailIsTaken)
            #expect(try await service.count("accounts") == 1)
            #expect(try await service.count("sign_ins") == 1)
        }
    }
}
