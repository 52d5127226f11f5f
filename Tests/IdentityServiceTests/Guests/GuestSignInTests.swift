import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import Testing

@testable import IdentityService

/// A guest account costs work, and is counted.
struct GuestSignInTests {
    @Test func `A guest has an account with one session, which is refreshed, and says what it is`() async throws {
        try await TestService.runWithGuests { service in
            let guest = try await service.guest(deviceName: "Blue phone")
            #expect(guest.idToken.isEmpty && !guest.refreshToken.isEmpty)
            let claims = try service.claims(ofIDToken: guest.accessToken)
            #expect(claims["acr"] == "urn:vestibule:acr:guest" && claims["is_anonymous"] == true)
            let checked = try await service.check(guest.accessToken)
            #expect(checked.userID == guest.userID && checked.proof == .guest)
            let account = try await service.account(guest.userID)
            #expect(account.isGuest && account.identities.isEmpty && account.accountNumber == guest.accountNumber)
            let refreshed = try await service.refresh(guest.refreshToken).tokens
            #expect(refreshed.userID == guest.userID && refreshed.sessionID == guest.sessionID)
            #expect(try await service.check(refreshed.accessToken).proof == .guest)
            let told = try await service.client.introspectToken(.with { $0.token = refreshed.accessToken })
            #expect(told.active && told.isGuest && told.clientID == "guest")
            let sessions = try await service.sessions(refreshed.accessToken)
            #expect(sessions.map(\.provider) == ["guest"] && sessions.map(\.deviceName) == ["Blue phone"])
            let event = "SELECT details ->> 'provider' || ' ' || (details ->> 'opened_account') FROM security_events"
            #expect(try await service.words(event) == ["guest true"])
            // A user of a provider says another.
            let user = try await service.signInAnew()
            #expect(try service.claims(ofIDToken: user.accessToken)["acr"] == "urn:vestibule:acr:provider")
            #expect(try await !service.account(user.userID).isGuest)
        }
    }

    @Test func `The services learn by the proof of the caller that a guest calls`() async throws {
        try await TestService.runWithGuests { service in
            let callers = ProvenCallers(
                service: "profile",
                keys: [try #require(CallerProofKey(master: TestService.proofMaster, service: "profile"))],
                clock: service.clock.wallClock
            )
            func asked(_ token: String) async throws -> (userID: UserID, isGuest: Bool) {
                let proofs = try await service.check(token).callerProofs
                let call = ServerCall(
                    method: MethodDescriptor(service: "s", method: "m"),
                    metadata: Metadata([CallerProofKey.metadataName: proofs.profile]),
                    deadline: nil,
                    peer: PeerInfo(address: "10.0.0.1:4242", isEncrypted: true, certificateNames: [])
                )
                let context = ServerContext(call)
                let user = try callers.userOrGuest(of: context)
                if user.isGuest {
                    #expect(throws: CallerProofError.guest) { try callers.fullUser(of: context) }
                } else {
                    #expect(try callers.fullUser(of: context) == user.userID)
                }
                return user
            }
            let guest = try await service.guest()
            for _ in 0..<2 { #expect(try await asked(guest.accessToken).isGuest) }
            let user = try await service.signInAnew()
            #expect(try await !asked(user.accessToken).isGuest)
        }
    }

    @Test func `Guests are off by default, and those that exist go on`() async throws {
        try await TestService.run { (service) async throws in
            await expectFailure(.failedPrecondition, "GUESTS_NOT_ENABLED") {
                _ = try await service.client.createGuestChallenge(.init())
            }
            await expectFailure(.failedPrecondition, "GUESTS_NOT_ENABLED") { _ = try await service.guest(proof: "") }
            #expect(try await service.count("accounts") == 0)
        }
    }

    @Test func `A proof of work opens one account, and within a minute the same session`() async throws {
        try await TestService.runWithGuests { service in
            let proof = try await service.proofOfWork()
            let guest = try await service.guest(proof: proof)
            let again = try await service.guest(proof: proof)
            #expect(again.sessionID == guest.sessionID && again.userID == guest.userID)
            #expect(try await service.count("accounts") == 1)
            service.clock.advance(seconds: 61)
            await expectFailure(.failedPrecondition, "WORK_SPENT") { _ = try await service.guest(proof: proof) }
            let used = try await service.proofOfWork()
            _ = try await service.refresh(service.guest(proof: used).refreshToken)
            await expectFailure(.failedPrecondition, "WORK_SPENT") { _ = try await service.guest(proof: used) }
            // Nor does it open another once what is kept of it is forgotten.
            service.clock.advance(seconds: 3_600)
            await service.parts.cleanup.clean()
            #expect(try await service.count("sign_ins") == 0)
            for proof in [proof, used] {
                await expectFailure(.failedPrecondition, "WORK_EXPIRED") { _ = try await service.guest(proof: proof) }
            }
            #expect(try await service.count("accounts") == 2)
        }
    }

    @Test func `Of many who show one proof at the same moment all get the one session`() async throws {
        try await TestService.runWithGuests { service in
            let proof = try await service.proofOfWork()
            let sessions = try await withThrowingTaskGroup(of: String.self) { tasks in
                for _ in 0..<8 { tasks.addTask { try await service.guest(proof: proof).sessionID } }
                var sessions: Set<String> = []
                for try await session in tasks { sessions.insert(session) }
                return sessions
            }
            #expect(sessions.count == 1)
            #expect(try await service.count("accounts") == 1)
            #expect(try await service.count("sessions") == 1)
        }
    }

    @Test func `Without the work nothing is stored`() async throws {
        try await TestService.runWithGuests { service in
            await expectFailure(.invalidArgument, "WORK_REQUIRED") { _ = try await service.guest(proof: "") }
            let challenge = try await service.client.createGuestChallenge(.init()).challenge
            let lazy = try #require(
                (0...).lazy.map { "\(challenge).\($0)" }.first { GuestChallenges.zeroBits(SHA256.hash($0)) < 4 }
            )
            for proof in [lazy, "x", challenge] {
                await expectFailure(.invalidArgument, "WORK_INVALID") { _ = try await service.guest(proof: proof) }
            }
            #expect(try await service.count("sign_ins") == 0)
            #expect(try await service.count("quotas") == 0)
            #expect(try service.guests("work_refused") == 4)
        }
    }

    @Test func `A flood from one address ends at its limit, one from many at that of all, and no proof is lost`()
        async throws
    {
        let policy = GuestPolicy.on {
            $0.perAddress = GuestPolicy.hourly("guests_of_address", 3)
            $0.all = GuestPolicy.hourly("guests", 5)
        }
        try await TestService.runWithGuests(policy) { service in
            for _ in 0..<3 { _ = try await service.guest(address: "192.0.2.1") }
            let proof = try await service.proofOfWork()
            for _ in 0..<10 {
                await expectFailure(.resourceExhausted, "TOO_MANY_GUESTS") {
                    _ = try await service.guest(proof: proof, address: "192.0.2.1")
                }
            }
            // The proof is good at another address.
            _ = try await service.guest(proof: proof, address: "192.0.2.2")
            _ = try await service.guest(address: "192.0.2.3")
            for index in 4..<40 {
                await expectFailure(.resourceExhausted, "TOO_MANY_GUESTS") {
                    _ = try await service.guest(address: "192.0.2.\(index)")
                }
            }
            // Refusals leave no rows.
            #expect(try await service.count("accounts") == 5)
            #expect(try await service.count("sign_ins") == 5)
            #expect(try await service.count("quotas") == 4)
            #expect(try service.guests("created") == 5 && service.guests("limited") == 10)
            #expect(try service.guests("limited_in_all") == 36)
            service.clock.advance(seconds: 3_601)
            _ = try await service.guest(address: "192.0.2.1")
        }
    }

    @Test func `Many at the same moment don't get beyond the limit`() async throws {
        let policy = GuestPolicy.on { $0.all = GuestPolicy.hourly("guests", 7) }
        try await TestService.runWithGuests(policy) { (service) async throws in
            let opened = await withTaskGroup(of: Bool.self) { tasks in
                for index in 0..<20 {
                    tasks.addTask { (try? await service.guest(address: "192.0.2.\(index)")) != nil }
                }
                return await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(opened == 7)
            #expect(try await service.count("accounts") == 7)
        }
    }

    @Test func `Where no work is required, each call makes a guest`() async throws {
        try await TestService.runWithGuests(.on { $0.workBits = 0 }) { service in
            let (first, second) = (try await service.guest(proof: ""), try await service.guest(proof: ""))
            #expect(first.userID != second.userID)
            // A proof is still good for a repetition.
            let proof = try await service.client.createGuestChallenge(.init()).challenge + ".0"
            #expect(try await service.guest(proof: proof).userID == service.guest(proof: proof).userID)
        }
    }

    @Test func `A guest ends the session, and can't come back`() async throws {
        try await TestService.runWithGuests { service in
            let guest = try await service.guest()
            try await service.signOut(refreshToken: guest.refreshToken)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.refresh(guest.refreshToken)
            }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(guest.accessToken) }
        }
    }
}
