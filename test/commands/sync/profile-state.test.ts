import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generateRsaKeys, makeCertificateAuthority } from '../../../src/certificates/eidas.ts';
import type { Context } from '../../../src/commands/context.ts';
import { type ProfileState, profileStateOf } from '../../../src/commands/sync/profile-state.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { VERIFIED } from '../../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsent, storeLogin, storeTransfer } from '../access.ts';
import { BankHere } from '../bank-here.ts';
import { openCommand } from '../command.ts';
import { CREATE, payerAt } from '../payer-here.ts';

// What the metrics of a sync say of the profile.

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const DAY_MS = 86_400_000;
const at = (milliseconds: number) => new Date(Date.parse(NOW) + milliseconds).toISOString();

/** The state as plain objects. */
const plain = (state: ProfileState | undefined) =>
  state && {
    payments: Object.fromEntries(state.payments),
    oldestReadAt: state.oldestReadAt,
    endings: Object.fromEntries(state.endings),
  };
const stateOf = async (context: Context) => plain(await profileStateOf(() => context)());
const EMPTY = {
  ...{ payments: { unknown: 0, unsettled: 0 }, oldestReadAt: null },
  endings: { certificate: 0, login: 0, consent: 0 },
};

it('a new profile has nothing', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  expect(await stateOf(context)).toEqual(EMPTY);
});

it('payments that need a person count by their state, and those that are done do not', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  const create = async (number: number, ...more: string[]) => {
    const words = [...CREATE.slice(0, -1), String(number), ...more];
    await payer.run(words, { globals: { scaTimeout: '1' } });
  };
  await create(1);
  await create(2, '--instant', '--payee-verified');
  bank.next = { settlement: 'PENDING' };
  for (const number of [3, 4]) await create(number, '--instant', '--payee-verified');
  bank.next = { becomes: null };
  for (const number of [5, 6, 7]) {
    bank.meets('execute', 'lost');
    await create(number);
  }
  bank.next = {};
  bank.customersAgree = false;
  await create(8);
  payer.leaveBehind();
  const { payments } = (await stateOf(payer.open().context)) ?? {};
  expect(payments).toEqual({ unknown: 3, unsettled: 2, authorizing: 1 });
});

it('a payment counts as unknown from the moment in which psd2 may have sent what moves money', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const sent = { requestId: 'q', digest: null };
  const events: TransferEvent[] = [{ type: 'verify-sent', ...sent }, VERIFIED, { type: 'accepted' }];
  await storeTransfer(context, {}, ...events, { type: 'execute-sent', ...sent });
  expect((await stateOf(context))?.payments).toEqual({ unknown: 1, unsettled: 0 });
});

it('the oldest data is that of the customer whom psd2 has not read for longest', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const { results } = await context.store();
  const read = (customerId: string, time: string) =>
    results.add([{ customerId, at: time, failures: [], skipped: [] }]);
  for (const [index, ago] of [1, 48, 5].entries()) {
    await storeLogin(context, `${index + 1}`);
    await read(`${index + 1}`, at(-ago * 3_600_000));
  }
  expect((await stateOf(context))?.oldestReadAt).toEqual(new Date(at(-48 * 3_600_000)));
  await read('2', NOW);
  expect((await stateOf(context))?.oldestReadAt).toEqual(new Date(at(-5 * 3_600_000)));
  // The clock was set back since.
  for (const customer of ['1', '2', '3']) await read(customer, at(23 * 3_600_000));
  expect((await stateOf(context))?.oldestReadAt).toEqual(new Date(at(23 * 3_600_000)));
});

it('what has ended or ends within two weeks counts by its kind', async () => {
  const keys = await generateRsaKeys();
  const ca = join(temporary, 'ca.pem');
  const from = new Date(at(-DAY_MS));
  const { certificatePem } = await makeCertificateAuthority('CA', keys, { from, days: 5 });
  writeFileSync(ca, certificatePem, { mode: 0o600 });
  const folder = newConfigFolder(temporary);
  const env = { PSD2_CA: ca };
  const before = openCommand(folder, at(-170 * DAY_MS), { env }).context;
  const ends = [-1, 13, 15].map((days) => at(days * DAY_MS));
  for (const [index, refreshTokenExpiresAt] of ends.entries())
    await storeLogin(before, `${index + 1}`, { refreshTokenExpiresAt });
  const products = [parseProductId('0000012345')];
  await storeConsent(before, '1', [{ name: 'ACCOUNT_INFO', products }]);
  const { context } = openCommand(folder, NOW, { env });
  await storeConsent(context, '2', [{ name: 'ACCOUNT_INFO', products }]);
  expect((await stateOf(context))?.endings).toEqual({ certificate: 1, login: 2, consent: 1 });
});

describe('the state is read', () => {
  /** A profile whose store counts how often it is read, and can be away. */
  function counted() {
    const { context } = openCommand(newConfigFolder(temporary), () => new Date(clock.now));
    const clock = { now: Date.parse(NOW), reads: 0, failure: undefined as Error | undefined };
    const store: Context['store'] = async (own) => {
      clock.reads += 1;
      if (clock.failure) throw clock.failure;
      return context.store(own);
    };
    return { clock, read: profileStateOf(() => ({ ...context, store })) };
  }

  it('again after five minutes, or if the clock was set back', async () => {
    const { clock, read } = counted();
    await read();
    const once = clock.reads;
    const after: number[] = [];
    for (const step of [0, 299_999, 1, 0, -1, 0, 300_000]) {
      clock.now += step;
      // Two that ask at the same time read once.
      await Promise.all([read(), read()]);
      after.push(clock.reads);
    }
    expect(after.map((reads) => reads / once)).toEqual([1, 1, 2, 2, 3, 3, 4]);
  });

  it('as it was before, while the store is away', async () => {
    const { clock, read } = counted();
    clock.failure = new Psd2Error('config', 'The store is away');
    expect(await read()).toBeUndefined();
    clock.failure = undefined;
    expect(plain(await read())).toEqual(EMPTY);
    clock.now += 300_000;
    clock.failure = new Psd2Error('config', 'The store is away');
    expect(plain(await read())).toEqual(EMPTY);
    clock.failure = new TypeError('A bug');
    await expect(read()).rejects.toThrow('A bug');
  });
});
