import { expect, it } from 'vitest';
import { WrongPassphrase } from '../../../src/certificates/key-pair.ts';
import { openKeyRing } from '../../../src/commands/open/keys.ts';
import { useCommands } from '../../cli/in-process.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();

/** Opens two things one after the other, while a person gives these answers. */
async function opening(answers: string[], rights: string[], env: Record<string, string> = {}) {
  const { context } = openCommand(newConfigFolder(temporary), '2026-03-01T00:00:00.000Z', { env });
  const asked: string[] = [];
  const warned: string[] = [];
  const terminal = {
    ...context.terminal,
    canAsk: answers.length > 0,
    warn: (text: string) => void warned.push(text),
    askSecret: async (question: string) => {
      asked.push(question);
      return answers.shift() ?? '';
    },
  };
  const ring = openKeyRing({ ...context, terminal }, { name: 'bank', settings: {} });
  const opened: (string | undefined)[] = [];
  const failure = await (async () => {
    for (const right of rights)
      await ring.opening(`the key ${right}`, (given) => {
        if (given !== right) throw new WrongPassphrase('certificate', `The passphrase of ${right} is wrong`);
        opened.push(given);
      });
  })().then(
    () => undefined,
    (error: unknown) => error,
  );
  return { asked: asked.length, warned: warned.length, opened, failed: failure instanceof WrongPassphrase };
}

it.each([
  ['the first answer is right', ['a'], ['a'], {}, { asked: 1, warned: 0, opened: ['a'], failed: false }],
  [
    'the second answer is right',
    ['x', 'a'],
    ['a'],
    {},
    { asked: 2, warned: 1, opened: ['a'], failed: false },
  ],
  [
    'the third answer is right',
    ['x', 'y', 'a'],
    ['a'],
    {},
    { asked: 3, warned: 2, opened: ['a'], failed: false },
  ],
  [
    'three answers are wrong',
    ['x', 'y', 'z', 'a'],
    ['a'],
    {},
    { asked: 3, warned: 2, opened: [], failed: true },
  ],
  [
    'a second key has the same',
    ['a'],
    ['a', 'a'],
    {},
    { asked: 1, warned: 0, opened: ['a', 'a'], failed: false },
  ],
  [
    'a second key has another',
    ['a', 'b'],
    ['a', 'b'],
    {},
    { asked: 2, warned: 0, opened: ['a', 'b'], failed: false },
  ],
  ['the variable is right', ['x'], ['a'], { PSD2_KEY_PASSPHRASE: 'a' }, { asked: 0, opened: ['a'] }],
  ['the variable is wrong', ['a'], ['a'], { PSD2_KEY_PASSPHRASE: 'x' }, { asked: 0, failed: true }],
  ['the variable is empty', ['a'], ['a'], { PSD2_KEY_PASSPHRASE: '' }, { asked: 1, opened: ['a'] }],
  ['nobody can answer', [], ['a'], {}, { asked: 0, failed: true }],
])(
  'psd2 asks for the passphrase of a key as often as needed: %s',
  async (_, answers, rights, env, expected) => {
    expect(await opening([...answers], rights, env)).toMatchObject(expected);
  },
);

const { run, said } = useCommands();

it('psd2 asks three times for the passphrase of a key, and then gives up', async () => {
  let asked = 0;
  await run(async (context) => {
    const askSecret = async () => {
      asked += 1;
      return 'wrong';
    };
    const terminal = { ...context.terminal, canAsk: true, askSecret };
    const ring = openKeyRing({ ...context, terminal }, { name: 'bank', settings: {} });
    await ring.opening('the QWAC key', () => {
      throw new WrongPassphrase('certificate', 'The passphrase does not open the QWAC key');
    });
  });
  expect(said()).toContain('The passphrase does not open the QWAC key');
  expect(process.exitCode).toBe(3);
  expect(asked).toBe(3);
});
