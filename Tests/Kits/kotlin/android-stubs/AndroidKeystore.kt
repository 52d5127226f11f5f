@file:Suppress("unused", "UNUSED_PARAMETER")

package android.security.keystore

import java.security.spec.AlgorithmParameterSpec

object KeyProperties {
    const val KEY_ALGORITHM_AES: String = "AES"
    const val PURPOSE_ENCRYPT: Int = 1
    const val PURPOSE_DECRYPT: Int = 2
    const val BLOCK_MODE_GCM: String = "GCM"
    const val ENCRYPTION_PADDING_NONE: String = "NoPadding"
}

class KeyGenParameterSpec private constructor(val keystoreAlias: String) : AlgorithmParameterSpec {
    class Builder(private val alias: String, purposes: Int) {
        fun setBlockModes(vararg modes: String): Builder = this

        fun setEncryptionPaddings(vararg paddings: String): Builder = this

        fun build(): KeyGenParameterSpec = KeyGenParameterSpec(alias)
    }
}
