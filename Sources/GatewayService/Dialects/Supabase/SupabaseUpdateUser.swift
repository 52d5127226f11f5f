import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC

/// `PUT /auth/v1/user`: changes members of `data`, which an app keeps with the account, and the phone number.
///
/// The number first, since it may be taken: then nothing was changed. Asking again does nothing twice. An e-mail address is the
/// provider's to change, and there are no passwords. The member that ``WordPress`` keeps with an account is none of the app's:
/// it holds an address that no other account has, and written here it could be any address. Members that the provider verified are
/// ignored: clients send back the whole metadata that they have read.
enum SupabaseUpdateUser {
    static let operation = OpenAPI.Operation(
        .put,
        "/auth/v1/user",
        id: "supabaseUpdateUser",
        tag: .profile,
        summary: "Changes what an app keeps with the account, and the phone number",
        caller: .user,
        body: .required(.supabaseUserChange),
        answers: [200: .supabaseUser],
        problems: [.forbidden, .fieldsAtFault],
        errors: .supabase
    )

    static func endpoint(_ parts: DialectParts) -> Endpoint {
        Endpoint(operation) { request, context in
            let proofs = try await parts.authentication.user(request, context, in: .supabase).proofs
            var input = try await context.json(request)
            let data = data(of: &input)
            let phone = input.optionalString("phone") ?? ""
            if let email = input.optionalString("email"), !email.isEmpty {
                let known = try await parts.people.account(proofs, context.callOptions()).email
                if email.lowercased() != known.lowercased() { refuse("email", &input) }
            }
            if !(input.optionalString("password") ?? "").isEmpty { refuse("password", &input) }
            try input.finish()
            if !phone.isEmpty {
                var change = ProfileV1.UpdateProfileRequest()
                change.phoneNumber = phone
                let options = parts.authentication.callOptionsWithAddress(.route(request, context))
                    .proving(proofs.profile)
                _ = try await parts.backends.profile.updateProfile(change, options: options)
            }
            if let data, !data.members.isEmpty {
                try await keep(data, proofs, context, parts)
            }
            return .json(try await SupabaseUser.find(proofs, parts.people, context).json)
        }
    }

    /// What a body would have kept with an account: `data` without the members that the provider verified. A member that is none of the
    /// app's is an error of the input, so that nothing is done before it is refused.
    ///
    /// - Parameter bytesMax: the longest text of it.
    static func data(of input: inout JSONInput, bytesMax: Int = .max) -> JSONObject? {
        guard var data = input.optionalObject("data") else { return nil }
        if data[WordPress.emailMember] != nil { refuse("data.\(WordPress.emailMember)", &input) }
        for name in SupabaseUser.providersMembers { data[name] = nil }
        if data.serialized().count > bytesMax {
            input.addError("data", code: "METADATA_TOO_LARGE", detail: "It may have \(bytesMax) bytes.")
        }
        return data
    }

    /// Changes members of what an app keeps with the account.
    static func keep(
        _ data: JSONObject,
        _ proofs: IdentityV1.CallerProofs,
        _ context: RouteContext,
        _ parts: DialectParts
    ) async throws {
        var change = IdentityV1.UpdateUserMetadataRequest()
        change.changesJson = String(decoding: data.serialized(), as: UTF8.self)
        let options = context.callOptions().proving(proofs.identity)
        _ = try await parts.backends.identity.updateUserMetadata(change, options: options)
    }

    private static func refuse(_ name: String, _ input: inout JSONInput) {
        input.addError(name, code: "NOT_CHANGEABLE", detail: "This can't be changed here.")
    }
}

extension OpenAPI.Schema {
    fileprivate static let supabaseUserChange = object([
        .optional(
            "data",
            .object([], description: "Members replace those of the same name; null removes one.", orNull: true)
        ),
        .optional("phone", .text("In any notation of the configured region.", orNull: true)),
    ]).named("SupabaseUserChange")
}
