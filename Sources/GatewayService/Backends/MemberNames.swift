import API
import Logging
import RPC
import ServiceKit

/// What the members of groups who are users call themselves, and their pictures: profile is asked once for a page.
///
/// Lists are answered without where profile can't tell soon: under the names that inviters gave. Any thread.
final class MemberNames: MetricsSource {
    /// How long profile may take.
    static let wait = Duration.seconds(1)

    private let profile: ProfileServiceClient
    private let failures = CounterFamily(
        "vestibule_gateway_member_names_missed_total",
        help:
            "Pages of members that were answered without the members' own names, since profile did not answer in time."
    )

    init(profile: ProfileServiceClient) { self.profile = profile }

    /// What is known of the users of a page, by their ids; nothing if profile can't tell soon.
    func profiles(
        of members: [AppV1.Member],
        for user: SignedInUser
    ) async -> [String: ProfileV1.PublicProfile] {
        var request = ProfileV1.BatchGetProfilesRequest()
        request.userIds = Set(members.map(\.userID)).filter { !$0.isEmpty }.sorted()
        guard !request.userIds.isEmpty else { return [:] }
        do {
            let options = user.caller.callOptions(limit: Self.wait).proving(user.proofs.profile)
            let profiles = try await profile.batchGetProfiles(request, options: options).profiles
            return Dictionary(profiles.map { ($0.userID, $0) }) { first, _ in first }
        } catch {
            failures[0].add()
            user.caller.logger.warning("members' own names are unknown", metadata: ["rpc_code": "\(error.code)"])
            return [:]
        }
    }

    /// Adds the count of pages without names.
    func write(to text: inout MetricsText) { failures.write(to: &text) }
}
