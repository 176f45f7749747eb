import { isLoopback } from '../../../domain/local-address.ts';
import { Psd2Error } from '../../../errors.ts';
import type { BankCall } from '../../call/call.ts';
import type { BankDescription } from './description/schema.ts';
import { cleanWords } from './wire/fields.ts';

/** Where a link leads: below the base URL, or elsewhere on the bank's own host. */
export type LinkTarget = Pick<BankCall, 'path' | 'origin'>;

/** Where links are resolved: the bank as psd2 calls it. */
export interface Base {
  /** Scheme, host and port. */
  origin: string;
  /** `''` or `/prefix` */
  pathPrefix: string;
  /** What follows the base URL in every path: `v1`. */
  version: string;
  /** What the absolute path of a link is relative to. */
  links: BankDescription['links'];
}

/** No bank has longer ones. */
const LONGEST_LINK = 8_192;

/** What is known of a link before it is read. */
export interface LinkTo {
  /** Whether a path after the base URL is the call that the link can mean, with the ids in hand. */
  isMeant: (path: string) => boolean;
  /** The path of the call that was answered, for a link that is a query alone. */
  calledPath?: string;
  /** Receives the names of links that led elsewhere. */
  rewritten: Set<string>;
}

/**
 * Reads a link to a call of the bank. A bank behind a gateway may write an inner host or path: if the end of the path is the call
 * that the link can mean, psd2 makes that call at the base URL. Any other link is followed as it is, on the bank's own host.
 *
 * @throws Psd2Error `bank_answer` if it leads to another host, or is no address
 */
export function apiLink(href: string, base: Base, name: string, to: LinkTo): LinkTarget {
  const text = /^\/(?!\/)/.test(href) ? pathOnHost(href, base) : belowVersion(href, base);
  const url = resolved(href, base, name, text, to.calledPath);
  const isOwn = url.origin === base.origin;
  const path = asSent(href, url);
  const prefix = base.pathPrefix;
  const isBelow = isOwn && (prefix === '' || path.startsWith(`${prefix}/`));
  if (isBelow && to.isMeant(path.slice(prefix.length))) return { path: path.slice(prefix.length) };
  const meant = endsOf(isBelow ? url.pathname : url.pathname.replace(/\/$/, '')).find((end) =>
    to.isMeant(end),
  );
  if (meant !== undefined) {
    to.rewritten.add(name);
    return { path: `${meant}${url.search}` };
  }
  if (isBelow) return { path: path.slice(prefix.length) };
  if (isOwn) return { path, origin: base.origin };
  throw refused(`The bank's link ${name} leads to another host: ${href}`, {
    hint: 'psd2 sends tokens and consents only to the host of the base URL.',
  });
}

/** The ends of a path that begin with a slash, the longest first. */
function endsOf(path: string): string[] {
  return [...path.matchAll(/\//g)].slice(0, MOST_SEGMENTS).map(({ index }) => path.slice(index));
}
const MOST_SEGMENTS = 30;

/** A path is on the host if it begins with the path of the base URL, unless the bank file says it. Else it is below the base URL. */
function pathOnHost(href: string, { pathPrefix, links }: Base): string {
  const rest = href.startsWith(pathPrefix) ? href.slice(pathPrefix.length) : undefined;
  const begins = rest !== undefined && (rest === '' || '/?#'.includes(rest.charAt(0)));
  return links === 'host' || (links === 'auto' && begins) ? href : `${pathPrefix}${href}`;
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
  throw refused(`The bank's link ${name} is not an https address`, {
    hint: 'psd2 does not send the customer there.',
  });
}

/**
 * Reads the address of an OAuth server, or of its metadata.
 *
 * @param hosts the hosts that the bank file or the base URL names
 * @throws Psd2Error `bank_answer` unless it is `https:` on one of these hosts
 */
export function serverLink(href: string, base: Base, hosts: ReadonlySet<string>, name: string): LinkTarget {
  const url = resolved(href, base, name);
  if (url.protocol !== 'https:' || !hosts.has(url.host))
    throw refused(
      `The OAuth address ${name} is on a host that psd2 does not know: ${url.host || url.protocol}`,
      { hint: 'psd2 sends codes and tokens only to hosts that the bank file (oauth) or the base URL names.' },
    );
  return { origin: url.origin, path: asSent(href, url) };
}

/** The path and query of a link, as the bank wrote them if it wrote all of them. */
function asSent(href: string, url: URL): string {
  const written = /^https?:\/\/[^/?#]*(\/[\x21\x22\x24-\x7e]*)/i.exec(href)?.[1];
  return written ?? `${url.pathname}${url.search}`;
}

/** @param text what to resolve instead of `href` */
function resolved(
  href: string,
  base: Base,
  name: string,
  text = belowVersion(href, base),
  calledPath = '',
): URL {
  const isUsable = href.length <= LONGEST_LINK && !/[\p{Cc}\p{Cs}\s\\]/u.test(href);
  const called = `${base.origin}${base.pathPrefix}${calledPath || '/'}`;
  if (isUsable && URL.canParse(text, called)) return new URL(text, called);
  throw refused(`The bank's link ${name} is not a valid address: ${cleanWords(href, LONGEST_LINK)}`, {});
}

/** "v1/…" is relative to the base URL, whatever its path. */
function belowVersion(href: string, { origin, pathPrefix, version }: Base): string {
  const first = `/${version}/`;
  const isBelow = version !== '' && (href.startsWith(first) || `/${href}`.startsWith(first));
  return isBelow ? `${origin}${pathPrefix}/${href.replace(/^\//, '')}` : href;
}

function refused(message: string, advice: { hint?: string }): Psd2Error {
  return new Psd2Error('bank_answer', message, advice);
}
