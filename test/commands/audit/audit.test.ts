import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { audit } from '../../../src/commands/audit/audit.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { changeMark } from '../../../src/store/files/data.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import type { AuditAction } from '../../../src/store/ports/audit.ts';
import type { NewBatch } from '../../../src/store/ports/batches.ts';
import type { ProfileData } from '../../../src/store/ports/store.ts';
import { VERIFIED } from '../../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { login } from '../../store/whole-store.ts';
import { storeConsentFlow, storeOperation, storeTransfer } from '../access.ts';
import { cellsIn, type How, openCommand, ranIn, runIn } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const MARCH = '2026-03-01T00:00:00.000Z';
const MAY = '2026-05-01T00:00:00.000Z';

const BY = { by: 'ada', operator: 'ada', user: 'ada', machine: 'pisp-1', version: '1.0.0' };
const BATCH: NewBatch = {
  added: {
    ...{ format: 'csv', messageId: null, note: null, retryOf: null, payees: [], approvalsNeeded: 0 },
    ...BY,
  },
  lines: [],
  again: false,
};

let folder: StoreFolder;
let flow: string;
const path = () => folder.audit('env');
const open = (now = MAY, how: How = {}, where = folder) =>
  openCommand(where, now, { env: { PSD2_OPERATOR: 'ada' }, ...how });
const append = async (entry: Parameters<ProfileData['audit']['append']>[0], now = MAY) =>
  (await open(now).context.store()).audit.append(entry);

beforeEach(async () => {
  folder = newConfigFolder(temporary);
  await append({ action: 'logged-in', customerId: '1000001', about: 'authorization_code' }, MARCH);
  const order = { customerId: '1000002', reference: 'INV 7' };
  const verified = { ...VERIFIED, resourceId: 'resource-7' };
  flow = await storeTransfer(open().context, order, verified, { type: 'cancelled' });
});

/** Runs `psd2 audit …`. */
const run = (words: string[], how?: How, where = folder) => ranIn(open(MAY, how, where), 'audit', ...words);
const verified = () => run(['--verify']);
const failure = (...words: string[]) => failureOf(run(words));

/** The lines that a command prints. */
async function lines(words: string[], customer?: string) {
  const { data } = await run(words, { globals: { ...(customer && { customer }) } });
  expect(audit.prints?.shape.is(data)).toBe(true);
  return z.array(z.record(z.string(), z.unknown())).parse(data);
}
const actionsOf = async (customer: string | undefined, ...words: string[]) =>
  (await lines(words, customer)).map(({ action }) => action);
const actions = (...words: string[]) => actionsOf(undefined, ...words);

describe('psd2 audit', () => {
  it('shows who did what, the oldest first, with PSD2_OPERATOR', async () => {
    const found = await lines([]);
    expect(found.map(({ action, customerId, flow: of }) => [action, customerId, of])).toEqual([
      ['logged-in', '1000001', null],
      ['began', '1000002', flow],
      ['cancelled', '1000002', flow],
    ]);
    expect(found.every(({ operator, profile }) => operator === 'ada' && profile === 'env')).toBe(true);
    expect(found[1]?.previous).toBe(found[0]?.sha256);
  });

  it('--since, --flow and --customer choose lines, and a line must match all that is given', async () => {
    for (const since of ['2026-04-01', MAY])
      expect(await actions('--since', since)).toEqual(['began', 'cancelled']);
    expect(await actions('--since', '2026-05-01T00:00:00.001Z')).toEqual([]);
    for (const reference of [flow, flow.slice(0, -2), 'resource-7', 'resource', 'inv  7'])
      expect(await actions('--flow', reference)).toEqual(['began', 'cancelled']);
    expect(await actions('--flow', 'INV 8')).toEqual([]);
    expect(await actionsOf('1000001')).toEqual(['logged-in']);
    await append({ action: 'logged-out', customerId: '1000002', about: null });
    expect(await actionsOf('1000002', '--flow', flow)).toEqual(['began', 'cancelled']);
    expect(await actionsOf('1000002', '--since', '2026-04-01')).toEqual(['began', 'cancelled', 'logged-out']);
    expect(await actionsOf('1000001', '--flow', flow)).toEqual([]);
    expect(await actionsOf('1000001', '--since', '2026-04-01')).toEqual([]);
  });

  it('--flow finds the lines of a flow whose journal is damaged or gone', async () => {
    writeFileSync(`${folder.flows('env')}/${flow}.ndjson`, 'damaged');
    expect(await actions('--flow', flow)).toEqual(['began', 'cancelled']);
    rmSync(`${folder.flows('env')}/${flow}.ndjson`);
    for (const reference of [flow, flow.slice(0, -2)])
      expect(await actions('--flow', reference)).toEqual(['began', 'cancelled']);
    expect(await actions('--flow', flow.slice(2))).toEqual([]);
  });

  it('an interruption while psd2 looks for the flow ends it', async () => {
    const { context } = open();
    const { flows } = await context.store();
    const interrupted = new Psd2Error('interrupted', 'Interrupted');
    vi.spyOn(flows, 'find').mockRejectedValueOnce(interrupted);
    await expect(runIn(context, 'audit', '--flow', flow)).rejects.toBe(interrupted);
  });

  it('events of the journal name operator, machine and version too', () => {
    const [first = ''] = readFileSync(`${folder.flows('env')}/${flow}.ndjson`, 'utf8').split('\n');
    expect(JSON.parse(first).event).toMatchObject({
      operator: 'ada',
      machine: expect.stringMatching(/./),
      version: '0.0.0',
    });
  });

  it('--verify prints the SHA-256 of the last line', async () => {
    const { data, said } = await verified();
    expect([data, said]).toEqual([{ lines: 3, sha256: (await lines([]))[2]?.sha256 }, '']);
    expect(audit.printsWith?.['--verify']?.shape.is(data)).toBe(true);
  });

  const CUT_OFF = 'the line 3, the last one, was removed or changed';
  it.each([
    ['changed', (text: string) => text.replace('"ada"', '"eve"'), 'line 1 was changed'],
    ['removed', (text: string) => text.slice(text.indexOf('\n') + 1), 'line 1 was removed'],
    ['cut off', (text: string) => text.slice(0, text.indexOf('\n') + 1), CUT_OFF],
  ])('--verify finds a line that was %s, also after the next one', async (_, change, why) => {
    writeFileSync(path(), change(readFileSync(path(), 'utf8')));
    const message = expect.stringContaining(why);
    await expect(verified()).rejects.toMatchObject({ code: 'audit_changed', message });
    await append({ action: 'logged-out' });
    await expect(verified()).rejects.toMatchObject({ code: 'audit_changed' });
  });

  it('a line that a crash has cut short never counted, and the next one takes its place', async () => {
    appendFileSync(path(), '{"n":4,"at":"2026');
    await append({ action: 'logged-out' });
    expect(await actions()).toEqual(['logged-in', 'began', 'cancelled', 'logged-out']);
    await verified();
  });

  it.each([
    [' ', 'PSD2_OPERATOR is empty'],
    ['a'.repeat(101), 'PSD2_OPERATOR has 101 characters'],
  ])('refuses %j as an operator', async (operator, message) => {
    const { context } = open(MAY, { env: { PSD2_OPERATOR: operator } });
    await expect(context.store()).rejects.toMatchObject({ code: 'usage', message });
  });

  it('a person reads one line for each, and at a terminal titles', async () => {
    const machine = expect.stringMatching(/./);
    expect(cellsIn((await run([], { format: 'table' })).printed)).toEqual([
      [MARCH, 'logged-in', 'ada', machine, machine, '1000001', '', 'authorization_code', '0.0.0', ''],
      [MAY, 'began', 'ada', machine, machine, '1000002', flow, expect.any(String), '0.0.0', ''],
      [MAY, 'cancelled', 'ada', machine, machine, '1000002', flow, expect.any(String), '0.0.0', ''],
    ]);
    const drawn = await run([], { format: 'table', columns: 250 });
    const [titles = '', first = ''] = drawn.printed.split('\n');
    // Nobody has approved anything.
    expect(titles.trim().split(/ {2,}/).join(' ')).toBe(
      'TIME ACTION OPERATOR USER MACHINE CUSTOMER FLOW ABOUT VERSION',
    );
    // A person reads a time of theirs, without its milliseconds.
    expect(first).toMatch(/^2026-0[23]-\d\d \d\d:\d\d:\d\d {2}/);
    const nothing = { printed: '', said: 'No line of the audit log matches.\n' };
    expect(await run(['--flow', 'none'], { format: 'table' })).toMatchObject(nothing);
  });

  it('where there is little room, the columns go in this order', async () => {
    await append({ action: 'approved', about: 'by carla, by carla' });
    const gone: string[] = [];
    let before: string[] = [];
    for (let columns = 300; columns >= 40; columns -= 4) {
      const [titles = ''] = (await run([], { format: 'table', columns })).printed.split('\n');
      const now = titles.trim().split(/ {2,}/);
      gone.push(...before.filter((title) => !now.includes(title)));
      before = now;
    }
    // Then each line has fields instead of columns.
    expect(gone.slice(0, 4)).toEqual(['CUSTOMER', 'USER', 'MACHINE', 'VERSION']);
  });

  it('an action, a customer and a flow are whole or not there, however little room there is', async () => {
    const customerId = `pseudonym-${'0123456789abcdef'.repeat(2)}`;
    await append({ action: 'profile-changed', customerId, flow, about: 'x'.repeat(60) });
    const shown = new Map<string, number>();
    for (let columns = 300; columns >= 40; columns -= 4) {
      const [titles = '', ...drawn] = (await run([], { format: 'table', columns })).printed.split('\n');
      for (const [title, whole] of [
        ['ACTION', 'profile-changed'],
        ['CUSTOMER', customerId],
        ['FLOW', flow],
      ] as const) {
        if (!titles.split(/ +/).includes(title)) continue;
        shown.set(title, columns);
        expect(drawn.join('\n'), `${title} in ${columns}`).toContain(whole);
      }
    }
    // The customer goes first, and the others stay as long as there are columns.
    expect(shown.get('CUSTOMER')).toBeGreaterThan(shown.get('FLOW') ?? 0);
    expect(shown.get('ACTION')).toBe(shown.get('FLOW'));
  });

  const BATCH_ID = 'ab'.repeat(32);
  const SHORT = `batch ${BATCH_ID.slice(0, 12)}`;
  it.each<[AuditAction, string | null, string, string]>([
    ['approved', `batch ${BATCH_ID}, by carla`, `${SHORT}, by carla`, 'carla'],
    ['rejected', `batch ${BATCH_ID}, by Lovelace, Ada`, `${SHORT}, by Lovelace, Ada`, 'Lovelace, Ada'],
    // Only these two are a person's own word.
    ['added', `batch ${BATCH_ID}, by carla`, `${SHORT}, by carla`, ''],
    ['paid', `batch ${BATCH_ID}, by carla`, `${SHORT}, by carla`, ''],
    ['approved', `batch ${BATCH_ID}`, SHORT, ''],
    ['approved', 'by carla', 'by carla', ''],
    ['approved', null, '', ''],
    // What is no batch's id stays whole.
    ['exported', `camt of batch ${BATCH_ID}`, `camt of batch ${BATCH_ID}`, ''],
    ['exported', `batch ${BATCH_ID.slice(1)}`, `batch ${BATCH_ID.slice(1)}`, ''],
  ])('%s of %j is about %j to a person, and the approver is %j', async (action, about, shown, approver) => {
    await append({ action, about });
    const cells = cellsIn((await run([], { format: 'table' })).printed).at(-1);
    expect([cells?.[1], cells?.[7], cells?.[9]]).toEqual([action, shown, approver]);
    expect((await lines([])).at(-1)).toMatchObject({ action, about });
    const titles = (await run([], { format: 'table', columns: 300 })).printed.split('\n')[0];
    expect(titles?.includes('APPROVER')).toBe(approver !== '');
  });

  it.each([
    ['ada', 'worker', 'ada worker'],
    [null, 'worker', 'worker'],
    ['ada', null, 'ada'],
    [null, null, ''],
  ])('the user %j with the role %j of a database is %j to a person', async (user, role, shown) => {
    const [last = ''] = readFileSync(path(), 'utf8').trimEnd().split('\n').slice(-1);
    appendFileSync(path(), `${JSON.stringify({ ...JSON.parse(last), user, role })}\n`);
    expect(cellsIn((await run([], { format: 'table' })).printed).at(-1)?.[3]).toBe(shown);
  });

  it('--verify tells a person how many lines are whole, and an empty log is one', async () => {
    const verify = (where: StoreFolder) => run(['--verify'], { format: 'table' }, where);
    expect(await verify(folder)).toMatchObject({
      said: 'No line of 3 was removed or changed. SHA-256 of the last one:\n',
      printed: expect.stringMatching(/^\t[0-9a-f]{64}\n$/),
    });
    const empty = { said: 'The audit log is empty.\n', printed: '\t\n' };
    expect(await verify(newConfigFolder(temporary))).toMatchObject(empty);
  });

  it('--verify finds that the whole log was removed, also if a new one has begun', async () => {
    const changed = (why: string) => ({
      ...{ code: 'audit_changed', exitCode: 3 },
      message: `The audit log is not as psd2 wrote it: ${why}`,
    });
    rmSync(dirname(path()), { recursive: true });
    expect(await failure('--verify')).toMatchObject(changed('all of it was removed'));
    await append({ action: 'logged-out', flow });
    expect(await failure('--verify')).toMatchObject(changed('all lines before the first one were removed'));
    // Also if somebody has removed the record of the first line.
    rmSync(join(folder.root, 'audit-begun'), { recursive: true });
    expect(await failure('--verify')).toMatchObject(changed(`the lines of ${flow} were removed`));
  });

  it.each<[string, (context: ReturnType<typeof open>['context']) => Promise<string>]>([
    ['a transfer', (context) => storeTransfer(context, { reference: 'INV 8' })],
    ['an operation', (context) => storeOperation(context, {})],
    ['a consent', (context) => storeConsentFlow(context, {})],
  ])('--verify misses the lines of %s, whatever else has lines in a new log', async (_, store) => {
    folder = newConfigFolder(temporary);
    const begun = await store(open().context);
    await verified();
    for (const name of ['audit', 'audit-begun']) rmSync(join(folder.root, name), { recursive: true });
    await append({ action: 'logged-out' });
    expect((await failure('--verify')).message).toBe(
      `The audit log is not as psd2 wrote it: the lines of ${begun} were removed`,
    );
  });

  it('--verify misses no lines of flows that store copy brought to a log of its own', async () => {
    for (const name of ['audit', 'audit-begun']) rmSync(join(folder.root, name), { recursive: true });
    await append({ action: 'logged-out' });
    await changeMark(folder.root, { copiedFrom: { id: 'x', place: 'y', isComplete: true } });
    expect((await verified()).data).toMatchObject({ lines: 1 });
  });

  it('--verify finds that the whole log of a store without payments was removed, also if a new one has begun', async () => {
    folder = newConfigFolder(temporary);
    const change = (about: string) => append({ action: 'profile-changed', about });
    await change('1');
    await change('2');
    // A log from before psd2 kept its first line elsewhere is whole, and the next line makes that good.
    rmSync(join(folder.root, 'audit-begun'), { recursive: true });
    await verified();
    await change('3');
    await verified();
    rmSync(dirname(path()), { recursive: true });
    for (const why of ['all of it was removed', 'all lines before the first one were removed']) {
      expect((await failure('--verify')).message).toBe(`The audit log is not as psd2 wrote it: ${why}`);
      await change(why);
    }
  });

  it.each<[string, (data: ProfileData) => Promise<unknown>]>([
    ['a login', ({ tokens }) => tokens.change('1000001', (slot) => slot.write(login))],
    ['a batch', ({ batches }) => batches.add(BATCH)],
  ])('--verify misses the log of a store with %s', async (_, write) => {
    folder = newConfigFolder(temporary);
    await write(await open().context.store());
    await expect(verified()).rejects.toMatchObject({ code: 'audit_changed' });
  });

  it('a flow that cannot be recorded does not begin', async () => {
    rmSync(path());
    mkdirSync(path());
    const before = readdirSync(folder.flows('env'));
    const begun = storeTransfer(open().context, { reference: 'INV 8' });
    await expect(begun).rejects.toMatchObject({ code: 'config' });
    expect(readdirSync(folder.flows('env'))).toEqual(before);
  });

  it.each<[string[], string, object]>([
    [['--since', 'soon'], '--since "soon" is not a time', { hint: expect.any(String) }],
    [['--flow', ''], 'The value of --flow is empty', {}],
    ...['--since 1d', '--flow x'].map((words): [string[], string, object] => [
      ['--verify', ...words.split(' ')],
      '--verify always checks all lines',
      { hint: 'Leave out --since and --flow.' },
    ]),
  ])('refuses %j', async (words, message, advice) => {
    expect(await failure(...words)).toEqual({ code: 'usage', exitCode: 2, message, ...advice });
  });

  it('a changed line says what to do', async () => {
    writeFileSync(path(), `{}\n${readFileSync(path(), 'utf8')}`);
    expect(await failure()).toEqual({
      ...{ code: 'audit_changed', exitCode: 3 },
      message: 'The audit log is not as psd2 wrote it: line 1 was changed',
      hint: 'Find out who could write to the store, and compare the log with a backup. psd2 keeps appending to it.',
    });
  });
});
