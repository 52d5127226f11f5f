import API
import IdentityDomain
import JOSE
import Models
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import Testing

@testable import IdentityService

/// Which callers get caller proofs from identity, and which proofs identity accepts.
struct CallerProofTests {
    private static let gateway = "spiffe://vestibule/gateway"
    private static let gateways = CallerTrust.named([gateway])

    /// The person that a service reads from a proof.
    private func checked(_ text: String, for name: String, _ service: TestService) throws -> CallerProof {
        let key = try #require(CallerProofKey(master: TestService.proofMaster, service: name))
        return try CallerProof(text, under: [key], for: name, nowMilliseconds: service.clock.nowMilliseconds)
    }

    private func check(
        _ token: String,
        _ service: TestService,
        names: [String] = [gateway]
    ) async throws -> IdentityV1.CheckSessionResponse {
        let context = Self.context(IdentityServiceMethods.checkSession, names: names)
        return try await service.parts.methods.checkSession(.with { $0.accessToken = token }, context: context)
    }

    private static func context(_ method: MethodDescriptor, names: [String]) -> ServerContext {
        ServerContext(
            ServerCall(
                method: method,
                metadata: Metadata(),
                deadline: nil,
                peer: PeerInfo(address: "10.0.0.1:4242", isEncrypted: true, certificateNames: names)
            )
        )
    }

    @Test func `A gateway gets a proof for each service, and each is valid at that service only`() async throws {
        try await TestService.run(gateways: Self.gateways) { service in
            let tokens = try await service.signIn().tokens
            let answer = try await check(tokens.accessToken, service)
            let proofs = answer.callerProofs
            let user = try #require(UserID(tokens.userID))
            let session = try #require(SessionID(tokens.sessionID))
            for (text, name) in [
                (proofs.identity, "identity"), (proofs.profile, "profile"), (proofs.invites, "invites"),
            ] {
                let proof = try checked(text, for: name, service)
                #expect(proof.userID == user && proof.sessionID == session)
            }
            #expect(throws: CallerProofError.malformed) { try checked(proofs.profile, for: "invites", service) }
            #expect(answer.userID == tokens.userID && answer.sessionID == tokens.sessionID && answer.proof == .nonce)
        }
    }

    @Test func `No other caller gets proofs from any method`() async throws {
        try await TestService.run(gateways: Self.gateways) { service in
            let signIn = try await service.signIn()
            #expect(!signIn.hasCallerProofs)
            for names in [[], ["spiffe://vestibule/profile"], ["spiffe://example/backend", "gateway"]] {
                let answer = try await check(signIn.tokens.accessToken, service, names: names)
                #expect(!answer.hasCallerProofs && answer.userID == signIn.tokens.userID)
            }
            // Not even after a gateway got proofs for the same token.
            #expect(try await check(signIn.tokens.accessToken, service).hasCallerProofs)
            #expect(try await !check(signIn.tokens.accessToken, service, names: []).hasCallerProofs)
            #expect(try await !service.refresh(signIn.tokens.refreshToken).hasCallerProofs)
            let token = try service.provider.appleToken(subject: "001.person", at: service.clock, [:])
            let found = try await service.findAccount { ($0.idToken, $0.nonce) = (token, TestProvider.rawNonce) }
            #expect(found.userID == signIn.tokens.userID && !found.hasCallerProofs)
        }
    }

    @Test func `Signing in, refreshing and looking up prove the person, too`() async throws {
        try await TestService.run { service in
            let signIn = try await service.signIn()
            let user = try #require(UserID(signIn.tokens.userID))
            let session = try #require(SessionID(signIn.tokens.sessionID))
            #expect(try checked(signIn.callerProofs.profile, for: "profile", service).sessionID == session)
            let refresh = try await service.refresh(signIn.tokens.refreshToken)
            #expect(try checked(refresh.callerProofs.invites, for: "invites", service).userID == user)
            let token = try service.provider.appleToken(subject: "001.person", at: service.clock, [:])
            let found = try await service.findAccount { ($0.idToken, $0.nonce) = (token, TestProvider.rawNonce) }
            let looked = try checked(found.callerProofs.profile, for: "profile", service)
            #expect(looked.userID == user && looked.sessionID == nil)
            let nobody = try service.provider.appleToken(subject: "009.nobody", at: service.clock, [:])
            let none = try await service.findAccount { ($0.idToken, $0.nonce) = (nobody, TestProvider.rawNonce) }
            #expect(none.userID.isEmpty && !none.hasCallerProofs)
        }
    }

    @Test func `A sign-in without proof gets caller proofs only where such sign-ins are allowed`() async throws {
        try await TestService.run(unprovenDialects: ["wordpress"]) { service in
            func find(_ subject: String) async throws -> IdentityV1.FindAccountResponse {
                try await service.findAccount { request in
                    request.unproven.dialect = "wordpress"
                    request.unproven.subject = subject
                }
            }
            let proven = try await service.signIn(subject: "001.person")
            let closed = try await find("001.person")
            #expect(closed.userID == proven.tokens.userID && !closed.hasCallerProofs)
            let registered = try await service.signIn { request in
                request.unproven.dialect = "wordpress"
                request.unproven.subject = "002.person"
                request.tokenStyle = .singleForSession
            }
            let open = try await find("002.person")
            #expect(open.userID == registered.tokens.userID)
            #expect(try checked(open.callerProofs.profile, for: "profile", service).userID == UserID(open.userID))
            _ = try await service.signIn(subject: "002.person")
            let closedSince = try await find("002.person")
            #expect(closedSince.userID == open.userID && !closedSince.hasCallerProofs)
        }
    }

    @Test(arguments: [false, true])
    func `A token gets the same proofs for a minute, and new ones after`(isSingle: Bool) async throws {
        try await TestService.run { service in
            let signIn = try await service.signIn { request in
                request.idToken = try service.provider.appleToken(subject: "001.person", at: service.clock, [:])
                request.nonce = TestProvider.rawNonce
                if isSingle { request.tokenStyle = .single }
            }
            let token = isSingle ? signIn.tokens.singleToken : signIn.tokens.accessToken
            let first = try await service.check(token).callerProofs
            var last = first
            var changes = 0
            for _ in 0..<120 {
                service.clock.advance(seconds: 1)
                let proofs = try await service.check(token).callerProofs
                #expect(try checked(proofs.profile, for: "profile", service).userID == UserID(signIn.tokens.userID))
                if proofs != last { changes += 1 }
                last = proofs
            }
            #expect(changes == 2)
        }
    }

    /// Proofs are cached with the token, and an event loop caches a token for as long as the session lives.
    @Test func `A session that has ended gets no proofs`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            #expect(try await service.check(tokens.accessToken).hasCallerProofs)
            try await service.signOut(accessToken: tokens.accessToken)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(tokens.accessToken) }
        }
    }

    // What identity accepts

    /// Methods that read the account from the caller's proof. All others take credentials or a token instead, or are for
    /// services.
    private static let forPersons: Set<MethodDescriptor> = [
        IdentityServiceMethods.getAccount, IdentityServiceMethods.updateUserMetadata,
        IdentityServiceMethods.provePhone,
    ]
    private static let forServices: Set<MethodDescriptor> = [
        IdentityServiceMethods.lookUpAccount, IdentityServiceMethods.getJWKS,
        // It is authenticated by the provider's signature.
        IdentityServiceMethods.acceptNotice,
        // It is authenticated by the client certificate and the method list.
        IdentityServiceMethods.acceptEvents,
        // These are about no user: anybody may get a nonce, and introspection of an invalid token only says that it is invalid.
        IdentityServiceMethods.createChallenge, IdentityServiceMethods.introspectToken,
    ]

    /// Fails for a new method that takes an account without credentials.
    @Test func `Each method needs a proof, credentials or a token, or is for services`() async throws {
        try await TestService.run { service in
            var router = Router()
            router.add(service.parts.methods)
            let channel = InProcessChannel(router)
            for method in IdentityServiceMethods.all where !Self.forServices.contains(method) {
                do throws(RPCError) {
                    _ = try await channel.unary(
                        method,
                        Google_Protobuf_Empty(),
                        response: Google_Protobuf_Empty.self,
                        options: CallOptions()
                    )
                    Issue.record("\(method.method) answers anybody")
                } catch {
                    let isForPersons = error.reason == "CALLER_PROOF_REQUIRED"
                    #expect(isForPersons == Self.forPersons.contains(method), "\(method.method): \(error)")
                }
            }
        }
    }

    @Test func `A proof reads and changes only its own account`() async throws {
        try await TestService.run { service in
            let maria = try await service.signIn(subject: "001.person")
            let mallory = try await service.signIn(subject: "002.person")
            func options(_ proof: String) -> CallOptions {
                var options = CallOptions()
                options.metadata.add("vestibule-caller-proof", proof)
                return options
            }
            let own = options(maria.callerProofs.identity)
            #expect(try await service.client.getAccount(.init(), options: own).account.userID == maria.tokens.userID)
            _ = try await service.client.updateUserMetadata(.with { $0.changesJson = #"{"a":1}"# }, options: own)
            #expect(try await service.account(maria.tokens.userID).metadataJson == #"{"a":1}"#)
            #expect(try await service.account(mallory.tokens.userID).metadataJson == "{}")
            await expectFailure(.unauthenticated, "CALLER_PROOF_INVALID") {
                _ = try await service.client.getAccount(.init(), options: options(maria.callerProofs.profile))
            }
            service.clock.advance(seconds: 120)
            await expectFailure(.unauthenticated, "CALLER_PROOF_EXPIRED") {
                _ = try await service.client.getAccount(.init(), options: own)
            }
        }
    }
}
