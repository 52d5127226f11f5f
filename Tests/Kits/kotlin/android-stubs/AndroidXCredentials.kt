@file:Suppress("unused", "UNUSED_PARAMETER")

package androidx.credentials

import android.content.Context
import android.os.Bundle

abstract class Credential {
    abstract val type: String
    abstract val data: Bundle
}

open class CustomCredential(override val type: String, override val data: Bundle) : Credential()

abstract class CredentialOption

class GetCredentialRequest {
    class Builder {
        fun addCredentialOption(option: CredentialOption): Builder = error("a stub")

        fun build(): GetCredentialRequest = error("a stub")
    }
}

class GetCredentialResponse(val credential: Credential)

interface CredentialManager {
    suspend fun getCredential(context: Context, request: GetCredentialRequest): GetCredentialResponse

    companion object {
        fun create(context: Context): CredentialManager = error("a stub")
    }
}
