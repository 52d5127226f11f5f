/// Error codes of RFC 9113 section 7 that this side sends.
enum HTTP2Error {
    static let internalError: UInt32 = 2
    static let cancel: UInt32 = 8
}
