import type { BatchLine } from './batch/line.ts';
import { iban } from './events.ts';
import { isAccountId } from './identifiers.ts';
import { isRecord, jsonIn } from './json.ts';
import { accountReferenceOf } from './order/account-reference.ts';

// Journals without what identifies a customer, for `psd2 customer forget` (privacy page). Amounts, currencies, dates, states, ids
// of the bank, the payee's name and IBAN, and the operator's references stay: the law wants them kept, and they prevent a second
// payment. The customer, their accounts, their own words and the bank's links go.

type Fields = Record<string, unknown>;

/** The pseudonym of the customer's id or of an account of theirs. Undefined for any other text. */
export type NameOf = (word: string) => string | undefined;

/** The customer of a flow, from its first event. Undefined if it is none. */
export function customerIn(created: unknown): string | undefined {
  if (!isRecord(created)) return undefined;
  const of = isRecord(created.order) ? created.order : created;
  return typeof of.customerId === 'string' ? of.customerId : undefined;
}

/** The ids and IBANs of the customer's accounts in the first event of a flow. */
export function accountsIn(created: unknown): string[] {
  if (!isRecord(created)) return [];
  const { order, categories, terms } = created;
  const named: unknown[] = [];
  if (isRecord(order)) named.push(order.from, order.fromIban);
  for (const category of Array.isArray(categories) ? categories : [])
    if (isRecord(category)) named.push(category.products);
  const access = isRecord(terms) ? terms.access : undefined;
  if (isRecord(access)) named.push(access.account, access.accounts, access.balances, access.transactions);
  return accountNames(named);
}

/** The texts in a list, each once. A reference to an account has a name of it: `msisdn:491701234567`, `<iban>:EUR`. */
function accountNames(named: readonly unknown[]): string[] {
  const texts = named.flat().filter((each) => typeof each === 'string' && each !== '');
  return [...new Set(texts.map(String).flatMap((each) => [each, accountReferenceOf(each).id]))];
}

/** The ids and IBANs of accounts in rows that a sync or a consent has stored, in fields with these names. */
export function accountsInRows(rows: readonly unknown[]): string[] {
  const fields = rows.filter(isRecord).flatMap((row) => {
    const inside = [row, row.kept]
      .filter(isRecord)
      .flatMap(({ consents, funds, accounts }) => [
        ...rowsIn(consents).map((consent) => consent.accounts),
        ...rowsIn(funds).map(({ account }) => account),
        ...rowsIn(accounts).flatMap(({ accountId, iban }) => [accountId, iban]),
      ]);
    return [row.productId, row.product_id, row.accountId, row.account_id, row.iban, ...inside];
  });
  return accountNames(fields);
}

/** Replaces what identifies the customer in an event. What it gives back is still a valid event of the same kind. */
export function pseudonymisedEvent(event: unknown, nameOf: NameOf): unknown {
  if (!isRecord(event)) return event;
  const {
    links: _links,
    messages: _messages,
    returnState: _state,
    access: _access,
    psuId: _psu,
    ...rest
  } = event;
  if (isRecord(rest.order)) rest.order = pseudonymisedOrder(rest.order, nameOf);
  if (isRecord(rest.bank)) {
    const { messages: _told, ...words } = rest.bank;
    rest.bank = words;
  }
  if (isRecord(rest.initiation))
    rest.initiation = { ...rest.initiation, body: '', returnAddress: '', returnState: '' };
  for (const name of ['furtherData', 'data'])
    if (Array.isArray(rest[name])) rest[name] = rest[name].map((text) => paidFacts(text, nameOf));
  if (isRecord(rest.terms) && isRecord(rest.terms.access))
    rest.terms = { ...rest.terms, access: withoutCard(rest.terms.access) };
  if (rest.type === 'resolved') rest.note = null;
  if (rest.type === 'debtor-named') rest.account = null;
  return withNames(rest, nameOf);
}

/** What a consent for confirmations of funds says of a card, and of the contract with the customer. */
function withoutCard(access: Fields): Fields {
  const { cardNumber: _number, cardInformation: _card, registrationInformation: _contract, ...rest } = access;
  return rest;
}

function pseudonymisedOrder(order: Fields, nameOf: NameOf): Fields {
  const { payeeAddress: _address, creditorReference: _reference, ...rest } = order;
  if (typeof rest.data === 'string') rest.data = paidFacts(rest.data, nameOf);
  if (typeof rest.description === 'string') rest.description = '';
  // The customer pays to an account of their own.
  const payee = typeof rest.to === 'string' ? nameOf(rest.to) : undefined;
  if (payee !== undefined && 'name' in rest) rest.name = payee;
  return rest;
}

/** Replaces what identifies the customer in a line of a batch. */
export function pseudonymisedLine(line: BatchLine, nameOf: NameOf): BatchLine {
  const { creditorReference: _reference, ...rest } = line;
  const { customer, from } = line;
  const account = from === null ? undefined : nameOf(from);
  const own = nameOf(line.iban);
  return {
    ...rest,
    customer: customer && (nameOf(customer) ?? customer),
    from: account !== undefined && isAccountId(account) ? account : from,
    fromIban: null,
    // The customer pays to an account of their own.
    name: own ?? line.name,
    iban: iban.parse(own ?? line.iban),
    description: '',
    address: null,
  };
}

/** The names of fields whose values say what was paid to whom, and when. */
const FACT =
  /amount|currency|date|day|month|year|frequency|iban|beneficiary|creditor|payee|type|instant|urgent/i;

/** Of an operation's own data (JSON), what says what was paid. Any other text goes. */
function paidFacts(text: unknown, nameOf: NameOf): string {
  const value = typeof text === 'string' ? jsonIn(text) : undefined;
  return JSON.stringify(factsIn(value ?? {}, false, nameOf));
}

function factsIn(value: unknown, isFact: boolean, nameOf: NameOf): unknown {
  if (typeof value === 'string') return isFact ? (nameOf(value) ?? value) : '';
  if (Array.isArray(value)) return value.map((each) => factsIn(each, isFact, nameOf));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      KEPT.has(name) && typeof each === 'string' ? each : factsIn(each, isFact || FACT.test(name), nameOf),
    ]),
  );
}

/** These may look like the id of a customer, and are none. */
const KEPT = new Set([
  'amount',
  'reference',
  'cro',
  'flow',
  'resourceId',
  'transactionId',
  'endToEndId',
  'data',
]);

/**
 * The words that are replaced inside other texts too, for example in the bank's messages: from six characters on, and parts of a
 * path. Any other short one may be a part of an amount. The full stop of a sentence is no part of a word.
 */
const WORDS_WITHIN = /[A-Za-z0-9._-]{5,}[A-Za-z0-9_-]|(?<=\/)[A-Za-z0-9._-]*[A-Za-z0-9_-]/g;

function withNames(value: unknown, nameOf: NameOf): unknown {
  if (typeof value === 'string')
    return nameOf(value) ?? value.replace(WORDS_WITHIN, (word) => nameOf(word) ?? word);
  if (Array.isArray(value)) return value.map((each) => withNames(each, nameOf));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, KEPT.has(name) ? each : withNames(each, nameOf)]),
  );
}

function rowsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
