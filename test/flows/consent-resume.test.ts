import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runConsent } from '../../src/flows/consent/loop.ts';
import { operationStatus } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { useRecordedBank } from '../bank/recorded-bank.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { consentScriptOf, newConsent } from './consents.ts';
import { fakeCustomer, fakeWorld } from './doubles.ts';
import { flowsIn, readLines } from './transfers.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = consentScriptOf(recorded);
const temporary = temporaryFolder();

const CALLS = {
  request: () => script.request(),
  decided: () => script.status(operationStatus('AUTHORIZED')),
  approach: () => script.approach(),
  confirm: () => script.confirm(),
  confirmed: () => script.status(operationStatus('AUTHORIZED', 'OK')),
};

/** The calls that a consent still needs if its journal ends with an event of this type. */
const CALLS_LEFT: Record<string, (keyof typeof CALLS)[]> = {
  created: ['request', 'approach', 'confirm'],
  'request-sent': ['request', 'approach', 'confirm'],
  requested: ['approach', 'confirm'],
  'approach-sent': ['approach', 'confirm'],
  // The customer may have decided already.
  'sca-started': ['decided', 'confirm'],
  'sca-returned': ['decided', 'confirm'],
  // From here on the bank may have the confirmation: psd2 asks about it, and never sends it again.
  'confirm-sent': ['confirmed'],
  confirmed: [],
};

async function resume(lines: string[]): Promise<string[]> {
  const folder = newConfigFolder(temporary);
  const flow: string = JSON.parse(lines[0] ?? '').event.flow;
  mkdirSync(folder.flows('sandbox'), { recursive: true, mode: 0o700 });
  writeFileSync(join(folder.flows('sandbox'), `${flow}.ndjson`), `${lines.join('\n')}\n`, { mode: 0o600 });
  const world = fakeWorld();
  const { bank } = openClient({ now: world.now });
  const ports = { bank, world, customer: fakeCustomer() };
  // The error does not matter: the journal shows how each run ended.
  await flowsIn(folder, world)
    .resume('consent', flow, (open) => runConsent(open, ports))
    .catch(() => {});
  return readLines(folder, flow);
}

async function wholeJournal(): Promise<string[]> {
  const folder = newConfigFolder(temporary);
  const consent = await newConsent(folder);
  for (const call of ['request', 'approach', 'confirm'] as const) CALLS[call]();
  await consent.run(openClient({ now: consent.world.now }).bank);
  return readLines(folder, consent.open.current.flow);
}

it('a consent that is killed after any event is resumed to its end, and confirmed once', async () => {
  const whole = await wholeJournal();
  expect(whole).toHaveLength(8);
  for (let killedAfter = 1; killedAfter <= whole.length; killedAfter += 1) {
    const lines = whole.slice(0, killedAfter);
    const types = lines.map((line) => JSON.parse(line).event.type);
    const before = recorded.received.length;
    for (const call of CALLS_LEFT[types.at(-1)] ?? []) CALLS[call]();
    const resumed = await resume(lines);
    expect(resumed.slice(0, killedAfter)).toEqual(lines);
    expect(JSON.parse(resumed.at(-1) ?? '').event.type).toBe('confirmed');
    const confirmations = recorded.received.slice(before).filter(({ target }) => target.endsWith('/confirm'));
    expect(confirmations).toHaveLength(types.includes('confirm-sent') ? 0 : 1);
  }
});
