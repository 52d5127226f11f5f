import Testing

@testable import RPC

struct MetadataTests {
    @Test func `Keeps order and repetition`() {
        var metadata = Metadata()
        metadata.add("X-One", "1")
        metadata.add("x-two", "2")
        metadata.add("x-one", "3")
        #expect(metadata.all("x-one") == ["1", "3"])
        #expect(metadata.first("x-two") == "2")
        #expect(metadata.first("x-three") == nil)
        #expect(metadata.map { "\($0.name)=\($0.value)" } == ["x-one=1", "x-two=2", "x-one=3"])
        #expect(Metadata().isEmpty)
    }

    @Test func `Drops what a text value may not hold`() {
        #expect(Metadata(["x": "a\r\nb\u{e9}c\u{7f}"]).first("x") == "abc")
    }

    @Test(arguments: [[], [0], [255, 0], [1, 2, 3], Array(0...255)] as [[UInt8]])
    func `Binary values come back as they were`(_ bytes: [UInt8]) {
        var metadata = Metadata()
        metadata.addBinary("x-data", bytes)
        #expect(metadata.firstBinary("x-data-bin") == bytes)
        #expect(metadata.first("x-data-bin")?.contains("=") == false)
    }

    /// In front, in the middle and at the end of enough bytes that the compiler looks at many at once.
    @Test(arguments: UInt8.min...0x7f)
    func `Every byte of ASCII is taken or left out wherever it stands`(_ byte: UInt8) {
        let (some, letter) = (String(repeating: "x", count: 40), String(UnicodeScalar(byte)))
        for text in [letter + some, some + letter + some, some + letter] {
            var metadata = Metadata()
            metadata.add(text, text)
            let isText = byte >= 0x20 && byte <= 0x7e
            #expect(metadata.map(\.name) == [text.lowercased()])
            #expect(metadata.map(\.value) == [isText ? text : text.replacing(letter, with: "")])
        }
    }

    @Test func `A name is lowercased beyond ASCII as well`() {
        #expect(Metadata(["ÄTHER": "1"]).map(\.name) == ["äther"])
    }

    @Test(arguments: [0, 1, 9, 10, 15, 16, 0x9a9a_afaf_f0f0_0f0f, 0x0123_4567_89ab_cdef, UInt64.max])
    func `Numbers are written in sixteen digits`(_ number: UInt64) {
        let digits = String(number, radix: 16)
        let sixteen = String(repeating: "0", count: 16 - digits.count) + digits
        #expect(String(hexadecimal: number, ~number).prefix(16) == sixteen)
        #expect(String(hexadecimal: ~number, number).suffix(16) == sixteen)
    }

    @Test func `Stops at an entry that is cut short`() {
        let whole = Metadata(["name": "value", "other": "thing"]).packed
        for length in 0..<whole.count {
            let cut = Metadata(packed: Array(whole.prefix(length)))
            #expect(cut.all("other").isEmpty)
        }
    }
}

struct Base64Tests {
    /// RFC 4648 section 10.
    static let examples: [(String, String)] = [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ]

    @Test(arguments: examples) func `Reads with and without padding`(_ plain: String, _ padded: String) {
        let bare = padded.filter { $0 != "=" }
        #expect(Base64.decode(padded.utf8) == Array(plain.utf8))
        #expect(Base64.decode(bare.utf8) == Array(plain.utf8))
        #expect(String(decoding: Base64.encode(Array(plain.utf8)), as: UTF8.self) == bare)
    }

    @Test(arguments: ["A", "AAAAA", "A===", "Zg=", "Zm8==", "=", "====", "Zm9v=", "Z g=", "Zg-_", "Z=g="])
    func `Refuses what no bytes encode to`(_ text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }
}

struct DeadlineTests {
    @Test func `A deadline remains within its duration`() {
        let deadline = Deadline.after(.seconds(5))
        #expect(deadline.remaining <= .seconds(5))
        #expect(deadline.remaining > .seconds(4))
        #expect(!deadline.hasPassed)
        #expect(Deadline.after(.seconds(-1)).hasPassed)
        #expect(Deadline.after(.zero).remaining == .zero)
        #expect(Deadline.after(.seconds(Int64.max)) > deadline, "an endless duration does not overflow")
    }

    @Test func `Codes outside the table are unknown`() {
        #expect(Status.Code(wire: 16) == .unauthenticated)
        #expect(Status.Code(wire: 17) == .unknown)
        #expect(Status.Code(wire: -1) == .unknown)
        #expect(Status.Code.allCases.map(\.rawValue) == Array(0...16))
    }
}
