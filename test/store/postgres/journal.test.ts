import { beforeEach, describe, expect, it } from 'vitest';
import type { Open } from '../../../src/store/ports/flows.ts';
import { Claims } from '../../../src/store/postgres/claims.ts';
import { databaseSide } from '../../../src/store/postgres/copy/side.ts';
import { KeyTaken } from '../../../src/store/postgres/database.ts';
import { PostgresFlows } from '../../../src/store/postgres/flows/flows.ts';
import { NO_SOURCES } from '../../../src/store/secrets/vault.ts';
import { allOf, begun, opened, TRANSFER_BEGIN } from '../flows.ts';
import { BANK } from '../whole-store.ts';
import { useStores } from './stores.ts';

const stores = useStores();
const SENT = { type: 'verify-sent', requestId: 'r', digest: null } as const;

beforeEach(async () => {
  await stores.init();
});
const flows = () => stores.worker().open('p', BANK).flows;

describe('a journal in the database that someone has damaged', () => {
  /** A transfer with two events. */
  const transfer = async (reference = 'a') => {
    const open = await begun(flows(), 'transfer', TRANSFER_BEGIN(reference));
    await open.record(SENT);
    return open.current.flow;
  };
  const damagedAt = (flow: string, event: number) => ({
    code: 'config',
    message: `The journal of ${flow} at ${stores.database().shown} is damaged at event ${event}`,
    hint: 'It is the record of a flow. Restore it from a backup, or update psd2 if a newer version wrote it.',
  });

  const set = (content: string) => `update psd2.flow_events set ${content}`;
  const FIRST = '(select event from psd2.flow_events e where n = 1)';
  it.each([
    ['has garbage as its second event', set(`event = '{}'`), 'and n = 2', 2],
    ['has an event that cannot follow', set(`event = '{"type":"confirmed"}'`), 'and n = 2', 2],
    ['begins twice', set(`event = ${FIRST}`), 'and n = 2', 2],
    ['lacks its first event', 'delete from psd2.flow_events', 'and n = 1', 1],
    ['has a gap', set('n = 3'), 'and n = 2', 2],
    ['lacks all events', 'delete from psd2.flow_events', '', 1],
  ])('a journal that %s is not read or continued', async (_, sql, which, event) => {
    const flow = await transfer();
    stores.sql(`${sql} where flow = '${flow}' ${which}`);
    await expect(flows().find('transfer', flow)).rejects.toMatchObject(damagedAt(flow, event));
    await expect(opened(flows(), 'transfer', flow)).rejects.toMatchObject(damagedAt(flow, event));
  });

  it.each([
    ['lacks its first event', 'delete from psd2.flow_events', 'and n = 1', 1],
    ['has a gap', 'update psd2.flow_events set n = 3', 'and n = 2', 2],
    ['lacks all events', 'delete from psd2.flow_events', '', 1],
  ])('a journal that %s is not rewritten, not even in part', async (_, sql, which, event) => {
    const flow = await transfer();
    stores.sql(`${sql} where flow = '${flow}' ${which}`);
    const { personal } = stores.worker().open('p', BANK);
    const change = () => ({ type: 'cancelled' });
    await expect(personal.rewriteFlow(flow, change)).rejects.toMatchObject(damagedAt(flow, event));
    expect(stores.sql(`select count(*) from psd2.flow_events where event->>'type' = 'cancelled'`)).toBe('0');
  });

  it('a journal with a gap is not collected as that of its customer', async () => {
    const flow = await transfer();
    stores.sql(`update psd2.flow_events set n = 3 where flow = '${flow}' and n = 2`);
    const { personal } = stores.worker().open('p', BANK);
    await expect(personal.collect('42')).rejects.toMatchObject(damagedAt(flow, 2));
    expect((await personal.collect('43')).flows).toEqual([]);
  });

  it('its history is not shown', async () => {
    const flow = await transfer();
    stores.sql(`update psd2.flow_events set event = '{}' where flow = '${flow}' and n = 2`);
    await expect(flows().history(flow)).rejects.toMatchObject(damagedAt(flow, 2));
  });

  it('its reference stays taken, and the error says why its outcome is not known', async () => {
    const flow = await transfer('INV-1');
    stores.sql(`update psd2.flow_events set event = '{}' where flow = '${flow}'`);
    const { message, hint } = damagedAt(flow, 1);
    await expect(begun(flows(), 'transfer', TRANSFER_BEGIN('INV-1'))).rejects.toMatchObject({
      code: 'duplicate_reference',
      message: `The reference "INV-1" was used by transfer ${flow}, whose outcome cannot be read: ${message}`,
      hint,
    });
  });
});

it('a reference whose transfer failed while another one wanted it can be used a moment later', async () => {
  const first = (await begun(flows(), 'transfer', TRANSFER_BEGIN('INV-1'))).current.flow;
  const { proxy, through } = await stores.proxied();
  const behind = stores.worker({ address: through }).open('p', BANK).flows;
  // The other worker records its refusal right before this one looks who has the reference.
  const failed = `update psd2.flows set standing = 'refused' where flow = '${first}'`;
  proxy.dropNext(() => void stores.sql(failed), /and reference = .* standing <> 'refused'/s);
  await expect(begun(behind, 'transfer', TRANSFER_BEGIN('INV-1'))).rejects.toMatchObject({
    code: 'config',
    message: 'The reference was free again a moment later',
    hint: 'Run this again.',
  });
  expect(proxy.cuts()).toBe(1);
  expect((await begun(behind, 'transfer', TRANSFER_BEGIN('INV-1'))).current.state).toBe('created');
});

it('a database that refuses a flow for another reason than its reference says so', async () => {
  stores.sql('alter table psd2.flows add constraint public_id unique (transaction_id)');
  const begin = TRANSFER_BEGIN('a');
  await begun(flows(), 'transfer', begin);
  const other = { ...begin, order: { ...begin.order, reference: 'b' } };
  await expect(begun(flows(), 'transfer', other)).rejects.toBeInstanceOf(KeyTaken);
  expect(stores.sql('select reference from psd2.flows')).toBe('a');
});

it('a flow whose events are missing is damaged, and the list does not end with it', async () => {
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c'])
    ids.unshift((await begun(flows(), 'transfer', TRANSFER_BEGIN(name))).current.flow);
  stores.sql(`delete from psd2.flow_events where flow = '${ids[1]}'`);
  const damaged: string[] = [];
  const found = await allOf(flows(), 'transfer', { onDamaged: (_, flow) => damaged.push(flow) });
  expect(found.map(({ flow }) => flow)).toEqual([ids[0], ids[2]]);
  expect(damaged).toEqual([ids[1]]);
});

const find = (most = 5, except?: string) => flows().leftBehind(most, except);
const left = async (most?: number, except?: string) =>
  (await find(most, except)).flows.map(({ flow }) => flow);

/** A transfer that was interrupted after `work`. */
async function interrupted(
  work: (open: Open<'transfer'>) => Promise<unknown> = ({ record }) => record(SENT),
) {
  let flow = '';
  const begin = TRANSFER_BEGIN(crypto.randomUUID());
  const working = flows().begin('transfer', begin, async (open) => {
    flow = open.current.flow;
    await work(open);
    throw new Error('gone');
  });
  await expect(working).rejects.toThrow('gone');
  return flow;
}

describe('flows that were left behind', () => {
  it('a flow that has ended is not named or changed, even if its worker was killed before it could say so', async () => {
    const flow = await interrupted(({ record }) => record({ type: 'cancelled' }));
    const underWay = () => stores.sql(`select under_way from psd2.flows where flow = '${flow}'`);
    expect(underWay()).toBe('t');
    expect(await left()).toEqual([]);
    expect(underWay()).toBe('f');
  });

  it('one of last week is not named', async () => {
    const [young, old] = [await interrupted(), await interrupted()];
    stores.sql(
      `update psd2.flows set updated_at = now() - interval '${7 * 86_400 + 1} seconds' where flow = '${old}'`,
    );
    expect(await left()).toEqual([young]);
  });

  it('if the database does not answer, none is named', async () => {
    await interrupted();
    stores.sql('alter table psd2.flows rename to gone');
    expect(await find()).toEqual({ flows: [], more: 0 });
  });
});

describe('what the store says of flows', () => {
  it('the newest flows, for completion', async () => {
    const world = { now: () => new Date(), random: Math.random };
    const newest = (profile: string, ...of: Parameters<PostgresFlows['begun']>) => {
      const database = stores.database();
      return new PostgresFlows(database, profile, new Claims(database, profile, undefined), world).begun(
        ...of,
      );
    };
    const transfer = (await begun(flows(), 'transfer', TRANSFER_BEGIN('a'))).current;
    const begin = { transactionId: crypto.randomUUID(), customerId: '42', categories: [] };
    const consent = (await begun(flows(), 'consent', begin)).current;
    const named = (of: { flow: string; createdAt: string }, type: string) => ({
      ...{ flow: of.flow, at: of.createdAt },
      event: expect.objectContaining({ type }),
    });
    expect(await newest('p', 'transfer', 5)).toEqual([named(transfer, 'created')]);
    expect(await newest('p', undefined, 5)).toEqual([named(consent, 'created'), named(transfer, 'created')]);
    expect(await newest('p', undefined, 1)).toEqual([named(consent, 'created')]);
    expect(await newest('other', undefined, 5)).toEqual([]);
  });

  it('those that began on or after a given day', async () => {
    const old = (await begun(flows(), 'transfer', TRANSFER_BEGIN('a'))).current;
    stores.sql(`update psd2.flows set created_at = '2026-01-01T00:00:00Z'`);
    const young = (await begun(flows(), 'transfer', TRANSFER_BEGIN('b'))).current;
    const since = (day: string) => allOf(flows(), 'transfer', { since: new Date(day) });
    expect(await since('2026-01-02T00:00:00Z')).toEqual([young]);
    expect(await since('2025-12-31T00:00:00Z')).toEqual([young, old]);
  });
});

it('a line of the audit log that a copy brings has its own time, or that of the copy if it says none', async () => {
  const side = databaseSide(stores.database(undefined, true), NO_SOURCES, true).open('p');
  const at = '2001-11-21T10:00:00.123Z';
  const said = { profile: 'p', action: 'exported', operator: 'ada', user: 'ada', machine: 'm', role: null };
  const known = {
    n: 1,
    at,
    ...said,
    version: '1',
    customerId: null,
    flow: null,
    about: null,
    previous: null,
  };
  for (const [n, text] of [JSON.stringify(known), 'nobody can read this'].entries())
    await side.put({ kind: 'audit', n: n + 1, text });
  expect(
    stores.sql(
      `select n, at = '${at}', at > clock_timestamp() - interval '1 hour' from psd2.audit order by n`,
    ),
  ).toBe('1|t|f\n2|f|t');
});
