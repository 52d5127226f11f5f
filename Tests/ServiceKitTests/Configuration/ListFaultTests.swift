import Testing

@testable import ServiceKit

/// A list with a bad item repeats that item: a list may have many, and the error must say which.
struct ListFaultTests {
    private enum Word: String, CaseIterable { case one, two }

    private func problem(_ key: any AnyConfigurationKey, _ text: String) -> String? {
        do throws(ConfigurationErrors) {
            _ = try Configuration(keys: [key], program: "test", environment: [key.name: text])
            return nil
        } catch {
            return error.faults.first?.problem
        }
    }

    @Test(arguments: [
        (
            "identity:7001, pro file:7002,invites:7003",
            #"has "pro file:7002", which is no address such as 127.0.0.1:7001"#
        ),
        ("identity:7001,", #"has "", which is no address such as 127.0.0.1:7001"#),
        (String(repeating: "a:1,", count: 64) + "a:1", "has more than 64 addresses"),
    ])
    func `A list of addresses repeats the wrong one`(text: String, expected: String) {
        #expect(problem(ConfigurationKey.addresses("VESTIBULE_TEST_ADDRESSES", help: "."), text) == expected)
    }

    @Test(arguments: [
        ("10.0.0.0/8, 10.0.0.1/8", #"has "10.0.0.1/8", which is no network"#), ("10.0.0.0/8,,::1", #"has "", which"#),
        (String(repeating: "::1,", count: 64) + "::1", "has more than 64 networks"),
    ])
    func `A list of networks repeats the wrong one`(text: String, expected: String) throws {
        let problem = problem(ConfigurationKey.networks("VESTIBULE_TEST_NETWORKS", help: "."), text)
        #expect(try #require(problem).hasPrefix(expected))
    }

    @Test(arguments: [("a,,c", #"has an empty item after "a""#), (",b", #"has an empty item before "b""#)])
    func `A list of texts says where an item is empty`(text: String, expected: String) {
        #expect(problem(ConfigurationKey.list("VESTIBULE_TEST_LIST", help: "."), text) == expected)
        #expect(problem(ConfigurationKey.optionalList("VESTIBULE_TEST_LIST", help: "."), text) == expected)
    }

    @Test func `A list of words repeats the wrong one`() {
        let key = ConfigurationKey<[Word]>.choices("VESTIBULE_TEST_WORDS", help: ".")
        #expect(problem(key, "one,three") == #"has "three", which is none of one, two"#)
    }

    @Test func `A list of rules repeats the wrong one`() {
        let key = ConfigurationKey.peerAllowList("VESTIBULE_TEST_ALLOW", help: ".")
        #expect(
            problem(key, "a b/c; d e")
                == #"cannot be used: line 1 has " d e", which is not a name and package.Service/Method, …/* or *"#
        )
    }

    @Test func `A list of origins repeats the wrong one`() throws {
        let keys = ServiceKeys(program: "profile", listenPort: 7002)
        let configuration = try Configuration.testing(
            keys: keys.all,
            program: "profile",
            ["VESTIBULE_PROFILE_CONNECT": "true", "VESTIBULE_PROFILE_ORIGINS": "https://a.example,https://b.example/x"]
        )
        let fault = try #require(keys.port.faults(configuration).first)
        #expect(
            fault.description.hasPrefix(#"VESTIBULE_PROFILE_ORIGINS has "https://b.example/x", which is no origin"#)
        )
    }
}
