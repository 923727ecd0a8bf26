#!/bin/sh
# compile.sh DIR: starts each program of the image once, as far as it comes without servers, so that Node writes into DIR
# what V8 compiled meanwhile. A program that ends before fails the build.
set -eu
export NODE_COMPILE_CACHE="$1" DORMOUSE_HOST=127.0.0.1 DORMOUSE_PORT=0 DORMOUSE_HEALTH_PORT=0
start() {
  what=$1
  shift
  said=$(mktemp) # not the one of the program before, in which the words are already
  node "apps/$what/dist/main.js" "$@" > "$said" 2>&1 &
  pid=$!
  until grep -qE '"waiting"|^ready ' "$said"; do
    kill -0 "$pid" || { cat "$said" && exit 1; }
    sleep 0.2
  done
  kill -TERM "$pid"
  wait "$pid"
}
DORMOUSE_DATA_DIR=$(mktemp -d)
export DORMOUSE_DATA_DIR
start standalone --no-example-tools
unset DORMOUSE_DATA_DIR
# Nothing listens there.
export DORMOUSE_KAFKA_BROKERS=127.0.0.1:1 DORMOUSE_MONGO_URL=mongodb://127.0.0.1:1 DORMOUSE_REDIS_URL=redis://127.0.0.1:1
DORMOUSE_MASTER_KEY=$(printf '%064d' 0)
export DORMOUSE_MASTER_KEY
for service in ingress-gateway callback-gateway thread-processor tool-dispatcher notifier; do start "$service"; done
chmod -R a+rX,go-w "$1"
