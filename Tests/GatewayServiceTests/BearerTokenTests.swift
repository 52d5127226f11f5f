import RPC
import Testing

@testable import GatewayService
@testable import HTTPJSON

struct BearerTokenTests {
    private static func token(_ value: String) throws(Problem) -> String? {
        var metadata = Metadata()
        metadata.add("authorization", value)
        return try Authentication.token(RequestFields(metadata))
    }

    /// RFC 6750 section 2.1.
    private static let characters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=".utf8)

    @Test func `Each character is taken or refused wherever it stands`() throws {
        for length in [1, 15, 16, 17, 31, 32, 33, 600] {
            for place in Set([0, length / 2, length - 1]) {
                for byte in UInt8(0x21)...0x7e {
                    var bytes = [UInt8](repeating: UInt8(ascii: "t"), count: length)
                    bytes[place] = byte
                    let token = String(decoding: bytes, as: UTF8.self)
                    if Self.characters.contains(byte) {
                        #expect(try Self.token("Bearer \(token)") == token)
                    } else {
                        #expect(throws: Problem.self) { try Self.token("Bearer \(token)") }
                    }
                }
            }
        }
    }

    @Test(arguments: ["Bearer  abc", "bearer abc", "BEARER   abc", "bEaReR abc"])
    func `The scheme is read in capitals or not, and spaces may follow it`(_ value: String) throws {
        #expect(try Self.token(value) == "abc")
    }

    @Test(arguments: ["", "Basic abc", "Beare abc", "Bearerabc", "Bearers abc", "Bear", "abc"])
    func `Another scheme is no token`(_ value: String) throws {
        #expect(try Self.token(value) == nil)
    }

    @Test(arguments: ["Bearer", "Bearer ", "Bearer a b", "Bearer a ", "Bearer \(String(repeating: "a", count: 8_193))"])
    func `A bearer token that cannot be one is refused`(_ value: String) {
        #expect(throws: Problem.self) { try Self.token(value) }
    }
}
