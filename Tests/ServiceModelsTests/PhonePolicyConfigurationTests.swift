import Models
import ServiceKit
import ServiceModels
import Testing

struct PhonePolicyConfigurationTests {
    private func read(
        _ environment: [String: String],
        file: [String: String] = [:],
        program: String = "profile"
    ) throws(ConfigurationErrors) -> Configuration {
        try Configuration(keys: PhonePolicy.keys, program: program, environment: environment, file: file)
    }

    private func problems(_ environment: [String: String], file: [String: String] = [:]) -> [String] {
        do throws(ConfigurationErrors) {
            _ = try PhonePolicy(try read(environment, file: file))
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }

    @Test func `By default the Philippines' mobile numbers are taken`() throws {
        let configuration = try read([:])
        #expect(try PhonePolicy(configuration) == .philippines)
        #expect(configuration.warnings.isEmpty)
    }

    @Test func `Each of it can be changed`() throws {
        let configuration = try read([
            "VESTIBULE_PHONE_REGION": "DE", "VESTIBULE_PHONE_KINDS": "mobile, voip", "VESTIBULE_PHONE_REGIONS": "*",
        ])
        let policy = try PhonePolicy(configuration)
        #expect(try PhoneNumber("0151 23456789", policy: policy).e164 == "+4915123456789")
        #expect(policy.allowedKinds == [.mobile, .voip])
        #expect(policy.allowedRegions == nil)
        #expect(configuration.warnings.isEmpty)
    }

    @Test func `The help names every kind`() {
        for kind in PhonePolicy.Kind.allCases { #expect(SharedKeys.phoneKinds.help.contains(kind.rawValue)) }
    }

    @Test(arguments: [
        (["VESTIBULE_PHONE_REGION": "Atlantis"], "VESTIBULE_PHONE_REGION \"Atlantis\" is no region"),
        (["VESTIBULE_PHONE_REGIONS": "PH,QQ"], "VESTIBULE_PHONE_REGIONS \"QQ\" is no region"),
        (["VESTIBULE_PHONE_KINDS": "pigeon"], "VESTIBULE_PHONE_KINDS \"pigeon\" is no kind"),
    ])
    func `Regions and kinds that don't exist are faults of their keys`(values: [String: String], problem: String) {
        let found = problems(values)
        #expect(found.count == 1 && found[0].hasPrefix(problem), "\(found)")
    }

    @Test(arguments: ["profile", "invites"], ["PROFILE", "INVITES"])
    func `Each service's former key still counts for both, with a warning`(
        program: String,
        former: String
    ) throws {
        let name = "VESTIBULE_\(former)_PHONE_REGION"
        for (environment, file) in [([name: "DE"], [:]), ([:], [name: "DE"])] {
            let configuration = try read(environment, file: file, program: program)
            #expect(try PhonePolicy(configuration).defaultRegion == "DE")
            #expect(
                configuration.warnings.map(\.description)
                    == ["\(name) is a former name: call it VESTIBULE_PHONE_REGION"]
            )
        }
    }

    @Test func `Several names with one value are taken`() throws {
        let configuration = try read(
            ["VESTIBULE_PHONE_REGIONS": "DE,AT", "VESTIBULE_INVITES_PHONE_REGIONS": " DE,AT "],
            file: ["VESTIBULE_PROFILE_PHONE_REGIONS": "DE,AT"]
        )
        #expect(try PhonePolicy(configuration).allowedRegions == ["DE", "AT"])
        #expect(configuration.warnings.count == 2)
    }

    @Test(arguments: [
        ("VESTIBULE_PHONE_KINDS", "VESTIBULE_PROFILE_PHONE_KINDS"),
        ("VESTIBULE_PHONE_KINDS", "VESTIBULE_INVITES_PHONE_KINDS"),
        ("VESTIBULE_PROFILE_PHONE_KINDS", "VESTIBULE_INVITES_PHONE_KINDS"),
    ])
    func `Two names with different values are a fault`(first: String, second: String) {
        let expected = ["VESTIBULE_PHONE_KINDS is given as \(first) and as \(second), with different values"]
        #expect(problems([first: "mobile", second: "voip"]) == expected)
        #expect(problems([first: "mobile"], file: [second: "voip"]) == expected)
        #expect(problems([first: "mobile,voip", second: "voip, mobile"]) == [])
    }

    @Test func `Programs that read no numbers pass the keys over in a shared file`() throws {
        let listen = ServiceKeys(program: "identity", listenPort: 7001).listen
        let file = ["VESTIBULE_PHONE_REGION": "DE", "VESTIBULE_PROFILE_PHONE_REGION": "DE"]
        _ = try Configuration(keys: [listen], program: "identity", environment: [:], file: file)
    }
}
