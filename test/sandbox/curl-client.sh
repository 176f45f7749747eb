#!/usr/bin/env bash
# A client of the sandbox bank made of curl and openssl alone: logs a customer in on the customer site, and reads
# the accounts. Prints the answer to the accounts call.
#
# Environment: BASE_URL, CERTIFICATES (the folder of the registration), CLIENT_ID, CLIENT_SECRET, APP_NAME, WORK (an
# empty folder), LOGIN_USER, LOGIN_PASSWORD.
set -euo pipefail

redirect_uri='http://127.0.0.1:8910/callback'

uuid() {
  openssl rand -hex 16 | sed -E 's/(.{8})(.{4})(.{4})(.{4})(.{12})/\1-\2-\3-\4-\5/'
}

transaction_id=$(uuid)
certificate=$(openssl x509 -in "$CERTIFICATES/qseal.pem" -outform DER | openssl base64 -A)

# call METHOD TARGET [BODY] [further curl options...]: one signed request; its answer on stdout.
call() {
  local method=$1 target=$2 body=${3-}
  shift $(($# < 3 ? $# : 3))
  local request_id date list signing_string
  request_id=$(uuid)
  date=$(LC_ALL=C date -u '+%a, %d %b %Y %H:%M:%S GMT')
  local options=()
  signing_string="(request-target): $(tr '[:upper:]' '[:lower:]' <<<"$method") $target"
  if [[ -n $body ]]; then
    local digest
    digest="SHA-256=$(printf '%s' "$body" | openssl dgst -sha256 -binary | openssl base64 -A)"
    options+=(-H "Digest: $digest" -H 'Content-Type: application/json' --data-binary @-)
    signing_string+=$'\n'"digest: $digest"
    list='(request-target) digest tpp-request-id date'
  else
    list='(request-target) tpp-request-id date'
  fi
  signing_string+=$'\n'"tpp-request-id: $request_id"$'\n'"date: $date"
  local signature
  signature=$(printf '%s' "$signing_string" | openssl dgst -sha256 -sign "$CERTIFICATES/qseal-key.pem" | openssl base64 -A)
  # Body and token go through pipes: other users of a computer can see the arguments of its processes.
  printf '%s' "$body" | curl --silent --show-error --noproxy '*' --request "$method" \
    --cacert "$CERTIFICATES/ca.pem" --cert "$CERTIFICATES/qwac.pem" --key "$CERTIFICATES/qwac-key.pem" \
    -H 'Accept: application/json' -H "Date: $date" \
    -H "TPP-Transaction-ID: $transaction_id" -H "TPP-Request-ID: $request_id" -H "TPP-Certificate: $certificate" \
    -H "Signature: keyId=\"$APP_NAME\",algorithm=\"rsa-sha256\",headers=\"$list\",signature=\"$signature\"" \
    "${options[@]}" "$@" "$BASE_URL$target"
}

# field NAME: the string of that name in the JSON on stdin.
field() {
  sed -nE "s/.*\"$1\":\"([^\"]*)\".*/\1/p"
}

# browse [curl options...] URL: a browser with cookies, which does not follow redirects.
browse() {
  curl --silent --show-error --noproxy '*' --cookie "$WORK/cookies" --cookie-jar "$WORK/cookies" "$@"
}

# form_token ACTION: the token of the first form of a page on stdin that goes to ACTION.
form_token() {
  tr '\n' ' ' | sed -E "s/.*<form method=\"post\" action=\"${1//\//\\/}\">/ /" | grep -oE 'name="token" value="[^"]*"' | head -n 1 | cut -d '"' -f 4
}

login_url=$(call GET "/auth/oauth/v2/authorize?response_type=code&client_id=$CLIENT_ID&redirect_uri=http%3A%2F%2F127.0.0.1%3A8910%2Fcallback&state=curl" '' \
  --output /dev/null --write-out '%{redirect_url}')
site=${login_url%%/login*}
login=${login_url##*request=}

token=$(browse "$login_url" | form_token /login)
browse --output /dev/null --data-urlencode "request=$login" --data-urlencode "token=$token" \
  --data-urlencode "user=$LOGIN_USER" --data-urlencode "password=$LOGIN_PASSWORD" --data 'decision=login' "$site/login"
token=$(browse "$login_url" | form_token /login/access)
back=$(browse --output /dev/null --write-out '%{redirect_url}' --data-urlencode "request=$login" \
  --data-urlencode "token=$token" --data 'decision=allow' "$site/login/access")
code=$(sed -E 's/.*[?&]code=([^&]*).*/\1/' <<<"$back")

answer=$(call POST /auth/oauth/v2/token \
  "{\"grant_type\":\"authorization_code\",\"code\":\"$code\",\"client_id\":\"$CLIENT_ID\",\"client_secret\":\"$CLIENT_SECRET\",\"redirect_uri\":\"$redirect_uri\"}")
access_token=$(field access_token <<<"$answer")
authorized() {
  call "$1" "$2" '' --config <(printf 'header = "Authorization: Bearer %s"\n' "$access_token")
}

customer_id=$(authorized GET /private/customers/customerid-info | field customerid)
authorized GET "/private/customers/$customer_id/accounts"
