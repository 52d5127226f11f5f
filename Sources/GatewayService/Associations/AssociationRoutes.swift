import HTTPJSON
import HTTPTypes

/// The routes of ``DomainAssociations``; those that have nothing to say don't exist.
enum AssociationRoutes {
    static let apple = operation(
        "/.well-known/apple-app-site-association",
        id: "getAppleAppSiteAssociation",
        "The apps of Apple's platforms that may use the domain's passkeys",
        .object([.required("webcredentials")])
    )
    static let android = operation(
        "/.well-known/assetlinks.json",
        id: "getAssetLinks",
        "The Android apps that may use the domain's passkeys",
        .list(of: .object([.required("relation"), .required("target")]))
    )
    static let origins = operation(
        "/.well-known/webauthn",
        id: "getRelatedOrigins",
        "The pages of other domains that may use the domain's passkeys",
        .object([.required("origins", .list(of: .text()))])
    )

    static func endpoints(_ associations: DomainAssociations) -> [Endpoint] {
        var endpoints: [Endpoint] = []
        if !associations.appleApps.isEmpty { endpoints.append(endpoint(apple, associations.appleJSON)) }
        if !associations.androidApps.isEmpty { endpoints.append(endpoint(android, associations.androidJSON)) }
        if !associations.relatedOrigins.isEmpty { endpoints.append(endpoint(origins, associations.originsJSON)) }
        return endpoints
    }

    private static func operation(
        _ path: String,
        id: String,
        _ summary: String,
        _ schema: OpenAPI.Schema
    ) -> OpenAPI.Operation {
        OpenAPI.Operation(
            .get,
            path,
            id: id,
            tag: .system,
            summary: summary,
            caller: .anyone,
            answers: [200: .init("The file.", schema)]
        )
    }

    private static func endpoint(_ operation: OpenAPI.Operation, _ json: [UInt8]) -> Endpoint {
        let response = Response.json(bytes: json, headers: [.cacheControl: "public, max-age=3600"])
        return Endpoint(operation, atOnce: { _, _ in response })
    }
}
