import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { type Operator, PROGRAM, useOperator } from './psd2.ts';

/** Where a demo is interrupted. */
const STEPS = ['sandbox start', 'auth login', 'transfer'];

// Each has a folder of its own, and they wait for the bank most of the time.
describe.concurrent('psd2 demo', () => {
  const [plain, json, closed] = [useOperator(), useOperator(), useOperator()];
  const interrupted = new Map(STEPS.map((step) => [step, useOperator()]));

  it('shows the whole way to a settled transfer, and leaves nothing behind', async () => {
    const { code, stdout, stderr } = await plain.psd2(['demo']);
    expect(code, stderr).toBe(0);
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
    await expectNothingLeft(plain);
  });

  it('prints one document with --json, and the steps on stderr', async () => {
    const shape = z.strictObject({
      state: z.literal('settled'),
      cro: z.string(),
      totalAmount: z.object({ amount: z.literal('13.000') }),
    });
    await json.json(shape, ['demo']);
    expect(json.history[0]?.stderr).toMatch(/^State\tsettled$/m);
    await expectNothingLeft(json);
  });

  it.each([...interrupted])('leaves nothing behind when it is interrupted at %s', async (step, operator) => {
    const demo = await operator.start(['demo']);
    await demo.prints(new RegExp(`^\\$ psd2 ${step}`, 'm'));
    demo.kill('SIGINT');
    const { code, stderr } = await demo.ended;
    expect(code, stderr).toBe(130);
    expect(stderr).not.toContain('bug');
    await expectNothingLeft(operator);
  });

  it('leaves nothing behind when its terminal closes', async () => {
    const command = `exec '${process.execPath}' '${PROGRAM}' demo`;
    const terminal = await closed.startProgram('script', ['-qefc', command, '/dev/null'], {
      TERM: 'xterm-256color',
    });
    await terminal.prints(/\$ psd2 auth login/);
    // What holds the terminal is gone, and with it the terminal.
    terminal.kill('SIGKILL');
    await terminal.ended;
    await vi.waitFor(() => expect(processesWith(closed.folder)).toEqual([]), { timeout: 20_000 });
    await expectNothingLeft(closed);
  });
});

/** No file and no process. A customer who was still walking when it was interrupted may take a moment to end. */
async function expectNothingLeft({ folder, temporary, home }: Operator): Promise<void> {
  expect(readdirSync(temporary)).toEqual([]);
  expect(readdirSync(home)).toEqual([]);
  await vi.waitFor(() => expect(processesWith(folder)).toEqual([]), { timeout: 10_000 });
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
