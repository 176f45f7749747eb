import { mkdirSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import chalk from 'chalk';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import type { Streams } from '../../src/terminal/prompts.ts';
import { openTerminal, type Terminal, type TerminalOptions } from '../../src/terminal/terminal.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { openStream } from './stream.ts';

const folder = temporaryFolder();
const [ENTER, TAB, BACKSPACE, DOWN] = ['\r', '\t', '\u007f', '\u001b[B'];

/** An operator at a terminal. */
function sitDown(options: Partial<TerminalOptions> = {}) {
  const stdin: Streams['stdin'] = Object.assign(new Socket(), {
    ...{ isTTY: true, isRaw: false },
    setRawMode: (raw: boolean) => {
      stdin.isRaw = raw;
      return stdin;
    },
  });
  const { stream, written } = openStream({ columns: 200 });
  const interrupt = new AbortController();
  const usual = { noInput: false, quiet: false, mayHaveColour: false, asEvents: false };
  const terminal = openTerminal(
    { stdin, stderr: stream },
    { ...usual, signal: interrupt.signal, ...options },
  );
  const shown = () => stripVTControlCharacters(written());
  return {
    terminal,
    interrupt,
    written,
    shown,
    /** How many readers the keyboard has. */
    readers: () => stdin.listenerCount('data'),
    /** Whether the terminal leaves what is typed to psd2, and does not show it. */
    raw: () => stdin.isRaw,
    /** Types keys, each after the terminal shows a text. */
    async type(...steps: [whenShown: string, keys: string][]) {
      let from = 0;
      for (const [text, pressed] of steps) {
        await vi.waitFor(() => expect(shown().slice(from)).toContain(text), { timeout: 5_000, interval: 2 });
        from = shown().length;
        stdin.push(pressed);
      }
    },
  };
}

/** Asks an operator who types these keys. @returns the answer, and what the terminal has shown */
async function ask<T>(
  question: (terminal: Terminal) => Promise<T>,
  ...steps: [whenShown: string, keys: string][]
): Promise<{ answer: T; shown: string }> {
  const { terminal, type, shown } = sitDown();
  const asked = question(terminal);
  await type(...steps);
  return { answer: await asked, shown: shown() };
}

/** Accepts only `right`. */
const check = (answer: string) => {
  if (answer !== 'right') throw new Psd2Error('usage', `Not ${answer}`, { hint: 'Say right.' });
};

describe('psd2 asks', () => {
  it.each([
    ['y\r', undefined, true],
    ['n\r', undefined, false],
    ['\r', undefined, false],
    ['\r', true, true],
    ['n\r', true, false],
  ])('whether to go on: %j with the suggestion %j is %j', async (keys, initial, expected) => {
    const { answer } = await ask((terminal) => terminal.confirm('Pay?', initial), ['Pay?', keys]);
    expect(answer).toBe(expected);
  });

  it('for a text, until it is right, and says what is wrong', async () => {
    const { answer } = await ask(
      (terminal) => terminal.ask('Word?', { check }),
      ['Word?', `wrong${ENTER}`],
      ['Not wrong. Say right.', `${BACKSPACE.repeat(5)}right${ENTER}`],
    );
    expect(answer).toBe('right');
  });

  it('for a text that it suggests, which Enter accepts', async () => {
    const question = (terminal: Terminal) => terminal.ask('Word?', { initial: 'right', check });
    expect((await ask(question, ['(right)', ENTER])).answer).toBe('right');
  });

  it('a check that has a fault of its own ends the question', async () => {
    const fault = new RangeError('a fault');
    const failing = (terminal: Terminal) =>
      terminal.askSecret('Word?', () => {
        throw fault;
      });
    await expect(ask(failing, ['Word?', `x${ENTER}`])).rejects.toThrow(fault);
  });

  it('which of several, and shows the suggested one first', async () => {
    const choices = [
      { value: 1, name: 'one' },
      { value: 2, name: 'two', short: '2' },
      { value: 3, name: 'three' },
    ];
    const choose = (keys: string, suggested?: number) =>
      ask((terminal) => terminal.choose('Which?', choices, suggested), ['Which?', keys]);
    expect((await choose(`${DOWN}${ENTER}`)).answer).toBe(2);
    expect((await choose(ENTER, 3)).answer).toBe(3);
  });

  it('for a secret that it never shows, until it is right, and then anew', async () => {
    const checkSecret = (secret: string) => {
      if (secret !== 'right') throw new Psd2Error('usage', 'The passphrase is wrong', {});
    };
    const { answer, shown } = await ask(
      (terminal) => terminal.askSecret('Passphrase?', checkSecret),
      ['Passphrase?', `hush${ENTER}`],
      ['The passphrase is wrong.\n', `right${ENTER}`],
    );
    expect(answer).toBe('right');
    expect(shown).not.toMatch(/hush|right|toggle/);
    const unchecked = (terminal: Terminal) => terminal.askSecret('Passphrase?');
    expect((await ask(unchecked, ['Passphrase?', `any${ENTER}`])).answer).toBe('any');
  });
});

describe('psd2 cannot ask', () => {
  it('with --no-input, and says why', async () => {
    const { terminal } = sitDown({ noInput: true });
    await expect(terminal.confirm('Pay?')).rejects.toThrow(
      new Psd2Error('usage', 'psd2 cannot ask a question, because there is no terminal'),
    );
  });

  it('any more after Ctrl-C, which is an interruption', async () => {
    const asked = ask((terminal) => terminal.confirm('Pay?'), ['Pay?', '\u0003']);
    await expect(asked).rejects.toMatchObject({ code: 'interrupted', message: 'Interrupted' });
  });

  it('any more after an interruption from outside, whose reason it gives', async () => {
    const { terminal, type, interrupt } = sitDown();
    const asked = terminal.confirm('Pay?');
    const reason = new Psd2Error('interrupted', 'The terminal closed');
    const refused = expect(asked).rejects.toBe(reason);
    await type(['Pay?', '']);
    interrupt.abort(reason);
    await refused;
  });
});

it('a message while a question waits gets its own line, and the question is shown again', async () => {
  const { terminal, type, shown } = sitDown();
  terminal.say('before');
  const asked = terminal.confirm('Pay?');
  await type(['Pay?', '']);
  terminal.say('meanwhile');
  await type(['\nmeanwhile\n? Pay? ', `y${ENTER}`]);
  expect(await asked).toBe(true);
  terminal.say('after');
  expect(shown().startsWith('before\n')).toBe(true);
  expect(shown()).toMatch(/[^\n]*after\n$/);
  expect(shown()).not.toContain('after\n?');
});

describe('the mark of a terminal', () => {
  it('stands before each question and each text that is marked', async () => {
    const { terminal, type } = sitDown();
    expect(terminal.marked('Pay')).toBe('Pay');
    terminal.mark('PRODUCTION bank');
    expect(terminal.marked('Pay')).toBe('[PRODUCTION bank] Pay');
    const asked = terminal.confirm('Pay [5]?');
    await type(['[PRODUCTION bank] Pay [5]?', `y${ENTER}`]);
    expect(await asked).toBe(true);
  });

  it.each([
    [true, '\u001b[1m\u001b[31m[LIVE]\u001b[39m\u001b[22m Pay [5]?'],
    [false, '[LIVE] Pay [5]?'],
  ])('is red on a terminal that may have colours: %j', async (mayHaveColour, text) => {
    const { level } = chalk;
    chalk.level = 1;
    onTestFinished(() => {
      chalk.level = level;
    });
    const { terminal, type, written } = sitDown({ mayHaveColour });
    expect(terminal.colour).toBe(mayHaveColour);
    terminal.mark('LIVE');
    const asked = terminal.ask('Pay [5]?');
    await type(['Pay [5]?', `x${ENTER}`]);
    expect(await asked).toBe('x');
    expect(written()).toContain(text);
  });
});

it('a terminal knows its size', () => {
  expect(sitDown().terminal.size).toEqual({ columns: 200, rows: 24 });
});

describe('a spinner', () => {
  it('shows the text while the work runs, and nothing after', async () => {
    // Where CI is set, the spinner writes its text once.
    vi.stubEnv('CI', undefined);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const { terminal, written, shown } = sitDown();
    let end = (_: number) => {};
    const work = new Promise<number>((resolve) => {
      end = resolve;
    });
    let text = 'Five left\n';
    const waiting = terminal.whileWaiting(() => text, work);
    await vi.waitFor(() => expect(shown()).toContain(' Five left '), { timeout: 5_000, interval: 2 });
    text = 'Four left';
    await vi.waitFor(() => expect(shown()).toContain('Four left'), { timeout: 5_000, interval: 2 });
    end(7);
    expect(await waiting).toBe(7);
    const after = written();
    await new Promise((resolve) => setImmediate(resolve));
    expect(written()).toBe(after);
  });

  it('stops if the work fails, and the failure stays', async () => {
    const { terminal } = sitDown();
    await expect(terminal.whileWaiting('Waiting', Promise.reject(new RangeError('no')))).rejects.toThrow(
      new RangeError('no'),
    );
  });

  it('is not shown with --quiet', async () => {
    const { terminal, written } = sitDown({ quiet: true });
    expect(await terminal.whileWaiting('Waiting', Promise.resolve(7))).toBe(7);
    expect(written()).toBe('');
  });
});

describe('the path of a file', () => {
  mkdirSync(join(folder, 'keys'));
  for (const name of ['qwac.pem', 'qwac-key.pem', 'seal.p12']) writeFileSync(join(folder, name), '');
  mkdirSync(join(folder, 'many'));
  for (let index = 10; index < 36; index += 1) writeFileSync(join(folder, 'many', `f${index}`), '');

  async function answerTo(how: Parameters<Terminal['askPath']>[1], ...steps: [string, string][]) {
    const { answer, shown } = await ask((terminal) => terminal.askPath('Which file?', how), ...steps);
    // At the end there is the answer alone, without a suggestion and without names to choose from.
    expect(shown.endsWith(`✔ ${['Which file?', answer].filter(Boolean).join(' ')}\n`)).toBe(true);
    return { answer, shown };
  }

  it('is the suggested one after Enter, and Tab makes it a text to change', async () => {
    const suggested = await answerTo({ initial: '/etc/qwac.pem' }, ['Which file? (/etc/qwac.pem)', ENTER]);
    expect(suggested.answer).toBe('/etc/qwac.pem');
    expect(suggested.shown.trimEnd()).not.toContain('\n');
    const changed = await answerTo(
      { initial: '/etc/qwac.pem' },
      ['Which file? (/etc/qwac.pem)', TAB],
      ['Which file? /etc/qwac.pem', `.old`],
      ['Which file? /etc/qwac.pem.old', ENTER],
    );
    expect(changed.answer).toBe('/etc/qwac.pem.old');
  });

  it('is no longer the suggested one once Tab has taken it and it was removed', async () => {
    const { answer, shown } = await answerTo(
      { initial: 'abc' },
      ['Which file? (abc)', TAB],
      ['Which file? abc', BACKSPACE.repeat(3)],
      ['Which file?', ENTER],
    );
    expect(answer).toBe('');
    expect(shown.match(/\(abc\)/g)).toHaveLength(1);
  });

  it('is no longer the suggested one after Backspace', async () => {
    const { answer } = await answerTo(
      { initial: '/etc/qwac.pem' },
      ['Which file? (/etc/qwac.pem)', BACKSPACE],
      ['Which file?', ENTER],
    );
    expect(answer).toBe('');
  });

  it('completes with Tab, and shows the names to choose from until the next key', async () => {
    const { answer, shown } = await answerTo(
      {},
      ['Which file?', `${folder}/q`],
      [`${folder}/q`, TAB],
      ['qwac-key.pem  qwac.pem', '-'],
      [`${folder}/qwac-`, TAB],
      [`${folder}/qwac-key.pem`, ENTER],
    );
    expect(answer).toBe(`${folder}/qwac-key.pem`);
    expect(shown).not.toContain(' more');
  });

  it('offers at most 24 names, and says how many more there are', async () => {
    const { shown } = await answerTo(
      {},
      ['Which file?', `${folder}/many/`],
      [`${folder}/many/`, TAB],
      [' … 2 more', ENTER],
    );
    expect(shown).toContain('f32  f33 … 2 more');
    expect(shown).not.toContain(' f34');
  });

  it('is asked for again if it is wrong, with what is wrong and what was typed', async () => {
    const { answer, shown } = await answerTo(
      { check },
      ['Which file?', `wrong${ENTER}`],
      ['Not wrong. Say right.', BACKSPACE.repeat(5)],
      ['Which file?', `right${ENTER}`],
    );
    expect(answer).toBe('right');
    expect(shown).toContain('Which file? wrong\n> Not wrong. Say right.');
  });
});

describe('psd2 asks for a credential', () => {
  it('and shows nothing that is typed, from the first question until it ends', async () => {
    const { terminal, type, shown, raw } = sitDown();
    const asked = terminal.askCredential('PIN');
    await type(['? PIN', `19${BACKSPACE}2x${'\u0015'}12\u001b[A345${ENTER}and more`]);
    expect([await asked, raw()]).toEqual(['12345', true]);
    // What is typed while psd2 calls the bank is no answer to the next question.
    await type(['', `777${ENTER}`]);
    const next = terminal.askCredential('TAN');
    await type(['? TAN', ENTER]);
    expect([await next, raw()]).toEqual(['', true]);
    expect(shown()).toBe('? PIN \n? TAN \n');
    terminal.showTyping();
    expect(raw()).toBe(false);
  });

  it('with one reader of the keyboard for all questions, and none after it', async () => {
    const { terminal, type, readers, raw } = sitDown();
    const before = readers();
    for (const question of ['PIN', 'TAN', 'Once more']) {
      const asked = terminal.askCredential(question);
      await type([question, `1${ENTER}`]);
      expect([await asked, readers()]).toEqual(['1', before + 1]);
    }
    terminal.showTyping();
    terminal.showTyping();
    expect([readers(), raw()]).toEqual([before, false]);
    // The keyboard can be taken again.
    const again = terminal.askCredential('Again');
    await type(['Again', `2${ENTER}`]);
    expect([await again, readers(), raw()]).toEqual(['2', before + 1, true]);
    terminal.showTyping();
  });

  it.each(['\u007f', '\b'])('of which %j takes the last character away', async (erase) => {
    const { terminal, type } = sitDown();
    const asked = terminal.askCredential('PIN');
    await type(['PIN', `1${erase}${erase}2é${erase}3${ENTER}`]);
    expect(await asked).toBe('23');
    terminal.showTyping();
  });

  it.each(['\r', '\n', '\u0004'])('which %j ends', async (end) => {
    const { terminal, type } = sitDown();
    const asked = terminal.askCredential('PIN');
    await type(['PIN', `12${end}34`]);
    expect(await asked).toBe('12');
    terminal.showTyping();
  });

  it('and a message meanwhile shows the question again, and one afterwards does not', async () => {
    const { terminal, type, shown } = sitDown();
    const asked = terminal.askCredential('PIN');
    await type(['? PIN', '']);
    terminal.warn('Look');
    await type(['\nLook\n? PIN ', ENTER]);
    await asked;
    terminal.warn('Done');
    expect(shown().endsWith('Done\n')).toBe(true);
    terminal.showTyping();
  });

  it('and nothing of a yes or no between either: somebody may type the PIN there', async () => {
    const { terminal, type, shown, raw } = sitDown();
    const pin = terminal.askCredential('PIN');
    await type(['? PIN', ENTER]);
    await pin;
    const sure = terminal.confirm('Sure?');
    await type(['Sure?', `12345${ENTER}`], ['Sure?', `Yes${ENTER}`]);
    const [yes, usual, no] = [await sure, terminal.confirm('Else?', true), terminal.confirm];
    await type(['Else? (Y/n, unseen)', ENTER]);
    expect([yes, await usual, raw()]).toEqual([true, true, true]);
    const refused = no('Really?');
    await type(['Really? (y/N, unseen)', `n${ENTER}`]);
    expect(await refused).toBe(false);
    expect(shown()).not.toMatch(/12345|Yes/);
  });

  it('and a menu between has the keyboard, and gives it back', async () => {
    const { terminal, type, raw } = sitDown();
    const pin = terminal.askCredential('PIN');
    await type(['? PIN', ENTER]);
    await pin;
    const method = terminal.choose('Which?', [
      { value: 'a', name: 'one' },
      { value: 'b', name: 'two' },
    ]);
    await type(['Which?', `${DOWN}${ENTER}`]);
    expect([await method, raw()]).toEqual(['b', true]);
  });

  it.each([
    ['Ctrl-C', (at: ReturnType<typeof sitDown>) => at.type(['? PIN', '12\u0003'])],
    [
      'a signal',
      async (at: ReturnType<typeof sitDown>) =>
        at.interrupt.abort(new Psd2Error('interrupted', 'Interrupted')),
    ],
  ])('%s ends the question, and the command', async (_, end) => {
    const at = sitDown();
    const asked = at.terminal.askCredential('PIN').catch((error: unknown) => error);
    await end(at);
    expect(await asked).toMatchObject({ code: 'interrupted' });
  });

  it('only at a terminal', async () => {
    const { terminal } = sitDown({ noInput: true });
    await expect(terminal.askCredential('PIN')).rejects.toMatchObject({ code: 'usage' });
  });
});
