/// One field of a request that is at fault (`google.rpc.BadRequest.FieldViolation`).
public struct FieldViolation: Sendable, Hashable {
    /// The field as requests name it, such as `phone_number`.
    public var field: String
    /// The fault, for people.
    public var description: String
    /// The fault, for programs: a stable word such as `PHONE_INVALID`; empty if there is none.
    public var reason: String

    /// Makes a violation.
    public init(field: String, description: String, reason: String = "") {
        self.field = field
        self.description = description
        self.reason = reason
    }
}
