import Models
import ServiceKit
import ServiceModels

/// The keys that invites reads, besides those that every service has.
enum InvitesKeys {
    static let program = "invites"
    static let service = ServiceKeys(program: program, listenPort: 7003)

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

    static let all: [any AnyConfigurationKey] =
        service.all + PhonePolicy.keys + [
            groupMembersMax, inboxRetention, keyRetention, userAdds, addressAdds, userGroups, groupsMax,
            ClientAddressKey.key,
        ]
}
