package com.example.shop

import android.content.Intent
import android.net.Uri
import android.os.Bundle
import android.widget.Button
import android.widget.LinearLayout
import android.widget.TextView
import androidx.activity.ComponentActivity
import androidx.browser.customtabs.CustomTabsIntent
import androidx.lifecycle.Lifecycle
import androidx.lifecycle.lifecycleScope
import androidx.lifecycle.repeatOnLifecycle
import java.util.Locale
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.flow.collectLatest
import kotlinx.coroutines.launch
import vestibule.ErrorCode
import vestibule.ErrorTexts
import vestibule.GuestOutcome
import vestibule.KitErrorCode
import vestibule.SessionState
import vestibule.Vestibule
import vestibule.VestibuleException
import vestibule.absorbGuest
import vestibule.account
import vestibule.beginSignIn
import vestibule.deleteAccount
import vestibule.events
import vestibule.finishSignIn
import vestibule.groups
import vestibule.keptGuest
import vestibule.signIn
import vestibule.signInAsGuest

/** Signs in by Google or by the server's page, and shows the profile and the groups as they change. */
class MainActivity : ComponentActivity() {
    private val vestibule: Vestibule get() = (application as ShopApp).vestibule
    private lateinit var message: TextView
    private lateinit var content: LinearLayout

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        message = TextView(this)
        content = LinearLayout(this).apply { orientation = LinearLayout.VERTICAL }
        setContentView(LinearLayout(this).apply {
            orientation = LinearLayout.VERTICAL
            addView(message)
            addView(content)
        })
        follow()
        finishPage(intent)
    }

    // cut: states
    /** Shows who is signed in, as long as the activity can be seen. */
    private fun follow() = lifecycleScope.launch {
        repeatOnLifecycle(Lifecycle.State.STARTED) {
            vestibule.states.collectLatest { state ->
                when (state) {
                    is SessionState.SignedIn -> showGroups()
                    is SessionState.SignedOut -> {
                        showSignIn()
                        // Why the session has ended, once: the user ended it elsewhere, or an operator did. It has to be shown before
                        // anything here suspends: then the kit forgets it.
                        state.code?.let { message.text = text(it) }
                    }
                }
            }
        }
    }
    // cut end

    // cut: sign-in
    private fun signInByGoogle() = trying {
        val credentials = askGoogle(this) ?: return@trying
        vestibule.signIn(credentials)
        // `states` has the rest.
    }
    // cut end

    // cut: groups
    private suspend fun showGroups() = reporting {
        // An event comes at once, and one for each change from then on, also after the device was offline.
        vestibule.events().collectLatest {
            // A failure here is shown, and the next event tries again.
            reporting {
                val profile = vestibule.account.getMe()
                val groups = vestibule.groups.listGroups().groups
                show(
                    listOf(profile.displayName ?: getString(android.R.string.unknownName)) + groups.map { it.name },
                    "Sign out" to { trying { vestibule.signOut() } },
                    "Delete my account" to ::deleteByGoogle,
                    *guestChoices(),
                )
            }
        }
    }
    // cut end

    // cut: guest
    /** The user begins without a provider. `linkProvider` makes the account a full one later. */
    private fun continueAsGuest() = trying { vestibule.signInAsGuest() }
    // cut end

    // cut: kept-guest
    /** What a guest can do; and after a sign-in to an account, what the user decides about what the guest had. */
    private suspend fun guestChoices(): Array<Pair<String, () -> Any>> {
        val state = vestibule.state()
        return when {
            state is SessionState.SignedIn && state.isGuest -> arrayOf("Sign in with Google" to ::signInByGoogle)
            vestibule.keptGuest() == null -> emptyArray()
            else -> arrayOf(
                "Take my groups as a guest with me" to { absorb(GuestOutcome.MERGE) },
                "Delete what I had as a guest" to { absorb(GuestOutcome.DROP) },
            )
        }
    }

    private fun absorb(outcome: GuestOutcome) = trying { vestibule.absorbGuest(outcome) }
    // cut end

    // cut: page
    /** Signs in by the server's page, which has every provider that is configured. */
    private fun signInByPage() = trying {
        val page = vestibule.beginSignIn("com.example.shop:/callback")
        CustomTabsIntent.Builder().build().launchUrl(this, Uri.parse(page))
    }

    override fun onNewIntent(intent: Intent) {
        super.onNewIntent(intent)
        finishPage(intent)
    }

    /** The page has opened the app again. */
    private fun finishPage(intent: Intent) {
        val callback = intent.data?.toString()?.takeIf { it.startsWith("com.example.shop:/callback") } ?: return
        intent.data = null
        trying {
            try {
                // It goes on if the phone is turned meanwhile.
                vestibule.finishSignIn(callback)
            } catch (error: VestibuleException) {
                // After the end of the process the system may bring the same callback once more.
                if (error.code != ErrorCode.WEB_STATE_INVALID || vestibule.state() is SessionState.SignedOut) throw error
            }
        }
    }
    // cut end

    // cut: delete
    /** The user signs in once more, so that nobody who finds the phone deletes the account. */
    private fun deleteByGoogle() = trying {
        val credentials = askGoogle(this) ?: return@trying
        vestibule.deleteAccount(credentials)
    }
    // cut end

    private fun showSignIn() = show(
        emptyList(), "Sign in with Google" to ::signInByGoogle, "Other ways to sign in" to ::signInByPage,
        "Continue as guest" to ::continueAsGuest)

    private fun show(lines: List<String>, vararg buttons: Pair<String, () -> Any>) {
        content.removeAllViews()
        for (line in lines) content.addView(TextView(this).apply { text = line })
        for ((label, action) in buttons) {
            content.addView(Button(this).apply {
                text = label
                setOnClickListener { action() }
            })
        }
    }

    // cut: errors
    private fun trying(action: suspend () -> Unit) = lifecycleScope.launch { reporting(action) }

    private suspend fun reporting(action: suspend () -> Unit) {
        try {
            message.text = ""
            action()
        } catch (error: CancellationException) {
            throw error
        } catch (error: VestibuleException) {
            // `states` has the end of a session, and a user who turned back knows it.
            if (error.code != KitErrorCode.CANCELLED && error.code != KitErrorCode.SIGNED_OUT) message.text = text(error.code)
        }
    }

    private fun text(code: String) = ErrorTexts.text(code, Locale.getDefault().toLanguageTag())
    // cut end
}
