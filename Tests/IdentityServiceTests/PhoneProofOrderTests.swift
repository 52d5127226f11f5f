import API
import JOSE
import Models
import RPC
import ServiceKit
import SwiftProtobuf
import TestWaits
import Testing

@testable import IdentityService

/// In which order proofs of numbers count, how often, and for whom.
struct PhoneProofOrderTests {
    private static let (first, second) = ("+639171234567", "+639170000000")
    private let backend: PhoneBackend

    init() throws { backend = try PhoneBackend() }

    @Test func `A newer proof doesn't overtake an older one that waits`() async throws {
        try await TestService.run(phoneAssertions: backend.policy) { service in
            let session = try await service.signIn()
            let userID = session.tokens.userID
            let older = try backend.assertion(userID, Self.first, service)
            let newer = try backend.assertion(userID, Self.second, service, id: "second")
            service.others.fail("profile", .unavailable)
            #expect(try await service.prove(older, by: session).isPending)
            service.others.fail("profile", nil)
            #expect(try await service.prove(newer, by: session).isPending)
            #expect(service.others.proofs.isEmpty)
            try await service.relayingProofs {
                try await eventually("both are delivered") {
                    try await service.count("work WHERE queue = 'phone_proofs'") == 0
                }
            }
            #expect(service.others.proofs.map(\.phoneNumber) == [Self.first, Self.second])
        }
    }

    @Test func `Profile gets the time of the proof, so that a later choice of the user stays`() async throws {
        try await TestService.run(
            providers: PhoneBackend.providers(),
            phoneAssertions: backend.policy
        ) { service in
            let session = try await service.signIn(changes: PhoneBackend.verified(Self.second))
            let text = try backend.assertion(session.tokens.userID, Self.first, service)
            service.others.fail("profile", .unavailable)
            #expect(try await service.prove(text, by: session).isPending)
            service.clock.advance(seconds: 7)
            // Sent again, as after a lost answer.
            #expect(try await service.prove(text, by: session).isPending)
            service.others.fail("profile", nil)
            service.others.answerProofs(.success(.with { $0.outcome = .outdated }))
            try await service.relayingProofs {
                try await eventually("it is delivered") {
                    try await service.count("work WHERE queue = 'phone_proofs'") == 0
                }
            }
            #expect(try await !service.prove(text, by: session).isPending)
            let events = try await service.phoneEvents()
            #expect(events == ["phone_proven \(session.tokens.userID) {\"proof\": \"provider\"}"])
            // A user who waits for the answer can't have chosen another number since. Profile gets a duration, as clocks differ.
            let told = service.others.proofs.map { $0.hasAcceptedForMs ? $0.acceptedForMs : nil }
            #expect(told.first == .some(nil))
            #expect(told.dropFirst().contains(7_000) && told.allSatisfy { $0 == nil || $0 == 7_000 })
            // A provider's number that arrived too late was delivered all the same.
            service.clock.advance(seconds: 60)
            _ = try await service.signIn(changes: PhoneBackend.verified(Self.first))
            let count = service.others.proofs.count
            service.clock.advance(seconds: 60)
            _ = try await service.signIn(changes: PhoneBackend.verified(Self.first))
            #expect(service.others.proofs.count == count)
        }
    }

    @Test(arguments: [ProfileV1.ProvenPhoneOutcome.notAllowed, .conflict])
    func `A provider's number counts as delivered when profile has accepted it, and not before`(
        outcome: ProfileV1.ProvenPhoneOutcome
    ) async throws {
        try await TestService.run(providers: PhoneBackend.providers()) { service in
            // A number that profile doesn't allow is sent again after a day.
            let pause: Int64 = outcome == .notAllowed ? 86_400 : 60
            func signIn(after seconds: Int64 = 60) async throws {
                service.clock.advance(seconds: seconds)
                _ = try await service.signIn(changes: PhoneBackend.verified(Self.first))
            }
            service.others.fail("profile", .unavailable)
            try await signIn()
            try await signIn()
            #expect(
                try await service.count("work WHERE queue = 'phone_proofs'") == 1,
                "while it waits it isn't told again"
            )
            service.others.fail("profile", nil)
            service.others.answerProofs(.success(.with { $0.outcome = outcome }))
            try await service.relayingProofs {
                try await eventually("it is delivered") {
                    try await service.count("work WHERE queue = 'phone_proofs'") == 0
                }
            }
            try await signIn(after: pause)
            #expect(service.others.proofs.count == 2)
            service.others.answerProofs(.success(.with { $0.outcome = .proven }))
            try await signIn(after: pause)
            #expect(service.others.proofs.count == 3)
            // The user may have chosen another number since.
            try await signIn()
            #expect(service.others.proofs.count == 3)
        }
    }

    @Test func `A conflict about one number doesn't make another one new`() async throws {
        try await TestService.run(providers: PhoneBackend.providers(), phoneAssertions: backend.policy) { service in
            func signIn(_ number: String) async throws -> IdentityV1.SignInResponse {
                service.clock.advance(seconds: 60)
                return try await service.signIn(changes: PhoneBackend.verified(number))
            }
            let session = try await signIn(Self.first)
            service.others.answerProofs(.success(.with { $0.outcome = .conflict }))
            let other = try backend.assertion(session.tokens.userID, Self.second, service)
            await expectFailure(.alreadyExists, "PHONE_TAKEN") { _ = try await service.prove(other, by: session) }
            _ = try await signIn(Self.first)
            #expect(service.others.proofs.map(\.phoneNumber) == [Self.first, Self.second])
            // Neither is the provider's own other number.
            _ = try await signIn(Self.second)
            _ = try await signIn(Self.first)
            #expect(service.others.proofs.map(\.phoneNumber) == [Self.first, Self.second, Self.second])
            _ = try await signIn(Self.second)
            #expect(service.others.proofs.count == 4)
        }
    }

    @Test func `An assertion's jti belongs to one user and one number`() async throws {
        try await TestService.run(phoneAssertions: backend.policy) { service in
            let session = try await service.signIn()
            let other = try await service.signIn(subject: "002.person")
            let text = try backend.assertion(session.tokens.userID, Self.first, service)
            _ = try await service.prove(text, by: session)
            let reused = try backend.assertion(session.tokens.userID, Self.second, service)
            await expectFailure(.invalidArgument, "ASSERTION_INVALID") {
                _ = try await service.prove(reused, by: session)
            }
            let others = try backend.assertion(other.tokens.userID, Self.first, service)
            await expectFailure(.invalidArgument, "ASSERTION_INVALID") {
                _ = try await service.prove(others, by: other)
            }
            #expect(service.others.proofs.count == 1)
            // The table doesn't contain the number.
            #expect(try await service.count("phone_assertions a WHERE a::text LIKE '%9171234567%'") == 0)
            _ = try await service.prove(text, by: session)
            #expect(Set(service.others.proofs.map(\.eventID)).count == 1)
        }
    }

    @Test(arguments: [false, true])
    func `A waiting proof of an absorbed account is delivered for the absorbing one`(isTold: Bool) async throws {
        try await TestService.run(phoneAssertions: backend.policy) { service in
            _ = service.others.absorptions()
            let apple = try await service.signInAnew()
            service.pass(seconds: 1)
            let google = try await service.signIn(token: service.googleToken(), provider: "google")
            service.pass(seconds: 1)
            service.others.fail("profile", .unavailable)
            let text = try backend.assertion(google.tokens.userID, Self.first, service)
            #expect(try await service.prove(text, by: google).isPending)
            service.others.fail("profile", nil)
            // Profile has closed the account already, and identity hasn't moved it.
            _ = service.others.absorptions { $0.lost = ["after profile.closeIfEmpty"] }
            await expectFailure(.unavailable, "ACCOUNT_HELD") {
                try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            }
            func move() async throws {
                service.pass(seconds: 11)
                await service.parts.methods.absorber.round()
                #expect(try await service.words("SELECT user_id::text FROM accounts") == [apple.userID])
            }
            if !isTold { try await move() }
            try await service.relayingProofs {
                if isTold {
                    try await eventually("it is delivered, and waits") {
                        try await service.count("work WHERE queue = 'phone_proofs' AND failure IS NOT NULL") == 1
                    }
                    try await move()
                }
                try await eventually("it is delivered") {
                    service.clock.advance(seconds: 60)
                    return try await service.count("work WHERE queue = 'phone_proofs'") == 0
                }
            }
            #expect(service.others.proofs.last?.userID == apple.userID)
            #expect(try await service.phoneEvents() == ["phone_proven \(apple.userID) {\"proof\": \"assertion\"}"])
        }
    }
}
