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
    /// What a profile may lack, in the order in which to ask for it.
    static let missingField = oneOf(["display_name", "phone_number", "username"])
}
