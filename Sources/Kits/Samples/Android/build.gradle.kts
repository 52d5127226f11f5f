// The app's module. Not run by us.
plugins {
    id("com.android.application")
    kotlin("android")
}

android {
    namespace = "com.example.shop"
    compileSdk = 36
    defaultConfig {
        applicationId = "com.example.shop"
        minSdk = 26
        targetSdk = 36
    }
    // cut: sources
    sourceSets["main"].kotlin.srcDirs(
        "../vestibule/src/main/kotlin", "../vestibule/src/android/kotlin", "../vestibule/Generated",
    )
    // cut end
}

dependencies {
    // cut: dependencies
    implementation("org.jetbrains.kotlinx:kotlinx-coroutines-android:1.10.2")
    implementation("androidx.credentials:credentials:1.5.0")
    implementation("androidx.credentials:credentials-play-services-auth:1.5.0")
    implementation("com.google.android.libraries.identity.googleid:googleid:1.1.1")
    // cut end
    implementation("androidx.activity:activity-ktx:1.10.1")
    implementation("androidx.browser:browser:1.8.0")
    implementation("androidx.lifecycle:lifecycle-runtime-ktx:2.9.0")
}
