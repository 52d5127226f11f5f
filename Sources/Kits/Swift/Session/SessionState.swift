/// Whether a user is signed in.
public enum SessionState: Sendable, Hashable {
    /// There is a session of this user, who may be a guest: see ``Vestibule/signInAsGuest(deviceName:deadline:)``.
    case signedIn(userID: String, isGuest: Bool = false)
    /// There is none. The reason is the code with which the server ended it, or why it can't be read; nil if the user signed out, or
    /// never signed in.
    case signedOut(reason: VestibuleError.Code?)

    /// The user who is signed in; nil if there is none.
    var userID: String? {
        if case .signedIn(let userID, _) = self { userID } else { nil }
    }
}
