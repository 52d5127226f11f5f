import Models
import ProfileDomain
import ServiceKit
import Testing

@testable import ProfileService

@Suite struct ProfileConfigurationTests {
    private func configuration(_ values: [String: String]) throws -> ProfileConfiguration {
        try ProfileConfiguration(
            Configuration.testing(keys: ProfileServer.configurationKeys, program: "profile", values)
        )
    }

    @Test func `By default the Philippines' mobile numbers are taken, and ten tries an hour allowed`() throws {
        let configuration = try configuration([:])
        #expect(configuration.policy == .philippines)
        #expect(configuration.tryLimit.triesMax == 10)
        #expect(configuration.tryLimit.windowMilliseconds == 3_600_000)
        #expect(configuration.invitesAddress.description == "127.0.0.1:7003")
    }

    @Test func `Each of it can be changed`() throws {
        let configuration = try configuration([
            "VESTIBULE_PROFILE_PHONE_REGION": "DE", "VESTIBULE_PROFILE_PHONE_KINDS": "mobile, voip",
            "VESTIBULE_PROFILE_PHONE_REGIONS": "*", "VESTIBULE_PROFILE_PHONE_TRIES": "3",
            "VESTIBULE_PROFILE_PHONE_TRIES_WINDOW": "90s",
        ])
        #expect(try PhoneNumber("0151 23456789", policy: configuration.policy).e164 == "+4915123456789")
        #expect(configuration.policy.allowedKinds == [.mobile, .voip])
        #expect(configuration.tryLimit.triesMax == 3)
        #expect(configuration.tryLimit.windowMilliseconds == 90_000)
    }

    @Test(arguments: [
        ["VESTIBULE_PROFILE_PHONE_REGION": "Atlantis"], ["VESTIBULE_PROFILE_PHONE_REGIONS": "PH,QQ"],
        ["VESTIBULE_PROFILE_PHONE_KINDS": "pigeon"],
    ])
    func `Regions and kinds that don't exist are faults`(values: [String: String]) {
        #expect(throws: ConfigurationFaults.self) { try configuration(values) }
    }
}
