import JOSE
import WebPages

/// A control on ``HomePage``: what it does, its form, and its line for a shell.
struct ControlForm {
    private let title: String
    private let text: String
    private let form: CallForm
    /// The body of the line without scripts.
    private let example: String?

    /// The entry, with a line that calls this base: scheme, host and port.
    func html(_ base: String) -> HTML {
        let body = example.map { " -H \"Content-Type: application/json\" -d '\($0)'" } ?? ""
        let method = form.method == (example == nil ? "GET" : "POST") ? "" : " -X \(form.method)"
        let path = form.path.replacing("{provider}", with: "apple")
        return """
            <details class="entry" id="\(form.id)">
            <summary><strong>\(form.method)</strong> <code>\(form.path)</code> <span>\(title)</span></summary>
            <div class="content">
            <p>\(text)</p>
            \(form.html)<p class="way">In a shell</p>
            <pre data-way="route"><code>curl -sS\(method) "\(base)\(path)"\(body)</code></pre>
            <output></output>
            </div>
            </details>

            """
    }

    /// Every control.
    ///
    /// - Parameter people: what ``SimulatorStore/everybody()`` returns, whose clients are suggested.
    static func all(_ people: JSONObject) -> [ControlForm] {
        let known = people["clients"]?.object ?? JSONObject()
        let clients = Provider.allCases.flatMap { known[$0.rawValue]?.array?.compactMap(\.string) ?? [] }
        func client(_ provider: Provider) -> CallForm.Field {
            var field = CallForm.Field("client_id")
            field.isRequired = true
            field.value = known[provider.rawValue]?.array?.first?.string ?? "com.example.app"
            field.suggestions = clients
            return field
        }
        return [
            signIn(client(.apple)), misbehave, rotateKeys, counts, resetCounts, appleNotice(client(.apple)),
            googleNotice(client(.google)), transfer(client(.apple)), everybody,
        ]
    }

    private static func signIn(_ client: CallForm.Field) -> ControlForm {
        var form = CallForm(id: "signIn", method: "POST", path: "/control/{provider}/sign-in")
        form.button = "Sign in"
        form.parts = [
            .field(provider(.path)), .field(client), .field(text("nonce", "Copied into the token as it is.")),
            .group(
                name: "person",
                isArray: false,
                hint: "The same e-mail is always the same user.",
                fields: [
                    text("person.email", value: "maria.santos@example.com", isRequired: true),
                    text("person.given_name", value: "Maria"), text("person.family_name", value: "Santos"),
                    truth("person.hide_email", "Apple: a relay address in its place."),
                ]
            ),
        ]
        return ControlForm(
            title: "Signs somebody in, as on a phone",
            text: "Returns what the provider's SDK would give to the app. Send it to your server.",
            form: form,
            example:
                #"{"client_id":"com.example.app","person":{"email":"maria.santos@example.com","given_name":"Maria"}}"#
        )
    }

    private static var misbehave: ControlForm {
        var form = CallForm(id: "misbehave", method: "POST", path: "/control/misbehave")
        var endpoint = text("endpoint", "An endpoint of the provider, or all.", value: "token", isRequired: true)
        endpoint.suggestions = Set(Endpoint.all.map(\.name)).sorted() + ["all"]
        form.parts = [
            .field(provider(.body)), .field(endpoint),
            .field(words("mode", ["error", "slow", "garbage", "drop", "redirect", "off"], isRequired: true)),
            .field(integer("times", 1...Misbehaviour.timesMax, "For so many calls; until it is off without it.")),
            .field(integer("status", 400...599, "Of an error; 503 without it.")),
            .field(text("error", "The word of an error, such as invalid_grant.")),
            .field(integer("delay_ms", 0...Misbehaviour.delayMillisecondsMax, "Of slow; 5000 without it.")),
            .field(text("location", "Of a redirect.")),
            .field(truth("after_work", "The endpoint does its work first, so that a code is spent.")),
        ]
        return ControlForm(
            title: "Makes an endpoint misbehave",
            text: "It fails, is slow, answers garbage, drops the connection, or redirects. Off makes it normal again.",
            form: form,
            example: #"{"provider":"apple","endpoint":"token","mode":"error","status":503,"times":1}"#
        )
    }

    private static var rotateKeys: ControlForm {
        var form = CallForm(id: "rotate", method: "POST", path: "/control/keys/rotate")
        form.parts = [.field(provider(.body)), .field(truth("drop_old", "The old keys are published no longer."))]
        return ControlForm(
            title: "Rotates a provider's signing key",
            text: "Tokens are signed with a new key from now on.",
            form: form,
            example: #"{"provider":"google"}"#
        )
    }

    private static var counts: ControlForm {
        ControlForm(
            title: "How often each endpoint was called",
            text: "Since the start, or since the last reset.",
            form: CallForm(id: "counts", method: "GET", path: "/control/counts"),
            example: nil
        )
    }

    private static var resetCounts: ControlForm {
        ControlForm(
            title: "Resets the counts",
            text: "All are zero again.",
            form: CallForm(id: "resetCounts", method: "POST", path: "/control/counts/reset"),
            example: nil
        )
    }

    private static func appleNotice(_ client: CallForm.Field) -> ControlForm {
        let types = ["consent-revoked", "account-deleted", "email-disabled", "email-enabled"]
        return notice("appleNotice", "/control/apple/notify", "Apple", client, types, subject: "apple")
    }

    private static func googleNotice(_ client: CallForm.Field) -> ControlForm {
        let types = [
            "sessions-revoked", "tokens-revoked", "token-revoked", "account-disabled", "account-enabled",
            "account-credential-change-required", "verification",
        ]
        return notice("googleNotice", "/control/google/risc", "Google", client, types, subject: "google")
    }

    private static func notice(
        _ id: String,
        _ path: String,
        _ name: String,
        _ client: CallForm.Field,
        _ types: [String],
        subject: String
    ) -> ControlForm {
        var form = CallForm(id: id, method: "POST", path: path)
        var sub = text("sub", "The user's id at the provider.")
        sub.variable = "SUBJECT_\(subject.uppercased())"
        form.parts = [
            .field(client), .field(words("type", types, isRequired: true)), .field(sub),
            .field(text("to", "The address of your server to send it to; it is only returned without one.")),
        ]
        return ControlForm(
            title: "Sends a notification of \(name)'s",
            text: "What the provider tells a server about a user. It is signed with the provider's key.",
            form: form,
            example: "{\"client_id\":\"\(client.value)\",\"type\":\"\(types[0])\",\"sub\":\"1\"}"
        )
    }

    private static func transfer(_ client: CallForm.Field) -> ControlForm {
        var form = CallForm(id: "transfer", method: "POST", path: "/control/apple/transfer")
        form.parts = [
            .field(client), .field(text("to_team", value: "NEWTEAM001")),
            .field(truth("is_over", "The 60 days are over.")),
        ]
        return ControlForm(
            title: "Moves an app to another team of Apple's",
            text: "Its users have other ids from now on.",
            form: form,
            example: #"{"client_id":"com.example.app","to_team":"NEWTEAM001"}"#
        )
    }

    private static var everybody: ControlForm {
        ControlForm(
            title: "The people and the clients",
            text: "Those that this page shows, with their ids at each provider.",
            form: CallForm(id: "everybody", method: "GET", path: "/control/people"),
            example: nil
        )
    }

    // Fields

    private static func provider(_ place: CallForm.Place) -> CallForm.Field {
        var field = words("provider", Provider.allCases.map(\.rawValue), isRequired: true)
        field.place = place
        return field
    }

    private static func text(
        _ name: String,
        _ hint: String = "",
        value: String = "",
        isRequired: Bool = false
    ) -> CallForm.Field {
        var field = CallForm.Field(name)
        (field.hint, field.value, field.isRequired) = (hint, value, isRequired)
        return field
    }

    private static func words(_ name: String, _ words: [String], isRequired: Bool) -> CallForm.Field {
        var field = text(name, isRequired: isRequired)
        field.kind = .words(words.map { ($0, nil) })
        return field
    }

    private static func integer(_ name: String, _ range: ClosedRange<Int64>, _ hint: String) -> CallForm.Field {
        var field = text(name, hint)
        field.kind = .integer(range)
        return field
    }

    private static func truth(_ name: String, _ hint: String) -> CallForm.Field {
        var field = text(name, hint)
        field.kind = .truth
        return field
    }
}
