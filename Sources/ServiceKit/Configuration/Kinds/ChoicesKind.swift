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
                guard let choice = Choice(rawValue: String(piece.trimmingSpaces)), !choices.contains(choice) else {
                    throw ConfigurationProblem("must be any of \(words), with commas between and each once")
                }
                choices.append(choice)
            }
            return choices
        }
    }
}
