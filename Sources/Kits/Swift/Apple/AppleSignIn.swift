#if canImport(AuthenticationServices)
import AuthenticationServices
import Foundation

extension Credentials {
    /// What Apple gave; nil if it gave no ID token.
    ///
    /// - Parameter nonce: The nonce whose ``SignInNonce/sha256`` the request carried.
    public init?(_ credential: ASAuthorizationAppleIDCredential, nonce: SignInNonce) {
        guard let token = credential.identityToken.map({ String(decoding: $0, as: UTF8.self) }) else { return nil }
        let name = credential.fullName?.formatted() ?? ""
        self = .apple(
            idToken: token,
            nonce: nonce,
            authorizationCode: credential.authorizationCode.map { String(decoding: $0, as: UTF8.self) },
            fullName: name.isEmpty ? nil : name,
            email: credential.email
        )
    }
}

extension Vestibule {
    /// Asks Apple who the user is. Apple's sheet closes if the task is cancelled.
    ///
    /// - Parameters:
    ///   - scopes: What the app wants to know. Apple says name and address at the first sign-in alone.
    ///   - anchor: The window over which Apple's sheet appears; the system's choice if absent.
    /// - Returns: The credentials, for a sign-in, a link or the deletion of the account; nil if the user cancels.
    /// - Throws: `ASAuthorizationError` otherwise.
    @MainActor
    public func appleCredentials(
        scopes: [ASAuthorization.Scope] = [.fullName, .email],
        anchor: ASPresentationAnchor? = nil
    ) async throws -> Credentials? {
        let nonce = SignInNonce()
        let request = ASAuthorizationAppleIDProvider().createRequest()
        request.requestedScopes = scopes
        request.nonce = nonce.sha256
        do {
            return try await AppleAuthorization(nonce, anchor).credentials(for: request)
        } catch let error as ASAuthorizationError where error.code == .canceled {
            try Task.checkCancellation()
            return nil
        }
    }

    /// Signs the user in with Apple, in the place of the user who was signed in.
    ///
    /// - Returns: What it came to; nil if the user cancels.
    /// - Throws: `ASAuthorizationError`, ``VestibuleError``, or `CancellationError`.
    @MainActor
    public func signInWithApple(deviceName: String? = nil, anchor: ASPresentationAnchor? = nil) async throws -> SignIn?
    {
        guard let credentials = try await appleCredentials(anchor: anchor) else { return nil }
        return try await signIn(credentials, deviceName: deviceName)
    }
}

/// One request to Apple.
@MainActor
private final class AppleAuthorization: NSObject {
    private let nonce: SignInNonce
    private let anchor: ASPresentationAnchor?
    private var controller: ASAuthorizationController?
    private var waiter: CheckedContinuation<Credentials?, any Error>?

    init(_ nonce: SignInNonce, _ anchor: ASPresentationAnchor?) { (self.nonce, self.anchor) = (nonce, anchor) }

    func credentials(for request: ASAuthorizationRequest) async throws -> Credentials? {
        // The controller keeps its delegates weakly.
        defer { withExtendedLifetime(self) {} }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                self.waiter = waiter
                start(request)
            }
        } onCancel: {
            Task { @MainActor in self.cancel() }
        }
    }

    private func start(_ request: ASAuthorizationRequest) {
        guard !Task.isCancelled else { return finish(.failure(CancellationError())) }
        let controller = ASAuthorizationController(authorizationRequests: [request])
        controller.delegate = self
        if anchor != nil { controller.presentationContextProvider = self }
        self.controller = controller
        controller.performRequests()
    }

    private func cancel() {
        #if !os(watchOS)
        if #available(iOS 16, macOS 13, tvOS 16, *) { controller?.cancel() }
        #endif
        finish(.failure(CancellationError()))
    }

    /// The first end counts.
    private func finish(_ result: Result<Credentials?, any Error>) {
        waiter?.resume(with: result)
        waiter = nil
        controller = nil
    }
}

extension AppleAuthorization: ASAuthorizationControllerDelegate, ASAuthorizationControllerPresentationContextProviding {
    func presentationAnchor(for controller: ASAuthorizationController) -> ASPresentationAnchor {
        anchor ?? ASPresentationAnchor()
    }

    func authorizationController(
        controller: ASAuthorizationController,
        didCompleteWithAuthorization authorization: ASAuthorization
    ) {
        let credential = authorization.credential as? ASAuthorizationAppleIDCredential
        finish(.success(credential.flatMap { Credentials($0, nonce: nonce) }))
    }

    func authorizationController(controller: ASAuthorizationController, didCompleteWithError error: any Error) {
        finish(.failure(error))
    }
}
#endif
