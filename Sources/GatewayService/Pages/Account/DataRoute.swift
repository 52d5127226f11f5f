import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /my/account/data`: the user's data, as the API returns it, in one JSON file.
enum DataRoute {
    static let path = "\(AccountPage.path)/data"
    /// The most pages of a list that are read; each has a hundred entries.
    private static let pagesMax = 100
    private static let pageSize: Int32 = 100

    static func routes(_ pages: AccountPages) -> [Route] {
        [
            pages.page(path) { visit in
                // Costly, so it counts as a change does.
                let user = try await visit.user(isChange: true, act: .exportData)
                let options = visit.methods.groupOptions(user)
                let profile = try await visit.methods.getMe(.init(), user).profile
                let providers = try await visit.methods.listProviders(.init(), user).providers
                let passkeys =
                    visit.signIn.passkeysEnabled ? try await visit.methods.listPasskeys(.init(), user).passkeys : []
                let sessions = try await visit.methods.listSessions(.init(), user)
                let groups = try await all { token in
                    var call = AppV1.ListGroupsRequest()
                    (call.pageSize, call.pageToken) = (pageSize, token)
                    let page = try await visit.methods.groups.listGroups(call, options: options)
                    return (page.groups, page.nextPageToken)
                }
                let invitations = try await all { token in
                    var call = AppV1.ListMyInvitationsRequest()
                    (call.pageSize, call.pageToken) = (pageSize, token)
                    let page = try await visit.methods.groups.listMyInvitations(call, options: options)
                    return (page.invitations, page.nextPageToken)
                }
                let blocked = try await all { token in
                    var call = AppV1.ListBlockedInvitersRequest()
                    (call.pageSize, call.pageToken) = (pageSize, token)
                    let page = try await visit.methods.groups.listBlockedInviters(call, options: options)
                    return (page.inviters, page.nextPageToken)
                }
                var response = Response.json { json in
                    json.add("profile", message: profile)
                    json.add("identities", messages: providers)
                    json.add("passkeys", messages: passkeys)
                    json.add("sessions", messages: sessions.sessions)
                    json.add("recent_changes", messages: sessions.recentChanges)
                    json.add("groups", messages: groups)
                    json.add("invitations", messages: invitations)
                    json.add("blocked_inviters", messages: blocked)
                }
                response.headers[.contentDisposition] = "attachment; filename=\"account.json\""
                response.headers[.cacheControl] = "no-store"
                return response
            }
        ]
    }

    /// All entries of a list.
    private static func all<Entry>(
        _ page: (_ token: String) async throws -> (entries: [Entry], next: String)
    ) async throws -> [Entry] {
        var entries: [Entry] = []
        var token = ""
        for _ in 0..<pagesMax {
            let next = try await page(token)
            entries += next.entries
            token = next.next
            if token.isEmpty { break }
        }
        return entries
    }
}
