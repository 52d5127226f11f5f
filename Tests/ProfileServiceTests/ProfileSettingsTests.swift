import Foundation
import KeyRings
import Models
import ProfileDomain
import ServiceKit
import Testing

@testable import ProfileService

final class ProfileSettingsTests {
    private let secrets: String
    private let folder: KeyFolder

    init() throws {
        secrets = FileManager.default.temporaryDirectory.path + "/vestibule-settings-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: secrets, withIntermediateDirectories: true)
        let folders = KeyFolders(secrets: secrets)
        _ = try folders.initialize(folderMode: 0o700, mode: 0o600, nowSeconds: 0)
        folder = folders.folder(of: "profile")
    }

    deinit {
        try? FileManager.default.removeItem(atPath: secrets)
    }

    private func settings(_ values: [String: String]) throws -> ProfileSettings {
        let configuration = try Configuration(
            keys: ProfileServer.configurationKeys,
            program: "profile",
            environment: [
                ClientAddressKey.key.name: "/address.key", "VESTIBULE_PROFILE_KEYS_FOLDER": folder.path,
            ].merging(values) { $1 },
            readFile: { (_, _) throws(FileError) in [UInt8](repeating: 7, count: ClientAddressKey.byteCount) }
        )
        return try ProfileSettings(configuration)
    }

    @Test func `By default Philippine mobile numbers are accepted, and ten attempts an hour`() throws {
        let settings = try settings([:])
        #expect(settings.phonePolicy == .philippines)
        #expect(settings.limits.tries.triesMax == 10)
        #expect(settings.limits.tries.windowMilliseconds == 3_600_000)
        #expect(settings.limits.claims == TryLimit(triesMax: 5, windowMilliseconds: 86_400_000))
        #expect(settings.limits.addressClaims == .daily("phone claims", countMax: 1_000))
        #expect(settings.limits.coolDownMilliseconds == 86_400_000)
        #expect(settings.limits.provenIdleMilliseconds == 180 * 86_400_000)
        #expect(
            settings.limits.usernameChecks.countMax == 200 && settings.limits.addressUsernameChecks.countMax == 5_000
        )
        #expect(settings.limits.avatarUploads.countMax == 20 && settings.limits.avatarBytesMax == 524_288)
        #expect(settings.invitesAddress.description == "127.0.0.1:7003")
    }

    @Test func `Each setting can be changed`() throws {
        let settings = try settings([
            "VESTIBULE_PHONE_REGION": "DE", "VESTIBULE_PHONE_KINDS": "mobile, voip", "VESTIBULE_PHONE_REGIONS": "*",
            "VESTIBULE_PROFILE_PHONE_TRIES": "3",
            "VESTIBULE_PROFILE_PHONE_TRIES_WINDOW": "90s", "VESTIBULE_PROFILE_PHONE_CLAIMS": "2",
            "VESTIBULE_PROFILE_ADDRESS_PHONE_TRIES": "7", "VESTIBULE_PROFILE_ADDRESS_PHONE_CLAIMS": "8",
            "VESTIBULE_PROFILE_RESERVED_USERNAMES": "acme", "VESTIBULE_PROFILE_PHONE_COOL_DOWN": "0s",
            "VESTIBULE_PROFILE_PROVEN_PHONE_IDLE": "720h", "VESTIBULE_PROFILE_USERNAME_CHECKS": "4",
            "VESTIBULE_PROFILE_ADDRESS_USERNAME_CHECKS": "5", "VESTIBULE_PROFILE_AVATAR_UPLOADS": "6",
            "VESTIBULE_PROFILE_AVATAR_BYTES": "20000",
        ])
        #expect(settings.limits.coolDownMilliseconds == 0)
        #expect(settings.limits.provenIdleMilliseconds == 30 * 86_400_000)
        #expect(try PhoneNumber("0151 23456789", policy: settings.phonePolicy).e164 == "+4915123456789")
        #expect(settings.phonePolicy.allowedKinds == [.mobile, .voip])
        #expect(settings.limits.tries.triesMax == 3)
        #expect(settings.limits.tries.windowMilliseconds == 90_000)
        #expect(settings.limits.claims.triesMax == 2)
        #expect(
            settings.limits.addressTries == Quota(kind: "phone tries", countMax: 7, windowMilliseconds: 90_000)
        )
        #expect(settings.limits.addressClaims.countMax == 8)
        #expect(settings.limits.usernameChecks.countMax == 4 && settings.limits.addressUsernameChecks.countMax == 5)
        #expect(settings.limits.usernameChecks.windowMilliseconds == 3_600_000)
        #expect(settings.limits.avatarUploads == .daily("avatar uploads", countMax: 6))
        #expect(settings.limits.avatarBytesMax == 20_000)
        #expect(settings.limits.reservedUsernames.contains(try Username("Acme")))
    }

    @Test(arguments: [
        (nil, [ProfileField.displayName, .phoneNumber]), ("", [.displayName, .phoneNumber]), ("none", []),
        ("username", [.username]), ("username, phone_number,display_name", ProfileField.allCases),
        ("username,username", [.username]),
    ])
    func `The required fields are configurable`(text: String?, fields: [ProfileField]) throws {
        let values = text.map { ["VESTIBULE_PROFILE_REQUIRED_FIELDS": $0] } ?? [:]
        #expect(try settings(values).requiredFields == RequiredFields(Set(fields)))
    }

    @Test(arguments: ["phone", "none,username", "username,", "email"])
    func `An unknown field is reported`(text: String) throws {
        let faults = try #require(throws: ConfigurationErrors.self) {
            _ = try settings(["VESTIBULE_PROFILE_REQUIRED_FIELDS": text])
        }
        #expect(faults.faults.map(\.key) == ["VESTIBULE_PROFILE_REQUIRED_FIELDS"])
    }

    @Test func `All errors are reported together`() throws {
        let configuration = try Configuration(
            keys: ProfileServer.configurationKeys,
            program: "profile",
            environment: [
                "VESTIBULE_PHONE_REGION": "Atlantis", ClientAddressKey.key.name: "/address.key",
                "VESTIBULE_PROFILE_KEYS_FOLDER": "/nowhere",
            ],
            readFile: { (_, _) throws(FileError) in [7] }
        )
        let faults = try #require(throws: ConfigurationErrors.self) { try ProfileSettings(configuration) }
        #expect(
            faults.faults.map(\.key)
                == ["VESTIBULE_PHONE_REGION", ClientAddressKey.key.name, "VESTIBULE_PROFILE_KEYS_FOLDER"]
        )
    }
}
