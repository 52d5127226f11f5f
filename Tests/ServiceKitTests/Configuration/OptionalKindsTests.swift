import ServiceKit
import Testing

/// Optional keys without a default.
struct OptionalKindsTests {
    private let link = ConfigurationKey.optionalURL("VESTIBULE_TEST_LINK", isRequired: true, help: "A URL.")
    private let items = ConfigurationKey.optionalList("VESTIBULE_TEST_ITEMS", help: "A list.", countMax: 2)
    private let key = ConfigurationKey.optionalSecretFile("VESTIBULE_TEST_KEY_FILE", help: "A key.", emptyIsNone: true)

    private func read(
        _ environment: [String: String],
        content: [UInt8] = []
    ) throws(ConfigurationErrors) -> Configuration {
        try Configuration(keys: [link, items, key], program: "test", environment: environment) {
            (path, bytesMax) throws(FileError) in content
        }
    }

    @Test func `Empty values and files count as none`() throws {
        for empty in [
            [:], ["VESTIBULE_TEST_LINK": " ", "VESTIBULE_TEST_ITEMS": "", "VESTIBULE_TEST_KEY_FILE": "empty"],
        ] {
            let configuration = try read(empty)
            #expect(configuration[link] == nil)
            #expect(configuration[items] == nil)
            #expect(configuration[key] == nil)
        }
        #expect(link.isRequired && link.defaultText == nil && !items.isRequired)
    }

    @Test func `Values are parsed like those of required keys`() throws {
        let configuration = try read(
            [
                "VESTIBULE_TEST_LINK": "https://a.example", "VESTIBULE_TEST_ITEMS": "a, b",
                "VESTIBULE_TEST_KEY_FILE": "full",
            ],
            content: [1]
        )
        #expect(configuration[link] == "https://a.example")
        #expect(configuration[items] == ["a", "b"])
        #expect(configuration[key]?.bytes == [1])
        for (name, value) in [("LINK", "ftp://a.example"), ("ITEMS", "a,b,c"), ("ITEMS", "a,,b")] {
            #expect(throws: ConfigurationErrors.self) { _ = try read(["VESTIBULE_TEST_\(name)": value]) }
        }
    }
}
