import KeyRings
import Models
import ProfileDomain
import ServiceKit
import ServiceModels

/// The parsed configuration.
struct ProfileSettings: Sendable {
    /// Which phone numbers are accepted.
    let phonePolicy: PhonePolicy
    /// How often they may be tried and taken.
    let limits: ProfileLimits
    /// The fields that every user must give.
    let requiredFields: RequiredFields
    /// Hashes the addresses of clients.
    let addressKey: ClientAddressKey
    /// Identifies the users on whose behalf methods are called, by the keys that were read first.
    let callers: ProvenCallers
    /// Where to read those keys again; nil if never.
    let callerSource: CallerProofSource?
    /// The address of identity.
    let identityAddress: AddressList
    /// The address of invites.
    let invitesAddress: AddressList

    /// Settings for tests.
    init(
        limits: ProfileLimits,
        requiredFields: RequiredFields = .standard,
        addressKey: ClientAddressKey,
        callers: ProvenCallers,
        identityAddress: AddressList,
        invitesAddress: AddressList
    ) {
        phonePolicy = .philippines
        self.requiredFields = requiredFields
        self.limits = limits
        self.addressKey = addressKey
        self.callers = callers
        callerSource = nil
        self.identityAddress = identityAddress
        self.invitesAddress = invitesAddress
    }

    /// Settings from a configuration that was read with these keys.
    ///
    /// - Throws: `ConfigurationErrors` with every fault found.
    init(_ configuration: Configuration) throws(ConfigurationErrors) {
        var faults: [ConfigurationError] = []
        let policy = faults.collect { () throws(ConfigurationErrors) in try PhonePolicy(configuration) }
        let addressKey = faults.collect { () throws(ConfigurationErrors) in
            try ClientAddressKey(configuration, service: ProfileKeys.program)
        }
        let callerSource = faults.collect { () throws(ConfigurationErrors) in
            try CallerProofSource(.profile, ProfileKeys.proof, configuration)
        }
        let required = faults.collect { () throws(ConfigurationErrors) in try RequiredFields(configuration) }
        guard let policy, let addressKey, let callerSource, let required else { throw ConfigurationErrors(faults) }
        phonePolicy = policy
        requiredFields = required
        limits = Self.limits(configuration)
        self.addressKey = addressKey
        callers = callerSource.callers
        self.callerSource = callerSource
        identityAddress = configuration[SharedKeys.identityAddress]
        invitesAddress = configuration[SharedKeys.invitesAddress]
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
    }

    private static func limits(_ configuration: Configuration) -> ProfileLimits {
        let windowMilliseconds = milliseconds(configuration[ProfileKeys.phoneTriesWindow])
        var limits = ProfileLimits()
        limits.coolDownMilliseconds = milliseconds(configuration[ProfileKeys.phoneCoolDown])
        limits.provenIdleMilliseconds = milliseconds(configuration[ProfileKeys.provenPhoneIdle])
        limits.tries = TryLimit(triesMax: configuration[ProfileKeys.phoneTries], windowMilliseconds: windowMilliseconds)
        limits.claims = TryLimit(
            triesMax: configuration[ProfileKeys.phoneClaims],
            windowMilliseconds: limits.claims.windowMilliseconds
        )
        limits.addressTries = Quota(
            kind: limits.addressTries.kind,
            countMax: configuration[ProfileKeys.addressTries],
            windowMilliseconds: windowMilliseconds
        )
        limits.addressClaims = .daily(limits.addressClaims.kind, countMax: configuration[ProfileKeys.addressClaims])
        limits.usernameChecks = Quota(
            kind: limits.usernameChecks.kind,
            countMax: configuration[ProfileKeys.usernameChecks],
            windowMilliseconds: limits.usernameChecks.windowMilliseconds
        )
        limits.addressUsernameChecks = Quota(
            kind: limits.addressUsernameChecks.kind,
            countMax: configuration[ProfileKeys.addressUsernameChecks],
            windowMilliseconds: limits.addressUsernameChecks.windowMilliseconds
        )
        limits.avatarUploads = .daily(limits.avatarUploads.kind, countMax: configuration[ProfileKeys.avatarUploads])
        limits.avatarBytesMax = configuration[SharedKeys.avatarBytes]
        limits.reservedUsernames = ReservedUsernames(configuration[ProfileKeys.reservedUsernames])
        return limits
    }
}

extension RequiredFields {
    /// The word for no fields: an empty value counts as not given.
    private static let noFields = "none"

    /// The fields that a configuration names.
    ///
    /// - Throws: `ConfigurationErrors` for an unknown field.
    fileprivate init(_ configuration: Configuration) throws(ConfigurationErrors) {
        let key = ProfileKeys.requiredFields
        let names = configuration[key]
        guard names != [Self.noFields] else {
            self.init([])
            return
        }
        let unknown = names.filter { ProfileField(rawValue: $0) == nil }
        guard unknown.isEmpty else {
            let known = ProfileField.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationErrors(
                unknown.map {
                    ConfigurationError(
                        key: key.name,
                        problem: "\"\($0)\" is no field: there are \(known), or none alone"
                    )
                }
            )
        }
        self.init(Set(names.compactMap(ProfileField.init(rawValue:))))
    }
}
