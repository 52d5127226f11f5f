import RPC

/// Who wants a profile changed, and from where.
struct ProfileCaller: Sendable {
    /// The code of the address, nil if it isn't told.
    let addressCode: [UInt8]?
    /// When the call must have ended.
    let deadline: Deadline?
}
