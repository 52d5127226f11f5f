// A sign-in page of Go's html/template on net/http and one processor (GOMAXPROCS=1). Prints its port and serves until it is killed.
package main

import (
	"fmt"
	"html/template"
	"log"
	"net"
	"net/http"
)

type button struct {
	Name, Provider, Request string
}

type page struct {
	Client  string
	Buttons []button
}

// As much as our page has: a card with a heading, a button for each provider with the sealed request, and a link for help.
var text = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sign in to {{.Client}}</title>
<link rel="stylesheet" href="/pages/style.css?v=1">
<script type="module" src="/pages/page.js?v=1"></script>
</head>
<body>
<main>
<h1>Sign in to {{.Client}}</h1>
<ul>
{{range .Buttons}}<li><a class="button" href="/sign-in/{{.Provider}}?request={{.Request}}"><img src="/pages/{{.Provider}}.svg" alt="">Continue with {{.Name}}</a></li>
{{end}}</ul>
<p class="aside"><a href="/sign-in/help?request={{(index .Buttons 0).Request}}">I can't use the account that I signed up with</a></p>
</main>
</body>
</html>
`))

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/oauth2/authorize", func(writer http.ResponseWriter, request *http.Request) {
		query := request.URL.Query()
		sealed := "var1_" + query.Get("state") + query.Get("code_challenge") + query.Get("redirect_uri")
		header := writer.Header()
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Cache-Control", "no-store")
		header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'")
		shown := page{query.Get("client_id"), []button{{"Apple", "apple", sealed}, {"Google", "google", sealed}}}
		if err := text.Execute(writer, shown); err != nil {
			log.Print(err)
		}
	})
	fmt.Printf("listening on %d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, nil))
}
