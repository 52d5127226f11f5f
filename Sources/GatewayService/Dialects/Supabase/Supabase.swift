import HTTPTypes
import ServiceKit

/// The dialect of apps that sign in at Supabase Auth (gotrue), below `/auth/v1`, by `supabase-js`, `supabase-auth` and their
/// kin: what these send and decode.
///
/// The header field `apikey` is read on admin routes alone: the bearer token identifies the user.
enum Supabase {
    /// Clients that verify tokens themselves look for the keys here.
    private static let keySetOperation = OpenAPI.Operation(
        .get,
        "/auth/v1/.well-known/jwks.json",
        id: "supabaseKeySet",
        tag: .system,
        summary: "The public keys of our tokens (RFC 7517)",
        caller: .anyone,
        answers: [200: .init("The key set.", .keySet)],
        errors: .supabase
    )

    static func endpoints(_ parts: DialectParts, serviceKey: Secret?) -> [Endpoint] {
        var endpoints = [
            SupabaseToken.endpoint(parts),
            SupabaseSignUp.endpoint(parts),
            SupabaseGetUser.endpoint(parts),
            SupabaseUpdateUser.endpoint(parts),
            SupabaseUnlinkIdentity.endpoint(parts),
            SupabaseLogout.endpoint(parts),
            SupabaseSettings.endpoint(parts),
            SupabaseHealth.endpoint(),
            GetKeySetRoute.endpoint(parts.methods, keySetOperation),
        ]
        if let webSignIn = parts.webSignIn {
            endpoints += [
                SupabaseAuthorizeIdentity.endpoint(parts, webSignIn), SupabaseCallback.endpoint(parts, webSignIn),
            ]
        }
        if let serviceKey {
            let key = SupabaseServiceKey(serviceKey)
            endpoints += [SupabaseAdminGetUser.endpoint(key, parts), SupabaseAdminDeleteUser.endpoint(key, parts)]
        }
        return endpoints
    }
}
