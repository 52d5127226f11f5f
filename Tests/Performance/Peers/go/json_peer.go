// Go's net/http on one processor (GOMAXPROCS=1). Prints its port and serves until it is killed.
//
// It answers from memory; with a certificate and a key as arguments over TLS, and by HTTP/2 where the client asks for it.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
)

type answer struct {
	Message string `json:"message"`
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	known := answer{Message: strings.Repeat("s", 50)}
	http.HandleFunc("/small", func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Type", "application/json")
		body, err := json.Marshal(known)
		if err != nil {
			http.Error(writer, err.Error(), http.StatusInternalServerError)
			return
		}
		writer.Write(body)
	})
	fmt.Printf("listening on %d\n", listener.Addr().(*net.TCPAddr).Port)
	if len(os.Args) == 3 {
		log.Fatal(http.ServeTLS(listener, nil, os.Args[1], os.Args[2]))
	}
	log.Fatal(http.Serve(listener, nil))
}
