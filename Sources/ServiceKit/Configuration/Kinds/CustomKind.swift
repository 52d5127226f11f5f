extension ConfigurationKey {
    /// A variable that by custom many programs read, which may be left out: in lower case, which counts first as it does with
    /// the others, or in upper case.
    ///
    /// - Parameter name: in upper case, one of `ConfigurationNames.custom`.
    public static func custom<Wrapped: Sendable>(
        _ name: String,
        kind: String,
        help: String,
        parse: @escaping @Sendable (String) throws(ConfigurationProblem) -> Wrapped
    ) -> ConfigurationKey<Wrapped?> where Value == Wrapped? {
        ConfigurationKey<Wrapped?>(name, kind: kind, defaultText: nil, isRequired: false, help: help) {
            (input) throws(ConfigurationProblem) -> Wrapped? in
            guard let text = input.text(name.lowercased()) ?? input.text(name) else { return nil }
            return try parse(text)
        }
    }
}
