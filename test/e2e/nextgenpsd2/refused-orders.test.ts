import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { playCustomer } from '../../../src/sandbox/player/play-customer.ts';
import { PROGRAM } from '../support/psd2.ts';
import { useSecondDoor } from './second-door-customer.ts';

const IBAN = 'IT89F0999001600000010482620';
const ORDER = [
  ...['transfer', 'create', '--from', IBAN, '--to', 'DE89370400440532013000', '--name', 'Ada Lovelace'],
  ...['--amount', '12.50', '--json'],
];
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

describe('a payment that the customer authorises elsewhere', () => {
  const operator = useSecondDoor([], {
    sca: { approaches: ['decoupled'], pollSeconds: 1 },
    psu: { id: 'required' },
    payments: { futureDays: 30 },
  });
  const transfer = z.looseObject({
    flow: z.string(),
    state: z.string(),
    transactionStatus: z.string().nullable(),
  });
  /** Runs a command, and plays the customer at the page that the bank names. */
  const authorised = async (args: string[]) => {
    const running = await operator.startProgram(process.execPath, [PROGRAM, ...args, '--json']);
    running.closeInput();
    const [, page = ''] = await running.prints(/Log in at (http[^\s"]+) and/);
    await playCustomer(page);
    return running.ended;
  };

  it('is paid, and one for a later day is cancelled', async () => {
    expect((await operator.psd2(['auth', 'login', '--psu-id', 'anna'])).code).toBe(0);
    const order = [...ORDER.slice(0, -1), '--yes'];
    const paid = await authorised([...order, '--reference', 'D-1']);
    expect(paid.code, paid.stderr).toBe(0);
    expect(transfer.parse(JSON.parse(paid.stdout))).toMatchObject({
      state: 'executed',
      transactionStatus: 'ACSP',
    });

    const later = await authorised([...order, '--reference', 'D-2', '--date', inDays(5)]);
    expect(later.code, later.stderr).toBe(0);
    const { flow } = transfer.parse(JSON.parse(later.stdout));
    const cancelled = await authorised(['transfer', 'cancel', flow, '--yes']);
    expect(cancelled.code, cancelled.stderr).toBe(0);
    expect(transfer.parse(JSON.parse(cancelled.stdout))).toMatchObject({
      state: 'cancelled',
      transactionStatus: 'CANC',
    });
  });
});
