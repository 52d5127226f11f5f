/// Detects RSA moduli that can be factored because of a flaw in some chips (CVE-2017-15361, "ROCA"): each of their primes is
/// a power of 65537 modulo every small prime, and so is the modulus. Factoring such a key of 2048 bits costs some tens of
/// thousands of dollars, so its signatures prove little.
///
/// About one in 2^27 other moduli looks like this by accident; its owner makes another key.
enum RSAWeakness {
    /// The primes up to 167 that help to detect it (Nemec and others, "The Return of Coppersmith's Attack", 2017): modulo
    /// the other primes every number is a power of 65537.
    private static let primes: [UInt32] = [11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157]

    /// For each prime, which remainders are powers of 65537.
    private static let powers: [(prime: UInt32, isPower: [Bool])] = primes.map { prime in
        var isPower = [Bool](repeating: false, count: Int(prime))
        var power: UInt32 = 1
        repeat {
            isPower[Int(power)] = true
            power = power * (65537 % prime) % prime
        } while power != 1
        return (prime, isPower)
    }

    /// Whether the modulus, big-endian, has that structure. It takes some 4,000 steps for 2048 bits, once when a key is read.
    static func hasGuessablePrimes(modulus: [UInt8]) -> Bool {
        powers.allSatisfy { prime, isPower in
            isPower[Int(modulus.reduce(0) { ($0 << 8 | UInt32($1)) % prime })]
        }
    }
}
