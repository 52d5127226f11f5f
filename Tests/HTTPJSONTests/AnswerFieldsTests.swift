import HTTPTypes
import JOSE
import RPC
import Testing

@testable import HTTPJSON

struct AnswerFieldsTests {
    private let fields = AnswerFields(strictTransportSeconds: 60)

    private func packed(_ response: Response) -> [String] {
        fields.packed(response, requestID: "id", origin: nil).map { "\($0.name): \($0.value)" }.sorted()
    }

    private static let security = [
        "cache-control: no-store", "content-security-policy: default-src 'none'; frame-ancestors 'none'",
        "referrer-policy: no-referrer", "strict-transport-security: max-age=60", "x-content-type-options: nosniff",
        "x-request-id: id",
    ]

    @Test func `Every answer has the same, once`() {
        let json = (Self.security + ["content-type: application/json"]).sorted()
        #expect(packed(.json([:])) == json)
        #expect(packed(.json([:], headers: [.xContentTypeOptions: "nosniff"])) == json, "the other way is the same")
        #expect(packed(Response(status: .noContent)) == Self.security.sorted())
        #expect(packed(Response(status: .ok, contentType: "text/plain")).contains("content-type: text/plain"))
    }

    @Test func `A route's own header fields take precedence`() {
        let page = Response(
            status: .ok,
            headers: [.contentType: "text/html", .contentSecurityPolicy: "own", .cacheControl: "max-age=5"],
            contentType: "application/json"
        )
        let all = packed(page)
        #expect(all.contains("content-type: text/html") && all.contains("content-security-policy: own"))
        #expect(all.contains("cache-control: max-age=5") && all.count == Self.security.count + 1)
    }

    @Test func `The transport's own are left out`() {
        let all = packed(Response(status: .ok, headers: [.connection: "close", .contentLength: "5", .requestID: "x"]))
        #expect(all == Self.security.sorted())
    }

    @Test func `No value makes two fields of one`() {
        var packed: [UInt8] = []
        packed.appendField(.location, "/a\r\nset-cookie: b=c\u{7f}\0")
        #expect(Metadata(packed: packed).map { [$0.name, $0.value] } == [["location", "/aset-cookie: b=c"]])
    }
}
