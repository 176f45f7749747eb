import { beforeEach, describe, expect, it } from 'vitest';
import { Claims } from '../../../src/store/postgres/claims.ts';
import { KeyTaken } from '../../../src/store/postgres/database.ts';
import { begun, opened, TRANSFER_BEGIN } from '../flows.ts';
import { BANK } from '../whole-store.ts';
import { useStores } from './stores.ts';

const stores = useStores();
const SENT = { type: 'verify-sent', requestId: 'r', digest: null } as const;
const PATIENCE = { what: 'The sync', patienceMs: 0 };

beforeEach(async () => {
  await stores.init();
});
const flowsOfAnother = () => stores.worker().open('p', BANK).flows;
const claims = () => new Claims(stores.database(), 'p', undefined);

describe('a journal in the database that someone has damaged', () => {
  /** A transfer with two events. */
  const transfer = async (reference = 'a') => {
    const open = await begun(flowsOfAnother(), 'transfer', TRANSFER_BEGIN(reference));
    await open.record(SENT);
    return open.current.flow;
  };
  const damagedAt = (flow: string, event: number) => ({
    code: 'config',
    message: `The journal of ${flow} at ${stores.database().shown} is damaged at event ${event}`,
    hint: 'It is the record of a flow. Restore it from a backup, or update psd2 if a newer version wrote it.',
  });

  it.each([
    ['has garbage as its second event', `update psd2.flow_events set event = '{}'`, 'and n = 2', 2],
    [
      'has an event that cannot follow',
      `update psd2.flow_events set event = '{"type":"confirmed"}'`,
      'and n = 2',
      2,
    ],
    [
      'begins twice',
      `update psd2.flow_events set event = (select event from psd2.flow_events e where n = 1)`,
      'and n = 2',
      2,
    ],
    ['lacks its first event', 'delete from psd2.flow_events', 'and n = 1', 1],
    ['has a gap', 'update psd2.flow_events set n = 3', 'and n = 2', 2],
    ['lacks all events', 'delete from psd2.flow_events', '', 1],
  ])('a journal that %s is not read or continued', async (_, sql, which, event) => {
    const flow = await transfer();
    stores.sql(`${sql} where flow = '${flow}' ${which}`);
    await expect(flowsOfAnother().find('transfer', flow)).rejects.toMatchObject(damagedAt(flow, event));
    await expect(opened(flowsOfAnother(), 'transfer', flow)).rejects.toMatchObject(damagedAt(flow, event));
  });

  it('its history is not shown', async () => {
    const flow = await transfer();
    stores.sql(`update psd2.flow_events set event = '{}' where flow = '${flow}' and n = 2`);
    await expect(flowsOfAnother().history(flow)).rejects.toMatchObject(damagedAt(flow, 2));
  });

  it('its reference stays taken, and the error says why its outcome is not known', async () => {
    const flow = await transfer('INV-1');
    stores.sql(`update psd2.flow_events set event = '{}' where flow = '${flow}'`);
    const { message, hint } = damagedAt(flow, 1);
    await expect(begun(flowsOfAnother(), 'transfer', TRANSFER_BEGIN('INV-1'))).rejects.toMatchObject({
      code: 'duplicate_reference',
      message: `The reference "INV-1" was used by transfer ${flow}, whose outcome cannot be read: ${message}`,
      hint,
    });
  });
});

it('while a flow begins, no worker gets the journal to itself', async () => {
  // The begin waits for this table after it has asked whether it may.
  const first = (await begun(flowsOfAnother(), 'transfer', TRANSFER_BEGIN('a'))).current;
  const inserting = await stores.holding('lock table psd2.flows in exclusive mode');
  const beginning = begun(flowsOfAnother(), 'transfer', TRANSFER_BEGIN('b'));
  expect(await stores.waits(beginning)).toBe(true);
  let hasItself = false;
  const working = flowsOfAnother().exclusively(async () => {
    hasItself = true;
  });
  expect(await stores.waits(working, 2)).toBe(true);
  expect(hasItself).toBe(false);
  await inserting.end();
  const { flow } = (await beginning).current;
  await working;
  expect(hasItself).toBe(true);
  expect(flow > first.flow).toBe(true);
});

it('a reference whose transfer failed while another one wanted it can be used a moment later', async () => {
  const first = (await begun(flowsOfAnother(), 'transfer', TRANSFER_BEGIN('INV-1'))).current.flow;
  const { proxy, through } = await stores.proxied();
  const { flows } = stores.worker({ address: through }).open('p', BANK);
  // The other worker records its refusal right before this one looks who has the reference.
  const failed = `update psd2.flows set standing = 'refused' where flow = '${first}'`;
  proxy.dropNext(() => void stores.sql(failed), /and reference = .* standing <> 'refused'/s);
  await expect(begun(flows, 'transfer', TRANSFER_BEGIN('INV-1'))).rejects.toMatchObject({
    code: 'config',
    message: 'The reference was free again a moment later',
    hint: 'Run this again.',
  });
  expect(proxy.cuts()).toBe(1);
  expect((await begun(flows, 'transfer', TRANSFER_BEGIN('INV-1'))).current.state).toBe('created');
});

it('a database that refuses a flow for another reason than its reference says so', async () => {
  stores.sql('alter table psd2.flows add constraint public_id unique (transaction_id)');
  const begin = TRANSFER_BEGIN('a');
  await begun(flowsOfAnother(), 'transfer', begin);
  const other = { ...begin, order: { ...begin.order, reference: 'b' } };
  await expect(begun(flowsOfAnother(), 'transfer', other)).rejects.toBeInstanceOf(KeyTaken);
  expect(stores.sql('select reference from psd2.flows')).toBe('a');
});

describe('a claim', () => {
  const within = (of: Claims, name: string, more: object, work: () => Promise<void>) =>
    of.within('sync', name, { ...PATIENCE, ...more }, work);

  it('belongs to a worker until another one takes it over', async () => {
    await claims().within('sync', '42', PATIENCE, async (late) => {
      expect(await late.isOurs()).toBe(true);
      stores.sql(`update psd2.claims set until = '-infinity'`);
      expect(await late.isOurs()).toBe(true);
      await claims().within('sync', '42', PATIENCE, async (other) => {
        expect([await late.isOurs(), await other.isOurs()]).toEqual([false, true]);
      });
    });
  });

  it('that others hold names its own holder, and what to do', async () => {
    const before = claims();
    await within(before, '1', {}, async () => {
      await within(before, '42', {}, async () => {
        stores.sql(`update psd2.claims set worker = 'process 7' where name = '42'`);
        await expect(within(claims(), '42', {}, async () => {})).rejects.toMatchObject({
          code: 'config',
          message: 'The sync is in use by process 7',
          hint: 'Wait until it has ended, then run this again.',
        });
      });
    });
  });

  it('is waited for as long as the worker has patience', async () => {
    await within(claims(), '42', {}, async () => {
      const waiting = within(claims(), '42', { patienceMs: 400 }, async () => {});
      await expect(waiting).rejects.toMatchObject({ message: expect.stringContaining('The sync is in use') });
    });
  });

  it('is no longer waited for once the command ends', async () => {
    const stop = new AbortController();
    await within(claims(), '42', {}, async () => {
      const waiting = within(claims(), '42', { patienceMs: 3_600_000, signal: stop.signal }, async () => {});
      stop.abort(new Error('the end'));
      await expect(waiting).rejects.toThrow('the end');
    });
    await expect(within(claims(), '42', { signal: stop.signal }, async () => {})).rejects.toThrow('the end');
  });
});
