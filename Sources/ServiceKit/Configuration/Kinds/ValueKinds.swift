extension ConfigurationKey where Value == String {
    /// Text of 1 to `lengthMax` bytes. Without a default it is required.
    public static func string(
        _ name: String,
        default: String? = nil,
        help: String,
        lengthMax: Int = 4096
    ) -> ConfigurationKey {
        ConfigurationKey(name, kind: "text", defaultText: `default`, help: help) {
            (text) throws(ConfigurationProblem) in
            try checkLength(text, max: lengthMax)
        }
    }

    /// The path of a file or folder. Nothing is opened.
    public static func path(_ name: String, default: String? = nil, help: String) -> ConfigurationKey {
        ConfigurationKey(name, kind: "path", defaultText: `default`, help: help) {
            (text) throws(ConfigurationProblem) in
            try checkLength(text, max: 4096)
        }
    }

    /// An absolute `http` or `https` URL with a host, without user, password or fragment.
    public static func url(_ name: String, default: String? = nil, help: String) -> ConfigurationKey {
        ConfigurationKey(name, kind: "URL", defaultText: `default`, help: help) { (text) throws(ConfigurationProblem) in
            try checkURL(text)
        }
    }
}

extension ConfigurationKey where Value == String? {
    /// Text that may be left out.
    public static func optionalString(_ name: String, help: String, lengthMax: Int = 4096) -> ConfigurationKey {
        ConfigurationKey(name, kind: "text", defaultText: nil, isRequired: false, help: help) {
            (input) throws(ConfigurationProblem) in
            guard let text = input.text(name) else { return nil }
            return try checkLength(text, max: lengthMax)
        }
    }
}

extension ConfigurationKey where Value == String? {
    /// A URL as `url` reads it. Without one the value is nil: the reader of a required one reports the fault, together with
    /// the faults between keys.
    public static func optionalURL(_ name: String, isRequired: Bool = false, help: String) -> ConfigurationKey {
        ConfigurationKey(name, kind: "URL", defaultText: nil, isRequired: isRequired, help: help) {
            (input) throws(ConfigurationProblem) in
            guard let text = input.text(name) else { return nil }
            return try checkURL(text)
        }
    }

    /// The path of a file or folder that may be left out. Nothing is opened. If a required one is missing, the value is nil,
    /// and the code that reads it reports the problem.
    public static func optionalPath(_ name: String, isRequired: Bool = false, help: String) -> ConfigurationKey {
        ConfigurationKey(name, kind: "path", defaultText: nil, isRequired: isRequired, help: help) {
            (input) throws(ConfigurationProblem) in
            guard let text = input.text(name) else { return nil }
            return try checkLength(text, max: 4096)
        }
    }
}

extension ConfigurationKey where Value == Int {
    /// A whole number within a range.
    public static func int(
        _ name: String,
        in range: ClosedRange<Int>,
        default: Int? = nil,
        help: String
    ) -> ConfigurationKey {
        ConfigurationKey(
            name,
            kind: "\(range.lowerBound) to \(range.upperBound)",
            defaultText: `default`.map(String.init),
            help: help
        ) { (text) throws(ConfigurationProblem) in
            guard let number = Int(text), range.contains(number) else {
                throw ConfigurationProblem(
                    "must be a whole number from \(range.lowerBound) to \(range.upperBound), not \(quoted(text))"
                )
            }
            return number
        }
    }
}

extension ConfigurationKey where Value == Bool {
    /// `true` or `false`.
    public static func bool(_ name: String, default: Bool? = nil, help: String) -> ConfigurationKey {
        ConfigurationKey(name, kind: "true or false", defaultText: `default`.map { "\($0)" }, help: help) {
            (text) throws(ConfigurationProblem) in
            guard let value = Bool(text) else {
                throw ConfigurationProblem("must be true or false, not \(quoted(text))")
            }
            return value
        }
    }
}

extension ConfigurationKey where Value == Duration {
    /// A duration such as `500ms`, `5s`, `10m`, `2h` or `30d`, within a range.
    public static func duration(
        _ name: String,
        in range: ClosedRange<Duration>,
        default: Duration? = nil,
        help: String
    ) -> ConfigurationKey {
        let limits = "\(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
        return ConfigurationKey(
            name,
            kind: "duration, \(limits)",
            defaultText: `default`.map(DurationText.format),
            help: help
        ) { (text) throws(ConfigurationProblem) in
            guard let duration = DurationText.parse(text), range.contains(duration) else {
                throw ConfigurationProblem(
                    "must be a duration from \(limits), such as 500ms, 5s or 10m, not \(quoted(text))"
                )
            }
            return duration
        }
    }
}

extension ConfigurationKey where Value == HostPort {
    /// An address such as `127.0.0.1:7001`, `identity:7001` or `[::1]:7001`.
    public static func address(_ name: String, default: String? = nil, help: String) -> ConfigurationKey {
        ConfigurationKey(name, kind: "host:port", defaultText: `default`, help: help) {
            (text) throws(ConfigurationProblem) in
            try checkAddress(text)
        }
    }

    fileprivate static func checkAddress(_ text: String) throws(ConfigurationProblem) -> HostPort {
        guard let address = HostPort(text) else {
            throw ConfigurationProblem("must be an address such as 127.0.0.1:7001, not \(quoted(text))")
        }
        return address
    }
}

extension ConfigurationKey where Value == HostPort? {
    /// An address that may be left out.
    public static func optionalAddress(_ name: String, help: String) -> ConfigurationKey {
        ConfigurationKey(name, kind: "host:port", defaultText: nil, isRequired: false, help: help) {
            (input) throws(ConfigurationProblem) in
            guard let text = input.text(name) else { return nil }
            return try ConfigurationKey<HostPort>.checkAddress(text)
        }
    }
}

extension ConfigurationKey where Value == AddressList {
    /// One address or several with commas between, such as `127.0.0.1:7001,127.0.0.2:7001`.
    public static func addresses(_ name: String, default: String? = nil, help: String) -> ConfigurationKey {
        ConfigurationKey(name, kind: "host:port, comma between several", defaultText: `default`, help: help) {
            (text) throws(ConfigurationProblem) in
            let items = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.trimmingSpaces) }
            if let wrong = items.first(where: { HostPort($0) == nil }) {
                throw ConfigurationProblem("has \(quoted(wrong)), which is no address such as 127.0.0.1:7001")
            }
            guard let addresses = AddressList(text) else {
                throw ConfigurationProblem("has more than \(AddressList.countMax) addresses")
            }
            return addresses
        }
    }
}

extension ConfigurationKey where Value == [String] {
    /// Texts with commas between them; spaces around each are dropped, empty ones are faults.
    public static func list(
        _ name: String,
        default: [String]? = nil,
        help: String,
        countMax: Int = 64
    ) -> ConfigurationKey {
        ConfigurationKey(
            name,
            kind: "list, comma between",
            defaultText: `default`?.joined(separator: ","),
            help: help
        ) { (text) throws(ConfigurationProblem) in
            let items = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.trimmingSpaces) }
            if let place = items.firstIndex(of: "") {
                let neighbour =
                    place > 0
                    ? " after \(quoted(items[place - 1]))" : " before \(quoted(items.first { !$0.isEmpty } ?? ""))"
                throw ConfigurationProblem("has an empty item\(neighbour)")
            }
            guard items.count <= countMax else { throw ConfigurationProblem("has more than \(countMax) items") }
            return items
        }
    }
}

extension ConfigurationKey where Value == [String]? {
    /// Texts as `list` reads them, which may be left out.
    public static func optionalList(_ name: String, help: String, countMax: Int = 64) -> ConfigurationKey {
        let list = ConfigurationKey<[String]>.list(name, help: help, countMax: countMax)
        return ConfigurationKey(name, kind: list.kind, defaultText: nil, isRequired: false, help: help) {
            (input) throws(ConfigurationProblem) in
            guard input.text(name) != nil else { return nil }
            return try list.value(input)
        }
    }
}

extension ConfigurationKey where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    /// One of an enumeration's words.
    public static func choice(_ name: String, default: Value? = nil, help: String) -> ConfigurationKey {
        let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return ConfigurationKey(name, kind: "one of \(words)", defaultText: `default`?.rawValue, help: help) {
            (text) throws(ConfigurationProblem) in
            guard let value = Value(rawValue: text) else {
                throw ConfigurationProblem("must be one of \(words), not \(quoted(text))")
            }
            return value
        }
    }
}

extension ConfigurationKey {
    /// One of an enumeration's words, as `choice` reads it. Without a required one the value is nil: its reader reports the fault.
    public static func optionalChoice<Choice>(
        _ name: String,
        isRequired: Bool = false,
        help: String
    ) -> ConfigurationKey where Value == Choice?, Choice: CaseIterable & RawRepresentable<String> & Sendable {
        let choice = ConfigurationKey<Choice>.choice(name, help: help)
        return ConfigurationKey(name, kind: choice.kind, defaultText: nil, isRequired: isRequired, help: help) {
            (input) throws(ConfigurationProblem) in
            guard input.text(name) != nil else { return nil }
            return try choice.value(input)
        }
    }
}

extension StringProtocol {
    /// The text without spaces and tabs at its ends.
    package var trimmingSpaces: SubSequence {
        guard let first = firstIndex(where: { $0 != " " && $0 != "\t" }),
            let last = lastIndex(where: { $0 != " " && $0 != "\t" })
        else { return self[endIndex...] }
        return self[first...last]
    }
}

/// A value as a fault shows it: quoted, without control characters, cut. Of no secret.
package func quoted(_ text: String) -> String {
    let shown = String(String.UnicodeScalarView(text.unicodeScalars.prefix(60).map { $0.value < 0x20 ? "?" : $0 }))
    return "\"\(shown)\(shown.unicodeScalars.count < text.unicodeScalars.count ? "…" : "")\""
}

private func checkLength(_ text: String, max: Int) throws(ConfigurationProblem) -> String {
    guard text.utf8.count <= max else { throw ConfigurationProblem("is longer than \(max) bytes") }
    return text
}

private func checkURL(_ text: String) throws(ConfigurationProblem) -> String {
    let rest: Substring
    if text.hasPrefix("https://") {
        rest = text.dropFirst(8)
    } else if text.hasPrefix("http://") {
        rest = text.dropFirst(7)
    } else {
        throw ConfigurationProblem("must be a URL that begins with http:// or https://, not \(quoted(text))")
    }
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    // A URL with a password would end up in logs; a fragment never reaches a server.
    guard !authority.isEmpty, !authority.hasPrefix(":"), !authority.contains("@"), !text.contains("#"),
        text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), text.utf8.count <= 2048
    else { throw ConfigurationProblem("must be a URL with a host and without user or fragment") }
    return text
}
