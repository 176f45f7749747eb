import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AuditFields, checkChain, parseAuditLine } from '../../../src/store/audit/chain.ts';
import { withWords, wordsOf } from '../../../src/store/audit/pseudonyms.ts';
import type { Audit, AuditLine } from '../../../src/store/ports/audit.ts';
import type { ProfileData } from '../../../src/store/ports/store.ts';
import { transferOrder } from '../../domain/orders.ts';
import { named } from '../../support/named.ts';
import { begun } from '../flows.ts';
import { type Place, useBackends } from './backends.ts';

const SENT = { requestId: 'q1', digest: null };

async function linesOf(audit: Audit): Promise<AuditLine[]> {
  const lines: AuditLine[] = [];
  for await (const line of audit.lines()) lines.push(line);
  return lines;
}

function fieldsOf(text: string): AuditFields {
  const fields = parseAuditLine(text);
  if (!fields) throw new TypeError('psd2 has written this line');
  return fields;
}

describe.each(named(useBackends()))('the audit log in %s', (_name, { open }) => {
  let place: Place;
  let data: ProfileData;
  beforeEach(async () => {
    place = await open();
    data = (await place.worker()).open('bank');
  });

  it('says who did what with a flow, in the order of the events, and nothing of what the bank said', async () => {
    const order = transferOrder({ customerId: '1000001' });
    const transfer = await begun(data.flows, 'transfer', {
      transactionId: 't1',
      commits: 'on execute',
      order,
    });
    await transfer.record({ type: 'verify-sent', ...SENT });
    await transfer.record({ type: 'accepted' });
    await transfer.record({ type: 'execute-sent', ...SENT });
    await transfer.record({ type: 'execute-unanswered' });
    await transfer.record({ type: 'resolved', outcome: 'executed', by: 'ada@pisp-1', note: null });
    const { flow } = transfer.current;
    const words = wordsOf(await data.personal.pseudonyms());
    const lines = (await linesOf(data.audit)).map(({ text }) => withWords(fieldsOf(text), words));
    expect(lines.map((line) => [line?.action, line?.about])).toEqual([
      ['began', 'transfer'],
      ['confirmed', 'transfer'],
      ['executed', 'transfer'],
      ['resolved', 'transfer executed'],
    ]);
    for (const line of lines)
      expect(line).toMatchObject({ profile: 'bank', customerId: '1000001', flow, machine: hostname() });
    expect(lines[0]?.operator).toMatch(/./);
  });

  it('each line continues the one before, whichever worker writes it, and no profile sees the lines of another', async () => {
    const others = (await place.worker()).open('bank').audit;
    await data.audit.append({ action: 'logged-in', customerId: '1000001', about: 'authorization_code' });
    await Promise.all([
      data.audit.append({ action: 'exported', customerId: '1000001', about: 'csv 1' }),
      others.append({ action: 'exported', customerId: '1000002', about: 'ofx "2" è 😀' }),
    ]);
    await others.append({ action: 'logged-out' });
    const found = await linesOf(data.audit);
    expect(found).toEqual(await linesOf(others));
    expect(found.map(({ text }) => parseAuditLine(text)?.action)).toEqual([
      ...['logged-in', 'exported', 'exported', 'logged-out'],
    ]);
    expect(await checkChain(data.audit.lines(), await data.audit.head())).toMatchObject({
      lines: 4,
      head: { n: 4 },
      broken: null,
    });
    const other = (await place.worker()).open('other').audit;
    expect([await linesOf(other), await other.head()]).toEqual([[], undefined]);
  });

  it('its first line is known apart from the lines, and stays so', async () => {
    expect([await data.audit.beginning(), await data.audit.head()]).toEqual([undefined, undefined]);
    const heads: unknown[] = [];
    for (const action of ['logged-in', 'logged-out', 'logged-in'] as const) {
      await data.audit.append({ action });
      heads.push(await data.audit.head());
    }
    const shas = (await linesOf(data.audit)).map(({ text }) =>
      createHash('sha256').update(text).digest('hex'),
    );
    expect(heads).toEqual(shas.map((sha256, index) => ({ n: index + 1, sha256 })));
    expect(await (await place.worker()).open('bank').audit.beginning()).toBe(shas[0]);
    expect(await (await place.worker()).open('other').audit.beginning()).toBeUndefined();
  });

  it('it may lack lines of flows that a copy has brought, and of no others', async () => {
    expect(await data.audit.mayLackCopied()).toBe(false);
    await place.side().setMark({ copiedFrom: { id: 'x', place: 'there', isComplete: true } });
    expect(await (await place.worker()).open('bank').audit.mayLackCopied()).toBe(true);
  });

  it('its lines have pseudonyms, the same ones for every worker, and still verify when psd2 has forgotten whose they are', async () => {
    const entry = { action: 'exported', customerId: '1000001', about: 'csv', account: 'ACC0000001' } as const;
    await data.audit.append(entry);
    const other = (await place.worker()).open('bank');
    await other.audit.append(entry);
    const texts = (await linesOf(data.audit)).map(({ text }) => text);
    expect(texts.join()).not.toMatch(/1000001|ACC0000001/);
    const [one, two] = texts.map(fieldsOf);
    expect([one?.customerId, one?.about]).toEqual([two?.customerId, two?.about]);
    expect(one?.about).not.toContain(one?.customerId);
    const shown = withWords(fieldsOf(texts[0] ?? ''), wordsOf(await other.personal.pseudonyms()));
    expect([shown.customerId, shown.about]).toEqual(['1000001', 'csv ACC0000001']);
    await data.audit.append({ ...entry, customerId: '1000002' });
    await other.personal.forgetPseudonyms('1000001');
    expect((await data.personal.pseudonyms()).map(({ customerId }) => customerId)).toEqual([
      ...['1000002', '1000002'],
    ]);
    expect(await checkChain(data.audit.lines(), await data.audit.head())).toMatchObject({ broken: null });
    await data.audit.append(entry);
    const again = (await linesOf(data.audit)).map(({ text }) => fieldsOf(text).customerId);
    expect(again[3]).not.toBe(again[0]);
  });

  it('a worker who began before psd2 forgot a customer names them no more, and begins nothing for them', async () => {
    const entry = { action: 'exported', customerId: '1000001', about: 'csv', account: 'ACC0000001' } as const;
    await place.forget('bank', '1000001');
    await data.audit.append(entry);
    await data.audit.append({ ...entry, customerId: '1000002' });
    const [line, other] = (await linesOf(data.audit)).map(({ text }) => fieldsOf(text));
    expect(line).toMatchObject({ action: 'exported', customerId: null, about: 'csv' });
    expect(other?.customerId).toMatch(/^pseudonym-/);
    expect((await data.personal.pseudonyms()).map(({ word }) => word).toSorted()).toEqual([
      ...['1000002', 'ACC0000001'],
    ]);
    const beginning = (customerId: string) => ({
      ...{ transactionId: 't1', commits: 'on execute' as const },
      order: transferOrder({ customerId, reference: customerId }),
    });
    await expect(begun(data.flows, 'transfer', beginning('1000001'))).rejects.toMatchObject({
      code: 'overtaken',
      message: 'psd2 has forgotten customer 1000001 since this command began',
    });
    expect(place.everything()).not.toMatch(/1000001/);
    await begun(data.flows, 'transfer', beginning('1000002'));
    // Who begins now was told of the customer by somebody who knows them.
    const later = (await place.worker()).open('bank');
    await later.audit.append(entry);
    await begun(later.flows, 'transfer', beginning('1000001'));
    expect((await later.personal.pseudonyms()).map(({ customerId }) => customerId)).toContain('1000001');
  });
});
