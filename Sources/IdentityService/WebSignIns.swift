import IdentityDomain
import JOSE
import ServiceKit

/// What sign-ins in a browser need besides the store: keys that are made from the refresh keys.
struct WebSignIns: Sendable {
    /// Make and verify states.
    let states: WebStateKeys
    /// Hashes the addresses of clients by which tickets are counted.
    let addresses: ClientAddressKey

    init(_ refreshKeys: RefreshKeys) {
        states = WebStateKeys(refreshKeys)
        addresses = ClientAddressKey(Secret(refreshKeys.addressKey), service: "identity web tickets")
    }
}
