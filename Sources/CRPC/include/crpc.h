/// The C RPC layer: an epoll loop, HTTP/2 connections on it, and gRPC calls on those.
///
/// It is bytes in, bytes out: it knows nothing of protobuf, of Swift or of what a call means.
///
/// Threads: a loop and everything that was made for it belong to the thread that runs the loop. Only the functions
/// that say "any thread" may be called from elsewhere.
/// Callbacks: fire on the loop's thread. None fires from inside a function that the caller of this library called,
/// except where that function says so; none fires after the object's closing callback.
/// Errors: functions that can fail return 0 or a negative `crpc_error`; `crpc_error_text` tells it in words.
/// Memory: what is passed in is copied before the function returns, unless it says that it takes it over.
#ifndef CRPC_H
#define CRPC_H

#include "crpc_call_stats.h"
#include "crpc_connect.h"
#include "crpc_connection.h"
#include "crpc_error.h"
#include "crpc_exchange.h"
#include "crpc_field.h"
#include "crpc_gzip.h"
#include "crpc_limits.h"
#include "crpc_listener.h"
#include "crpc_loop.h"
#include "crpc_metadata.h"
#include "crpc_server.h"
#include "crpc_stats.h"
#include "crpc_stream.h"
#include "crpc_tls.h"
#include "crpc_wire.h"

#endif
