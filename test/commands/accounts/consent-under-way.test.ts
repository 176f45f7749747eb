import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { namingConsentUnderWay } from '../../../src/commands/accounts/consent-under-way.ts';
import type { ConsentEvent } from '../../../src/domain/consent.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsentFlow, storeLogin } from '../access.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const ASK = new Psd2Error('not_logged_in', 'There is no valid consent', {
  ...{ hint: 'Ask the customer for one:', next: [['consent', 'request', '--customer', '1000001']] },
});
const REQUESTED: ConsentEvent = { type: 'requested', resourceId: 'FLOW', outcomes: [] };
const BY_DORA: ConsentEvent[] = [
  REQUESTED,
  { type: 'sca-started', links: { approach: null, id: 'a1' }, psuId: 'dora' },
  { type: 'noted', bankStatus: 'partiallyAuthorised', scaStatus: 'finalised' },
];
const FUNDS = { access: { type: 'funds' as const, account: 'DE89370400440532013000' } };

it.each<[string, ConsentEvent[], object, string | null]>([
  ['waits for its customer', [REQUESTED], {}, 'waits for the customer'],
  ['one person has given', BY_DORA, {}, 'authorised by dora, waits for another person'],
  ['has ended', [...BY_DORA, { type: 'ended', state: 'rejected', bankStatus: 'rejected' }], {}, null],
  ['is for confirmations of funds', BY_DORA, { terms: FUNDS }, null],
  ['is of another customer', BY_DORA, { customerId: '1000002' }, null],
])('instead of a new consent, one is named that %s', async (_, events, begin, who) => {
  const { context } = openCommand(newConfigFolder(temporary), '2026-11-22T10:00:00.000Z');
  await storeLogin(context, '1000001');
  const flow = await storeConsentFlow(context, begin, ...events);
  const named = await namingConsentUnderWay(context, ASK);
  if (who === null) return expect(named).toBe(ASK);
  const resume = ['consent', 'resume', flow];
  const isOther = who.endsWith('another person');
  expect(named).toMatchObject({
    message: ASK.message,
    hint: `The consent ${flow} is under way: ${who}. Ask the bank, or take ${isOther ? 'that person' : 'the customer'} there:`,
    next: isOther ? [resume, [...resume, '--psu-id', 'ID']] : [resume],
  });
});

it('of several the newest is named that the customer can still authorise, also past one that is damaged', async () => {
  const folder = newConfigFolder(temporary);
  const { context } = openCommand(folder, '2026-11-22T10:00:00.000Z');
  await storeLogin(context, '1000001');
  const sent: ConsentEvent = { type: 'sca-started', links: { approach: null, id: 'a1' } };
  const flows = [
    await storeConsentFlow(context, {}, REQUESTED),
    await storeConsentFlow(context, {}, { ...REQUESTED, resourceId: 'r2' }, sent),
    await storeConsentFlow(context, { customerId: '1000002' }, { ...REQUESTED, resourceId: 'r3' }),
    await storeConsentFlow(context, {}, { ...REQUESTED, resourceId: 'r4' }),
  ];
  writeFileSync(join(folder.flows('env'), `${flows[3]}.ndjson`), 'garbage\n');
  expect(await namingConsentUnderWay(context, ASK)).toMatchObject({ flow: flows[1] });
});

it('another error stays what it is', async () => {
  const { context } = openCommand(newConfigFolder(temporary), '2026-11-22T10:00:00.000Z');
  await storeLogin(context, '1000001');
  await storeConsentFlow(context, {}, ...BY_DORA);
  for (const error of [
    new TypeError('A bug'),
    new Psd2Error('not_logged_in', 'There is no valid consent'),
    ...[['auth', 'request'], ['consent', 'show'], ['consent']].map((words) => ASK.with({ next: [words] })),
  ])
    expect(await namingConsentUnderWay(context, error)).toBe(error);
});
