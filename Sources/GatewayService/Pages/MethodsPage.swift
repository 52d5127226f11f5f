import HTTPJSON
import HTTPTypes
import RPC

/// The page of development: what can be asked here, each with a line for a shell.
///
/// Nothing that anybody sent stands in it but the name by which the gateway was asked, and that only if it can mean nothing
/// else to a shell. Nothing may be loaded, run, framed or sent.
struct MethodsPage: Sendable {
    fileprivate struct Entry: Sendable {
        let title: String
        let summary: String
        let call: CallExample?
    }

    private let calls: [Entry]
    private let requests: [Entry]
    private let otherName: String

    /// A page about every method and these routes.
    ///
    /// - Parameter address: host and port to show where a request says none that could be shown.
    init(_ operations: [OpenAPI.Operation], address: String) {
        let examples = MethodExample.all
        calls = examples.map { Entry(title: $0.title, summary: $0.summary, call: $0.call) }
        requests = operations.map {
            Entry(title: "\($0.method.rawValue) \($0.path)", summary: "\($0.summary).", call: RouteExamples.request($0))
        }
        otherName = address
    }

    /// `GET /`. It is in no description, since it is for people.
    var route: Route {
        Route(.get, "/", isForOtherOrigins: false) { request, context in
            response(authority: request.authority ?? "", isEncrypted: context.peer.isEncrypted)
        }
    }

    /// The page, with lines that call the gateway as it was called.
    func response(authority: String, isEncrypted: Bool) -> Response {
        let name = Self.isPlain(authority) ? authority : otherName
        let base = "\(isEncrypted ? "https" : "http")://\(name)"
        let html = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Vestibule</title>
            </head>
            <body>
            <h1>Vestibule</h1>
            <p>What this gateway answers, each with a line for a shell. Set these variables first:</p>
            <dl>
            \(Self.variables.map { "<dt><code>\($0)</code></dt><dd>\(HTMLText.escaped($1))</dd>" }.joined(separator: "\n"))
            </dl>
            <h2>Methods</h2>
            <p>By Connect, as the lines call them, by gRPC-Web and by gRPC, on this port: proto/vestibule/app/v1.</p>
            \(calls.map { $0.html(base) }.joined(separator: "\n"))
            <h2>Routes</h2>
            <p>Their description is at <a href="/openapi.json">/openapi.json</a>.</p>
            \(requests.map { $0.html(base) }.joined(separator: "\n"))
            </body>
            </html>

            """
        let headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: Self.policy, .cacheControl: "no-store",
        ]
        return Response(status: .ok, headers: headers, body: ResponseBody(html))
    }

    private static let policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    /// The variables of the lines, and where their values come from.
    private static let variables: [(name: String, value: String)] = [
        (
            "TOKEN, NONCE",
            "An ID token of Apple's and its raw nonce, whose SHA-256 in lowercase hexadecimal is the token's nonce claim; make run "
                + "prints how to ask the simulator for one."
        ),
        ("GOOGLE_TOKEN", "One of Google's, with the same nonce."),
        ("ACCESS, REFRESH", "The access token and the refresh token that a sign-in answers."),
        ("NOTICE", "A provider's notification, from the simulator's /control/apple/notify or /control/google/risc."),
        ("SESSION", "The id of a session that ListSessions answers."),
        ("GROUP", "The id of a group that CreateGroup answers."),
        (
            "ASSERTION",
            "The app backend's assertion of a phone number; docs/profiles/phone-numbers.md describes its format."
        ),
        ("INVITATION", "The id of what waits for the user in GROUP, as ListMyInvitations answers it."),
        ("REQUEST, PERSON", "The id of a request to join GROUP, as ListPending returns it, and its user's id."),
        ("LINK, LINK_TOKEN", "The id and the token of a link that CreateGroupLink answers."),
        ("SINGLE", "The token that a sign-in at /api/auth/apple answers."),
        ("APPLE_USER, EMAIL, USERNAME", "Apple's id of the person of TOKEN, and what they are to be called."),
        ("IDENTITY_ID", "The identity_id of one of the identities in GET /auth/v1/user."),
        (
            "CLIENT_ID, CREDENTIALS",
            "A client of VESTIBULE_IDENTITY_CLIENTS_FILE, and the base64 of its id, a colon and its secret."
        ),
        ("CODE, SEALED", "A code that /oauth2/authorize answers, and a request that its sign-in page has."),
        ("SERVICE_KEY, USER_ID", "The key of supabase's admin routes, and whom to look up."),
    ]

    /// Whether a name by which the gateway was asked means nothing else to a shell: letters, digits, dots, hyphens, colons and
    /// brackets.
    private static func isPlain(_ authority: String) -> Bool {
        1...255 ~= authority.utf8.count
            && authority.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"),
                    UInt8(ascii: "["), UInt8(ascii: "]"):
                    true
                default: false
                }
            }
    }
}

extension MethodsPage.Entry {
    fileprivate func html(_ base: String) -> String {
        let text = "<h3>\(HTMLText.escaped(title))</h3>\n<p>\(HTMLText.escaped(summary))</p>"
        return call.map { "\(text)\n<pre>\(HTMLText.escaped($0.line(base)))</pre>" } ?? text
    }
}
