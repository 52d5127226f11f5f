#if canImport(AuthenticationServices) && !os(tvOS) && !os(watchOS)
import AuthenticationServices
import Foundation

extension Vestibule {
    /// Signs the user in by the server's page, in the system's browser over the app. It closes if the task is cancelled.
    ///
    /// - Parameters:
    ///   - redirectURI: An address of the app's own scheme, such as `com.example.app:/callback`, or with iOS 17.4 and macOS 14.4 an
    ///     `https` address that the app is associated with; as configured for the client.
    ///   - provider: The provider to go to without a choice.
    ///   - parameters: More parameters of the request, such as `prompt` with `select_account`: without it, the browser may sign in the
    ///     user that it remembers.
    ///   - anchor: The window over which the browser appears.
    /// - Returns: The user's id; nil if the user cancels or turns back at the page.
    /// - Throws: `ASWebAuthenticationSessionError`, ``VestibuleError``, or `CancellationError`.
    @MainActor
    public func signInByWeb(
        redirectURI: String,
        provider: String? = nil,
        parameters: [String: String] = [:],
        anchor: ASPresentationAnchor
    ) async throws -> String? {
        let page = try await beginSignIn(redirectURI: redirectURI, provider: provider, parameters: parameters)
        do {
            let callback = try await WebAuthorization(anchor).callback(of: page, redirectURI)
            return try await finishSignIn(callback: callback)
        } catch let error as ASWebAuthenticationSessionError where error.code == .canceledLogin {
            try Task.checkCancellation()
            return nil
        } catch let error as VestibuleError where error.code == .cancelled {
            return nil
        }
    }
}

/// One sheet with the browser, over a window.
@MainActor
private final class WebAuthorization: NSObject, ASWebAuthenticationPresentationContextProviding {
    private let anchor: ASPresentationAnchor
    private var session: ASWebAuthenticationSession?
    private var waiter: CheckedContinuation<URL, any Error>?

    init(_ anchor: ASPresentationAnchor) { self.anchor = anchor }

    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor }

    /// Shows a page until the browser is sent back.
    func callback(of page: URL, _ redirectURI: String) async throws -> URL {
        // The session keeps its provider weakly.
        defer { withExtendedLifetime(self) {} }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                self.waiter = waiter
                start(page, redirectURI)
            }
        } onCancel: {
            Task { @MainActor in self.cancel() }
        }
    }

    private func start(_ page: URL, _ redirectURI: String) {
        guard !Task.isCancelled else { return finish(.failure(CancellationError())) }
        let completion: @Sendable (URL?, (any Error)?) -> Void = { callback, error in
            Task { @MainActor in
                let failure = error ?? ASWebAuthenticationSessionError(.canceledLogin)
                self.finish(callback.map { .success($0) } ?? .failure(failure))
            }
        }
        let session = Self.session(page, redirectURI, completion)
        session.presentationContextProvider = self
        self.session = session
        if !session.start() { finish(.failure(ASWebAuthenticationSessionError(.presentationContextInvalid))) }
    }

    private static func session(
        _ page: URL,
        _ redirectURI: String,
        _ completion: @escaping @Sendable (URL?, (any Error)?) -> Void
    ) -> ASWebAuthenticationSession {
        let redirect = URLComponents(string: redirectURI)
        if #available(iOS 17.4, macOS 14.4, visionOS 1.1, *), redirect?.scheme == "https", let host = redirect?.host {
            let callback = ASWebAuthenticationSession.Callback.https(host: host, path: redirect?.path ?? "")
            return ASWebAuthenticationSession(url: page, callback: callback, completionHandler: completion)
        }
        return ASWebAuthenticationSession(
            url: page,
            callbackURLScheme: redirect?.scheme,
            completionHandler: completion
        )
    }

    private func cancel() {
        session?.cancel()
        finish(.failure(CancellationError()))
    }

    /// The first end counts: the system reports a session that was cancelled, too.
    private func finish(_ result: Result<URL, any Error>) {
        waiter?.resume(with: result)
        waiter = nil
        session = nil
    }
}
#endif
