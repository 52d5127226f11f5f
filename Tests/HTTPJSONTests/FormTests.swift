import HTTPClients
import HTTPTypes
import JOSE
import Logging
import Testing

@testable import HTTPJSON

/// Forms as a route reads them.
struct FormTests {
    private static func send(_ body: [UInt8], type: String? = "application/x-www-form-urlencoded") async throws -> (
        status: Int, body: JSONObject
    ) {
        let route = Route(.post, "/form") { request, context in
            let form = try await context.form(request)
            return .json([
                "names": .array(form.fields.map { .string($0.name) }),
                "values": .array(form.fields.map { .string($0.value) }),
                "repeated": form.repeatedName.map { .string($0) } ?? .null,
            ])
        }
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        let limits = HTTPLimits(requestTimeout: .seconds(60), bodyBytesMax: 4096)
        let handler = RouteHandler(routes: [route], configuration: .init(limits: limits), logger: quiet)
        var headers: HTTPFields = [:]
        headers[.contentType] = type
        let response = try await HandlerClient(handler).send(.post, "/form", headers: headers, body: body)
        return (response.status.code, try JSONObject(parsing: response.body))
    }

    @Test(arguments: [
        "application/x-www-form-urlencoded", "Application/X-WWW-Form-URLEncoded;charset=UTF-8",
        "application/x-www-form-urlencoded ; x=y",
    ])
    func `A form is read`(type: String) async throws {
        let (status, body) = try await Self.send(Array("a=1&b=x+y%26%3d%E2%82%AC&empty=&bare&=n".utf8), type: type)
        #expect(status == 200)
        #expect(body["names"] == ["a", "b", "empty", "bare", ""])
        #expect(body["values"] == ["1", "x y&=€", "", "", "n"])
        #expect(body["repeated"] == .null)
    }

    @Test(arguments: ["a=1&a=2", "a=1&%61=1", "a&b=1&a"])
    func `A repeated name is reported`(form: String) async throws {
        #expect(try await Self.send(Array(form.utf8)).body["repeated"] == "a")
    }

    @Test(arguments: [
        "a=%", "a=%4", "a=%zz", "%=1", "a=%ff", "a=%c0%80", "a=%ed%a0%80",
        (0...FormFields.fieldsMax).map { "f\($0)" }.joined(separator: "&"),
    ])
    func `A malformed form is refused`(form: String) async throws {
        let (status, body) = try await Self.send(Array(form.utf8))
        #expect(status == 400 && body["code"] == "FORM_MALFORMED")
    }

    @Test func `What is encoded is read as it was`() throws {
        let all = String(String.UnicodeScalarView((0...0x2fff).compactMap(Unicode.Scalar.init))) + "😀"
        #expect(FormFields.encode("aZ09-._~ +&%/€") == "aZ09-._~%20%2B%26%25%2F%E2%82%AC")
        let fields = try FormFields(parsing: Array("\(FormFields.encode(all))=\(FormFields.encode(""))&plain".utf8))
            .fields
        #expect(fields.map(\.name) == [all, "plain"] && fields.map(\.value) == ["", ""])
    }

    @Test func `What is escaped is text wherever it stands`() {
        #expect(
            HTMLText.escaped("<a href=\"x\" title='y'>Zoë & 😀</a>")
                == "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;Zoë &amp; 😀&lt;/a&gt;"
        )
        #expect(HTMLText.escaped("Zoë 😀") == "Zoë 😀" && HTMLText.escaped("").isEmpty)
    }

    @Test func `Bytes that are not text are refused`() async throws {
        #expect(try await Self.send([0x61, 0x3d, 0xff]).body["code"] == "FORM_MALFORMED")
    }

    @Test(arguments: [nil, "", "application/json", "multipart/form-data; boundary=x", "text/plain"])
    func `Another type is refused`(type: String?) async throws {
        let (status, body) = try await Self.send(Array("a=1".utf8), type: type)
        #expect(status == 415 && body["code"] == "CONTENT_TYPE_UNSUPPORTED")
    }

    @Test func `A form over the limit is refused`() async throws {
        let (status, body) = try await Self.send(Array(("a=" + String(repeating: "b", count: 4095)).utf8))
        #expect(status == 413 && body["code"] == "BODY_TOO_LARGE")
        #expect(try await Self.send(Array(("a=" + String(repeating: "b", count: 4094)).utf8)).status == 200)
    }
}
