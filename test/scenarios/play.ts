import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import * as z from 'zod';
import { type Relay, sendCustomer } from '../crash/relay.ts';
import { tokensFile } from '../e2e/support/tokens-file.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { type BankOfRow, nameOf, type Row, type Step } from './row.ts';

/** How a command ended. */
export interface Ended {
  exitCode: number;
  /** The error, if there was one. */
  error: { code: string; message: string; hint?: string | null; next?: string[][] } | null;
  stdout: string;
  /** What it told the operator. */
  told: string;
}

/** Where a row is played: psd2 with a login and a bank, and a relay between them. */
export interface Stage {
  /** Names the place for the relay. */
  name: string;
  relay: Relay;
  /** The configuration folder of psd2, and its profile. */
  config: string;
  profile: string;
  /** Nobody else orders this amount. */
  amount: string;
  run(words: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended>;
  /** How often the bank has debited the amount. */
  booked(): Promise<number>;
}

const shownShape = z.object({
  ...{ flow: z.string().nullish(), batch: z.string().nullish(), state: z.string().optional() },
});
const lineShape = z.object({ event: z.object({ type: z.string() }) });

/** The options of `psd2 sandbox start` for a bank. */
export function rulesOf(kind: BankOfRow): string[] {
  if (kind === 'cb') return [];
  const path = join(temporaryFolder(), 'bank.json');
  writeFileSync(path, JSON.stringify({ interface: 'nextgenpsd2', ...kind.file }));
  return ['--bank', path];
}

/** The profile of its customers. */
export const profileOf = (kind: BankOfRow) => (kind === 'cb' ? 'sandbox' : 'sandbox-nextgen');

/** Names of a flow and a batch that no command has printed. No message has these words. */
const [NO_FLOW, NO_BATCH] = ['no-flow-yet', 'no-batch-yet'];

/** Plays a row, and checks everything that must come out. */
export async function play(stage: Stage, row: Row): Promise<void> {
  const FILE = join(stage.config, `${stage.name}.csv`);
  const names = { FLOW: NO_FLOW, BATCH: NO_BATCH, FILE, AMOUNT: stage.amount, REFERENCE: stage.name };
  const real = (text: string) =>
    text.replaceAll(
      /\b(FLOW|BATCH|FILE|AMOUNT|REFERENCE)\b/g,
      (name) => Object.entries(names).find(([each]) => each === name)?.[1] ?? name,
    );
  const plain = (text: string) =>
    (['FLOW', 'BATCH', 'REFERENCE'] as const).reduce((all, name) => all.replaceAll(names[name], name), text);
  if (row.payments) writeFileSync(FILE, real(csvOf(row.payments)));
  if (row.tokenHasEnded) endToken(stage);
  for (const [index, step] of row.steps.entries()) {
    const calls = meet(stage, step);
    const { exitCode, error, stdout, told } = await stage.run(step.words.map(real), step.env ?? {});
    const printed: unknown = stdout.trim() === '' ? null : JSON.parse(stdout);
    const found = [printed].flat().flatMap((one) => shownShape.safeParse(one).data ?? []);
    for (const { flow, batch } of found) {
      if (flow && names.FLOW === NO_FLOW) names.FLOW = flow;
      if (batch && names.BATCH === NO_BATCH) names.BATCH = batch;
    }
    const states = found.map(({ state }) => state);
    const seen = {
      ends: [exitCode, error?.code, ...states].filter((part) => part !== undefined).join(' '),
      ...(step.calls !== undefined && { calls: calls.join(' ') }),
      ...(step.prints && { prints: printed }),
    };
    const { ends, calls: wanted, prints, says, tells, events } = step;
    expect(seen, `step ${index + 1}: ${error?.message}`).toMatchObject({
      ends,
      ...(wanted !== undefined && { calls: wanted }),
      ...(prints && { prints }),
    });
    if (says !== undefined) expect(plain(textOf(error))).toMatch(says);
    if (tells !== undefined) expect(plain(told)).toMatch(tells);
    if (events !== undefined)
      expect(eventsOf(stage.config, names.FLOW).join(' ')).toMatch(new RegExp(`(^| )${events}$`));
  }
  expect(await stage.booked(), 'bookings in the ledger').toBe(row.paid);
}

/** The access token of the customer ended a year before, and the bank does not know it. */
function endToken({ config, profile }: Stage): void {
  const path = tokensFile(config, profile);
  const ended = { accessToken: 'ended', accessTokenExpiresAt: '2025-11-21T12:00:00.000Z' };
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...ended }));
}

/** Payments of `AMOUNT` each to these names, some with a reference. */
const csvOf = (payments: readonly string[]) =>
  [
    'name,reference,iban,amount',
    ...payments.map((payee) => `${payee.includes(',') ? payee : `${payee},`},DE89370400440532013000,AMOUNT`),
  ]
    .map((line) => `${line}\n`)
    .join('');

/** Sets what the calls of a step meet. @returns their names, as they come */
export function meet(
  { relay, name }: Pick<Stage, 'relay' | 'name'>,
  { meets = {}, customer = 'approves' }: Pick<Step, 'meets' | 'customer'>,
): string[] {
  const calls: string[] = [];
  const waiting = new Map(Object.entries(meets).map(([call, treatments]) => [call, [...treatments]]));
  relay.treat(name, async (call, toBank) => {
    const named = nameOf(call);
    calls.push(named);
    const treatment = waiting.get(named)?.shift();
    const answer = treatment ? await treatment(call, toBank) : await toBank();
    if (answer && customer !== 'stays away') sendCustomer(answer, customer === 'refuses');
    return answer;
  });
  return calls;
}

/** Message, hint and next commands of an error. Only the program writes these out in the hint, and repeats the options. */
function textOf(error: Ended['error']): string {
  const { message = '', hint, next = [] } = error ?? {};
  const said = hint?.replace(/(\n {2}[\s\S]*|(?<=:) psd2 .*)$/, '');
  const commands = next.map((words) => words.filter((word) => word !== 'psd2' && word !== '--yes').join(' '));
  return [message, ...(said ? [said] : []), ...commands.map((words) => `$ ${words}`)].join('\n');
}

/** The types of the events in the journal of a flow. */
export function eventsOf(config: string, flow: string): string[] {
  const files = readdirSync(join(config, 'flows'), { recursive: true, encoding: 'utf8' });
  const file = files.find((each) => each.endsWith(`${flow}.ndjson`)) ?? flow;
  const lines = readFileSync(join(config, 'flows', file), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => lineShape.parse(JSON.parse(line)).event.type);
}
