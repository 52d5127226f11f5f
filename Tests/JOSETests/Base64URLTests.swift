import JOSE
import Testing

struct Base64URLTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"),
    ])
    func `Encodes and decodes the examples of RFC 4648`(plain: String, encoded: String) {
        #expect(Base64URL.encode(plain.utf8) == encoded)
        #expect(Base64URL.decode(encoded) == Array(plain.utf8))
    }

    @Test func `Every byte value comes back`() {
        let bytes = (0...255).map { UInt8($0) }
        for count in 0...bytes.count {
            #expect(Base64URL.decode(Base64URL.encode(bytes.prefix(count))) == Array(bytes.prefix(count)))
        }
    }

    @Test(arguments: ["Zg==", "Zg=", "Z", "Zm9vY", "Zm 9v", "Zm9v\n", "+/+/", "Zm9ü", "Zh", "Zm9"])
    func `Padding, other alphabets and stray bits are refused`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
