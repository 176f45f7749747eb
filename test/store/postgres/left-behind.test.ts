import { beforeEach, describe, expect, it } from 'vitest';
import type { Open } from '../../../src/store/ports/flows.ts';
import { Claims } from '../../../src/store/postgres/claims.ts';
import { PostgresFlows } from '../../../src/store/postgres/flows/flows.ts';
import { allOf, begun, TRANSFER_BEGIN } from '../flows.ts';
import { BANK } from '../whole-store.ts';
import { useStores } from './stores.ts';

const stores = useStores();
const SENT = { type: 'verify-sent', requestId: 'r', digest: null } as const;
const DAY_MS = 86_400_000;

beforeEach(async () => {
  await stores.init();
});
const flows = () => stores.worker().open('p', BANK).flows;
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
      `update psd2.flows set updated_at = now() - interval '${7 * DAY_MS + 1000} milliseconds' where flow = '${old}'`,
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
