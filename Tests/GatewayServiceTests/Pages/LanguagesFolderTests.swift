import Foundation
import ServiceKit
import Testing

@testable import GatewayService

/// The operator's own sentences.
struct LanguagesFolderTests {
    private static let key = "VESTIBULE_GATEWAY_LANGUAGES_FOLDER"

    /// The languages of a folder with these files.
    private static func languages(_ files: [String: String]) throws -> PageLanguages {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vestibule-languages-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
        return try languages(folder: folder.path)
    }

    private static func languages(folder: String) throws -> PageLanguages {
        let configuration = try Configuration.testing(
            keys: GatewayServer.configurationKeys,
            program: GatewayServer.programName,
            [key: folder]
        )
        return try GatewaySettings(configuration).languages
    }

    @Test func `Files replace sentences and add languages`() throws {
        let languages = try Self.languages([
            "en.json": #"{"back": "Go back", "signOut": "Leave?"}"#,
            "de-AT.json": #"{"back": "Retour"}"#,
            "de.json": #"{"signIn": "Los geht’s", "back": "Heim"}"#,
            "pt-BR.json": #"{"signIn": "Entrar", "signInTo": "Entrar em {client}"}"#,
            "README.md": "Not read.", "json": "",
        ])
        #expect(languages.tags == ["ar", "de", "de-AT", "en", "es", "fil", "ja", "pt-BR"])
        #expect(languages.fallback[.back] == "Go back" && languages.fallback[.signIn] == "Sign in")
        let austrian = languages.text(for: ["de-AT"])
        #expect(
            austrian[.back] == "Retour" && austrian[.signIn] == "Los geht’s" && austrian[.signOutButton] == "Abmelden"
        )
        let portuguese = languages.text(for: ["pt-br"])
        #expect(portuguese[.signInTo, ["client": "Shop"]] == "Entrar em Shop" && portuguese[.back] == "Go back")
        #expect(languages.text(for: ["pt"]).language == "en")
        #expect(languages.missingCounts == ["pt-BR": PageText.Key.allCases.count - 2])
    }

    @Test func `A code that browsers replace is the one language`() throws {
        let languages = try Self.languages(["tl.json": #"{"back": "Balik"}"#, "en-GB.json": "{}", "iw.json": "{}"])
        #expect(languages.text(for: ["tl"])[.back] == "Balik" && languages.text(for: ["fil-PH"])[.back] == "Balik")
        #expect(languages.text(for: ["fil"])[.signIn] == "Mag-sign in")
        #expect(languages.text(for: ["he"]).direction == "rtl")
        #expect(languages.missingCounts.keys.sorted() == ["he"])
    }

    @Test func `All faults are named`() throws {
        let error = #expect(throws: ConfigurationErrors.self) {
            try Self.languages([
                "de.json": #"{"signInTo": "Anmelden", "nothing": ""}"#, "de_AT.json": "{}", "es.json": "no JSON",
                "fr.json": "{" + String(repeating: " ", count: 256 * 1024) + "}",
            ])
        }
        let problems = (error?.faults ?? []).map(\.problem)
        #expect(error?.faults.allSatisfy { $0.key == Self.key } == true)
        let expected = [
            "de.json signInTo must have {client}, each once", "de.json there is no sentence \"nothing\"",
            "es.json it is no JSON object", "fr.json is longer than", "de_AT.json is not named for a language",
        ]
        #expect(problems.count == expected.count)
        for words in expected { #expect(problems.contains { $0.contains(words) }, "\(words) in \(problems)") }
    }

    @Test func `A folder that is none is a fault, and so are too many languages`() throws {
        let missing = #expect(throws: ConfigurationErrors.self) { try Self.languages(folder: "/nothing/here") }
        #expect(missing?.faults.map(\.key) == [Self.key])
        let many = Dictionary(uniqueKeysWithValues: (0..<65).map { ("xx-\($0).json", "{}") })
        #expect(throws: ConfigurationErrors.self) { try Self.languages(many) }
    }
}
