import { expect, it } from 'vitest';
import { journalIsMissing, journalIsOlder, resourceIsUsed } from '../../../src/store/flow/refusals.ts';

it('a missing journal keeps the reference, and the error names both and the flow', () => {
  expect(journalIsMissing('INV "1"', 'tr-1', '/flows/tr-1.ndjson')).toMatchObject({
    code: 'config',
    message: 'The journal /flows/tr-1.ndjson is missing, and its transfer has the reference "INV \\"1\\""',
    hint: 'That transfer may have been paid, so its reference stays reserved. Restore the journal from a backup, or use another --reference.',
    flow: 'tr-1',
  });
});

it.each([
  ['tr-1', 'transfer'],
  ['op-1', 'operation'],
  ['co-1', 'consent'],
  ['x-1', 'transfer'],
])(
  'a journal that is older than what psd2 knows of %s can still be seen, with psd2 %s show',
  (flow, kind) => {
    expect(journalIsOlder(flow, '/flows/x.ndjson')).toMatchObject({
      code: 'config',
      message: `The journal /flows/x.ndjson is older than what psd2 knows about ${flow}`,
      hint: 'The flow may have been executed since, so psd2 sends nothing for it. Restore the newest journal from a backup. See the flow as it was:',
      next: [[kind, 'show', flow]],
      flow,
    });
  },
);

it.each([
  ['tr-1', 'op-2', 'transfer', 'operation'],
  ['co-1', 'tr-2', 'consent', 'transfer'],
  ['x-1', 'y-2', 'transfer', 'transfer'],
])(
  'a resource that the bank gave to %s and %s names both, and how to continue',
  (flow, owner, kind, other) => {
    expect(resourceIsUsed(flow, 'r1', owner)).toMatchObject({
      code: 'bank_answer',
      message: `The bank gave ${flow} the resource r1, which belongs to ${owner}`,
      hint: 'psd2 does not use it, so nothing of this flow was authorised or executed. Ask the bank for another resource, or see the other flow:',
      next: [
        [kind, 'resume', flow],
        [other, 'show', owner],
      ],
      flow,
    });
  },
);
