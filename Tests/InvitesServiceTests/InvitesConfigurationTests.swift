import Models
import ServiceKit
import Testing

@testable import InvitesService

@Suite struct InvitesConfigurationTests {
    /// All but the key that must be given.
    private let keys = InvitesServer.configurationKeys.filter { $0.name != ClientAddressKey.key.name }

    private func configuration(_ values: [String: String]) throws -> InvitesConfiguration {
        try InvitesConfiguration(
            Configuration.testing(keys: keys, program: "invites", values)
        )
    }

    @Test func `By default the Philippines' mobile numbers are taken, and a thousand members a group`() throws {
        let configuration = try configuration([:])
        #expect(configuration.policy == .philippines)
        #expect(configuration.groupMembersMax == 1_000)
        #expect(configuration.inboxRetention == .seconds(7 * 86_400))
    }

    @Test func `Each of it can be changed`() throws {
        let configuration = try configuration([
            "VESTIBULE_INVITES_PHONE_REGION": "DE", "VESTIBULE_INVITES_PHONE_REGIONS": "DE, AT",
            "VESTIBULE_INVITES_GROUP_MEMBERS": "20", "VESTIBULE_INVITES_INBOX_RETENTION": "1d",
            "VESTIBULE_INVITES_USER_ADDS": "3", "VESTIBULE_INVITES_ADDRESS_ADDS": "4",
            "VESTIBULE_INVITES_USER_GROUPS": "5", "VESTIBULE_INVITES_USER_GROUPS_MAX": "6",
        ])
        #expect(configuration.policy.allowedRegions == ["DE", "AT"])
        #expect(configuration.groupMembersMax == 20)
        #expect(configuration.inboxRetention == .seconds(86_400))
        let limits = configuration.limits
        #expect(
            [limits.userAdds.countMax, limits.addressAdds.countMax, limits.userGroups.countMax, limits.groupsMax]
                == [3, 4, 5, 6]
        )
    }

    @Test(arguments: [
        ["VESTIBULE_INVITES_PHONE_REGION": "Atlantis"], ["VESTIBULE_INVITES_PHONE_REGIONS": "PH,QQ"],
        ["VESTIBULE_INVITES_PHONE_KINDS": "pigeon"],
    ])
    func `Regions and kinds that don't exist are faults`(values: [String: String]) {
        #expect(throws: ConfigurationFaults.self) { try configuration(values) }
    }
}
