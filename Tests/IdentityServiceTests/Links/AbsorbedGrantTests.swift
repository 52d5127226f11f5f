import API
import IdentityDomain
import Models
import Postgres
import ServiceModels
import Testing

@testable import IdentityService

/// What providers granted goes along with an account that is absorbed.
struct AbsorbedGrantTests {
    private static func vault(_ id: String, _ byte: UInt8) throws -> VaultKeys {
        try #require(VaultKeys(current: (id, [UInt8](repeating: byte, count: VaultKeys.keyByteCount))))
    }

    /// An older account by Apple that absorbs one by Google of which a token is kept, up to the last step.
    private static func run(
        _ vault: VaultKeys?,
        sealedBy sealing: VaultKeys,
        _ body: (TestService, _ apple: UserID, _ google: UserID, _ grantID: [UInt8]) async throws -> Void
    ) async throws {
        try await TestService.run { service in
            let store = service.parts.methods.store
            let apple = try #require(UserID(try await service.signInAnew().userID))
            let google = try #require(UserID(try await service.signInByGoogle().userID))
            let place = GrantPlace(
                grantID: [UInt8](repeating: 3, count: 16),
                userID: google,
                provider: .google,
                clientID: "app"
            )
            let grant = NewGrant(
                userID: google,
                provider: .google,
                subject: "77",
                clientID: "app",
                refreshToken: "r.secret",
                grantedAtMilliseconds: service.clock.nowMilliseconds
            )
            #expect(
                try await store.keep(grant, at: place, sealing.seal("r.secret", at: place), checkAtMilliseconds: 0)
                    == .kept
            )
            let id = EventID(high: 7, low: 7)
            try await service.database.execute(
                """
                INSERT INTO absorptions (
                    absorption_id, absorbed, absorber, asker, fingerprints, state, may_turn, begun_at, held_until)
                VALUES (\(id.uuid), \(google.uuid), \(apple.uuid), \(apple.uuid), '{}', 'moving', true, now(), now())
                """
            )
            let absorption = Absorption(id: id, absorbed: google, absorber: apple, asker: apple, step: .moving)
            for isFirst in [true, false] {
                let isDone = try await store.absorb(
                    absorption,
                    vault: vault,
                    eventIDs: (EventID(high: 1, low: 1), EventID(high: 1, low: 2)),
                    nowMilliseconds: service.clock.nowMilliseconds
                )
                #expect(isDone == isFirst)
            }
            try await body(service, apple, google, place.grantID)
        }
    }

    @Test func `A token is sealed anew for the account that it goes to, and opens for no other`() async throws {
        let vault = try Self.vault("a", 1)
        try await Self.run(vault, sealedBy: vault) { service, apple, google, grantID in
            let row = try #require(
                try await service.database.query(
                    "SELECT \(unsafeSQL: IdentityStore.grantColumns), state FROM provider_grants"
                ).first
            )
            let grant = try row.grant()
            #expect(try row.decode(6, as: String.self) == "kept")
            #expect(grant.place.userID == apple && grant.place.grantID == grantID)
            #expect(try vault.open(grant.sealed, at: grant.place) == "r.secret")
            let before = GrantPlace(grantID: grantID, userID: google, provider: .google, clientID: "app")
            #expect(throws: VaultError.refused) { try vault.open(grant.sealed, at: before) }
        }
    }

    @Test func `A refusal that was asked for before the absorption ends nothing, and the token is asked about again`()
        async throws
    {
        let vault = try Self.vault("a", 1)
        try await Self.run(vault, sealedBy: vault) { service, apple, google, grantID in
            let before = GrantPlace(grantID: grantID, userID: google, provider: .google, clientID: "app")
            let now = service.clock.nowMilliseconds
            #expect(try await !service.parts.methods.store.endRefused(before, nowMilliseconds: now))
            let rows = try await service.words("SELECT user_id || ' ' || state FROM provider_grants")
            #expect(rows == ["\(apple) kept"])
        }
    }

    @Test(arguments: [true, false])
    func `A token that can't be decrypted is marked for revocation`(hasVault: Bool) async throws {
        let vault = hasVault ? try Self.vault("b", 2) : nil
        try await Self.run(vault, sealedBy: Self.vault("a", 1)) { service, _, google, _ in
            let rows = try await service.words("SELECT user_id || ' ' || state FROM provider_grants")
            #expect(rows == ["\(google) revoking"])
        }
    }

    @Test func `A token that comes after the absorption is neither kept nor revoked`() async throws {
        let vault = try Self.vault("a", 1)
        try await Self.run(vault, sealedBy: vault) { service, _, google, _ in
            let place = GrantPlace(
                grantID: [UInt8](repeating: 4, count: 16),
                userID: google,
                provider: .google,
                clientID: "other"
            )
            let late = NewGrant(
                userID: google,
                provider: .google,
                subject: "77",
                clientID: "other",
                refreshToken: "r.late",
                grantedAtMilliseconds: service.clock.nowMilliseconds
            )
            let store = service.parts.methods.store
            let kept = try await store.keep(late, at: place, vault.seal("r.late", at: place), checkAtMilliseconds: 0)
            #expect(kept == .superseded)
            #expect(try await service.count("provider_grants") == 1)
        }
    }
}
