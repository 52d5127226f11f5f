import Foundation
import InvitesDomain
import KeyRings
import Models
import ServiceKit
import Testing

@testable import InvitesService

final class InvitesSettingsTests {
    private let secrets: String
    private let folder: KeyFolder

    init() throws {
        secrets = FileManager.default.temporaryDirectory.path + "/vestibule-settings-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: secrets, withIntermediateDirectories: true)
        let folders = KeyFolders(secrets: secrets)
        _ = try folders.initialize(folderMode: 0o700, mode: 0o600, nowSeconds: 0)
        folder = folders.folder(of: "invites")
    }

    deinit {
        try? FileManager.default.removeItem(atPath: secrets)
    }

    private func settings(_ values: [String: String]) throws -> InvitesSettings {
        let configuration = try Configuration(
            keys: InvitesServer.configurationKeys,
            program: "invites",
            environment: [
                ClientAddressKey.key.name: "/address.key", "VESTIBULE_INVITES_KEYS_FOLDER": folder.path,
                "VESTIBULE_INVITES_OPENNESS": "confirm",
            ].merging(values) { $1 },
            readFile: { (_, _) throws(FileError) in [UInt8](repeating: 7, count: ClientAddressKey.byteCount) }
        )
        return try InvitesSettings(configuration)
    }

    @Test func `By default Philippine mobile numbers are accepted, and a thousand members per group`() throws {
        let settings = try settings([:])
        #expect(settings.phonePolicy == .philippines)
        #expect(settings.limits.membersMax == 1_000 && settings.limits.membershipsMax == 1_000)
        #expect(settings.groupOpenness == .confirm)
        #expect(settings.limits.pendingLifetimeMilliseconds == nil)
        #expect(settings.inboxRetention == .seconds(7 * 86_400))
    }

    @Test func `Each setting can be changed`() throws {
        let settings = try settings([
            "VESTIBULE_PHONE_REGION": "DE", "VESTIBULE_PHONE_REGIONS": "DE, AT",
            "VESTIBULE_INVITES_GROUP_MEMBERS": "20", "VESTIBULE_INVITES_INBOX_RETENTION": "1d",
            "VESTIBULE_INVITES_USER_ADDS": "3", "VESTIBULE_INVITES_ADDRESS_ADDS": "4",
            "VESTIBULE_INVITES_USER_GROUPS": "5", "VESTIBULE_INVITES_USER_GROUPS_MAX": "6",
            "VESTIBULE_INVITES_USER_PENDING": "7", "VESTIBULE_INVITES_USER_NUMBERS": "8",
            "VESTIBULE_INVITES_OPENNESS": "consent", "VESTIBULE_INVITES_PENDING_LIFETIME": "30d",
            "VESTIBULE_INVITES_USER_LINKS": "9", "VESTIBULE_INVITES_USER_LINK_TRIES": "10",
            "VESTIBULE_INVITES_ADDRESS_LINK_TRIES": "11", "VESTIBULE_INVITES_USER_GROUP_CHANGES": "12",
            "VESTIBULE_INVITES_USER_MEMBERSHIPS": "13",
        ])
        #expect(settings.limits.pendingLifetimeMilliseconds == Int64(2_592_000_000))
        #expect(settings.groupOpenness == .consent)
        #expect(settings.phonePolicy.allowedRegions == ["DE", "AT"])
        #expect(settings.limits.membersMax == 20)
        #expect(settings.inboxRetention == .seconds(86_400))
        let limits = settings.limits
        let counts: [Int] = [
            limits.userAdds.countMax, limits.addressAdds.countMax, limits.userGroups.countMax, limits.groupsMax,
            limits.pendingMax, limits.userNumbers.countMax, limits.userLinks.countMax, limits.userLinkTries.countMax,
            limits.addressLinkTries.countMax, limits.userGroupChanges.countMax,
            limits.membershipsMax,
        ]
        #expect(counts == [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
    }

    @Test func `All errors are reported together`() throws {
        let configuration = try Configuration(
            keys: InvitesServer.configurationKeys,
            program: "invites",
            environment: [
                "VESTIBULE_PHONE_REGION": "Atlantis", ClientAddressKey.key.name: "/address.key",
                "VESTIBULE_INVITES_KEYS_FOLDER": "/nowhere",
            ],
            readFile: { (_, _) throws(FileError) in [7] }
        )
        let faults = try #require(throws: ConfigurationErrors.self) { try InvitesSettings(configuration) }
        #expect(
            faults.faults.map(\.key)
                == [
                    "VESTIBULE_PHONE_REGION", ClientAddressKey.key.name, "VESTIBULE_INVITES_KEYS_FOLDER",
                    "VESTIBULE_INVITES_OPENNESS",
                ]
        )
    }

    @Test func `The openness of new groups has no default`() throws {
        // As compose passes on a variable that isn't set.
        let faults = try #require(throws: ConfigurationErrors.self) { try settings(["VESTIBULE_INVITES_OPENNESS": ""]) }
        #expect(faults.faults.map(\.key) == ["VESTIBULE_INVITES_OPENNESS"])
        #expect(faults.faults[0].problem.contains("such as VESTIBULE_INVITES_OPENNESS=confirm"))
        // Its former name still counts.
        let named = ["VESTIBULE_INVITES_OPENNESS": "", "VESTIBULE_INVITES_GROUP_OPENNESS": "consent"]
        #expect(try settings(named).groupOpenness == .consent)
        #expect(throws: ConfigurationErrors.self) { try settings(["VESTIBULE_INVITES_OPENNESS": "wide"]) }
    }
}
