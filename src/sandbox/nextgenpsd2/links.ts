import type { BankRules } from '../rules.ts';
import { DOOR_PATH, type OperationId, pathOf } from './operations.ts';

/** The address behind the gateway of a bank, which no client can reach. */
const GATEWAY = 'http://xs2a.internal:8080/core';

/** A link of an answer (NextGenPSD2, `hrefType`). */
export interface Href {
  href: string;
}

/** The address of the second door: the issuer of its tokens, and the base URL of its clients. */
export function doorUrl({ baseUrl }: { baseUrl: string }): string {
  return `${baseUrl}${DOOR_PATH}`;
}

/**
 * The link to an operation. The standard lets the bank choose the form: a path of the host, a path below the base URL, or a
 * whole address.
 */
export function linkTo(
  bank: { baseUrl: string; rules: BankRules },
  id: OperationId,
  values?: Readonly<Record<string, string>>,
  query = '',
): Href {
  const { variations, description } = bank.rules;
  if (description.links !== 'auto')
    return { href: pathFor(description.links, `${pathOf(description, id, values)}${query}`) };
  const path = `${pathOf(description, id, values)}${query}`;
  if (variations.includes('gateway-links')) return { href: `${GATEWAY}${path}` };
  if (variations.includes('absolute-links')) return { href: `${doorUrl(bank)}${path}` };
  return { href: variations.includes('base-links') ? path : `${DOOR_PATH}${path}` };
}

/** What the bank file says that absolute paths are relative to. */
function pathFor(links: 'host' | 'base', path: string): string {
  return links === 'host' ? `${DOOR_PATH}${path}` : path;
}

/** The page on which the customer decides. @param id of an authorisation or an authorization request */
export function customerPage({ customerSiteUrl }: { customerSiteUrl: string }, id: string): string {
  return `${customerSiteUrl}/authorise?request=${encodeURIComponent(id)}`;
}

/** The page with all requests that wait for a customer. */
export function waitingPage({ customerSiteUrl }: { customerSiteUrl: string }): string {
  return `${customerSiteUrl}/requests`;
}

/** What a customer does who approves apart from the TPP. */
export function appMessage(bank: { customerSiteUrl: string }): string {
  return `Log in at ${waitingPage(bank)} and approve the request.`;
}

/** Where the door says how to authorise with OAuth (RFC 8414). */
export function metadataUrl(bank: { baseUrl: string }): string {
  return `${doorUrl(bank)}/.well-known/oauth-authorization-server`;
}
