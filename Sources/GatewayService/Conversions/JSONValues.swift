import API
import JOSE
import SwiftProtobuf

extension JSONWriter {
    /// Adds a member that is a moment, in milliseconds, or null.
    mutating func add(_ name: StaticString, _ moment: Google_Protobuf_Timestamp?) {
        guard let moment else { return addNull(name) }
        add(name, RFC3339.text(milliseconds: moment.milliseconds))
    }
}

extension OpenAPI.Schema {
    // Lengths count code points, and the rules characters as people count them, of which one may be several code points:
    // so these are the lengths that no name or number can have.

    /// The name of a person whom a client adds.
    static let newContactName = text("1 to 50 characters as people count them.", minLength: 1, maxLength: 4000)
    /// A phone number that a client sends.
    static let newPhoneNumber = text(
        "In any notation of the configured region.",
        minLength: 4,
        maxLength: phoneNumberBytesMax
    )
    private static let phoneNumberBytesMax = 128

    /// A phone number in a response.
    static func phoneNumberOrNull(_ description: String) -> Self {
        text(description, pattern: "^[+][1-9][0-9]{3,14}$", orNull: true)
    }

    /// What a profile may lack, in the order in which to ask for it.
    static let missingField = oneOf(["display_name", "phone_number", "username"])
}
