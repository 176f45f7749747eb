import { Command } from '@commander-js/extra-typings';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RawGlobals, readGlobals, withGlobals } from '../../src/cli/globals.ts';
import { readOutputMode } from '../../src/cli/output-mode.ts';

/** Parses the arguments with commander, with the variables of `env` set. */
function parse(args: string[], env: Record<string, string> = {}): RawGlobals {
  for (const [name, value] of Object.entries(env)) process.env[name] = value;
  const command = withGlobals(
    new Command().exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} }),
  );
  return command.parse(args, { from: 'user' }).opts();
}

let before: NodeJS.ProcessEnv;
beforeEach(() => {
  before = { ...process.env };
  for (const name of Object.keys(process.env)) if (name.startsWith('PSD2_')) delete process.env[name];
});
afterEach(() => {
  process.env = before;
});

const read = (args: string[], env: Record<string, string> = {}) => readGlobals(parse(args, env), env);
const outputMode = (args: string[], env: Record<string, string> = {}, isTerminal = false) =>
  readOutputMode(parse(args, env), env, isTerminal);

it('the global options have defaults', () => {
  expect(read([])).toMatchObject({
    profile: undefined,
    customer: undefined,
    grant: 'authorization_code',
    yes: false,
    verbose: false,
    timeoutMs: 30_000,
    scaTimeoutMs: 300_000,
    psuIpAddress: undefined,
    language: undefined,
  });
});

it('the global options come from the environment, and an option overrides its variable', () => {
  const env = {
    PSD2_PROFILE: 'env-profile',
    PSD2_CUSTOMER: '7',
    PSD2_GRANT: 'client_credentials',
    PSD2_TIMEOUT: '5',
    PSD2_SCA_TIMEOUT: '6',
    PSD2_PSU_IP: '2001:db8::1',
    PSD2_LANG: 'it',
    PSD2_DEBUG: '1',
  };
  expect(read([], env)).toMatchObject({
    profile: 'env-profile',
    customer: '7',
    grant: 'client_credentials',
    timeoutMs: 5000,
    scaTimeoutMs: 6000,
    psuIpAddress: '2001:db8::1',
    language: 'it',
    verbose: true,
  });
  const args =
    '--profile bank --customer 8 --grant authorization_code --timeout 0.5 --psu-ip 192.0.2.1'.split(' ');
  expect(read(args, env)).toMatchObject({
    profile: 'bank',
    customer: '8',
    grant: 'authorization_code',
    timeoutMs: 500,
    psuIpAddress: '192.0.2.1',
    language: 'it',
  });
});

it('an empty variable counts as not set', () => {
  const names = [
    'PROFILE',
    'CUSTOMER',
    'GRANT',
    'TIMEOUT',
    'SCA_TIMEOUT',
    'PSU_IP',
    'LANG',
    'TRACE',
    'DEBUG',
  ];
  expect(read([], Object.fromEntries(names.map((name) => [`PSD2_${name}`, ''])))).toEqual(read([]));
  expect(outputMode([], { PSD2_OUTPUT: '', PSD2_NO_INPUT: '' })).toEqual(outputMode([]));
});

it('of an option that is given twice, the last value counts', () => {
  const twice = [
    '--profile',
    'a',
    '--profile',
    'b',
    '--timeout',
    '1',
    '--timeout',
    '2',
    '--lang',
    'en',
    '--lang',
    'it',
  ];
  expect(read(twice)).toMatchObject({ profile: 'b', timeoutMs: 2000, language: 'it' });
  expect(outputMode(['-o', 'csv', '--output', 'ndjson'])).toMatchObject({ format: 'ndjson' });
});

it.each(['--profile', '--customer', '--psu-ip', '--lang', '--trace'])(
  'an empty %s is an error: the script that gave it means another value than the default',
  (option) => {
    for (const value of ['', ' '])
      expect(() => read([option, value])).toThrow(
        expect.objectContaining({ code: 'usage', message: `The value of ${option} is empty` }),
      );
  },
);

describe('a wrong value of a global option', () => {
  it.each([
    [['--timeout', '0'], '--timeout "0" is not a number of seconds above 0'],
    [['--timeout', '-1'], '--timeout "-1" is not a number of seconds above 0'],
    [['--timeout', '1e3'], '--timeout "1e3" is not a number of seconds above 0'],
    [['--timeout', 'Infinity'], '--timeout "Infinity" is not a number of seconds above 0'],
    [['--sca-timeout', 'long'], '--sca-timeout "long" is not a number of seconds above 0'],
    [['--psu-ip', 'example.com'], '--psu-ip "example.com" is not an IP address'],
    [['--psu-ip', '192.0.2.256'], '--psu-ip "192.0.2.256" is not an IP address'],
    [['--lang', 'it\r\nX: y'], '--lang "it\\r\\nX: y" is not a language tag'],
  ])('%j is a usage error', (args, message) => {
    expect(() => read(args)).toThrow(expect.objectContaining({ code: 'usage', message }));
  });

  it.each(['PSD2_TIMEOUT', 'PSD2_SCA_TIMEOUT', 'PSD2_PSU_IP', 'PSD2_LANG'])(
    'the error for a wrong value in %s names the variable',
    (name) => {
      expect(() => read([], { [name]: 'a_b' })).toThrow(`${name} "a_b" is not`);
    },
  );

  it('an unknown grant is an error', () => {
    expect(() => parse(['--grant', 'password'])).toThrow("'password' is invalid");
  });
});

describe('the output mode', () => {
  it('the default output is a table without colour, and options change it', () => {
    expect(outputMode([])).toEqual({
      format: 'table',
      bareStrings: false,
      noInput: false,
      quiet: false,
      colour: false,
      mayHaveColour: true,
    });
    expect(outputMode(['-q', '--no-input', '-o', 'ndjson'])).toMatchObject({
      format: 'ndjson',
      noInput: true,
      quiet: true,
    });
  });

  it.each<[string[], Record<string, string>, string]>([
    [['--json'], {}, 'json'],
    [['-o', 'ndjson'], { PSD2_OUTPUT: 'json' }, 'ndjson'],
    [[], { PSD2_OUTPUT: 'json' }, 'json'],
    [['--json'], { PSD2_OUTPUT: 'ndjson' }, 'json'],
    [[], { PSD2_OUTPUT: '' }, 'table'],
    [['--json'], { PSD2_OUTPUT: 'xml' }, 'json'],
    [['--query', 'a'], { PSD2_OUTPUT: 'table' }, 'json'],
    [['--query', 'a'], { PSD2_OUTPUT: 'csv' }, 'csv'],
  ])('with %j and %j the format is %s', (args, env, format) => {
    expect(outputMode(args, env).format).toBe(format);
  });

  it('-r prints the strings of a query bare, needs a query, and does not work with CSV', () => {
    expect(outputMode(['--query', 'a', '-r'])).toMatchObject({ format: 'json', bareStrings: true });
    for (const args of [['-r'], ['--json', '-r'], ['--query', 'a', '-r', '-o', 'csv']])
      expect(() => outputMode(args)).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it('an unknown format is a usage error', () => {
    expect(() => outputMode(['-o', 'xml'])).toThrow(expect.objectContaining({ code: 'usage' }));
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

describe('--query', () => {
  it('--query changes a table to JSON and leaves other formats', () => {
    expect(outputMode(['--query', '[0]'], {}, true)).toMatchObject({ format: 'json', query: '[0]' });
    expect(outputMode(['--query', '[0]', '-o', 'ndjson'])).toMatchObject({ format: 'ndjson' });
    expect(outputMode(['--query', '[0]', '-o', 'csv'])).toMatchObject({ format: 'csv' });
    expect(outputMode([])).toMatchObject({ format: 'table', query: undefined });
  });

  it.each([[['-o', 'table']], [['--raw']]])('--query excludes %j', (args) => {
    expect(() => outputMode(['--query', '[0]', ...args])).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});
