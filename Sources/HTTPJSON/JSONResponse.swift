import HTTPTypes
import Hummingbird
import JOSE
import NIOCore

extension Response {
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
        var headers = headers
        headers[.contentType] = "application/json"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
