/// How a gateway passes on the display name of the user who calls, for methods that keep it.
public enum CallerName {
    /// The metadata of the name's UTF-8 bytes; absent for a user without one.
    public static let metadataName = "vestibule-caller-name-bin"
}
