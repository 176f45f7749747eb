import { expect, it } from 'vitest';
import { type Batch, type Decision, newBatch } from '../../../src/domain/batch/batch.ts';
import type { LineState } from '../../../src/domain/batch/report-row.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import {
  type ApprovalRules,
  batchState,
  describeApprovals,
  neededApprovals,
  refuseDecision,
  refuseEnded,
  refuseUnapproved,
  unapproved,
} from '../../../src/flows/batch/approval.ts';
import type { KnownBatch, LineOutcome } from '../../../src/flows/batch/known-lines.ts';
import { batchAdded, batchLine } from '../../domain/batch/lines.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { thrownBy } from '../../support/thrown.ts';
import { fakeWorld } from '../doubles.ts';
import { flowsIn } from '../transfers.ts';

// How many people must approve a batch, who may decide, and what stands before it.

const temporary = temporaryFolder();
const AT = '2026-11-24T10:00:00.000Z';
const ada = { by: 'Ada', user: 'ada', machine: 'ops-1' };

function batchWith(changes: Partial<Batch> = {}): Batch {
  const added = { ...batchAdded(ada), type: 'added', sha256: 'x', count: 2, ordered: '' } as const;
  return { ...newBatch('b1', added, AT), ...changes };
}
const approvedBy = (by: string, more: Partial<Decision> = {}): Decision => ({
  ...{ by, user: by.toLowerCase(), machine: 'ops-1', role: null, sha256: 'x', at: AT },
  ...more,
});
const rules = (usual: number, limit: string | null = null): ApprovalRules => ({
  usual,
  limit: () => (limit === null ? null : parsePaymentAmount(limit)),
});
const line = (amount: string, currency = 'EUR') =>
  batchLine({ amount: parsePaymentAmount(amount), ...(currency !== 'EUR' && { currency }) });
const LINES = [line('60.00'), line('40.00')];

it.each<[string, ApprovalRules, number | null, ReturnType<typeof line>[], number]>([
  ['nobody', rules(0), 0, LINES, 0],
  ['as many as usual', rules(2), 0, LINES, 2],
  ['as many as its journal says', rules(0), 2, LINES, 2],
  ['the larger of both', rules(3), 2, LINES, 3],
  ['as the journal says nothing', rules(1), null, LINES, 1],
  ['nobody more for the limit itself', rules(1, '100.00'), 0, LINES, 1],
  ['one more above the limit', rules(1, '99.99'), 0, LINES, 2],
  ['one where nobody is usual', rules(0, '99.99'), 0, LINES, 1],
  ['not one more than its journal says', rules(1, '99.99'), 2, LINES, 2],
  ['nobody more for two currencies below it', rules(1, '99.99'), 0, [line('60.00'), line('40.00', 'USD')], 1],
  ['one more for a second currency above it', rules(1, '99.99'), 0, [line('1.00'), line('100.00', 'USD')], 2],
  ['nobody more without lines', rules(1, '0.01'), 0, [], 1],
])('a batch needs %s', (_, settings, approvalsNeeded, lines, needed) => {
  expect(neededApprovals(settings, batchWith({ approvalsNeeded: approvalsNeeded ?? 0 }), lines)).toBe(needed);
  if (!approvalsNeeded) expect(neededApprovals(settings, null, lines)).toBe(needed);
});

const bea = approvedBy('Bea');
const cleo = approvedBy('Cleo');
const rejection = { ...approvedBy('Bea'), note: 'Wrong' };
it.each<[string, number, Partial<Batch>, string | null]>([
  ['needs nobody', 0, {}, null],
  ['needs one', 1, {}, 'The batch needs 1 approval, and has 0'],
  ['needs two, and has one', 2, { approvals: [bea] }, 'The batch needs 2 approvals, and has 1'],
  ['needs two, and has them', 2, { approvals: [bea, cleo] }, null],
  ['has more than it needs', 1, { approvals: [bea, cleo] }, null],
  ['was approved by one twice', 2, { approvals: [bea, bea] }, 'The batch needs 2 approvals, and has 1'],
  [
    'was approved by who added it',
    1,
    { approvals: [approvedBy('ADA')] },
    'The batch needs 1 approval, and has 0',
  ],
  [
    'had another content then',
    1,
    { approvals: [approvedBy('Bea', { sha256: 'y' })] },
    'The batch needs 1 approval, and has 0',
  ],
  ['was rejected, and needs nobody', 0, { rejection }, 'Bea has rejected the batch: Wrong'],
  ['was rejected and approved', 1, { approvals: [cleo], rejection }, 'Bea has rejected the batch: Wrong'],
  [
    'is of a forgotten customer',
    0,
    { pseudonymised: new Set(['y']) },
    'psd2 has forgotten a customer of the batch, so it pays nothing of it',
  ],
])('a batch that %s runs, or says why not', (_, usual, changes, message) => {
  const work = () => refuseUnapproved(rules(usual), batchWith(changes), LINES);
  if (message === null) expect(work).not.toThrow();
  else expect(thrownBy(work)).toMatchObject({ code: 'usage', message });
});

it.each<[string, ApprovalRules, number, Decision[], { has: number; needed: number } | null]>([
  ['needs nobody', rules(0), 0, [], null],
  ['needs one', rules(1), 0, [], { has: 0, needed: 1 }],
  ['has the one that it needs', rules(1), 0, [bea], null],
  ['needs more by its journal than usual', rules(1), 2, [bea], { has: 1, needed: 2 }],
  ['has as many as its journal says', rules(0), 2, [bea, cleo], null],
  ['pays more than the limit', rules(1, '99.99'), 0, [bea], { has: 1, needed: 2 }],
  ['pays the limit itself', rules(1, '100.00'), 0, [bea], null],
])('a batch waits for approvals if it %s', async (_, settings, approvalsNeeded, approvals, waits) => {
  const batch = batchWith({ approvalsNeeded, approvals });
  const batches = {
    async *list() {
      yield batch;
    },
    lines: async () => LINES,
  };
  const waiting = [];
  const flows = flowsIn(newConfigFolder(temporary), fakeWorld());
  for await (const each of unapproved(settings, { batches, flows }, () => {})) waiting.push(each);
  const totals = [{ currency: 'EUR', amount: '100.00' }];
  expect(waiting).toEqual(waits === null ? [] : [{ batch: 'b1', addedAt: AT, lines: 2, totals, ...waits }]);
});

it('whoever must approve a batch reads who may, and with what', () => {
  expect(thrownBy(() => refuseUnapproved(rules(1), batchWith(), LINES))).toMatchObject({
    hint: 'psd2 has sent nothing. A person other than Ada approves it with:',
    next: [['batch', 'approve', 'b1']],
  });
});

it.each<[string, number, Decision[], string]>([
  ['nobody', 0, [], '0 of 0 approvals'],
  ['one', 1, [bea], '1 of 1 approvals (Bea, user bea at ops-1)'],
  [
    'two, one of them with a role',
    1,
    [bea, approvedBy('Cleo', { role: 'pisp_cleo' })],
    '2 of 1 approvals (Bea, user bea at ops-1; Cleo, user cleo, role pisp_cleo at ops-1)',
  ],
  ['somebody whose approval does not count', 1, [approvedBy('Ada')], '0 of 1 approvals'],
])('the audit log says that %s approved it', (_, usual, approvals, text) => {
  expect(describeApprovals(rules(usual), batchWith({ approvals }), LINES)).toBe(text);
});

const AGAIN = 'has added or approved this batch, so someone else must approve it';
it.each<[string, Partial<Batch>, { by: string; role: string | null }, boolean, [string, string] | null]>([
  ['who added it, approves', {}, { by: ' ada', role: null }, true, [' ada', '--by']],
  ['who added it, rejects', {}, { by: 'ada', role: null }, false, null],
  ['another one, approves', {}, { by: 'Bea', role: null }, true, null],
  ['one who did, approves', { approvals: [bea] }, { by: 'Bea', role: null }, true, ['Bea', '--by']],
  [
    'in a database its role, approves',
    { addedRole: 'pisp' },
    { by: 'Bea', role: 'pisp' },
    true,
    ['The database role pisp', 'role of their own'],
  ],
  ['in a database another role, approves', { addedRole: 'pisp' }, { by: 'Ada', role: 'other' }, true, null],
])('the person %s', (_, changes, who, isApproval, refused) => {
  const work = () => refuseDecision(batchWith(changes), { ...ada, ...who }, isApproval);
  if (refused === null) return expect(work).not.toThrow();
  return expect(thrownBy(work)).toMatchObject({
    ...{ code: 'usage', message: `${refused[0]} ${AGAIN}` },
    hint: expect.stringContaining(refused[1]),
  });
});

it.each([true, false])('nobody decides about a batch that was rejected: %s', (isApproval) => {
  const person = { ...ada, by: 'Cleo', role: null };
  expect(thrownBy(() => refuseDecision(batchWith({ rejection }), person, isApproval))).toMatchObject({
    message: 'Bea has rejected the batch: Wrong',
    hint: 'psd2 pays nothing of it. See it with:',
  });
});

type Line = [LineOutcome, LineState];
function knownBatch(lines: readonly Line[], changes: Partial<Batch> = {}): KnownBatch {
  const outcomes: KnownBatch['outcomes'] = lines.map(([outcome, state]) =>
    Object.assign(Object.create({}), { outcome, row: { state } }),
  );
  return { batch: batchWith(changes), lines: LINES, outcomes };
}
const WAITING: Line = ['unfinished', 'waiting'];
const PAID: Line = ['paid', 'executed'];
const CANCELLED: Line = ['not paid', 'cancelled'];

it.each<[string, Line[], Partial<Batch>, number, string, boolean]>([
  ['of which nothing has begun', [WAITING, WAITING], {}, 0, 'added', false],
  ['that is not approved', [WAITING, WAITING], { approvals: [bea] }, 2, 'added', false],
  ['that is approved', [WAITING, WAITING], { approvals: [bea] }, 1, 'approved', false],
  ['that was approved without need', [WAITING, WAITING], { approvals: [bea] }, 0, 'approved', false],
  ['that was rejected', [WAITING, WAITING], { approvals: [cleo], rejection }, 1, 'rejected', false],
  ['of which one is paid', [PAID, WAITING], { approvals: [bea] }, 1, 'running', false],
  ['whose first is cancelled', [CANCELLED, WAITING], {}, 0, 'added', false],
  ['whose payments are all paid', [PAID, PAID], {}, 0, 'done', true],
  ['of which one is paid and one cancelled', [PAID, CANCELLED], {}, 0, 'done', true],
  ['whose payments are all cancelled', [CANCELLED, CANCELLED], {}, 0, 'cancelled', true],
  ['whose payments the bank may reject', [PAID, ['accepted', 'executed']], {}, 0, 'running', true],
  ['whose payments are ordered', [PAID, ['ordered', 'ordered']], {}, 0, 'done', true],
  ['of which nobody knows one', [PAID, ['unknown', 'unknown']], {}, 0, 'running', false],
  ['that waits for a customer', [['awaited', 'authorizing'], WAITING], {}, 0, 'running', false],
])('a batch %s', (_, lines, changes, usual, state, hasEnded) => {
  const known = knownBatch(lines, changes);
  expect(batchState(rules(usual), known)).toBe(state);
  const decide = () => refuseEnded(known);
  if (!hasEnded) return expect(decide).not.toThrow();
  return expect(thrownBy(decide)).toMatchObject({
    ...{ code: 'usage', hint: 'psd2 has recorded nothing. See it with:', next: [['batch', 'show', 'b1']] },
    message: 'Every payment of this batch has ended, so there is nothing left to decide',
  });
});
