import { copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FileFlows } from '../../src/store/files/flows/flows.ts';
import { ReferenceClaims } from '../../src/store/files/flows/reference-claims.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import { transferOrder, VERIFIED } from '../domain/orders.ts';
import { allOf, begun, opened } from './flows.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';

const temporary = temporaryFolder();
const intent = { requestId: 'q1', digest: null };
let folder: StoreFolder;

beforeEach(() => {
  folder = newConfigFolder(temporary);
});

/** The flows of a profile, opened as another process does. */
const flowsOf = (profile = 'p') =>
  new FileFlows(folder.flows(profile), { now: () => new Date(), random: Math.random });

const begin = (reference: string | null = null, profile = 'p') =>
  begun(flowsOf(profile), 'transfer', {
    transactionId: `in-${profile}`,
    order: { ...transferOrder(), reference },
  });

const idsOf = async () => (await allOf(flowsOf(), 'transfer')).map(({ flow }) => flow);
const duplicate = (message: string) => expect.objectContaining({ code: 'duplicate_reference', message });

/** Gives a reference to another flow on disk, as if that flow had taken it first. */
function claim(reference: string, flow: string): void {
  rmSync(join(folder.flows('p'), 'references'), { recursive: true, force: true });
  new ReferenceClaims(folder.flows('p')).take(reference, flow, () => false);
}

/** A transfer with a reference that another process began after this one checked. */
async function begunElsewhere(reference: string): Promise<string> {
  const { flow } = (await begin(reference, 'q')).current;
  copyFileSync(join(folder.flows('q'), `${flow}.ndjson`), join(folder.flows('p'), `${flow}.ndjson`));
  return flow;
}

it('psd2 begins nothing with a reference that is already used', async () => {
  const { flow } = (await begin('INV-1')).current;
  await expect(begin('INV-1')).rejects.toThrow(
    duplicate(`The reference "INV-1" was used by transfer ${flow}, which is created`),
  );
  expect(await idsOf()).toEqual([flow]);
  expect(readdirSync(join(folder.flows('p'), 'open'))).toEqual([]);
});

describe('a transfer that was stopped before it took its reference', () => {
  it('if another transfer took the reference meanwhile, resume cancels this one and names the other with its state', async () => {
    const { flow } = (await begin('INV-1')).current;
    const other = await begunElsewhere('INV-1');
    claim('INV-1', other);
    await expect(opened(flowsOf(), 'transfer', flow)).rejects.toThrow(
      duplicate(`The reference "INV-1" was used by transfer ${other}, which is created`),
    );
    expect((await flowsOf().find('transfer', flow)).state).toBe('cancelled');
    expect((await flowsOf().find('transfer', other)).state).toBe('created');
  });

  it('resume cancels it even if the state of the other transfer is unknown', async () => {
    const { flow } = (await begin('INV-1')).current;
    const other = (await begin()).current.flow;
    claim('INV-1', other);
    await expect(opened(flowsOf(), 'transfer', flow)).rejects.toThrow(
      duplicate(`The reference "INV-1" was used by transfer ${other}`),
    );
  });

  it('a transfer that was executed continues without its reference, because its money may have moved', async () => {
    const open = await begin('INV-1');
    await open.record({ type: 'verify-sent', ...intent });
    await open.record(VERIFIED);
    await open.record({ type: 'accepted' });
    await open.record({ type: 'sca-started' });
    await open.record({ type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' });
    await open.record({ type: 'execute-sent', ...intent });
    claim('INV-1', (await begin()).current.flow);
    const again = await opened(flowsOf(), 'transfer', open.current.flow);
    expect(again.current.state).toBe('executing');
  });
});

describe('a reference on disk', () => {
  it('a reference is free if its flow does not exist', async () => {
    await begin();
    claim('INV-1', 'tr-0mi7x7x8x00000');
    expect((await begin('INV-1')).current.order.reference).toBe('INV-1');
  });

  it('a reference is not free while its flow may still be paid', async () => {
    const other = (await begin()).current.flow;
    claim('INV-1', other);
    await expect(begin('INV-1')).rejects.toThrow(
      duplicate(`The reference "INV-1" was used by transfer ${other}`),
    );
  });

  it('a reference is not free if the journal of its flow is damaged, because it may have been paid', async () => {
    const other = (await begin()).current.flow;
    claim('INV-1', other);
    writeFileSync(join(folder.flows('p'), `${other}.ndjson`), 'garbage');
    await expect(begin('INV-1')).rejects.toThrow(
      duplicate(`The reference "INV-1" was used by transfer ${other}`),
    );
  });
});
