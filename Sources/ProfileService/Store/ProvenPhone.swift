import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels

/// A number that a user has proven.
struct ProvenPhone: Sendable, Hashable {
    /// The id by which it is applied only once.
    let eventID: EventID
    /// The user.
    let userID: UserID
    /// The number.
    let phone: PhoneNumber
    /// The evidence.
    let proof: PhoneProof
    /// Whether the claimant can open the account of a user who has the number by an import.
    var mayOpen = false
    /// A number that the user chose after this time stays, since the proof was accepted before; nil if none does.
    var outdatedAfterMilliseconds: Int64?
}

/// The outcome of a claim by proof.
enum ProvenPhoneOutcome: Sendable, Hashable {
    /// The user has the number. The listed users lost it, or what they had by it: first the holder, then the earlier typist; at most two.
    case proven(takenFrom: [UserID])
    /// Another user has proven it and keeps it.
    case conflict
    /// The user chose another number since, or none: nothing was taken.
    case outdated
}

/// The result of one step of a claim by proof.
enum ProvenPhoneStep: Sendable {
    /// It is done, now or before: the current profile, and whether events must be delivered.
    case settled(Profile, ProvenPhoneOutcome, hasEvents: Bool)
    /// Nothing was changed: this user has it by an import, and their account may be opened; and the current profile.
    case opens(UserID, Profile)
    /// Nothing was changed: this user has proven it, and must be judged first.
    case judge(UserID)
}
