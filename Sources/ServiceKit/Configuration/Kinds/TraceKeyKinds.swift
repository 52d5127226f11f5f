import RPC

extension ConfigurationKey where Value == String? {
    /// A protocol of OTLP, which must be the one that we speak. It may be another program's if traces are turned off,
    /// and where `specificName`, the same for traces alone, says another.
    static func traceProtocol(_ name: String, specificName: String? = nil) -> ConfigurationKey {
        ConfigurationKey(
            name,
            kind: "grpc",
            defaultText: "grpc",
            isRequired: false,
            help: "How traces are sent. OTLP by gRPC is spoken, and no other protocol."
        ) { (input) throws(ConfigurationProblem) in
            guard let text = input.text(name), text != "grpc" else { return nil }
            let isOff = input.text("OTEL_SDK_DISABLED") == "true" || input.text("OTEL_TRACES_EXPORTER") == "none"
            let isOverridden = specificName.flatMap { input.text($0) } != nil
            guard isOff || isOverridden else {
                throw ConfigurationProblem(
                    "must be grpc: traces are sent by OTLP over gRPC alone, usually to a collector's port 4317"
                )
            }
            return nil
        }
    }
}

extension ConfigurationKey where Value == TraceKeys.Exporter? {
    /// One of the exporters, or nothing.
    static func optionalChoice(_ name: String, help: String) -> ConfigurationKey {
        let words = TraceKeys.Exporter.allCases.map(\.rawValue).joined(separator: ", ")
        return ConfigurationKey(name, kind: "one of \(words)", defaultText: nil, isRequired: false, help: help) {
            (input) throws(ConfigurationProblem) in
            guard let text = input.text(name) else { return nil }
            guard let value = TraceKeys.Exporter(rawValue: text) else {
                throw ConfigurationProblem("must be one of \(words)")
            }
            return value
        }
    }
}

extension ConfigurationKey where Value == Double {
    /// A share from 0 to 1; 1 by default.
    static func ratio(_ name: String, help: String) -> ConfigurationKey {
        ConfigurationKey(name, kind: "0 to 1", defaultText: "1", help: help) { (text) throws(ConfigurationProblem) in
            guard let ratio = Double(text), 0...1 ~= ratio else {
                throw ConfigurationProblem("must be a number from 0 to 1")
            }
            return ratio
        }
    }
}

extension ConfigurationKey where Value == [String: String] {
    /// Attributes of the process.
    static func traceResource(_ name: String, help: String) -> ConfigurationKey {
        ConfigurationKey(name, kind: "name=value, comma between", defaultText: "", help: help) {
            (text) throws(ConfigurationProblem) in
            guard let entries = KeyValueList.parse(text) else {
                throw ConfigurationProblem(
                    "must be name=value, with commas between at most \(KeyValueList.entriesMax) and percent-encoded"
                )
            }
            return Dictionary(entries.map { ($0.name, $0.value) }) { _, last in last }
        }
    }
}

extension ConfigurationKey where Value == Secret? {
    /// Metadata of exports, which may be left out. A fault says nothing of what it holds.
    static func traceHeaders(_ name: String, help: String) -> ConfigurationKey {
        ConfigurationKey(name, kind: "secret", defaultText: nil, isRequired: false, takesFile: true, help: help) {
            (input) throws(ConfigurationProblem) in
            guard let secret = try textOrFile(name, input) else { return nil }
            guard let entries = KeyValueList.parse(secret.text), entries.allSatisfy({ isMetadata($0.name, $0.value) })
            else {
                throw ConfigurationProblem(
                    "must be name=value, with commas between several and percent-encoded; names are no protocol's own, "
                        + "values printable ASCII"
                )
            }
            return secret
        }
    }

    /// Whether a call may have such metadata (gRPC over HTTP/2, "Custom-Metadata").
    private static func isMetadata(_ name: String, _ value: String) -> Bool {
        let name = name.lowercased()
        let isName = name.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || "-_.".utf8.contains(byte)
        }
        let isReserved = name.hasPrefix("grpc-") || protocolsOwn.contains(name)
        return isName && !isReserved && value.utf8.allSatisfy { 0x20...0x7e ~= $0 }
    }

    /// Of gRPC, HTTP/2 and HTTP/1.1, where HTTP/2 forbids them (RFC 9113 section 8.2.2).
    private static var protocolsOwn: Set<String> {
        [
            "te", "content-type", "connection", "user-agent", "host", "keep-alive", "proxy-connection",
            "transfer-encoding", "upgrade",
        ]
    }
}
