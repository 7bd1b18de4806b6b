#!/bin/bash
# Asks the service of this container whether it is ready, for health checks: a shell starts in milliseconds, where Node would take a processor
# for most of a second each time.
set -euo pipefail
exec 3<>"/dev/tcp/127.0.0.1/${PORT:-3000}"
printf 'GET /readyz HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' >&3
read -r -t 4 _protocol status _reason <&3
[ "$status" = 200 ]
