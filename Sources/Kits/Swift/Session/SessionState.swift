/// Whether a user is signed in.
public enum SessionState: Sendable, Hashable {
    /// There is a session of this user.
    case signedIn(userID: String)
    /// There is none. The reason is the code with which the server ended it, or why it can't be read; nil if the user signed out, or
    /// never signed in.
    case signedOut(reason: VestibuleError.Code?)
}
