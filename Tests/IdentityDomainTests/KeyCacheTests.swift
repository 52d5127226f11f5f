import IdentityDomain
import JOSE
import Testing

struct KeyCacheTests {
    private let first: KeySet
    private let second: KeySet
    private let times = KeyCache.Times()

    init() throws {
        first = KeySet([try SigningKey.generateP256(keyID: "one")])
        second = KeySet([try SigningKey.generateP256(keyID: "two")])
    }

    /// A decision without its key, to compare.
    private enum Kind: Equatable {
        case use, useAndFetch, fetchAndWait, wait, unknownKey, unavailable

        init(_ decision: KeyCache.Decision) {
            switch decision {
            case .use: self = .use
            case .useAndFetch: self = .useAndFetch
            case .fetchAndWait: self = .fetchAndWait
            case .wait: self = .wait
            case .unknownKey: self = .unknownKey
            case .unavailable: self = .unavailable
            }
        }
    }

    private func lookUp(_ cache: inout KeyCache, _ keyID: String, at now: Int64) -> Kind {
        Kind(cache.lookUp(keyID: keyID, algorithm: .es256, nowMilliseconds: now))
    }

    private func afterFetch(_ cache: KeyCache, _ keyID: String, at now: Int64) -> Kind {
        Kind(cache.afterFetch(keyID: keyID, algorithm: .es256, nowMilliseconds: now))
    }

    @Test func `An empty cache fetches once and the others wait`() {
        var cache = KeyCache()
        #expect(lookUp(&cache, "one", at: 1_000) == .fetchAndWait)
        #expect(lookUp(&cache, "one", at: 1_001) == .wait)
        #expect(lookUp(&cache, "two", at: 1_001) == .wait)
        cache.fetched(first, maxAgeSeconds: nil, nowMilliseconds: 1_100)
        #expect(afterFetch(cache, "one", at: 1_100) == .use)
        #expect(afterFetch(cache, "two", at: 1_100) == .unknownKey)
        #expect(lookUp(&cache, "one", at: 1_200) == .use)
    }

    @Test func `Failures back off`() {
        var cache = KeyCache()
        var now: Int64 = 1_000
        for delay in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000] as [Int64] {
            #expect(lookUp(&cache, "one", at: now) == .fetchAndWait)
            cache.fetchFailed(nowMilliseconds: now)
            #expect(afterFetch(cache, "one", at: now) == .unavailable)
            #expect(lookUp(&cache, "one", at: now + delay - 1) == .unavailable)
            now += delay
        }
        #expect(lookUp(&cache, "one", at: now) == .fetchAndWait)
        cache.fetched(first, maxAgeSeconds: nil, nowMilliseconds: now)
        #expect(lookUp(&cache, "one", at: now) == .use)
    }

    @Test func `An unknown key fetches once in a cooldown`() {
        var cache = KeyCache()
        _ = lookUp(&cache, "one", at: 0)
        cache.fetched(first, maxAgeSeconds: 3600, nowMilliseconds: 0)
        #expect(lookUp(&cache, "two", at: times.unknownKeyCooldown - 1) == .unknownKey)
        let now = times.unknownKeyCooldown
        #expect(lookUp(&cache, "two", at: now) == .fetchAndWait)
        #expect(lookUp(&cache, "three", at: now) == .wait)
        #expect(lookUp(&cache, "one", at: now) == .use)
        cache.fetched(second, maxAgeSeconds: 3600, nowMilliseconds: now + 5)
        #expect(afterFetch(cache, "two", at: now + 5) == .use)
        #expect(afterFetch(cache, "one", at: now + 5) == .unknownKey, "a key that the provider withdrew is gone")
        #expect(lookUp(&cache, "four", at: now + 6) == .unknownKey)
    }

    @Test func `An unknown key while the provider is down is unavailable`() {
        var cache = KeyCache()
        _ = lookUp(&cache, "one", at: 0)
        cache.fetched(first, maxAgeSeconds: 3600, nowMilliseconds: 0)
        let now = times.unknownKeyCooldown
        #expect(lookUp(&cache, "two", at: now) == .fetchAndWait)
        cache.fetchFailed(nowMilliseconds: now)
        #expect(afterFetch(cache, "two", at: now) == .unavailable)
        #expect(lookUp(&cache, "two", at: now + 1) == .unavailable)
        #expect(lookUp(&cache, "one", at: now + 1) == .use)
        #expect(lookUp(&cache, "two", at: now + 1_000) == .fetchAndWait)
    }

    @Test func `Stale keys serve while they are fetched`() {
        var cache = KeyCache()
        _ = lookUp(&cache, "one", at: 0)
        cache.fetched(first, maxAgeSeconds: 1000, nowMilliseconds: 0)
        #expect(lookUp(&cache, "one", at: 999_999) == .use)
        #expect(lookUp(&cache, "one", at: 1_000_000) == .useAndFetch)
        #expect(lookUp(&cache, "one", at: 1_000_001) == .use)
        cache.fetchFailed(nowMilliseconds: 1_000_010)
        #expect(lookUp(&cache, "one", at: 1_000_011) == .use)
        #expect(lookUp(&cache, "one", at: 1_001_010) == .useAndFetch)
        cache.fetchFailed(nowMilliseconds: 1_001_010)
        // The provider stays down: the keys serve on, but not for ever.
        var now = times.servedMax - 1
        #expect(lookUp(&cache, "one", at: now) == .useAndFetch)
        cache.fetchFailed(nowMilliseconds: now)
        now += 60_000
        #expect(lookUp(&cache, "one", at: now) == .fetchAndWait)
        cache.fetchFailed(nowMilliseconds: now)
        #expect(afterFetch(cache, "one", at: now) == .unavailable)
    }

    @Test(
        arguments: [
            (0, 300), (-5, 300), (299, 300), (1_000, 1_000), (86_400, 86_400), (1_000_000, 86_400), (Int64.max, 86_400),
            (nil, 3_600),
        ] as [(Int64?, Int64)]
    )
    func `The max-age is honoured within bounds`(maxAgeSeconds: Int64?, freshSeconds: Int64) {
        var cache = KeyCache()
        _ = lookUp(&cache, "one", at: 0)
        cache.fetched(first, maxAgeSeconds: maxAgeSeconds, nowMilliseconds: 0)
        #expect(lookUp(&cache, "one", at: freshSeconds * 1000 - 1) == .use)
        #expect(lookUp(&cache, "one", at: freshSeconds * 1000) == .useAndFetch)
    }

    @Test func `The algorithm belongs to the look-up`() {
        var cache = KeyCache()
        _ = lookUp(&cache, "one", at: 0)
        cache.fetched(first, maxAgeSeconds: nil, nowMilliseconds: 0)
        #expect(Kind(cache.lookUp(keyID: "one", algorithm: .rs256, nowMilliseconds: 1)) == .unknownKey)
    }
}

struct CacheControlTests {
    @Test(
        arguments: [
            ("max-age=100", 100), ("public, max-age=20339, must-revalidate, no-transform", 20_339),
            ("Public,MAX-AGE=5", 5), ("max-age=\"7\"", 7), ("no-store", 0), ("no-cache, max-age=9", 0), ("", nil),
            ("max-age", nil), ("max-age=", nil), ("max-age=-1", nil), ("max-age=x", nil), ("s-maxage=5", nil),
            ("max-age=99999999999999999999", Int64.max),
        ] as [(String, Int64?)]
    )
    func `The max-age is read from Cache-Control`(header: String, seconds: Int64?) {
        #expect(CacheControl.maxAgeSeconds(header) == seconds)
    }
}
