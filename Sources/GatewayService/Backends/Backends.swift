import API
import RPC

/// The services that the gateway calls.
struct Backends: Sendable {
    /// A service whose readiness is asked for.
    struct Probe: Sendable {
        /// What the answer calls it.
        let name: String
        /// The gRPC service that must be SERVING.
        let service: String
        let health: HealthClient
    }

    let identity: IdentityServiceClient
    let oauth: OAuthServiceClient
    let profile: ProfileServiceClient
    let groups: GroupServiceClient
    let invites: InvitesServiceClient
    let probes: [Probe]

    /// The services behind three channels, which stay the caller's to close.
    init(identity: any ClientChannel, profile: any ClientChannel, invites: any ClientChannel) {
        self.identity = IdentityServiceClient(identity)
        oauth = OAuthServiceClient(identity)
        self.profile = ProfileServiceClient(profile)
        groups = GroupServiceClient(invites)
        self.invites = InvitesServiceClient(invites)
        probes = [
            Probe(name: "identity", service: IdentityServiceMethods.serviceName, health: HealthClient(identity)),
            Probe(name: "profile", service: ProfileServiceMethods.serviceName, health: HealthClient(profile)),
            Probe(name: "invites", service: InvitesServiceMethods.serviceName, health: HealthClient(invites)),
        ]
    }
}
