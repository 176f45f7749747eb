import fs, { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FileFlows } from '../../../src/store/files/flows/flows.ts';
import { ReferenceClaims } from '../../../src/store/files/flows/references.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { transferOrder, VERIFIED } from '../../domain/orders.ts';
import { thrownBy } from '../../support/thrown.ts';
import { allOf, begun, opened } from '../flows.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, once, replaceForStore } from '../waiting.ts';

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
  it('a reference is not free if the journal of its flow is missing, and a flow that continues is not cancelled', async () => {
    const { flow } = (await begin('INV-1')).current;
    claim('INV-1', 'tr-0mi7x7x8x00000');
    const path = join(folder.flows('p'), 'tr-0mi7x7x8x00000.ndjson');
    const isMissing = (reference: string) => ({
      code: 'config',
      message: `The journal ${path} is missing, and its transfer has the reference "${reference}"`,
    });
    await expect(opened(flowsOf(), 'transfer', flow)).rejects.toMatchObject(isMissing('INV-1'));
    expect((await flowsOf().find('transfer', flow)).state).toBe('created');
    claim('INV-2', 'tr-0mi7x7x8x00000');
    await expect(begin('inv-2')).rejects.toMatchObject(isMissing('inv-2'));
    expect(await idsOf()).toEqual([flow]);
  });

  it('a reference is not free if the journal of its flow is damaged, because it may have been paid', async () => {
    const other = (await begin()).current.flow;
    claim('INV-1', other);
    writeFileSync(join(folder.flows('p'), `${other}.ndjson`), 'garbage');
    await expect(begin('INV-1')).rejects.toThrow(
      duplicate(`The reference "INV-1" was used by transfer ${other}`),
    );
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

it('without hard links a transfer can be begun and continued, and a reference still belongs to one flow', async () => {
  replaceForStore(fs, 'linkSync', failing('EPERM'));
  const open = await begin('INV-1');
  expect(await allOf(flowsOf(), 'transfer')).toEqual([open.current]);
  const claims = new ReferenceClaims(folder.flows('p'));
  for (const flow of ['tr-1', 'tr-2']) expect(claims.take('INV-2', flow, () => false)).toBe('tr-1');
});

describe('the claims of references', () => {
  const isNotFree = () => false;
  let place: string;
  let claims: ReferenceClaims;
  beforeEach(() => {
    place = join(folder.root, 'flows');
    mkdirSync(place, { recursive: true });
    claims = new ReferenceClaims(place);
  });

  it('a reference belongs to the flow that took it first, however often others ask for it', () => {
    for (const flow of ['tr-1', 'tr-2', 'tr-1']) expect(claims.take('INV-1', flow, isNotFree)).toBe('tr-1');
    expect(claims.take(' inv-1', 'tr-2', isNotFree)).toBe('tr-1');
    expect(claims.take('caf\u00e9 1', 'tr-1', isNotFree)).toBe('tr-1');
    expect(claims.take('CAFE\u0301\t1', 'tr-2', isNotFree)).toBe('tr-1');
    expect(claims.take('INV-2', 'tr-2', isNotFree)).toBe('tr-2');
  });

  it('a flow whose reference another one has taken does not have it any more', () => {
    claims.take('INV-1', 'tr-1', isNotFree);
    claims.take('INV-1', 'tr-2', () => true);
    expect(claims.take('INV-1', 'tr-1', isNotFree)).toBe('tr-2');
    // Not even if the other one has failed: it has the reference for good.
    expect(claims.take('INV-1', 'tr-1', () => true)).toBe('tr-2');
    expect(claims.take('INV-1', 'tr-2', isNotFree)).toBe('tr-2');
    expect(claims.holders('inv-1')).toEqual(['tr-1', 'tr-2']);
  });

  it('the uses of a reference are in their order, also after the ninth', () => {
    const flows = Array.from({ length: 12 }, (_, index) => `tr-${index + 1}`);
    for (const flow of flows) claims.take('INV-1', flow, () => true);
    expect(claims.holders('INV-1')).toEqual(flows);
  });

  it('a flow does not have a reference if the one before it turns out not to have failed', () => {
    claims.take('INV-1', 'tr-1', isNotFree);
    const answers = [true, false];
    expect(claims.take('INV-1', 'tr-2', () => answers.shift() ?? false)).toBe('tr-1');
    expect(answers).toEqual([]);
  });

  it('a use whose file was removed is not taken again, because later ones may have been paid', () => {
    for (const flow of ['tr-1', 'tr-2', 'tr-3']) claims.take('INV-1', flow, () => true);
    const [, second = ''] = readdirSync(join(place, 'references')).sort();
    rmSync(join(place, 'references', second));
    expect(claims.take('INV-1', 'tr-4', (flow) => flow !== 'tr-3')).toBe('tr-3');
    expect(claims.take('INV-1', 'tr-4', () => true)).toBe('tr-4');
    expect(claims.holders('INV-1')).toEqual(['tr-1', 'tr-3', 'tr-4']);
  });

  it('a reference stays with a flow that takes it again, even if that flow has failed', () => {
    const isFree = (flow: string) => {
      throw new TypeError(`${flow} is not to be asked about`);
    };
    for (let times = 0; times < 2; times += 1) expect(claims.take('INV-1', 'tr-1', isFree)).toBe('tr-1');
    expect(readdirSync(join(place, 'references'))).toHaveLength(1);
  });

  it('a flow gets its reference even if an earlier run was killed while it took it', () => {
    claims.take('INV-1', 'tr-1', isNotFree);
    const [claim = ''] = readdirSync(join(place, 'references'));
    const path = join(place, 'references', claim);
    rmSync(path);
    writeFileSync(`${path}.tr-1`, 'tr', { mode: 0o600 });
    expect(claims.take('INV-1', 'tr-1', isNotFree)).toBe('tr-1');
    expect(readdirSync(join(place, 'references'))).toEqual([claim]);
  });

  it('what a killed process left in the folder is no use of a reference', () => {
    claims.take('INV-1', 'tr-1', isNotFree);
    const [claim = ''] = readdirSync(join(place, 'references'));
    const path = join(place, 'references', claim);
    const begun = claim.replace(/1$/, '2');
    for (const [name, text] of [
      [begun, ''],
      [`${claim}.tr-2`, 'tr-2'],
      [`x${claim}`, 'tr-3'],
      [claim.replace(/\.1$/, '.x1'), 'tr-4'],
      [claim.replace(/\.1$/, '1'), 'tr-5'],
    ] as const)
      writeFileSync(join(place, 'references', name), text, { mode: 0o600 });
    expect(claims.all()).toEqual([{ path, flow: 'tr-1' }]);
    expect(claims.holders('INV-1')).toEqual(['tr-1']);
    expect(claims.take('INV-1', 'tr-9', isNotFree)).toBe('tr-1');
    expect(claims.take('INV-1', 'tr-9', (holder) => holder === 'tr-1')).toBe('tr-9');
    expect(claims.all().map(({ flow }) => flow)).toEqual(['tr-1', 'tr-9']);
    expect(readdirSync(join(place, 'references'))).toContain(begun.replace(/2$/, '3'));
  });

  it('a process that is overtaken while it takes a reference learns which flow has it', () => {
    claims.take('INV-1', 'tr-1', isNotFree);
    const [claim = ''] = readdirSync(join(place, 'references'));
    const path = join(place, 'references', claim);
    rmSync(path);
    once('linkSync', (link) => {
      writeFileSync(path, 'tr-2', { mode: 0o600 });
      return link();
    });
    expect(claims.take('INV-1', 'tr-1', isNotFree)).toBe('tr-2');
    expect(readdirSync(join(place, 'references'))).toEqual([claim]);
  });

  it('if a reference cannot be recorded, nobody has it, and the error says that nothing was paid', () => {
    once('linkSync', failing('EIO'));
    expect(thrownBy(() => claims.take('INV-1', 'tr-1', isNotFree))).toMatchObject({
      code: 'config',
      message: `psd2 cannot record the reference in ${join(place, 'references')}: EIO`,
      hint: 'Check the free space, and who owns the folder. Nothing was paid.',
    });
    expect(readdirSync(join(place, 'references'))).toEqual([]);
    expect(claims.take('INV-1', 'tr-2', isNotFree)).toBe('tr-2');
  });
});
