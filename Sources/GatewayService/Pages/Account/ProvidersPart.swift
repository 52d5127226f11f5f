import API
import HTTPJSON
import HTTPTypes
import JOSE

/// The providers of the account's page: what is linked, and what could be.
enum ProvidersPart {
    static let path = "\(AccountPage.path)/providers"

    /// The sentences of `kind` of an account's changes.
    static let changeKeys: [String: PageText.Key] = [
        "provider_linked": .changeLinked, "provider_unlinked": .changeUnlinked,
        "deletion_scheduled": .changeDeletionScheduled, "deletion_cancelled": .changeDeletionCancelled,
        "recovery_codes_created": .changeRecoveryCodesCreated, "recovery_code_used": .changeRecoveryCodeUsed,
    ]

    static func routes(_ pages: AccountPages) -> [Route] {
        [
            pages.form("\(path)/{provider}/unlink") { visit, _ in
                var call = AppV1.UnlinkProviderRequest()
                call.provider = try BeginSignInRoute.provider(visit.context)
                _ = try await visit.methods.unlinkProvider(call, visit.user(isChange: true))
                return AccountPages.seeOther(AccountPage.path, .unlinked)
            }
        ]
    }

    static func html(_ linked: [AppV1.LinkedProvider], _ visit: AccountPages.Visit) -> String {
        // Where passkeys have a part of their own, each is listed there.
        let shown = linked.filter { !visit.signIn.passkeysEnabled || $0.provider != AccountPages.passkeyProvider }
        let items = shown.map { provider in
            let name = visit.providerName(provider.provider)
            let address = provider.email.isEmpty ? "" : " · <bdi>\(HTMLText.escaped(provider.email))</bdi>"
            let disabled = provider.isDisabled ? "\n<p>\(visit.text.html(.providerDisabled))</p>" : ""
            let unlink =
                linked.count == 1
                ? "" : visit.button("\(path)/\(provider.provider)/unlink", .unlink, about: name, style: "small")
            return """
                <li class="card">
                <p class="name">\(HTMLText.escaped(name))\(address)</p>
                <p>\(visit.text.html(.linkedSince)) \(visit.time(provider.linkedAt))</p>\(disabled)
                \(unlink)
                </li>
                """
        }
        let known = Set(linked.map(\.provider))
        let others = visit.signIn.providers.filter { !known.contains($0) }.map { provider in
            let name = visit.providerName(provider)
            return visit.form(
                "\(path)/\(provider)/link",
                "<button type=\"submit\">\(visit.text.html(.link, ["provider": name]))</button>"
            )
        }
        let list = items.isEmpty ? [] : ["<ul>\n\(items.joined(separator: "\n"))\n</ul>"]
        let content = (list + others).joined(separator: "\n")
        return content.isEmpty ? "" : visit.section("providers", .waysToSignIn, content)
    }
}
