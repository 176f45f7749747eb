import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { runCommand } from '../../src/cli/run.ts';

// Other test files load this module too, so it is reloaded.
vi.hoisted(() => vi.resetModules());
afterAll(() => vi.resetModules());
vi.mock(import('../../src/cli/run.ts'), async (original) => ({
  ...(await original()),
  runCommand: vi.fn<typeof runCommand>(),
}));

afterEach(() => {
  vi.unstubAllEnvs();
  vi.clearAllMocks();
});

it.each([
  ['although an option has the name of another one', ['transfer', '--name', 'list', '--amount', '1']],
  ['although an option has the name of another one', ['transfer', 'create', '--reference', 'cancel']],
  ['although an option has the name of another one', ['sync', '--out', 'status']],
  ['which its argument is not taken for', ['sandbox', 'customer', 'http://127.0.0.1:1/login']],
])('psd2 runs the standard command, %s: %j', async (_, words) => {
  const runInstead = vi.fn<() => Promise<void>>(async () => {});
  const program = await buildProgram('0.0.0', { words, runInstead });
  await program.parseAsync(words, { from: 'user' });
  expect(runInstead).toHaveBeenCalledOnce();
});

describe('the declarations of commands that the words do not name', () => {
  const build = (...words: string[]) => buildProgram('0.0.0', { words, runInstead: async () => {} });
  const child = (group: CommandUnknownOpts, name: string) =>
    group.commands.find((command) => command.name() === name);
  /** The commands of a group that have options or arguments. */
  const loadedIn = (program: CommandUnknownOpts, group: string) =>
    child(program, group)
      ?.commands.filter((command) => command.options.length > 0 || command.registeredArguments.length > 0)
      .map((command) => command.name());

  it('are left out', async () => {
    const program = await build('consent', 'status', 'co-1');
    expect(program.commands.map((command) => command.name())).toEqual(['consent', 'help']);
    expect(child(program, 'consent')?.commands.map((command) => command.name())).toEqual(['status']);
  });

  it('are not loaded where an option comes first', async () => {
    const program = await build('--profile', 'acme', 'consent', 'status', 'co-1');
    expect(child(program, 'transfer')?.commands).toEqual([]);
    expect(child(program, 'transfer')?.description()).toBe('make SEPA and instant transfers');
    expect(loadedIn(program, 'consent')).toEqual(['status']);
  });

  it('are loaded for the standard command of a group, which an option may follow', async () => {
    expect(loadedIn(await build('log', '--failed'), 'log')).toEqual(['list']);
    expect(loadedIn(await build('log', '--limit', 'bundle'), 'log')).toEqual(['list', 'bundle']);
  });

  it.each(['-h', '--help', 'help'])('are loaded for the help of their group, with %s', async (word) => {
    const all = loadedIn(await buildProgram('0.0.0'), 'transfer');
    expect(all).toEqual(expect.arrayContaining(['create', 'show', 'resume']));
    expect(loadedIn(await build('transfer', word), 'transfer')).toEqual(all);
  });

  it('are loaded for a group that has no standard command, since its help shows them', async () => {
    const all = loadedIn(await buildProgram('0.0.0'), 'auth');
    expect(loadedIn(await build('auth'), 'auth')).toEqual(all);
  });
});

it.each<[string, string[], Record<string, string>]>([
  ['option', ['--profile', 'blue'], { PSD2_PROFILE: 'red' }],
  ['environment', [], { PSD2_PROFILE: 'red' }],
  ['default', [], {}],
])('a command knows that a value comes from: %s', async (source, words, env) => {
  vi.stubEnv('PSD2_PROFILE', undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const program = await buildProgram('0.0.0', { words: ['accounts', 'list'] });
  await program.parseAsync([...words, 'accounts', 'list'], { from: 'user' });
  const [, , kind, sourceOf] = vi.mocked(runCommand).mock.lastCall ?? [];
  expect([kind, sourceOf?.('profile'), sourceOf?.('timeout')]).toEqual([...['inquiry', source, 'default']]);
});
