import { type Environment, type Operator, PROGRAM, type Running } from './psd2.ts';

/** Gives an operator a terminal (`script` of util-linux). Everything that `psd2` prints in it arrives on stdout. */
export function terminalOf(operator: Operator) {
  return (
    args: string[],
    { columns = 120, env = {}, to }: { columns?: number; env?: Environment; to?: string } = {},
  ): Promise<Running> => {
    const words = [process.execPath, PROGRAM, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
    const redirect = to === undefined ? '' : ` > '${to}'`;
    const command = `stty cols ${columns} rows 40; exec ${words.join(' ')}${redirect}`;
    const terminal = { TERM: 'xterm-256color', ...env };
    return operator.startProgram('script', ['-qefc', command, '/dev/null'], terminal);
  };
}
