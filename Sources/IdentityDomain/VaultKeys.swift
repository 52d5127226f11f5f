import JOSE
import Models

/// Where a provider's token is kept: what it is sealed with, so that it opens nowhere else.
public struct GrantPlace: Sendable, Hashable {
    /// The row, sixteen bytes.
    public let grantID: [UInt8]
    /// Whose token it is.
    public let userID: UserID
    /// Who issued it.
    public let provider: ProviderName
    /// To which app of ours.
    public let clientID: String

    /// A place.
    public init(grantID: [UInt8], userID: UserID, provider: ProviderName, clientID: String) {
        self.grantID = grantID
        self.userID = userID
        self.provider = provider
        self.clientID = clientID
    }

    /// Each part after its length, so that no two places with their keys have the same bytes.
    fileprivate func associatedData(keyID: String) -> [UInt8] {
        [grantID, userID.bytes, Array(provider.value.utf8), Array(clientID.utf8), Array(keyID.utf8)]
            .flatMap { part in withUnsafeBytes(of: UInt32(part.count).bigEndian) { Array($0) } + part }
    }
}

/// A provider's token as it is stored: AES-256-GCM under a key of the vault.
public struct SealedToken: Sendable, Hashable {
    /// The name of the key.
    public let keyID: String
    /// Nonce, ciphertext and tag.
    public let bytes: [UInt8]

    /// What a row holds.
    public init(keyID: String, bytes: [UInt8]) {
        self.keyID = keyID
        self.bytes = bytes
    }
}

/// Why a sealed token can't be had.
public enum VaultError: Error, Sendable, Hashable, CaseIterable {
    /// None of our keys has the name.
    case keyUnknown
    /// It was changed, or sealed for another place.
    case refused
}

/// The keys under which providers' tokens are kept. A value; it prints no key.
public struct VaultKeys: Sendable, CustomStringConvertible {
    /// Bytes of a key.
    public static let keyByteCount = 32

    /// The name of the key that seals.
    public let currentID: String
    /// The names of the keys that sealed before: what is sealed under them is to be sealed anew.
    public let retiredIDs: [String]
    private let keys: [String: [UInt8]]

    /// Keys by their names; nil unless each has ``keyByteCount`` bytes and a name of its own.
    ///
    /// - Parameter next: a key that others may already seal with; it opens and doesn't seal.
    public init?(
        current: (id: String, bytes: [UInt8]),
        next: (id: String, bytes: [UInt8])? = nil,
        retired: [(id: String, bytes: [UInt8])] = []
    ) {
        let all = [current] + (next.map { [$0] } ?? []) + retired
        guard all.allSatisfy({ $0.bytes.count == Self.keyByteCount }), Set(all.map(\.id)).count == all.count
        else { return nil }
        currentID = current.id
        retiredIDs = retired.map(\.id)
        keys = Dictionary(all.map { ($0.id, $0.bytes) }, uniquingKeysWith: { first, _ in first })
    }

    /// The names of all keys: what is sealed under another one can't be opened.
    public var ids: [String] { keys.keys.sorted() }

    /// Seals a token for its place under the current key, with a nonce of 12 random bytes.
    public func seal(_ token: String, at place: GrantPlace) -> SealedToken {
        // Every initializer puts the current key in.
        let key = keys[currentID] ?? []
        let bytes = Seal.seal(
            Array(token.utf8),
            secret: key,
            label: Self.label,
            associatedData: place.associatedData(keyID: currentID)
        )
        return SealedToken(keyID: currentID, bytes: bytes)
    }

    /// The token that was sealed for this place.
    public func open(_ sealed: SealedToken, at place: GrantPlace) throws(VaultError) -> String {
        guard let key = keys[sealed.keyID] else { throw .keyUnknown }
        let plain = Seal.open(
            sealed.bytes,
            secret: key,
            label: Self.label,
            associatedData: place.associatedData(keyID: sealed.keyID)
        )
        guard let plain else { throw .refused }
        return String(decoding: plain, as: UTF8.self)
    }

    /// The names of the keys; never a key.
    public var description: String { "VaultKeys(\(ids.joined(separator: ", ")))" }

    private static let label = "vestibule provider token 1"
}
