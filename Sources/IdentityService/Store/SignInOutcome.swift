import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels

/// The result of a sign-in.
struct SignInOutcome: Sendable, Hashable {
    var session: StoredSession
    let isNewUser: Bool
    /// How the session was proven.
    let proof: Proof
    /// The number that the provider proved now, to be delivered to profile; nil if there is no news.
    var phoneProof: PhoneProofEvent?
}

/// A number that a sign-in proves, as it is stored.
struct SignInPhone: Sendable {
    /// With this id profile applies the number once, if it is news.
    let eventID: EventID
    /// E.164 with the leading plus.
    let phoneNumber: String
    /// Keyed hashes of the number, newest key first, by which it is recognised.
    let hashes: [[UInt8]]

    /// The number of a sign-in; nil if it proves none.
    init?(_ signIn: SignIn, eventID: @autoclosure () -> EventID, keys: [[UInt8]]) {
        guard let phoneNumber = signIn.provenPhone else { return nil }
        self.eventID = eventID()
        self.phoneNumber = phoneNumber
        hashes = Self.hashes(of: phoneNumber, keys: keys)
    }

    /// A number's hashes under our keys, in their order.
    static func hashes(of phoneNumber: String, keys: [[UInt8]]) -> [[UInt8]] {
        keys.map { SHA256.authenticationCode(of: Array(phoneNumber.utf8), key: $0) }
    }
}
