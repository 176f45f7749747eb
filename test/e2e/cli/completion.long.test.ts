import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

// These tests run the scripts of `psd2 completion` in the real shells, in a terminal, with the Tab key.

const operator = useLoggedIn();
const bin = join(operator.folder, 'bin');
let flow = '';

beforeAll(async () => {
  const transfer = await operator.json(
    shapes.transfer,
    words`transfer --yes --from 0010482620 --to
    DE89370400440532013000 --name ${"Ada O'Lovelace (1)"} --amount 12.50`,
  );
  flow = transfer.flow;
  mkdirSync(bin);
  // Completes as psd2 does. Instead of running a command, it prints the arguments.
  writeFileSync(
    join(bin, 'psd2'),
    `#!/bin/sh
    case $1 in __complete|completion) exec '${process.execPath}' '${PROGRAM}' "$@" ;; esac
    printf 'RAN'; for word; do printf '<%s>' "$word"; done; echo .`,
    { mode: 0o755 },
  );
  writeFileSync(join(operator.folder, 'receipt of May.pdf'), '');
  writeFileSync(join(operator.folder, 'order.json'), '');
  mkdirSync(join(operator.folder, 'orders'));
});

const RC: Record<string, { program: string; args: string[] }> = {
  bash: { program: 'bash', args: ['--norc', '--noprofile', '-i'] },
  'bash with the bash-completion package': { program: 'bash', args: ['--norc', '--noprofile', '-i'] },
  zsh: { program: 'zsh', args: ['-f', '-i'] },
  fish: { program: 'fish', args: ['--no-config', '-i'] },
};
const SET_UP: Record<string, string> = {
  bash: "bind 'set bell-style none'; source <(psd2 completion bash); PS1='READ''Y> '",
  'bash with the bash-completion package':
    "bind 'set bell-style none'; source /usr/share/bash-completion/bash_completion; source <(psd2 completion bash); PS1='READ''Y> '",
  zsh: "autoload -U compinit; compinit -u; source <(psd2 completion zsh); unsetopt beep; PROMPT='READ''Y> '",
  fish: "psd2 completion fish | source; function fish_prompt; printf 'READ''Y> '; end",
};

/** Types lines, each ended with Enter. Returns what was run, and everything on the screen. */
async function type(shell: string, lines: string[]): Promise<{ ran: string[]; screen: string }> {
  const { program, args } = RC[shell] ?? { program: '', args: [] };
  const command = `stty cols 200 rows 50 -echo; exec ${[program, ...args].join(' ')}`;
  const terminal = await operator.startProgram('script', ['-qefc', command, '/dev/null'], {
    TERM: 'xterm',
    PATH: `${bin}:${process.env.PATH}`,
    PSD2_PROFILE: undefined,
  });
  await terminal.write(`${SET_UP[shell]}\r`);
  await terminal.prints(/READY> /);
  for (const line of lines) await terminal.write(`${line}\r`);
  await terminal.write('exit\r');
  const { stdout } = await terminal.ended;
  const screen = stripVTControlCharacters(stdout);
  return { ran: [...screen.matchAll(/RAN(<.*>)\./g)].map(([, words = '']) => words), screen };
}

describe.each(Object.keys(RC))('completion in %s', (shell) => {
  it.each([
    ['a command and its subcommand', 'psd2 acc\tbal\t', '<accounts><balance>'],
    ['an option', 'psd2 accounts transactions --pen\t', '<accounts><transactions><--pending>'],
    ['an option of the default command of a group', 'psd2 transfer --inst\t', '<transfer><--instant>'],
    ['a global option after a command', 'psd2 accounts list --cust\t', '<accounts><list><--customer>'],
    ['a fixed value', 'psd2 --grant cl\t', '<--grant><client_credentials>'],
    ['the value after an equals sign', 'psd2 --grant=cl\t', '<--grant=client_credentials>'],
    ['a category', 'psd2 consent request --category ACC\t', '<consent><request><--category><ACCOUNT_INFO>'],
    ['a profile', 'psd2 --profile sa\t', '<--profile><sandbox>'],
    ['the argument of profile use', 'psd2 profile use s\t', '<profile><use><sandbox>'],
    [
      'a product',
      'psd2 --profile sandbox accounts balance 001048262\t',
      '<--profile><sandbox><accounts><balance><0010482620>',
    ],
    [
      'a file name with a space',
      'psd2 transfer receipt x --file rec\t',
      '<transfer><receipt><x><--file><receipt of May.pdf>',
    ],
    ['a topic', 'psd2 help exit\t', '<help><exit-codes>'],
    ['a command after help', 'psd2 help transfer rec\t', '<help><transfer><receipt>'],
    ['data from a file', 'psd2 operation run x --data @order.\t', '<operation><run><x><--data><@order.json>'],
    ['data after an equals sign', 'psd2 api --data=@order.\t', '<api><--data=@order.json>'],
  ])('Tab completes %s', async (_, line, words) => {
    const { ran, screen } = await type(shell, [line]);
    expect(ran, screen).toEqual([words]);
  });

  it('Tab completes the id of a flow', async () => {
    const { ran, screen } = await type(shell, ['psd2 --profile sandbox transfer show tr\t']);
    expect(ran, screen).toEqual([`<--profile><sandbox><transfer><show><${flow}>`]);
  });

  it('Tab lists the choices if there are several', async () => {
    const { screen } = await type(shell, [shell === 'fish' ? "complete -C 'psd2 auth '" : 'psd2 auth \t\t']);
    for (const name of ['login', 'logout', 'status', 'token']) expect(screen).toContain(name);
    expect(screen).not.toContain('order.json');
  });

  it('Tab lists fixed values without descriptions', async () => {
    const line =
      shell === 'fish'
        ? "complete -C 'psd2 consent request --category '"
        : 'psd2 consent request --category \t\t';
    const { screen } = await type(shell, [line]);
    for (const name of ['ACCOUNT_INFO', 'FUNDS_AVAILABILITY', 'PAYMENTS']) expect(screen).toContain(name);
    expect(screen).not.toMatch(/(?:ACCOUNT_INFO|FUNDS_AVAILABILITY|PAYMENTS) +--/);
  });

  it('Tab offers nothing, not even file names, where psd2 knows no values', async () => {
    const { ran, screen } = await type(shell, ['psd2 --profile sandbox transfer show ord\t']);
    expect(ran, screen).toEqual(['<--profile><sandbox><transfer><show><ord>']);
  });

  it('Tab does not run anything that stands on the line', async () => {
    const { ran, screen } = await type(shell, [
      "psd2 --profile '$(touch hacked)`touch hacked`;touch hacked' acc\t",
    ]);
    expect(ran, screen).toEqual(['<--profile><$(touch hacked)`touch hacked`;touch hacked><accounts>']);
    await type(shell, ['psd2 --profile $(touch hacked) acc\t\u0015']);
    expect(existsSync(join(operator.folder, 'hacked'))).toBe(false);
  });
});

it('completion does not call the bank: its values come from this machine', async () => {
  await operator.succeeds(['sandbox', 'stop']);
  const { stdout } = await operator.psd2(['__complete', 'words', 'accounts', 'balance', '']);
  expect(stdout).toBe('values\n0000093017\t\n0010482620\t\n0010482638\t\n');
  expect((await operator.psd2(['__complete', 'words', '--customer', ''])).stdout).toBe('values\n1048262\t\n');
  expect((await operator.psd2(['__complete', 'words', 'transfer', 'show', ''])).stdout).toMatch(
    new RegExp(
      `^values\\n${flow}\\t12\\.50 EUR to Ada O'Lovelace \\(1\\), \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d\\n$`,
    ),
  );
});
