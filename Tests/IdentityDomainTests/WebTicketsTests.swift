import JOSE
import Testing

@testable import IdentityDomain

struct WebTicketsTests {
    private static let binding = WebTicketBinding(clientID: "com.example.app", codeChallenge: WebStateTests.challenge)

    private static func grant(_ provider: TestProvider) throws -> WebGrant {
        WebGrant(
            fingerprint: SHA256.hash("token"),
            provider: .apple,
            claims: try provider.judge(["name": "Ana \u{202e}Cruz", "real_user_status": 2, "transfer_sub": "t-1"]),
            code: "the code",
            redirectURI: "https://api.example.com/auth/apple/callback",
            fullName: " Ana Cruz ",
            email: "ana@example.com"
        )
    }

    @Test func `Tickets reveal only their kind`() throws {
        let tickets = WebTickets(randomBytes: SecureRandom.bytes)
        #expect(tickets.idToken.hasPrefix("vit1_") && tickets.idToken.utf8.count == 48)
        #expect(tickets.code.hasPrefix("vct1_") && tickets.code.utf8.count == 48)
        #expect(WebTickets(idToken: tickets.idToken, code: tickets.code) == tickets)
        #expect(tickets.idTokenHash == SHA256.hash(tickets.idToken) && tickets.codeHash == SHA256.hash(tickets.code))
    }

    @Test func `A malformed ticket is invalid`() {
        let tickets = WebTickets(randomBytes: SecureRandom.bytes)
        let (first, second) = (tickets.idToken, tickets.code)
        for (idToken, code) in [
            ("", ""), (first, ""), ("", second), (second, first), (first, first), (first + "A", second),
            (first, String(second.dropLast())), (first, second + "="), (first, "vct2" + second.dropFirst(4)),
            (first, "vct1_" + String(repeating: "A", count: 10_000)),
        ] {
            #expect(WebTickets(idToken: idToken, code: code) == nil)
        }
    }

    @Test func `Only both tickets together open the posted values`() throws {
        let provider = try TestProvider.apple()
        let grant = try Self.grant(provider)
        let tickets = WebTickets(randomBytes: SecureRandom.bytes)
        let sealed = tickets.seal(grant, boundTo: Self.binding)
        let opened = try #require(tickets.open(sealed, boundTo: Self.binding, policy: provider.policy))
        // The name in the form may be invalid, and isn't stored then.
        #expect(opened.claims.name == nil && opened.claims.email == "person@example.com")
        #expect(opened.claims.nonceVerdict == .proven && opened.claims.realUserStatus == 2)
        #expect(opened.claims.transferSubject == "t-1")
        #expect(opened.claims.policy == provider.policy.audiences["com.example.app"])
        #expect(opened.fullName == "Ana Cruz" && opened.code == "the code")
        #expect(opened.fingerprint == grant.fingerprint && opened.redirectURI == grant.redirectURI)
        let others = WebTickets(randomBytes: SecureRandom.bytes)
        let mixed = try #require(WebTickets(idToken: tickets.idToken, code: others.code))
        for stranger in [others, mixed] {
            #expect(stranger.open(sealed, boundTo: Self.binding, policy: provider.policy) == nil)
        }
        for text in ["the code", "ana@example.com", "001234"] {
            let bytes = Array(text.utf8)
            #expect(!sealed.indices.contains { sealed[$0...].starts(with: bytes) })
        }
    }

    @Test func `A row that was tampered with opens nothing`() throws {
        let provider = try TestProvider.apple()
        let tickets = WebTickets(randomBytes: SecureRandom.bytes)
        let sealed = tickets.seal(try Self.grant(provider), boundTo: Self.binding)
        for binding in [
            WebTicketBinding(clientID: "com.example.app", codeChallenge: nil),
            WebTicketBinding(clientID: "com.example.web", codeChallenge: WebStateTests.challenge),
        ] {
            #expect(tickets.open(sealed, boundTo: binding, policy: provider.policy) == nil)
        }
        // An audience that is no longer configured.
        let other = try TestProvider.policy([AudiencePolicy(id: "com.example.web", match: .sha256)])
        #expect(tickets.open(sealed, boundTo: Self.binding, policy: other) == nil)
    }

    @Test func `Tickets need the verifier`() {
        let bound = Self.binding
        let free = WebTicketBinding(clientID: "com.example.app", codeChallenge: nil)
        for client in ["", "com.example.app"] {
            #expect(bound.admits(clientID: client, codeVerifier: WebStateTests.verifier))
            #expect(free.admits(clientID: client, codeVerifier: ""))
        }
        #expect(!bound.admits(clientID: "", codeVerifier: ""))
        #expect(!bound.admits(clientID: "", codeVerifier: WebStateTests.challenge))
        #expect(!bound.admits(clientID: "", codeVerifier: String(WebStateTests.verifier.reversed())))
        #expect(!bound.admits(clientID: "com.example.web", codeVerifier: WebStateTests.verifier))
        #expect(!free.admits(clientID: "", codeVerifier: WebStateTests.verifier), "somebody took the challenge off")
    }
}
