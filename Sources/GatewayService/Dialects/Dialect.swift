import HTTPJSON

/// What another kind of backend speaks, answered so that its apps sign in here as they are. Each has a folder of its own and
/// is off unless the configuration names it.
///
/// A dialect is words alone: paths, members and errors. What is true is decided by identity, profile and invites, which its
/// routes call like all others do; all dialects and our own routes lead to the same account.
enum Dialect: String, CaseIterable, Sendable {
    /// One token for everything, below `/api/auth`.
    case singleToken = "single-token"
    /// A WordPress site with a plugin, below `/wp-json`.
    case wordpress
    /// Supabase Auth, below `/auth/v1`.
    case supabase
    /// The hosted pages of Amazon Cognito: `/login`, `/logout`, and beside our own below `/oauth2`.
    case cognito

    /// What the paths begin with whose errors have the dialect's shape, be there a route or not; nil where only routes have it.
    var pathPrefix: String? {
        switch self {
        case .singleToken: "/api/auth/"
        case .wordpress: "/wp-json/"
        case .supabase: "/auth/v1/"
        case .cognito: nil
        }
    }

    /// Whether a path is one of the dialect's.
    func speaks(_ path: String) -> Bool {
        guard let pathPrefix else { return Cognito.speaks(path) }
        return path.hasPrefix(pathPrefix) || path == pathPrefix.dropLast()
    }

    /// What the paths begin with that need no session and cost cryptography: requests there count as those to `/auth/`.
    var signInPrefix: String {
        switch self {
        case .singleToken: "/api/auth/"
        case .wordpress: "/wp-json/gread/v1/auth/"
        case .supabase: "/auth/v1/"
        case .cognito: Cognito.loginPath
        }
    }

    /// The answer that tells a problem in the dialect's shape.
    func response(to request: Request, telling problem: Problem, _ languages: PageLanguages) -> Response {
        switch self {
        case .singleToken: SingleTokenError(problem).response
        case .wordpress: WordPressError(problem).response
        case .supabase: SupabaseError(problem, request).response
        case .cognito: Page.response(telling: problem, in: languages.text(for: request))
        }
    }
}

/// What the routes of dialects answer with.
struct DialectParts: Sendable {
    let backends: Backends
    let methods: AppMethods
    /// The OpenID endpoints and pages; nil where they are off.
    let openID: OpenIDParts?
    /// Where browsers may be sent on to; nil where no app's URL is configured.
    let webSignIn: WebSignIn?
    let languages: PageLanguages

    var authentication: Authentication { methods.authentication }
    var people: People { People(identity: backends.identity, profile: backends.profile) }
}
