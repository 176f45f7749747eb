import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Operator, useOperator } from './psd2.ts';

describe('psd2 demo', () => {
  const operator = useOperator();

  it('shows the whole way to a settled transfer within 25 s, and leaves nothing behind', async () => {
    const begun = Date.now();
    const { code, stdout, stderr } = await operator.psd2(['demo']);
    expect(code, stderr).toBe(0);
    expect(Date.now() - begun).toBeLessThan(25_000);
    const steps = [...stderr.matchAll(/^\$ psd2 (\w+(?: [a-z]+)?)/gm)].map(([, step]) => step);
    expect(steps).toEqual([
      'sandbox start',
      'auth login',
      'consent request',
      'accounts list',
      'accounts balance',
      'accounts transactions',
      'transfer',
      'accounts balance',
    ]);
    expect(stdout).toMatch(/^State\tsettled$/m);
    const [, cro = ''] = /^CRO\t(\d+)$/m.exec(stdout) ?? [];
    expect(cro).not.toBe('');
    expect(stderr).toContain(`The instant transfer is settled with the reference ${cro}.`);
    await expectNothingLeft(operator);
  });
});

describe('psd2 demo --json', () => {
  const operator = useOperator();

  it('prints one document, the steps on stderr', async () => {
    const shape = z.strictObject({
      state: z.literal('settled'),
      cro: z.string(),
      totalAmount: z.object({ amount: z.literal('13.000') }),
    });
    await operator.json(shape, ['demo']);
    await expectNothingLeft(operator);
  });
});

describe('psd2 demo that is interrupted', () => {
  const operator = useOperator();

  it.each(['sandbox start', 'auth login', 'transfer'])('at %s leaves nothing behind either', async (step) => {
    const demo = await operator.start(['demo']);
    await demo.prints(new RegExp(`^\\$ psd2 ${step}`, 'm'));
    demo.kill('SIGINT');
    const { code, stderr } = await demo.ended;
    expect(code, stderr).toBe(130);
    expect(stderr).not.toContain('bug');
    await expectNothingLeft(operator);
  });
});

/** No file and no process. A customer who was still walking when it was interrupted may take a moment to end. */
async function expectNothingLeft({ folder, temporary, home }: Operator): Promise<void> {
  expect(readdirSync(temporary)).toEqual([]);
  expect(readdirSync(home)).toEqual([]);
  await expect.poll(() => processesWith(folder), { timeout: 10_000 }).toEqual([]);
}

/** The processes that have a text in their environment (proc(5)). */
function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(text);
    } catch {
      // It ended in the meantime, or is another user's.
      return false;
    }
  });
}
