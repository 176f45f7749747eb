import { isLoopback } from '../../../domain/loopback.ts';
import { Psd2Error } from '../../../errors.ts';
import type { BankCall } from '../../call/call.ts';

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
}

/** No bank has longer ones. */
const LONGEST_LINK = 8_192;

/**
 * Reads a link to a call of the bank. It may be relative, to the host or to the base URL. It is followed as it is.
 *
 * @param calledPath the path of the call that was answered, for a link that is a query alone
 * @throws Psd2Error `bank_answer` if it leads to another host, or is no address
 */
export function apiLink(href: string, base: Base, name: string, calledPath?: string): LinkTarget {
  const url = resolved(href, base, name, calledPath);
  if (url.origin !== base.origin) {
    throw refused(`The bank's link ${name} leads to another host: ${url.host}`, {
      hint: 'psd2 sends tokens and consents only to the host of the base URL.',
    });
  }
  const path = asSent(href, url);
  const prefix = base.pathPrefix;
  if (prefix === '' || path.startsWith(`${prefix}/`)) return { path: path.slice(prefix.length) };
  return { path, origin: base.origin };
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
  if (url.protocol !== 'https:' || !hosts.has(url.host)) {
    throw refused(
      `The OAuth address ${name} is on a host that psd2 does not know: ${url.host || url.protocol}`,
      {
        hint: 'psd2 sends codes and tokens only to hosts that the bank file (oauth) or the base URL names.',
      },
    );
  }
  return { origin: url.origin, path: asSent(href, url) };
}

/** The path and query of a link, as the bank wrote them if it wrote all of them. */
function asSent(href: string, url: URL): string {
  const written = /^https?:\/\/[^/?#]*(\/[\x21\x22\x24-\x7e]*)/i.exec(href)?.[1];
  return written ?? `${url.pathname}${url.search}`;
}

function resolved(href: string, base: Base, name: string, calledPath = ''): URL {
  const { origin, pathPrefix, version } = base;
  const isUsable = href.length <= LONGEST_LINK && !/[\p{Cc}\p{Cs}\s\\]/u.test(href);
  const first = `/${version}/`;
  // "/v1/…" and "v1/…" are relative to the base URL, whatever its path.
  const below = version !== '' && (href.startsWith(first) || `/${href}`.startsWith(first));
  const called = `${origin}${pathPrefix}${calledPath || '/'}`;
  const text = below ? `${origin}${pathPrefix}/${href.replace(/^\//, '')}` : href;
  if (isUsable && URL.canParse(text, called)) return new URL(text, called);
  throw refused(`The bank's link ${name} is not a valid address`, {});
}

function refused(message: string, advice: { hint?: string }): Psd2Error {
  return new Psd2Error('bank_answer', message, advice);
}
