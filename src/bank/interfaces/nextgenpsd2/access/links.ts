import { isLoopback } from '../../../../domain/local-address.ts';
import { urlFrom } from '../../../../domain/url.ts';
import { Psd2Error } from '../../../../errors.ts';
import type { BankCall } from '../../../call/call.ts';
import type { OperationId } from '../description/operations.ts';
import type { BankDescription } from '../description/schema.ts';
import { cleanWords } from '../wire/fields.ts';
import { type Paths, sourceOf, variablesIn } from '../wire/paths.ts';

// A link of the API only says that an operation is offered. What psd2 calls is the operation's own address, which it makes itself.

/** Where an OAuth server is. */
export type ServerAddress = Required<Pick<BankCall, 'path' | 'origin'>>;

/** Where links for the browser and to OAuth servers are resolved: the bank as psd2 calls it. */
export interface Base {
  /** Scheme, host and port. */
  origin: string;
  /** `''` or `/prefix` */
  pathPrefix: string;
  /** What follows the base URL in every path: `v1`. */
  version: string;
  /** What the absolute path of such a link is relative to. */
  links: BankDescription['links'];
}

/** No bank has longer ones. */
const LONGEST_LINK = 8_192;

/** An operation that a link can offer. */
export interface Offerable {
  operation: OperationId;
  /** The ids in hand, by their names in the standard. */
  values: Readonly<Record<string, string>>;
  /** The path of the call that was answered, for a link that is relative to it. */
  calledPath?: string;
  /** A link may lead below the operation: to a page or a document of a list. */
  orBelow?: boolean;
}

/** What a link says, beside its operation. */
export interface Offer {
  /** The ids in hand, and those in its path, by their names in the standard. */
  ids: Readonly<Record<string, string>>;
  /** As the bank wrote it, without its question mark. */
  query: string;
  /** What of its path stands below the operation: `/page/2`. */
  below: string;
  /** It has another host, prefix or version than the operation's own address. */
  isElsewhere: boolean;
}

/**
 * Reads a link: its path must end with the operation, about the resource whose ids are in hand. Whatever stands before that says nothing.
 *
 * @returns null if it is about something else, or no address
 */
export function readLink(
  href: string,
  { paths, base }: { paths: Paths; base: Base },
  { operation, values, calledPath = '/', orBelow = false }: Offerable,
): Offer | null {
  const called = `${base.origin}${base.pathPrefix}${calledPath}`;
  const url = isUsable(href) ? urlFrom(href, called) : undefined;
  if (!url) return null;
  const written = (orBelow ? url.pathname : url.pathname.replace(/\/+$/, '')).split('/');
  const path = written.map((part) => ({ written: part, plain: plainOf(part) }));
  for (const end of paths.ends(operation)) {
    const parts = end.split('/');
    const at = placeInPath(parts, path, orBelow);
    const after = path.slice(at + parts.length);
    const ids = at < 0 ? null : idsOf(parts, path.slice(at), values);
    if (!ids || after.some(({ plain }) => plain === null)) continue;
    const below = after.map((part) => `/${part.written}`).join('');
    const own = `${paths.to(operation, ids)}${below}`;
    const isThere =
      url.origin === base.origin && [own, `${base.pathPrefix}${own}`].includes(written.join('/'));
    return { ids, query: queryOf(href) ?? '', below: below === '/' ? '' : below, isElsewhere: !isThere };
  }
  return null;
}

/** A part of a path, as it is written and decoded. */
interface Part {
  written: string;
  plain: string | null;
}

/** Where a path has such parts. The last place counts: a server would look there. @returns -1 if it has none */
function placeInPath(parts: readonly string[], path: readonly Part[], orBelow: boolean): number {
  const last = path.length - parts.length;
  const shapes = parts.map((part) => new RegExp(`^${sourceOf(part)}$`));
  const isAt = (at: number) => shapes.every((shape, index) => shape.test(path[at + index]?.plain ?? ''));
  for (let at = last; at >= (orBelow ? 0 : Math.max(last, 0)); at -= 1) if (isAt(at)) return at;
  return -1;
}

/** The ids in hand, and those in the parts of a path. Null: it is about another resource. */
function idsOf(
  parts: readonly string[],
  path: readonly Part[],
  inHand: Readonly<Record<string, string>>,
): Record<string, string> | null {
  const ids: Record<string, string> = { ...inHand };
  for (const [index, part] of parts.entries()) {
    const { written = '', plain = '' } = path[index] ?? {};
    const matched = new RegExp(`^${sourceOf(part)}$`).exec(plain ?? '')?.slice(1) ?? [];
    for (const [at, name] of variablesIn(part).entries()) {
      const own = inHand[name];
      if (own !== undefined && plainOf(own) !== matched[at]) return null;
      // The bank's own spelling of an id may have a percent sign.
      ids[name] ??= part === `{${name}}` ? decodedOnce(written) : (matched[at] ?? '');
    }
  }
  return ids;
}

/** How often banks and gateways encode an id. */
const MOST_ENCODINGS = 3;

/**
 * A part of a path, decoded until nothing changes.
 *
 * @returns null if it is encoded more often, or hides another path: `..%2f` would lead elsewhere at a server that decodes once more
 */
function plainOf(part: string): string | null {
  let plain = part;
  for (let rounds = 0; rounds <= MOST_ENCODINGS; rounds += 1) {
    const decoded = decodedOnce(plain);
    if (decoded === plain) return plain;
    if (/[/?#\\]|\.\./.test(decoded)) return null;
    plain = decoded;
  }
  return null;
}

function decodedOnce(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The query of a link as the bank wrote it, without its question mark. Characters that no query has are encoded. Null: it is no address. */
export function queryOf(href: string): string | null {
  if (!isUsable(href)) return null;
  const written = /^[^?#]*\?([^#]*)/.exec(href)?.[1] ?? '';
  if (/^[\x21-\x7e]*$/.test(written)) return written;
  return new URL(`?${written}`, 'https://bank.invalid').search.slice(1);
}

/** A link as it is shown: whole. */
export function shownLink(href: string): string {
  return cleanWords(href, LONGEST_LINK);
}

/**
 * Reads a link for the customer's browser. It may lead to another host.
 *
 * @throws Psd2Error `bank_answer` unless it is `https:`, or `http:` on this machine
 */
export function browserLink(href: string, base: Base, name: string): string {
  const isAbsolute = /^[a-z][a-z\d+.-]*:/i.test(href);
  const url = resolved(href, base, name);
  if (url.protocol === 'https:' || isLoopback(url)) return isAbsolute ? href : url.href;
  throw refusedLink(`The bank's link ${name} is not an https address`, {
    hint: 'psd2 does not send the customer there.',
  });
}

/**
 * Reads the address of an OAuth server, or of its metadata.
 *
 * @param hosts the hosts that the bank file or the base URL names
 * @throws Psd2Error `bank_answer` unless it is `https:` on one of these hosts
 */
export function serverLink(
  href: string,
  base: Base,
  hosts: ReadonlySet<string>,
  name: string,
): ServerAddress {
  const url = resolved(href, base, name);
  if (url.protocol !== 'https:' || !hosts.has(url.host))
    throw refusedLink(
      `The OAuth address ${name} is on a host that psd2 does not know: ${url.host || url.protocol}`,
      {
        hint: "psd2 sends codes and tokens only to hosts that the bank file (oauth) or the base URL names. If the host is the bank's, name oauth.tokenEndpoint in the bank file.",
      },
    );
  return { origin: url.origin, path: asSent(href, url) };
}

/** The path and query of a link, as the bank wrote them if it wrote all of them. */
function asSent(href: string, url: URL): string {
  const written = /^https?:\/\/[^/?#]*(\/[\x21\x22\x24-\x7e]*)/i.exec(href)?.[1];
  return written ?? `${url.pathname}${url.search}`;
}

function resolved(href: string, base: Base, name: string): URL {
  const text = onHostOrBelow(href, base);
  const atRoot = `${base.origin}${base.pathPrefix}/`;
  const url = isUsable(href) ? urlFrom(text, atRoot) : undefined;
  if (url) return url;
  throw refusedLink(`The bank's link ${name} is not a valid address: ${shownLink(href)}`, {});
}

function isUsable(href: string): boolean {
  return href.length <= LONGEST_LINK && !/[\p{Cc}\p{Cs}\s\\]/u.test(href);
}

/** An absolute path is on the host or below the base URL, as the bank file says. Else `v1/…` is below the base URL, whatever its path. */
function onHostOrBelow(href: string, { origin, pathPrefix, version, links }: Base): string {
  const isAbsolutePath = /^\/(?!\/)/.test(href);
  if (isAbsolutePath && links !== 'auto') return links === 'host' ? href : `${pathPrefix}${href}`;
  const first = `/${version}/`;
  const isBelow = version !== '' && (href.startsWith(first) || `/${href}`.startsWith(first));
  return isBelow ? `${origin}${pathPrefix}/${href.replace(/^\//, '')}` : href;
}

function refusedLink(message: string, advice: { hint?: string }): Psd2Error {
  return new Psd2Error('bank_answer', message, advice);
}
