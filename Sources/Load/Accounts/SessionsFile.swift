import FoundationEssentials

/// A file with the tokens of existing sessions. Each line has an access token and, if the scenario refreshes, a space and the
/// refresh token. Tokens are never printed.
enum SessionsFile {
    /// The maximum size of the file in bytes.
    static let bytesMax = 1 << 30

    /// An account for each line. Throws `LoadError` if the file can't be read, or if it has fewer lines than there are workers or
    /// more than ``LoadPlan/preparedMax``.
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
