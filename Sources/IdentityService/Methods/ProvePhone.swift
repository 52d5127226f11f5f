import API
import IdentityDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension IdentityMethods {
    /// Proves that a number is the caller's, by an assertion of the app's own backend.
    func provePhone(
        _ request: IdentityV1.ProvePhoneRequest,
        context: ServerContext
    ) async throws -> IdentityV1.ProvePhoneResponse {
        try await context.answer {
            let userID = try callers.fullUser(of: context)
            guard let phoneAssertions else { throw IdentityError.phoneAssertion(.notConfigured) }
            let now = clock.nowMilliseconds
            let assertion: PhoneAssertion
            do throws(PhoneAssertionRejection) {
                assertion = try phoneAssertions.judge(request.assertion, for: userID, nowSeconds: now / 1_000)
            } catch {
                throw IdentityError.phoneAssertion(error)
            }
            let event = try await store.enter(
                assertion,
                of: userID,
                by: try callers.sessionIfAny(of: context),
                eventID: identifiers.make(),
                keys: phoneKeys,
                nowMilliseconds: now,
                deadline: context.deadline
            )
            var response = IdentityV1.ProvePhoneResponse()
            switch await phoneProofs.tell(event, deadline: context.deadline) {
            // Outdated: sent again, and the person chose another number since.
            case .settled(.proven), .settled(.outdated): break
            case .settled(.conflict): throw IdentityError.phoneProof(.taken)
            case .settled(.notAllowed): throw IdentityError.phoneProof(.notAllowed)
            case .settled(.accountClosed): throw IdentityError.sessionRevoked
            // The session ended with the account that was absorbed.
            case .opened: throw IdentityError.phoneProof(.accountOpened)
            case .opening, .absorbed, nil: response.isPending = true
            }
            return response
        }
    }
}
