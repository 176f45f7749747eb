import { describe, expect, it } from 'vitest';
import type { BatchLine } from '../../../src/domain/batch/line.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { type ErrorCode, Psd2Error } from '../../../src/errors.ts';
import { inOrder, isAboutLine, runLines, type Share, sharesOf } from '../../../src/flows/batch/run.ts';
import { batchLine } from '../../domain/batch/lines.ts';

// The run of a batch: which lines are paid, in which order, and what stops it.

const day = (date: string) => parseDate('date', date);
const problem = (code: ErrorCode) => new Psd2Error(code, code);
const away = () => problem('bank_unreachable');
const openFor = (cause: Error) => new Psd2Error('still_open', 'It is open', { cause });

interface Scene {
  /** What paying each share does, by its first line: nothing is fine. */
  pay?: Record<number, Error>;
  /** The lines for which nothing is left to do. */
  closed?: number[];
  /** The lines that another run has, at the first try. */
  taken?: number[];
  /** What another run does while this one waits or gets the line. */
  meanwhile?: (line: number, closed: Set<number>) => void;
  /** The line after which the run is to stop. */
  stopAfter?: number;
}

/** Runs shares. `did` has what happened, in its order. */
function run(
  shares: number[][],
  { pay = {}, closed: first = [], taken = [], meanwhile, stopAfter }: Scene = {},
) {
  const did: string[] = [];
  const closed = new Set(first);
  const others = new Set(taken);
  const nameOf = (share: readonly BatchLine[]) => share.map(({ line }) => line).join('+');
  const end = runLines(
    {
      async onLine(batch, line, waits, work) {
        did.push(`${waits ? 'waits for' : 'takes'} ${line} of ${batch}`);
        meanwhile?.(line, closed);
        return others.delete(line) ? 'taken' : work();
      },
    },
    'b1',
    shares.map((share): Share => {
      const [one = 0, ...more] = share;
      return [batchLine({ line: one }), ...more.map((line) => batchLine({ line }))];
    }),
    {
      isOpen: async ({ line }) => !closed.has(line),
      async pay(share) {
        did.push(`pays ${nameOf(share)}`);
        const error = pay[share[0].line];
        if (error) throw error;
        for (const { line } of share) closed.add(line);
      },
      async ended(share, why) {
        did.push(`ended ${nameOf(share)}: ${why?.code ?? 'well'}`);
        return share[0].line !== stopAfter;
      },
    },
  );
  return { did, end };
}

const paid = (line: number, how = 'well') => [`takes ${line} of b1`, `pays ${line}`, `ended ${line}: ${how}`];

describe('a run', () => {
  it('pays the shares one after the other', async () => {
    const { did, end } = run([[2], [1, 3]]);
    await end;
    expect(did).toEqual([...paid(2), 'takes 1 of b1', 'pays 1+3', 'ended 1+3: well']);
  });

  it('leaves out what is done, and a share is not done as long as one of its lines is open', async () => {
    const { did, end } = run([[1], [2, 3], [4, 5]], { closed: [1, 2, 4, 5] });
    await end;
    expect(did).toEqual(['takes 2 of b1', 'pays 2+3', 'ended 2+3: well']);
  });

  it.each(['bank_refused', 'duplicate_reference', 'payment_failed', 'outcome_unknown'] as const)(
    'goes on after a line that fails (%s)',
    async (code) => {
      const { did, end } = run([[1], [2]], { pay: { 1: problem(code) } });
      await end;
      expect(did).toEqual([...paid(1, code), ...paid(2)]);
    },
  );

  it.each(['certificate', 'callback_port_busy', 'no_profile'] as const)(
    'stops at once if the next line would meet the same (%s)',
    async (code) => {
      const error = problem(code);
      const { did, end } = run([[1], [2]], { pay: { 1: error } });
      await expect(end).rejects.toBe(error);
      expect(did).toEqual(paid(1, code));
    },
  );

  it.each(['bank_unreachable', 'bank_failing', 'too_many_calls', 'bank_answer', 'config'] as const)(
    'stops after three in a row that nobody can pay now (%s)',
    async (code) => {
      const third = problem(code);
      const pay = { 1: problem('bank_failing'), 2: problem('config'), 3: third };
      const { did, end } = run([[1], [2], [3], [4]], { pay });
      await expect(end).rejects.toBe(third);
      expect(did).toEqual([...paid(1, 'bank_failing'), ...paid(2, 'config'), ...paid(3, code)]);
    },
  );

  it('counts a payment that is open by what stopped psd2', async () => {
    const third = openFor(problem('config'));
    const pay = { 1: third, 2: third, 3: third };
    const { did, end } = run([[1], [2], [3], [4]], { pay });
    await expect(end).rejects.toBe(third);
    expect(did.at(-1)).toBe('ended 3: still_open');
  });

  it('stops at once if what stopped psd2 while a payment is open stops all others', async () => {
    const open = openFor(problem('certificate'));
    const { did, end } = run([[1], [2]], { pay: { 1: open } });
    await expect(end).rejects.toBe(open);
    expect(did).toEqual(paid(1, 'still_open'));
  });

  it.each<[string, Scene]>([
    ['is paid', {}],
    ['is open without a reason', { pay: { 3: problem('still_open') } }],
    ['is open for a reason of its own', { pay: { 3: openFor(problem('usage')) } }],
    ['is open because of a fault', { pay: { 3: openFor(new TypeError('A bug')) } }],
    [
      'is unknown, whatever the reason',
      { pay: { 3: new Psd2Error('outcome_unknown', 'x', { cause: away() }) } },
    ],
    ['fails', { pay: { 3: problem('bank_refused') } }],
    ['was ended by another run', { meanwhile: (line, closed) => line === 3 && closed.add(3) }],
  ])('begins to count again after a line that %s', async (_what, scene) => {
    const away = problem('bank_unreachable');
    const pay = { 1: away, 2: away, 4: away, 5: away, ...scene.pay };
    const { did, end } = run([[1], [2], [3], [4], [5], [6]], { ...scene, pay });
    await end;
    expect(did.slice(-3)).toEqual(paid(6));
  });

  it('does not count anew after a line that another run has', async () => {
    const away = problem('bank_unreachable');
    const { did, end } = run([[1], [2], [3], [4], [5]], { taken: [3], pay: { 1: away, 2: away, 4: away } });
    await expect(end).rejects.toBe(away);
    expect(did.at(-1)).toBe('ended 4: bank_unreachable');
  });

  it('stops when it is told to', async () => {
    const { did, end } = run([[1], [2]], { stopAfter: 1 });
    await end;
    expect(did).toEqual(paid(1));
  });

  it.each([problem('interrupted'), new TypeError('A bug')])(
    'ends with what is no problem of the line: %s',
    async (error) => {
      const { did, end } = run([[1], [2]], { pay: { 1: error } });
      await expect(end).rejects.toBe(error);
      expect(did).toEqual(['takes 1 of b1', 'pays 1']);
    },
  );
});

describe('beside another run', () => {
  it('it takes the lines that the other one has not, and waits for those at the end', async () => {
    const { did, end } = run([[1], [2], [3]], { taken: [1] });
    await end;
    expect(did).toEqual([
      ...['takes 1 of b1', ...paid(2), ...paid(3)],
      ...['waits for 1 of b1', 'pays 1', 'ended 1: well'],
    ]);
  });

  it('it leaves out what the other one has ended meanwhile', async () => {
    const meanwhile: Scene['meanwhile'] = (line, closed) => line === 2 && closed.add(1).add(3);
    const { did, end } = run([[1], [2], [3, 4]], { taken: [1, 3], closed: [4], meanwhile });
    await end;
    expect(did).toEqual(['takes 1 of b1', ...paid(2)]);
  });

  it('it does not pay what the other one has ended just now', async () => {
    const { did, end } = run([[1]], { meanwhile: (line, closed) => void closed.add(line) });
    await end;
    expect(did).toEqual(['takes 1 of b1']);
  });

  it('it waits again and again for a line that stays taken', async () => {
    let tries = 0;
    const others = {
      onLine: async <T>(_batch: string, _line: number, _waits: boolean, work: () => Promise<T>) => {
        tries += 1;
        return tries < 4 ? ('taken' as const) : work();
      },
    };
    let isOpen = true;
    await runLines(others, 'b1', [[batchLine()]], {
      isOpen: async () => isOpen,
      pay: async () => {
        isOpen = false;
      },
      ended: async () => true,
    });
    expect([tries, isOpen]).toEqual([4, false]);
  });

  it('a line whose transfer the other one continues is the other one’s', async () => {
    const { did, end } = run([[1], [2]], {
      pay: { 1: problem('overtaken') },
      meanwhile: (line, closed) => line === 2 && closed.add(1),
    });
    await end;
    expect(did).toEqual(['takes 1 of b1', 'pays 1', ...paid(2)]);
  });

  it('a line whose transfer the other one has left open is this run’s again', async () => {
    const pay: Record<number, Error> = { 1: problem('overtaken') };
    const { did, end } = run([[1], [2]], { pay, meanwhile: (line) => line === 2 && delete pay[1] });
    await end;
    expect(did.slice(-3)).toEqual(['waits for 1 of b1', 'pays 1', 'ended 1: well']);
  });
});

it.each([
  ['bank_refused', true],
  ['payment_failed', true],
  ['certificate', false],
  ['no_profile', false],
  ['bank_failing', false],
  ['config', false],
] as const)('%s is about the line: %s', (code, expected) => {
  expect(isAboutLine(problem(code))).toBe(expected);
});

it('lines are paid by their day, then as in the file; those without a day today', () => {
  const lines = [
    batchLine({ line: 4, executionDate: day('2026-12-02') }),
    batchLine({ line: 3 }),
    batchLine({ line: 2, executionDate: day('2026-12-01') }),
    batchLine({ line: 1, executionDate: day('2026-12-02') }),
    batchLine({ line: 5, executionDate: day('2026-11-30') }),
  ];
  expect(inOrder(lines, day('2026-12-01')).map(({ line }) => line)).toEqual([5, 2, 3, 1, 4]);
  expect(lines.map(({ line }) => line)).toEqual([4, 3, 2, 1, 5]);
});

describe('lines do not go together', () => {
  it.each<[string, Partial<BatchLine>]>([
    ['customer', { customer: '1048262' }],
    ['account', { from: parseProductId('0000054321') }],
    ['IBAN of the account', { fromIban: parseSepaIban('DE89370400440532013000') }],
    ['day', { executionDate: day('2026-12-01') }],
    ['speed', { instant: true }],
    ['urgency', { urgent: true }],
    ['currency', { currency: 'CHF' }],
    ['way of booking', { batchBooking: false }],
  ])('with another %s', (_what, changes) => {
    const lines = [batchLine({ line: 1 }), batchLine({ line: 2, ...changes }), batchLine({ line: 3 })];
    const [one, other, third] = lines;
    expect(sharesOf(lines, () => true, null)).toEqual([[one, third], [other]]);
  });

  it('that may go, with one that may not', () => {
    const lines = [1, 2, 3, 4].map((line) => batchLine({ line }));
    const shares = sharesOf(lines, ({ line }) => line > 1 && line !== 3, 2);
    expect(shares.map((share) => share.map(({ line }) => line))).toEqual([[1], [2, 4], [3]]);
  });
});

// Which lines of a batch go to the bank together.

const lines = [
  batchLine({ line: 1 }),
  batchLine({ line: 2, instant: true }),
  batchLine({ line: 3 }),
  batchLine({ line: 4, executionDate: parseDate('date', '2026-12-01') }),
  batchLine({ line: 5, customer: '1048262' }),
  batchLine({ line: 6 }),
];

it.each<[string, number | null, number | undefined, number[][]]>([
  [
    'lines of one customer, account, day and product go together',
    null,
    undefined,
    [[1, 3, 6], [2], [4], [5]],
  ],
  ['no more go together than the bank takes at once', 2, undefined, [[1, 3], [2], [4], [5], [6]]],
  ['a line that may not join goes alone', null, 3, [[1, 6], [2], [3], [4], [5]]],
])('%s', (_what, most, alone, shares) => {
  const numbers = sharesOf(lines, ({ line }) => line !== alone, most).map((share) =>
    share.map(({ line }) => line),
  );
  expect(numbers).toEqual(shares);
});
