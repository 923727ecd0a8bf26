#!/bin/sh
# run.sh <what> [flags…]: Node as process 1 in place of this shell, so that it hears the signal to stop.
set -eu
cd "${0%/*}/../.."
what=${1:-help}
[ $# -eq 0 ] || shift
case $what in
  ingress-gateway | callback-gateway | thread-processor | tool-dispatcher | notifier | standalone | example-tools)
    exec node "apps/$what/dist/main.js" "$@" ;;
  setup | doctor) exec node apps/ingress-gateway/dist/main.js "$what" "$@" ;;
  conversation) exec node deploy/docker/conversation.mjs "$@" ;;
  help) status=0 ;;
  *) echo "dormouse: there is no \"$what\"" >&2 && status=64 ;;
esac
cat >&2 <<'TEXT'
The first word says what runs:
  ingress-gateway, callback-gateway, thread-processor, tool-dispatcher, notifier   one service of a cluster
  setup           makes the topics, the indexes and the marks of an installation, and ends; may be repeated
  doctor          looks at the servers and the installation from here, and says what to do
  standalone      everything in one process; its data is in /data: give it a volume
  example-tools   the tool server of the examples
  conversation    one conversation with a running installation, as a check
--help after it prints its settings.
TEXT
exit "$status"
