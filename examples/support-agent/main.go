package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "support-agent:", err)
		os.Exit(1)
	}
}

// run plays the stories that the arguments ask for and prints their run ids and
// what the payment service has booked.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("support-agent", flag.ContinueOnError)
	endpoint := flags.String("endpoint", "http://127.0.0.1:4318", "base `URL` of an OTLP/HTTP receiver")
	mode := flags.String("mode", "both", "which story to play: naive, designed or both")
	suffix := flags.String("run", time.Now().UTC().Format("20060102-150405"), "what run ids end with")
	if err := flags.Parse(args); err != nil {
		return err
	}
	stories, err := storiesOf(*mode)
	if err != nil {
		return err
	}
	provider, err := newProvider(ctx, *endpoint)
	if err != nil {
		return err
	}
	for _, s := range stories {
		bank := newPayments()
		a := newAgent(provider.Tracer("support-agent"), bank, s.name+"-"+*suffix, time.Now().Add(-5*time.Minute))
		s.play(ctx, a)
		fmt.Fprintf(out, "run %s: the service booked %d refund(s) of order 7731, %s in all\n", a.run, len(bank.booked), euros(bank.total()))
	}
	flushing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if err := provider.Shutdown(flushing); err != nil {
		return fmt.Errorf("send spans to %s: %w", *endpoint, err)
	}
	return nil
}

type story struct {
	name string
	play func(context.Context, *supportAgent)
}

func storiesOf(mode string) ([]story, error) {
	naive, designed := story{"naive", playNaive}, story{"designed", playDesigned}
	switch mode {
	case "naive":
		return []story{naive}, nil
	case "designed":
		return []story{designed}, nil
	case "both":
		return []story{naive, designed}, nil
	}
	return nil, fmt.Errorf("-mode is %q, must be naive, designed or both", mode)
}

func newProvider(ctx context.Context, endpoint string) (*sdktrace.TracerProvider, error) {
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint+"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("-endpoint %q: %w", endpoint, err)
	}
	return sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(semconv.ServiceName("support-agent"))),
	), nil
}
