import ServiceKit

/// Completes what a command knows: asks the person at the terminal, or says what is missing.
struct Questionnaire {
    /// The faults of what is known so far, by the judge of the file.
    typealias Judge = (CommandAnswers) -> [String]

    let fields: [CommandField]
    /// Nil if nobody is at a terminal.
    let prompt: (any Prompting)?
    let judge: Judge

    /// The answers with nothing missing. Asks for what was left open only if something is missing.
    func complete(_ answers: CommandAnswers) throws(CommandError) -> CommandAnswers {
        let missing = missing(answers)
        guard !missing.isEmpty else { return answers }
        guard let prompt else {
            throw CommandError(
                "missing: \(missing.map(\.option).joined(separator: ", ")) (in a terminal it asks for them)",
                isUsage: true
            )
        }
        var answers = answers
        do throws(TerminalPrompt.Ended) {
            for field in fields where !answers.has(field.flag) && field.isAsked(answers) {
                try ask(field, prompt, &answers)
            }
        } catch {
            throw CommandError("ended without an answer; nothing was changed")
        }
        return answers
    }

    private func missing(_ answers: CommandAnswers) -> [CommandField] {
        fields.filter { $0.isRequired(answers) && !answers.has($0.flag) }
    }

    /// Asks until there is an answer that the judge takes.
    private func ask(
        _ field: CommandField,
        _ prompt: any Prompting,
        _ answers: inout CommandAnswers
    ) throws(TerminalPrompt.Ended) {
        while true {
            var candidate = answers
            let isAnswered = try answer(field, prompt, &candidate)
            if !isAnswered, field.isRequired(answers) {
                prompt.show("  an answer is needed")
                continue
            }
            let problems = problems(field, candidate)
            for problem in problems { prompt.show("  \(problem)") }
            guard problems.isEmpty else { continue }
            answers = candidate
            // Of several texts each is judged by itself.
            guard isAnswered, field.form == .texts else { return }
            while try another(field, prompt, &answers) {}
            return
        }
    }

    /// Asks once; false for an empty answer.
    private func answer(
        _ field: CommandField,
        _ prompt: any Prompting,
        _ answers: inout CommandAnswers
    ) throws(TerminalPrompt.Ended) -> Bool {
        let remark: String? =
            switch field.form {
            case .secretFile: "empty to type it"
            case .yesOrNo: "yes or no"
            case .text, .texts, .file: field.usual ?? (field.isRequired(answers) ? nil : "empty for none")
            }
        let text = try prompt.ask(field.question + (remark.map { " [\($0)]" } ?? ""))
        switch field.form {
        case .yesOrNo(let yes, let no):
            let word = text.lowercased()
            guard ["y", "yes", "n", "no"].contains(word) else { return false }
            answers[field.flag] = word.hasPrefix("y") ? yes : no
            return true
        case .secretFile where text.isEmpty:
            let secret = try prompt.askSecret(
                field.isRequired(answers) ? "The secret" : "The secret [empty for none]"
            )
            answers.type(field.flag, secret.isEmpty ? nil : Secret(secret))
            return !secret.isEmpty
        case .text, .texts, .file, .secretFile:
            let value = text.isEmpty ? field.usual : text
            answers[field.flag] = value
            return value != nil
        }
    }

    /// Asks for another text of a field; false for none.
    private func another(
        _ field: CommandField,
        _ prompt: any Prompting,
        _ answers: inout CommandAnswers
    ) throws(TerminalPrompt.Ended) -> Bool {
        let text = try prompt.ask("Another one [empty for no more]")
        guard !text.isEmpty else { return false }
        var candidate = answers
        candidate.set(field.flag, answers.all(field.flag) + [text])
        let problems = problems(field, candidate)
        for problem in problems { prompt.show("  \(problem)") }
        if problems.isEmpty { answers = candidate }
        return true
    }

    /// The faults that are about a field, from the place on where they name it.
    private func problems(_ field: CommandField, _ answers: CommandAnswers) -> [String] {
        judge(answers).compactMap { fault in
            field.marks.lazy.compactMap { mark in fault.firstRange(of: mark).map { String(fault[$0.lowerBound...]) } }
                .first
        }
    }
}

/// A person who answers.
protocol Prompting {
    /// Shows a line.
    func show(_ line: String)
    /// Asks; empty for no answer.
    func ask(_ question: String) throws(TerminalPrompt.Ended) -> String
    /// Asks without showing the answer.
    func askSecret(_ question: String) throws(TerminalPrompt.Ended) -> String
}

extension TerminalPrompt: Prompting {}
