import ServiceKit
import Testing

struct SecretTests {
    @Test func `Shows as stars however it is printed`() {
        struct Holder {
            let password = Secret("hunter2")
            let name = "role"
        }
        var dumped = ""
        dump(Holder(), to: &dumped)
        for text in ["\(Secret("hunter2"))", String(reflecting: Secret("hunter2")), "\(Holder())", dumped] {
            #expect(!text.contains("hunter2"))
            #expect(text.contains("***"))
        }
        #expect(!dumped.contains("104"))  // the first byte, as a number
    }

    @Test func `Gives its bytes to who asks for them`() {
        #expect(Secret("hunter2").bytes == Array("hunter2".utf8))
        #expect(Secret([0xff, 0x41]).text == "\u{FFFD}A")
    }
}
