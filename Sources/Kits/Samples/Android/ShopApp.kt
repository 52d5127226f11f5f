package com.example.shop

// cut: client
import android.app.Application
import vestibule.Vestibule
import vestibule.android.AndroidClock
import vestibule.android.KeystoreStore

/** Has the one client of the app. Nothing happens before its first use. */
class ShopApp : Application() {
    val vestibule: Vestibule by lazy {
        Vestibule("https://id.example.com", KeystoreStore(this), clientId = "shop-app", clock = AndroidClock)
    }
}
// cut end
