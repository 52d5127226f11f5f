import IdentityDomain
import RPCTransport

/// Each loop's access tokens that were verified lately. Nothing is shared between loops.
struct VerifiedTokens: Sendable {
    /// Tokens in each of a loop's two generations: about 3 MB a loop when full.
    static let capacity = 2_048

    /// A class, so that a change happens in place and not on a copy.
    private final class Box {
        var cache = VerifiedTokenCache(capacity: VerifiedTokens.capacity)
    }

    private let group: EventLoopGroup
    private let boxes: [LoopBound<Box>]

    init(group: EventLoopGroup) {
        self.group = group
        boxes = group.loops.map { LoopBound(Box(), loop: $0) }
    }

    /// The claims of an access token of ours, expired or not; the signature is checked unless this loop has seen the
    /// token before. Off the group's loops it is always checked.
    func claims(of token: String, issuer: TokenIssuer) throws(IdentityFault) -> AccessClaims {
        guard let loop = EventLoop.current, group.contains(loop) else {
            return try issuer.verifiedAccessClaims(token)
        }
        let box = boxes[loop.index].value
        if let claims = box.cache.claims(of: token) { return claims }
        let claims = try issuer.verifiedAccessClaims(token)
        box.cache.insert(claims, for: token)
        return claims
    }
}
