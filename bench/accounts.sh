#!/usr/bin/env bash
# Reads a customer's accounts with openssl and curl, as an operator without psd2 would do. The baseline of
# "one call" in docs/performance.md.
#
# Environment: BASE_URL, CERTIFICATES (a folder), APP_NAME, CUSTOMER_ID, TOKEN_FILE.
set -euo pipefail

target="/private/customers/$CUSTOMER_ID/accounts"
uuid() { openssl rand -hex 16 | sed -E 's/(.{8})(.{4})(.{4})(.{4})(.{12})/\1-\2-\3-\4-\5/'; }
request_id=$(uuid)
transaction_id=$(uuid)
date=$(LC_ALL=C date -u '+%a, %d %b %Y %H:%M:%S GMT')
certificate=$(openssl x509 -in "$CERTIFICATES/qseal.pem" -outform DER | openssl base64 -A)
signing_string=$(printf '(request-target): get %s\ntpp-request-id: %s\ndate: %s' "$target" "$request_id" "$date")
signature=$(printf '%s' "$signing_string" | openssl dgst -sha256 -sign "$CERTIFICATES/qseal-key.pem" | openssl base64 -A)

# The token goes through a pipe: other users of a computer can see the arguments of its processes.
printf 'header = "Authorization: Bearer %s"\n' "$(cat "$TOKEN_FILE")" |
  curl --silent --show-error --fail --noproxy '*' --config - \
    --cacert "$CERTIFICATES/ca.pem" --cert "$CERTIFICATES/qwac.pem" --key "$CERTIFICATES/qwac-key.pem" \
    -H 'Accept: application/json' -H "Date: $date" \
    -H "TPP-Transaction-ID: $transaction_id" -H "TPP-Request-ID: $request_id" -H "TPP-Certificate: $certificate" \
    -H "Signature: keyId=\"$APP_NAME\",algorithm=\"rsa-sha256\",headers=\"(request-target) tpp-request-id date\",signature=\"$signature\"" \
    "$BASE_URL$target"
