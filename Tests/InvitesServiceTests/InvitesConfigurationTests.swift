import Models
import ServiceKit
import Testing

@testable import InvitesService

@Suite struct InvitesConfigurationTests {
    private func configuration(_ values: [String: String]) throws -> InvitesConfiguration {
        try InvitesConfiguration(
            Configuration.testing(keys: InvitesServer.configurationKeys, program: "invites", values)
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
        ])
        #expect(configuration.policy.allowedRegions == ["DE", "AT"])
        #expect(configuration.groupMembersMax == 20)
        #expect(configuration.inboxRetention == .seconds(86_400))
    }

    @Test(arguments: [
        ["VESTIBULE_INVITES_PHONE_REGION": "Atlantis"], ["VESTIBULE_INVITES_PHONE_REGIONS": "PH,QQ"],
        ["VESTIBULE_INVITES_PHONE_KINDS": "pigeon"],
    ])
    func `Regions and kinds that don't exist are faults`(values: [String: String]) {
        #expect(throws: ConfigurationFaults.self) { try configuration(values) }
    }
}
