import IdentityDomain
import JOSE
import KeyRings
import ServiceKit
import ServiceModels

/// The keys of our tokens at one time.
struct TokenKeys: Sendable {
    /// Signs access and ID tokens.
    let signingKey: SigningKey
    /// Signs ID tokens of clients that want RS256; nil without a folder that has such keys.
    let rsaKey: SigningKey?
    /// What else verifies them: of the key to come, and of those before.
    let otherKeys: [VerificationKey]
    /// Make and verify refresh tokens; all other symmetric keys are derived from them.
    let refreshKeys: RefreshKeys
    /// Make and check proofs of callers.
    let proofs: CallerProofParts
    /// Seals page tokens and positions.
    let cursors: CursorSeal
    /// Seal providers' tokens; nil without a folder that has such keys, and then none is kept.
    var vault: VaultKeys?
    /// What the folder holds of each kind; nothing of kinds that files of their own give.
    var rings: [KeyRing] = []
}

/// Where our keys are: in a folder that is read again and again, or, of kinds that it lacks, in files that were read at the
/// start.
struct TokenKeySource: Sendable {
    private let folder: KeyFolder
    private let signing: (current: Secret?, other: Secret?)
    private let refresh: (current: Secret?, other: Secret?)

    /// What a configuration names. Reads nothing.
    ///
    /// - Throws: `ConfigurationErrors` if it names no folder.
    init(_ configuration: Configuration) throws(ConfigurationErrors) {
        guard let path = configuration[IdentityKeys.keysFolder] else {
            throw ConfigurationErrors([IdentityKeys.proof.folderIsMissing])
        }
        folder = KeyFolder(path: path)
        signing = (configuration[IdentityKeys.signingKey], configuration[IdentityKeys.otherSigningKey])
        refresh = (configuration[IdentityKeys.refreshKey], configuration[IdentityKeys.otherRefreshKey])
    }

    /// A folder that has all kinds.
    init(folder: KeyFolder) {
        self.folder = folder
        signing = (nil, nil)
        refresh = (nil, nil)
    }

    /// The keys that are there now. Reads the folder; blocks meanwhile.
    ///
    /// - Throws: `ConfigurationErrors` with every fault found; none shows a key.
    func read() throws(ConfigurationErrors) -> TokenKeys {
        var faults: [ConfigurationError] = []
        let (signingRing, refreshRing) = (ring(.signing, &faults), ring(.refresh, &faults))
        let vaultRing = ring(.vault, &faults)
        let rsaRing = ring(.rsa, &faults)
        let areRead = faults.isEmpty
        let proofRing = faults.collect { () throws(ConfigurationErrors) in try IdentityKeys.proof.keys(folder) }
        // A folder of others, or of nobody, is one fault.
        let cursorRing = proofRing.flatMap { _ in
            faults.collect { () throws(ConfigurationErrors) in try IdentityKeys.proof.keys(folder, .cursor) }
        }
        // A ring that can't be read has no files in its place.
        guard areRead else { throw ConfigurationErrors(faults) }
        let (signingKey, otherKeys) = signingKeys(signingRing, &faults)
        let (rsaKey, otherRSAKeys) = rsaRing.map { signingKeys($0, &faults) } ?? (nil, [])
        let refreshKeys = refreshKeys(refreshRing, &faults)
        let vault = vaultRing.flatMap { Self.vaultKeys($0, &faults) }
        let proofs = CallerProofParts(masters: proofRing?.keys ?? [])
        let cursors = CursorSeal(keys: cursorRing?.keys ?? [])
        guard faults.isEmpty, let signingKey, let refreshKeys, let proofs, let proofRing, let cursors, let cursorRing
        else {
            throw ConfigurationErrors(faults)
        }
        return TokenKeys(
            signingKey: signingKey,
            rsaKey: rsaKey,
            otherKeys: otherKeys + otherRSAKeys,
            refreshKeys: refreshKeys,
            proofs: proofs,
            cursors: cursors,
            vault: vault,
            rings: [signingRing, rsaRing, refreshRing, proofRing.ring, vaultRing, cursorRing.ring].compactMap { $0 }
        )
    }

    private func ring(_ kind: KeyKind, _ faults: inout [ConfigurationError]) -> KeyRing? {
        do {
            return try folder.read(kind)
        } catch {
            faults.append(Self.fault(IdentityKeys.keysFolder.name, "names a folder in which \(error.description)"))
            return nil
        }
    }

    // Signing keys

    private func signingKeys(
        _ ring: KeyRing?,
        _ faults: inout [ConfigurationError]
    ) -> (signing: SigningKey?, others: [VerificationKey]) {
        if let ring {
            let key = Self.signingKey(ring.current.text, IdentityKeys.keysFolder.name, &faults)
            let others = ring.keys.dropFirst().compactMap { other in
                Self.verificationKey(other.text, IdentityKeys.keysFolder.name, &faults)
            }
            return (key, others)
        }
        guard let current = signing.current else {
            faults.append(missing(.signing, IdentityKeys.signingKey.name))
            return (nil, [])
        }
        let key = Self.signingKey(current.text, IdentityKeys.signingKey.name, &faults)
        let other = signing.other.flatMap {
            Self.verificationKey($0.text, IdentityKeys.otherSigningKey.name, &faults)
        }
        if let other, other.thumbprint == key?.keyID {
            faults.append(Self.fault(IdentityKeys.otherSigningKey.name, "holds the same key as the first"))
        }
        return (key, other.map { [$0] } ?? [])
    }

    private static func signingKey(
        _ text: String,
        _ name: String,
        _ faults: inout [ConfigurationError]
    ) -> SigningKey? {
        do {
            return try SigningKey(pem: text)
        } catch {
            let otherwise = "holds no private key in PEM that can sign: P-256, P-384 or RSA, without a password"
            faults.append(fault(name, problem(error, otherwise: otherwise)))
            return nil
        }
    }

    /// The public key of a text that holds it, or the private one.
    private static func verificationKey(
        _ text: String,
        _ name: String,
        _ faults: inout [ConfigurationError]
    ) -> VerificationKey? {
        if let key = try? SigningKey(pem: text) { return key.verificationKey }
        do {
            return try VerificationKey(pem: text)
        } catch {
            let otherwise = "holds no private or public key in PEM: P-256, P-384 or RSA, without a password"
            faults.append(fault(name, problem(error, otherwise: otherwise)))
            return nil
        }
    }

    private static func problem(_ error: KeyError, otherwise: String) -> String {
        switch error {
        case .unacceptableSize(let bits): "holds an RSA key of \(bits) bits; 2048 to 8192 are allowed"
        case .guessablePrimes: "holds an RSA key whose primes can be found (CVE-2017-15361)"
        case .malformed, .unsupported, .cryptography: otherwise
        }
    }

    // Refresh keys

    private func refreshKeys(_ ring: KeyRing?, _ faults: inout [ConfigurationError]) -> RefreshKeys? {
        if let ring {
            var keys: [[UInt8]] = []
            for key in ring.keys {
                do throws(FileError) {
                    keys.append(try KeyKind.randomKey(key.text))
                } catch {
                    faults.append(Self.fault(IdentityKeys.keysFolder.name, error.description))
                }
            }
            return RefreshKeys(keys)
        }
        guard let current = refresh.current else {
            faults.append(missing(.refresh, IdentityKeys.refreshKey.name))
            return nil
        }
        let files = [(IdentityKeys.refreshKey.name, current)]
        let others = refresh.other.map { [(IdentityKeys.otherRefreshKey.name, $0)] } ?? []
        var keys: [[UInt8]] = []
        for (name, secret) in files + others {
            guard secret.bytes.count == RefreshKeys.keyByteCount else {
                let problem = "holds \(secret.bytes.count) bytes; a key has \(RefreshKeys.keyByteCount)"
                faults.append(Self.fault(name, problem))
                continue
            }
            keys.append(secret.bytes)
        }
        return RefreshKeys(keys)
    }

    private static func vaultKeys(_ ring: KeyRing, _ faults: inout [ConfigurationError]) -> VaultKeys? {
        do throws(FileError) {
            func named(_ key: KeyRing.Key) throws(FileError) -> (id: String, bytes: [UInt8]) {
                (key.id, try KeyKind.randomKey(key.text))
            }
            var retired: [(id: String, bytes: [UInt8])] = []
            for key in ring.retired { retired.append(try named(key)) }
            var next: (id: String, bytes: [UInt8])?
            if let key = ring.next { next = try named(key) }
            return VaultKeys(current: try named(ring.current), next: next, retired: retired)
        } catch {
            faults.append(fault(IdentityKeys.keysFolder.name, error.description))
            return nil
        }
    }

    private func missing(_ kind: KeyKind, _ name: String) -> ConfigurationError {
        Self.fault(name, "is required, since \(folder.file(kind)) is not there; `vestibule init` makes it")
    }

    private static func fault(_ key: String, _ problem: String) -> ConfigurationError {
        ConfigurationError(key: key, problem: problem)
    }
}
