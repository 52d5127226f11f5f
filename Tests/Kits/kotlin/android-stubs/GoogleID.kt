@file:Suppress("unused", "UNUSED_PARAMETER")

package com.google.android.libraries.identity.googleid

import android.os.Bundle
import androidx.credentials.CredentialOption

class GetSignInWithGoogleOption : CredentialOption() {
    class Builder(serverClientId: String) {
        fun setNonce(nonce: String?): Builder = error("a stub")

        fun build(): GetSignInWithGoogleOption = error("a stub")
    }
}

class GoogleIdTokenCredential(val idToken: String) {
    companion object {
        const val TYPE_GOOGLE_ID_TOKEN_CREDENTIAL: String = "com.google.android.libraries.identity.googleid.TYPE_GOOGLE_ID_TOKEN_CREDENTIAL"

        fun createFrom(data: Bundle): GoogleIdTokenCredential = error("a stub")
    }
}
