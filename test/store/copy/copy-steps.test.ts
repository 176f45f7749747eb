import { isDeepStrictEqual } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import { copyStore } from '../../../src/store/copy/copy.ts';
import type {
  CopySide,
  CountedPins,
  Holdings,
  LoginRecord,
  Mark,
  StoredRecord,
} from '../../../src/store/ports/copy.ts';
import { count, flow, LOGIN, last, TOKENS } from './records.ts';

const login = (holder: string, generation = 1, accessToken: string | null = 'a'): LoginRecord => ({
  ...{ ...LOGIN, holder, generation, origin: 1 },
  tokens: accessToken === null ? null : { ...TOKENS, accessToken, refreshToken: null },
});

/** Everything that the backends were asked to change, in order. */
let changes: string[];

/** A backend in memory. */
class Backend implements CopySide {
  readonly place: string;
  readonly held = new Map<string, StoredRecord[]>();
  /** The workers at each look. The last one stays. */
  working: string[][] = [[]];
  /** What reading its records throws. */
  unreadable: Psd2Error | undefined;
  /** What opening its key throws. */
  locked: Psd2Error | undefined;
  /** Replaces what it does with a record that it is given. */
  put: ((record: StoredRecord) => Promise<void>) | undefined;
  counted: CountedPins[] = [];
  /** Whether {@link put} forgets what it is given. */
  forgets = false;
  #mark: Mark;

  constructor(place: string, ...records: StoredRecord[]) {
    this.place = place;
    this.#mark = { id: `id of ${place}`, movedTo: null, copiedFrom: null };
    if (records.length > 0) this.held.set('bank', records);
  }

  async mark(): Promise<Mark> {
    return this.#mark;
  }

  async setMark(change: Partial<Omit<Mark, 'id'>>): Promise<void> {
    this.#mark = { ...this.#mark, ...change };
    const { movedTo, copiedFrom } = change;
    if (movedTo !== undefined)
      changes.push(`${this.place} ${movedTo ? `moved to ${movedTo.place}` : 'takes workers'}`);
    if (copiedFrom)
      changes.push(`${this.place} ${copiedFrom.isComplete ? 'is' : 'becomes'} a copy of ${copiedFrom.place}`);
  }

  async atWork(): Promise<string[]> {
    changes.push(`look at ${this.place}`);
    return (this.working.length > 1 ? this.working.shift() : this.working[0]) ?? [];
  }

  async pins(): Promise<CountedPins[]> {
    return this.counted;
  }

  async countPins(pins: CountedPins): Promise<void> {
    changes.push(`count ${pins.sent} PINs in ${this.place}`);
  }

  async profiles(): Promise<string[]> {
    return [...this.held.keys()];
  }

  open(profile: string): Holdings {
    const place = this.place;
    const records = () => this.held.get(profile) ?? [];
    const isSame = (one: StoredRecord, other: StoredRecord) =>
      one.kind === other.kind &&
      (one.kind !== 'login' || other.kind !== 'login' || one.holder === other.holder);
    return {
      records: async function* (this: Backend) {
        if (this.unreadable) throw this.unreadable;
        yield* records();
      }.bind(this),
      openKey: async () => {
        if (this.locked) throw this.locked;
      },
      counterpart: async (record) => records().find((each) => isSame(each, record)),
      put: async (record) => {
        await this.put?.(record);
        changes.push(`put ${record.kind} into ${place}`);
        if (this.forgets) return;
        this.held.set(profile, [...records().filter((each) => !isSame(each, record)), record]);
      },
    };
  }
}

const batch = (...types: string[]): StoredRecord => ({
  ...{ kind: 'batch', batch: 'b1', lines: [], events: types.map((type) => ({ at: 'now', event: { type } })) },
});
const customer = (id: string): StoredRecord => ({
  ...{ kind: 'customer', baseUrl: 'https://bank.example/', customer: '42', generation: 1 },
  kept: { psu: { id, idType: null, corporateId: null, corporateIdType: null }, consents: [] },
});

const LOGGED_OUT = login('43', 2, null);
const SENT = flow('created', 'sent');
const all = () => [login('42'), login(''), LOGGED_OUT, last('42'), SENT, count(3)];
const INCOMPLETE =
  'The copy is not complete, so no worker can use /old or /new. To continue, run the same psd2 store copy again. To use /old again, copy in the other direction.';

let from: Backend;
let to: Backend;
let said: string[];
let counted: number[];

beforeEach(() => {
  changes = [];
  said = [];
  counted = [];
  from = new Backend('/old', ...all());
  to = new Backend('/new');
});

const world = {
  signal: new AbortController().signal,
  sleep: async (milliseconds: number) => void changes.push(`sleep ${milliseconds}`),
  say: (text: string) => void said.push(text),
  onRecord: (records: number) => void counted.push(records),
};
const copy = (source = from, target = to) => copyStore(source, target, world);
/** Everything is there twice. */
const expectCopied = () => {
  for (const record of from.held.get('bank') ?? [])
    expect(to.held.get('bank')?.some((each) => isDeepStrictEqual(each, record))).toBe(true);
};

describe('the steps of a copy', () => {
  it('both backends are marked before psd2 looks for workers, and the copy counts only after it was compared', async () => {
    from.counted.push({ person: 'a'.repeat(64), sent: 2 });
    const counts = { profiles: 1, logins: 2, flows: 1, events: 2, others: 2, written: 6, newer: 0 };
    expect(await copy()).toEqual(counts);
    expectCopied();
    const [first, second, ...others] = changes;
    expect([first, second]).toEqual(['/new takes workers', '/new becomes a copy of /old']);
    expect(others).toEqual([
      '/old moved to /new',
      'look at /old',
      'look at /new',
      'count 2 PINs in /new',
      ...['login', 'login', 'login', 'last-login', 'flow', 'count'].map((kind) => `put ${kind} into /new`),
      '/new is a copy of /old',
    ]);
    expect(await to.mark()).toEqual({
      id: 'id of /new',
      movedTo: null,
      copiedFrom: { id: 'id of /old', place: '/old', isComplete: true },
    });
    expect((await from.mark()).movedTo).toEqual({ id: 'id of /new', place: '/new' });
    expect(said).toEqual([]);
    // Once while it checks, once while it writes, once while it compares. A logout counts for nothing.
    expect(counted).toEqual(Array(3).fill([1, 2, 2, 3, 4, 5]).flat());
  });

  it('a copy that is complete changes nothing when it is made again, and disturbs no worker', async () => {
    await copy();
    changes = [];
    to.working = [['process 7']];
    expect(await copy()).toMatchObject({ logins: 2, flows: 1, written: 0, newer: 0 });
    expect(changes).toEqual([]);
  });

  it('what is newer in the copy stays, also who logged in last', async () => {
    await copy();
    to.held.set('bank', [login('42', 2), login(''), LOGGED_OUT, last('43'), SENT, count(4)]);
    changes = [];
    expect(await copy()).toMatchObject({ written: 0, newer: 3 });
    expect(changes).toEqual([]);
  });

  it('a copy that was complete and has lost a record is made again', async () => {
    await copy();
    to.held.set('bank', [login('42', 2), last('43')]);
    changes = [];
    expect(await copy()).toMatchObject({ written: 4, newer: 2 });
    expect(changes).toContain('/new becomes a copy of /old');
    expect(changes).not.toContain('put last-login into /new');
    expect((await to.mark()).copiedFrom?.isComplete).toBe(true);
  });

  it('a copy back brings what is new, also who logged in last, and takes back the mark', async () => {
    await copy();
    to.held.set('bank', [login(''), LOGGED_OUT, SENT, count(3), login('42', 2), last('43')]);
    expect(await copy(to, from)).toMatchObject({ written: 2 });
    expect((await from.mark()).movedTo).toBeNull();
    expect((await to.mark()).movedTo).toEqual({ id: 'id of /old', place: '/old' });
    expect(await from.open('bank').counterpart(last('42'))).toEqual(last('43'));
  });

  it('an operator who interrupts ends the copy between two records', async () => {
    const interrupt = new AbortController();
    const onRecord = (records: number) => {
      if (records === 2 && to.held.size > 0) interrupt.abort(new Psd2Error('interrupted', 'Interrupted'));
    };
    const interrupted = copyStore(from, to, { ...world, signal: interrupt.signal, onRecord });
    await expect(interrupted).rejects.toMatchObject({ code: 'interrupted' });
    expect(to.held.get('bank')).toHaveLength(2);
    expect((await to.mark()).copiedFrom?.isComplete).toBe(false);
    expect(await copy()).toMatchObject({ written: 4 });
    expectCopied();
  });
});

/** What a copy of customer 42 has. The pseudonym stays in the source, and says whom the destination has forgotten. */
const PSEUDONYM = { kind: 'pseudonym', pseudonym: 'pseudonym-0123456789abcdef', word: '42' } as const;
const of = (customerId: string): Record<string, StoredRecord> => ({
  login: login(customerId),
  note: { kind: 'note', holder: customerId, refresh: null, call: { at: AT, message: 'No' } },
  customer: {
    ...{ kind: 'customer', baseUrl: 'https://bank.example/', customer: customerId, generation: 1 },
    kept: null,
  },
  'last login': last(customerId),
  pseudonym: { ...PSEUDONYM, customerId },
  reads: { kind: 'reads', customerId, reads: { readAt: AT, failed: [], doubts: [] } },
  'count of reads': { kind: 'count', day: '2026-11-21', read: { customerId, productId: '' }, count: 1 },
});
const AT = '2026-11-21T10:00:00.000Z';
const forgot = (customerId: string | null): StoredRecord => ({
  ...{ kind: 'audit', n: 1 },
  text: JSON.stringify({
    ...{ n: 1, at: AT, profile: 'bank', action: 'forgot', operator: 'ada', user: 'ada', role: null },
    ...{ machine: 'm', version: '1', customerId, flow: null, about: null, previous: null },
  }),
});

describe('a copy that is made again', () => {
  it.each(Object.keys(of('42')))(
    'brings back no %s of a customer who was forgotten in the copy',
    async (kind) => {
      const [record] = [of('42')[kind] ?? expect.unreachable()];
      from = new Backend('/old', { ...PSEUDONYM, customerId: '42' }, record);
      await copy();
      to.held.set('bank', [forgot(PSEUDONYM.pseudonym)]);
      changes = [];
      expect(await copy()).toMatchObject({ written: 0, newer: 2 });
      expect(changes).toEqual([]);
    },
  );

  it.each(Object.keys(of('43')))('brings back a lost %s of another customer', async (kind) => {
    const [record] = [of('43')[kind] ?? expect.unreachable()];
    from = new Backend('/old', { ...PSEUDONYM, customerId: '42' }, record);
    await copy();
    to.held.set('bank', [forgot(PSEUDONYM.pseudonym)]);
    changes = [];
    await copy().catch(() => {});
    expect(changes.filter((change) => change.startsWith('put'))).toEqual([`put ${record.kind} into /new`]);
  });

  it('brings back what is lost if nobody was forgotten', async () => {
    from = new Backend('/old', { ...PSEUDONYM, customerId: '42' }, login('42'));
    await copy();
    to.held.set('bank', [forgot(null)]);
    expect(await copy()).toMatchObject({ written: 2, newer: 0 });
  });
});

describe('workers that are busy when a copy begins', () => {
  it('psd2 names each of them once, and waits until none is busy in either backend', async () => {
    from.working = [['process 7', 'process 8'], ['process 7'], ['process 8'], []];
    to.working = [[], [], [], ['process 9'], []];
    await copy();
    expect(said).toEqual(['Waiting for process 7', 'Waiting for process 8', 'Waiting for process 9']);
    expect(changes.filter((change) => change.startsWith('sleep'))).toEqual(Array(4).fill('sleep 250'));
    expectCopied();
  });

  it('after 150 seconds the error names three of them, and neither backend takes workers', async () => {
    from.working = [['process 1', 'process 2']];
    to.working = [['process 3', 'process 4']];
    await expect(copy()).rejects.toMatchObject({
      code: 'config',
      message: 'Workers are still busy: process 1, process 2, process 3',
      hint: 'Wait for it to end, then run the same psd2 store copy again.',
    });
    expect(changes.filter((change) => change === 'sleep 250')).toHaveLength(600);
    expect(said).toEqual(['Waiting for process 1', INCOMPLETE]);
    expect(to.held.size).toBe(0);
    expect((await from.mark()).movedTo).not.toBeNull();
  });

  it('an operator who interrupts waits no longer', async () => {
    from.working = [['process 1']];
    const interrupt = new AbortController();
    const say = () => interrupt.abort(new Psd2Error('interrupted', 'Interrupted'));
    await expect(copyStore(from, to, { ...world, say, signal: interrupt.signal })).rejects.toMatchObject({
      code: 'interrupted',
    });
    expect(changes).not.toContain('sleep 250');
  });
});

describe('a copy that fails', () => {
  it('for a key that is missing changes nothing: workers can go on', async () => {
    const before = [await from.mark(), await to.mark()];
    const missing = new Psd2Error('config', 'The passphrase is missing');
    from.unreadable = missing;
    await expect(copy()).rejects.toBe(missing);
    expect([changes, said]).toEqual([[], []]);
    from.unreadable = undefined;
    to.locked = missing;
    await expect(copy()).rejects.toBe(missing);
    expect([changes, said]).toEqual([[], []]);
    expect([await from.mark(), await to.mark()]).toEqual(before);
  });

  it('half-way says that no worker can use either store, and a copy back ends that', async () => {
    const full = new Psd2Error('config', 'The disk is full');
    to.put = async () => {
      throw full;
    };
    await expect(copy()).rejects.toBe(full);
    expect(said).toEqual([INCOMPLETE]);
    await copy(to, from);
    expect((await from.mark()).movedTo).toBeNull();
    expect(from.held.get('bank')).toEqual(all());
  });
});

describe('a copy that psd2 refuses', () => {
  it('a store is not copied to itself', async () => {
    await expect(copy(from, from)).rejects.toMatchObject({
      code: 'usage',
      message: '--from and --to name the same store',
    });
    expect(changes).toEqual([]);
  });

  it('a store with data of its own is not overwritten', async () => {
    to = new Backend('/new', login('44'));
    await expect(copy()).rejects.toMatchObject({
      code: 'config',
      message: 'The store in /new contains data that is not from /old',
      hint: 'Copy to an empty folder, or to a new database after psd2 store init.',
    });
    expect(changes).toEqual([]);
  });

  it.each([
    ['was copied to a third', { movedTo: { id: 'third', place: '/third' } }],
    ['is a copy of a third', { copiedFrom: { id: 'third', place: '/third', isComplete: true } }],
  ])('a store that %s is not overwritten, even if it is empty', async (_, mark) => {
    await to.setMark(mark);
    await expect(copy()).rejects.toThrow('The store in /new contains data that is not from /old');
  });

  it('a store that was copied to another place is not copied to a second one', async () => {
    await copy();
    await expect(copy(from, new Backend('/third'))).rejects.toMatchObject({
      code: 'config',
      message: 'The store in /old was copied to /new',
      hint: 'Copy it from there.',
    });
  });

  it('a copy that is not complete is not copied further, only back', async () => {
    to.forgets = true;
    await expect(copy()).rejects.toThrow('records in /new differ');
    await expect(copy(to, new Backend('/third'))).rejects.toMatchObject({
      code: 'config',
      message: 'The copy of the store in /old into /new is not complete',
      hint: 'Run that psd2 store copy again first. It continues where it stopped.',
    });
    expect(await copy(to, from)).toMatchObject({ written: 0 });
  });

  it('a complete copy can be copied further', async () => {
    await copy();
    const third = new Backend('/third');
    expect(await copy(to, third)).toMatchObject({ written: 6 });
  });

  it('if what was written is not there afterwards, the copy does not count', async () => {
    to.forgets = true;
    await expect(copy()).rejects.toMatchObject({
      code: 'config',
      message: '6 records in /new differ from those in /old',
      hint: 'Nothing is lost. Check whether another program writes to one of them, then run the same psd2 store copy again.',
    });
    expect((await to.mark()).copiedFrom?.isComplete).toBe(false);
  });

  it.each<[string, StoredRecord, StoredRecord, string]>([
    ['a flow', flow('created', 'sent'), flow('created', 'cancelled'), 'The flow tr-1'],
    ['a login', login('42'), login('42', 1, 'b'), 'The login of customer 42'],
    ['the login of the application', login(''), login('', 1, 'b'), 'The login of the application'],
    ['a batch', batch('a', 'b'), batch('a', 'c'), 'The batch b1'],
    ['a customer', customer('1'), customer('2'), 'The record of customer 42'],
  ])('%s that was changed in both backends is not overwritten', async (_, here, there, what) => {
    await copy();
    from.held.set('bank', [here]);
    to.held.set('bank', [there]);
    changes = [];
    await expect(copy()).rejects.toMatchObject({
      code: 'config',
      message: `${what} of bank differs in /old and in /new`,
      hint: 'It was changed in both. psd2 has overwritten nothing. Compare both, and restore the wrong one from a backup.',
    });
    expect(changes).toEqual([]);
  });
});
