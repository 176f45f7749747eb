import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { type Operator, PROGRAM, useOperator, words } from '../support/psd2.ts';

/** The steps at which the tests interrupt a demo. */
const STEPS = ['sandbox start', 'auth login', 'transfer'];

// Each demo has its own folder, and mostly waits for the bank.
describe.concurrent('psd2 demo', () => {
  const [plain, nextgen, json, closed] = [useOperator(), useOperator(), useOperator(), useOperator()];
  const embedded = useOperator();
  const interrupted = new Map(STEPS.map((step) => [step, useOperator()]));

  it.each([
    [[], plain, 'is settled with the reference CRO.'],
    [['--interface', 'nextgenpsd2'], nextgen, 'over NextGenPSD2 is settled.'],
  ])(
    'psd2 demo %j shows every step to a settled transfer, and leaves nothing behind',
    async (more, who, end) => {
      const { stdout, stderr } = await who.succeeds(['demo', ...more]);
      const steps = [...stderr.matchAll(/^\$ psd2 (\w+(?: [a-z]+)?)/gm)].map(([, step]) => step);
      expect(steps).toEqual(words`${'sandbox start'} ${'auth login'} ${'consent request'} ${'accounts list'}
      ${'accounts balance'} ${'accounts transactions'} transfer ${'accounts balance'} smoke`);
      expect(stdout).toMatch(/^state\tsettled$/m);
      expect(stdout).toMatch(/^accountBalance\.amount\t[\d.]+$/m);
      const [, cro = 'CRO'] = /^cro\t(\d+)$/m.exec(stdout) ?? [];
      expect(stderr).toContain(`The instant transfer ${end.replace('CRO', cro)}`);
      await expectNothingLeft(who);
    },
  );

  it('psd2 demo --embedded pays with PIN and TAN, and leaves nothing behind', async () => {
    const shape = z.strictObject({
      state: z.literal('settled'),
      authorisedBy: z.tuple([z.literal('anna')]),
    });
    await embedded.json(shape, ['demo', '--embedded']);
    const said = embedded.history[0]?.stderr;
    expect(said).toContain('authorised with PIN and TAN is settled');
    expect(said).not.toContain('pin-anna');
    await expectNothingLeft(embedded);
  });

  it('psd2 demo --json prints one document, and the steps on stderr', async () => {
    const shape = z.strictObject({
      state: z.literal('settled'),
      cro: z.string(),
      totalAmount: z.object({ amount: z.literal('13.00') }),
    });
    await json.json(shape, ['demo']);
    expect(json.history[0]?.stderr).toMatch(/^state\tsettled$/m);
    await expectNothingLeft(json);
  });

  it.each([...interrupted])(
    'psd2 demo leaves nothing behind if it is interrupted at %s',
    async (step, operator) => {
      const demo = await operator.start(['demo']);
      await demo.prints(new RegExp(`^\\$ psd2 ${step}`, 'm'));
      demo.kill('SIGINT');
      const { code, stderr } = await demo.ended;
      expect(code, stderr).toBe(130);
      expect(stderr).not.toContain('bug');
      await expectNothingLeft(operator);
    },
  );

  it('psd2 demo leaves nothing behind if its terminal closes', async () => {
    const command = `exec '${process.execPath}' '${PROGRAM}' demo`;
    const terminal = await closed.startProgram('script', ['-qefc', command, '/dev/null'], {
      TERM: 'xterm-256color',
    });
    await terminal.prints(/\$ psd2 auth login/);
    // Killing `script`, which holds the terminal, closes it.
    terminal.kill('SIGKILL');
    await terminal.ended;
    await vi.waitFor(() => expect(processesWith(closed.folder)).toEqual([]), { timeout: 240_000 });
    await expectNothingLeft(closed);
  });
});

/** Checks that no file and no process is left. The process of an interrupted customer may need a moment to end. */
async function expectNothingLeft({ folder, temporary, home }: Operator): Promise<void> {
  expect(readdirSync(temporary)).toEqual([]);
  expect(readdirSync(home)).toEqual([]);
  await vi.waitFor(() => expect(processesWith(folder)).toEqual([]), { timeout: 240_000 });
}

/** The processes whose environment contains a text (proc(5)). */
function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(text);
    } catch {
      // The process has ended in the meantime, or belongs to another user.
      return false;
    }
  });
}
