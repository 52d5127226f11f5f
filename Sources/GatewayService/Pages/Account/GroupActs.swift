import API
import HTTPJSON
import HTTPTypes
import RPC
import WebPages

/// The forms of a group's page.
enum GroupActs {
    static func routes(_ pages: AccountPages) -> [Route] {
        [
            addMember(pages), createLink(pages),
            act(pages, "members/{member_id}/remove", .removed) { groups, visit, options in
                var call = AppV1.RemoveMemberRequest()
                call.groupID = try visit.context.parameters.require("group_id")
                call.memberID = try visit.context.parameters.require("member_id")
                _ = try await groups.removeMember(call, options: options)
            },
            act(pages, "members/{member_id}/accept", .joined) { groups, visit, options in
                var call = AppV1.AcceptInvitationRequest()
                call.groupID = try visit.context.parameters.require("group_id")
                call.memberID = try visit.context.parameters.require("member_id")
                _ = try await groups.acceptInvitation(call, options: options)
            },
            act(pages, "members/{member_id}/decline", .declined, leaves: true) { groups, visit, options in
                var call = AppV1.DeclineInvitationRequest()
                call.groupID = try visit.context.parameters.require("group_id")
                call.memberID = try visit.context.parameters.require("member_id")
                _ = try await groups.declineInvitation(call, options: options)
            },
            act(pages, "links/{link_id}/revoke", .revoked) { groups, visit, options in
                var call = AppV1.RevokeGroupLinkRequest()
                call.groupID = try visit.context.parameters.require("group_id")
                call.linkID = try visit.context.parameters.require("link_id")
                _ = try await groups.revokeGroupLink(call, options: options)
            },
            act(pages, "leave", .left, leaves: true) { groups, visit, options in
                var call = AppV1.LeaveGroupRequest()
                call.groupID = try visit.context.parameters.require("group_id")
                _ = try await groups.leaveGroup(call, options: options)
            },
            pages.form("\(GroupPage.path)/members/{member_id}/confirm", goal: groups) { visit, form in
                var call = AppV1.ConfirmMemberRequest()
                call.groupID = try visit.context.parameters.require("group_id")
                call.memberID = try visit.context.parameters.require("member_id")
                call.confirmedUserID = form["user_id"]
                let options = visit.methods.groupOptions(try await visit.user(isChange: true))
                _ = try await visit.methods.groups.confirmMember(call, options: options)
                return AccountPages.seeOther(GroupPage.address(call.groupID), .confirmed)
            },
        ]
    }

    private static let groups = ReturnPath(GroupsPage.path) ?? .account

    /// A form that needs nothing but its path.
    ///
    /// - Parameter leaves: whether the user isn't in the group afterwards.
    private static func act(
        _ pages: AccountPages,
        _ path: String,
        _ notice: PageNotice,
        leaves: Bool = false,
        _ act: @escaping @Sendable (GroupServiceClient, AccountPages.Visit, CallOptions) async throws -> Void
    ) -> Route {
        pages.form("\(GroupPage.path)/\(path)", goal: groups) { visit, _ in
            let user = try await visit.user(isChange: true)
            try await act(visit.methods.groups, visit, visit.methods.groupOptions(user))
            let group = try visit.context.parameters.require("group_id")
            return AccountPages.seeOther(leaves ? GroupsPage.path : GroupPage.address(group), notice)
        }
    }

    /// What is wrong with the person is said on the group's page, which keeps what was typed.
    private static func addMember(_ pages: AccountPages) -> Route {
        pages.form("\(GroupPage.path)/members", goal: groups) { visit, form in
            var call = AppV1.AddMemberRequest()
            call.groupID = try visit.context.parameters.require("group_id")
            call.displayName = form["display_name"]
            call.phoneNumber = form["phone_number"]
            let user = try await visit.user(isChange: true)
            do {
                _ = try await visit.methods.groups.addMember(call, options: visit.methods.groupOptions(user))
            } catch {
                let problem = Problem(answering: error)
                guard problem.status == .unprocessableContent else { throw problem }
                var page = try await GroupPage.page(
                    visit,
                    alert: visit.sentence(problem),
                    name: call.displayName,
                    phone: call.phoneNumber
                )
                page.status = problem.status
                return page.response
            }
            return AccountPages.seeOther(GroupPage.address(call.groupID), .added)
        }
    }

    /// Only this answer has the link: it is shown, and nobody keeps it.
    private static func createLink(_ pages: AccountPages) -> Route {
        pages.form("\(GroupPage.path)/links", goal: groups) { visit, _ in
            var call = AppV1.CreateGroupLinkRequest()
            call.groupID = try visit.context.parameters.require("group_id")
            let options = visit.methods.groupOptions(try await visit.user(isChange: true))
            let made: AppV1.CreateGroupLinkResponse
            do throws(RPCError) {
                made = try await visit.methods.groups.createGroupLink(call, options: options)
            } catch {
                throw Problem.unlessRepeatable(error)
            }
            let url = HTMLText.escaped("\(visit.parts.pages.origin)\(InvitationPage.joinPath)#\(made.token)")
            return visit.page(
                visit.text[.invitationLink],
                """
                <p>\(visit.text.html(.invitationLinkText))</p>
                <div class="field">
                <label for="link">\(visit.text.html(.invitationLink))</label>
                <input id="link" value="\(url)" readonly="" dir="ltr">
                </div>
                <p>\(visit.text.html(.validUntil)) \(visit.time(made.link.expiresAt))</p>
                <p>\(visit.link(GroupPage.address(call.groupID), .goBackToPage))</p>
                """,
                current: .groups
            ).response
        }
    }
}
