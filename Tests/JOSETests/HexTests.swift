import Testing

@testable import JOSE

struct HexTests {
    @Test func `Digits in capitals or not are bytes, and anything else is none`() {
        #expect(Hex.decode("00fFa9") == [0, 255, 169])
        #expect(Hex.decode("") == [])
        for text in ["0", "0g", "g0", " 00", "0x00", "0–", "００"] { #expect(Hex.decode(text) == nil, "\(text)") }
        let all = (0...255).map(UInt8.init)
        #expect(Hex.decode(Hex.encode(all)) == all)
    }
}
