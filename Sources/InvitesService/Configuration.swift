import Models
import ServiceKit

/// The invites service's own configuration, checked.
struct InvitesConfiguration: Sendable {
    static let phoneRegion = ConfigurationKey.string(
        "VESTIBULE_INVITES_PHONE_REGION",
        default: "PH",
        help: "The region whose notations of phone numbers are understood besides the international one."
    )
    static let phoneKinds = ConfigurationKey.list(
        "VESTIBULE_INVITES_PHONE_KINDS",
        default: ["mobile", "fixed-line-or-mobile"],
        help: "The kinds of phone numbers taken: \(PhonePolicy.Kind.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    static let phoneRegions = ConfigurationKey.list(
        "VESTIBULE_INVITES_PHONE_REGIONS",
        default: ["PH"],
        help: "The regions whose numbers are taken, or *.",
        countMax: 300
    )
    static let groupMembersMax = ConfigurationKey.int(
        "VESTIBULE_INVITES_GROUP_MEMBERS",
        in: 1...1_000,
        default: 1_000,
        help: "How many members a group may have, pending ones included."
    )
    static let inboxRetention = ConfigurationKey.duration(
        "VESTIBULE_INVITES_INBOX_RETENTION",
        in: .seconds(3_600) ... .seconds(365 * 86_400),
        default: .seconds(7 * 86_400),
        help: "How long an applied event is remembered, so that it isn't applied twice."
    )
    static let keyRetention = ConfigurationKey.duration(
        "VESTIBULE_INVITES_IDEMPOTENCY_RETENTION",
        in: .seconds(3_600) ... .seconds(30 * 86_400),
        default: .seconds(86_400),
        help: "How long the idempotency key of a created group is remembered, so that it isn't created twice."
    )

    static let userAdds = ConfigurationKey.int(
        "VESTIBULE_INVITES_USER_ADDS",
        in: 1...1_000_000,
        default: 500,
        help: "How many people a user may add to groups within a day."
    )
    static let addressAdds = ConfigurationKey.int(
        "VESTIBULE_INVITES_ADDRESS_ADDS",
        in: 1...1_000_000,
        default: 5_000,
        help: "How many people may be added to groups from one client address within a day."
    )
    static let userGroups = ConfigurationKey.int(
        "VESTIBULE_INVITES_USER_GROUPS",
        in: 1...1_000_000,
        default: 20,
        help: "How many groups a user may make within a day."
    )
    static let groupsMax = ConfigurationKey.int(
        "VESTIBULE_INVITES_USER_GROUPS_MAX",
        in: 1...10_000,
        default: 200,
        help: "How many groups a user may have made at all."
    )

    static let keys: [any AnyConfigurationKey] = [
        phoneRegion, phoneKinds, phoneRegions, groupMembersMax, inboxRetention, keyRetention, userAdds, addressAdds,
        userGroups, groupsMax, ClientAddressKey.key,
    ]

    let policy: PhonePolicy
    let groupMembersMax: Int
    let inboxRetention: Duration
    let keyRetention: Duration
    let limits: InvitesLimits

    /// Reads the service's keys.
    ///
    /// - Throws: `ConfigurationFaults` for regions and kinds that don't exist.
    init(_ configuration: Configuration) throws {
        do {
            policy = try PhonePolicy(
                defaultRegion: configuration[Self.phoneRegion],
                kindNames: configuration[Self.phoneKinds],
                regionNames: configuration[Self.phoneRegions]
            )
        } catch {
            throw ConfigurationFaults([Self.fault(error)])
        }
        groupMembersMax = configuration[Self.groupMembersMax]
        inboxRetention = configuration[Self.inboxRetention]
        keyRetention = configuration[Self.keyRetention]
        var limits = InvitesLimits()
        limits.userAdds = .daily(limits.userAdds.kind, countMax: configuration[Self.userAdds])
        limits.addressAdds = .daily(limits.addressAdds.kind, countMax: configuration[Self.addressAdds])
        limits.userGroups = .daily(limits.userGroups.kind, countMax: configuration[Self.userGroups])
        limits.groupsMax = configuration[Self.groupsMax]
        self.limits = limits
    }

    private static func fault(_ fault: PhonePolicy.Fault) -> ConfigurationFault {
        switch fault {
        case .unknownRegion(let region):
            ConfigurationFault(
                key: "VESTIBULE_INVITES_PHONE_REGION(S)",
                problem: "\"\(region)\" is no region of ISO 3166-1, such as PH"
            )
        case .unknownKind(let kind):
            ConfigurationFault(key: "VESTIBULE_INVITES_PHONE_KINDS", problem: "\"\(kind)\" is no kind of number")
        case .noKinds:
            ConfigurationFault(key: "VESTIBULE_INVITES_PHONE_KINDS", problem: "names no kind")
        case .noRegions:
            ConfigurationFault(key: "VESTIBULE_INVITES_PHONE_REGIONS", problem: "names no region")
        }
    }
}
