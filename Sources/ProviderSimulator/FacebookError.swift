import HTTPJSON
import HTTPTypes
import JOSE

/// An error of Facebook's Graph API.
struct FacebookError: Error, Hashable {
    var code: Int64
    var message: String
    var type: String
    var subcode: Int64?

    init(_ code: Int64, _ message: String, type: String = "OAuthException", subcode: Int64? = nil) {
        self.code = code
        self.message = message
        self.type = type
        self.subcode = subcode
    }

    static let cannotParse = FacebookError(190, "Invalid OAuth access token - Cannot parse access token")
    static let expired = FacebookError(190, "Error validating access token: Session has expired.", subcode: 463)

    /// The error as part of the response of `debug_token`.
    var debugBody: JSONObject {
        var body: JSONObject = ["code": .integer(code), "message": .string(message)]
        if let subcode { body["subcode"] = .integer(subcode) }
        return body
    }

    var response: Response {
        var error: JSONObject = ["message": .string(message), "type": .string(type), "code": .integer(code)]
        if let subcode { error["error_subcode"] = .integer(subcode) }
        error["fbtrace_id"] = "SimulatedTrace"
        return .json(["error": .object(error)], status: .badRequest)
    }
}
