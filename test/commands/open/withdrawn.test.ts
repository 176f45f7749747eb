import { beforeEach, expect, it } from 'vitest';
import { withdrawnConsents, withdrawnFunds } from '../../../src/commands/open/withdrawn.ts';
import type { ConsentEvent } from '../../../src/domain/consent.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { granting } from '../../store/whole-store.ts';
import { storeConsentFlow } from '../access.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
let folder: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});
const at = (day: number) => openCommand(folder, `2026-03-0${day}T00:00:00.000Z`).context;

type End = 'open' | 'granted' | 'revoked' | 'expired' | 'cancelled' | 'revoked before it was granted';

/** Stores a consent of a customer, from a day of March on. @returns its flow */
function consent(customerId: string, day: number, end: End, account?: string): Promise<string> {
  const terms = account === undefined ? {} : { terms: { access: { type: 'funds' as const, account } } };
  const events: ConsentEvent[] = [{ type: 'requested', resourceId: 'FLOW', outcomes: [] }];
  if (end !== 'open' && end !== 'revoked before it was granted')
    events.push({
      ...{ type: 'granted', bankStatus: 'valid', validUntil: null, frequencyPerDay: 4 },
      recurring: true,
    });
  const state = end === 'revoked before it was granted' ? 'revoked' : end;
  if (state !== 'open' && state !== 'granted') events.push({ type: 'ended', state, bankStatus: null });
  return storeConsentFlow(at(day), { customerId, ...terms }, ...events);
}
/** A customer with a record, from which the consents have been removed. */
async function note(...names: string[]): Promise<void> {
  const { customers } = await at(9).store();
  for (const name of names) await customers.change(name, (before) => before);
}
const found = async () =>
  (await withdrawnConsents(at(9))).map(({ customerId, flow, state }) => [customerId, flow, state]);

it('without a consent that was withdrawn nobody is there', async () => {
  await note('ada', 'bob', 'cleo');
  await consent('ada', 1, 'granted');
  await consent('bob', 1, 'cancelled');
  await consent('cleo', 1, 'open');
  expect(await found()).toEqual([]);
});

it.each(['revoked', 'expired'] as const)(
  'a customer whose newest consent is %s is there once',
  async (end) => {
    await note('ada', 'bob');
    await consent('ada', 1, 'revoked');
    const newest = await consent('ada', 2, end);
    const other = await consent('bob', 3, 'revoked');
    expect(await found()).toEqual([
      ['bob', other, 'revoked'],
      ['ada', newest, end],
    ]);
  },
);

it.each(['granted', 'open', 'cancelled', 'revoked before it was granted'] as const)(
  'a newer consent (%s) counts, not the one that was withdrawn',
  async (end) => {
    await note('ada', 'bob');
    const withdrawn = await consent('bob', 1, 'expired');
    await consent('ada', 1, 'revoked');
    await consent('ada', 2, end);
    expect(await found()).toEqual([['bob', withdrawn, 'expired']]);
  },
);

it('a customer with another consent, or without a record, is not there', async () => {
  await note('ada');
  await consent('ada', 1, 'revoked');
  await consent('nobody', 1, 'revoked');
  const { customers } = await at(9).store();
  await customers.change('ada', granting('co-1'));
  expect(await found()).toEqual([]);
});

it('a consent for confirmations of funds is apart from those for readings', async () => {
  await note('ada');
  const reading = await consent('ada', 1, 'revoked');
  await consent('ada', 2, 'revoked', 'one');
  const newest = await consent('ada', 3, 'expired', 'one');
  await consent('ada', 4, 'revoked', 'two');
  await consent('ada', 5, 'revoked before it was granted', 'three');
  await consent('ada', 6, 'granted', 'four');
  const { customers } = await at(9).store();
  const two = { flow: 'co-2', transactionId: 't', consentId: 'f', account: 'two', validUntil: null };
  await customers.change('ada', (before) => ({
    ...before,
    funds: [{ ...two, grantedAt: '2026-03-08T00:00:00.000Z' }],
  }));
  expect(await found()).toEqual([['ada', reading, 'revoked']]);
  expect((await withdrawnFunds(at(9))).map(({ flow, state }) => [flow, state])).toEqual([
    [newest, 'expired'],
  ]);
});
