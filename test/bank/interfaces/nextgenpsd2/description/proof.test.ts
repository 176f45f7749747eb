import { expect, it } from 'vitest';
import { proofOf } from '../../../../../src/bank/interfaces/nextgenpsd2/description/proof.ts';
import {
  type BankDescription,
  bankFile,
} from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';

type Approach = BankDescription['sca']['approaches'][number];

const FREE = /its reference is free/;
const RESERVED = /exit code 9/;

it.each<['possible' | 'never', Approach[], RegExp]>([
  ['never', ['redirect'], FREE],
  ['never', ['redirect', 'oauth'], FREE],
  ['never', ['redirect', 'decoupled'], /by itself.*exit code 9/],
  ['possible', ['redirect'], RESERVED],
])('with SCA %s and %s', (executesWithoutSca, approaches, follows) => {
  const bank = bankFile.parse({
    ...{ interface: 'nextgenpsd2', payments: { executesWithoutSca }, sca: { approaches } },
  });
  const [, executes, sca, last = ''] = proofOf(bank, () => true);
  expect(executes).toBe(`payments.executesWithoutSca is ${executesWithoutSca}.`);
  expect(sca).toBe(`sca.approaches is ${approaches.join(', ')}.`);
  expect(last).toMatch(follows);
  expect(FREE.test(last)).toBe(follows === FREE);
});

it('says of each field that nobody has said it, and what psd2 assumes', () => {
  const bank = bankFile.parse({ interface: 'nextgenpsd2' });
  const unsaid = (field: string) => proofOf(bank, (each) => each !== field).join(' ');
  expect(unsaid('payments.executesWithoutSca')).toContain(
    'payments.executesWithoutSca is not known: nobody has said it. psd2 assumes possible. sca.approaches is redirect.',
  );
  expect(unsaid('sca.approaches')).toContain(
    'sca.approaches is not known: nobody has said it. psd2 assumes redirect.',
  );
});
