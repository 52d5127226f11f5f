import API
import IdentityDomain
import JOSE
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Accepts a provider's notice about users: verified and stored before the response, applied later.
    func acceptNotice(
        _ request: IdentityV1.AcceptNoticeRequest,
        context: ServerContext
    ) async throws -> IdentityV1.AcceptNoticeResponse {
        try await context.answer {
            guard let name = ProviderName(request.provider), let provider = providers[name],
                let sender = NoticeSender(name)
            else { throw IdentityError.providerUnknown }
            do {
                let notice = try await verifiedNotice(request.notice, policy: provider.policy, from: sender)
                let isNew = try await store.keep(
                    notice,
                    from: sender,
                    nowMilliseconds: clock.nowMilliseconds,
                    deadline: context.deadline
                )
                notices.metrics.count(sender, isNew ? .stored : .repeated)
                if isNew { notices.nudge() }
                var response = IdentityV1.AcceptNoticeResponse()
                response.knownBefore = !isNew
                return response
            } catch {
                notices.metrics.count(sender, NoticeMetrics.Outcome(error))
                throw error
            }
        }
    }

    /// Keys are fetched as for sign-ins, with which the bounds are shared: forged messages have none fetched more often.
    private func verifiedNotice(
        _ text: String,
        policy: ProviderPolicy,
        from sender: NoticeSender
    ) async throws -> ProviderNotice {
        do {
            let token = try NoticeToken(parsing: text, policy: policy)
            let key = try await keys.key(id: token.keyID, algorithm: token.algorithm, of: policy.name)
            return try token.notice(verifiedWith: key, policy: policy, from: sender, nowSeconds: clock.nowSeconds)
        } catch TokenRejection.keyUnknown {
            throw IdentityError.notice(.keyUnknown)
        } catch let rejection as NoticeRejection {
            throw IdentityError.notice(rejection)
        }
    }
}
