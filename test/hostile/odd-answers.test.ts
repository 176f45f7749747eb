import type { Socket } from 'node:net';
import { beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../e2e/support/errors.ts';
import { keepRunning, readDocument, words } from '../e2e/support/psd2.ts';
import { plausibleAnswer } from '../fuzz/plausible-bank.ts';
import { type Behaviour, PRODUCT, useHostileBank, write } from './hostile-bank.ts';

// Answers that a bank, or a system in front of it, may give, and that are easy to misread.

const bank = useHostileBank();
const operator = keepRunning(bank.operator);
const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>bad</h1>' };
const NAME = 'Ada Lovelace';
const ORDER = words`transfer create --yes --from ${PRODUCT} --to DE89370400440532013000 --name ${NAME}
  --amount 6.00 --json`;
const transfer = z.looseObject({ flow: z.string().startsWith('tr-'), state: z.string() });
const NO_WAIT = { PSD2_REDIRECT_URI: 'https://tpp.example/callback' };

/** A bank that works, except for the calls whose path ends like this. */
function odd(answers: Record<string, (socket: Socket) => void>): Behaviour {
  return (socket, heard) => {
    const path = heard.target.split('?', 1)[0] ?? '';
    const end = Object.keys(answers).find((each) => path.endsWith(each));
    const answer = end === undefined ? undefined : answers[end];
    if (answer) answer(socket);
    else write(socket, { body: JSON.stringify(plausibleAnswer(heard)) });
  };
}

beforeAll(() => {
  Object.assign(operator.env, NO_WAIT);
});

it.each([404, 409, 410, 451, 499])(
  'after HTTP %i to execute psd2 asks the bank, and the reference stays reserved',
  async (status) => {
    let executions = 0;
    bank.behave(
      odd({
        '/execute': (socket) => {
          executions += 1;
          write(socket, { ...page, status });
        },
      }),
    );
    const reference = ['--reference', `INV-${status}`];
    const first = await operator.psd2([...ORDER, ...reference]);
    expect(readError(first).exitCode).toBe(9);
    const { flow } = readDocument(transfer, first.stdout);
    for (const again of [
      [...ORDER, ...reference],
      ['transfer', 'resume', flow, '--yes', '--json'],
    ])
      expect([2, 9]).toContain(readError(await operator.psd2(again)).exitCode);
    expect(executions).toBe(1);
  },
);
