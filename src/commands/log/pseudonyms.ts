import { getCountrySpecifications, isValidIBAN } from 'ibantools';
import { withoutCardNumbers } from '../../domain/order/card-number.ts';

type Kind = 'customer' | 'account' | 'iban';

/** Shorter ids are replaced only where they stand alone, since they may be a part of anything, such as a time. */
const SHORTEST_PART = 5;
/** An id in a path, up to where it ends in a path or in a sentence. */
const ID_IN_PATH = /(customers|products)\/+([^/?#\s"'<>,;()]+)/gi;
/** What a route has in place of the id of an account. */
const ACCOUNT_IN_ROUTE = '{account}';
/** The id of an account in a path of the standard. */
const ACCOUNT_IN_PATH = /\/(?:card-)?accounts\/+([^/?#]+)/gi;
/** The form of an IBAN that stands alone, with right or wrong check digits. */
const IBAN_ALONE = /(?<![A-Z0-9])[A-Z]{2}\d{2}[A-Z0-9]{10,30}(?![A-Z0-9])/gi;
/** An id of the bank's or of ours, which may have the form of an IBAN. */
const HEXADECIMAL = /^[0-9a-f]+$/;
/** Where an IBAN may begin. */
const IBAN_BEGIN = /(?=[A-Z]{2}[\s+]?\d[\s+]?\d)/gi;

/**
 * Replaces what identifies a customer with `customer-1`, `account-1`, `iban-1`, ...: the same value gets the same name. First
 * {@link collect} everything, and then {@link replace}: an id may occur before the path that shows that it is one.
 */
export class Pseudonyms {
  /** The ids, in upper case. */
  readonly #kinds = new Map<string, Kind>();
  readonly #names = new Map<string, string>();
  readonly #counts = { customer: 0, account: 0, iban: 0 };
  #pattern: RegExp | undefined;

  /** Remembers the customer ids, account ids and IBANs in a path or another text. */
  collect(text: string): void {
    this.#pattern = undefined;
    const remember = (kind: Kind, id: string) => {
      if (id.toLowerCase() !== 'customerid-info') this.#kinds.set(id.toUpperCase(), kind);
    };
    const decoded = decodePath(text);
    // An encoded slash can be a part of an id, or separate two.
    for (const each of [text, decoded])
      for (const [, noun = '', id = ''] of each.matchAll(ID_IN_PATH))
        remember(noun.toLowerCase() === 'customers' ? 'customer' : 'account', decodePath(id));
    for (const [iban] of decoded.matchAll(IBAN_ALONE)) if (!HEXADECIMAL.test(iban)) remember('iban', iban);
    for (const [from, end] of ibansIn(decoded)) remember('iban', unspaced(decoded.slice(from, end)));
  }

  /** As {@link collect}, for the path of a call. @param route the same without ids: a bank may have the accounts anywhere */
  collectPath(path: string, route: string): void {
    this.collect(path);
    const inRoute = route.includes('/') ? patternOfRoute(route) : ACCOUNT_IN_PATH;
    for (const [, id = ''] of (path.split('?', 1)[0] ?? '').matchAll(inRoute))
      this.#kinds.set(decodePath(id).toUpperCase(), 'account');
  }

  /** A text without the collected ids, and without IBANs and numbers of cards. If it was percent-encoded, it is decoded. */
  replace(text: string): string {
    const decoded = decodePath(text);
    let from = 0;
    let replaced = '';
    for (const [start, end] of ibansIn(decoded)) {
      replaced +=
        this.#withoutIds(decoded.slice(from, start)) + this.#nameOf(unspaced(decoded.slice(start, end)));
      from = end;
    }
    return withoutCardNumbers(replaced + this.#withoutIds(decoded.slice(from)));
  }

  get summary(): string {
    return Object.entries(this.#counts)
      .map(([kind, count]) => `${count} ${kind === 'iban' ? 'IBAN' : kind}${count === 1 ? '' : 's'}`)
      .join(', ');
  }

  #withoutIds(text: string): string {
    if (this.#kinds.size === 0) return text;
    this.#pattern ??= idPattern([...this.#kinds.keys()]);
    return text.replace(this.#pattern, (id) => this.#nameOf(id));
  }

  #nameOf(id: string): string {
    const value = id.toUpperCase();
    const earlierName = this.#names.get(value);
    if (earlierName !== undefined) return earlierName;
    const kind = this.#kinds.get(value) ?? 'iban';
    this.#counts[kind] += 1;
    const name = `${kind}-${this.#counts[kind]}`;
    this.#names.set(value, name);
    return name;
  }
}

/** Finds the ids of accounts in the paths of a route, whatever stands before them. */
function patternOfRoute(route: string): RegExp {
  const parts = route.split(/(\{[^{}]*\})/).map((part) => {
    if (part === ACCOUNT_IN_ROUTE) return '([^/]+)';
    return part.startsWith('{') ? '[^/]+' : part.replace(SIGNS, '\\$&');
  });
  return new RegExp(route.includes(ACCOUNT_IN_ROUTE) ? `${parts.join('')}$` : '(?!)', 'gi');
}

/** What a regular expression does not take as it is. */
const SIGNS = /[\\^$.*+?()[\]{}|/-]/g;

/** The longest id comes first, since another one may be a part of it. */
function idPattern(ids: string[]): RegExp {
  const texts = ids
    .sort((a, b) => b.length - a.length)
    .map((id) => {
      const text = id.replace(SIGNS, '\\$&');
      return id.length < SHORTEST_PART ? `(?<![A-Z0-9])${text}(?![A-Z0-9])` : text;
    });
  return new RegExp(texts.join('|'), 'gi');
}

/** Percent-decodes a text until nothing is encoded any more. Leaves what is not UTF-8. */
function decodePath(text: string): string {
  const decoded = text.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded.replace(/%([2-7][0-9a-f])/gi, (_, code) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      );
    }
  });
  return decoded === text ? text : decodePath(decoded);
}

/** Where the valid IBANs in a text begin and end. An IBAN may have spaces, and may be a part of a longer word. */
function ibansIn(text: string): [from: number, end: number][] {
  const places: [number, number][] = [];
  let after = 0;
  for (const { index } of text.matchAll(IBAN_BEGIN)) {
    if (index < after) continue;
    const country = text.slice(index, index + 2).toUpperCase();
    const length = getCountrySpecifications()[country]?.chars ?? 0;
    const end = wordEnd(text, index, length);
    if (end === undefined || !isValidIBAN(unspaced(text.slice(index, end)))) continue;
    places.push([index, end]);
    after = end;
  }
  return places;
}

/** Where a word of this many letters and digits ends that has at most one blank between them. */
function wordEnd(text: string, from: number, length: number): number | undefined {
  let left = length;
  for (let at = from; left > 0 && at < text.length; at += 1) {
    if (/[A-Z0-9]/i.test(text.charAt(at))) left -= 1;
    else if (!isBlank(text.charAt(at)) || isBlank(text.charAt(at + 1))) return undefined;
    if (left === 0) return at + 1;
  }
  return undefined;
}

/** In a query, a plus is a blank. */
function isBlank(character: string): boolean {
  return /[\s+]/.test(character);
}

function unspaced(iban: string): string {
  return iban.replace(/[\s+]/g, '').toUpperCase();
}
