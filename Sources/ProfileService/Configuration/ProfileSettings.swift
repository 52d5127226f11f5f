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
    /// Hashes the addresses of clients.
    let addressKey: ClientAddressKey
    /// Where invites is called.
    let invitesAddress: AddressList

    /// Settings by hand, for tests.
    init(limits: ProfileLimits, addressKey: ClientAddressKey, invitesAddress: AddressList) {
        phonePolicy = .philippines
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
        guard let policy, let addressKey else { throw ConfigurationFaults(faults) }
        phonePolicy = policy
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
