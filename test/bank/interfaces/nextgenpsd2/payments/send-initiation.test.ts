import { expect, it } from 'vitest';
import type { BankCall } from '../../../../../src/bank/call/call.ts';
import { sendInitiation } from '../../../../../src/bank/interfaces/nextgenpsd2/payments/send-initiation.ts';
import type {
  NextGenAnswer,
  NextGenCaller,
} from '../../../../../src/bank/interfaces/nextgenpsd2/wire/answer.ts';
import { type ErrorCode, Psd2Error } from '../../../../../src/errors.ts';
import { answered, PAYING, refused, TPP_REQUEST_ID } from '../scripted.ts';

// When an initiation is sent a second time, and which of its two answers counts. What asks for it is judge/initiation.test.ts.

const UNCLEAR = await answered(PAYING, refused('X', 400));
function answerOf(says?: 'ask again' | 'nothing began'): NextGenAnswer {
  const { verdict: _, ...reply } = UNCLEAR.reply;
  return { ...UNCLEAR, reply: says === undefined ? reply : { ...reply, verdict: { says, why: 'x' } } };
}

/** What happens to a call: the bank answers, or it fails before that. */
type Happens = { answer: NextGenAnswer; ends?: Psd2Error } | { fails: Psd2Error };

const error = (message: string, code: ErrorCode = 'bank_refused') => new Psd2Error(code, message);
const AGAIN = { answer: answerOf('ask again'), ends: error('first') };

async function sent(...happens: Happens[]) {
  const calls: BankCall[] = [];
  const bank: NextGenCaller = {
    send: () => Promise.reject(new TypeError('Nothing else is sent')),
    async ask(call, read) {
      const next = happens[calls.length];
      calls.push(call);
      if (!next) throw new TypeError('Nothing more happens');
      if ('fails' in next) throw next.fails;
      return read(next.answer);
    },
  };
  const ends = new Map(happens.flatMap((each) => ('answer' in each ? [[each.answer, each.ends]] : [])));
  const outcome = await sendInitiation(bank, PAYING, (answer) => {
    const ended = ends.get(answer);
    if (ended) throw ended;
    return { notices: [], taken: answer };
  }).then(
    () => 'taken',
    (failure: unknown) => (failure instanceof Error ? failure.message : failure),
  );
  return { outcome, calls };
}

it.each<[string, Happens[], string, count: number]>([
  ['is taken', [{ answer: answerOf() }], 'taken', 1],
  ['fails before any answer', [{ fails: error('cut') }], 'cut', 1],
  ['is refused without a verdict', [{ answer: answerOf(), ends: error('no') }], 'no', 1],
  ['is refused, and began nothing', [{ answer: answerOf('nothing began'), ends: error('no') }], 'no', 1],
  ['is taken the second time', [AGAIN, { answer: answerOf() }], 'taken', 2],
  ['is refused the second time', [AGAIN, { answer: answerOf('nothing began'), ends: error('no') }], 'no', 2],
  ['is unclear twice', [AGAIN, { answer: answerOf('ask again'), ends: error('second') }], 'second', 2],
  ['has no second answer', [AGAIN, { fails: error('second', 'bank_unreachable') }], 'first', 2],
  ['may have a late second answer', [AGAIN, { fails: error('second', 'outcome_unknown') }], 'first', 2],
  ['is interrupted the second time', [AGAIN, { fails: error('second', 'interrupted') }], 'second', 2],
])('an initiation that %s', async (_, happens, outcome, count) => {
  const { outcome: ended, calls } = await sent(...happens);
  expect([ended, calls.length]).toEqual([outcome, count]);
  expect(calls[0]).toEqual(PAYING);
  if (count > 1) expect(calls[1]).toEqual({ ...PAYING, requestId: TPP_REQUEST_ID, earlier: [AGAIN.answer] });
});
