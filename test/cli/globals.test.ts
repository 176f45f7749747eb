import { Command } from '@commander-js/extra-typings';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type RawGlobals, readGlobals, withGlobals } from '../../src/cli/globals.ts';
import { errorsAreJson, readOutputMode, wantsJson } from '../../src/cli/output-mode.ts';
import { Psd2Error } from '../../src/errors.ts';
import { thrownBy } from '../support/thrown.ts';

/** Parses the arguments with commander, with the variables of `env` set. */
function parse(args: string[], env: Record<string, string> = {}): RawGlobals {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const command = withGlobals(
    new Command().exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} }),
  );
  return command.parse(args, { from: 'user' }).opts();
}

beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('PSD2_')) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const read = (args: string[], env: Record<string, string> = {}) => readGlobals(parse(args, env), env);
const outputMode = (args: string[], env: Record<string, string> = {}, isTerminal = false) =>
  readOutputMode(parse(args, env), env, isTerminal);

it('the global options have defaults', () => {
  expect(read([])).toEqual({
    ...{ profile: undefined, customer: undefined, grant: 'authorization_code' },
    ...{ yes: false, verbose: false, raw: false, noBrowser: false, qrCode: false },
    ...{ timeoutMs: 30_000, scaTimeoutMs: 300_000 },
    ...{ psuIpAddress: undefined, language: undefined, traceComponent: undefined },
  });
});

it.each([
  [['-y'], { yes: true }],
  [['-v'], { verbose: true }],
  [['--raw'], { raw: true }],
  [['--no-browser'], { noBrowser: true }],
  [['--qr'], { qrCode: true }],
])('%j turns on %j alone', (args, changed) => {
  expect(read(args)).toEqual({ ...read([]), ...changed });
});

it('the global options come from the environment, and an option overrides its variable', () => {
  const env = {
    ...{ PSD2_PROFILE: 'env-profile', PSD2_CUSTOMER: '7', PSD2_GRANT: 'client_credentials' },
    ...{ PSD2_TIMEOUT: '5', PSD2_SCA_TIMEOUT: '6', PSD2_PSU_IP: '2001:db8::1' },
    ...{ PSD2_LANG: 'it', PSD2_TRACE: 'app', PSD2_DEBUG: '1' },
  };
  const inEnv = {
    ...{ profile: 'env-profile', customer: '7', grant: 'client_credentials' },
    ...{ timeoutMs: 5000, scaTimeoutMs: 6000, psuIpAddress: '2001:db8::1' },
    ...{ language: 'it', traceComponent: 'app', verbose: true },
  };
  expect(read([], env)).toMatchObject(inEnv);
  const args =
    '--profile bank --customer 8 --grant authorization_code --timeout 0.5 --psu-ip 192.0.2.1'.split(' ');
  expect(read(args, env)).toMatchObject({
    ...{ ...inEnv, profile: 'bank', customer: '8', grant: 'authorization_code' },
    ...{ timeoutMs: 500, psuIpAddress: '192.0.2.1' },
  });
});

it('an empty variable counts as not set', () => {
  const names = 'PROFILE CUSTOMER GRANT TIMEOUT SCA_TIMEOUT PSU_IP LANG TRACE DEBUG'.split(' ');
  expect(read([], Object.fromEntries(names.map((name) => [`PSD2_${name}`, ''])))).toEqual(read([]));
  expect(outputMode([], { PSD2_OUTPUT: '', PSD2_NO_INPUT: '' })).toEqual(outputMode([]));
});

it('of an option that is given twice, the last value counts', () => {
  const twice = '--profile a --profile b --timeout 1 --timeout 2 --lang en --lang it'.split(' ');
  expect(read(twice)).toMatchObject({ profile: 'b', timeoutMs: 2000, language: 'it' });
  expect(outputMode(['-o', 'csv', '--output', 'ndjson'])).toMatchObject({ format: 'ndjson' });
});

it.each(['--profile', '--customer', '--psu-ip', '--lang', '--trace'])(
  'an empty %s is an error: the script that gave it means another value than the default',
  (option) => {
    for (const value of ['', ' '])
      expect(thrownBy(() => read([option, value]))).toMatchObject({
        code: 'usage',
        message: `The value of ${option} is empty`,
      });
  },
);

describe('a wrong value of a global option', () => {
  const LANG = 'For example it-IT.';
  const TRACE = 'It has no spaces and at most 100 characters.';
  it.each([
    [['--lang', 'it\r\nX: y'], '--lang "it\\r\\nX: y" is not a language tag', LANG],
    [['--lang', '_it'], '--lang "_it" is not a language tag', LANG],
    [['--lang', 'i'.repeat(101)], `--lang "${'i'.repeat(101)}" is not a language tag`, LANG],
    [['--trace', 'a b'], '--trace "a b" is not the name of a component', TRACE],
    [['--trace', 'a\r\nX: y'], '--trace "a\\r\\nX: y" is not the name of a component', TRACE],
    [['--trace', ' a'], '--trace " a" is not the name of a component', TRACE],
    [['--trace', 'è'], '--trace "è" is not the name of a component', TRACE],
    [['--trace', 'a'.repeat(101)], `--trace "${'a'.repeat(101)}" is not the name of a component`, TRACE],
  ])('%j is a usage error, with an example', (args, message, hint) => {
    expect(() => read(args)).toThrow(new Psd2Error('usage', message, { hint }));
  });

  it.each([
    ...['0', '0.000', '-1', '1e3', 'x1', '1s', '1.', '1.0001', '1000000', 'Infinity'].map((value) => [
      ...['--timeout', value, 'a number of seconds above 0'],
    ]),
    ['--sca-timeout', 'long', 'a number of seconds above 0'],
    ['--psu-ip', 'example.com', 'an IP address'],
    ['--psu-ip', '192.0.2.256', 'an IP address'],
  ])('%s %j is a usage error: it is not %s', (option, value, what) => {
    expect(() => read([option, value])).toThrow(
      new Psd2Error('usage', `${option} "${value}" is not ${what}`),
    );
  });

  it('a value at its limit is taken', () => {
    const [lang, trace] = ['i'.repeat(100), '~'.repeat(100)];
    expect(
      read(['--timeout', '999999.999', '--sca-timeout', '0.001', '--lang', lang, '--trace', trace]),
    ).toMatchObject({ timeoutMs: 999_999_999, scaTimeoutMs: 1, language: lang, traceComponent: trace });
    expect(read(['--lang', 'it-IT, it;q=0.9, *'])).toMatchObject({ language: 'it-IT, it;q=0.9, *' });
  });

  it.each([
    ['PSD2_TIMEOUT', 'a_b', 'is not a number of seconds above 0', {}],
    ['PSD2_SCA_TIMEOUT', 'a_b', 'is not a number of seconds above 0', {}],
    ['PSD2_PSU_IP', 'a_b', 'is not an IP address', {}],
    ['PSD2_LANG', 'a_b', 'is not a language tag', { hint: LANG }],
    ['PSD2_TRACE', 'a b', 'is not the name of a component', { hint: TRACE }],
  ])('the error for a wrong value in %s names the variable', (name, value, message, advice) => {
    const error = new Psd2Error('usage', `${name} "${value}" ${message}`, advice);
    expect(() => read([], { [name]: value })).toThrow(error);
  });

  it('if the option gave the wrong value, the error names the option and not the variable beside it', () => {
    expect(() => read(['--timeout', 'x'], { PSD2_TIMEOUT: '5' })).toThrow(
      new Psd2Error('usage', '--timeout "x" is not a number of seconds above 0'),
    );
  });

  it('an unknown grant is an error', () => {
    expect(() => parse(['--grant', 'password'])).toThrow("'password' is invalid");
  });
});

describe('the output mode', () => {
  it('the default output is a table without colour, and options change it', () => {
    expect(outputMode([])).toEqual({
      ...{ format: 'table', bareStrings: false, noInput: false },
      ...{ quiet: false, colour: false, mayHaveColour: true },
    });
    const changed = { format: 'ndjson', noInput: true, quiet: true };
    expect(outputMode(['-q', '--no-input', '-o', 'ndjson'])).toMatchObject(changed);
  });

  it.each<[string[], Record<string, string>, string]>([
    [['--json'], {}, 'json'],
    [['-o', 'ndjson'], { PSD2_OUTPUT: 'json' }, 'ndjson'],
    [[], { PSD2_OUTPUT: 'json' }, 'json'],
    [['--json'], { PSD2_OUTPUT: 'ndjson' }, 'json'],
    [['--json', '-o', 'json'], {}, 'json'],
    [[], { PSD2_OUTPUT: '' }, 'table'],
    [['--json'], { PSD2_OUTPUT: 'xml' }, 'json'],
    [['--query', 'a'], { PSD2_OUTPUT: 'table' }, 'json'],
    [['--query', 'a'], { PSD2_OUTPUT: 'csv' }, 'csv'],
    [['--query', 'a', '-o', 'ndjson'], {}, 'ndjson'],
  ])('with %j and %j the format is %s', (args, env, format) => {
    expect(outputMode(args, env).format).toBe(format);
  });

  it('-r prints the strings of a query bare', () => {
    expect(outputMode(['--query', 'a', '-r'])).toMatchObject({
      format: 'json',
      bareStrings: true,
      query: 'a',
    });
  });

  const NEEDS_QUERY = new Psd2Error('usage', '--raw-output needs --query', {
    hint: 'For example:',
    next: [['accounts', 'list', '--query', '[].iban', '-r']],
  });
  const NO_CSV = new Psd2Error('usage', '--raw-output and -o csv cannot be used together', {
    hint: 'CSV already has quotes only where they are needed.',
  });
  const NO_TABLE = new Psd2Error('usage', '--query cannot print a table', {
    hint: 'Use -o json, ndjson or csv.',
  });
  const BOTH = new Psd2Error('usage', '--json and -o csv contradict each other', {
    hint: 'Give one of them.',
  });
  const NOT_RAW = new Psd2Error('usage', '--query and --raw cannot be used together');
  const UNKNOWN = new Psd2Error('usage', 'The output format "xml" is not known', {
    hint: 'Use one of table, json, ndjson, csv.',
  });
  it.each([
    [['-r'], NEEDS_QUERY],
    [['--json', '-r'], NEEDS_QUERY],
    [['--json', '-o', 'csv'], BOTH],
    [['--json', '--query', 'a', '-o', 'csv'], BOTH],
    [['--query', 'a', '-r', '-o', 'csv'], NO_CSV],
    [['--query', '[0]', '-o', 'table'], NO_TABLE],
    [['--query', '[0]', '--raw'], NOT_RAW],
    // An empty query is a query too.
    [['--query', '', '--raw'], NOT_RAW],
    [['-o', 'xml'], UNKNOWN],
  ])('%j is a usage error', (args, error) => {
    expect(() => outputMode(args)).toThrow(error);
  });

  it.each([
    ['1', true],
    ['true', true],
    ['yes', true],
    ['', false],
    ['0', false],
    ['false', false],
    ['FALSE', false],
    ['no', false],
    ['off', false],
    [' ', false],
  ])('the value %j turns PSD2_NO_INPUT and PSD2_DEBUG on: %s', (value, isOn) => {
    expect(outputMode([], { PSD2_NO_INPUT: value }).noInput).toBe(isOn);
    expect(outputMode(['--no-input'], { PSD2_NO_INPUT: value }).noInput).toBe(true);
    expect(read([], { PSD2_DEBUG: value }).verbose).toBe(isOn);
    expect(read(['-v'], { PSD2_DEBUG: value }).verbose).toBe(true);
  });

  it.each<[string, string[], Record<string, string>, boolean, boolean]>([
    ['on a terminal', [], {}, true, true],
    ['in a pipeline', [], {}, false, false],
    ['with --no-color', ['--no-color'], {}, true, false],
    ['with NO_COLOR', [], { NO_COLOR: '1' }, true, false],
    ['with an empty NO_COLOR', [], { NO_COLOR: '' }, true, true],
    ['with FORCE_COLOR', [], { FORCE_COLOR: '1' }, false, true],
    ['with FORCE_COLOR=0', [], { FORCE_COLOR: '0' }, false, false],
    ['with FORCE_COLOR and NO_COLOR', [], { FORCE_COLOR: '1', NO_COLOR: '1' }, true, false],
  ])('the choice of colour is right %s', (_, args, env, isTerminal, colour) => {
    expect(outputMode(args, env, isTerminal).colour).toBe(colour);
  });
});

describe('an error is JSON', () => {
  it.each<[boolean, string[], Record<string, string>]>([
    [false, [], {}],
    [true, ['--json'], {}],
    [true, ['-o', 'json'], {}],
    [true, ['-o', 'ndjson'], {}],
    [false, ['-o', 'csv'], {}],
    [false, ['-o', 'xml'], {}],
    [true, ['--query', 'a'], {}],
    [false, ['--query', 'a', '-o', 'csv'], {}],
    [true, [], { PSD2_OUTPUT: 'json' }],
    [false, ['-o', 'table'], { PSD2_OUTPUT: 'json' }],
    [true, ['--json'], { PSD2_OUTPUT: 'table' }],
    [true, ['--query', 'a'], { PSD2_OUTPUT: 'table' }],
    [false, ['--query', 'a'], { PSD2_OUTPUT: 'csv' }],
  ])('%j with %j and %j, also before the options are read', (isJson, args, env) => {
    expect(errorsAreJson(parse(args, env), env)).toBe(isJson);
    vi.stubEnv('PSD2_OUTPUT', env.PSD2_OUTPUT ?? '');
    expect(wantsJsonWith(args)).toBe(isJson);
  });

  it.each([
    [true, ['-ojson']],
    [true, ['--output=ndjson']],
    [true, ['-o=json', '--json']],
    [true, ['--query=a']],
    [false, ['accounts', 'list', '-o', 'json', '-o', 'csv']],
    [true, ['accounts', 'list', '-o', 'csv', '--output=ndjson']],
    [true, ['accounts', 'list', '-o', 'csv', '--json', '-o', 'table']],
    [false, ['--outputs', 'json']],
    [false, ['x-o', 'json']],
    [false, ['--querying']],
    [false, ['my--query']],
    [false, ['-o']],
    [false, ['--output=']],
  ])('%j with the words %j, which may be wrong', (isJson, args) => {
    vi.stubEnv('PSD2_OUTPUT', '');
    expect(wantsJsonWith(args)).toBe(isJson);
  });

  function wantsJsonWith(args: string[]): boolean {
    const { argv } = process;
    process.argv = ['node', 'psd2', ...args];
    try {
      return wantsJson();
    } finally {
      process.argv = argv;
    }
  }
});
