import API
import SwiftProtobuf
import Testing

@testable import GatewayService

struct RFC3339Tests {
    @Test(arguments: [Int64.min, .min + 1, -1, 0, 1, .max - 1, .max])
    func `A time of any size is written and read without a trap`(time: Int64) {
        #expect(!RFC3339.text(milliseconds: time).isEmpty)
        // Within the first second that there is, whole seconds are before it.
        let back = Google_Protobuf_Timestamp(milliseconds: time).milliseconds
        #expect(back == (time < .min + 1_000 ? .min : time))
        var moment = Google_Protobuf_Timestamp(seconds: time)
        #expect(moment.milliseconds == (time.magnitude > 1 ? (time < 0 ? .min : .max) : time * 1000))
        moment.nanos = time < 0 ? .min : .max
        _ = moment.milliseconds
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (1, "1970-01-01T00:00:00.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_399_999, "2000-02-28T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_709_164_800_000, "2024-02-29T00:00:00.000Z"), (1_769_903_999_123, "2026-01-31T23:59:59.123Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    ])
    func `Moments are written as RFC 3339 has them`(milliseconds: Int64, text: String) {
        #expect(RFC3339.text(milliseconds: milliseconds) == text)
    }
}
