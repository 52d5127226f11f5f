import Models

/// A name that a provider told the app, to be offered as display name.
public enum ProviderGivenName {
    /// The name, trimmed, if it could be a display name; nil otherwise. A bad name is dropped and never a reason to
    /// refuse a sign-in: the person can type one, but a lost first sign-in cannot be had again.
    public static func accept(_ text: String) -> String? {
        try? DisplayName(text).value
    }
}

/// A device as its owner's app calls it.
public enum DeviceName {
    /// The name, trimmed, or nil if it cannot be shown.
    public static func accept(_ text: String) -> String? {
        try? DisplayName(text).value
    }

    /// The name that a person gives a device, trimmed.
    ///
    /// - Throws: `deviceNameInvalid` if it cannot be shown.
    public static func check(_ text: String) throws(IdentityError) -> String {
        do throws(TextError) {
            return try DisplayName(text).value
        } catch {
            throw .deviceNameInvalid(error)
        }
    }
}
