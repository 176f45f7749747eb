import { bankOver } from '../../src/bank/interfaces/cb/interface.ts';
import type { Bank } from '../../src/bank/ports/bank.ts';
import { answered } from './interfaces/cb/answered.ts';

/** A success of the bank. */
export interface Success {
  data: object;
  /** The address of the next page. */
  next?: string | false;
  /** When the bank answers, by its own clock. */
  date?: Date | undefined;
}

/** A bank in memory that answers each call with a success. @param answerTo may throw, as a call may */
export function answeringBank(answerTo: (url: URL) => Success): Bank {
  return bankOver({
    async ask(call, read) {
      const { data, next, date } = answerTo(new URL(call.path, 'https://bank.invalid'));
      const body = {
        result: { outcome: 'SUCCESS' },
        data,
        ...(next && { _links: { next: { method: 'GET', href: next } } }),
      };
      const headers = { ...(date && { date: date.toUTCString() }) };
      return read(await answered(call, { headers, body: JSON.stringify(body) }));
    },
    send: () => Promise.reject(new TypeError('This test bank has no documents')),
  });
}
