#!/usr/bin/env bash
# Makes a payment as an operator would script it, against its own sandbox bank:
#   bash test/e2e/cli/smoke.sh                                   with the psd2 on the path
#   PSD2="/path/to/node bin/psd2.js" bash test/e2e/cli/smoke.sh  with another
# Spaces separate the words in $PSD2. It exits with 0 and the line "smoke: settled …", or at the first failure.
set -euo pipefail

read -ra command <<<"${PSD2:-psd2}"
psd2() { "${command[@]}" "$@"; }
# field <expression>: a part of the JSON on standard input
field() { node -p "JSON.parse(require('fs').readFileSync(0, 'utf8'))$1"; }

PSD2_CONFIG_DIR=$(mktemp -d)
export PSD2_CONFIG_DIR PSD2_PROFILE=sandbox PSD2_NO_INPUT=1
export PSD2_REDIRECT_URI=${PSD2_REDIRECT_URI:-http://127.0.0.1:18911/callback}
export PSD2_BROWSER="${command[*]} sandbox customer"
trap 'psd2 sandbox stop --quiet; rm -rf "$PSD2_CONFIG_DIR"' EXIT

psd2 sandbox start --detach --port 0 --quiet >/dev/null

customer=$(psd2 auth login --json | field .customerId)
[ "$customer" = "$(psd2 customer id)" ]

state=$(psd2 consent request --category ACCOUNT_INFO --category PAYMENTS --all-accounts --json | field .state)
[ "$state" = confirmed ]

account=$(psd2 accounts list | head -n 1 | cut -f 1)
before=$(psd2 accounts balance "$account" --json | field .availableBalance.amount)
psd2 accounts transactions "$account" -o ndjson --limit 3 | while read -r row; do
  [ "$(field .currency <<<"$row")" = EUR ]
done

transfer=$(psd2 transfer --instant --payee-verified --yes --json --from "$account" \
  --to DE89370400440532013000 --name "Ada Lovelace" --amount 12.50 --reference SMOKE-1)
[ "$(field .state <<<"$transfer")" = settled ]
[ -n "$(field .cro <<<"$transfer")" ]

after=$(psd2 accounts balance "$account" --json | field .availableBalance.amount)
total=$(field .totalAmount.amount <<<"$transfer")
# In thousandths, since the bank gives three decimals: no floats for money.
[ $((${before/./} - ${after/./})) -eq "${total/./}" ]

# The same reference does not pay twice.
if psd2 transfer --instant --payee-verified --yes --json --from "$account" \
  --to DE89370400440532013000 --name "Ada Lovelace" --amount 12.50 --reference SMOKE-1 2>"$PSD2_CONFIG_DIR/error"; then
  exit 1
else
  [ $? -eq 2 ]
fi
[ "$(field .error.code <"$PSD2_CONFIG_DIR/error")" = duplicate_reference ]

echo "smoke: settled $(field .cro <<<"$transfer")"
