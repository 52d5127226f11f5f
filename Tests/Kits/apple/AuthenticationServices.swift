// What these are is in Apple's documentation.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
/// What the kit uses of Apple's AuthenticationServices, for a compiler that hasn't it. It is declared and does nothing.
@_exported import Foundation

@MainActor open class UIWindow: NSObject { override public nonisolated init() {} }
public typealias ASPresentationAnchor = UIWindow

public class ASAuthorization: NSObject {
    public struct Scope: Sendable {
        public static let fullName = Scope()
        public static let email = Scope()
    }

    public var credential: Any { 0 }
}

public class ASAuthorizationAppleIDCredential: NSObject {
    public let identityToken: Data? = nil
    public let authorizationCode: Data? = nil
    public let fullName: PersonNameComponents? = nil
    public let email: String? = nil
}

public class ASAuthorizationRequest: NSObject {}

public class ASAuthorizationAppleIDRequest: ASAuthorizationRequest {
    public var requestedScopes: [ASAuthorization.Scope]?
    public var nonce: String?
}

public class ASAuthorizationAppleIDProvider: NSObject {
    public func createRequest() -> ASAuthorizationAppleIDRequest { ASAuthorizationAppleIDRequest() }
}

@MainActor public protocol ASAuthorizationControllerDelegate: NSObjectProtocol {
    func authorizationController(
        controller: ASAuthorizationController,
        didCompleteWithAuthorization authorization: ASAuthorization
    )
    func authorizationController(controller: ASAuthorizationController, didCompleteWithError error: any Error)
}

@MainActor public protocol ASAuthorizationControllerPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for controller: ASAuthorizationController) -> ASPresentationAnchor
}

@MainActor public class ASAuthorizationController: NSObject {
    public weak var delegate: (any ASAuthorizationControllerDelegate)?
    public weak var presentationContextProvider: (any ASAuthorizationControllerPresentationContextProviding)?

    public nonisolated init(authorizationRequests: [ASAuthorizationRequest]) {}
    public func performRequests() {}
    public func cancel() {}
}

public struct ASAuthorizationError: Error {
    public enum Code: Sendable { case canceled }
    public let code: Code
}

public struct ASWebAuthenticationSessionError: Error {
    public enum Code: Sendable { case canceledLogin, presentationContextInvalid }
    public let code: Code
    public init(_ code: Code) { self.code = code }
}

@MainActor public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

public class ASWebAuthenticationSession: NSObject {
    public typealias CompletionHandler = (URL?, (any Error)?) -> Void

    public struct Callback {
        public static func https(host: String, path: String) -> Callback { Callback() }
    }

    @MainActor public weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?

    public init(url: URL, callbackURLScheme: String?, completionHandler: @escaping CompletionHandler) {}
    public init(url: URL, callback: Callback, completionHandler: @escaping CompletionHandler) {}
    public func start() -> Bool { true }
    public func cancel() {}
}

extension PersonNameComponents {
    public func formatted() -> String { "" }
}
