/// The sentences of the pages.
enum PageText {
    /// The language of them all (BCP 47).
    static let language = "en"

    // Signing in

    static func signIn(to client: String) -> String { client.isEmpty ? "Sign in" : "Sign in to \(client)" }

    /// What the button of a provider says.
    static func button(_ provider: String) -> String {
        switch provider {
        case "apple": "Sign in with Apple"
        case "google": "Sign in with Google"
        default: "Continue with \(provider.prefix(1).uppercased())\(provider.dropFirst())"
        }
    }

    static let noProvider = "Signing in by a browser is not set up for this app yet."
    static let cancelled = "You went back without signing in."
    static let later = "This did not work just now. Please try again in a moment."
    static let refused = "This account can't be used here."
    static let notSignedIn = "This did not work. Please try again."

    // Back to the app

    static let forwarding = "Back to the app"
    static let forwardingText = "The app opens in a moment."
    static let forward = "Continue"

    // Signing out

    static let signOut = "Sign out?"
    static let signOutText = "You are signed in by this browser."
    static let signOutButton = "Sign out"
    static let signedOut = "You are signed out"
    static let signedOutText = "You can close this page."
    static let signedOutForward = "Back to the app"

    // Failures

    static let failed = "This did not work"
    static let tryAgain = "This did not work just now. Please load this page again in a moment."
    static let goBack = "Please close this page, go back to the app and try again."
}
