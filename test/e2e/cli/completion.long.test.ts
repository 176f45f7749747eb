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
    ['a fixed value', 'psd2 --grant cl\t', '<--grant><client_credentials>'],
    ['the value after an equals sign', 'psd2 --grant=cl\t', '<--grant=client_credentials>'],
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
