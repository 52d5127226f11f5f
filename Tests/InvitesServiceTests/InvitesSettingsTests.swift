import Models
import ServiceKit
import Testing

@testable import InvitesService

struct InvitesSettingsTests {
    private func settings(_ values: [String: String]) throws -> InvitesSettings {
        let configuration = try Configuration(
            keys: InvitesServer.configurationKeys,
            program: "invites",
            environment: values.merging([ClientAddressKey.key.name: "/address.key"]) { $1 },
            readFile: { (_, _) throws(FileFault) in [UInt8](repeating: 7, count: ClientAddressKey.byteCount) }
        )
        return try InvitesSettings(configuration)
    }

    @Test func `By default the Philippines' mobile numbers are taken, and a thousand members a group`() throws {
        let settings = try settings([:])
        #expect(settings.phonePolicy == .philippines)
        #expect(settings.limits.membersMax == 1_000)
        #expect(settings.inboxRetention == .seconds(7 * 86_400))
    }

    @Test func `Each of it can be changed`() throws {
        let settings = try settings([
            "VESTIBULE_PHONE_REGION": "DE", "VESTIBULE_PHONE_REGIONS": "DE, AT",
            "VESTIBULE_INVITES_GROUP_MEMBERS": "20", "VESTIBULE_INVITES_INBOX_RETENTION": "1d",
            "VESTIBULE_INVITES_USER_ADDS": "3", "VESTIBULE_INVITES_ADDRESS_ADDS": "4",
            "VESTIBULE_INVITES_USER_GROUPS": "5", "VESTIBULE_INVITES_USER_GROUPS_MAX": "6",
        ])
        #expect(settings.phonePolicy.allowedRegions == ["DE", "AT"])
        #expect(settings.limits.membersMax == 20)
        #expect(settings.inboxRetention == .seconds(86_400))
        let limits = settings.limits
        #expect(
            [limits.userAdds.countMax, limits.addressAdds.countMax, limits.userGroups.countMax, limits.groupsMax]
                == [3, 4, 5, 6]
        )
    }

    @Test func `All faults are told together`() throws {
        let configuration = try Configuration(
            keys: InvitesServer.configurationKeys,
            program: "invites",
            environment: ["VESTIBULE_PHONE_REGION": "Atlantis", ClientAddressKey.key.name: "/address.key"],
            readFile: { (_, _) throws(FileFault) in [7] }
        )
        let faults = try #require(throws: ConfigurationFaults.self) { try InvitesSettings(configuration) }
        #expect(faults.faults.map(\.key) == ["VESTIBULE_PHONE_REGION", ClientAddressKey.key.name])
    }
}
