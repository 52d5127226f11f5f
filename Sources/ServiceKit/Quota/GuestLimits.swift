/// What a guest account may hold, where that is less than what others may: a guest account costs its maker a proof of work alone.
public enum GuestLimits {
    /// The longest text of what an app keeps with a guest's account, in bytes.
    public static let metadataBytesMax = 2_048
}
