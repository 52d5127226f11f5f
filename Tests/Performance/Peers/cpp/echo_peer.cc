// gRPC C++, the asynchronous way: one completion queue, one thread. Prints its port and serves until it is killed.

#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <memory>

#include "bench.grpc.pb.h"

using google::protobuf::StringValue;
using Service = vestibule::bench::v1::BenchService::AsyncService;

namespace {

// A call, from waiting for it to its end; then it waits for another one.
class Call {
public:
    Call(Service *service, grpc::ServerCompletionQueue *queue) : service_(service), queue_(queue) { wait(); }

    void proceed(bool is_ok) {
        if (!is_ok || is_answered_) return wait();
        is_answered_ = true;
        responder_->Finish(request_, grpc::Status::OK, this);
    }

private:
    void wait() {
        is_answered_ = false;
        context_ = std::make_unique<grpc::ServerContext>();
        responder_ = std::make_unique<grpc::ServerAsyncResponseWriter<StringValue>>(context_.get());
        service_->RequestEcho(context_.get(), &request_, responder_.get(), queue_, queue_, this);
    }

    Service *service_;
    grpc::ServerCompletionQueue *queue_;
    std::unique_ptr<grpc::ServerContext> context_;
    std::unique_ptr<grpc::ServerAsyncResponseWriter<StringValue>> responder_;
    StringValue request_;
    bool is_answered_ = false;
};

// As many as the load has in flight, and some.
constexpr int calls = 512;

} // namespace

int main() {
    Service service;
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service);
    auto queue = builder.AddCompletionQueue();
    auto server = builder.BuildAndStart();
    if (!server) return 1;
    std::printf("listening on %d\n", port);
    std::fflush(stdout);
    std::vector<std::unique_ptr<Call>> waiting;
    for (int i = 0; i < calls; i++) waiting.push_back(std::make_unique<Call>(&service, queue.get()));
    void *tag;
    bool is_ok;
    while (queue->Next(&tag, &is_ok)) static_cast<Call *>(tag)->proceed(is_ok);
}
