import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { CrashBank } from './bank.ts';
import { useRelay } from './relay.ts';

/** What stands before the bank of embedded SCA: it counts what the customer gives, and brings the customer the TAN. */
export interface BankSide {
  /** The way to the bank, for psd2. */
  env: Record<string, string>;
  /** The files with the customer's PIN and TAN. */
  options: string[];
  /** How often the bank got each PIN and TAN, of each authorised subject. */
  arrived(): Map<string, number>;
  /** What the bank has of all payments. */
  list(): Promise<z.infer<typeof paymentsShape>>;
  /** Those of this amount: how often each was paid, and whether it is cancelled. */
  payments(all: z.infer<typeof paymentsShape>, amount: string): { paid: number; isCancelled: boolean }[];
}

const runningShape = z.object({ controlToken: z.string(), customerSiteUrl: z.string() });
const devicesShape = z.array(z.object({ tan: z.string() }));
const paymentsShape = z.array(
  z.object({
    transactionStatus: z.string(),
    orders: z.array(z.object({ amount: z.string(), paid: z.number() })),
  }),
);
const bodyShape = z.object({
  psuData: z.object({ password: z.string() }).optional(),
  scaAuthenticationData: z.string().optional(),
});

/** For the tests of a file. @returns opens it for a place, whose customer is a user of the sandbox */
export function useBankSide(bank: CrashBank): (name: string, user: string) => BankSide {
  const relay = useRelay(bank.sandbox);
  const shown = new Set<string>();
  let turn: Promise<unknown> = Promise.resolve();

  async function ask<Shape>(path: string, shape: z.ZodType<Shape>): Promise<Shape> {
    const running = readFileSync(join(bank.sandbox(), 'running.json'), 'utf8');
    const { controlToken, customerSiteUrl } = runningShape.parse(JSON.parse(running));
    const headers = { Authorization: `Bearer ${controlToken}` };
    const answer = await fetch(`${customerSiteUrl}/control/nextgenpsd2/${path}`, { headers });
    return shape.parse(await answer.json());
  }

  /** One step after the other, so a new TAN belongs to the step that was done. */
  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = turn;
    const mine = before.then(work, work);
    turn = mine.catch(() => {});
    return mine;
  }

  function fileOf(name: string): string {
    mkdirSync(bank.operator.ownHands, { recursive: true });
    return join(bank.operator.ownHands, name);
  }

  return (name, user) => {
    const [pin, tan] = [fileOf(`pin-${user}`), fileOf(`tan-${name}`)];
    writeFileSync(pin, `pin-${user}\n`, { mode: 0o600 });
    const arrived = new Map<string, number>();
    relay.treat(name, ({ method, path, body }, toBank) => {
      if (method === 'GET' || !/authorisations/.test(path)) return toBank();
      const { psuData, scaAuthenticationData } = bodyShape.parse(JSON.parse(body || '{}'));
      const what = psuData ? 'PIN' : scaAuthenticationData && 'TAN';
      const of = `${what} of ${path.replace(/authorisations.*/, '')}`;
      if (what) arrived.set(of, (arrived.get(of) ?? 0) + 1);
      return inTurn(async () => {
        const answer = await toBank();
        const newest = (await ask('devices', devicesShape)).at(-1)?.tan;
        if (newest !== undefined && !shown.has(newest)) {
          shown.add(newest);
          writeFileSync(tan, `${newest}\n`, { mode: 0o600 });
        }
        return answer;
      });
    });
    return {
      env: relay.env(name),
      options: ['--psu-password-file', pin, '--otp-file', tan],
      arrived: () => arrived,
      list: () => ask('payments', paymentsShape),
      payments: (all, amount) =>
        all
          .filter(({ orders }) => orders.some((order) => order.amount === amount))
          .map(({ transactionStatus, orders }) => ({
            paid: orders.reduce((sum, order) => sum + order.paid, 0),
            isCancelled: transactionStatus === 'CANC',
          })),
    };
  };
}
