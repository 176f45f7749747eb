import type { Consent } from '../../domain/consent.ts';
import { isOver } from '../../domain/flow-states.ts';
import { type ErrorCode, Psd2Error } from '../../errors.ts';
import { bankFor } from '../../flows/consent/by-links.ts';
import { deleteAtBank } from '../../flows/consent/deletion.ts';
import { isNotKnown } from '../../flows/not-known.ts';
import { ofServer } from '../../flows/session.ts';
import type { Context } from '../context.ts';
import { customerIdOf, forFlow } from '../flow/customer.ts';
import { collect } from '../flow/list.ts';

/** What the bank has ended for a customer. */
export interface EndedAtBank {
  tokens: ('refresh_token' | 'access_token')[];
  /** Ids of consents. */
  consents: string[];
  /** What the bank did not end, in words. */
  refused: string[];
}

/**
 * Ends the customer's consents at the bank, where the bank has such a call. The journal of each says so.
 *
 * @throws Psd2Error what the calls throw, save the bank's own refusal, and that it does not know a consent
 */
export async function endConsents(context: Context, customerId: string, ended: EndedAtBank): Promise<void> {
  const { flows } = await context.store();
  for (const { consent, resourceId } of await consentsAtBank(context, customerId)) {
    const end = async () => {
      const { bank } = await (await forFlow(context, consent)).bank();
      await flows.resume('consent', consent.flow, async (open) => {
        const bankStatus = await deleteAtBank(open, bankFor(bank, open.current));
        ended.consents.push(resourceId);
        const now = open.current.state;
        if (now === 'confirmed' || !isOver({ state: now }))
          await open.record({ type: 'ended', state: 'cancelled', bankStatus });
      });
    };
    await unlessRefused(ended, end, isLeftToBank);
  }
}

/** The customer's consents that psd2 can end at the bank. */
async function consentsAtBank(
  context: Context,
  customerId: string,
): Promise<{ consent: Consent; resourceId: string }[]> {
  if (!(await context.bankInterface()).has.has('consent deletion')) return [];
  const { flows, customers } = await context.store();
  const { consents = [], funds = [] } = (await customers.read(customerId)) ?? {};
  const keptIds = new Set([...consents, ...funds].map(({ consentId }) => consentId));
  return (await collect(flows.list('consent', { customer: customerId }))).flatMap((consent) => {
    const { resourceId, state } = consent;
    const isThere = resourceId !== null && (keptIds.has(resourceId) || !isOver({ state }));
    return customerIdOf(consent) === customerId && isThere ? [{ consent, resourceId }] : [];
  });
}

/**
 * Opens what {@link endConsents} and {@link endLogin} need, before anything ends: certificates, keys, and the customer's tokens.
 *
 * @throws Psd2Error `config` and others: nothing has ended then
 */
export async function openForEnding(context: Context, customerId: string): Promise<void> {
  const { tokens } = await context.store();
  if ((await tokens.login(customerId)) !== undefined) {
    await context.applicationBank('authorization_code');
    await tokens.read(customerId);
  }
  const [first] = await consentsAtBank(context, customerId);
  if (!first) return;
  const open = async () => void (await (await forFlow(context, first.consent)).bank());
  await unlessRefused({ tokens: [], consents: [], refused: [] }, open, isLeftToBank);
}

/**
 * Forgets the customer's tokens, and revokes them before.
 *
 * @param revokes whether to ask the bank. Tokens of another base URL are never sent to this one
 * @throws Psd2Error what the calls throw, save a refusal: the tokens stay then
 */
export async function endLogin(
  context: Context,
  customerId: string,
  revokes: boolean,
  ended: EndedAtBank,
): Promise<void> {
  const { tokens: store } = await context.store();
  if (!revokes || (await store.login(customerId)) === undefined) return store.forget(customerId);
  const bank = await context.applicationBank('authorization_code');
  await store.forget(customerId, async () => {
    const tokens = await store.read(customerId);
    const transactionId = context.world.newId();
    for (const kind of ['refresh_token', 'access_token'] as const) {
      const token = kind === 'refresh_token' ? tokens?.refreshToken : tokens?.accessToken;
      if (!token) continue;
      await unlessRefused(ended, async () => {
        const client = ofServer(bank.client(), tokens);
        if (await bank.connect().login.revoke(client, token, kind, transactionId)) ended.tokens.push(kind);
      });
    }
  });
}

const REFUSALS: readonly ErrorCode[] = ['bank_refused', 'forbidden', 'not_logged_in'];

/** The bank's refusal does not keep a customer from being forgotten. A bank that cannot be reached does. */
async function unlessRefused(
  { refused }: EndedAtBank,
  call: () => Promise<void>,
  isToBeNamed: (error: Psd2Error) => boolean = ({ code }) => REFUSALS.includes(code),
): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof Psd2Error) || !isToBeNamed(error)) throw error;
    refused.push(error.message);
  }
}

/**
 * Whether a consent that has not ended does not keep its customer from being forgotten, and the proof names it: the bank refuses, does not
 * know it, or wants the customer for it. After anybody else's word, such as a page, nobody could end it later.
 */
function isLeftToBank(error: Psd2Error): boolean {
  const isNobodys = error.refusal !== undefined && !error.isBanks;
  return (
    isNotKnown(error) ||
    ['outcome_unknown', 'still_open'].includes(error.code) ||
    (REFUSALS.includes(error.code) && !isNobodys)
  );
}
