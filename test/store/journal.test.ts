import fs, {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createFlowFile } from '../../src/store/files/flow-file.ts';
import { FlowJournal, type OpenTransfer } from '../../src/store/files/journal.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import { consentCategories, transferOrder, VERIFIED } from '../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';

const temporary = temporaryFolder();
let folder: StoreFolder;
let journal: FlowJournal;
let clock: number;

beforeEach(() => {
  folder = newConfigFolder(temporary);
  clock = Date.parse('2026-11-21T10:00:00.000Z');
  journal = openJournal('sandbox');
});

function openJournal(profile: string): FlowJournal {
  let random = 0;
  return new FlowJournal(
    folder,
    profile,
    () => {
      clock += 1000;
      return new Date(clock);
    },
    () => {
      random = (random + 0.07) % 1;
      return random;
    },
  );
}

function pathOf(flow: string): string {
  return join(folder.flows('sandbox'), `${flow}.ndjson`);
}

function linesOf(flow: string): unknown[] {
  return readFileSync(pathOf(flow), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const verified = { ...VERIFIED, resourceId: '3f2b8c1e-0000-4000-8000-000000000001' };
const intent = { requestId: 'q1', digest: 'SHA-256=x' };
const { customerId, from } = transferOrder();
const transferTarget = { customerId, from };

it('writes an event a line, with its time, and folds them again', () => {
  const open = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
  expect(open.record({ type: 'verify-sent', ...intent })).toBe(open.current);
  open.record(verified);
  open.record({ type: 'accepted' });

  const { flow } = open.current;
  const by = expect.stringMatching(/^[0-9a-f]{8}$/);
  expect(linesOf(flow)).toEqual([
    {
      at: '2026-11-21T10:00:01.000Z',
      n: 1,
      by,
      event: { type: 'created', flow, transactionId: 't1', order: transferOrder() },
    },
    { at: '2026-11-21T10:00:02.000Z', n: 2, by, event: { type: 'verify-sent', ...intent } },
    { at: '2026-11-21T10:00:03.000Z', n: 3, by, event: verified },
    { at: '2026-11-21T10:00:04.000Z', n: 4, by, event: { type: 'accepted' } },
  ]);
  expect(openJournal('sandbox').openTransfer(flow).current).toEqual(open.current);
  expect(open.current).toMatchObject({
    state: 'verified',
    accepted: true,
    createdAt: '2026-11-21T10:00:01.000Z',
    updatedAt: '2026-11-21T10:00:04.000Z',
  });
});

it('keeps consents beside transfers', () => {
  const consent = journal.createConsent({
    transactionId: 't2',
    customerId: '1234567',
    categories: consentCategories(),
  });
  consent.record({ type: 'requested', resourceId: 'r2', outcomes: [{ name: 'PAYMENTS', outcome: true }] });
  journal.createTransfer({ transactionId: 't1', order: transferOrder() });

  expect(consent.current.flow).toMatch(/^co-/);
  expect([...journal.consents()]).toEqual([consent.current]);
  expect(journal.openConsent('r2').current).toEqual(consent.current);
  expect([...journal.transfers()]).toHaveLength(1);
});

it('keeps other operations beside them, with their data as it was given', () => {
  const operation = journal.createOperation({
    transactionId: 't3',
    order: { ...transferTarget, operation: 'standingOrder', data: '{"amount":1.50}' },
    furtherData: ['{"b":1}'],
  });
  operation.record({ ...verified, nextStep: 'verify2' });
  operation.record({ type: 'further-data', data: ['{"c":2.00}'] });
  operation.record({ ...verified, type: 'further-verified' });
  const { flow } = operation.current;
  expect(flow).toMatch(/^op-/);
  expect([...journal.operations()]).toEqual([operation.current]);
  expect(journal.openOperation(flow).current).toMatchObject({
    kind: 'operation',
    order: { operation: 'standingOrder', data: '{"amount":1.50}' },
    furtherData: ['{"c":2.00}'],
    furtherSteps: 1,
  });
  expect([...journal.transfers()]).toEqual([]);
});

it('reads the journals of earlier versions, which know of no further data', () => {
  const { flow } = journal.createTransfer({ transactionId: 't1', order: transferOrder() }).current;
  expect(linesOf(flow)).toEqual([
    expect.objectContaining({ event: expect.not.objectContaining({ furtherData: expect.anything() }) }),
  ]);
  expect(journal.openTransfer(flow).current.furtherData).toEqual([]);
});

it('lists the newest first, and each profile by itself', () => {
  const flows = ['t1', 't2', 't3'].map(
    (transactionId) => journal.createTransfer({ transactionId, order: transferOrder() }).current.flow,
  );
  expect([...journal.transfers()].map(({ flow }) => flow)).toEqual([...flows].reverse());
  expect([...openJournal('other').transfers()]).toEqual([]);
  expect([...openJournal('other').consents()]).toEqual([]);
});

it('is readable by its owner alone: folders 0700, files 0600', () => {
  const { flow } = journal.createTransfer({ transactionId: 't1', order: transferOrder() }).current;
  expect(statSync(pathOf(flow)).mode & 0o777).toBe(0o600);
  for (let path = folder.flows('sandbox'); path.startsWith(folder.root); path = dirname(path)) {
    expect(statSync(path).mode & 0o777).toBe(0o700);
  }
});

it('is refused when others can read it', () => {
  const { flow } = journal.createTransfer({ transactionId: 't1', order: transferOrder() }).current;
  chmodSync(pathOf(flow), 0o644);
  expect(() => journal.openTransfer(flow)).toThrow(
    expect.objectContaining({
      code: 'config',
      message: `${pathOf(flow)} can be read by others (mode 0644)`,
      hint: `Run: chmod 600 ${pathOf(flow)}`,
    }),
  );
});

it('is not passed over in a list when others can write to it', () => {
  const { flow } = journal.createTransfer({ transactionId: 't1', order: transferOrder() }).current;
  chmodSync(pathOf(flow), 0o666);
  const told: string[] = [];
  expect(() => [...journal.transfers(({ message }) => told.push(message))]).toThrow(
    expect.objectContaining({ code: 'config', hint: `Run: chmod 600 ${pathOf(flow)}` }),
  );
  expect(told).toEqual([]);
});

describe('a flow is found', () => {
  it('by its id, the resource id, and any unambiguous prefix of either', () => {
    const open = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
    open.record(verified);
    journal.createTransfer({ transactionId: 't2', order: transferOrder() });
    const { flow } = open.current;
    for (const reference of [flow, flow.slice(0, -1), verified.resourceId, '3f2b']) {
      expect(journal.openTransfer(reference).current.flow).toBe(flow);
    }
  });

  it('by a whole id that is the prefix of another', () => {
    const short = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
    short.record({ ...verified, resourceId: 'abc' });
    journal.createTransfer({ transactionId: 't2', order: transferOrder() }).record({
      ...verified,
      resourceId: 'abcdef',
    });
    expect(journal.openTransfer('abc').current.flow).toBe(short.current.flow);
  });

  it('not by what fits several, which are named', () => {
    const flows = ['t1', 't2'].map(
      (transactionId) => journal.createTransfer({ transactionId, order: transferOrder() }).current.flow,
    );
    expect(() => journal.openTransfer('tr-')).toThrow(
      expect.objectContaining({
        code: 'flow_not_found',
        message: '"tr-" fits 2 flows',
        hint: `Give more of it: ${[...flows].reverse().join(', ')}`,
      }),
    );
  });

  it('not by what fits none, nor a consent as a transfer', () => {
    const { flow } = journal.createConsent({
      transactionId: 't2',
      customerId: '1234567',
      categories: consentCategories(),
    }).current;
    expect(() => journal.openTransfer(flow)).toThrow(
      expect.objectContaining({ code: 'flow_not_found', message: `No flow of this profile fits "${flow}"` }),
    );
  });

  it('not by nothing, even where there is one flow only', () => {
    journal.createTransfer({ transactionId: 't1', order: transferOrder() });
    expect(() => journal.openTransfer('')).toThrow(
      expect.objectContaining({ code: 'flow_not_found', message: 'The id of the flow is empty' }),
    );
  });
});

describe('among many flows', () => {
  const damage = (flow: string) => writeFileSync(pathOf(flow), 'garbage');
  const begin = (transactionId: string, reference: string | null = null) =>
    journal.createTransfer({ transactionId, order: { ...transferOrder(), reference } });

  it('an id, its prefix and a resource id open no file but the one they name', () => {
    const open = begin('t1');
    open.record(verified);
    const other = begin('t2');
    other.record({ ...verified, resourceId: 'other' });
    damage(other.current.flow);
    const { flow } = open.current;
    for (const reference of [flow, flow.slice(0, -1), verified.resourceId, '3f2b']) {
      expect(journal.openTransfer(reference).current.flow).toBe(flow);
    }
  });

  it('a resource of flows that the index does not know is found, and known from then on', () => {
    const open = begin('t1');
    open.record(verified);
    const other = begin('t2');
    other.record({ ...verified, resourceId: 'other' });
    rmSync(join(folder.flows('sandbox'), 'index'));
    expect(journal.openTransfer('3f2b').current).toEqual(open.current);
    damage(other.current.flow);
    expect(journal.openTransfer('3f2b').current).toEqual(open.current);
    expect(() => journal.openTransfer('none')).toThrow(
      expect.objectContaining({ code: 'flow_not_found', hint: expect.not.stringContaining('damaged') }),
    );
  });

  it('what a damaged journal may hold is said where nothing is found', () => {
    const { flow } = begin('t1').current;
    damage(flow);
    expect(() => journal.openTransfer('3f2b')).toThrow(
      expect.objectContaining({
        code: 'flow_not_found',
        hint: expect.stringContaining(`The journal ${pathOf(flow)} is damaged at line 1`),
      }),
    );
  });

  it('a resource that the index has and the journal has not, as after a crash, is none of the flow', () => {
    const open = begin('t1');
    const before = readFileSync(pathOf(open.current.flow));
    open.record(verified);
    writeFileSync(pathOf(open.current.flow), before);
    expect(() => journal.openTransfer(verified.resourceId)).toThrow(
      expect.objectContaining({ code: 'flow_not_found' }),
    );
  });

  it('those with a reference are found without reading the others', () => {
    const flows = ['INV-1', null, 'INV-1', 'INV-2'].map(
      (reference, index) => begin(`t${index}`, reference).current.flow,
    );
    for (const index of [1, 3]) damage(flows[index] ?? '');
    const found = journal.transfersWithReference('INV-1');
    expect(found.map(({ flow }) => flow)).toEqual([flows[2], flows[0]]);
    expect(found).toEqual([{ flow: flows[2], transfer: expect.anything() }, expect.anything()]);
  });

  it('are in the order of their creation, also when the clock was put back', () => {
    const first = begin('t1').current.flow;
    clock -= 86_400_000;
    const second = begin('t2').current.flow;
    clock += 3_600_000;
    const third = begin('t3').current.flow;
    expect([...journal.transfers()].map(({ flow }) => flow)).toEqual([third, second, first]);
    expect(journal.openTransfer(second).current.createdAt).toBe('2026-11-20T10:00:02.000Z');
  });

  it('none is read that was created before the time that is asked for', () => {
    const first = begin('t1').current.flow;
    clock += 3_600_000;
    const second = begin('t2').current.flow;
    damage(first);
    const since = new Date(clock - 60_000);
    expect([...journal.transfers(undefined, since)].map(({ flow }) => flow)).toEqual([second]);
  });

  it('a damaged one is told of, and the others are read', () => {
    const [first = '', second = ''] = ['t1', 't2'].map((id) => begin(id).current.flow);
    damage(second);
    const told: string[] = [];
    const read = [...journal.transfers(({ message }, flow) => told.push(`${flow}: ${message}`))];
    expect(read.map(({ flow }) => flow)).toEqual([first]);
    expect(told).toEqual([`${second}: The journal ${pathOf(second)} is damaged at line 1`]);
    expect(() => [...journal.transfers()]).toThrow('is damaged at line 1');
  });
});

it('a flow whose file was removed does not come back without its beginning', () => {
  const open = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
  rmSync(pathOf(open.current.flow));
  expect(() => open.record({ type: 'cancelled' })).toThrow(expect.objectContaining({ code: 'config' }));
  expect([...journal.transfers()]).toEqual([]);
});

describe('a damaged journal', () => {
  const damages: [string, (line: string, first?: string) => string][] = [
    ['is no JSON', () => 'garbage'],
    ['lacks a character inside', (line) => line.replace('"event"', '"event')],
    ['holds an unknown event', (line) => line.replace('verify-sent', 'verify-seen')],
    ['lacks a field', (line) => line.replace('"requestId":"q1",', '')],
    ['has no time', (line) => line.replace(/"at":"[^"]*"/, '"at":"__proto__"')],
    [
      'has a time that no calendar has',
      (line) => line.replace(/"at":"[^"]*"/, '"at":"2026-02-31T00:00:00Z"'),
    ],
    ['is empty', () => ''],
    ['is the first one again', (_, first = '') => first],
    ['is overwritten with zeros', (line) => '\0'.repeat(line.length)],
  ];

  it.each(damages)('is refused when a line in its middle %s', (_, damage) => {
    const open = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
    open.record({ type: 'verify-sent', ...intent });
    open.record(verified);
    const path = pathOf(open.current.flow);
    const lines = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, lines.map((line, index) => (index === 1 ? damage(line, lines[0]) : line)).join('\n'));
    expect(() => journal.openTransfer(open.current.flow)).toThrow(
      expect.objectContaining({ code: 'config', message: `The journal ${path} is damaged at line 2` }),
    );
  });

  it.each([
    ['is empty', ''],
    ['is missing', undefined],
  ])('is refused when its first line %s', (_, first) => {
    const open = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
    open.record({ type: 'verify-sent', ...intent });
    const path = pathOf(open.current.flow);
    const [, ...others] = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, [...(first === undefined ? [] : [first]), ...others].join('\n'));
    expect(() => journal.openTransfer(open.current.flow)).toThrow(
      expect.objectContaining({ code: 'config', message: `The journal ${path} is damaged at line 1` }),
    );
  });
});

it('says so when there is no place for it', () => {
  const flows = folder.flows('sandbox');
  mkdirSync(dirname(flows), { recursive: true, mode: 0o700 });
  writeFileSync(flows, '');
  expect(() => journal.createTransfer({ transactionId: 't1', order: transferOrder() })).toThrow(
    expect.objectContaining({
      code: 'config',
      message: `The folder ${flows} cannot be made: there is something else of that name`,
    }),
  );
});

it('does not go on with a flow that another process has gone on with', () => {
  const open = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
  const { flow } = open.current;
  const other = openJournal('sandbox').openTransfer(flow);
  other.record({ type: 'verify-sent', ...intent });
  const before = readFileSync(pathOf(flow), 'utf8');
  const overtaken = expect.objectContaining({
    code: 'overtaken',
    message: `Another psd2 has gone on with ${flow} in the meantime`,
    hint: 'This one does nothing more with it. See how far it is:',
    next: [['transfer', 'show', flow]],
  });
  expect(() => open.assertOurs()).toThrow(overtaken);
  expect(() => open.record({ type: 'cancelled' })).toThrow(overtaken);
  expect(open.current.state).toBe('created');
  expect(readFileSync(pathOf(flow), 'utf8')).toBe(before);
  expect(() => other.assertOurs()).not.toThrow();
  expect(other.record(verified).state).toBe('verified');
  expect(open.reread()).toEqual(other.current);
  expect(open.record({ type: 'cancelled' }).state).toBe('cancelled');
});

describe('a process that was stopped in the middle of a write', () => {
  /** A transfer that one process writes the second event of, while another writes it first. */
  function overtakenInWriting(more: (other: OpenTransfer) => void = () => {}) {
    const open = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
    const { flow } = open.current;
    const other = openJournal('sandbox').openTransfer(flow);
    // What the second process wrote is there before the line of the first, which has looked already.
    beforeNextAppend(() => {
      other.record({ type: 'verify-sent', ...intent });
      more(other);
    });
    return { open, other, flow };
  }

  /** Runs `work` when the next append is about to be handed to the system, as if the process were stopped there. */
  function beforeNextAppend(work: () => void): void {
    const { appendFileSync: append } = fs;
    vi.spyOn(fs, 'appendFileSync').mockImplementationOnce((file, data) => {
      const bytes = Buffer.from(String(data));
      work();
      append(file, bytes);
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
  }

  it('learns after its write that the line of another came first, and its own holds for nobody', () => {
    const { open, other, flow } = overtakenInWriting();
    expect(() => open.record({ type: 'cancelled' })).toThrow(expect.objectContaining({ code: 'overtaken' }));
    expect(linesOf(flow)).toHaveLength(3);
    expect(openJournal('sandbox').openTransfer(flow).current).toEqual(other.current);
    expect(other.record(verified).state).toBe('verified');
    expect(openJournal('sandbox').openTransfer(flow).current).toEqual(other.current);
  });

  it('is told apart also where both write the same at the same time', () => {
    const { open, flow } = overtakenInWriting();
    clock -= 1000;
    expect(() => open.record({ type: 'verify-sent', ...intent })).toThrow(
      expect.objectContaining({ code: 'overtaken' }),
    );
    const [, first, second] = linesOf(flow);
    expect(second).toMatchObject({ n: 2, event: { type: 'verify-sent' } });
    expect(second).not.toEqual(first);
  });

  it('has lost where another has gone further, too', () => {
    const { open, other, flow } = overtakenInWriting((opened) => opened.record(verified));
    expect(() => open.record({ type: 'cancelled' })).toThrow(expect.objectContaining({ code: 'overtaken' }));
    expect(other.record({ type: 'accepted' }).state).toBe('verified');
    expect(openJournal('sandbox').openTransfer(flow).current).toEqual(other.current);
  });

  /** Runs `work` when the next event is on the disk, before its writer has looked what else is there. */
  function afterNextFsync(work: () => void): void {
    const { fsyncSync: sync } = fs;
    vi.spyOn(fs, 'fsyncSync').mockImplementationOnce((file) => {
      sync(file);
      work();
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
  }

  it('has lost where another has gone on from its own line already', () => {
    const open = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
    const { flow } = open.current;
    afterNextFsync(() => openJournal('sandbox').openTransfer(flow).record(verified));
    expect(() => open.record({ type: 'verify-sent', ...intent })).toThrow(
      expect.objectContaining({ code: 'overtaken' }),
    );
    expect(openJournal('sandbox').openTransfer(flow).current.state).toBe('verified');
  });

  it('goes on where another was killed in the middle of a line after its own', () => {
    const open = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
    const { flow } = open.current;
    afterNextFsync(() => appendFileSync(pathOf(flow), '{"at":"2026-11-21T10:00:0'));
    open.record({ type: 'verify-sent', ...intent });
    open.record(verified);
    expect(openJournal('sandbox').openTransfer(flow).current).toEqual(open.current);
    expect(open.current.state).toBe('verified');
  });

  it('has lost where a line that it took for one cut short by a crash has come to its end', () => {
    const { flow } = journal.createTransfer({ transactionId: 't1', order: transferOrder() }).current;
    const line = JSON.stringify({
      at: '2026-11-21T10:00:02.000Z',
      n: 2,
      by: 'x',
      event: { type: 'cancelled' },
    });
    appendFileSync(pathOf(flow), line.slice(0, 20));
    const open = openJournal('sandbox').openTransfer(flow);
    appendFileSync(pathOf(flow), `${line.slice(20)}\n`);
    const overtaken = expect.objectContaining({ code: 'overtaken' });
    expect(() => open.assertOurs()).toThrow(overtaken);
    expect(() => open.record({ type: 'verify-sent', ...intent })).toThrow(overtaken);
    expect(linesOf(flow)).toHaveLength(2);
  });

  it('goes on where what another wrote came after its own', () => {
    const open = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
    const { flow } = open.current;
    const late = JSON.stringify({
      at: '2026-11-21T10:00:00.000Z',
      n: 1,
      by: 'x',
      event: { type: 'cancelled' },
    });
    open.record({ type: 'verify-sent', ...intent });
    appendFileSync(pathOf(flow), `${late}\n`);
    expect(() => open.assertOurs()).not.toThrow();
    open.record(verified);
    expect(openJournal('sandbox').openTransfer(flow).current).toEqual(open.current);
  });
});

it('a line that psd2 0.1 wrote, without a number, is the next one', () => {
  const open = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
  const { flow } = open.current;
  const old = JSON.stringify({ at: '2026-11-21T10:00:02.000Z', event: { type: 'verify-sent', ...intent } });
  appendFileSync(pathOf(flow), `${old}\n`);
  expect(() => open.record(verified)).toThrow(expect.objectContaining({ code: 'overtaken' }));
  const again = openJournal('sandbox').openTransfer(flow);
  expect(again.record(verified).state).toBe('verified');
  expect(linesOf(flow)[2]).toMatchObject({ n: 3 });
});

it('never takes the place of another flow of the same id', () => {
  const { flow } = journal.createTransfer({ transactionId: 't1', order: transferOrder() }).current;
  const before = readFileSync(pathOf(flow), 'utf8');
  expect(() => createFlowFile(pathOf(flow), { at: '', by: '', event: {} })).toThrow(
    expect.objectContaining({ code: 'config' }),
  );
  expect(readFileSync(pathOf(flow), 'utf8')).toBe(before);
});

it('a flow whose file has lost what was written is damaged, and nothing is added to it', () => {
  const open = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
  const path = pathOf(open.current.flow);
  const beginning = readFileSync(path, 'utf8');
  open.record({ type: 'verify-sent', ...intent });
  writeFileSync(path, beginning);
  const damaged = expect.objectContaining({
    code: 'config',
    message: `The journal ${path} is damaged at line 3`,
  });
  expect(() => open.assertOurs()).toThrow(damaged);
  expect(() => open.record(verified)).toThrow(damaged);
  expect(readFileSync(path, 'utf8')).toBe(beginning);
});

it('what is written does not follow a link that has taken the place of the file', () => {
  const open = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
  const path = pathOf(open.current.flow);
  const elsewhere = join(temporary, 'elsewhere.ndjson');
  renameSync(path, elsewhere);
  symlinkSync(elsewhere, path);
  const before = readFileSync(elsewhere, 'utf8');
  expect(() => open.record({ type: 'cancelled' })).toThrow(expect.objectContaining({ code: 'config' }));
  expect(() => open.assertOurs()).toThrow(expect.objectContaining({ code: 'config' }));
  expect(readFileSync(elsewhere, 'utf8')).toBe(before);
});

it('an event that cannot be written has not happened', () => {
  const open = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
  const path = pathOf(open.current.flow);
  appendFileSync(path, ' ');
  expect(() => open.record(verified)).toThrow(expect.objectContaining({ code: 'config' }));
  expect(open.current.state).toBe('created');
});

it('claims a flow for one worker at a time', async () => {
  const { flow } = journal.createTransfer({ transactionId: 't1', order: transferOrder() }).current;
  const order: string[] = [];
  const work = (name: string, journalOf: FlowJournal) =>
    journalOf.claimed(flow, async () => {
      order.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
    });
  await Promise.all([work('a', journal), work('b', openJournal('sandbox'))]);
  expect([order[0]?.slice(2), order[1]?.slice(2)]).toEqual(['begins', 'ends']);
  expect(order[0]?.[0]).toBe(order[1]?.[0]);
});
