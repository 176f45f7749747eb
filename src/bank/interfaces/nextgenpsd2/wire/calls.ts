import { addDays, bankDay, type IsoDate } from '../../../../domain/calendar.ts';
import type { CertificateName } from '../../../../domain/flow.ts';
import { Psd2Error } from '../../../../errors.ts';
import type { BankCall, WireSettings } from '../../../call/call.ts';
import type { Read } from '../../../ports/call.ts';
import type { Base } from '../access/links.ts';
import type { OperationId } from '../description/operations.ts';
import type { BankDescription } from '../description/schema.ts';
import type { NextGenCaller } from './answer.ts';
import { callOf, type Paths } from './paths.ts';

/** What the calls of this interface share. */
export interface Calls {
  bank: NextGenCaller;
  description: BankDescription;
  paths: Paths;
  base: Base;
  settings: Pick<WireSettings, 'consents' | 'identity' | 'now'>;
  /** The ids of card accounts that a list had. Their paths differ. */
  cards: Set<string>;
  /** The IBANs of the accounts that a list had. */
  ibans: Map<string, string | null>;
  /** The currencies of these accounts. */
  currencies: Map<string, string>;
  /** Reads the list of accounts. */
  list(transactionId: string): Promise<unknown>;
  /** What was odd in the answers. */
  odd: { unread: Map<string, number>; rewritten: Set<string>; foreign: Map<string, string> };
  /** The certificate of the connection. Absent: there is no connection. */
  certificate?: () => CertificateName;
}

/** The error for what no bank of this interface has. */
export function lackingService(what: string): Psd2Error {
  return new Psd2Error('usage', `This bank's interface has no ${what}`);
}

/** The certificate with which something is begun, for its record. */
export function begunWith({ certificate }: Pick<Calls, 'certificate'>): { certificate?: CertificateName } {
  return certificate ? { certificate: certificate() } : {};
}

/** A reading, with the consent that covers it. @throws Psd2Error `not_logged_in` without one */
export async function reading(
  { settings, paths }: Pick<Calls, 'settings' | 'paths'>,
  operation: OperationId,
  of: Read,
  transactionId: string,
  query = '',
): Promise<BankCall> {
  if (!settings.consents)
    throw new Psd2Error('not_logged_in', 'Readings need the consent of a customer', {
      next: [['consent', 'request']],
    });
  const { consentId } = await settings.consents.for(of);
  const values: Record<string, string> = of === 'list' ? {} : { 'account-id': resourceIdOf(of.account) };
  const call = callOf(paths, operation, values, transactionId, query);
  return { ...call, facts: { ...call.facts, reads: of }, headers: { 'consent-id': consentId } };
}

/** The first day of the bank's history. Just after SCA, some banks look back further. */
export function earliestDay({ description, settings }: Pick<Calls, 'description' | 'settings'>): IsoDate {
  const { historyDays, history } = description.accounts;
  const now = settings.now();
  const grantedAt = settings.consents?.lastGrantedAt?.();
  const isFresh =
    history && grantedAt && now.getTime() - grantedAt.getTime() < history.afterSca.minutes * 60_000;
  return addDays(bankDay(now), -(isFresh ? Math.max(historyDays, history.afterSca.days) : historyDays));
}

/** Stands before the id of a card that an account of the customer has, too. */
export const CARD = 'card:';

/** The id of an account or a card at the bank. */
export function resourceIdOf(accountId: string): string {
  return accountId.startsWith(CARD) ? accountId.slice(CARD.length) : accountId;
}

/** Does the work at the account's own path: a card has another. A list tells which; without one, the bank is asked. */
export async function atAccountOrCard<T>(
  calls: Pick<Calls, 'cards' | 'description' | 'settings'>,
  accountId: string,
  work: (kind: 'account' | 'card') => Promise<T>,
): Promise<T> {
  const listedAsCard = calls.cards.has(accountId) || calls.settings.consents?.isCard?.(accountId);
  if (accountId.startsWith(CARD) || listedAsCard) return work('card');
  if (calls.description.accounts.cards === 'never') return work('account');
  try {
    return await work('account');
  } catch (error) {
    if (!lacksAccount(error)) throw error;
    const result = await work('card').catch((other: unknown) => {
      throw other instanceof Psd2Error ? error : other;
    });
    calls.cards.add(accountId);
    return result;
  }
}

function lacksAccount(error: unknown): boolean {
  return error instanceof Psd2Error && (error.httpStatus === 404 || error.bankCode === 'RESOURCE_UNKNOWN');
}
