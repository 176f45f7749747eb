import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { complete } from '../../src/cli/completion/complete.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { parseProductId } from '../../src/domain/identifiers.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import { storeLogin } from '../commands/access.ts';
import { openCommand } from '../commands/command.ts';
import { transferOrder } from '../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const SETTINGS = { baseUrl: 'https://psd2.bank.example', clientSecret: 'hush' };

let folder: StoreFolder;
/** The flow of each profile. */
let flows: Record<string, string>;

/** Three profiles with data of their own. `current` is the chosen one. */
beforeAll(async () => {
  folder = newConfigFolder(temporary);
  flows = {};
  for (const [index, profile] of ['current', 'named', 'other'].entries()) {
    const { context } = openCommand(folder, NOW, { env: { PSD2_BASE_URL: undefined }, globals: { profile } });
    await context.profiles.write(profile, SETTINGS);
    const [customerId, from] = [`100000${index}`, parseProductId(`000000100${index}`)];
    await storeLogin(context, customerId);
    const begin = {
      transactionId: context.world.newId(),
      commits: 'on execute' as const,
      order: transferOrder({ customerId, from }),
    };
    const { flows: journals } = await context.store();
    flows[profile] = await journals.begin('transfer', begin, async (open) => open.current.flow);
    const events = join(folder.flows(profile), 'batches', String(index).repeat(64), 'events');
    mkdirSync(events, { recursive: true });
    const event = { type: 'added', count: 2, by: 'Ada', note: 'wages' };
    writeFileSync(join(events, '1'), JSON.stringify({ at: NOW, event }));
  }
  await openCommand(folder, NOW).context.profiles.use('current');
});

/** What psd2 offers after these words. */
async function offered(words: string[], env: Record<string, string> = {}): Promise<string[]> {
  const program = await buildProgram('', { words });
  const completion = await complete(program, words, { PSD2_CONFIG_DIR: folder.root, ...env });
  return 'files' in completion ? [completion.files] : completion.values.map(([value]) => value);
}

describe.each([
  ['the chosen profile', [], {}, 'current', 0],
  ['--profile', ['--profile', 'named'], {}, 'named', 1],
  ['--profile=', ['--profile=named'], {}, 'named', 1],
  ['PSD2_PROFILE', [], { PSD2_PROFILE: 'other' }, 'other', 2],
  ['--profile beside PSD2_PROFILE', ['--profile', 'named'], { PSD2_PROFILE: 'other' }, 'named', 1],
  ['the last --profile', ['--profile', 'other', '--profile', 'named'], {}, 'named', 1],
  ['an empty PSD2_PROFILE', [], { PSD2_PROFILE: '' }, 'current', 0],
])('with %s', (_, words, env, profile, index) => {
  it('Tab offers the ids of that profile, and of no other', async () => {
    expect(await offered([...words, 'transfer', 'show', ''], env)).toEqual([flows[profile]]);
    expect(await offered([...words, '--customer', ''], env)).toEqual([`100000${index}`]);
    expect(await offered([...words, 'customer', 'export', ''], env)).toEqual([`100000${index}`]);
    expect(await offered([...words, 'batch', 'show', ''], env)).toEqual([String(index).repeat(64)]);
    expect(await offered([...words, 'audit', '--flow', ''], env)).toEqual([flows[profile]]);
    expect(await offered([...words, 'api', 'GET', '/v1/accounts', '--consent', ''], env)).toEqual([]);
    expect(await offered([...words, 'accounts', 'balance', ''], env)).toEqual([`000000100${index}`]);
  });
});

it('beside the id of a flow or a batch is what it is about', async () => {
  const described = async (...words: string[]) =>
    complete(await buildProgram('', { words }), words, { PSD2_CONFIG_DIR: folder.root });
  expect(await described('transfer', 'show', '')).toEqual({
    values: [[flows.current, expect.stringContaining('EUR to ')]],
  });
  expect(await described('batch', 'show', '')).toEqual({
    values: [['0'.repeat(64), '2 payments by Ada, wages, 2026-11-21 12:00']],
  });
});

it.each([
  ['a state of a transfer is offered', ['transfer', 'list', '--state', 'unk'], ['unknown']],
  ['an option that is given is not offered again', ['accounts', 'list', '--json', '--js'], []],
  ['an option that may be repeated is', ['consent', 'request', '--account', '1', '--acc'], ['--account']],
  ['no earlier name of an option', ['consent', 'request', '--prod'], []],
  [
    'a category for an option that takes several',
    ['consent', 'request', '--category', 'ACC'],
    ['ACCOUNT_INFO'],
  ],
  ['an account for an option that takes several', ['consent', 'request', '--account', ''], ['0000001000']],
  ['nothing of another kind of flow', ['consent', 'show', ''], []],
  ['after -- no options', ['accounts', 'list', '--', '--'], []],
  ['the folders for a folder', ['sync', '--out', ''], ['folders']],
  ['the files for a file', ['accounts', 'export', 'x', '--file', ''], ['files']],
  ['the choices after an equals sign', ['--grant=cl'], ['client_credentials']],
])('%s', async (_, words, values) => {
  expect(await offered(words)).toEqual(values);
});
