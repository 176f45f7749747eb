import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { stdoutAtOnce } from '../../src/cli/print-at-once.ts';
import { passphrasesOf } from '../../src/cli/run.ts';
import { watchSignals } from '../../src/cli/signals.ts';
import type { Context } from '../../src/commands/context.ts';
import { Psd2Error } from '../../src/errors.ts';
import { object, whole } from '../../src/terminal/output/fields.ts';
import { LEAST } from '../bank-file/folder.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { useCommands } from './in-process.ts';

const { run, said } = useCommands();

it('an expectation that fails inside a command fails its test, although psd2 turns every error into a message', async () => {
  const failing = run(async () => expect(1).toBe(2));
  await expect(failing).rejects.toThrow('expected 1 to be 2');
});

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
      process.emit('SIGINT', 'SIGINT');
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

  it.each([false, true])(
    'a second Ctrl-C ends the process, and names the unfinished work alone: as JSON %s',
    async (json) => {
      const exit = new Error('the process ends');
      vi.spyOn(process, 'exit').mockImplementation((code) => {
        expect(code).toBe(130);
        throw exit;
      });
      const { ended, end } = slow();
      await run(
        async ({ world }) => {
          await world.finish('The first login', async () => {});
          const finishing = world.finish('The login of customer 1', () => ended);
          process.emit('SIGINT', 'SIGINT');
          expect(() => process.emit('SIGINT', 'SIGINT')).toThrow(exit);
          expect(said()).toContain('The login of customer 1 may be lost.');
          expect(said()).not.toContain('The first login');
          const last = said().trimEnd().split('\n').at(-1) ?? '';
          if (json) expect(JSON.parse(last)).toMatchObject({ error: { code: 'interrupted', exitCode: 130 } });
          end();
          await finishing;
        },
        { ...(json && { json }) },
      );
    },
  );

  it('after Ctrl-C psd2 mentions no waiting if there is no such work', async () => {
    await run(async ({ world }) => {
      await world.finish('The login', async () => {});
      process.emit('SIGINT', 'SIGINT');
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

describe('a signal', () => {
  it.each<[string, NodeJS.Signals[], boolean[]]>([
    ['ends it only the second time', ['SIGTERM', 'SIGTERM'], [false, true]],
    // A terminal that closes sends its signal twice.
    ['of a closing terminal never ends it', ['SIGHUP', 'SIGHUP'], [false, false]],
    ['of a closing terminal is no second one', ['SIGTERM', 'SIGHUP', 'SIGINT'], [false, false, true]],
  ])('to a command that can stop gently %s: %j', async (_, signals, ends) => {
    const seen: unknown[] = [];
    await run(async ({ stopGently, world }) => {
      const gentle = stopGently();
      expect(stopGently()).toBe(gentle);
      for (const signal of signals) {
        process.emit(signal, signal);
        seen.push([gentle.aborted, gentle.reason, world.signal.aborted]);
      }
    });
    expect(seen).toEqual(ends.map((isEnded) => [true, signals[0], isEnded]));
    expect([said(), process.exitCode]).toEqual(['', undefined]);
  });

  it('of a terminal that closes ends a command once, and its process never', async () => {
    const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
      throw new RangeError(`exit ${code}`);
    });
    await run(async ({ world }) => {
      process.emit('SIGHUP', 'SIGHUP');
      process.emit('SIGHUP', 'SIGHUP');
      await world.sleep(60_000);
    });
    expect(exit).not.toHaveBeenCalled();
    expect([said(), process.exitCode]).toEqual(['psd2: Interrupted.\n', 130]);
  });

  it('for the second time ends a process whose work has no name twice', async () => {
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      throw new RangeError(`exit ${code}`);
    });
    const never = () => new Promise<void>(() => {});
    const running = run(async ({ world }) => {
      // Each is work of its own.
      void world.finish('The login', never);
      void world.finish('The login', never);
      void world.finish('The login of customer 1', never);
      process.emit('SIGINT', 'SIGINT');
      expect(() => process.emit('SIGTERM', 'SIGTERM')).toThrow('exit 130');
      // The error itself comes with the end of the command, which a second signal does not wait for.
      expect(said()).not.toContain('Interrupted');
      throw new RangeError('done');
    });
    void running;
    await vi.waitFor(() => expect(said()).toMatch(/done/));
    expect(said().match(/The login.* may be lost\./g)).toEqual([
      'The login may be lost.',
      'The login of customer 1 may be lost.',
    ]);
  });
});

it.each([
  ['SIGINT', false],
  ['SIGTERM', true],
  ['SIGHUP', true],
] as const)('while a pager shows the output, %s ends the command: %s', (name, ends) => {
  const interruption = watchSignals({ asJson: false });
  interruption.isPaging = true;
  process.emit(name, name);
  expect(interruption.signal.aborted).toBe(ends);
});

describe('the end of a command', () => {
  it('closes what it opened, also after a failure, and a failure to close changes nothing', async () => {
    const closed: string[] = [];
    await run(async ({ onEnd }) => {
      onEnd(async () => {
        closed.push('one');
        throw new RangeError('cannot close');
      });
      onEnd(async () => {
        closed.push('other');
      });
      throw new Psd2Error('payment_failed', 'No');
    });
    expect(closed).toEqual(['one', 'other']);
    expect([said(), process.exitCode]).toEqual(['psd2: No.\n', 8]);
  });

  it('says what it says last before its error', async () => {
    await run(async ({ atLast, terminal }) => {
      atLast(() => terminal.say('Odd'));
      throw new Psd2Error('payment_failed', 'No');
    });
    expect(said()).toBe('Odd\npsd2: No.\n');
  });

  it('is an error if the query does not match the data', async () => {
    await run(async ({ output }) => output.record({ a: 1 }, object({ a: whole() })), {
      query: 'length(a)',
      json: true,
    });
    expect(JSON.parse(said()).error).toMatchObject({
      message: expect.stringMatching(/^--query could not be applied to the data: /),
      exitCode: 2,
    });
    expect(process.exitCode).toBe(2);
  });
});

describe('--raw', () => {
  it.each([undefined, 'diagnosis' as const])('is wrong use with a command of the kind %s', async (kind) => {
    const command = vi.fn<() => Promise<void>>();
    await run(command, { raw: true }, kind);
    expect(command).not.toHaveBeenCalled();
    expect([said(), process.exitCode]).toEqual([
      'psd2: --raw works only with the commands that read from the bank.\n',
      2,
    ]);
  });

  it('with a command that reads, the command runs, and prints nothing beside the bytes', async () => {
    const written = vi.spyOn(stdoutAtOnce, 'write').mockImplementation(() => {});
    const command = vi.fn(
      async ({ output }: Context) => void output.record({ a: 1 }, object({ a: whole() })),
    );
    await run(command, { raw: true }, 'inquiry');
    expect(command).toHaveBeenCalledOnce();
    expect([said(), written.mock.calls]).toEqual(['', []]);
  });
});

it.each([
  ['--no-color tells the packages that draw', { color: false }, [undefined, '1']],
  ['without --no-color, psd2 leaves the environment alone', {}, ['1', undefined]],
])('%s', async (_, options, expected) => {
  vi.stubEnv('FORCE_COLOR', '1');
  vi.stubEnv('NO_COLOR', undefined);
  await run(async ({ env }) => expect([env.FORCE_COLOR, env.NO_COLOR]).toEqual(expected), options);
  expect(said()).toBe('');
});

const temporary = temporaryFolder();

const [ADDRESS, OTHER] = ['https://xs2a.bank.example/v1', 'https://other.example'];

/** The base URL that a command has. */
async function addressWith(env: Record<string, string>, profile?: string) {
  const file = join(temporary, 'bank.json');
  writeFileSync(file, JSON.stringify({ ...LEAST, api: { baseUrl: ADDRESS } }));
  vi.stubEnv('PSD2_BASE_URL', undefined);
  vi.stubEnv('PSD2_BANK', file);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  let address: string | undefined = 'not run';
  await run(
    async (context) => {
      address = context.env.PSD2_BASE_URL;
    },
    { profile },
  );
  expect(said()).toBe('');
  return address;
}

it.each([
  ['the profile of the environment has it', {}, undefined, ADDRESS],
  ['also if that is named', {}, 'env', ADDRESS],
  ['another profile does not', {}, 'blue', undefined],
  ['an address in the environment counts more', { PSD2_BASE_URL: OTHER }, undefined, OTHER],
  ['an empty one does not', { PSD2_BASE_URL: '' }, undefined, ADDRESS],
  ['without a bank file there is none', { PSD2_BANK: '' }, undefined, undefined],
  ['a bank file that is missing is no error yet', { PSD2_BANK: '/nowhere.json' }, undefined, undefined],
])('the base URL of the bank file in the environment: %s', async (_, env, profile, address) => {
  expect(await addressWith(env, profile)).toBe(address);
});

it('the access that an error advises is that of the bank', async () => {
  const file = join(temporary, 'consents.json');
  writeFileSync(file, JSON.stringify({ ...LEAST, oauth: { mode: 'none' } }));
  vi.stubEnv('PSD2_BANK', file);
  vi.stubEnv('PSD2_BASE_URL', 'https://xs2a.bank.example');
  await run(() => Promise.reject(new Psd2Error('not_logged_in', 'No', { next: [['auth', 'login']] })));
  expect(said()).toContain('psd2 consent request');
});

describe('what a command knows of its surroundings', () => {
  it('the time and ids that nobody has had', async () => {
    const before = Date.now();
    await run(async ({ world }) => {
      expect(world.now().getTime()).toBeGreaterThanOrEqual(before);
      expect(world.newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(world.newId()).not.toBe(world.newId());
    });
    expect(said()).toBe('');
  });

  it('without a terminal, nobody reads along', async () => {
    await run(async ({ stdoutIsTerminal, isForPerson, stdoutColumns, terminal }) => {
      expect([stdoutIsTerminal, isForPerson, stdoutColumns, terminal.canAsk]).toEqual([
        ...[false, false, undefined, false],
      ]);
    });
    expect(said()).toBe('');
  });

  it('for a program, a warning of psd2 and one of Node.js is an object', async () => {
    const before = process.listeners('warning');
    await run(
      async ({ terminal }) => {
        terminal.warn('Look');
        for (const listener of process.listeners('warning'))
          listener(Object.assign(new Error('old'), { name: 'DeprecationWarning' }));
      },
      { output: 'ndjson' },
    );
    process.removeAllListeners('warning');
    for (const listener of before) process.on('warning', listener);
    expect(said()).toBe(
      '{"event":"warning","message":"Look"}\n{"event":"warning","message":"DeprecationWarning: old"}\n',
    );
  });

  it('a wrong global option is wrong use, in the form that the other options ask for', async () => {
    await run(async () => {}, { timeout: '0', json: true });
    expect(JSON.parse(said()).error).toMatchObject({
      ...{ code: 'usage', message: '--timeout "0" is not a number of seconds above 0', exitCode: 2 },
    });
  });
});

it.each<
  [
    set: string | undefined,
    stored: string | undefined,
    canAsk: boolean,
    passphrase: string | undefined,
    steps: string[],
  ]
>([
  ['own', 'kept', true, 'own', []],
  ['own', undefined, false, 'own', []],
  ['', 'kept', true, 'kept', ['reads']],
  [undefined, 'kept', true, 'kept', ['reads']],
  [undefined, 'kept', false, 'kept', ['reads']],
  [undefined, undefined, true, 'typed', ['reads', 'asks Passphrase of the profile blue']],
  [undefined, undefined, false, undefined, ['reads']],
])(
  'of a passphrase %j that is set, and %j that is stored, psd2 takes the first before it asks (%s): %j',
  async (set, stored, canAsk, passphrase, expected) => {
    const steps: string[] = [];
    const source = passphrasesOf(
      { PSD2_CONFIG_PASSPHRASE: set },
      {
        canAsk,
        askSecret: async (question) => {
          steps.push(`asks ${question}`);
          return 'typed';
        },
      },
    );
    const read = async () => {
      steps.push('reads');
      return stored;
    };
    expect([await source('blue', read), steps]).toEqual([passphrase, expected]);
  },
);
