#!/bin/sh
# run-service.sh <service> [flags…]: the service as process 1, so that it hears the signal to stop.
set -eu
service=$1
shift
exec node "apps/$service/dist/main.js" "$@"
