# Steptrail for a ClickHouse server: the program alone, without the embedded engine.
#
#   docker build -t steptrail .
#
# glibc is needed although nothing is compiled with cgo: the program carries the loader of the engine's library, which links it.

FROM golang:1.26-trixie AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION}" -o /out/steptrail ./cmd/steptrail \
    && mkdir -p /out/data

FROM debian:13.1-slim
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/steptrail /usr/local/bin/steptrail
# Queue on disk. A volume made over it belongs to the user below.
COPY --from=build --chown=10001:10001 /out/data /var/lib/steptrail
USER 10001:10001
WORKDIR /var/lib/steptrail
ENV STEPTRAIL_DATA_DIR=/var/lib/steptrail
# OTLP over gRPC and HTTP, API, the collector's own metrics. All on loopback until a config or a variable says otherwise.
EXPOSE 4317 4318 8686 8888
ENTRYPOINT ["steptrail"]
CMD ["serve"]
