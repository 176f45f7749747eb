import type { BankCall, CallFacts } from '../../../call/call.ts';
import type { Route } from '../../../ports/call.ts';
import { OPERATIONS, type OperationId, pathOfOperation } from '../description/operations.ts';
import type { BankDescription } from '../description/schema.ts';

/** The paths of a bank, which its file can change. */
export interface Paths {
  /** @param values the parameters of the path, by their names in the standard. They are encoded */
  to(operation: OperationId, values?: Readonly<Record<string, string>>): string;
  /** The operation of a call that psd2 did not write itself. Undefined: none of the standard's. */
  find(method: string, path: string): Found | undefined;
  /**
   * The templates with which the path of a link to an operation ends, whatever stands before them: at this bank, and in the standard. Some
   * banks leave out the product of a payment.
   */
  ends(operation: OperationId): string[];
}

interface Found {
  operation: OperationId;
  template: string;
  values: Readonly<Record<string, string>>;
}

/** The paths of a bank, relative to its base URL. */
export function pathsOf({ api }: BankDescription): Paths {
  const templates = Object.entries(OPERATIONS).flatMap(([id, { method }]) => {
    if (!isOperation(id)) return [];
    const template = pathOfOperation(api, id);
    return [{ id, method, template, names: variablesIn(template), segments: segmentsOf(template) }];
  });
  const byId = new Map(templates.map((entry) => [entry.id, entry.template]));
  // The most specific template comes first: one with fewer parameters.
  const inOrder = templates.toSorted((one, other) => one.names.length - other.names.length);
  // A command needs one or two of them.
  const patterns = new Map<string, RegExp>();
  const patternFor = (template: string) => {
    const pattern = patterns.get(template) ?? templatePattern(template);
    patterns.set(template, pattern);
    return pattern;
  };
  return {
    to: (operation, values = {}) =>
      (byId.get(operation) ?? '').replace(/\{([^{}]*)\}/g, (_, name: string) =>
        pathSegment(values[name] ?? ''),
      ),
    find(method, path) {
      const pathname = path.split('?', 1)[0] ?? '';
      const length = segmentsOf(pathname);
      for (const { id, method: its, template, names, segments } of inOrder) {
        const match = its === method && segments === length ? patternFor(template).exec(pathname) : null;
        if (!match) continue;
        const values = names.map((name, index) => [name, percentDecoded(match[index + 1] ?? '')]);
        return { operation: id, template, values: Object.fromEntries(values) };
      }
      return undefined;
    },
    ends(operation) {
      const ends = [byId.get(operation) ?? '', OPERATIONS[operation].path].map(templateEnd);
      return [...new Set([...ends, ...ends.map((end) => end.replace('/{payment-product}', ''))])];
    },
  };
}

/** A template from the service of a payment on, else from the word that says what its first id is. */
function templateEnd(template: string): string {
  const parts = template.split('/');
  const first = parts.findIndex((part) => part.includes('{'));
  return parts.slice(parts[first] === '{payment-service}' ? first : Math.max(first - 1, 0)).join('/');
}

function isOperation(id: string): id is OperationId {
  return Object.hasOwn(OPERATIONS, id);
}

function segmentsOf(path: string): number {
  return path.split('/').length;
}

/** The names of the parameters of a template, in order. */
export function variablesIn(template: string): string[] {
  return [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name);
}

/** The services are words of the standard, so a payment's path never looks like another one. */
const SERVICES = '(payments|bulk-payments|periodic-payments)';

function templatePattern(template: string): RegExp {
  return new RegExp(`^${sourceOf(template)}$`);
}

/** A regular expression for a template. A group for each parameter. */
export function sourceOf(template: string): string {
  const parts = template.split(/(\{[^{}]*\})/);
  const pattern = parts.map((part) => {
    if (part === '{payment-service}') return SERVICES;
    return part.startsWith('{') ? '([^/]+)' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return pattern.join('');
}

function percentDecoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Encodes any text as one segment of a path. An unpaired surrogate cannot be encoded and becomes U+FFFD. */
export function pathSegment(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\u{FFFD}')).replace(/^\.{1,2}$/, (dots) =>
    dots.replaceAll('.', '%2E'),
  );
}

/** A call of an operation, before headers. */
export function callOf(
  paths: Paths,
  operation: OperationId,
  values: Readonly<Record<string, string>>,
  transactionId: string,
  query = '',
): BankCall {
  const { method } = OPERATIONS[operation];
  const path = paths.to(operation, values);
  return {
    method,
    path: query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`,
    facts: factsOf({ operation, values }),
    ids: values,
    transactionId,
  };
}

const NOTHING: CallFacts = { reads: null, needsConsent: false, login: false };

/** What a call does. */
export function factsOf(match: Omit<Found, 'template'> | undefined): CallFacts {
  if (!match) return NOTHING;
  const { reads } = OPERATIONS[match.operation];
  const { 'account-id': account = '', consentId } = match.values;
  if (consentId !== undefined) return { ...NOTHING, ofConsent: consentId };
  return reads === null
    ? NOTHING
    : { ...NOTHING, reads: reads === 'list' ? 'list' : { account }, needsConsent: true };
}

const NO_ROUTE = '{other}';

/** What a call is about, without its ids. */
export function routeOf(paths: Paths, { method, path, facts }: BankCall): Route {
  if (facts.login) return { path: '{login}', kind: 'auth' };
  const match = paths.find(method, path);
  if (!match) return { path: NO_ROUTE, kind: 'other' };
  const { operation, template, values } = match;
  const service = values['payment-service'] ?? '';
  const named = template.replace('{payment-service}', service).replace('{account-id}', '{account}');
  return { path: named, kind: OPERATIONS[operation].kind };
}
