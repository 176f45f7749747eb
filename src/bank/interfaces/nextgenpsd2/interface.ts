import type { X509Certificate } from 'node:crypto';
import type { CertificateName } from '../../../domain/flow.ts';
import { type AccountId, isAccountId, isCustomerId } from '../../../domain/identifiers.ts';
import { withoutBlanks } from '../../../domain/order/sepa-text.ts';
import { Psd2Error } from '../../../errors.ts';
import type { KnownInterface, OpenInterface, Wire, WireSettings } from '../../call/call.ts';
import type { Bank } from '../../ports/bank.ts';
import { clientOf, loginOf, oauthOf } from './access/oauth.ts';
import { scaOfConsents } from './access/sca.ts';
import { consentsOf } from './consents/consents.ts';
import { fundsConsentsOf } from './consents/funds.ts';
import { credentialsAt } from './description/description.ts';
import type { BankDescription } from './description/schema.ts';
import { mayFree } from './judge/status.ts';
import { bulkTermsOf } from './payments/bulk.ts';
import { debtorOf, isXmlProduct, productOfPayment, refuseUntaken } from './payments/initiation.ts';
import { xmlNamesDebtor } from './payments/pain001.ts';
import { cancelling } from './payments/payment-calls.ts';
import { paymentsOf } from './payments/payments.ts';
import { composeFreely, ownHeadersOf, pagesFreely, refusalOf, sendFreely } from './probing/free-call.ts';
import { bankTime, probeSignature } from './probing/probe.ts';
import { questionsOf } from './probing/questions.ts';
import { accountsOf, fetchAccounts } from './readings/accounts.ts';
import { type NextGenCaller, type NextGenSaid, understand } from './wire/answer.ts';
import { answerCheck } from './wire/answer-check.ts';
import type { Calls } from './wire/calls.ts';
import { composer } from './wire/compose.ts';
import { type Paths, pathsOf, routeOf } from './wire/paths.ts';

/**
 * The interface of the Berlin Group's banks, NextGenPSD2 1.3, as one of them has it.
 *
 * @param description every value in force. What `env:` named in `headers` is filled in
 */
export function nextgenpsd2(description: BankDescription): KnownInterface {
  const paths = pathsOf(description);
  const bulk = bulkTermsOf(description);
  const { debtorAccount } = description.payments;
  const takesCredentials = credentialsAt(description);
  return {
    name: 'nextgenpsd2',
    ...(bulk && { bulk }),
    ...(debtorAccount !== 'required' && { debtorAccount }),
    fieldsRead: async () => (await import('./probing/fields-read.ts')).fieldsRead(),
    cannotPay: ({ card }) => card === true,
    refusePayment(payment, today) {
      refuseUntaken(description.payments, payment, today);
      if (bulk?.takes(payment)) return;
      const isInXml = isXmlProduct(productOfPayment(description.payments, payment));
      if (isInXml && debtorAccount !== 'required' && debtorOf(payment) === null) throw xmlNamesDebtor();
    },
    has: new Set([
      'payments',
      'standing orders',
      'signing baskets',
      'confirmation of funds',
      'consent status',
      'consent deletion',
      'Consent-ID',
      'addresses of payees',
      'terms of consents',
      'links for SCA',
      'PSU-ID',
      'balances by type',
      ...(takesCredentials ? (['embedded SCA'] as const) : []),
      ...(bulk ? (['bulk payments'] as const) : []),
      ...(description.funds.consent === 'auto' ? (['consents for confirmations of funds'] as const) : []),
    ]),
    ...(takesCredentials && { takesCredentials }),
    refuseGivingUp: () => refuseGivingUp(description),
    consentTerms: { types: description.consent.types, once: description.consent.once },
    probes: 'signature',
    logsIn: LOGS_IN[description.oauth.mode],
    ...(description.oauth.applicationToken && { hasApplicationToken: true }),
    ...(typeof description.oauth.scope.preStep === 'object' &&
      description.oauth.mode === 'pre-step' && { hasLoginForPayments: true }),
    customers: 'named by the operator',
    ownHeaders: ownHeadersOf(description),
    readCustomerId,
    readAccountId,
    refusalOf: (method, path) => refusalOf(paths, method, path),
    open: (settings) => open(description, paths, settings),
  };
}

/** A payment that was initiated is the bank's. It can be given up safely only where nothing happens without its link. */
function refuseGivingUp({ payments, sca }: BankDescription): void {
  const why = [
    payments.executesWithoutSca !== 'never' &&
      'may execute a payment that nobody authorised (payments.executesWithoutSca)',
    cancelling(payments, 'payments') !== 'direct' &&
      'does not cancel a payment without the customer (payments.cancel)',
    sca.approaches.includes('decoupled') &&
      sca.start !== 'explicit' &&
      "may ask the customer's phone by itself (sca.start)",
  ].find((each) => each !== false);
  if (why === undefined) return;
  throw new Psd2Error(
    'usage',
    `By its bank file, the bank ${why}, so psd2 begins no payment only to give it up`,
    { hint: 'psd2 has sent nothing. --pay makes a small payment to the end instead.' },
  );
}

const LOGS_IN = {
  none: 'nobody',
  integrated: 'with a consent',
  'pre-step': 'customers',
  'client-credentials': 'application',
} as const;

/** The bank has no ids of customers: it is the operator's own word. @throws Psd2Error `usage` */
function readCustomerId(text: string): string {
  if (isCustomerId(text)) return text;
  throw new Psd2Error(
    'usage',
    text.length > 64
      ? `The name of the customer has ${text.length} characters, but at most 64 are allowed`
      : `The customer ${JSON.stringify(text)} has other characters than letters, digits, ".", "_" and "-"`,
    { hint: 'Choose a name of 1 to 64 letters, digits, ".", "_" and "-" for the customer.' },
  );
}

/** The id of an account or card, its IBAN, or `<IBAN>:<currency>`. @throws Psd2Error `invalid_product_id` */
function readAccountId(text: string): AccountId {
  const plain = withoutBlanks(text)
    .replace(/^account:/, '')
    .replace(/^[a-z]{2}\d{2}[a-z0-9]{11,30}:[a-z]{3}$/i, (sub) => sub.toUpperCase());
  if (isAccountId(plain)) return plain;
  throw new Psd2Error(
    'invalid_product_id',
    `The account ${JSON.stringify(text)} is neither an id nor an IBAN`,
    {
      hint: 'See the accounts with:',
      next: [['accounts', 'list']],
    },
  );
}

function open(description: BankDescription, paths: Paths, settings: WireSettings): OpenInterface {
  const { psuIpAddress } = settings;
  if (psuIpAddress !== undefined && !/^\d{1,3}(\.\d{1,3}){3}$/.test(psuIpAddress))
    throw new Psd2Error('usage', `The address ${psuIpAddress} of the customer is not IPv4`, {
      hint: 'The interface of this bank knows only IPv4 addresses.',
    });
  const wire = openWire(description, paths, settings);
  const noted = {
    cards: new Set<string>(),
    ibans: new Map<string, string | null>(),
    currencies: new Map<string, string>(),
    odd: {
      unread: new Map<string, number>(),
      rewritten: new Set<string>(),
      foreign: new Map<string, string>(),
    },
  };
  const bankOver = (bank: NextGenCaller) => connectBank({ description, paths, settings, ...noted }, bank);
  return {
    client: () => clientOf(description, settings.identity.qwacCertificate),
    connect: (over) => bankOver(over(wire, bankOver)),
    compose: (call, bearer) => composeFreely(wire.compose, description, paths, call, bearer),
  };
}

function openWire(description: BankDescription, paths: Paths, settings: WireSettings): Wire<NextGenSaid> {
  return {
    compose: composer(description, paths, settings),
    check: answerCheck(settings.bankSigningCertificate, description),
    mayEnd: ({ status, body }, { judged, decides, method }) =>
      decides === 'an end' || method === 'DELETE' || (judged !== undefined && mayFree({ status, body })),
    understand: (answer, call, sent) =>
      understand(answer, call, description, { ...sent, certificateEnds: endsOf(settings.identity) }),
    routeOf: (call) => routeOf(paths, call),
  };
}

/** When the first of the certificates ends that a request carries. */
function endsOf({ qwacCertificate, signingCertificate }: WireSettings['identity']): Date {
  const ends = [qwacCertificate, signingCertificate].map(({ validTo }) => Date.parse(validTo));
  return new Date(Math.min(...ends));
}

interface OpenSettings extends Omit<Calls, 'bank' | 'base' | 'settings' | 'list'> {
  settings: WireSettings;
}

function connectBank(opened: OpenSettings, outer: NextGenCaller): Bank {
  const { description, paths, settings, odd } = opened;
  let earliest: Date | undefined;
  const bank: NextGenCaller = {
    send: outer.send,
    ask: (call, read) =>
      outer.ask(call, (answer) => {
        const reading = read(answer);
        const date = new Date(answer.headers.date ?? '');
        if (!Number.isNaN(date.getTime()) && (earliest === undefined || date < earliest)) earliest = date;
        return reading;
      }),
  };
  const { origin, pathPrefix } = settings;
  const base = { origin, pathPrefix, version: description.api.version, links: description.links };
  const certificate = () => certificateNameOf(settings.identity.qwacCertificate);
  const calls: Calls = { ...opened, bank, base, certificate, list: (id) => fetchAccounts(calls, id) };
  const oauth = oauthOf(bank, description, base);
  const consents = consentsOf(calls);
  const login = { ...loginOf(bank, oauth, description), probe: () => probeSignature(bank, paths, settings) };
  return {
    accounts: accountsOf(calls),
    consents,
    login,
    payments: paymentsOf(calls, oauth),
    ofFunds: fundsConsentsOf(calls, oauth),
    certificate,
    sca: scaOfConsents(calls, oauth, consents.status),
    send: (call) => sendFreely(bank, paths, call),
    pages: (call) => pagesFreely(calls, call),
    earliestAnswer: () => earliest,
    clock: () => bankTime(bank, paths, settings),
    oddities: odd,
    questions: questionsOf(calls, settings, login),
    forgetAnswers: () => {
      earliest = undefined;
    },
  };
}

/** How a flow names the certificate with which it was begun. */
function certificateNameOf({ subject, serialNumber, fingerprint256 }: X509Certificate): CertificateName {
  const name = [...subject.split('\n'), `serial ${serialNumber}`].join(', ');
  return { name, sha256: fingerprint256.replaceAll(':', '').toLowerCase() };
}
