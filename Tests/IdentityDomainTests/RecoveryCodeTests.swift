import IdentityDomain
import JOSE
import Models
import Testing

/// The form of recovery codes, and what is kept of them.
struct RecoveryCodeTests {
    private let bytes: [UInt8] = [
        0x00, 0x44, 0x32, 0x14, 0xC7, 0x42, 0x54, 0xB6, 0x35, 0xCF, 0x84, 0x65, 0x3A, 0x56, 0xD7,
    ]

    @Test func `A code is written in Crockford's base32, in groups of four`() {
        // 0 to 23, five bits each.
        #expect(RecoveryCode(random: bytes).text == "0123-4567-89AB-CDEF-GHJK-MNPQ")
        let last = RecoveryCode(random: [UInt8](repeating: 0xFF, count: RecoveryCode.randomByteCount))
        #expect(last.text == "ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ")
    }

    @Test func `Each code comes back from its text`() throws {
        for _ in 0..<200 {
            let code = RecoveryCode(random: SecureRandom.bytes(RecoveryCode.randomByteCount))
            #expect(RecoveryCode(code.text) == code)
            #expect(code.text.utf8.count == 29)
        }
    }

    @Test(arguments: [
        "0123456789ABCDEFGHJKMNPQ", "0123-4567-89ab-cdef-ghjk-mnpq", "  0123 4567 89AB CDEF GHJK MNPQ ",
        "O123-4567-89AB-CDEF-GHJK-MNPQ", "oi23-4567-89ab-cdef-ghjk-mnpq", "0L23-4567-89ab-cdef-ghjk-mnpq",
        "0-1-2-3-4-5-6-7-8-9-A-B-C-D-E-F-G-H-J-K-M-N-P-Q",
    ])
    func `Case, spaces, hyphens and letters that look like digits don't matter`(text: String) {
        #expect(RecoveryCode(text) == RecoveryCode(random: bytes))
    }

    @Test(arguments: [
        "", "-", "0123-4567-89AB-CDEF-GHJK-MNP", "0123-4567-89AB-CDEF-GHJK-MNPQ0", "0123-4567-89AB-CDEF-GHJK-MNPU",
        "0123_4567_89AB_CDEF_GHJK_MNPQ", "0123-4567-89AB-CDEF-GHJK-MNP\u{301}Q", "０123-4567-89AB-CDEF-GHJK-MNPQ",
        "0123\t4567-89AB-CDEF-GHJK-MNPQ", "0123-4567-89AB-CDEF-GHJK-MNPQ\0", String(repeating: " ", count: 101),
        "0123-4567-89AB-CDEF-GHJK-MNPQ" + String(repeating: "-", count: 72),
    ])
    func `Any other text is no code`(text: String) {
        #expect(RecoveryCode(text) == nil)
    }

    @Test func `The hash covers the locator and the secret`() {
        let code = RecoveryCode(random: bytes)
        #expect(code.locator == Array(bytes[..<5]) && code.hash.count == 32)
        for position in bytes.indices {
            var other = bytes
            other[position] ^= 1
            #expect(RecoveryCode(random: other).hash != code.hash)
            #expect((RecoveryCode(random: other).locator == code.locator) == (position >= 5))
        }
    }

    @Test func `A challenge of a code is for that code and user handle alone`() throws {
        let challenges = PasskeyChallenges(try #require(RefreshKeys([SecureRandom.bytes(32)])))
        let (code, handle) = (RecoveryCode(random: bytes), UserID(high: 1, low: 2))
        let challenge = challenges.make(
            for: .recovery(code, handle: handle),
            nowSeconds: 1_000,
            random: SecureRandom.bytes(PasskeyChallenges.randomByteCount)
        )
        _ = try challenges.check(challenge, for: .recovery(code, handle: handle), nowSeconds: 1_299)
        var other = bytes
        other[14] ^= 1
        for purpose in [
            PasskeyChallenges.Purpose.recovery(RecoveryCode(random: other), handle: handle),
            .recovery(code, handle: UserID(high: 1, low: 3)), .signIn,
            .registration(SessionID(high: 1, low: 2), handle: handle),
        ] {
            #expect(throws: IdentityError.passkey(.challengeUnknown)) {
                try challenges.check(challenge, for: purpose, nowSeconds: 1_000)
            }
        }
        #expect(throws: IdentityError.passkey(.challengeExpired)) {
            try challenges.check(challenge, for: .recovery(code, handle: handle), nowSeconds: 1_300)
        }
    }
}
