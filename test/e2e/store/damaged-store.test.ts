import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { keepRunning, readDocument, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { tokensFile } from '../support/tokens-file.ts';

const operator = keepRunning(useLoggedIn());
const ORDER = [
  ...['transfer', 'create', '--yes', '--from', '0010482620', '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '1.00'],
];
const transfer = (...options: string[]) => operator.json(shapes.transfer, [...ORDER, ...options]);

let copies = 0;
/** A copy of the operator's configuration folder, for a test to damage. */
function copyConfig(): string {
  copies += 1;
  const config = join(operator.folder, `copy-${copies}`);
  cpSync(operator.config, config, { recursive: true });
  return config;
}

const read = (config: string, args: string[]) =>
  operator.psd2([...args, '--json'], { env: { PSD2_CONFIG_DIR: config, PSD2_PROFILE: undefined } });

const keptBeside = (path: string) =>
  readdirSync(dirname(path)).filter((name) => name.startsWith(`${basename(path)}.damaged-`));

const FILES: [string, (config: string) => string][] = [
  ['the chosen profile', (config) => join(config, 'config.json')],
  ['the settings', (config) => join(config, 'profiles', 'sandbox.json')],
  ['the tokens', (config) => tokensFile(config)],
  ['the last login', (config) => join(config, 'tokens', 'sandbox', 'last-login.json')],
];
const DAMAGES: [string, RegExp, (path: string) => void][] = [
  ['cut short', /is damaged: it is not JSON/, (path) => truncateSync(path, 9)],
  ['empty', /is damaged: it is not JSON/, (path) => truncateSync(path)],
  ['garbage', /is damaged: it is not JSON/, (path) => writeFileSync(path, '\0\u{1}garbage')],
  [
    'from a newer psd2',
    /was written by a newer psd2 \(format 9\)/,
    (path) => writeFileSync(path, '{"version":9}'),
  ],
  ['a folder', /is a folder, not a file/, (path) => replace(path, () => mkdirSync(path))],
  [
    'a named pipe',
    /is a named pipe, not a file/,
    (path) => replace(path, () => execFileSync('mkfifo', ['-m', '600', path])),
  ],
  [
    'a link to nothing',
    /is a link to away\.json, which does not exist/,
    (path) => replace(path, () => symlinkSync('away.json', path)),
  ],
];

function replace(path: string, make: () => void): void {
  rmSync(path);
  make();
}

describe.each(FILES)('%s', (_what, pathIn) => {
  beforeAll(async () => {
    expect(await operator.psd2(['profile', 'use', 'sandbox'])).toMatchObject({ code: 0 });
  });

  it.each(DAMAGES)('psd2 names the file if it is %s, and exits with 3', async (_how, message, damage) => {
    const config = copyConfig();
    const path = pathIn(config);
    damage(path);
    const error = readError(await read(config, ['accounts', 'list']));
    expect(error).toMatchObject({ code: 'config', exitCode: 3, message: expect.stringMatching(message) });
    expect(error.message).toContain(path);
    expect(error.hint).toMatch(/mv |Update psd2/);
  });

  it('psd2 follows a link to a file elsewhere', async () => {
    const config = copyConfig();
    const path = pathIn(config);
    const elsewhere = join(operator.folder, `elsewhere-${copies}.json`);
    cpSync(path, elsewhere);
    replace(path, () => symlinkSync(elsewhere, path));
    expect(await read(config, ['accounts', 'list'])).toMatchObject({ code: 0 });
  });
});

describe('a command that has to overwrite a damaged file', () => {
  it.each<[string, string[], (config: string) => string]>([
    ['auth login', ['auth', 'login'], tokensFile],
    ['auth login', ['auth', 'login'], (config) => join(config, 'tokens', 'sandbox', 'last-login.json')],
    ['profile use', ['profile', 'use', 'sandbox'], (config) => join(config, 'config.json')],
  ])('psd2 %s keeps the damaged file, and says where', async (_, args, pathIn) => {
    const config = copyConfig();
    const path = pathIn(config);
    const whole = readFileSync(path, 'utf8');
    truncateSync(path, 9);
    const ended = await operator.psd2(args, { env: { PSD2_CONFIG_DIR: config } });
    expect(ended.code, ended.stderr).toBe(0);
    const [kept = ''] = keptBeside(path);
    expect(ended.stderr).toContain(`${path} is damaged: it is not JSON. psd2 keeps it as `);
    expect(ended.stderr).toContain(kept);
    expect(readFileSync(join(dirname(path), kept), 'utf8')).toBe(whole.slice(0, 9));
    expect(await read(config, ['accounts', 'list'])).toMatchObject({ code: 0 });
  });
});

describe('the count of calls with client credentials', () => {
  it.each([
    ['a folder', (path: string) => mkdirSync(path)],
    ['a named pipe', (path: string) => execFileSync('mkfifo', ['-m', '600', path])],
  ])('a call works even if the count of calls is %s', async (_, make) => {
    const config = copyConfig();
    const env = { PSD2_CONFIG_DIR: config };
    expect(await operator.psd2(['auth', 'login', '--client-credentials'], { env })).toMatchObject({
      code: 0,
    });
    const list = ['accounts', 'list', '--grant', 'client_credentials', '--json'];
    expect(await operator.psd2(list, { env })).toMatchObject({ code: 0 });
    const counts = join(config, 'tokens', 'sandbox', 'client-credentials-calls');
    const [day = ''] = readdirSync(counts);
    replace(join(counts, day), () => make(join(counts, day)));
    const ended = await operator.psd2(list, { env });
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain(`The count of calls ${join(counts, day)} cannot be written`);
  });
});

describe('one damaged journal', () => {
  const journal = (flow: string, config = operator.config) =>
    join(config, 'flows', 'sandbox', `${flow}.ndjson`);
  const flows = { damaged: '', resource: '', other: '' };
  beforeAll(async () => {
    const first = await transfer('--reference', 'INV-1');
    const second = await transfer('--reference', 'INV-2');
    Object.assign(flows, { damaged: first.flow, resource: first.resourceId, other: second.flow });
  });

  /** A copy in which one line of the flow's journal is damaged. */
  function damageLine(number: number): string {
    const config = copyConfig();
    const path = journal(flows.damaged, config);
    const lines = readFileSync(path, 'utf8').split('\n');
    lines[number - 1] = '{"at":"garbage"}';
    writeFileSync(path, lines.join('\n'));
    return config;
  }

  it('psd2 names the damaged journal and its line, and lists, shows and pays the other flows', async () => {
    const config = damageLine(3);
    const path = journal(flows.damaged, config);
    const listed = await read(config, ['transfer', 'list']);
    expect(listed.code).toBe(0);
    expect(readDocument(shapes.transfers, listed.stdout).map(({ flow }) => flow)).toEqual([flows.other]);
    expect(listed.stderr).toContain(`The journal ${path} is damaged at line 3`);
    expect(await read(config, ['transfer', 'show', flows.other])).toMatchObject({ code: 0 });
    expect(await read(config, ['transfer', 'resume', flows.other, '--yes'])).toMatchObject({ code: 0 });
    for (const reference of [flows.damaged, flows.damaged.slice(0, -1), flows.resource]) {
      expect(readError(await read(config, ['transfer', 'show', reference]))).toMatchObject({
        code: 'config',
        exitCode: 3,
        message: `The journal ${path} is damaged at line 3`,
      });
    }
    expect(await read(config, [...ORDER, '--reference', 'INV-3'])).toMatchObject({ code: 0 });
    expect(readError(await read(config, ['profile', 'remove', 'sandbox', '--yes']))).toMatchObject({
      exitCode: 3,
      message: `The journal ${path} is damaged at line 3`,
    });
  });

  it.each([
    ['asks for its outcome', /"executed"/, 'does not have the line with its resource at the bank'],
    [
      'waits for its customer',
      /"(?:executed|execute-sent|authorization|sca-returned)"/,
      'is older than what psd2 knows',
    ],
  ])(
    'psd2 does not resume a journal without the line of its resource, where the flow %s',
    async (_, later, what) => {
      const config = copyConfig();
      const path = journal(flows.damaged, config);
      const whole = readFileSync(path, 'utf8').split('\n');
      const lines = whole.filter((line) => !later.test(line) && !line.includes('"verified"'));
      const resume = async () =>
        readError(await read(config, ['transfer', 'resume', flows.damaged, '--yes']));
      writeFileSync(path, lines.join('\n'));
      expect(await resume()).toMatchObject({
        code: 'config',
        exitCode: 3,
        message: `The journal ${path} is damaged at line 3`,
      });
      // As if no line was missing.
      writeFileSync(
        path,
        lines.map((line, index) => line.replace(/"n":\d+,/, `"n":${index + 1},`)).join('\n'),
      );
      expect(await resume()).toMatchObject({
        code: 'config',
        exitCode: 3,
        message: expect.stringContaining(what),
      });
    },
  );

  it.each([
    ['in its middle', 3, true],
    ['in its middle, without the index', 3, false],
    ['at its beginning', 1, true],
  ])('a journal that is damaged %s keeps its reference', async (_, line, indexed) => {
    const config = damageLine(line);
    if (!indexed) rmSync(join(config, 'flows', 'sandbox', 'index'));
    expect(readError(await read(config, [...ORDER, '--reference', 'INV-1']))).toMatchObject({
      code: 'duplicate_reference',
      exitCode: 2,
      message: expect.stringContaining(`by transfer ${flows.damaged}, whose outcome cannot be read`),
    });
  });

  it('a journal whose reference cannot be read blocks every reference, but no transfer without one', async () => {
    const config = damageLine(1);
    rmSync(join(config, 'flows', 'sandbox', 'index'));
    expect(readError(await read(config, [...ORDER, '--reference', 'INV-4']))).toMatchObject({
      code: 'config',
      exitCode: 3,
      message: `The journal ${journal(flows.damaged, config)} is damaged at line 1, so psd2 cannot tell which reference ${flows.damaged} has`,
    });
    expect(await read(config, ORDER)).toMatchObject({ code: 0 });
  });

  it.each([
    ['emptied', (path: string) => truncateSync(path)],
    ['a folder', (path: string) => replace(path, () => mkdirSync(path))],
    ['a named pipe', (path: string) => replace(path, () => execFileSync('mkfifo', ['-m', '600', path]))],
    ['a link to nothing', (path: string) => replace(path, () => symlinkSync('away', path))],
  ])('psd2 does not forget the flow of a journal that is %s', async (_, damage) => {
    const config = copyConfig();
    const path = journal(flows.damaged, config);
    damage(path);
    expect(readError(await read(config, [...ORDER, '--reference', 'INV-1']))).toMatchObject({
      code: 'duplicate_reference',
    });
    const error = readError(await read(config, ['transfer', 'show', flows.damaged]));
    expect(error).toMatchObject({ code: 'config', exitCode: 3 });
    expect(error.message).toContain(path);
  });

  it('psd2 finds references and flows even if the index is damaged or missing', async () => {
    const config = copyConfig();
    const index = join(config, 'flows', 'sandbox', 'index');
    for (const damage of [
      () => writeFileSync(index, readFileSync(index, 'utf8').replaceAll('INV-1', 'INV-9')),
      () => truncateSync(index, 20),
      () => rmSync(index),
      () => replace(index, () => mkdirSync(index)),
    ]) {
      damage();
      expect(readError(await read(config, [...ORDER, '--reference', 'INV-1']))).toMatchObject({
        code: 'duplicate_reference',
        exitCode: 2,
      });
      expect(await read(config, ['transfer', 'show', flows.resource])).toMatchObject({ code: 0 });
    }
  });
});
