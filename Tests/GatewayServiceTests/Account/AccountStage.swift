import API
import APIDoubles
import HTTPTypes
import RPC
import SwiftProtobuf
import Testing
import WebPages

@testable import GatewayService

/// A gateway with pages, and a browser whose session identity finds alive.
struct AccountStage {
    static let token = "browser-token"
    static let formValue = PageForm.value(ofToken: token)
    static let group = "0190c2a5-7f00-7000-8000-0000000000aa"

    let stage: OpenIDStage

    init(origin: String = "https://id.example.com") throws {
        stage = try OpenIDStage(origin: origin)
        stage.gateway.stubs.oauth.set { answers in
            answers.useBrowserSession = { request, _ in
                .with {
                    $0.signIn.providers = ["apple", "google"]
                    guard request.browserToken == Self.token else { return }
                    $0.session.accessToken = StubServices.accessToken
                    ($0.session.userID, $0.session.provider) = (StubServices.userID, "apple")
                    $0.session.expiresAtSeconds = .max
                }
            }
        }
        answerAbout()
    }

    /// Has the services tell something of everything, with texts that must be escaped.
    private func answerAbout() {
        let stubs = stage.gateway.stubs
        stubs.identity.set { answers in
            answers.getAccount = { _, _ in
                .with {
                    $0.account.identities = ["apple", "facebook"].map { name in
                        .with { ($0.provider, $0.email, $0.createdAtMs) = (name, "<\(name)>@example.com", 1_000) }
                    }
                }
            }
            answers.listSessions = { _, _ in
                .with {
                    $0.sessions = [true, false].map { isCurrent in
                        .with {
                            ($0.sessionID, $0.deviceName) = (Self.group, "<Phone> & \"co\"")
                            ($0.provider, $0.isCurrent, $0.lastUsedAtMs) = ("apple", isCurrent, 1_769_903_999_123)
                        }
                    }
                    $0.recentChanges = [.with { ($0.kind, $0.provider) = ("provider_linked", "google") }]
                    $0.deletesAtMs = 2_000
                }
            }
            answers.cancelDeletion = { _, _ in .init() }
        }
        let group = AppV1.Group.with {
            ($0.groupID, $0.name, $0.role, $0.openness) = (Self.group, "<Trip>", .owner, .confirm)
        }
        stubs.groups.set { answers in
            answers.listGroups = { _, _ in .with { ($0.groups, $0.nextPageToken) = ([group], "next") } }
            answers.getGroup = { _, _ in .with { $0.group = group } }
            answers.listMyInvitations = { _, _ in
                .with { $0.invitations = [.with { ($0.groupName, $0.state) = ("<Choir>", .consent) }] }
            }
            answers.listMembers = { _, _ in
                .with {
                    $0.members = [
                        .with {
                            ($0.memberID, $0.state, $0.displayName, $0.role) = (Self.group, .member, "<Ana>", .member)
                        }
                    ]
                }
            }
            answers.listPending = { _, _ in
                .with {
                    $0.people = [
                        .with {
                            ($0.memberID, $0.displayName, $0.mayConfirm) = (Self.group, "<Bea>", true)
                            ($0.userID, $0.state) = (Self.group, .request)
                        }
                    ]
                }
            }
            answers.listGroupLinks = { _, _ in
                .with { $0.links = [.with { ($0.linkID, $0.usesMax) = (Self.group, 5) }] }
            }
            answers.previewGroupLink = { _, _ in .with { ($0.groupID, $0.groupName) = (Self.group, "<Trip>") } }
        }
    }

    /// The methods that services were called with, but for those of each page.
    var calls: [String] {
        stage.gateway.stubs.calls.filter { $0 != "UseBrowserSession" && $0 != "CheckSession" }
    }

    func get(_ uri: String, headers: HTTPFields = [:]) async throws -> OpenIDStage.Answer {
        try await stage.get(uri, cookie: OpenIDStage.session, headers: headers)
    }

    /// Sends a form as a page of the session does.
    func post(_ uri: String, _ form: String = "", headers: HTTPFields = [:]) async throws -> OpenIDStage.Answer {
        try await stage.post(
            uri,
            "form_value=\(Self.formValue)\(form.isEmpty ? "" : "&")\(form)",
            cookie: OpenIDStage.session,
            headers: headers
        )
    }
}
