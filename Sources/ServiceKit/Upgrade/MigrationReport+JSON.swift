import FoundationEssentials

extension MigrationReport {
    /// The report as one line of JSON.
    public func json() throws -> String { try Self.line(of: self) }

    /// Reads such a line.
    public init(json: String) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self = try decoder.decode(MigrationReport.self, from: Data(json.utf8))
    }

    /// The value as one line of JSON, in the form of a report.
    public static func line(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
