import JOSE
import Models
import ServiceKit
import Testing

@testable import ServiceModels

/// The bytes of a proof, and invalid proofs.
struct CallerProofTests {
    private static let master = (0..<32).map { UInt8($0) }
    private static let nowMilliseconds: Int64 = 1_800_000_000_000
    private let profile: CallerProofKey
    private let invites: CallerProofKey
    private let user: UserID
    private let session: SessionID

    init() throws {
        profile = try #require(CallerProofKey(master: Self.master, service: "profile"))
        invites = try #require(CallerProofKey(master: Self.master, service: "invites"))
        user = try #require(UserID("0190c2a5-7f00-7000-8000-000000000001"))
        session = try #require(SessionID("0190c2a5-7f00-7000-8000-000000000002"))
    }

    private func proof(madeAt milliseconds: Int64 = nowMilliseconds, session: SessionID?) -> CallerProof {
        CallerProof(userID: user, sessionID: session, minute: CallerProof.minute(madeAtMilliseconds: milliseconds))
    }

    private var text: String { proof(session: session).text(under: profile, for: "profile") }

    private func check(
        _ text: String,
        _ keys: [CallerProofKey]? = nil,
        for service: String = "profile",
        at milliseconds: Int64 = nowMilliseconds
    ) throws(CallerProofError) -> CallerProof {
        try CallerProof(text, under: keys ?? [profile], for: service, nowMilliseconds: milliseconds)
    }

    /// Made by Python's hmac and hashlib according to the type's documentation.
    @Test func `It has the documented bytes`() throws {
        #expect(Hex.encode(profile.bytes) == "252ffcf239db5065c5c28995b04015f95231cb1f65aea978dde46e6166d59c1e")
        #expect(Hex.encode(invites.bytes) == "57f45783180a1253f9b1128781a761f8cd5f749603b14db439d972083a4e8782")
        #expect(profile.description == "CallerProofKey(6e22e32e)")
        #expect(text == "AW4i4y4BycN_AZDCpX8AcACAAAAAAAAAAQGQwqV_AHAAgAAAAAAAAALFZDwkaVa0KduIDS62T2yj")
        #expect(text.utf8.count == CallerProof.textLength)
        #expect(try check(text) == CallerProof(userID: user, sessionID: session, minute: 29_999_999))
    }

    @Test func `A user without a session is proven too`() throws {
        let checked = try check(proof(session: nil).text(under: profile, for: "profile"))
        #expect(checked.userID == user && checked.sessionID == nil)
    }

    @Test func `A change of any byte is refused`() throws {
        let bytes = try #require(Base64URL.decode(text))
        #expect(bytes.count == CallerProof.byteCount)
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                // The version and the key's id choose the code; the rest is the content of the code, and the code itself.
                let fault: CallerProofError = index < 5 ? .malformed : .forged
                #expect(throws: fault) { try check(Base64URL.encode(changed)) }
            }
        }
    }

    @Test func `A proof for another service is refused, with any key`() throws {
        let toInvites = proof(session: session).text(under: invites, for: "invites")
        #expect(throws: CallerProofError.malformed) { try check(toInvites) }
        // A service's key makes no proof for another service, and none is accepted under another name.
        #expect(throws: CallerProofError.forged) { try check(text, [profile], for: "invites") }
        #expect(throws: CallerProofError.malformed) { try check(text, [invites], for: "invites") }
    }

    @Test func `Another user or session is refused`() throws {
        let bytes = try #require(Base64URL.decode(text))
        let other = try #require(UserID("0190c2a5-7f00-7000-8000-000000000003"))
        for range in [9..<25, 25..<41] {
            var changed = bytes
            changed.replaceSubrange(range, with: other.bytes)
            #expect(throws: CallerProofError.forged) { try check(Base64URL.encode(changed)) }
        }
    }

    @Test func `A cut, extended or malformed text is refused`() {
        let text = text
        for count in 0..<text.utf8.count {
            #expect(throws: CallerProofError.malformed) { try check(String(text.prefix(count))) }
        }
        for other in [
            text + "A", text + "AAAA", " " + text.dropFirst(), text.replacing("_", with: "/"), "=" + text.dropLast(),
        ] {
            #expect(throws: CallerProofError.malformed) { try check(other) }
        }
        #expect(throws: CallerProofError.malformed) { try check(String(repeating: "é", count: 38)) }
    }

    @Test func `A guest's proof is another version, and can't be made a user's`() throws {
        let minute = CallerProof.minute(madeAtMilliseconds: Self.nowMilliseconds)
        let proof = CallerProof(userID: user, sessionID: nil, isGuest: true, minute: minute).text(
            under: profile,
            for: "profile"
        )
        #expect(try check(proof).isGuest && check(proof).userID == user)
        #expect(try !check(text).isGuest)
        var bytes = try #require(Base64URL.decode(proof))
        bytes[0] = 1
        #expect(throws: CallerProofError.forged) { try check(Base64URL.encode(bytes)) }
    }

    @Test(arguments: [0, 3, 255] as [UInt8])
    func `Another version is refused, even with a matching code`(version: UInt8) throws {
        var content = Array(try #require(Base64URL.decode(text)).prefix(41))
        content[0] = version
        let label = Array("vestibule caller proof 1".utf8) + [0] + Array("profile".utf8) + [0]
        let code = SHA256.authenticationCode(of: label + content, key: profile.bytes).prefix(16)
        #expect(throws: CallerProofError.malformed) { try check(Base64URL.encode(content + code)) }
        content[0] = 1
        let own = SHA256.authenticationCode(of: label + content, key: profile.bytes).prefix(16)
        #expect(try check(Base64URL.encode(content + own)).userID == user, "the test's code is correct")
    }

    @Test func `While a key is replaced, proofs by both keys are accepted, and by no third`() throws {
        let next = try #require(CallerProofKey([UInt8](repeating: 9, count: 32)))
        let underNext = proof(session: session).text(under: next, for: "profile")
        for keys in [[profile, next], [next, profile]] {
            #expect(try check(text, keys).userID == user)
            #expect(try check(underNext, keys).userID == user)
        }
        #expect(throws: CallerProofError.malformed) { try check(text, [next]) }
        #expect(throws: CallerProofError.malformed) { try check(text, []) }
    }

    /// Each second of two minutes against each difference of the clocks.
    @Test func `Clocks that differ by up to thirty seconds do no harm, and no proof is valid for ninety`() throws {
        let start = Self.nowMilliseconds / 60_000 * 60_000
        for second in 0..<120 as Range<Int64> {
            let made = start + second * 1_000
            let text = proof(madeAt: made, session: session).text(under: profile, for: "profile")
            for difference in -30...29 as ClosedRange<Int64> {
                #expect(throws: Never.self, "\(second) \(difference)") {
                    try check(text, at: made + difference * 1_000)
                }
            }
            #expect(throws: CallerProofError.expired) { try check(text, at: made + 90_000) }
            #expect(throws: CallerProofError.expired) { try check(text, at: made - 91_000) }
        }
    }

    @Test func `A proof of the last minute is accepted, and one of the minute before or of the next isn't`() throws {
        let minute = CallerProof.minute(madeAtMilliseconds: Self.nowMilliseconds)
        func taken(at minutes: Int64) -> CallerProofError? {
            do throws(CallerProofError) {
                _ = try check(text, at: (Int64(minute) + minutes) * 60_000 + 30_000)
                return nil
            } catch {
                return error
            }
        }
        #expect([-1, 0, 1, 2].map(taken) == [.expired, nil, nil, .expired])
    }

    @Test func `A key must have its length`() {
        for count in [0, 31, 33] {
            #expect(CallerProofKey([UInt8](repeating: 1, count: count)) == nil)
            #expect(CallerProofKey(master: [UInt8](repeating: 1, count: count), service: "profile") == nil)
        }
    }
}
