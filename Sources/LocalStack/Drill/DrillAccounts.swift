import Glibc
import ServiceKit

/// A file of made-up accounts, as Firebase exports them, for `vestibule import`.
enum DrillAccounts {
    /// A million numbers are of this network, and none of a phone of the drill.
    private static let numberPrefix = "+63918"
    /// Seven digits follow.
    static let countMax = 9_999_999
    private static let linesPerWrite = 5_000

    /// Writes so many accounts, each with an identity at Google, a name and a proven number.
    static func write(_ count: Int, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError.lastError("\(path) cannot be made") }
        defer { close(descriptor) }
        for start in stride(from: 0, to: count, by: linesPerWrite) {
            var text = ""
            for number in start..<min(start + linesPerWrite, count) { text += line(number) }
            var bytes = Array(text.utf8)[...]
            while !bytes.isEmpty {
                let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                guard written > 0 else { throw FileError.lastError("\(path) cannot be written") }
                bytes = bytes.dropFirst(written)
            }
        }
    }

    /// One account, a line of JSON.
    static func line(_ number: Int) -> String {
        let digits = String(number)
        let phone = numberPrefix + String(repeating: "0", count: 7 - digits.count) + digits
        return """
            {"localId":"drill-\(number)","displayName":"Person \(number)","phoneNumber":"\(phone)",\
            "createdAt":"1700000000000","providerUserInfo":[{"providerId":"google.com","rawId":"drill-\(number)"}]}

            """
    }
}
