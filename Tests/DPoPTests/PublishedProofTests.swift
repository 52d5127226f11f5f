import DPoP
import JOSE
import Testing

/// The proofs that RFC 9449 prints, at the time that they were made.
struct PublishedProofTests {
    private static let header =
        "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJo"
        + "RjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19"
    /// Figure 2.
    private static let ofTokenRequest =
        header + ".eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rv"
        + "a2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37"
        + "xRZT3Lg"
    /// Figure 12.
    private static let ofResourceRequest =
        header + ".eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9w"
        + "cm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbV"
        + "FFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA"
    /// Figure 9.
    private static let thumbprint = JWKThumbprint("0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    private static let verifier = DPoPVerifier(nonces: DPoPNonces(), requiresNonce: false)

    private static func at(_ seconds: Int64) -> DPoPInstant { DPoPInstant(unixSeconds: seconds, monotonicSeconds: 0) }

    @Test func `The proof of section 4_1 verifies, for a minute`() throws {
        let request = DPoPVerifier.Request(
            method: "POST",
            target: TargetURI("https://server.example.com")?.appending("/token")
        )
        let text = Self.ofTokenRequest
        let proof = try Self.verifier.verify(text, of: request, now: Self.at(1_562_262_616))
        #expect(proof.thumbprint == Self.thumbprint)
        #expect(!proof.hasNonce)
        _ = try Self.verifier.verify(text, of: request, now: Self.at(1_562_262_676))
        #expect(throws: DPoPError.tooOld) {
            try Self.verifier.verify(text, of: request, now: Self.at(1_562_262_677))
        }
        _ = try Self.verifier.verify(text, of: request, now: Self.at(1_562_262_606))
        #expect(throws: DPoPError.fromFuture) {
            try Self.verifier.verify(text, of: request, now: Self.at(1_562_262_605))
        }
    }

    @Test func `The proof of section 7_1 verifies with its access token and the thumbprint of section 6_1`() throws {
        var request = DPoPVerifier.Request(
            method: "GET",
            target: TargetURI("https://resource.example.org")?.appending("/protectedresource"),
            accessToken: "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU",
            thumbprint: Self.thumbprint
        )
        let proof = try Self.verifier.verify(Self.ofResourceRequest, of: request, now: Self.at(1_562_262_618))
        #expect(proof.thumbprint.text == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        request.accessToken = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxV"
        #expect(throws: DPoPError.wrongAccessToken) {
            try Self.verifier.verify(Self.ofResourceRequest, of: request, now: Self.at(1_562_262_618))
        }
    }
}
