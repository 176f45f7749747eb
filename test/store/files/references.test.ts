import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FileFlows } from '../../../src/store/files/flows/flows.ts';
import { ReferenceClaims } from '../../../src/store/files/flows/references.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { transferOrder, VERIFIED } from '../../domain/orders.ts';
import { allOf, begun, opened } from '../flows.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

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
    commits: 'on execute',
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

describe('a transfer that was stopped before it took its reference', () => {
  it('if another transfer took the reference in the meantime, resume cancels this one and names the other with its state', async () => {
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
  it('a reference is not free if the journal of its flow is missing, because it may have been paid', async () => {
    await begin();
    claim('INV-1', 'tr-0mi7x7x8x00000');
    const before = await idsOf();
    const path = join(folder.flows('p'), 'tr-0mi7x7x8x00000.ndjson');
    await expect(begin('inv-1')).rejects.toMatchObject({
      code: 'config',
      message: `The journal ${path} is missing, and its transfer has the reference "inv-1"`,
      hint: 'That transfer may have been paid, so its reference stays reserved. Restore the journal from a backup, or use another --reference.',
      flow: 'tr-0mi7x7x8x00000',
    });
    expect(await idsOf()).toEqual(before);
  });

  it('a reference is not free if the journal of its flow is damaged, because it may have been paid', async () => {
    const other = (await begin()).current.flow;
    claim('INV-1', other);
    writeFileSync(join(folder.flows('p'), `${other}.ndjson`), 'garbage');
    await expect(begin('INV-1')).rejects.toThrow(
      duplicate(`The reference "INV-1" was used by transfer ${other}`),
    );
  });

  it('a flow that continues is not cancelled because the journal of the holder is missing', async () => {
    const { flow } = (await begin('INV-1')).current;
    claim('INV-1', 'tr-0mi7x7x8x00000');
    await expect(opened(flowsOf(), 'transfer', flow)).rejects.toMatchObject({ code: 'config' });
    expect((await flowsOf().find('transfer', flow)).state).toBe('created');
  });

  it('the reference of a missing journal is taken even if its claim is missing too, once it reached the bank', async () => {
    const untouched = await begin('INV-1');
    const open = await begin('INV-2');
    await open.record(VERIFIED);
    for (const { current } of [untouched, open]) rmSync(join(folder.flows('p'), `${current.flow}.ndjson`));
    rmSync(join(folder.flows('p'), 'references'), { recursive: true });
    await expect(begin('INV-2')).rejects.toMatchObject({ code: 'config', flow: open.current.flow });
    expect(await idsOf()).toEqual([]);
    // A process that is killed before it has created the journal leaves this.
    expect((await begin('INV-1')).current.state).toBe('created');
  });

  it('a flow that gave its reference up does not take it back, even with a journal of an earlier time', async () => {
    const open = await begin('INV-1');
    const path = join(folder.flows('p'), `${open.current.flow}.ndjson`);
    const backup = readFileSync(path);
    await open.record({ type: 'cancelled' });
    const other = (await begin('INV-1')).current.flow;
    writeFileSync(path, backup);
    await expect(opened(flowsOf(), 'transfer', open.current.flow)).rejects.toThrow(
      duplicate(`The reference "INV-1" was used by transfer ${other}, which is created`),
    );
    expect((await flowsOf().find('transfer', open.current.flow)).state).toBe('cancelled');
  });
});
