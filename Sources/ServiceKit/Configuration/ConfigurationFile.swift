/// The text of a configuration file: lines of `KEY=VALUE`, with `#` before comments and quotes allowed around values.
enum ConfigurationFile {
    /// The longest file that is read.
    static let bytesMax = 256 * 1024

    /// The entries of a file, and its faults. A fault names line or key, never the value: it may be a secret.
    static func parse(_ text: String, name: String) -> (entries: [String: String], faults: [ConfigurationError]) {
        var entries: [String: String] = [:]
        var faults: [ConfigurationError] = []
        // A line end of CR LF is one Character, so lines are split on both.
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmingSpaces
            if line.isEmpty || line.hasPrefix("#") { continue }
            guard let equals = line.firstIndex(of: "="), equals != line.startIndex else {
                faults.append(ConfigurationError(key: name, problem: "line \(index + 1) is not KEY=VALUE"))
                continue
            }
            let key = String(line[..<equals].trimmingSpaces)
            let value = unquoted(line[line.index(after: equals)...].trimmingSpaces)
            if entries.updateValue(value, forKey: key) != nil {
                faults.append(ConfigurationError(key: key, problem: "is given twice in \(name)"))
            }
        }
        return (entries, faults)
    }

    private static func unquoted(_ value: Substring) -> String {
        for quote in ["\"", "'"] where value.count >= 2 && value.hasPrefix(quote) && value.hasSuffix(quote) {
            return String(value.dropFirst().dropLast())
        }
        return String(value)
    }
}
