import HTTPTypes
import JOSE

extension Response {
    /// The type of JSON (RFC 8259 section 11).
    static let jsonType = "application/json"

    /// An answer with a JSON object.
    public static func json(
        _ body: JSONObject,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) -> Response {
        json(bytes: body.serialized(), status: status, headers: headers)
    }

    /// An answer with a text that is JSON already.
    public static func json(
        bytes: some Sequence<UInt8>,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) -> Response {
        Response(status: status, headers: headers, body: ResponseBody(bytes: bytes), contentType: jsonType)
    }
}
