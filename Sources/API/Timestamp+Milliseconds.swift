import SwiftProtobuf

extension Google_Protobuf_Timestamp {
    /// The moment of Unix milliseconds.
    public init(milliseconds: Int64) {
        let rest = milliseconds % 1000
        let seconds = rest < 0 ? milliseconds / 1000 - 1 : milliseconds / 1000
        self.init(seconds: seconds, nanos: Int32(rest < 0 ? rest + 1000 : rest) * 1_000_000)
    }

    /// Whole milliseconds since 1970; the first or last there is if they don't fit.
    public var milliseconds: Int64 {
        let (product, isOver) = seconds.multipliedReportingOverflow(by: 1000)
        let (sum, isOverToo) = product.addingReportingOverflow(Int64(nanos) / 1_000_000)
        return isOver || isOverToo ? (seconds < 0 ? .min : .max) : sum
    }
}
