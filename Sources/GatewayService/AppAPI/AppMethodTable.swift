import API
import HTTPJSON
import RPC
import SwiftProtobuf

/// The unary methods of the public API, by which RPCs and JSON routes are answered.
struct AppMethodTable: Sendable {
    private let methods: AppMethods
    private(set) var all: [AppMethod] = []

    /// All of them.
    init(_ methods: AppMethods) {
        self.methods = methods
        add(AuthServiceMethods.signInWithProvider, methods.signInWithProvider)
        add(AuthServiceMethods.createChallenge, methods.createChallenge)
        add(AuthServiceMethods.createGuestChallenge, methods.createGuestChallenge)
        add(AuthServiceMethods.signInAsGuest, methods.signInAsGuest)
        addForUsers(AuthServiceMethods.absorbGuest, methods.absorbGuest)
        add(AuthServiceMethods.refreshSession, methods.refreshSession)
        add(AuthServiceMethods.signOut, methods.signOut)
        add(AuthServiceMethods.signOutEverywhere, methods.signOutEverywhere)
        addForUsers(AuthServiceMethods.listSessions, methods.listSessions)
        addForUsers(AuthServiceMethods.renameSession, methods.renameSession)
        addForUsers(AuthServiceMethods.endSession, methods.endSession)
        addForUsers(AuthServiceMethods.listProviders, methods.listProviders)
        add(AuthServiceMethods.linkProvider, methods.linkProvider)
        addForUsers(AuthServiceMethods.unlinkProvider, methods.unlinkProvider)
        add(AuthServiceMethods.createPasskeyChallenge, methods.createPasskeyChallenge)
        add(AuthServiceMethods.signInWithPasskey, methods.signInWithPasskey)
        addForUsers(AuthServiceMethods.createPasskeyRegistration, methods.createPasskeyRegistration)
        addForUsers(AuthServiceMethods.addPasskey, methods.addPasskey)
        addForUsers(AuthServiceMethods.listPasskeys, methods.listPasskeys)
        addForUsers(AuthServiceMethods.renamePasskey, methods.renamePasskey)
        addForUsers(AuthServiceMethods.removePasskey, methods.removePasskey)
        addForUsers(AuthServiceMethods.createRecoveryCodes, methods.createRecoveryCodes)
        addForUsers(AuthServiceMethods.getRecoveryCodes, methods.getRecoveryCodes)
        add(AuthServiceMethods.createRecoveryChallenge, methods.createRecoveryChallenge)
        add(AuthServiceMethods.recoverAccount, methods.recoverAccount)
        addForUsers(AccountServiceMethods.getMe, methods.getMe)
        addForUsers(AccountServiceMethods.updateMe, methods.updateMe)
        addForUsers(AccountServiceMethods.checkUsername, methods.checkUsername)
        addForUsers(AccountServiceMethods.provePhone, methods.provePhone)
        add(AccountServiceMethods.deleteMe, methods.deleteMe)
        addForUsers(AccountServiceMethods.cancelDeletion, methods.cancelDeletion)
        addForUsers(GroupServiceMethods.createGroup, methods.createGroup)
        addForUsers(GroupServiceMethods.listMembers, methods.listMembers)
        methods.groups.addForwards(to: &self)
    }

    /// Adds a method that anybody may call.
    private mutating func add<Request: Message, Response: Message>(
        _ method: MethodDescriptor,
        _ answer: @escaping @Sendable (Request, Caller) async throws -> Response
    ) {
        all.append(AppMethod(method, answer))
    }

    /// Adds a method that needs an access token, and one of a recent and proven sign-in for an act.
    private mutating func addForUsers<Request: Message, Response: Message>(
        _ method: MethodDescriptor,
        act: IdentityV1.CheckedAct = .unspecified,
        _ answer: @escaping @Sendable (Request, SignedInUser) async throws -> Response
    ) {
        all.append(AppMethod(method, methods.authentication, act: act, answer))
    }

    /// The act of a forwarded method; identity checks those of its own.
    private static func act(of method: MethodDescriptor) -> IdentityV1.CheckedAct {
        method == GroupServiceMethods.handOverGroup ? .handOverGroup : .unspecified
    }
}

extension AppMethodTable: CallForwarder {
    /// Adds a method whose calls are forwarded for a signed-in user. A call that has an effect each time it is made fails as one
    /// that the client may not repeat, unless it certainly did nothing.
    mutating func add<Request: Message, Response: Message>(
        _ method: MethodDescriptor,
        _ call: @escaping @Sendable (Request, CallOptions) async throws(RPCError) -> Response
    ) {
        addForUsers(method, act: Self.act(of: method)) { [methods] (request: Request, user: SignedInUser) -> Response in
            do throws(RPCError) {
                return try await call(request, methods.groupOptions(user))
            } catch {
                throw method.isIdempotent ? error : Problem.unlessRepeatable(error)
            }
        }
    }
}
