import API
import HTTPJSON
import HTTPTypes
import WebPages

/// `GET /sign-in`: has the user sign in to our own pages, and comes back to one of them.
enum SignInRoute {
    static let path = "/sign-in"

    static func route(_ pages: AccountPages) -> Route {
        Route(.get, path, isForOtherOrigins: false) { request, context in
            let query = try FormFields(queryOf: request)
            let goal = query["to"].flatMap { ReturnPath($0) } ?? .account
            let notice = query["notice"].flatMap(SignInNotice.init(rawValue:))
            let isAnew = query["prompt"] == "login"
            let used = try await pages.use(pages.token(request), request, context)
            if used.hasSession, notice == nil, !isAnew {
                return Response(status: .seeOther, headers: [.location: goal.path])
            }
            var page = used.signIn
            page.request = goal.request(isAnew: isAnew)
            let text = pages.parts.languages.text(for: request)
            return Page.signIn(page, notice, failed: query["provider"] ?? "", in: text).response
        }
    }

    /// The path and query that sign in and come back.
    ///
    /// - Parameters:
    ///   - provider: the provider that the notice is about.
    ///   - isAnew: whether a session that the browser has doesn't suffice.
    static func address(
        _ goal: ReturnPath,
        _ notice: SignInNotice? = nil,
        provider: String = "",
        isAnew: Bool = false
    ) -> String {
        let provider = provider.isEmpty ? "" : "&provider=\(FormFields.encode(provider))"
        let notice = notice.map { "&notice=\($0.rawValue)\(provider)" } ?? ""
        return "\(path)?to=\(FormFields.encode(goal.path))\(isAnew ? "&prompt=login" : "")\(notice)"
    }
}
