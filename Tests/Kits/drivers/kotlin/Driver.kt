package vestibule.driver

import java.util.concurrent.ConcurrentHashMap
import kotlin.system.exitProcess
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.DelicateCoroutinesApi
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.launch
import vestibule.JSON
import vestibule.JSONObject
import vestibule.VestibuleException
import vestibule.number
import vestibule.present
import vestibule.text

/** Serves clients by JSON lines: see Tests/Kits/README.md. */
internal class Driver {
    private val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default)
    private val clients = ConcurrentHashMap<String, DriverClient>()
    private val requests = ConcurrentHashMap<Long, Job>()

    fun run() {
        while (true) {
            val line = readlnOrNull() ?: break
            val request = JSON.readObject(line)
            val id = request.number("id") ?: error("a request without an id")
            val client = client(request)
            // One that is cancelled before it begins is answered, too.
            @OptIn(DelicateCoroutinesApi::class)
            val job = scope.launch(start = CoroutineStart.ATOMIC) { serve(id, request, client) }
            requests[id] = job
            job.invokeOnCompletion { requests.remove(id) }
        }
        // Like a process that ends: nothing is waited for.
        exitProcess(0)
    }

    /** The client that a request is for, as the lines before it left it. */
    private fun client(request: JSONObject): DriverClient? {
        val name = request.text("client").orEmpty()
        return when (request.text("op")) {
            "open" -> DriverClient(name, request, ::write).also { clients[name] = it }
            "drop" -> clients.remove(name)
            else -> clients[name]
        }
    }

    private suspend fun serve(id: Long, request: JSONObject, client: DriverClient?) {
        try {
            val op = request.text("op")
            val answer = when {
                op == "cancel" -> requests[request.number("target")]?.cancel().let { emptyMap() }
                client == null -> return write(failure(id, "DRIVER"))
                op == "open" -> client.within { open() }
                op == "drop" -> client.drop().let { emptyMap() }
                else -> client.within { serve(op, request) }
            }
            write(mapOf("id" to id, "ok" to (answer ?: return)))
        } catch (error: VestibuleException) {
            write(mapOf("id" to id, "error" to error.json))
        } catch (error: CancellationException) {
            write(failure(id, "CANCELLED"))
            throw error
        } catch (error: Exception) {
            System.err.println(error.stackTraceToString())
            write(failure(id, "DRIVER"))
        }
    }

    private fun failure(id: Long, code: String) = mapOf("id" to id, "error" to mapOf("code" to code))

    private fun write(message: JSONObject): Unit = synchronized(this) {
        System.out.write((JSON.write(message) + "\n").toByteArray())
        System.out.flush()
    }
}

/** An error as the driver answers it. */
internal val VestibuleException.json: JSONObject
    get() = present(
        "code" to code, "action" to action.name, "status" to status,
        "retryAfter" to retryAfter?.let { it.inWholeMilliseconds / 1000.0 },
        "fields" to fields.mapValues { mapOf("code" to it.value.code, "message" to it.value.message) }.ifEmpty { null },
    )

internal fun main() = Driver().run()
