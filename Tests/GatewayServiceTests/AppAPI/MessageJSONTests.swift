import API
import HTTPJSON
import JOSE
import SwiftProtobuf
import Testing

@testable import GatewayService

/// Messages of the public API as JSON routes write them, and requests as they read them.
struct MessageJSONTests {
    private func json<M: Message>(_ message: M) -> String {
        let bytes = JSONWriter.object { $0.addMembers(of: message, AppDescription.current.shape(of: M.self)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `An empty message has every member with its default`() {
        #expect(
            json(AppV1.Member())
                == #"{"id":"","state":"pending","user_id":null,"phone_number":null,"display_name":null,"added_at":null,"role":null,"#
                + #""unconfirmed":false,"username":null,"avatar_url":null,"unproven":false}"#
        )
        #expect(json(AppV1.ListGroupsResponse()) == #"{"groups":[],"next_page_token":null}"#)
        #expect(json(AppV1.AddMembersResult()) == #"{"member":null,"refusal":null}"#)
    }

    @Test func `Texts are escaped, and times have milliseconds`() {
        var group = AppV1.Group()
        (group.groupID, group.name, group.openness, group.role) = ("g", "a\"b\n\u{1F600}", .confirm, .owner)
        group.createdAt = Google_Protobuf_Timestamp(milliseconds: 1_769_903_999_123)
        #expect(
            json(group)
                == #"{"id":"g","name":"a\"b\u000a😀","owner_user_id":"","created_at":"2026-01-31T23:59:59.123Z","openness":"confirm","#
                + #""role":"owner"}"#
        )
    }

    @Test func `A value of a later version is the fallback of its enum`() {
        var group = AppV1.Group()
        (group.openness, group.role) = (.UNRECOGNIZED(77), .UNRECOGNIZED(-1))
        let text = json(group)
        #expect(text.contains(#""openness":"consent""#) && text.contains(#""role":"member""#))
    }

    @Test func `A field that takes its message's place adds the message's members, even if it is absent`() {
        var made = AppV1.CreateGroupLinkResponse()
        made.token = "t"
        let link = #""id":"","created_by_user_id":null,"created_at":null,"expires_at":null,"uses_max":null,"uses":0"#
        #expect(json(made) == "{\(link),\"token\":\"t\"}")
        made.link.uses = 3
        #expect(json(made).contains(#""uses":3,"token":"t""#))
    }

    @Test func `Fields are written by rising number, whatever their order in the proto`() throws {
        for message in [AppV1.Profile.protoMessageName, AppV1.Member.protoMessageName] {
            #expect(message.hasPrefix("vestibule.app.v1."))
        }
        let fields = AppDescription.current.shape(of: AppV1.Profile.self).fields.map(\.number)
        #expect(fields == fields.sorted())
        var profile = AppV1.Profile()
        (profile.avatarURL, profile.userID, profile.revision) = ("https://a", "u", 7)
        let text = json(profile)
        let object = try JSONObject(parsing: Array(text.utf8))
        #expect(object["revision"] == 7 && object["avatar_url"] == "https://a" && object["username"] == .null)
    }

    // MARK: Requests

    private func read<M: Message>(_ message: M.Type, _ body: JSONObject) throws -> M {
        var input = JSONInput(body)
        var request = RequestJSON()
        request.add(AppDescription.current.shape(of: message).fields.filter { !$0.isHidden }, of: &input)
        try input.finish()
        return try M(serializedBytes: request.bytes)
    }

    private func faults<M: Message>(_ message: M.Type, _ body: JSONObject) -> [String] {
        do {
            _ = try read(message, body)
            return []
        } catch {
            return (error as? Problem)?.fields.map { "\($0.name) \($0.code)" } ?? ["\(error)"]
        }
    }

    @Test func `A field with presence is absent, set, or empty for null where it is nullable`() throws {
        #expect(try !read(AppV1.UpdateMeRequest.self, [:]).hasUsername)
        let body: JSONObject = ["username": .null, "display_name": "", "expected_revision": 0]
        let emptied = try read(AppV1.UpdateMeRequest.self, body)
        #expect(emptied.hasUsername && emptied.hasDisplayName && emptied.hasExpectedRevision)
        #expect(emptied.username.isEmpty)
        #expect(faults(AppV1.UpdateMeRequest.self, ["phone_number": .null]) == ["phone_number WRONG_TYPE"])
        #expect(faults(AppV1.UpdateGroupRequest.self, ["group_id": "g", "name": ""]) == ["name REQUIRED"])
    }

    @Test(arguments: [0, 1, 127, 128, 16_384, 9_007_199_254_740_991] as [Int64])
    func `Integers of every length arrive`(_ number: Int64) throws {
        let read = try read(AppV1.UpdateMeRequest.self, ["expected_revision": .integer(number)])
        #expect(read.expectedRevision == number)
    }

    @Test func `Every fault is reported, elements by their place`() {
        #expect(
            faults(AppV1.CreateGroupLinkRequest.self, ["group_id": 3, "lifetime_seconds": 59, "uses_max": 1001])
                == ["group_id WRONG_TYPE", "lifetime_seconds OUT_OF_RANGE", "uses_max OUT_OF_RANGE"]
        )
        #expect(
            faults(AppV1.AddMembersRequest.self, ["group_id": "g", "members": [["phone_number": 7], [:]]])
                == ["members[0].phone_number WRONG_TYPE"]
        )
        #expect(faults(AppV1.AddMembersRequest.self, ["group_id": "g"]) == ["members REQUIRED"])
        #expect(
            faults(AppV1.SetMemberRoleRequest.self, ["group_id": "g", "member_id": "m", "role": "owner"])
                == ["role ROLE_INVALID"]
        )
    }

    @Test func `A long text and many elements arrive whole`() throws {
        let long = String(repeating: "ü", count: 20_000)
        let members = (0..<600).map { JSONValue.object(["phone_number": .string("\($0)"), "display_name": .null]) }
        let read = try read(AppV1.AddMembersRequest.self, ["group_id": .string(long), "members": .array(members)])
        #expect(read.groupID == long && read.members.count == 600 && read.members[599].phoneNumber == "599")
    }
}
