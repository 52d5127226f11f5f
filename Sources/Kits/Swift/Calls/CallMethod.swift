/// What the kit knows of a method of the API.
@usableFromInline
package struct CallMethod: Sendable, Hashable {
    package enum Caller: Sendable { case user, anyone, userOrAnyone }

    /// `vestibule.app.v1.GroupService/CreateGroup`.
    package let path: String
    package let caller: Caller
    /// Whether a repeated call has the effect of one.
    package let isIdempotent: Bool
    /// The field of the request that makes it so.
    package let idempotencyKey: String?

    init(_ path: String, caller: Caller, isIdempotent: Bool, idempotencyKey: String? = nil) {
        self.path = path
        self.caller = caller
        self.isIdempotent = isIdempotent
        self.idempotencyKey = idempotencyKey
    }
}
