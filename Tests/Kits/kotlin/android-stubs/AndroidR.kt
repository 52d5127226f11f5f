// Declarations of Android's classes, as far as the kit and the sample use them: what is compiled against them is checked by its types, and
// can't run.
@file:Suppress("unused", "UNUSED_PARAMETER")

package android

object R {
    object string {
        const val unknownName: Int = 0
    }
}
