import ServiceKit
import Testing

@testable import IdentityService

/// What a command asks at a terminal, and what it says without one.
struct QuestionnaireTests {
    /// A person whose answers are known beforehand.
    private final class Script: Prompting {
        var answers: [String]
        private(set) var shown: [String] = []

        init(_ answers: String...) { self.answers = answers }

        func show(_ line: String) { shown.append(line) }

        func ask(_ question: String) throws(TerminalPrompt.Ended) -> String {
            shown.append(question)
            guard !answers.isEmpty else { throw TerminalPrompt.Ended() }
            return answers.removeFirst()
        }

        func askSecret(_ question: String) throws(TerminalPrompt.Ended) -> String {
            let answer = try ask(question)
            return answer
        }
    }

    private func complete(
        _ kind: ProviderKind,
        _ script: Script?,
        _ answers: CommandAnswers = CommandAnswers(),
        judge: @escaping Questionnaire.Judge = { _ in [] }
    ) throws -> CommandAnswers {
        try Questionnaire(fields: kind.fields, prompt: script, judge: judge).complete(answers)
    }

    @Test func `Nothing is asked if nothing is missing, though more could be said`() throws {
        var answers = CommandAnswers()
        answers["web-client-id"] = "web"
        answers["client-secret-file"] = "secret"
        let script = Script()
        #expect(try complete(.google, script, answers)["web-client-id"] == "web")
        #expect(script.shown.isEmpty)
    }

    @Test func `Without a terminal all that is missing is named`() {
        let error = #expect(throws: CommandError.self) { try complete(.apple, nil) }
        #expect(error?.isUsage == true)
        #expect(error?.lines.first?.contains("--bundle-id or --services-id, --team-id, --key-id") == true)
    }

    @Test func `Only what the other answers make needed is asked`() throws {
        let script = Script("", "ios", "")
        let answers = try complete(.google, script)
        #expect(answers.all("native-client-id") == ["ios"] && answers["web-client-id"] == nil)
        #expect(!script.shown.contains { $0.contains("secret") })
    }

    @Test func `A secret may be typed, and is needed where it is needed`() throws {
        let script = Script("24680", "", "", "", "hush")
        let answers = try complete(.facebook, script)
        #expect(answers.typedSecrets["app-secret-file"]?.text == "hush" && answers["app-secret-file"] == nil)
        #expect(script.shown.contains("  an answer is needed"))
    }

    @Test func `An answer that the judge refuses is asked again, and others' faults are not shown`() throws {
        let script = Script("bad", "good", "file")
        let answers = try complete(.facebook, script) { answers in
            answers["app-id"] == "bad" ? [#"provider "facebook": "id" is bad"#, #""keys_url" is required"#] : []
        }
        #expect(answers["app-id"] == "good" && answers["app-secret-file"] == "file")
        #expect(script.shown.filter { $0.hasPrefix("  ") } == [#"  "id" is bad"#])
    }

    @Test func `A person who ends the input has changed nothing`() {
        let error = #expect(throws: CommandError.self) { try complete(.facebook, Script("24680")) }
        #expect(error?.isUsage == false && error?.lines == ["ended without an answer; nothing was changed"])
    }
}
