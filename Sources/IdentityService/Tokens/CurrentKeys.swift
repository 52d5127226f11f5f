import IdentityDomain
import JOSE
import Models
import ServiceKit
import ServiceModels

/// The keys that are in use, and what is made of them: replaced as a whole while calls go on.
typealias CurrentKeys = ReplaceableValue<KeysInUse>

/// What calls use of our keys: one object, so that taking it costs a count and no copy, and all changes as one. A call that
/// began with the keys before goes on with them. Immutable; any thread.
final class KeysInUse: Sendable {
    /// The length of ``id``.
    static let idByteCount = 8

    /// Makes what apps keep of a session.
    let mint: SessionTokenMint
    /// Makes proofs of callers.
    let proofs: CallerProofMint
    /// Tells whose account a method is called for.
    let callers: ProvenCallers
    /// Make and verify states of sign-ins in a browser.
    let webStates: WebStateKeys
    /// Seal authorization requests.
    let authorizationRequests: AuthorizationRequestKeys
    /// Make and verify nonces of sign-ins.
    let nonces: SignInNonces
    /// Make and verify challenges of guests to come.
    let guestChallenges: GuestChallenges
    /// Make and verify challenges of passkeys.
    let passkeyChallenges: PasskeyChallenges
    /// Seals tokens that couldn't be verified yet.
    let toldOnceSeal: FirstSignInDetailsSeal
    /// Hashes the addresses of clients by which is counted what is kept of one.
    let addressKey: ClientAddressKey
    let phoneKeys: [[UInt8]]
    /// Hash the terms of operators' searches, newest first.
    let searchKeys: [[UInt8]]
    /// Seal providers' tokens; nil where there are none.
    let vault: VaultKeys?
    /// Seals page tokens and positions.
    let cursors: CursorSeal

    /// Names the keys by which tokens are judged and proofs are made: another one when such a key was added, replaced or removed. No secret.
    let id: [UInt8]

    /// - Parameters:
    ///   - mint: has the keys of our tokens, from which those of states, nonces and addresses are derived.
    ///   - proofs: the keys of proofs.
    ///   - vault: the keys of providers' tokens; nil where none is kept.
    ///   - cursors: seals cursors.
    init(mint: SessionTokenMint, proofs: CallerProofParts, vault: VaultKeys? = nil, cursors: CursorSeal) {
        self.mint = mint
        var names = proofs.mint.keyID
        for entry in mint.issuer.keySet.entries { names += SHA256.hash(Array(entry.keyID.utf8)) }
        for key in mint.refreshKeys.searchKeys { names += SHA256.hash(key) }
        id = Array(SHA256.hash(names).prefix(Self.idByteCount))
        self.cursors = cursors
        self.vault = vault
        self.proofs = proofs.mint
        callers = proofs.callers.reading(mint.clock)
        webStates = WebStateKeys(mint.refreshKeys)
        authorizationRequests = AuthorizationRequestKeys(mint.refreshKeys)
        nonces = SignInNonces(mint.refreshKeys)
        guestChallenges = GuestChallenges(mint.refreshKeys)
        passkeyChallenges = PasskeyChallenges(mint.refreshKeys)
        toldOnceSeal = FirstSignInDetailsSeal(mint.refreshKeys)
        phoneKeys = mint.refreshKeys.phoneKeys
        searchKeys = mint.refreshKeys.searchKeys
        addressKey = ClientAddressKey(
            Secret(mint.refreshKeys.addressKey),
            service: "identity what is told once"
        )
    }
}
