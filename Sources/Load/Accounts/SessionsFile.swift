import FoundationEssentials

/// A file with the tokens of sessions that are there: a line each, the access token, and behind a space the refresh token where the
/// scenario refreshes. Nothing of it is printed.
enum SessionsFile {
    /// The longest file, in bytes.
    static let bytesMax = 1 << 30

    /// An account for each line. Throws `LoadError` if the file can't be read, or there are fewer of them than workers or more than
    /// ``LoadPlan/preparedMax``.
    static func accounts(_ path: String, countMin: Int) throws(LoadError) -> [Account] {
        let content: Data
        do {
            content = try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)
        } catch {
            throw LoadError("\(path) cannot be read")
        }
        guard content.count <= bytesMax else { throw LoadError("\(path) has more than \(bytesMax) bytes") }
        let lines = content.split(separator: UInt8(ascii: "\n"))
        guard countMin...LoadPlan.preparedMax ~= lines.count else {
            throw LoadError("\(path) has \(lines.count) sessions; there must be \(countMin) to \(LoadPlan.preparedMax)")
        }
        return lines.enumerated().map { number, line in
            let tokens = line.split(separator: UInt8(ascii: " "), maxSplits: 1).map {
                String(decoding: $0, as: UTF8.self)
            }
            return Account(
                email: "load-\(number)@example.com",
                tokens: SessionTokens(
                    accessToken: tokens.first ?? "",
                    refreshToken: tokens.count > 1 ? tokens[1] : "",
                    profileProof: nil
                )
            )
        }
    }
}
