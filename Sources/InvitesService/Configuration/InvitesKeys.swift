import InvitesDomain
import Models
import ServiceKit
import ServiceModels

/// The keys that invites reads, besides those that every service has.
enum InvitesKeys {
    static let program = "invites"
    static let service = ServiceKeys(program: program, listenPort: 7003)

    static let proof = CallerProofSettings(service: program)

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

    static let changesRetention = ConfigurationKey.duration(
        "VESTIBULE_INVITES_CHANGES_RETENTION",
        in: .seconds(3_600) ... .seconds(30 * 86_400),
        default: .seconds(86_400),
        help: "How long changes of groups are kept, so that an app that was offline gets what it missed."
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
        help: "How many groups a user may create within a day."
    )
    static let userGroupChanges = ConfigurationKey.int(
        "VESTIBULE_INVITES_USER_GROUP_CHANGES",
        in: 1...1_000_000,
        default: 100,
        help:
            "How often a user may change the name, openness or owner of groups, and the role of "
            + "members, within a day."
    )
    static let groupsMax = ConfigurationKey.int(
        "VESTIBULE_INVITES_USER_GROUPS_MAX",
        in: 1...10_000,
        default: 200,
        help: "How many groups a user may have created in total."
    )

    static let memberships = ConfigurationKey.int(
        "VESTIBULE_INVITES_USER_MEMBERSHIPS",
        in: 1...10_000,
        default: 1_000,
        help: "How many groups others may add a user to (the user may join twice as many), and how many "
            + "groups may wait for a number."
    )
    static let userPending = ConfigurationKey.int(
        "VESTIBULE_INVITES_USER_PENDING",
        in: 1...1_000_000,
        default: 2_000,
        help: "How many people added by a user may be pending at once, in all groups together."
    )
    static let userNumbers = ConfigurationKey.int(
        "VESTIBULE_INVITES_USER_NUMBERS",
        in: 1...1_000_000,
        default: 2_000,
        help: "How many different phone numbers a user may add within 30 days; the same number again is free."
    )
    static let userLinks = ConfigurationKey.int(
        "VESTIBULE_INVITES_USER_LINKS",
        in: 1...1_000_000,
        default: 100,
        help: "How many group links a user may create within a day."
    )
    static let userLinkTries = ConfigurationKey.int(
        "VESTIBULE_INVITES_USER_LINK_TRIES",
        in: 1...1_000_000,
        default: 50,
        help: "How many wrong link tokens a user may send within a day."
    )
    static let addressLinkTries = ConfigurationKey.int(
        "VESTIBULE_INVITES_ADDRESS_LINK_TRIES",
        in: 1...1_000_000,
        default: 5_000,
        help: "How many wrong link tokens may come from one client address within a day."
    )
    static let pendingLifetime = ConfigurationKey.duration(
        "VESTIBULE_INVITES_PENDING_LIFETIME",
        in: .zero ... .seconds(3_650 * 86_400),
        default: .zero,
        help: "How long a group waits for an added number, and how long a request to join stays; 0s for no limit."
    )
    static let groupOpenness = ConfigurationKey<GroupOpenness?>.optionalChoice(
        "VESTIBULE_INVITES_OPENNESS",
        isRequired: true,
        help:
            "How people who are added by phone number become members, if the group's creator doesn't "
            + "choose: at once (without proofs of numbers, anyone who types the number), when the group "
            + "confirms them, or when they accept."
    ).formerly("VESTIBULE_INVITES_GROUP_OPENNESS")

    static let all: [any AnyConfigurationKey] =
        service.all + proof.all + PhonePolicy.keys + [
            groupMembersMax, inboxRetention, keyRetention, changesRetention, userAdds, addressAdds, userGroups,
            userGroupChanges, groupsMax, memberships, userPending, userNumbers, userLinks, userLinkTries,
            addressLinkTries,
            pendingLifetime,
            groupOpenness,
            ClientAddressKey.key, SharedKeys.identityAddress,
        ]
}
