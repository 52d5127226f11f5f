import InvitesDomain
import KeyRings
import Models
import ServiceKit
import ServiceModels

/// The parsed configuration.
struct InvitesSettings: Sendable {
    /// Which phone numbers are accepted.
    let phonePolicy: PhonePolicy
    /// How much users and addresses may do, and how large a group gets.
    let limits: InvitesLimits
    /// The openness of a group whose creator doesn't name one.
    let groupOpenness: GroupOpenness
    /// Hashes the addresses of clients.
    let addressKey: ClientAddressKey
    /// Identifies the users on whose behalf methods are called, by the keys that were read first.
    let callers: ProvenCallers
    /// Seals cursors, by the keys that were read first.
    let cursors: CursorSeal
    /// Where to read those keys again; nil if never.
    let callerSource: CallerProofSource?
    /// How long an applied event is remembered.
    let inboxRetention: Duration
    /// How long the idempotency key of a created group is remembered.
    let keyRetention: Duration
    /// How long changes of groups are kept.
    let changesRetention: Duration
    /// The address to which events are delivered: identity.
    let identityAddress: AddressList

    /// Settings for tests.
    init(
        limits: InvitesLimits = InvitesLimits(),
        groupOpenness: GroupOpenness = .open,
        addressKey: ClientAddressKey,
        callers: ProvenCallers,
        cursors: CursorSeal,
        inboxRetention: Duration = .seconds(7 * 86_400),
        keyRetention: Duration = .seconds(86_400),
        changesRetention: Duration = .seconds(86_400),
        identityAddress: AddressList
    ) {
        phonePolicy = .philippines
        self.limits = limits
        self.groupOpenness = groupOpenness
        self.addressKey = addressKey
        self.callers = callers
        self.cursors = cursors
        callerSource = nil
        self.inboxRetention = inboxRetention
        self.keyRetention = keyRetention
        self.changesRetention = changesRetention
        self.identityAddress = identityAddress
    }

    /// Settings from a configuration that was read with these keys.
    ///
    /// - Throws: `ConfigurationErrors` with every fault found.
    init(_ configuration: Configuration) throws(ConfigurationErrors) {
        var faults: [ConfigurationError] = []
        let policy = faults.collect { () throws(ConfigurationErrors) in try PhonePolicy(configuration) }
        let addressKey = faults.collect { () throws(ConfigurationErrors) in
            try ClientAddressKey(configuration, service: InvitesKeys.program)
        }
        let callerSource = faults.collect { () throws(ConfigurationErrors) in
            try CallerProofSource(.invites, InvitesKeys.proof, configuration, hasCursors: true)
        }
        let openness = configuration[InvitesKeys.groupOpenness]
        if openness == nil { faults.append(Self.opennessIsMissing) }
        guard let policy, let addressKey, let callerSource, let cursors = callerSource.cursors, let openness else {
            throw ConfigurationErrors(faults)
        }
        phonePolicy = policy
        limits = Self.limits(configuration)
        groupOpenness = openness
        self.addressKey = addressKey
        callers = callerSource.callers
        self.cursors = cursors
        self.callerSource = callerSource
        inboxRetention = configuration[InvitesKeys.inboxRetention]
        keyRetention = configuration[InvitesKeys.keyRetention]
        changesRetention = configuration[InvitesKeys.changesRetention]
        identityAddress = configuration[SharedKeys.identityAddress]
    }

    /// The error for a configuration that doesn't say who gets into new groups: no default suits every deployment.
    static let opennessIsMissing = ConfigurationError(
        key: InvitesKeys.groupOpenness.name,
        problem:
            "is required: open, confirm or consent, such as VESTIBULE_INVITES_OPENNESS=confirm; docs/groups/invitations.md compares them"
    )

    private static func limits(_ configuration: Configuration) -> InvitesLimits {
        var limits = InvitesLimits()
        limits.userAdds = .daily(limits.userAdds.kind, countMax: configuration[InvitesKeys.userAdds])
        limits.addressAdds = .daily(limits.addressAdds.kind, countMax: configuration[InvitesKeys.addressAdds])
        limits.userGroups = .daily(limits.userGroups.kind, countMax: configuration[InvitesKeys.userGroups])
        limits.userGroupChanges = .daily(
            limits.userGroupChanges.kind,
            countMax: configuration[InvitesKeys.userGroupChanges]
        )
        limits.groupsMax = configuration[InvitesKeys.groupsMax]
        limits.membershipsMax = configuration[InvitesKeys.memberships]
        limits.userNumbers = Quota(
            kind: limits.userNumbers.kind,
            countMax: configuration[InvitesKeys.userNumbers],
            windowMilliseconds: limits.userNumbers.windowMilliseconds
        )
        limits.pendingMax = configuration[InvitesKeys.userPending]
        limits.membersMax = configuration[InvitesKeys.groupMembersMax]
        limits.userLinks = .daily(limits.userLinks.kind, countMax: configuration[InvitesKeys.userLinks])
        limits.userLinkTries = .daily(limits.userLinkTries.kind, countMax: configuration[InvitesKeys.userLinkTries])
        limits.addressLinkTries = .daily(
            limits.addressLinkTries.kind,
            countMax: configuration[InvitesKeys.addressLinkTries]
        )
        let lifetime = configuration[InvitesKeys.pendingLifetime].components.seconds
        limits.pendingLifetimeMilliseconds = lifetime == 0 ? nil : lifetime * 1_000
        return limits
    }
}
