extension ConfigurationKey {
    /// Words of a fixed list with commas between, each once; none if it is left out.
    public static func choices<Choice>(_ name: String, help: String) -> ConfigurationKey
    where Value == [Choice], Choice: CaseIterable & Hashable & RawRepresentable<String> & Sendable {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return ConfigurationKey(name, kind: "any of \(words)", defaultText: nil, isRequired: false, help: help) {
            (input) throws(ConfigurationProblem) in
            guard let text = input.text(name) else { return [] }
            var choices: [Choice] = []
            for piece in text.split(separator: ",", omittingEmptySubsequences: false) {
                let word = String(piece.trimmingSpaces)
                guard let choice = Choice(rawValue: word) else {
                    throw ConfigurationProblem("has \(quoted(word)), which is none of \(words)")
                }
                guard !choices.contains(choice) else {
                    throw ConfigurationProblem("has \(quoted(word)) twice")
                }
                choices.append(choice)
            }
            return choices
        }
    }
}
