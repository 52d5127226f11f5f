import API
import HTTPJSON
import HTTPTypes
import WebPages

/// The session of a browser that has signed in, as pages act with it.
struct PageSession: Sendable {
    /// Calls methods as an app of the user would.
    let caller: Caller
    /// The user.
    let userID: String
    /// When the browser's token expires, in Unix seconds.
    let expiresAtSeconds: Int64
    /// What each form of a page of this session must have: other sites neither see the page nor can compute it.
    let formValue: String

    /// A session that identity has found alive.
    ///
    /// - Parameter token: the value of the browser's cookie.
    init(_ session: IdentityV1.BrowserSession, token: String, _ request: Request, _ context: RouteContext) {
        caller = .page(request.headers.carrying(bearerToken: session.accessToken), context)
        userID = session.userID
        expiresAtSeconds = session.expiresAtSeconds
        formValue = PageForm.value(ofToken: token)
    }
}
