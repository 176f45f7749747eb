import { describe, expect, it, vi } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import { useCommands } from './in-process.ts';

const { run, said } = useCommands();

describe('work that must finish', () => {
  /** Starts work that ends when the test says so. */
  function slow() {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    return { ended, end: () => end() };
  }

  it('after Ctrl-C psd2 says that it waits for the work, and then the command stops', async () => {
    const { ended, end } = slow();
    const steps: string[] = [];
    await run(async ({ world }) => {
      const finishing = world.finish('The login', async () => {
        await ended;
        steps.push('the work ends');
      });
      process.emit('SIGINT');
      expect(said()).toContain('Waiting for the bank to answer a token call, so that no login is lost.');
      end();
      await finishing;
      steps.push('the command goes on');
    });
    expect(steps).toEqual(['the work ends']);
    expect(said()).toContain('psd2: Interrupted.');
    expect(process.exitCode).toBe(130);
  });

  it('psd2 waits for the work even if the rest of the command has ended', async () => {
    const { ended, end } = slow();
    const steps: string[] = [];
    const running = run(async ({ world }) => {
      world
        .finish('The login', async () => {
          await ended;
          steps.push('the work ends');
        })
        .catch(() => {});
      // By then everything that does not wait for the work has ended.
      setImmediate(end);
      throw new RangeError('another part of it failed');
    }).then(() => steps.push('the command ends'));
    await running;
    expect(steps).toEqual(['the work ends', 'the command ends']);
  });

  it('a second Ctrl-C ends the process and names the unfinished work, but no finished work', async () => {
    const exit = new Error('the process ends');
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      expect(code).toBe(130);
      throw exit;
    });
    const { ended, end } = slow();
    await run(async ({ world }) => {
      await world.finish('The first login', async () => {});
      const finishing = world.finish('The login of customer 1', () => ended);
      process.emit('SIGINT');
      expect(() => process.emit('SIGINT')).toThrow(exit);
      expect(said()).toContain('The login of customer 1 may be lost.');
      expect(said()).not.toContain('The first login');
      end();
      await finishing;
    });
  });

  it('with --json the last line of a process that a second Ctrl-C ends is the error', async () => {
    const exit = new Error('the process ends');
    vi.spyOn(process, 'exit').mockImplementation(() => {
      throw exit;
    });
    const { ended, end } = slow();
    await run(
      async ({ world }) => {
        const finishing = world.finish('The login', () => ended);
        process.emit('SIGINT');
        expect(() => process.emit('SIGINT')).toThrow(exit);
        const last = said().trimEnd().split('\n').at(-1) ?? '';
        expect(JSON.parse(last)).toMatchObject({ error: { code: 'interrupted', exitCode: 130 } });
        end();
        await finishing;
      },
      { json: true },
    );
  });

  it('after Ctrl-C psd2 mentions no waiting if there is no such work', async () => {
    await run(async ({ world }) => {
      await world.finish('The login', async () => {});
      process.emit('SIGINT');
      world.signal.throwIfAborted();
    });
    expect(said()).toBe('psd2: Interrupted.\n');
  });
});

it.each([
  ['1000001', 'psd2 --customer 1000001 accounts list'],
  ['anna.b', 'psd2 --customer anna.b accounts list'],
  ['../1', 'psd2 accounts list'],
])('with --customer %s, a hint advises: %s', async (customer, advice) => {
  const fail = async () => {
    throw new Psd2Error('usage', 'No account', {
      hint: 'See the accounts with:',
      next: [['accounts', 'list']],
    });
  };
  await run(fail, { customer });
  expect(said()).toContain(`See the accounts with: ${advice}\n`);
});
