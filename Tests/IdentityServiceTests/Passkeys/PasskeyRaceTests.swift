import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import Testing

@testable import IdentityService
@testable import WebAuthn

/// Additions, removals and sign-ins at the same moment, below the ceremonies, which the end-to-end tests perform.
struct PasskeyRaceTests {
    private static let party = "example.com"

    private static func passkey(_ credentialID: [UInt8] = SecureRandom.bytes(16)) -> NewPasskey {
        NewPasskey(
            credentialID: credentialID,
            publicKey: [1],
            algorithm: .es256,
            signCount: 0,
            aaguid: [UInt8](repeating: 0, count: 16),
            isBackupEligible: true,
            isBackedUp: true,
            isUserVerified: true,
            transports: ["internal"]
        )
    }

    private static func assertion(signCount: UInt32 = 1, isCounterBehind: Bool = false) -> PasskeyAssertion {
        PasskeyAssertion(
            signCount: signCount,
            isBackedUp: true,
            isUserVerified: true,
            isCounterBehind: isCounterBehind,
            userHandle: nil
        )
    }

    private static func add(
        _ passkey: NewPasskey,
        _ service: TestService,
        _ session: LinkingSession
    ) async throws -> AccountPasskey {
        let methods = service.parts.methods
        return try await methods.store.addPasskey(
            passkey,
            id: methods.identifiers.make(),
            name: nil,
            for: party,
            under: session.userID,
            by: .session(session),
            nowMilliseconds: service.clock.nowMilliseconds,
            deadline: nil
        )
    }

    private static func signedIn(_ service: TestService) async throws -> LinkingSession {
        let tokens = try await service.signInAnew()
        return LinkingSession(
            userID: try #require(UserID(tokens.userID)),
            sessionID: try #require(SessionID(tokens.sessionID))
        )
    }

    @Test func `However many are added at once, an account has twenty, each credential once, and one identity`()
        async throws
    {
        try await TestService.run { service in
            let session = try await Self.signedIn(service)
            let shared = Self.passkey()
            let refusals = try await withThrowingTaskGroup(of: IdentityError?.self) { tasks in
                for number in 0..<30 {
                    tasks.addTask {
                        do {
                            _ = try await Self.add(number < 5 ? shared : Self.passkey(), service, session)
                            return nil
                        } catch let error as IdentityError {
                            return error
                        }
                    }
                }
                return try await tasks.reduce(into: [IdentityError?]()) { $0.append($1) }
            }
            #expect(try await service.count("passkeys") == Int64(PasskeySettings.countMax))
            #expect(try await service.count("provider_identities WHERE provider = 'passkey'") == 1)
            let refused = refusals.compactMap { $0 }
            #expect(!refused.isEmpty && refused.allSatisfy { $0 == .passkey(.tooMany) })
        }
    }

    @Test func `A passkey that is removed while it signs in leaves no session`() async throws {
        try await TestService.run { service in
            let (store, session) = (service.parts.methods.store, try await Self.signedIn(service))
            let kept = try await Self.add(Self.passkey(), service, session)
            let removed = try await Self.add(Self.passkey(), service, session)
            let (handle, now) = (session.userID.description, service.clock.nowMilliseconds)
            let methods = service.parts.methods
            func open(_ passkey: AccountPasskey) async throws -> StoredSession {
                let challenge = methods.newPasskeyChallenge(for: .signIn)
                let spent = try methods.passkeyChallenges.check(challenge, for: .signIn, nowSeconds: now / 1000)
                return try await store.openSession(
                    SignIn(
                        passkey: passkey.id,
                        of: handle,
                        relyingParty: Self.party,
                        challenge: spent,
                        deviceName: ""
                    ),
                    new: methods.newSession(boundTo: nil),
                    nowMilliseconds: now,
                    deadline: nil
                ).session
            }
            func note(_ passkey: AccountPasskey, _ assertion: PasskeyAssertion) async throws
                -> Bool
            {
                try await store.notePasskeyUse(
                    passkey.credentialID,
                    of: handle,
                    assertion,
                    nowMilliseconds: now,
                    deadline: nil
                )
            }
            let early = try await open(removed)
            #expect(try await note(removed, Self.assertion(signCount: 7)))
            // Open, and not noted yet, when the passkey goes.
            let late = try await open(removed)
            let hasEnded = try await store.removePasskey(
                removed.id,
                by: session,
                configured: WaysIn(providers: ["apple"], relyingParty: Self.party),
                nowMilliseconds: now,
                deadline: nil
            )
            #expect(!hasEnded)
            #expect(try await !note(removed, Self.assertion(signCount: 8)))
            let live = "sessions WHERE provider = 'passkey' AND revoked_at IS NULL"
            for session in [early, late] {
                #expect(try await service.count("\(live) AND session_id = '\(session.facts.sessionID)'") == 0)
            }
            // A counter that doesn't rise is noted, and the stored one never goes back.
            _ = try await open(kept)
            #expect(try await note(kept, Self.assertion(signCount: 9)))
            #expect(try await note(kept, Self.assertion(signCount: 2, isCounterBehind: true)))
            #expect(try await service.count("passkeys WHERE sign_count = 9 AND counter_behind_at IS NOT NULL") == 1)
        }
    }
}
