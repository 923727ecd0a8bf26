#!/bin/sh
# run-service.sh <service> [flags…]: the service as process 1, so that it hears the signal to stop.
set -eu
service=$1
shift
# Node's own code on large pages, where the kernel gives them.
exec node --use-largepages=silent "apps/$service/dist/main.js" "$@"
