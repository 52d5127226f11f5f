import RPC

/// Where a request comes from, and its deadline.
struct ProfileCaller: Sendable {
    /// The code of the address; nil if unknown.
    let addressCode: [UInt8]?
    /// When the call must have ended.
    let deadline: Deadline?
}
