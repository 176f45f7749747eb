#!/usr/bin/env bash
# One call of a client made of curl and openssl alone, with the defaults of curl: it signs and sends, and prints the body, and the
# status on a line of its own.
#
# Arguments: METHOD TARGET BODY (or '') and the headers, each `Name: value`. Environment: BASE_URL, CERTIFICATES.
set -euo pipefail
method=$1 target=$2 body=$3
shift 3

digest="SHA-256=$(printf '%s' "$body" | openssl dgst -sha256 -binary | openssl base64 -A)"
certificate=$(openssl x509 -in "$CERTIFICATES/qseal.pem" -outform DER | openssl base64 -A)
serial=$(openssl x509 -in "$CERTIFICATES/qseal.pem" -noout -serial | cut -d= -f2)
issuer=$(openssl x509 -in "$CERTIFICATES/qseal.pem" -noout -issuer -nameopt RFC2253 | sed 's/^issuer= *//')

text="digest: $digest" list='digest'
options=(-H "Digest: $digest" -H "TPP-Signature-Certificate: $certificate")
for header in "$@"; do
  options+=(-H "$header")
  name=$(tr '[:upper:]' '[:lower:]' <<<"${header%%: *}")
  text+=$'\n'"$name: ${header#*: }"
  list+=" $name"
done
signature=$(printf '%s' "$text" | openssl dgst -sha256 -sign "$CERTIFICATES/qseal-key.pem" | openssl base64 -A)
[[ -z $body ]] || options+=(-H 'Content-Type: application/json' --data-binary "$body")

curl --silent --show-error --noproxy '*' --request "$method" --write-out '\n%{http_code}' \
  --cacert "$CERTIFICATES/ca.pem" --cert "$CERTIFICATES/qwac.pem" --key "$CERTIFICATES/qwac-key.pem" \
  -H "Signature: keyId=\"SN=$serial,CA=$issuer\",algorithm=\"rsa-sha256\",headers=\"$list\",signature=\"$signature\"" \
  "${options[@]}" "$BASE_URL$target"
