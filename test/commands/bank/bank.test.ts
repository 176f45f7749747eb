import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ScaLinks } from '../../../src/bank/ports/customer.ts';
import { check } from '../../../src/commands/bank/check.ts';
import { list } from '../../../src/commands/bank/list.ts';
import { show } from '../../../src/commands/bank/show.ts';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { doorBankFile } from '../../../src/sandbox/folder/door-bank-file.ts';
import type { Environment } from '../../../src/store/machine/settings.ts';
import { transferOrder, VERIFIED } from '../../domain/orders.ts';
import { INITIATION } from '../../flows/stored-transfers.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { recording, storeConsentFlow } from '../access.ts';
import { type Command, cellsIn, type How, openCommand, runIn } from '../command.ts';
import { failureIfAny, failureOf } from '../failure.ts';
import { useOperatorHere } from '../operator.ts';

const temporary = temporaryFolder();

/** Writes a bank file. @returns its path */
function write(name: string, content: unknown): string {
  const path = join(temporary, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

/** What JSON of a verb has, with an option or without. */
const SHAPES = new Map([
  ['check', check.prints],
  ['check --online', check.printsWith?.['--online']],
  ['show', show.prints],
  ['show --explain', show.printsWith?.['--explain']],
  ['list', list.prints],
]);

/** Runs `psd2 bank …`. @returns what it printed, also as JSON if it is, and how it failed */
async function run(words: string[], how: How = {}) {
  const command = openCommand(newConfigFolder(temporary), '2026-03-01T00:00:00.000Z', how);
  const failure = await failureIfAny(runIn(command.context, 'bank', ...words));
  const printed = command.printed();
  const data: unknown = how.format === undefined && printed !== '' ? JSON.parse(printed) : undefined;
  const option = words.find((word) => word.startsWith('--'));
  if (data !== undefined)
    expect(SHAPES.get([words[0], ...(option ? [option] : [])].join(' '))?.shape.is(data)).toBe(true);
  return { failure, printed, data, said: command.said() };
}

const HERE = 'https://127.0.0.2:1';
const RIGHT = { interface: 'nextgenpsd2', extends: 'sparda', psu: { id: 'required' } };
const refused = (path: string, problems: string) => ({
  ...{ code: 'config', exitCode: 3, message: `The bank file ${path} has ${problems}` },
  hint: 'See the fields of a bank file:',
  next: [
    ['help', 'bank-file'],
    ['schema', 'bank'],
  ],
});

describe('psd2 bank check', () => {
  const checked = z.looseObject({
    values: z.nullable(z.looseObject({})),
    defaults: z.array(z.string()),
    problems: z.array(z.object({ path: z.string(), line: z.nullable(z.int()), message: z.string() })),
  });

  it('of a file that is right has the values in force, and says which are defaults', async () => {
    const { data, failure } = await run(['check', write('right.json', RIGHT)]);
    const { values, defaults, ...rest } = checked.parse(data);
    expect(rest).toEqual({
      ...{ ok: true, name: 'Sparda-Banken', interface: 'nextgenpsd2', problems: [], variables: [] },
    });
    expect(values).toMatchObject({ psu: { id: 'required', ip: 'own' }, oauth: { mode: 'pre-step' } });
    expect(defaults).toContain('psu.ip');
    expect(defaults).not.toContain('psu.id');
    expect(failure).toBeNull();
  });

  it('says which variables of the environment go to the bank, if any do', async () => {
    const headers = (...names: string[]) => ({
      static: Object.fromEntries(names.map((name, index) => [`x-${index}`, `env:PSD2_BANK_${name}`])),
    });
    const env = { PSD2_BANK_ONE: '1', PSD2_BANK_TWO: '2' };
    const variables = async (...names: string[]) => {
      const path = write('headers.json', { ...RIGHT, headers: headers(...names) });
      const { said, failure } = await run(['check', path], { env, format: 'table' });
      return [failure, said.split('\n').filter((line) => line.includes('variables'))];
    };
    const says = 'psd2 takes these variables of the environment and sends them to the bank: ';
    expect(await variables()).toEqual([null, []]);
    expect(await variables('ONE')).toEqual([null, [`${says}PSD2_BANK_ONE`]]);
    expect(await variables('ONE', 'TWO')).toEqual([null, [`${says}PSD2_BANK_ONE, PSD2_BANK_TWO`]]);
  });

  it('as a table each value stands with where it is from', async () => {
    const rows = cellsIn((await run(['check', write('right.json', RIGHT)], { format: 'table' })).printed);
    expect(rows).toContainEqual(['psu.id', 'required', 'file']);
    expect(rows).toContainEqual(['psu.ip', 'own', 'default']);
    expect(rows).toContainEqual(['oauth.mode', 'pre-step', 'file']);
    // What is no text is as in the file.
    expect(rows.some(([, value]) => value === 'true' || value === 'false')).toBe(true);
    const how = { format: 'table', columns: 200 } as const;
    const { printed: drawn } = await run(['check', write('right.json', RIGHT)], how);
    expect(drawn.split('\n')[0]?.trim().split(/ {2,}/)).toEqual(['FIELD', 'VALUE', 'FROM']);
    // A field stays whole where a value is wrapped.
    const narrow = await run(['check', write('right.json', RIGHT)], { format: 'table', columns: 64 });
    expect(narrow.printed).toMatch(/^payments\.products\.periodic-payments {2}/m);
  });

  it.each([
    ['1 problem', { ...RIGHT, signing: { when: 'sometimes' } }, ['signing.when']],
    ['2 problems', { ...RIGHT, signing: { when: 'sometimes' }, psu: { id: 7 } }, ['psu.id', 'signing.when']],
  ])('of a file with %s names each field, and fails', async (count, content, paths) => {
    const path = write('wrong.json', content);
    const { data, failure } = await run(['check', path]);
    expect(data).toMatchObject({ ok: false, values: null, defaults: [] });
    const { problems } = checked.parse(data);
    expect(problems.map((each) => each.path).sort()).toEqual(paths);
    expect(failure).toEqual(refused(path, count));
    const table = await run(['check', path], { format: 'table' });
    expect(table.printed).toBe(
      problems.map((each) => `${each.line}\t${each.path}\t${each.message}\n`).join(''),
    );
    const drawn = await run(['check', path], { format: 'table', columns: 200 });
    expect(drawn.printed.split('\n')[0]?.trim().split(/ {2,}/)).toEqual(['LINE', 'FIELD', 'PROBLEM']);
  });

  it('names everything that is wrong in one round, with its line, and nothing that only follows from it', async () => {
    const lines = [
      '{ "interface": "nextgenpsd2", "extends": "sparda",',
      '  "psu": { "id": 7 }, "signing": { "headrs": [] },',
      '  "banks": [{ "name": "A" },',
      '    { "name": "B", "country": "Germany" }],',
      '  "payments": { "repeat": "same-answer" },',
      '  "oauth": { "mode": "nothing", "applicationToken": true },',
      '  "headers": { "static": { "Accept": "a/b", "digest": "x" } } }',
    ];
    const path = join(temporary, 'many.json');
    writeFileSync(path, lines.join('\n'));
    const { data, failure } = await run(['check', path]);
    const { problems } = checked.parse(data);
    expect(problems.map(({ path, line }) => `${line} ${path}`)).toEqual([
      ...['2 psu.id', '2 signing.headrs', '4 banks[1].country', '5 payments.repeatMinutes'],
      ...['6 oauth.mode', '7 headers.static.digest'],
    ]);
    expect(failure).toMatchObject({ exitCode: 3 });
    writeFileSync(path, '{\n  "interface" 1 }');
    const broken = checked.parse((await run(['check', path])).data);
    expect(broken.problems.map(({ line }) => line)).toEqual([2]);
  });

  it.each<[string, base: string, problems: string[]]>([
    ['nothing', '{ "interface": "nextgenpsd2" }', ['3 psu.id: ']],
    [
      'a field',
      '{ "interface": "nextgenpsd2",\n "signing": { "when": "sometimes" } }',
      ['null signing.when: In BASE, which this file extends: ', '3 psu.id: '],
    ],
    ['its form', '{\n "interface" 1 }', ['2 extends: ', '3 psu.id: ']],
  ])('names what is wrong in a file and in the one that it extends: there %s', async (_, base, problems) => {
    const path = join(temporary, 'extending.json');
    writeFileSync(join(temporary, 'base.json'), base);
    writeFileSync(path, '{ "interface": "nextgenpsd2",\n "extends": "base.json",\n "psu": { "id": 7 } }');
    const { data } = await run(['check', path]);
    const lines = checked.parse(data).problems.map((each) => `${each.line} ${each.path}: ${each.message}`);
    expect(lines.map((line) => line.replace(join(temporary, 'base.json'), 'BASE'))).toEqual(
      problems.map((each) => expect.stringMatching(each)),
    );
  });

  it.each<[string, string[], Environment, string]>([
    ['never', ['embedded'], { PSD2_BASE_URL: HERE }, 'The profile env allows: never.'],
    ['ask', ['embedded'], { PSD2_BASE_URL: HERE, PSD2_EMBEDDED: 'ask' }, 'The profile env allows: ask.'],
    [
      'without a profile',
      ['embedded'],
      { PSD2_BASE_URL: undefined },
      'A profile must allow it (setting embedded).',
    ],
    ['a bank with another way', ['redirect', 'embedded'], {}, 'Where it offers no other way, the bank has'],
  ])('of a bank with embedded SCA says what the profile allows: %s', async (_, approaches, env, says) => {
    const path = write('embedded.json', { interface: 'nextgenpsd2', sca: { approaches } });
    const { failure, said } = await run(['check', path], { env, format: 'table' });
    expect([failure, said]).toEqual([null, expect.stringContaining(says)]);
    expect(said).toContain('embedded SCA: customers give psd2 PIN and TAN.');
    const other = await run(['check', write('right.json', RIGHT)], { env, format: 'table' });
    expect(other.said).toMatchInlineSnapshot(`
      "Two fields of the bank file decide what a refused payment proves.
      payments.executesWithoutSca is not known: nobody has said it. psd2 assumes possible.
      sca.approaches is not known: nobody has said it. psd2 assumes redirect.
      So after most refusals the outcome is unknown (exit code 9), the reference stays reserved, and somebody must look at the statement. If the bank's documentation says that no payment runs without SCA, write "never".
      "
    `);
  });

  it('--online does not ask the bank that a wrong file describes', async () => {
    const path = write('wrong.json', { ...RIGHT, signing: { when: 'sometimes' } });
    const { data, failure } = await run(['check', '--online', path]);
    expect(data).toMatchObject({ ok: false, checks: [], problems: [{ path: 'signing.when' }] });
    expect(failure).toEqual(refused(path, '1 problem'));
    const table = await run(['check', '--online', path], { format: 'table' });
    expect(table.printed).toMatch(/^1\tsigning\.when\t/);
    expect(table.failure).toEqual(failure);
  });

  it('--online says what it found at the bank, and fails as the first check does', async () => {
    const path = write('online.json', { ...RIGHT, api: { baseUrl: 'https://127.0.0.1:1/psd2' } });
    const { data, failure } = await run(['check', '--online', path], {
      env: { PSD2_BASE_URL: 'https://no-such-bank.invalid' },
    });
    // The base URL of the file counts more than that of the profile.
    const dns = { name: 'DNS', status: 'skip', detail: '127.0.0.1 is an address', fix: null };
    expect(data).toMatchObject({
      ...{ ok: false, problems: [], name: 'Sparda-Banken', checks: expect.arrayContaining([dns]) },
    });
    expect(failure).toMatchObject({ exitCode: 3, message: expect.stringMatching(/checks failed: /) });
    const table = await run(['check', '--online', path], { format: 'table' });
    expect(table.printed).toContain('skip\tDNS\t127.0.0.1 is an address\t');
  });

  it('--online takes the base URL of the profile for a file without one', async () => {
    const { printed } = await run(['check', '--online', write('no-url.json', RIGHT)], {
      env: { PSD2_BASE_URL: 'https://127.0.0.2:1' },
    });
    expect(printed).toContain('127.0.0.2 is an address');
  });
});

describe('psd2 bank show', () => {
  it('prints a bank file that says the same, indented for a person, and refuses a wrong file', async () => {
    const path = write('right.json', RIGHT);
    const { data } = await run(['show', path]);
    expect(data).toMatchObject({ psu: { id: 'required' }, oauth: { mode: 'pre-step' } });
    expect(data).not.toHaveProperty('extends');
    const person = await run(['show', path], { format: 'table' });
    expect(person.printed).toBe(`${JSON.stringify(data, null, 2)}\n`);
    const { failure, printed } = await run(['show', write('wrong.json', { interface: 'other' })]);
    expect([failure?.exitCode, printed]).toEqual([3, '']);
  });

  it('without a name prints the bank of the profile, if it has a bank file', async () => {
    const path = write('profile.json', RIGHT);
    const { data } = await run(['show'], { env: { PSD2_BANK: path } });
    expect(data).toMatchObject({ platform: 'sparda', psu: { id: 'required', ip: 'own' } });
    const { failure } = await run(['show']);
    expect(failure).toMatchObject({
      ...{ exitCode: 2, next: [['bank', 'list']] },
      message: 'The profile env has no bank file: its bank has the step interface (cb)',
    });
    const { failure: unnamed } = await run(['show', '--explain']);
    expect(unnamed).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('--explain needs the name'),
    });
  });

  it('--explain prints each value with where it is from; at a terminal as a paragraph', async () => {
    const path = write('own.json', { ...RIGHT, source: 'our notes' });
    const { data } = await run(['show', path, '--explain']);
    expect(data).toContainEqual({
      ...{ field: 'psu.id', value: 'required', from: path },
      ...{ source: 'our notes', sureness: null, differs: null },
    });
    const { printed } = await run(['show', 'paysera', '--explain'], { format: 'table' });
    expect(printed).toContain('signing.when\talways\tdefault\tcontested: mutual TLS with the QWAC');
    const drawn = await run(['show', 'paysera', '--explain'], { format: 'table', columns: 80 });
    expect(drawn.printed).toContain('\nsigning.when: always\n  default, contested: mutual TLS');
    expect(Math.max(...drawn.printed.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});

describe('psd2 bank list', () => {
  const platforms = z.array(
    z.object({
      ...{ name: z.string(), bank: z.nullable(z.string()), countries: z.array(z.string()) },
      ...{ login: z.string(), source: z.nullable(z.string()), verifiedOn: z.nullable(z.string()) },
      differs: z.array(z.string()),
    }),
  );

  it('names each platform, whose it is, and in which fields it differs; in a table a line each', async () => {
    const found = platforms.parse((await run(['list'])).data);
    expect(found.find(({ name }) => name === 'standard')?.differs).toEqual([]);
    const [first, ...others] = found.map(({ name }) => name);
    expect([first, others]).toEqual(['standard', others.toSorted((one, other) => one.localeCompare(other))]);
    const sparda = found.find(({ name }) => name === 'sparda');
    expect(sparda?.bank).toBe('Sparda-Banken');
    expect(sparda?.source).toMatch(/^https:/);
    expect(sparda?.differs).toContain('oauth.mode');
    for (const { differs } of found) {
      expect(new Set(differs).size).toBe(differs.length);
      for (const field of ['name', 'source', 'interface', 'verifiedOn']) expect(differs).not.toContain(field);
    }
    const { printed } = await run(['list'], { format: 'table' });
    expect(printed.split('\n')).toContain('sparda\tSparda-Banken\tDE\tredirect, after a login with OAuth');
    const drawn = await run(['list'], { format: 'table', columns: 80 });
    const titles = ['NAME', 'BANK', 'COUNTRY', 'LOGIN'];
    expect(drawn.printed.split('\n')[0]?.trim().split(/ {2,}/)).toEqual(titles);
  });

  const STEP =
    'The step interface (cb) needs no platform. You recognise it: its paths begin with /private/customers/, and a payment is inserted, authorised, and then executed with a call of its own.\n';
  it.each([
    ['no words', [], STEP],
    ['words that some have', ['sparda'], ''],
    [
      'words that none has',
      ['sparda', 'Spain\u001b'],
      'No platform has sparda Spain\ufffd in its name, its banks, their countries or its login\n',
    ],
  ])('says beside the list what is not in it: with %s', async (_, words, said) => {
    expect((await run(['list', ...words], { format: 'table' })).said).toBe(said);
  });

  it('of each platform names what nobody else says of it', async () => {
    const found = platforms.parse((await run(['list'])).data);
    const of = (wanted: string) => found.find(({ name }) => name === wanted);
    expect(of('standard')).toEqual({
      ...{
        name: 'standard',
        bank: 'NextGenPSD2 1.3',
        countries: [],
        login: 'redirect',
        source: of('standard')?.source,
      },
      ...{ verifiedOn: null, differs: [] },
    });
    expect(of('argenta')?.countries).toEqual(['BE']);
    expect(of('adorsys')?.verifiedOn).toMatch(/^\d{4}-\d\d-\d\d, /);
    expect(of('commerzbank-sandbox')?.differs.join(' ')).not.toMatch(/about|banks|platform|learned/);
  });

  it.each([
    // The name of a country, its code and a login; a bank behind a platform; and nothing.
    [['Spain'], ['redsys']],
    [['nl', 'oauth'], expect.arrayContaining(['volksbank-nl'])],
    [['sabadell'], ['redsys']],
    [['sparda', 'spain'], []],
  ])('with the words %j it names those that have all of them', async (words, names) => {
    const found = platforms.parse((await run(['list', ...words])).data);
    expect(found.map(({ name }) => name)).toEqual(names);
  });
});

const operator = useOperatorHere();
const online = z.looseObject({
  ok: z.boolean(),
  checks: z.array(
    z.object({ name: z.string(), status: z.string(), detail: z.string(), fix: z.nullable(z.string()) }),
  ),
});

/** The bank file of the second door of the sandbox, with changes. @returns its path */
function doorFile(change: (text: string) => string = (text) => text): string {
  const { caFile } = operator.bank.sandbox.registration;
  const path = join(temporary, 'door.json');
  writeFileSync(path, change(readFileSync(doorBankFile(dirname(dirname(caFile))), 'utf8')));
  return path;
}

it('psd2 bank check --online of a bank that answers as its file says succeeds, with a result for each check', async () => {
  const words = ['bank', 'check', '--online', doorFile()];
  const command = await operator.run(words);
  const data: unknown = JSON.parse(command.printed());
  expect(SHAPES.get('check --online')?.shape.is(data)).toBe(true);
  const { ok, checks } = online.parse(data);
  expect([ok, command.said()]).toEqual([true, '']);
  expect(checks.map(({ name, status }) => `${status} ${name}`)).toEqual([
    ...['ok QWAC', 'ok QSealC', 'ok CA', 'ok bank signing certificate', 'ok proxy', 'skip DNS', 'ok TLS'],
    // The operator lives most of a minute from now.
    ...['warn clock', 'ok signature'],
  ]);
  const table = cellsIn((await operator.run(words, { format: 'table' })).printed());
  expect(table.map((row) => row.slice(0, 2))).toEqual(checks.map(({ name, status }) => [status, name]));
});

it('if the bank refuses the signature, psd2 says how to look for another keyId, and names contested values of the platform', async () => {
  const checksOf = async (platform: string) => {
    const change = (text: string) => text.replace('{', `{ ${platform}`).replace('"hex"', '"decimal"');
    const path = doorFile(change);
    const command = operator.open();
    const failure = await failureOf(runIn(command.context, 'bank', 'check', '--online', path));
    expect(failure).toMatchObject({ code: 'config', exitCode: 3 });
    return { path, ...online.parse(JSON.parse(command.printed())) };
  };
  const { path, ok, checks } = await checksOf('');
  expect(ok).toBe(false);
  expect(checks.at(-1)).toEqual({
    ...{ name: 'bank file', status: 'skip', fix: `Try them with: psd2 bank check --online ${path} --yes` },
    detail: expect.stringMatching(/^psd2 can try what banks are known to want: /),
  });
  const ofPlatform = await checksOf('"platform": "atruvia",');
  const said = ofPlatform.checks.find(({ name }) => name === 'contested');
  expect(said).toMatchObject({ status: 'warn', fix: expect.stringMatching(/documentation of the bank/) });
  expect(said?.detail).toMatch(
    /^sources differ about what may be the reason: .*signing\.keyId.* \(others have: a hexadecimal/,
  );
  // The call shows nothing of these.
  expect(said?.detail).not.toMatch(/sca|psu/);
});

type Keep = (context: Command['context'], id: string, links?: ScaLinks) => Promise<unknown>;
const keepConsents: Keep = (context, id, links) =>
  storeConsentFlow(
    context,
    {
      ...{ customerId: 'ada', categories: [{ name: 'ACCOUNT_INFO', products: [] }] },
      ...{ terms: {}, returnState: 's1' },
    },
    { type: 'requested', resourceId: id, outcomes: [], ...(links && { links }) },
    { type: 'ended', state: 'cancelled', bankStatus: null },
  );
const keepTransfers: Keep = async (context, id, links) => {
  const { flows } = await context.store();
  const order = transferOrder({ type: 'SEPA', instant: false });
  const begin = { transactionId: id, commits: 'by the customer' as const, order, initiation: INITIATION };
  await flows.begin(
    'transfer',
    begin,
    recording<TransferEvent>([
      { ...VERIFIED, resourceId: id, ...(links && { links }) },
      { type: 'cancelled' },
    ]),
  );
};
const ELSEWHERE = 'http://elsewhere.example';
const LEADS = "the bank's links lead elsewhere: scaStatus. psd2 calls the same at the base URL";

it.each<[string, Keep, path: string, ways: string[], newest: string | null]>([
  ['none', keepConsents, 'consents', [], null],
  ['a consent without links', keepConsents, 'consents', ['silent'], null],
  ['a consent with the base URL', keepConsents, 'consents', ['here'], null],
  ['consents', keepConsents, 'consents', ['odd', 'odd', 'silent'], 'c2'],
  ['transfers', keepTransfers, 'payments/sepa-credit-transfers', ['odd', 'odd', 'silent'], 'c2'],
  ['20 other consents since', keepConsents, 'consents', ['odd', ...Array<string>(20).fill('silent')], null],
  ['19 other consents since', keepConsents, 'consents', ['odd', ...Array<string>(19).fill('silent')], 'c1'],
])(
  'says once which links of the bank are odd, by those that are kept: %s',
  async (_, keep, path, ways, newest) => {
    operator.folder = newConfigFolder(temporary);
    const { context } = operator.open();
    for (const [index, way] of ways.entries()) {
      const id = `c${index + 1}`;
      const own = `/v1/${path}/${id}/authorisations`;
      const odd = { status: `http://xs2a:8080${own}/a1`, start: `${ELSEWHERE}/v1/${id}` };
      const links = { odd, here: { status: `${own}/a1`, start: own } }[way];
      await keep(context, id, links && { approach: null, ...links });
    }
    const command = await operator.run(['bank', 'check', '--online', doorFile()]);
    const { checks } = online.parse(JSON.parse(command.printed()));
    const foreign = `The bank's link startAuthorisation `;
    expect(checks.filter(({ name }) => name === 'links')).toEqual(
      newest === null
        ? []
        : [
            { ...{ name: 'links', status: 'ok', fix: null }, detail: LEADS },
            {
              ...{
                name: 'links',
                status: 'warn',
                fix: expect.stringContaining('api.paths of the bank file'),
              },
              detail: expect.stringMatching(new RegExp(`^${foreign}.*: ${ELSEWHERE}/v1/${newest}$`)),
            },
          ],
    );
    expect(command.said()).not.toContain('elsewhere.example');
  },
);
