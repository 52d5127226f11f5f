import RPC
import SwiftProtobuf
import Testing

struct PeerAllowListTests {
    private static let signIn = MethodDescriptor(service: "vestibule.identity.v1.IdentityService", method: "SignIn")
    private static let refresh = MethodDescriptor(service: "vestibule.identity.v1.IdentityService", method: "Refresh")
    private static let health = MethodDescriptor(service: "grpc.health.v1.Health", method: "Check")
    private static let gateway = "spiffe://example/gateway"

    @Test func `Rules name a method, a service or all`() throws {
        let list = try PeerAllowList(
            parsing: """
                # who may call what

                \(Self.gateway)   vestibule.identity.v1.IdentityService/SignIn
                profile\tvestibule.identity.v1.IdentityService/*; admin *
                  * grpc.health.v1.Health/Check
                """
        )
        #expect(list.allows([Self.gateway], Self.signIn))
        #expect(!list.allows([Self.gateway], Self.refresh))
        #expect(list.allows(["profile"], Self.signIn) && list.allows(["profile"], Self.refresh))
        #expect(list.allows(["admin"], Self.refresh))
        #expect(list.allows(["other", "profile"], Self.refresh), "one of the names is enough")
        #expect(list.allows(["other"], Self.health) && !list.allows(["other"], Self.signIn))
    }

    @Test func `Without a certificate nothing is allowed`() {
        let list = PeerAllowList([.init(peer: "*", method: "*")])
        #expect(list.allows(["anybody"], Self.signIn))
        #expect(!list.allows([], Self.signIn))
        #expect(!PeerAllowList([]).allows(["anybody"], Self.signIn))
    }

    @Test(arguments: ["profil", "profile2", "PROFILE", "pro*", "profile ", "", "*"])
    func `Names are compared whole`(name: String) {
        let list = PeerAllowList([.init(peer: "profile", method: "*")])
        #expect(!list.allows([name], Self.signIn))
    }

    @Test(arguments: [
        "", "# nothing", "peer", "peer a b", "peer Service", "peer /Method", "peer Service/", "peer a/b/c",
        "peer Ser*/Method", "peer Service/Me*", "peer */Method",
    ])
    func `Refuses what is no rule`(text: String) {
        #expect(throws: PeerAllowList.Fault.self) { try PeerAllowList(parsing: text) }
    }

    @Test func `Says which line is wrong`() {
        let fault = #expect(throws: PeerAllowList.Fault.self) { try PeerAllowList(parsing: "a *\n\nb") }
        #expect(fault?.description.contains("line 3") == true)
    }

    @Test func `Has a maximum`() throws {
        let rules = (0...PeerAllowList.rulesMax).map { "peer\($0) *" }
        #expect(throws: Never.self) { try PeerAllowList(parsing: rules.dropLast().joined(separator: "\n")) }
        #expect(throws: PeerAllowList.Fault.self) { try PeerAllowList(parsing: rules.joined(separator: "\n")) }
    }

    @Test func `A caller without a certificate is refused`() async throws {
        var router = Router(interceptors: [PeerAllowList([.init(peer: "*", method: "*")])])
        router.unary(Self.signIn) { (request: Google_Protobuf_StringValue, _) in request }
        let error = await #expect(throws: RPCError.self) {
            try await InProcessChannel(router).unary(
                Self.signIn,
                Google_Protobuf_StringValue(),
                response: Google_Protobuf_StringValue.self,
                options: .init()
            )
        }
        #expect(error?.code == .permissionDenied)
    }
}
