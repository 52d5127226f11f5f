import Glibc

/// This machine's clock, for answers that tell a moment.
enum UnixTime {
    /// Whole seconds since 1970.
    static func nowSeconds() -> Int64 { Int64(time(nil)) }
}
