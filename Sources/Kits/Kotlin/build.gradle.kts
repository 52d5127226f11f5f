// Builds the kit in a Gradle build: copy this folder into your project and add `include(":vestibule")` to settings.gradle.kts with
// `project(":vestibule").projectDir = file("path/of/Kotlin")`. Not run by us: our tests compile the same sources by the compiler itself
// (Tests/Kits/kotlin/build.sh). An Android app that has no module of its own for it can take the folders below as source folders.
plugins {
    kotlin("jvm")
}

kotlin {
    explicitApi()
    compilerOptions {
        jvmTarget.set(org.jetbrains.kotlin.gradle.dsl.JvmTarget.JVM_1_8)
        freeCompilerArgs.add("-Xjdk-release=8")
    }
    sourceSets["main"].kotlin.srcDir("Generated")
}

java {
    sourceCompatibility = JavaVersion.VERSION_1_8
    targetCompatibility = JavaVersion.VERSION_1_8
}

dependencies {
    // Calls are suspending functions, and events a Flow.
    api("org.jetbrains.kotlinx:kotlinx-coroutines-core:1.10.2")
}
