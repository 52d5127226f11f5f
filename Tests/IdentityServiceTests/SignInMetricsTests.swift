import IdentityDomain
import Postgres
import ServiceKit
import Testing

@testable import IdentityService

struct SignInMetricsTests {
    private func lines(_ metrics: some MetricsSource) -> [String] {
        var text = MetricsText()
        metrics.write(to: &text)
        return text.text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    @Test func `Every provider and outcome has a series from the start`() {
        let lines = lines(SignInMetrics(providers: [.google, .apple]))
        // Of people there are four statuses and three kinds of e-mail for each provider that is configured.
        #expect(lines.count == 3 * SignInMetrics.Outcome.all.count + 2 * 4 * 3)
        #expect(Set(lines).count == lines.count)
        #expect(lines.allSatisfy { $0.hasSuffix(" 0") })
    }

    @Test func `Sign-ins are counted under the right labels`() {
        let metrics = SignInMetrics(providers: [.google, .apple])
        metrics.count(.apple, .newAccount(.code))
        metrics.count(.google, SignInMetrics.Outcome(IdentityError.token(.audience)))
        metrics.count(nil, SignInMetrics.Outcome(IdentityError.providerUnknown))
        metrics.count(.google, SignInMetrics.Outcome(IdentityError.providerUnavailable))
        metrics.count(.apple, SignInMetrics.Outcome(IdentityError.signIn(.tokenStale)))
        metrics.count(.google, SignInMetrics.Outcome(IdentityError.signIn(.subjectDiffers)))
        metrics.count(.google, SignInMetrics.Outcome(IdentityError.accountNotFound))
        metrics.count(.google, SignInMetrics.Outcome(IdentityError.link(.absorptionUnderWay)))
        metrics.count(.google, SignInMetrics.Outcome(PostgresError.unavailable("gone")))
        metrics.count(.apple, SignInMetrics.Outcome(CancellationError()))
        #expect(
            Set(lines(metrics).filter { $0.hasSuffix(" 1") }) == [
                "vestibule_identity_sign_ins_total{provider=\"apple\",outcome=\"new_account\",proof=\"code\"} 1",
                "vestibule_identity_sign_ins_total{provider=\"google\",outcome=\"token_audience\",proof=\"none\"} 1",
                "vestibule_identity_sign_ins_total{provider=\"apple\",outcome=\"token_stale\",proof=\"none\"} 1",
                "vestibule_identity_sign_ins_total{provider=\"google\",outcome=\"token_subject\",proof=\"none\"} 1",
                "vestibule_identity_sign_ins_total{provider=\"google\",outcome=\"account_not_found\",proof=\"none\"} 1",
                "vestibule_identity_sign_ins_total{provider=\"google\",outcome=\"account_held\",proof=\"none\"} 1",
                "vestibule_identity_sign_ins_total{provider=\"unknown\",outcome=\"provider_unknown\",proof=\"none\"} 1",
                "vestibule_identity_sign_ins_total{provider=\"google\",outcome=\"provider_unavailable\",proof=\"none\"} 1",
                "vestibule_identity_sign_ins_total{provider=\"google\",outcome=\"database_unavailable\",proof=\"none\"} 1",
                "vestibule_identity_sign_ins_total{provider=\"apple\",outcome=\"failed\",proof=\"none\"} 1",
            ]
        )
    }

    @Test func `A provider that is not configured is unknown`() throws {
        let metrics = SignInMetrics(providers: [.apple])
        metrics.count(ProviderName("someone-else"), .failed)
        let line = try #require(lines(metrics).first { $0.hasSuffix(" 1") })
        #expect(line == "vestibule_identity_sign_ins_total{provider=\"unknown\",outcome=\"failed\",proof=\"none\"} 1")
    }
}
