import HTTPTypes
import JOSE

extension Response {
    /// The type of JSON (RFC 8259 section 11).
    static let jsonType = "application/json"

    /// An answer with a JSON object.
    public static func json(
        _ body: JSONObject,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = HTTPFields()
    ) -> Response {
        Response(status: status, headers: headers, body: ResponseBody(body.serialized()), contentType: jsonType)
    }

    /// An answer with a JSON object whose members are written one by one.
    public static func json(
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = HTTPFields(),
        addMembers: (inout JSONWriter) -> Void
    ) -> Response {
        Response(
            status: status,
            headers: headers,
            body: ResponseBody(JSONWriter.object(addMembers)),
            contentType: jsonType
        )
    }

    /// An answer with a text that is JSON already.
    public static func json(
        bytes: some Sequence<UInt8>,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = HTTPFields()
    ) -> Response {
        Response(status: status, headers: headers, body: ResponseBody(bytes: bytes), contentType: jsonType)
    }
}
