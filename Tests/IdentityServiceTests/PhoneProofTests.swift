import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import SwiftProtobuf
import TestWaits
import Testing

@testable import IdentityService

/// How phone numbers are proven, and how profile gets them.
struct PhoneProofTests {
    private static let number = "+639171234567"
    private let backend: PhoneBackend

    init() throws { backend = try PhoneBackend() }

    private var policy: PhoneAssertionPolicy { backend.policy }

    /// An assertion of the app's backend about a user.
    private func assertion(_ userID: String, _ service: TestService, id: String = "first") throws -> String {
        try backend.assertion(userID, Self.number, service, id: id)
    }

    private func prove(
        _ assertion: String,
        by session: IdentityV1.SignInResponse,
        _ service: TestService
    ) async throws -> IdentityV1.ProvePhoneResponse {
        try await service.prove(assertion, by: session)
    }

    private func events(_ service: TestService) async throws -> [String] { try await service.phoneEvents() }

    private func relaying(_ service: TestService, _ body: () async throws -> Void) async throws {
        try await service.relayingProofs(body)
    }

    @Test func `A used assertion is remembered for longer than a replica with a late clock accepts it`() async throws {
        try await TestService.run(phoneAssertions: policy) { service in
            let session = try await service.signIn()
            _ = try await prove(assertion(session.tokens.userID, service), by: session, service)
            let end = try await service.database.query(
                "SELECT (extract(epoch FROM max(expires_at)) * 1000)::bigint FROM phone_assertions"
            ).first?.decode(0, as: Int64.self)
            let ended = try #require(end)
            let store = service.parts.methods.store
            for (milliseconds, count) in [(0, 0), (599_999, 0), (600_000, 1)] as [(Int64, Int)] {
                #expect(
                    try await store.forgetPhoneAssertions(nowMilliseconds: ended + milliseconds, limit: 10) == count
                )
            }
        }
    }

    @Test func `An assertion reaches profile before the answer, and the audit event has no number`() async throws {
        try await TestService.run(phoneAssertions: policy) { service in
            let session = try await service.signIn()
            let userID = session.tokens.userID
            let losers = ["01900000-0000-7000-8000-000000000001", "01900000-0000-7000-8000-000000000002"]
            service.others.answerProofs(
                .success(
                    .with {
                        ($0.outcome, $0.takenFromUserID) = (.proven, losers[0])
                        $0.alsoTakenFromUserIds = [losers[1]]
                    }
                )
            )
            #expect(try await prove(assertion(userID, service), by: session, service).isPending == false)
            let told = try #require(service.others.proofs.first)
            #expect((told.userID, told.phoneNumber, told.proof) == (userID, Self.number, .assertion))
            #expect(
                try await events(service) == [
                    "phone_proven \(userID) {\"proof\": \"assertion\"}",
                    "phone_taken \(losers[0]) {\"proof\": \"assertion\"}",
                    "phone_taken \(losers[1]) {\"proof\": \"assertion\"}",
                ]
            )
            #expect(try await service.count("work WHERE queue = 'phone_proofs'") == 0, "the number is deleted")
            // Repeated, as after a lost answer: profile recognizes the event id, and nothing is logged.
            _ = try await prove(assertion(userID, service), by: session, service)
            #expect(service.others.proofs.map(\.eventID) == [told.eventID, told.eventID])
            #expect(try await events(service).count == 3)
            // A replica whose clock is behind still accepts the assertion for a moment, so its use is remembered longer.
            service.clock.advance(seconds: 331)
            await service.parts.cleanup.clean()
            #expect(try await service.count("phone_assertions") == 1)
            service.clock.advance(seconds: 600)
            await service.parts.cleanup.clean()
            #expect(try await service.count("phone_assertions") == 0)
        }
    }

    @Test func `A number that another account has proven, or that isn't allowed, is refused`() async throws {
        try await TestService.run(phoneAssertions: policy) { service in
            let session = try await service.signIn()
            let userID = session.tokens.userID
            service.others.answerProofs(.success(.with { $0.outcome = .conflict }))
            for _ in 0..<2 {
                await expectFailure(.alreadyExists, "PHONE_TAKEN") {
                    _ = try await prove(assertion(userID, service), by: session, service)
                }
            }
            #expect(try await events(service) == ["phone_conflict \(userID) {\"proof\": \"assertion\"}"])
            service.others.answerProofs(.success(.with { $0.outcome = .notAllowed }))
            await expectFailure(.invalidArgument, "PHONE_NOT_ALLOWED") {
                _ = try await prove(assertion(userID, service, id: "second"), by: session, service)
            }
            #expect(try await events(service).count == 1)
        }
    }

    @Test func `While profile is down the proof waits, and the relay delivers it`() async throws {
        try await TestService.run(phoneAssertions: policy) { service in
            let session = try await service.signIn()
            let userID = session.tokens.userID
            service.others.fail("profile", .unavailable)
            #expect(try await prove(assertion(userID, service), by: session, service).isPending)
            #expect(try await service.count("work WHERE queue = 'phone_proofs'") == 1)
            #expect(try await events(service).isEmpty)
            try await relaying(service) {
                service.others.fail("profile", nil)
                try await eventually("it is delivered") {
                    try await service.count("work WHERE queue = 'phone_proofs'") == 0
                }
            }
            #expect(service.others.proofs.count == 1)
            #expect(try await events(service) == ["phone_proven \(userID) {\"proof\": \"assertion\"}"])
        }
    }

    @Test func `A proof that can't be decided yet delays no other`() async throws {
        try await TestService.run(phoneAssertions: policy) { service in
            let session = try await service.signIn()
            let unknown = RPCError.domain(.unavailable, reason: "HOLDER_UNKNOWN", message: "not now")
            service.others.answerProofs(.failure(unknown))
            #expect(try await prove(assertion(session.tokens.userID, service), by: session, service).isPending)
            try await relaying(service) {
                try await eventually("it waits by itself") {
                    try await service.count("work WHERE queue = 'phone_proofs' AND failure IS NOT NULL") == 1
                }
                service.others.answerProofs(.success(.with { $0.outcome = .proven }))
                let other = try await service.signIn(subject: "002.person")
                #expect(
                    try await prove(assertion(other.tokens.userID, service, id: "b"), by: other, service).isPending
                        == false
                )
                #expect(try await service.count("work WHERE queue = 'phone_proofs' AND parked_at IS NOT NULL") == 0)
            }
        }
    }

    @Test func `An assertion needs a trusted backend, and the user's own proof`() async throws {
        try await TestService.run { service in
            let session = try await service.signIn()
            await expectFailure(.notFound, "PHONE_ASSERTIONS_NOT_CONFIGURED") {
                _ = try await prove(assertion(session.tokens.userID, service), by: session, service)
            }
        }
        try await TestService.run(phoneAssertions: policy) { service in
            let session = try await service.signIn()
            let other = try await service.signIn(subject: "002.person")
            await expectFailure(.invalidArgument, "ASSERTION_MISMATCHED") {
                _ = try await prove(assertion(session.tokens.userID, service), by: other, service)
            }
            await expectFailure(.invalidArgument, "ASSERTION_INVALID") {
                _ = try await prove("a.b.c", by: session, service)
            }
            let early = try assertion(session.tokens.userID, service)
            service.clock.advance(seconds: 331)
            await expectFailure(.invalidArgument, "ASSERTION_EXPIRED") {
                _ = try await prove(early, by: service.signIn(), service)
            }
            #expect(service.others.proofs.isEmpty)
        }
    }

    @Test func `Concurrent uses of one assertion are one event`() async throws {
        try await TestService.run(phoneAssertions: policy) { service in
            let session = try await service.signIn()
            let text = try assertion(session.tokens.userID, service)
            try await withThrowingTaskGroup { tasks in
                for _ in 0..<8 { tasks.addTask { _ = try await prove(text, by: session, service) } }
                try await tasks.waitForAll()
            }
            #expect(Set(service.others.proofs.map(\.eventID)).count == 1)
            #expect(try await events(service).count == 1)
            #expect(try await service.count("work WHERE queue = 'phone_proofs'") == 0)
        }
    }

    // MARK: - Providers

    private static func providers(isTrusted: Bool) throws -> [ProviderConfiguration] {
        try PhoneBackend.providers(isTrusted: isTrusted)
    }

    private func verified(_ number: String) -> [String: JSONValue?] { PhoneBackend.verified(number) }

    @Test func `A trusted provider's number is delivered once, and a different one again`() async throws {
        try await TestService.run(providers: Self.providers(isTrusted: true)) { service in
            let first = try await service.signIn(changes: verified(Self.number))
            #expect(first.isNewUser)
            let told = service.others.proofs
            #expect(told.map(\.phoneNumber) == [Self.number] && told.map(\.userID) == [first.tokens.userID])
            #expect(told.map(\.proof) == [.provider])
            #expect(
                try await events(service) == ["phone_proven \(first.tokens.userID) {\"proof\": \"provider\"}"]
            )
            // The user may have chosen another number in the app since.
            service.clock.advance(seconds: 60)
            _ = try await service.signIn(changes: verified(Self.number))
            #expect(service.others.proofs.count == 1)
            service.clock.advance(seconds: 60)
            _ = try await service.signIn(changes: verified("+639170000000"))
            #expect(service.others.proofs.map(\.phoneNumber) == [Self.number, "+639170000000"])
            // Only a hash of it is kept.
            #expect(try await service.count("told_phones") == 1)
            #expect(try await service.count("work WHERE queue = 'phone_proofs'") == 0)
            service.clock.advance(seconds: 60)
            _ = try await service.signIn()
            #expect(service.others.proofs.count == 2, "a sign-in without a number sends nothing")
        }
    }

    @Test func `A sign-in succeeds while profile is down, and the number is delivered later`() async throws {
        try await TestService.run(providers: Self.providers(isTrusted: true)) { service in
            service.others.fail("profile", .unavailable)
            let session = try await service.signIn(changes: verified(Self.number))
            #expect(!session.tokens.accessToken.isEmpty)
            #expect(try await service.count("work WHERE queue = 'phone_proofs'") == 1)
            try await relaying(service) {
                service.others.fail("profile", nil)
                try await eventually("it is delivered") { service.others.proofs.count == 1 }
            }
            #expect(service.others.proofs.map(\.userID) == [session.tokens.userID])
        }
    }

    @Test func `After a conflict the next sign-in proves the number again`() async throws {
        try await TestService.run(providers: Self.providers(isTrusted: true)) { service in
            service.others.answerProofs(.success(.with { $0.outcome = .conflict }))
            let session = try await service.signIn(changes: verified(Self.number))
            #expect(
                try await events(service) == ["phone_conflict \(session.tokens.userID) {\"proof\": \"provider\"}"]
            )
            service.others.answerProofs(.success(.with { $0.outcome = .proven }))
            service.clock.advance(seconds: 60)
            _ = try await service.signIn(changes: verified(Self.number))
            #expect(Set(service.others.proofs.map(\.eventID)).count == 2)
            #expect(try await events(service).count == 2)
        }
    }

    /// The numbers that profile receives when the provider sends these in sequence.
    private func told(_ numbers: [String], _ service: TestService) async throws -> [String] {
        let before = service.others.proofs.count
        for number in numbers {
            service.clock.advance(seconds: 60)
            _ = try await service.signIn(changes: verified(number))
        }
        return service.others.proofs.dropFirst(before).map(\.phoneNumber)
    }

    @Test func `A number that isn't allowed is sent once a day`() async throws {
        try await TestService.run(providers: Self.providers(isTrusted: true)) { service in
            let other = "+639170000000"
            service.others.answerProofs(.success(.with { $0.outcome = .notAllowed }))
            let first = try await told([Self.number, Self.number, Self.number], service)
            #expect(first == [Self.number])
            #expect(try await service.count("work WHERE queue = 'phone_proofs'") == 0)
            service.clock.advance(seconds: 86_400)
            service.others.answerProofs(.success(.with { $0.outcome = .proven }))
            #expect(
                try await told([Self.number, Self.number], service) == [Self.number],
                "the policy may be another now"
            )
            // A number that was accepted before isn't sent again either: the user may have chosen another one since.
            service.others.answerProofs(.success(.with { $0.outcome = .notAllowed }))
            #expect(try await told([other, other, Self.number, other], service) == [other])
            service.clock.advance(seconds: 86_400)
            #expect(try await told([Self.number, other, other, Self.number], service) == [other])
            service.others.answerProofs(.success(.with { $0.outcome = .proven }))
            #expect(try await told(["+639170000001", Self.number], service) == ["+639170000001", Self.number])
            #expect(try await service.count("told_phones") == 1)
        }
    }

    @Test func `A provider that isn't trusted for numbers proves nothing`() async throws {
        try await TestService.run(providers: Self.providers(isTrusted: false)) { service in
            _ = try await service.signIn(changes: verified(Self.number))
            #expect(service.others.proofs.isEmpty)
            #expect(try await service.count("told_phones") == 0)
        }
    }

    @Test func `A deleted account's waiting proofs are deleted`() async throws {
        try await TestService.run(providers: Self.providers(isTrusted: true)) { service in
            service.others.fail("profile", .unavailable)
            let session = try await service.signIn(changes: verified(Self.number))
            try await service.delete(session.tokens.accessToken)
            for table in ["work WHERE queue = 'phone_proofs'", "told_phones"] {
                #expect(try await service.count("\(table)") == 0, "\(table)")
            }
        }
    }

    @Test func `An operator sees the disputes, and the audit log has their request`() async throws {
        try await TestService.run { service in
            let dispute = ProfileV1.PhoneDispute.with {
                ($0.phoneNumber, $0.holderUserID, $0.claimantUserID) = (Self.number, "a", "b")
                ($0.proof, $0.createdAtMs) = (.provider, 5)
            }
            service.others.dispute([dispute])
            let disputes = try await service.operators().disputes()
            #expect(disputes.map(\.phoneNumber) == [Self.number] && disputes.map(\.proof) == ["provider"])
            #expect(disputes.map(\.holderUserID) == ["a"] && disputes.map(\.claimantUserID) == ["b"])
            let told = try await service.words(
                "SELECT details->>'by' FROM security_events WHERE kind = 'account_found' AND user_id IS NULL"
            )
            #expect(told == ["phone_disputes"])
            await expectFailure(.invalidArgument, "PAGE_SIZE_INVALID") {
                _ = try await service.operators().disputes(size: -1)
            }
        }
    }
}
