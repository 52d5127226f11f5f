import Models
import ProfileDomain
import ServiceKit
import ServiceModels

/// What the configuration says, parsed.
struct ProfileSettings: Sendable {
    /// Which phone numbers are taken.
    let phonePolicy: PhonePolicy
    /// How often they may be tried and taken.
    let limits: ProfileLimits
    /// What every user is asked for.
    let requiredFields: RequiredFields
    /// Hashes the addresses of clients.
    let addressKey: ClientAddressKey
    /// Where invites is called.
    let invitesAddress: AddressList

    /// Settings by hand, for tests.
    init(
        limits: ProfileLimits,
        requiredFields: RequiredFields = .standard,
        addressKey: ClientAddressKey,
        invitesAddress: AddressList
    ) {
        phonePolicy = .philippines
        self.requiredFields = requiredFields
        self.limits = limits
        self.addressKey = addressKey
        self.invitesAddress = invitesAddress
    }

    /// Settings from a configuration that was read with our keys.
    ///
    /// - Throws: `ConfigurationFaults` with every fault found.
    init(_ configuration: Configuration) throws(ConfigurationFaults) {
        var faults: [ConfigurationFault] = []
        let policy = faults.collect { () throws(ConfigurationFaults) in try PhonePolicy(configuration) }
        let addressKey = faults.collect { () throws(ConfigurationFaults) in
            try ClientAddressKey(configuration, service: ProfileKeys.program)
        }
        let required = faults.collect { () throws(ConfigurationFaults) in try RequiredFields(configuration) }
        guard let policy, let addressKey, let required else { throw ConfigurationFaults(faults) }
        phonePolicy = policy
        requiredFields = required
        limits = Self.limits(configuration)
        self.addressKey = addressKey
        invitesAddress = configuration[SharedKeys.invitesAddress]
    }

    private static func limits(_ configuration: Configuration) -> ProfileLimits {
        let window = configuration[ProfileKeys.phoneTriesWindow].components
        let windowMilliseconds = window.seconds * 1_000 + window.attoseconds / 1_000_000_000_000_000
        var limits = ProfileLimits()
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
        limits.reservedUsernames = ReservedUsernames(configuration[ProfileKeys.reservedUsernames])
        return limits
    }
}

extension RequiredFields {
    /// The word for no fields: an empty value counts as none given.
    private static let noFields = "none"

    /// The fields that a configuration names.
    ///
    /// - Throws: `ConfigurationFaults` for a field that there is not.
    fileprivate init(_ configuration: Configuration) throws(ConfigurationFaults) {
        let key = ProfileKeys.requiredFields
        let names = configuration[key]
        guard names != [Self.noFields] else {
            self.init([])
            return
        }
        let unknown = names.filter { ProfileField(rawValue: $0) == nil }
        guard unknown.isEmpty else {
            let known = ProfileField.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationFaults(
                unknown.map {
                    ConfigurationFault(
                        key: key.name,
                        problem: "\"\($0)\" is no field: there are \(known), or none alone"
                    )
                }
            )
        }
        self.init(Set(names.compactMap(ProfileField.init(rawValue:))))
    }
}
