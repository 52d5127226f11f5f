import IdentityDomain
import JOSE
import Models
import Testing

struct VaultKeysTests {
    private static let old = (id: "old", bytes: [UInt8](repeating: 1, count: 32))
    private static let new = (id: "new", bytes: [UInt8](repeating: 2, count: 32))
    private static let token = "rafa5e0d1.0.swrx.a-refresh-token"

    private static func place(
        row: UInt8 = 1,
        user: UInt64 = 7,
        provider: ProviderName = .apple,
        client: String = "com.example.app"
    ) -> GrantPlace {
        GrantPlace(
            grantID: [UInt8](repeating: row, count: 16),
            userID: UserID(high: 1, low: user),
            provider: provider,
            clientID: client
        )
    }

    @Test func `A sealed value opens at its place only, and reveals nothing`() throws {
        let keys = try #require(VaultKeys(current: Self.new, retired: [Self.old]))
        let sealed = keys.seal(Self.token, at: Self.place())
        #expect(sealed.keyID == "new" && sealed.bytes.count == Self.token.utf8.count + Seal.overheadByteCount)
        #expect(!String(decoding: sealed.bytes, as: UTF8.self).contains("refresh"))
        #expect(try keys.open(sealed, at: Self.place()) == Self.token)
        #expect(keys.seal(Self.token, at: Self.place()) != sealed, "a nonce of its own")
        #expect("\(keys)" == "VaultKeys(new, old)")
    }

    @Test func `Moved to another row, account, provider or app it is refused`() throws {
        let keys = try #require(VaultKeys(current: Self.new))
        let sealed = keys.seal(Self.token, at: Self.place())
        for other in [
            Self.place(row: 2), Self.place(user: 8), Self.place(provider: .google),
            Self.place(client: "com.example.other"),
        ] {
            #expect(throws: VaultError.refused) { try keys.open(sealed, at: other) }
        }
    }

    /// Each part has its length before it.
    @Test func `A part that takes letters of its neighbour is another place`() throws {
        let keys = try #require(VaultKeys(current: Self.new))
        let (first, second) = (try #require(ProviderName("ab")), try #require(ProviderName("abc")))
        let sealed = keys.seal(Self.token, at: Self.place(provider: first, client: "cd"))
        #expect(throws: VaultError.refused) { try keys.open(sealed, at: Self.place(provider: second, client: "d")) }
    }

    @Test func `A bit that changed anywhere is noticed, and so is another key's name`() throws {
        let keys = try #require(VaultKeys(current: Self.new, retired: [Self.old]))
        let sealed = keys.seal(Self.token, at: Self.place())
        for index in sealed.bytes.indices {
            var bytes = sealed.bytes
            bytes[index] ^= 1
            #expect(throws: VaultError.refused) {
                try keys.open(SealedToken(keyID: "new", bytes: bytes), at: Self.place())
            }
        }
        for count in 0..<sealed.bytes.count {
            #expect(throws: VaultError.refused) {
                try keys.open(SealedToken(keyID: "new", bytes: Array(sealed.bytes.prefix(count))), at: Self.place())
            }
        }
        #expect(throws: VaultError.refused) {
            try keys.open(SealedToken(keyID: "old", bytes: sealed.bytes), at: Self.place())
        }
        #expect(throws: VaultError.keyUnknown) {
            try keys.open(SealedToken(keyID: "gone", bytes: sealed.bytes), at: Self.place())
        }
    }

    /// The name of the key is a part of what is authenticated, not only the way to find it.
    @Test func `The same key by another name opens nothing`() throws {
        let keys = try #require(VaultKeys(current: Self.new))
        let renamed = try #require(VaultKeys(current: ("renamed", Self.new.bytes)))
        let sealed = keys.seal(Self.token, at: Self.place())
        #expect(throws: VaultError.refused) {
            try renamed.open(SealedToken(keyID: "renamed", bytes: sealed.bytes), at: Self.place())
        }
    }

    @Test func `A rotation's steps keep everything open`() throws {
        let before = try #require(VaultKeys(current: Self.old))
        let published = try #require(VaultKeys(current: Self.old, next: Self.new))
        let promoted = try #require(VaultKeys(current: Self.new, retired: [Self.old]))
        let (early, late) = (before.seal(Self.token, at: Self.place()), promoted.seal(Self.token, at: Self.place()))
        #expect(published.seal(Self.token, at: Self.place()).keyID == "old", "the next one seals nothing yet")
        for keys in [published, promoted] {
            #expect(try keys.open(early, at: Self.place()) == Self.token)
            #expect(try keys.open(late, at: Self.place()) == Self.token)
        }
        #expect(published.retiredIDs.isEmpty && promoted.retiredIDs == ["old"])
    }

    @Test func `Keys of another length, and two of one name, are none`() {
        #expect(VaultKeys(current: ("a", [UInt8](repeating: 1, count: 31))) == nil)
        #expect(VaultKeys(current: Self.new, retired: [(Self.new.id, Self.old.bytes)]) == nil)
    }
}
