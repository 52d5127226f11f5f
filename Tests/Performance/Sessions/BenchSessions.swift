import ArgumentParser
import FoundationEssentials
import Glibc
import IdentityDomain
import JOSE
import Models

/// Prints the tokens of sessions whose rows the benchmark makes by SQL, a line each: access token, space, refresh token. What identity
/// makes of a sign-in, without the sign-in.
@main
struct BenchSessions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench-sessions",
        abstract: "Mints the tokens of sessions that are numbered from 1."
    )

    /// The nonce of each row.
    private static let nonce: [UInt8] = (0..<16).map { $0 << 4 | $0 }
    /// Bytes that are gathered before they are written.
    private static let writtenTogether = 1 << 20

    @Option(help: "PEM file of the key that signs.")
    var signingKey: String
    @Option(help: "File of the refresh key.")
    var refreshKey: String
    @Option(help: "The issuer.")
    var issuer: String
    @Option(help: "The audience of access tokens.")
    var audience: String
    @Option(help: "The app's client id.")
    var clientID: String
    @Option(help: "For how long access tokens are valid, in seconds.")
    var seconds: Int64 = 3_600
    @Option(help: "The first session's number.")
    var first = 1
    @Option(help: "How many sessions.")
    var count: Int
    @Option(help: "The distance between their numbers.")
    var step = 1

    func run() throws {
        guard let refreshKeys = RefreshKeys([Array(try Data(contentsOf: URL(filePath: refreshKey)))]) else {
            throw ValidationError("\(refreshKey) holds no refresh key")
        }
        let key = try SigningKey(pem: String(contentsOfFile: signingKey, encoding: .utf8))
        let tokens = TokenIssuer(
            issuer: issuer,
            audience: audience,
            lifetimeSeconds: seconds,
            signingKey: key,
            refreshKeys: refreshKeys
        )
        let now = Int64(time(nil))
        var lines = ""
        for number in stride(from: first, to: first + count * step, by: step) {
            lines += try line(number, tokens, refreshKeys, now)
            guard lines.utf8.count >= Self.writtenTogether else { continue }
            print(lines, terminator: "")
            lines = ""
        }
        print(lines, terminator: "")
    }

    /// Session and account of number n have the id that n's decimal digits are, with zeros before them.
    private func line(
        _ number: Int,
        _ tokens: TokenIssuer,
        _ refreshKeys: RefreshKeys,
        _ now: Int64
    ) throws -> String {
        let digits = String(repeating: "0", count: 32 - String(number).count) + String(number)
        var bytes: [UInt8] = []
        for index in 0..<16 {
            guard let byte = UInt8(digits.dropFirst(2 * index).prefix(2), radix: 16) else {
                preconditionFailure("no digits")
            }
            bytes.append(byte)
        }
        guard let user = UserID(bytes: bytes), let session = SessionID(bytes: bytes),
            let google = ProviderName("google")
        else {
            preconditionFailure("16 bytes are an id")
        }
        let facts = SessionFacts(
            userID: user,
            sessionID: session,
            provider: google,
            clientID: clientID,
            signedInAtSeconds: now,
            proof: .nonce
        )
        let access = try tokens.accessToken(
            for: facts,
            number: 0,
            tokenID: Base64URL.encode(SecureRandom.bytes(16)),
            nowSeconds: now
        )
        return "\(access) \(refreshKeys.mint(RefreshToken(sessionID: session, number: 0, nonce: Self.nonce)))\n"
    }
}
