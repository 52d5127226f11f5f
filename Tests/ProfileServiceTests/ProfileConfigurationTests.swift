import Models
import ProfileDomain
import ServiceKit
import Testing

@testable import ProfileService

@Suite struct ProfileConfigurationTests {
    /// All but the key that must be given.
    private let keys = ProfileServer.configurationKeys.filter { $0.name != ClientAddressKey.key.name }

    private func configuration(_ values: [String: String]) throws -> ProfileConfiguration {
        try ProfileConfiguration(
            Configuration.testing(keys: keys, program: "profile", values)
        )
    }

    @Test func `By default the Philippines' mobile numbers are taken, and ten tries an hour allowed`() throws {
        let configuration = try configuration([:])
        #expect(configuration.policy == .philippines)
        #expect(configuration.limits.tries.triesMax == 10)
        #expect(configuration.limits.tries.windowMilliseconds == 3_600_000)
        #expect(configuration.limits.claims == TryLimit(triesMax: 5, windowMilliseconds: 86_400_000))
        #expect(configuration.limits.addressClaims == .daily("phone claims", countMax: 1_000))
        #expect(configuration.invitesAddress.description == "127.0.0.1:7003")
    }

    @Test func `Each of it can be changed`() throws {
        let configuration = try configuration([
            "VESTIBULE_PROFILE_PHONE_REGION": "DE", "VESTIBULE_PROFILE_PHONE_KINDS": "mobile, voip",
            "VESTIBULE_PROFILE_PHONE_REGIONS": "*", "VESTIBULE_PROFILE_PHONE_TRIES": "3",
            "VESTIBULE_PROFILE_PHONE_TRIES_WINDOW": "90s", "VESTIBULE_PROFILE_PHONE_CLAIMS": "2",
            "VESTIBULE_PROFILE_ADDRESS_PHONE_TRIES": "7", "VESTIBULE_PROFILE_ADDRESS_PHONE_CLAIMS": "8",
            "VESTIBULE_PROFILE_RESERVED_USERNAMES": "acme",
        ])
        #expect(try PhoneNumber("0151 23456789", policy: configuration.policy).e164 == "+4915123456789")
        #expect(configuration.policy.allowedKinds == [.mobile, .voip])
        #expect(configuration.limits.tries.triesMax == 3)
        #expect(configuration.limits.tries.windowMilliseconds == 90_000)
        #expect(configuration.limits.claims.triesMax == 2)
        #expect(
            configuration.limits.addressTries == Quota(kind: "phone tries", countMax: 7, windowMilliseconds: 90_000)
        )
        #expect(configuration.limits.addressClaims.countMax == 8)
        #expect(configuration.limits.reservedUsernames.contains(try Username("Acme")))
    }

    @Test(arguments: [
        ["VESTIBULE_PROFILE_PHONE_REGION": "Atlantis"], ["VESTIBULE_PROFILE_PHONE_REGIONS": "PH,QQ"],
        ["VESTIBULE_PROFILE_PHONE_KINDS": "pigeon"],
    ])
    func `Regions and kinds that don't exist are faults`(values: [String: String]) {
        #expect(throws: ConfigurationFaults.self) { try configuration(values) }
    }
}
