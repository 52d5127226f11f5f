// grpc-go on one processor (GOMAXPROCS=1). Prints its port and serves until it is killed.
package main

import (
	"context"
	"fmt"
	"log"
	"net"

	wrapperspb "github.com/golang/protobuf/ptypes/wrappers"
	"google.golang.org/grpc"
)

type echoer interface {
	Echo(context.Context, *wrapperspb.StringValue) (*wrapperspb.StringValue, error)
}

type service struct{}

func (service) Echo(_ context.Context, message *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
	return message, nil
}

func handle(
	server interface{}, ctx context.Context, decode func(interface{}) error, _ grpc.UnaryServerInterceptor,
) (interface{}, error) {
	message := new(wrapperspb.StringValue)
	if err := decode(message); err != nil {
		return nil, err
	}
	return server.(echoer).Echo(ctx, message)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "vestibule.bench.v1.BenchService",
		HandlerType: (*echoer)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "Echo", Handler: handle}},
	}, service{})
	fmt.Printf("listening on %d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(server.Serve(listener))
}
