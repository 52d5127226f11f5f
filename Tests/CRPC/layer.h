/// All of the layer, its inside included: what tests look at.
#ifndef CRPC_TEST_LAYER_H
#define CRPC_TEST_LAYER_H

#include "crpc.h"
#include "grpc/call.h"
#include "grpc/grpc_connection.h"
#include "grpc/header_names.h"
#include "grpc/held_calls.h"
#include "http2/session.h"
#include "loop/loop.h"
#include "loop/stats.h"
#include "transport/driver.h"
#include "transport/linger.h"
#include "transport/listener.h"

#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

#endif
