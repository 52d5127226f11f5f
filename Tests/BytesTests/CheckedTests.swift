import Bytes
import Testing

struct CheckedTests {
    @Test func `Arithmetic within the type gives its result`() {
        #expect((Checked<Int64>(7) - 10 + 1).value == -2)
        #expect((Checked<UInt8>(15) * 17).value == 255)
        #expect((Checked<Int>(3) + Checked(4) - Checked(2) * Checked(2)).value == 3)
        #expect(Checked<UInt8>(exactly: 255).value == 255)
    }

    @Test func `An overflow has no value, and neither has a result of it`() {
        #expect((Checked<Int64>(0) - .min).value == nil)
        #expect((Checked<Int64>(.max) + 1).value == nil)
        #expect((Checked<UInt64>(1) - 2 + 5).value == nil)
        #expect((Checked<Int64>(.min) * -1).value == nil)
        #expect((Checked<Int64>(1) + (Checked(.max) + 1)).value == nil)
        #expect((Checked<Int64>(1) - (Checked(.max) + 1)).value == nil)
        #expect((Checked<Int64>(0) * (Checked(.max) + 1)).value == nil)
        #expect(Checked<UInt8>(exactly: 256).value == nil)
        #expect(Checked<UInt8>(exactly: -1).value == nil)
    }
}
