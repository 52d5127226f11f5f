import Models
import ServiceKit
import ServiceModels

/// What the configuration says, parsed.
struct InvitesSettings: Sendable {
    /// Which phone numbers are taken.
    let phonePolicy: PhonePolicy
    /// How much users and addresses may do, and how large a group gets.
    let limits: InvitesLimits
    /// Hashes the addresses of clients.
    let addressKey: ClientAddressKey
    /// How long an applied event is remembered.
    let inboxRetention: Duration
    /// How long the idempotency key of a created group is remembered.
    let keyRetention: Duration

    /// Settings by hand, for tests.
    init(
        limits: InvitesLimits = InvitesLimits(),
        addressKey: ClientAddressKey,
        inboxRetention: Duration = .seconds(7 * 86_400),
        keyRetention: Duration = .seconds(86_400)
    ) {
        phonePolicy = .philippines
        self.limits = limits
        self.addressKey = addressKey
        self.inboxRetention = inboxRetention
        self.keyRetention = keyRetention
    }

    /// Settings from a configuration that was read with our keys.
    ///
    /// - Throws: `ConfigurationFaults` with every fault found.
    init(_ configuration: Configuration) throws(ConfigurationFaults) {
        var faults: [ConfigurationFault] = []
        let policy = faults.collect { () throws(ConfigurationFaults) in try PhonePolicy(configuration) }
        let addressKey = faults.collect { () throws(ConfigurationFaults) in
            try ClientAddressKey(configuration, service: InvitesKeys.program)
        }
        guard let policy, let addressKey else { throw ConfigurationFaults(faults) }
        phonePolicy = policy
        limits = Self.limits(configuration)
        self.addressKey = addressKey
        inboxRetention = configuration[InvitesKeys.inboxRetention]
        keyRetention = configuration[InvitesKeys.keyRetention]
    }

    private static func limits(_ configuration: Configuration) -> InvitesLimits {
        var limits = InvitesLimits()
        limits.userAdds = .daily(limits.userAdds.kind, countMax: configuration[InvitesKeys.userAdds])
        limits.addressAdds = .daily(limits.addressAdds.kind, countMax: configuration[InvitesKeys.addressAdds])
        limits.userGroups = .daily(limits.userGroups.kind, countMax: configuration[InvitesKeys.userGroups])
        limits.groupsMax = configuration[InvitesKeys.groupsMax]
        limits.membersMax = configuration[InvitesKeys.groupMembersMax]
        return limits
    }
}
