import HTTPJSON
import HTTPTypes

/// What users see of problems of their forms.
extension AccountPages.Visit {
    /// The sentence about a problem.
    func sentence(_ problem: Problem) -> String {
        text.sentence(ofCode: problem.code) ?? text[problem.mayPass ? .tryAgain : .formFailed]
    }

    /// A page about a problem of the user's, with the way back; nil for what is no user's fault.
    ///
    /// - Parameters:
    ///   - goal: where the user comes back to after signing in anew.
    ///   - back: where the way back leads; by default to the goal.
    func page(about problem: Problem, goal: ReturnPath, back: ReturnPath? = nil) -> Response? {
        guard problem.status.code < 500, problem.status != .unauthorized else { return nil }
        let again =
            problem.code == "RECENT_SIGN_IN_REQUIRED"
            ? "<p>\(link(SignInRoute.address(goal, isAnew: true), .confirmIdentity))</p>\n" : ""
        var page = page(
            text[again.isEmpty ? .failed : .confirmIdentityTitle],
            """
            <p role="alert">\(HTMLText.escaped(sentence(problem)))</p>
            \(again)<p>\(link((back ?? goal).path, .goBackToPage))</p>
            """
        )
        page.status = problem.status
        return problem.page(page.response)
    }
}
