import fs, { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { glanceAtFiles } from '../../../src/store/files/glance.ts';
import { glanceAtProfiles, type StoreFolder } from '../../../src/store/machine/folder.ts';
import { StoreMemory } from '../../../src/store/machine/store-choice.ts';
import { glanceAt } from '../../../src/store/open.ts';
import { openBelow } from '../open-files.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { replace } from '../waiting.ts';

const temporary = temporaryFolder();
let folder: StoreFolder;

beforeEach(() => {
  folder = newConfigFolder(temporary);
});

const glance = () => glanceAtFiles(folder, 'bank');
/** Puts files with this content into a folder. */
function put(place: string, content: string, ...names: string[]): void {
  mkdirSync(place, { recursive: true });
  for (const name of names) writeFileSync(join(place, name), content);
}
const first = (type: string) => `{"at":"2026-11-21T10:00:00.000Z","event":{"type":"${type}"}}`;
const begun = async (...[kind, most = 9]: [Parameters<ReturnType<typeof glance>['begun']>[0]?, number?]) =>
  (await glance().begun(kind, most)).map(({ flow }) => flow);

describe('what completion offers for a profile', () => {
  it('customers are offered in order, each with a folder', async () => {
    const tokens = folder.tokens('bank');
    put(tokens, '', 'client-credentials.json', 'customer-X', 'last-login.json', 'customer-8.json.lock');
    put(join(tokens, 'access-notes'), '', 'customer-9.json');
    for (const name of ['customer-42', 'customer-1234567', 'customer-_41nna', 'old-customer-5'])
      mkdirSync(join(tokens, name));
    expect(await glance().customers()).toEqual(['1234567', '42', 'Anna']);
  });

  it('flows are offered with their first event, the newest first, whatever their kind', async () => {
    const flows = folder.flows('bank');
    put(flows, `${first('created')}\n{"at":"later"}\n`, 'tr-0002.ndjson', 'co-0003.ndjson', 'op-0001.ndjson');
    expect(await glance().begun(undefined, 9)).toEqual(
      ['co-0003', 'tr-0002', 'op-0001'].map((flow) => ({
        flow,
        at: '2026-11-21T10:00:00.000Z',
        event: { type: 'created' },
      })),
    );
  });

  it('flows of another kind, and those beyond the limit, are not offered', async () => {
    const flows = folder.flows('bank');
    const names = ['tr-0001', 'co-0002', 'tr-0003', 'op-0004', 'tr-0005'];
    put(flows, first('created'), ...names.map((name) => `${name}.ndjson`));
    expect(await begun('transfer')).toEqual(['tr-0005', 'tr-0003', 'tr-0001']);
    expect(await begun('transfer', 2)).toEqual(['tr-0005', 'tr-0003']);
    expect(await begun('consent')).toEqual(['co-0002']);
    expect(await begun('operation')).toEqual(['op-0004']);
  });

  it('files that are not journals are not offered', async () => {
    put(
      folder.flows('bank'),
      first('created'),
      ...['tr-1.ndjson', 'index', 'tr-1.ndjson.lock', 'tr-.ndjson', 'x-tr-1.ndjson', 'xy-3.ndjson'],
    );
    expect(await begun()).toEqual(['tr-1']);
  });

  it.each([
    ['is empty', ''],
    ['is not JSON', '{"at":'],
    ['is a text', '"event"'],
    ['is a number', '7'],
    ['is null', 'null'],
    ['has no event', '{"at":"2026-11-21T10:00:00.000Z"}'],
    ['has no event that is an object', '{"event":"created"}'],
    ['has no event at all', '{"event":null}'],
  ])('a flow whose first line %s is not offered', async (_, line) => {
    put(folder.flows('bank'), `${line}\n${first('created')}\n`, 'tr-0001.ndjson');
    put(folder.flows('bank'), first('created'), 'tr-0002.ndjson');
    expect(await begun()).toEqual(['tr-0002']);
  });

  it('batches are offered, the newest first, without those that cannot be read', async () => {
    const [old, young, damaged] = ['a', 'b', 'c'].map((digit) => digit.repeat(64));
    const events = (batch = '') => `${folder.flows('bank')}/batches/${batch}/events`;
    const added = (at: string) => JSON.stringify({ at, event: { type: 'added', count: 2, by: 'Ada' } });
    put(events(old), added('2026-11-01T08:00:00Z'), '1');
    put(events(young), added('2026-11-02T08:00:00Z'), '1');
    put(events(damaged), '{', '1');
    put(`${folder.flows('bank')}/batches`, '', 'add.lock');
    expect((await glance().batches(9)).map(({ batch }) => batch)).toEqual([young, old]);
    // Of more than are offered, the oldest is left out, whatever its id.
    const oldest = 'd'.repeat(64);
    put(events(oldest), added('2026-10-01T08:00:00Z'), '1');
    expect((await glance().batches(2)).map(({ batch }) => batch)).toEqual([young, old]);
    expect(await glance().batches(1)).toMatchObject([{ batch: young, event: { count: 2, by: 'Ada' } }]);
  });

  it.each(['{"event":{}}', '{"at":7,"event":{}}'])('a flow without a time is offered: %s', async (line) => {
    put(folder.flows('bank'), line, 'tr-0001.ndjson');
    expect(await glance().begun('transfer', 1)).toEqual([{ flow: 'tr-0001', at: '', event: {} }]);
  });

  it('only the first 8 KiB of a journal are read', async () => {
    const lineOf = (size: number) => {
      const begin = '{"event":{"x":"';
      return `${begin}${'x'.repeat(size - begin.length - 3)}"}}`;
    };
    put(folder.flows('bank'), `${lineOf(8 * 1024)}\n`, 'tr-0001.ndjson');
    put(folder.flows('bank'), `${lineOf(8 * 1024 + 1)}\n`, 'tr-0002.ndjson');
    expect(await begun()).toEqual(['tr-0001']);
  });

  it('a journal is closed after its first line was read', async () => {
    put(folder.flows('bank'), first('created'), 'tr-0001.ndjson');
    expect(await begun()).toHaveLength(1);
    expect(openBelow(folder.root)).toEqual([]);
  });

  it('nothing is offered for a profile without data, or with something else in its place', async () => {
    expect(await glance().customers()).toEqual([]);
    expect(await begun()).toEqual([]);
    mkdirSync(join(folder.flows('bank'), 'tr-0001.ndjson'), { recursive: true });
    expect(await begun()).toEqual([]);
    put(join(folder.root, 'tokens'), '', 'bank');
    expect(await glance().customers()).toEqual([]);
  });

  it('without a database, completion looks at the files', async () => {
    put(folder.flows('bank'), first('created'), 'tr-0001.ndjson');
    expect(await (await glanceAt(folder, 'bank', {})).begun('transfer', 9)).toHaveLength(1);
    await expect(glanceAt(folder, 'bank', { PSD2_STORE: '/var/lib/psd2' })).rejects.toMatchObject({
      code: 'config',
      message: 'PSD2_STORE is not the address of a database',
    });
    // A command would refuse that store now.
    const database = { id: 'id-1', shown: 'db/bank', address: 'postgres://db/bank', isSet: false };
    const memory = new StoreMemory(folder, 'bank');
    memory.replace({ home: 'files', isSet: false });
    const elsewhere = await glanceAt(folder, 'bank', { PSD2_STORE: database.address });
    expect([await elsewhere.begun('transfer', 9), await elsewhere.customers()]).toEqual([[], []]);
    memory.replace({ home: 'postgres', ...database });
    expect(await (await glanceAt(folder, 'bank', {})).begun('transfer', 9)).toEqual([]);
  });
});

describe('what completion offers for the profiles', () => {
  it('profiles are offered by name, in order', () => {
    put(folder.profiles, '', 'zeta.json', 'a.b.json', 'alpha.json', 'alpha.json.lock', 'notes', '.json');
    expect(glanceAtProfiles(folder).names()).toEqual(['a.b', 'alpha', 'zeta']);
    // However the disk lists them.
    replace(fs, 'readdirSync', () => ['b.json', 'c.json', 'a.json']);
    expect(glanceAtProfiles(folder).names()).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['{"currentProfile":"bank"}', 'bank'],
    ['{}', undefined],
    ['{"currentProfile":7}', undefined],
    ['null', undefined],
    ['"currentProfile"', undefined],
    ['{"currentProfile":"ba', undefined],
  ])('with the configuration %s, the current profile is %s', (content, current) => {
    put(folder.root, content, 'config.json');
    expect(glanceAtProfiles(folder).current()).toBe(current);
  });

  it('without a configuration there is no profile, and no current one', () => {
    expect([glanceAtProfiles(folder).names(), glanceAtProfiles(folder).current()]).toEqual([[], undefined]);
  });
});
