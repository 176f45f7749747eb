import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { allFields, checkBankFile, fieldsAt, readBankFile } from './described.ts';
import { bankFolder, LEAST } from './folder.ts';

const { write } = bankFolder();

/** A bank file with one field. */
function withField(path: string, value: unknown): object {
  return { ...LEAST, ...nested(path.split('.'), value) };
}

function nested([first = '', ...rest]: string[], value: unknown): Record<string, unknown> {
  return { [first]: rest.length === 0 ? value : nested(rest, value) };
}

async function problemsOf(content: unknown) {
  const { problems, bank } = await checkBankFile(write('bank.json', content));
  expect(bank === undefined).toBe(problems.length > 0);
  return problems;
}

/** Wrong values of each field as JSON, and what psd2 says of each: `field <- values => words`. */
const WRONG = String.raw`
  interface <- "cb" => interface must be "nextgenpsd2"
  name <- "" => name must not be empty
  name <- 1 => name must be a text
  extends <- [] => extends must be a text
  source <- " " => source must not be empty
  verifiedOn <- "2026-02-30", "yesterday", "2026-11-23, " => verifiedOn must be a day, also with words, for example "2026-11-23, its test server", or null
  verifiedOn <- "2026-11-23 its server" => verifiedOn must be a day, also with words, for example "2026-11-23, its test server", or null
  verifiedOn <- 20261123 => verifiedOn must be a text
  platform <- 1 => platform must be a text
  banks <- {} => banks must be a list
  banks <- [{}] => banks[0].name is missing
  banks <- [{"name":"A","bik":"NTSBDEB1"}] => banks[0].bik is not a field of a bank file. Did you mean bic?
  banks <- [{"name":"A","bic":"ntsbdeb1"}] => banks[0].bic must be a BIC, or its first 6 or 8 characters
  banks <- [{"name":"A","bankCode":"1.0"}] => banks[0].bankCode must be the code of a bank in an IBAN; "?" stands for any character
  banks <- [{"name":"A","country":"Germany"}] => banks[0].country must be a country, for example "DE"
  banks <- [{"name":"A"},{"name":"B","bankCode":"10011001"}] => banks[1].country is missing: a bankCode is one of a country
  learned <- [] => learned must be an object
  learned <- {"consent.types":"yesterday"} => learned.consent.types must be a day
  learned <- {"consent.typs":"2026-11-23"} => learned.consent.typs is not a field of a bank file. Did you mean consent.types?
  api.baseUrl <- "http://bank.example", "https://user:pin@bank.example" => api.baseUrl must be an https address without user, query and fragment; http only on this computer
  api.baseUrl <- "https://bank.example/?a=1", "ftp://bank.example" => api.baseUrl must be an https address without user, query and fragment; http only on this computer
  api.baseUrl <- "bank.example", "https://user@bank.example" => api.baseUrl must be an https address without user, query and fragment; http only on this computer
  api.baseUrl <- "https://:pin@bank.example", "https://bank.example/a b" => api.baseUrl must be an https address without user, query and fragment; http only on this computer
  api.baseUrl <- "http://localhost.example", "" => api.baseUrl must be an https address without user, query and fragment; http only on this computer
  links <- "path", "" => links must be "auto", "host" or "base"
  api.version <- "/v1", "v1/", "v 1", "v1//v2", ".v 1", "v1?", "../../x" => api.version must be a part of a path, for example "v1", or ""
  api.version <- "v1/..", ".", "v1/./x" => api.version must be a part of a path, for example "v1", or ""
  api.paths <- {"createConsents":"/v1/consents"} => api.paths.createConsents is not an operation of the standard. Did you mean createConsent?
  api.paths <- {"createConsent":"v1/consents"} => api.paths.createConsent must be a path: parts that each begin with "/", without a query
  api.paths <- {"createConsent":"/v1/../consents"} => api.paths.createConsent must be a path: parts that each begin with "/", without a query
  api.paths <- {"createConsent":"/v1/consents?a=b"} => api.paths.createConsent must be a path: parts that each begin with "/", without a query
  api.paths <- {"createConsent":"//other.example/consents"} => api.paths.createConsent must be a path: parts that each begin with "/", without a query
  api.paths <- {"createConsent":"/v1/consents/"} => api.paths.createConsent must be a path: parts that each begin with "/", without a query
  api.paths <- {"createConsent":"x/v1/consents"} => api.paths.createConsent must be a path: parts that each begin with "/", without a query
  api.paths <- {"createConsent":"/v1/./consents"} => api.paths.createConsent must be a path: parts that each begin with "/", without a query
  api.paths <- {"createConsent":"/v1/.."} => api.paths.createConsent must be a path: parts that each begin with "/", without a query
  api.paths <- {"createConsent":"/v1/{consentId}"} => api.paths.createConsent must have no parameters
  api.paths <- {"getConsentStatus":"/v1/status"} => api.paths.getConsentStatus must have each of {consentId} once, and no other parameter
  api.paths <- {"getConsentStatus":"/v1/{consentId}/{consentId}"} => api.paths.getConsentStatus must have each of {consentId} once, and no other parameter
  api.paths <- {"getConsentScaStatus":"/v1/{consentId}"}, {"getConsentScaStatus":"/v1/s"} => api.paths.getConsentScaStatus must have each of {authorisationId}, {consentId} once, and no other parameter, or {authorisationId} alone
  api.paths <- {"getConsentStatus":7} => api.paths.getConsentStatus must be a text
  api.paths <- {"constructor":"/v1"} => api.paths.constructor is not an operation of the standard
  api.paths <- {"createConsent":""} => api.paths.createConsent must not be empty
  api.paths <- {"initiatePayment":"/v1/{payment-product}"} => api.paths.initiatePayment must have each of {payment-product}, {payment-service} once, and no other parameter
  api.paths <- {"getConsentStatus":"/v1/.{consentId}"} => api.paths.getConsentStatus must be a path: parts that each begin with "/", without a query
  api.paths <- {"initiatePayment":"/v1/{payment-product}{payment-service}"} => api.paths.initiatePayment must be a path: parts that each begin with "/", without a query
  headers.static <- {"X A":"b"} => headers.static.X A must be the name of a header
  headers.static <- {"X-A":"b\r\nX-B: c"}, {"X-A":"ü"}, {"X-A":""}, {"X-A":" b"} => headers.static.X-A must be the value of a header: ASCII, without line breaks
  headers.static <- {"X-A":"b "}, {"X-A":"b\t"} => headers.static.X-A must be the value of a header: ASCII, without line breaks
  headers.static <- {"X-A":"env:"}, {"X-A":"env:A B"}, {"X-A":"env:PGPASSWORD"} => headers.static.X-A must name a variable that begins with PSD2_BANK_ after "env:", for example "env:PSD2_BANK_API_KEY"
  headers.static <- {"X-A":"env:PSD2_CONFIG_PASSPHRASE"} => headers.static.X-A must name a variable that begins with PSD2_BANK_ after "env:", for example "env:PSD2_BANK_API_KEY"
  headers.static <- {"X-A":"env:PSD2_BANK_"}, {"X-A":"env:psd2_bank_key"} => headers.static.X-A must name a variable that begins with PSD2_BANK_ after "env:", for example "env:PSD2_BANK_API_KEY"
  headers.static <- {"X-A":"env:A-B"} => headers.static.X-A must name a variable that begins with PSD2_BANK_ after "env:", for example "env:PSD2_BANK_API_KEY"
  headers.static <- {"X-A":"b","x-a":"c"} => headers.static.x-a is there twice: headers have no upper and lower case
  headers.static <- {"digest":"b"} => headers.static.digest: psd2 makes this header; see signing
  headers.static <- {"X-Request-ID":"b"} => headers.static.X-Request-ID: psd2 makes this header
  headers.static <- {"Authorization":"Basic b"} => headers.static.Authorization is a secret: name a variable of the environment, as "env:PSD2_BANK_NAME"
  headers.static <- {"Signature":"b"} => headers.static.Signature: psd2 makes this header; see signing
  headers.static <- {"TPP-Signature-Certificate":"b"} => headers.static.TPP-Signature-Certificate: psd2 makes this header; see signing.certificate
  headers.static <- {"Consent-ID":"b"} => headers.static.Consent-ID: psd2 makes this header
  headers.static <- {"PSU-IP-Address":"b"} => headers.static.PSU-IP-Address: psd2 makes this header; see psu.ip
  headers.static <- {"date":"b"} => headers.static.date: psd2 makes this header; see headers.date
  headers.static <- {"Host":"b"} => headers.static.Host: psd2 makes this header
  headers.static <- {"Connection":"b"} => headers.static.Connection: psd2 makes this header
  headers.static <- {"Content-Length":"b"} => headers.static.Content-Length: psd2 makes this header
  headers.static <- {"Transfer-Encoding":"b"} => headers.static.Transfer-Encoding: psd2 makes this header
  headers.static <- {"":"b"} => headers.static. must be the name of a header
  headers.static <- {"X-A:":"b"} => headers.static.X-A: must be the name of a header
  headers.static <- {"authorization":"env"} => headers.static.authorization is a secret: name a variable of the environment, as "env:PSD2_BANK_NAME"
  headers.static <- {"X-A":1} => headers.static.X-A must be a text
  headers.perOperation <- {"createConsnt":{"X-A":"b"}} => headers.perOperation.createConsnt is not an operation of the standard. Did you mean createConsent?
  headers.perOperation <- {"createConsent":{"X A":"b"}} => headers.perOperation.createConsent.X A must be the name of a header
  headers.perOperation <- {"createConsent":{"Date":"b"}} => headers.perOperation.createConsent.Date: psd2 makes this header; see headers.date
  headers.perOperation <- {"createConsent":"b"} => headers.perOperation.createConsent must be an object
  headers.perOperation <- {"createConsent":{"AUTHORIZATION":"b"},"getConsentInformation":{"X-A":"b","x-A":"c"}} => headers.perOperation.createConsent.AUTHORIZATION is a secret: name a variable of the environment, as "env:PSD2_BANK_NAME"; headers.perOperation.getConsentInformation.x-A is there twice: headers have no upper and lower case
  headers.date <- "alway" => headers.date must be "never", "always" or "signed". Did you mean always?
  headers.date <- true => headers.date must be "never", "always" or "signed"
  headers.accept <- "a\nb" => headers.accept must be the value of a header: ASCII, without line breaks
  headers.contentType <- "" => headers.contentType must be the value of a header: ASCII, without line breaks
  psu.id <- "mandatory", "token-subject" => psu.id must be "optional", "required", "never", "token-sub" or "empty"
  psu.idType <- 1, "requird", "" => psu.idType must be "optional", "required", "never" or a fixed text
  psu.corporateId <- false => psu.corporateId must be "optional", "required" or "never"
  psu.ip <- "::1", "1.2.3.256", 1, {} => psu.ip must be "own", "required" or an IPv4 address
  headers.names <- {"X-Request-ID":"x id"} => headers.names.X-Request-ID must be the name of a header
  headers.names <- {"X-Request-ID":"Digest"} => headers.names.Digest: psd2 makes this header; see signing
  headers.names <- "TPP-Request-ID" => headers.names must be an object
  headers.requestId <- "theirs" => headers.requestId must be "ours" or "any"
  psu.ipAbsent <- "own", "::1" => psu.ipAbsent must be an IPv4 address
  signing.when <- "with body" => signing.when must be "always", "never" or "with-body". Did you mean with-body?
  signing.headers <- [] => signing.headers must have at least one element
  signing.headers <- ["Digest"], ["(request-target"], ["xdigest "], [""] => signing.headers[0] must be the name of a header in lower case, or "(request-target)"
  signing.headers <- ["digest","digest"] => signing.headers must not name the same thing twice
  signing.headers <- "digest" => signing.headers must be a list
  signing.headers <- ["psu-id"] => signing.ifSent names psu-id, which signing.headers already names
  signing.ifSent <- ["a b"] => signing.ifSent[0] must be the name of a header in lower case, or "(request-target)"
  signing.ifSent <- ["digest"] => signing.ifSent names digest, which signing.headers already names
  signing.ifSent <- ["psu-id","psu-id"] => signing.ifSent must not name the same thing twice
  signing.ifSent <- ["digest","x-request-id","psu-id"] => signing.ifSent names digest, which signing.headers already names; signing.ifSent names x-request-id, which signing.headers already names
  signing.keyId.form <- "a\"b", "", "a\\b", "ü" => signing.keyId.form must be ASCII text without quotation marks and backslashes
  signing.keyId.serial <- "hexadecimal" => signing.keyId.serial must be "hex", "hex-even", "hex-der" or "decimal"
  signing.keyId.case <- "UPPER" => signing.keyId.case must be "lower" or "upper"
  signing.keyId.dn <- "isuer" => signing.keyId.dn must be "issuer" or "subject". Did you mean issuer?
  signing.keyId.format <- "rfc4514" => signing.keyId.format must be "rfc2253", "rfc2253-oid", "openssl", "rfc1779", "java", "dotnet" or "one-line"
  signing.keyId.spaces <- " " => signing.keyId.spaces must be "keep", "percent" or "strip"
  signing.keyId.separator <- "\n" => signing.keyId.separator must be ASCII text without quotation marks and backslashes
  signing.algorithm <- "hs2019", "rsa-sha1" => signing.algorithm must be a word with the number of its hash: 256, 384 or 512
  signing.digest <- "MD5" => signing.digest must be "SHA-256" or "SHA-512"
  signing.emptyBodyDigest <- "true" => signing.emptyBodyDigest must be true or false
  signing.emptyBody <- "", "[]" => signing.emptyBody must be "{}"
  signing.certificate <- "PEM" => signing.certificate must be "der", "pem" or "pem-line"
  oauth.mode <- "prestep" => oauth.mode must be "none", "integrated", "pre-step" or "client-credentials". Did you mean pre-step?
  oauth.mode <- "pre-step" => oauth.authorizationEndpoint is missing: with oauth.mode "pre-step", psd2 needs oauth.metadata or oauth.authorizationEndpoint and oauth.tokenEndpoint; oauth.tokenEndpoint is missing: with oauth.mode "pre-step", psd2 needs oauth.metadata or oauth.authorizationEndpoint and oauth.tokenEndpoint
  oauth.mode <- "client-credentials" => oauth.tokenEndpoint is missing: with oauth.mode "client-credentials", psd2 needs oauth.metadata or oauth.tokenEndpoint
  oauth.mode <- "none " => oauth.mode must be "none", "integrated", "pre-step" or "client-credentials". Did you mean none?
  oauth.metadata <- "http://idp.example/" => oauth.metadata must be an https address without user, query and fragment; http only on this computer
  oauth.authorizationEndpoint <- "/authorize" => oauth.authorizationEndpoint must be an https address without user, query and fragment; http only on this computer
  oauth.tokenEndpoint <- "https://idp.example/token#a" => oauth.tokenEndpoint must be an https address without user and fragment; http only on this computer
  oauth.clientId <- "" => oauth.clientId must not be empty
  oauth.clientAuth <- "MTLS" => oauth.clientAuth must be "mtls", "basic" or "post"
  oauth.scope.ais <- "AIS:{consentid}", "AIS:{paymentId}", "AIS:{consentId}}" => oauth.scope.ais must have no braces but those of {consentId}
  oauth.scope.ais <- "" => oauth.scope.ais must not be empty
  oauth.scope.pis <- "PIS:{consentId}" => oauth.scope.pis must have no braces but those of {paymentId}
  oauth.scope.preStep <- "ais {consentId}", "aïs", "{", "}" => oauth.scope.preStep must be ASCII text without braces or an object with "ais" and "pis"
  oauth.scope.preStep <- {"ais":"a"} => oauth.scope.preStep.pis is missing
  oauth.scope.preStep <- {"ais":"a","pis":"b","piis":"c"} => oauth.scope.preStep.piis is not a field of a bank file. Did you mean pis?
  oauth.responseType <- "a\"b" => oauth.responseType must be ASCII text without quotation marks and backslashes
  oauth.responseType <- 7 => oauth.responseType must be a text
  oauth.parameters <- {"bic":"{bic}"} => oauth.parameters.bic must have no braces but those of {consentId} and {paymentId}
  oauth.parameters <- {"a b":"c"} => oauth.parameters.a b must be the name of a query parameter
  oauth.parameters <- {"bic":""} => oauth.parameters.bic must not be empty
  oauth.names <- {"clientId":"client_id"} => oauth.names.clientId is not a field of a bank file. Did you mean client_id?
  oauth.names <- {"client_id":"a b"} => oauth.names.client_id must be the name of a query parameter
  oauth.pkce <- "plain" => oauth.pkce must be "S256" or "none"
  oauth.applicationToken <- "yes" => oauth.applicationToken must be true or false
  oauth.applicationToken <- true => oauth.applicationToken is only possible with oauth.mode "integrated"
  oauth.tokenHeader <- "Authorization:" => oauth.tokenHeader must be the name of a header
  sca.approaches <- [] => sca.approaches must have at least one element
  sca.approaches <- ["redirect","redirect"] => sca.approaches must not name the same thing twice
  sca.approaches <- ["app"] => sca.approaches[0] must be "redirect", "oauth", "decoupled" or "embedded"
  sca.approaches <- ["embedded","redirect"] => sca.approaches[0]: "embedded" must be the last one, because psd2 takes a credential only where the bank has no other way
  sca.first <- "pin" => sca.first must be "password"
  sca.first <- "password" => sca.first is only possible with "embedded" in sca.approaches
  psu.label <- "" => psu.label must not be empty
  sca.start <- "implicit" => sca.start must be "follow-links" or "explicit". Did you mean explicit?
  sca.authorisationMinutes <- 0, 10081, 1.5, "10" => sca.authorisationMinutes must be a whole number from 1 to 10080 or an object with "payments" and "consents"
  sca.authorisationMinutes <- {"payments":5} => sca.authorisationMinutes.consents is missing
  sca.authorisationMinutes <- {"payments":5,"consents":0} => sca.authorisationMinutes.consents must be at least 1
  sca.pollSeconds <- 0 => sca.pollSeconds must be at least 1
  sca.pollSeconds <- 3601 => sca.pollSeconds must be at most 3600
  consent.types <- ["all"] => consent.types[0] must be "dedicated", "bank-offered", "all-accounts", "list-only" or "list-with-balances"
  consent.types <- [] => consent.types must have at least one element
  consent.maxDays <- 0 => consent.maxDays must be at least 1
  consent.maxDays <- 36501 => consent.maxDays must be at most 36500
  consent.frequencyPerDay <- -1, 0 => consent.frequencyPerDay must be at least 1
  consent.frequencyPerDay <- 1001 => consent.frequencyPerDay must be at most 1000
  consent.once <- 1 => consent.once must be true or false
  consent.status <- "never" => consent.status must be "call" or "none"
  consent.status <- "none" => consent.status is only possible with oauth.mode "integrated"
  consent.delete <- "none" => consent.delete must be "any" or "authorised"
  funds.consent <- "always" => funds.consent must be "auto" or "never"
  accounts.bookingStatuses <- ["information"] => accounts.bookingStatuses[0] must be "booked", "pending" or "both"
  accounts.bookingStatuses <- [] => accounts.bookingStatuses must have at least one element
  accounts.historyDays <- 0 => accounts.historyDays must be at least 1
  accounts.historyDays <- 36501 => accounts.historyDays must be at most 36500
  accounts.history <- {} => accounts.history.afterSca is missing
  accounts.history.afterSca <- {"minutes":0,"days":1} => accounts.history.afterSca.minutes must be at least 1
  accounts.history.afterSca.minutes <- "20" => accounts.history.afterSca.minutes must be a whole number; accounts.history.afterSca.days is missing
  accounts.history.afterSca.days <- 0 => accounts.history.afterSca.minutes is missing; accounts.history.afterSca.days must be at least 1
  accounts.delta <- "deltaList" => accounts.delta must be "none" or "entryReferenceFrom"
  accounts.download <- "always" => accounts.download must be "follow" or "never"
  accounts.amounts <- "none", true => accounts.amounts must be "signed" or "unsigned"
  accounts.zone <- "Middle/Earth" => accounts.zone must be a time zone, for example "Europe/Helsinki"
  accounts.withBalance <- "no" => accounts.withBalance must be true or false
  accounts.parameters <- {"booking_status":"bookingStatus"} => accounts.parameters.booking_status is not a field of a bank file. Did you mean bookingStatus?
  accounts.parameters <- {"bookingStatus":"a&b"} => accounts.parameters.bookingStatus must be the name of a query parameter
  accounts.cards <- "always" => accounts.cards must be "auto" or "never"
  accounts.reports <- [] => accounts.reports must have at least one element
  accounts.reports <- ["pdf"] => accounts.reports[0] must be "json", "camt" or "mt940"
  accounts.balances.booked <- [""] => accounts.balances.booked[0] must not be empty
  accounts.balances.available <- ["expected","expected"] => accounts.balances.available must not name the same thing twice
  accounts.paging <- "links" => accounts.paging must be "link", "page-index" or an object with "totalPagesHeader" and "pageParameter"
  accounts.paging <- {"totalPagesHeader":"x-pages"} => accounts.paging.pageParameter is missing
  accounts.paging.totalPagesHeader <- "x pages" => accounts.paging.totalPagesHeader must be the name of a header; accounts.paging.pageParameter is missing
  accounts.paging.pageParameter <- "a&b", "-a", "a b", "" => accounts.paging.totalPagesHeader is missing; accounts.paging.pageParameter must be the name of a query parameter
  transactions.id <- "id" => transactions.id must be "auto", "transactionId", "entryReference", "internalTransactionId" or "content"
  payments.products.payments <- ["a/b"], [".."] => payments.products.payments[0] must be the name of a payment product
  payments.products.bulk-payments <- "sepa-credit-transfers" => payments.products.bulk-payments must be a list
  payments.products.periodic-payments <- [1] => payments.products.periodic-payments[0] must be a text
  payments.required <- ["$.creditorAddress"], ["a."], [".a"], ["1a"], ["a.1"] => payments.required[0] must be a path in the body, for example "creditorAddress.townName"
  payments.required <- ["a..b"] => payments.required[0] must be a path in the body, for example "creditorAddress.townName"
  payments.required <- ["a","a"] => payments.required must not name the same thing twice
  payments.allowed <- ["a b"] => payments.allowed[0] must be a path in the body, for example "creditorAddress.townName"
  payments.futureDays <- -1 => payments.futureDays must be at least 0
  payments.futureDays <- 3651 => payments.futureDays must be at most 3650
  payments.repeat <- "same answer" => payments.repeat must be "unknown" or "same-answer". Did you mean same-answer?
  payments.repeat <- "same-answer" => payments.repeatMinutes is missing: payments.repeat "same-answer" needs it
  payments.repeatMinutes <- 1440 => payments.repeatMinutes is only possible with payments.repeat "same-answer"
  payments.repeatMinutes <- 0 => payments.repeatMinutes must be at least 1
  payments.repeatMinutes <- 10081 => payments.repeatMinutes must be at most 10080
  payments.refusals <- {"code":"A"} => payments.refusals must be a list
  payments.refusals <- [{"text":"A"}] => payments.refusals[0].code is missing
  payments.refusals <- [{"code":" "}] => payments.refusals[0].code must not be empty
  payments.refusals <- [{"code":"A","text":""}] => payments.refusals[0].text must not be empty
  payments.refusals <- [{"code":"A","path":"b"}] => payments.refusals[0].path is not a field of a bank file
  payments.executesWithoutSca <- false => payments.executesWithoutSca must be "possible" or "never"
  payments.cancel <- "yes" => payments.cancel must be "authorised", "direct", "none" or an object with such a word for services
  payments.cancel <- {"payments":"yes"} => payments.cancel.payments must be "authorised", "direct" or "none"
  payments.cancel <- {"baskets":"none"} => payments.cancel.baskets is not a field of a bank file
  payments.bulk.maxEntries <- 0 => payments.bulk.maxEntries must be at least 1
  payments.bulk.maxEntries <- 1000001 => payments.bulk.maxEntries must be at most 1000000
  payments.bulk.format <- "pain.001" => payments.bulk.format must be "json", "pain.001.001.03", "pain.001.001.09" or "pain.001.001.11"
  payments.bulk.batchBooking <- true => payments.bulk.batchBooking must be "optional", "required" or "never"
  payments.constant <- {"instructedAmount.amount":"1"} => payments.constant.instructedAmount.amount is a part of the order, so it cannot be the same in every payment
  payments.constant <- {"creditorName":"Me"} => payments.constant.creditorName is a part of the order, so it cannot be the same in every payment
  payments.constant <- {"debtorAccount.currency":"1"} => payments.constant.debtorAccount.currency is a part of the order, so it cannot be the same in every payment
  payments.constant <- {"creditorAccount.iban":"1"} => payments.constant.creditorAccount.iban is a part of the order, so it cannot be the same in every payment
  payments.constant <- {"creditorAgent":"1"} => payments.constant.creditorAgent is a part of the order, so it cannot be the same in every payment
  payments.constant <- {"payments":"1"} => payments.constant.payments is a part of the order, so it cannot be the same in every payment
  payments.constant <- {"requestedExecutionDate":"1"} => payments.constant.requestedExecutionDate is a part of the order, so it cannot be the same in every payment
  payments.constant <- {"startDate":"1"} => payments.constant.startDate is a part of the order, so it cannot be the same in every payment
  payments.constant <- {"endDate":"1"} => payments.constant.endDate is a part of the order, so it cannot be the same in every payment
  payments.constant <- {"frequency":"1"} => payments.constant.frequency is a part of the order, so it cannot be the same in every payment
  payments.constant <- {"dayOfExecution":"1"} => payments.constant.dayOfExecution is a part of the order, so it cannot be the same in every payment
  payments.constant <- {"executionRule":"1"} => payments.constant.executionRule is a part of the order, so it cannot be the same in every payment
  payments.constant <- {"endToEndIdentification":"1"} => payments.constant.endToEndIdentification is a part of the order, so it cannot be the same in every payment
  payments.constant <- {"remittanceInformationUnstructured":"1"} => payments.constant.remittanceInformationUnstructured is a part of the order, so it cannot be the same in every payment
  payments.constant <- {"remittanceInformationStructured.reference":"1"} => payments.constant.remittanceInformationStructured.reference is a part of the order, so it cannot be the same in every payment
  payments.constant <- {"purposeCode":"env:PSD2_BANK_X"} => payments.constant.purposeCode must be a text: psd2 keeps payments, and no secrets in them
  payments.days <- "2" => payments.days must be "plain" or "two-digits"
  payments.address <- "never" => payments.address must be "optional", "required" or "country"
  payments.debtorAccount <- "no" => payments.debtorAccount must be "required", "optional" or "never"
  payments.frequencies <- {"Monthly":1} => payments.frequencies.Monthly must be a text
  payments.frequencies <- {"Dayly":"X"} => payments.frequencies.Dayly is not a field of a bank file. Did you mean Daily?
  payments.final <- ["RJCT"] => payments.final[0] must be "ACCC", "ACSC", "ACSP", "ACWC", "ACCP", "ACFC" or "ACTC"
  payments.final <- [] => payments.final must have at least one element
  errors <- {"X":"forbiden"} => errors.X must be "invalid_iban", "invalid_amount", "invalid_date", "invalid_product_id", "invalid_text", "duplicate_reference", "further_data_needed", "certificate", "not_logged_in", "forbidden", "login_refused", "not_authorised", "authorisation_expired", "sca_required", "bank_refused", "bank_answer", "payment_failed", "outcome_unknown", "too_many_calls", "reads_used_up" or "bank_failing". Did you mean forbidden?
  errors <- {"X":"usage"} => errors.X must be "invalid_iban", "invalid_amount", "invalid_date", "invalid_product_id", "invalid_text", "duplicate_reference", "further_data_needed", "certificate", "not_logged_in", "forbidden", "login_refused", "not_authorised", "authorisation_expired", "sca_required", "bank_refused", "bank_answer", "payment_failed", "outcome_unknown", "too_many_calls", "reads_used_up" or "bank_failing"
  errors <- [] => errors must be an object
`
  .trim()
  .split('\n')
  .map((row) => {
    const [, path = '', values, words = ''] = /^ *(\S+) <- (.+) => (.+)$/.exec(row) ?? [];
    return { path, values: z.array(z.unknown()).parse(JSON.parse(`[${values}]`)), words };
  });

/** The fields that have fields. */
const GROUPS = allFields().filter((path) => fieldsAt(path.split('.')));

it('the list of wrong values has every field of a bank file', () => {
  expect([...new Set([...GROUPS, ...WRONG.map(({ path }) => path)])].sort()).toEqual(allFields().sort());
});

it.each(
  GROUPS.filter((path) => !WRONG.some((row) => row.path === path && row.words.includes(' or an object'))),
)('a text for %s, which has fields, is refused', async (path) => {
  expect((await problemsOf(withField(path, 'text')))[0]).toEqual({
    path,
    message: `${path} must be an object`,
  });
});

it.each(WRONG)('$path: $words', async ({ path, values, words }) => {
  for (const value of values) {
    const problems = await problemsOf(withField(path, value));
    expect(problems.map(({ message }) => message).join('; '), JSON.stringify(value)).toBe(words);
    for (const problem of problems) {
      expect(problem.path.split(/[.[]/)[0]).toBe(path.split('.')[0]);
      expect(problem.message).toContain(problem.path);
    }
  }
});

it.each(['', ...GROUPS])(
  'an unknown field of "%s" is refused with its path and the nearest known field',
  async (path) => {
    const within = path === '' ? [] : path.split('.');
    for (const known of fieldsAt(within) ?? []) {
      const unknown = `${known}x`;
      const full = [...within, unknown].join('.');
      const problem = (await problemsOf(withField(full, 1))).find((each) => each.path === full);
      expect(problem?.message).toBe(`${full} is not a field of a bank file. Did you mean ${known}?`);
    }
  },
);

it('a field in the wrong place is refused with the path of the right one', async () => {
  expect(await problemsOf({ ...LEAST, keyId: {} })).toEqual([
    { path: 'keyId', message: 'keyId is not a field of a bank file. Did you mean signing.keyId?' },
  ]);
});

it('a field named __proto__ is refused, and changes nothing', async () => {
  const problems = await problemsOf(
    '{"__proto__": {"interface": "nextgenpsd2"}, "interface": "nextgenpsd2"}',
  );
  expect(problems.map(({ path }) => path)).toEqual(['__proto__']);
});

const EMBEDDED = 'embedded SCA is a value of sca.approaches, always the last one';
const CREDENTIAL =
  "a customer's password or TAN does not belong in a bank file: psd2 asks the customer for it";
const APP_TOKEN =
  "ING's application token is not possible: the bank wants a signature of another form for it";
const PRE_AUTHORISATION =
  "DKB's pre-authorisation is not possible: psd2 takes a password of the customer only for embedded SCA";
const SECRET =
  'a secret does not belong in a bank file: give it to the profile, or name a variable as env:PSD2_BANK_NAME';

const RANGE = 'pages by the header Range are not possible: psd2 follows links, or numbers of pages';

it.each([
  ['sca.embedded', true, 'sca.embedded', EMBEDDED],
  ['psu.password', 'x', 'psu.password', CREDENTIAL],
  ['psu.PSU-Password', 'x', 'psu.PSU-Password', CREDENTIAL],
  ['psuData', {}, 'psuData', CREDENTIAL],
  ['scaAuthenticationData', 'x', 'scaAuthenticationData', CREDENTIAL],
  ['updatePsuAuthentication', 'x', 'updatePsuAuthentication', CREDENTIAL],
  ['oauth.mode', 'application-token', 'oauth.mode', APP_TOKEN],
  ['oauth.appToken', {}, 'oauth.appToken', APP_TOKEN],
  ['oauth.application access token', {}, 'oauth.application access token', APP_TOKEN],
  ['oauth.mode', 'pre-authorisation', 'oauth.mode', PRE_AUTHORISATION],
  ['oauth.mode', 'Pre-Authorization', 'oauth.mode', PRE_AUTHORISATION],
  ['oauth.pre_auth', {}, 'oauth.pre_auth', PRE_AUTHORISATION],
  ['oauth.clientSecret', 'shh', 'oauth.clientSecret', SECRET],
  ['secret', 'shh', 'secret', SECRET],
  ['accounts.paging', 'range', 'accounts.paging', RANGE],
])('what needs code is refused with the reason: %s %j', async (path, value, at, reason) => {
  expect(await problemsOf(withField(path, value))).toEqual([{ path: at, message: `${at}: ${reason}` }]);
});

it('everything that is wrong is named at once, and a value of the file never is', async () => {
  const headers = { static: { 'X-Key': 'top-secret\n' } };
  const problems = await problemsOf({ sgining: {}, psu: { id: 'top-secret' }, headers });
  const paths = problems.map(({ path }) => path).sort();
  expect(paths).toEqual(['headers.static.X-Key', 'interface', 'psu.id', 'sgining']);
  expect(JSON.stringify(problems)).not.toContain('top-secret');
});

it('readBankFile says the first problem, how many there are, and how to see all', async () => {
  const path = write('bank.json', { ...LEAST, a: 1, b: 2 });
  await expect(readBankFile(path)).rejects.toMatchObject({
    code: 'config',
    message: `The bank ${path} is invalid: a is not a field of a bank file (and 1 more)`,
    hint: 'See everything that is wrong with it:',
    next: [['bank', 'check', path]],
  });
  const one = write('bank.json', { ...LEAST, a: 1 });
  await expect(readBankFile(one)).rejects.toThrow(
    /^The bank \S+ is invalid: a is not a field of a bank file$/,
  );
});

const tokenEndpoint = 'https://idp.example/t';
/** Values of a field at the edge of what is allowed. */
const RIGHT: Record<string, unknown[]> = {
  name: ['x'],
  verifiedOn: ['2026-02-28', '2026-11-23, its server, not a bank', null],
  'api.version': ['', 'v1', '1.3/v2', 'a~b_c-d.e/F', '.../.a'],
  'api.paths': [
    { createConsent: '/consents' },
    { createConsent: '/v1/.../A-b_c~d' },
    { getConsentStatus: '/x/{consentId}/y' },
    { initiatePayment: '/{payment-product}/{payment-service}' },
  ],
  'headers.static': [
    { 'X-A': 'b', 'X-B': 'b' },
    { "!#$%&'*+.^_`|~-9": '!' },
    { 'X-A': 'a b~' },
    { 'X-A': 'env:PSD2_BANK__a1', Authorization: 'env:PSD2_BANK_KEY' },
    { 'X-A': 'environment' },
  ],
  'headers.perOperation': [{ createConsent: { 'X-A': 'b' }, getConsentInformation: { 'x-a': 'c' } }],
  'psu.ip': ['own', 'required', '1.2.3.4'],
  'signing.headers': [['(request-target)', "!#$%&'*+.^_`|~-9", 'a']],
  'signing.ifSent': [[], ['date']],
  'signing.keyId.form': ['a b!#[]~', 'sn'],
  'oauth.mode': ['none', 'integrated'],
  'oauth.scope.ais': ['AIS', '{consentId} {consentId}', ' a~'],
  'oauth.scope.pis': ['{paymentId}'],
  'oauth.scope.preStep': ['a'],
  'sca.authorisationMinutes': [1, 10_080],
  'sca.pollSeconds': [1, 3600],
  'consent.maxDays': [1, 36_500],
  'consent.frequencyPerDay': [1, 1000],
  'accounts.historyDays': [1, 36_500],
  'accounts.balances.booked': [[], ['x']],
  'accounts.paging': [
    'link',
    'page-index',
    { totalPagesHeader: 'X-Pages', pageParameter: 'a' },
    { totalPagesHeader: 'x', pageParameter: '9._~-' },
  ],
  'payments.products.payments': [[], ['a', '0-b']],
  'payments.required': [['a', 'Ab_1.c2']],
  'payments.futureDays': [0, 3650],
  'payments.bulk.maxEntries': [1, 1_000_000],
  payments: [
    { repeat: 'same-answer', repeatMinutes: 1 },
    { repeat: 'same-answer', repeatMinutes: 10_080 },
  ],
  oauth: [
    { mode: 'pre-step', metadata: 'https://idp.example' },
    { mode: 'pre-step', authorizationEndpoint: 'https://idp.example/a', tokenEndpoint },
    { mode: 'client-credentials', tokenEndpoint },
    { mode: 'client-credentials', metadata: 'https://idp.example' },
  ],
  errors: [{ X: 'forbidden', 'Y 1': 'bank_refused' }],
};

it.each(Object.entries(RIGHT))(
  'a value at the edge of what is allowed is right: %s',
  async (path, values) => {
    for (const value of values)
      expect(await problemsOf(withField(path, value)), JSON.stringify(value)).toEqual([]);
  },
);

it('of two endpoints that the bank file needs, only the missing one is a problem', async () => {
  const oauth = { mode: 'pre-step', tokenEndpoint: 'https://idp.example/t' };
  const message =
    'oauth.authorizationEndpoint is missing: with oauth.mode "pre-step", psd2 needs oauth.metadata or oauth.authorizationEndpoint and oauth.tokenEndpoint';
  expect(await problemsOf({ ...LEAST, oauth })).toEqual([{ path: 'oauth.authorizationEndpoint', message }]);
});

it('addresses on this computer may be http, and every other address must be https', async () => {
  const here = ['http://127.0.0.1:8800/nextgenpsd2', 'http://localhost', 'http://[::1]:1/'];
  for (const baseUrl of ['https://bank.example/xs2a', ...here])
    expect(await problemsOf({ ...LEAST, api: { baseUrl } })).toEqual([]);
});
