import IdentityDomain
import JOSE
import Models
import Testing

struct RefreshTokenTests {
    private let sessionID = SessionID(high: 0x0123_4567_89ab_7def, low: 0x8123_4567_89ab_cdef)
    private let nonce = (0..<16).map { UInt8($0 * 3) }
    private let keys: RefreshKeys

    init() throws {
        keys = try #require(RefreshKeys([[UInt8](repeating: 7, count: 32)]))
    }

    @Test(arguments: [0, 1, 255, 256, 0x0102_0304, UInt32.max])
    func `A minted token comes back`(number: UInt32) {
        let token = RefreshToken(sessionID: sessionID, number: number, nonce: nonce)
        let text = keys.mint(token)
        #expect(text.hasPrefix("vrt1_"))
        #expect(keys.verify(text) == token)
        #expect(keys.mint(token) == text, "a successor can be made again")
    }

    @Test func `The layout is fixed`() throws {
        let token = RefreshToken(sessionID: sessionID, number: 0x0102_0304, nonce: nonce)
        let bytes = try #require(Base64URL.decode(keys.mint(token).dropFirst(5)))
        #expect(Array(bytes[..<16]) == sessionID.bytes)
        #expect(Array(bytes[16..<20]) == [1, 2, 3, 4])
        #expect(Array(bytes[20..<36]) == nonce)
        let key = [UInt8](repeating: 7, count: 32)
        #expect(Array(bytes[36...]) == SHA256.authenticationCode(of: Array(bytes[..<36]), key: key))
    }

    @Test func `Every changed byte is refused`() throws {
        let text = keys.mint(RefreshToken(sessionID: sessionID, number: 5, nonce: nonce))
        let bytes = try #require(Base64URL.decode(text.dropFirst(5)))
        for index in bytes.indices {
            for bit in 0..<8 {
                var tampered = bytes
                tampered[index] ^= 1 << UInt8(bit)
                #expect(keys.verify("vrt1_" + Base64URL.encode(tampered)) == nil)
            }
        }
        let characters = Array(text.utf8)
        for index in characters.indices {
            var tampered = characters
            tampered[index] = characters[index] == UInt8(ascii: "x") ? UInt8(ascii: "y") : UInt8(ascii: "x")
            #expect(keys.verify(String(decoding: tampered, as: UTF8.self)) == nil)
        }
        for count in 0..<text.count {
            #expect(keys.verify(String(text.prefix(count))) == nil)
        }
        for suffix in ["A", "AA", "=", "\n", String(repeating: "A", count: 100_000)] {
            #expect(keys.verify(text + suffix) == nil)
        }
    }

    @Test func `Keys rotate`() throws {
        let old = [UInt8](repeating: 7, count: 32)
        let new = [UInt8](repeating: 8, count: 32)
        let token = RefreshToken(sessionID: sessionID, number: 5, nonce: nonce)
        let both = try #require(RefreshKeys([new, old]))
        let onlyNew = try #require(RefreshKeys([new]))
        #expect(both.verify(keys.mint(token)) == token)
        #expect(onlyNew.verify(both.mint(token)) == token)
        #expect(onlyNew.verify(keys.mint(token)) == nil)
    }

    @Test func `Keys have one length, and there is a maximum of them`() {
        #expect(RefreshKeys([]) == nil)
        #expect(RefreshKeys([[UInt8](repeating: 1, count: 31)]) == nil)
        #expect(RefreshKeys([[UInt8](repeating: 1, count: 33)]) == nil)
        #expect(RefreshKeys(Array(repeating: [UInt8](repeating: 1, count: 32), count: 9)) == nil)
    }

    @Test func `Prints no secret`() {
        let token = RefreshToken(sessionID: sessionID, number: 5, nonce: nonce)
        #expect("\(token)" == "RefreshToken(session \(sessionID), number 5)")
        #expect("\(keys)" == "RefreshKeys(1)")
    }
}
