import { expect, it } from 'vitest';
import { proofOf } from '../../../../../src/bank/interfaces/nextgenpsd2/description/proof.ts';
import {
  type BankDescription,
  bankFile,
} from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';

type Approach = BankDescription['sca']['approaches'][number];

const FIRST = 'Two fields of the bank file decide what a refused payment proves.';
const FREE = "So a refusal of the bank's own means that no payment began, and its reference is free.";
const RESERVED =
  'So after most refusals the outcome is unknown (exit code 9), the reference stays reserved, and somebody must look at the statement.';
const BY_ITSELF = `With decoupled, the bank asks the customer by itself. ${RESERVED}`;
const UNSURE = `${RESERVED} If the bank's documentation says that no payment runs without SCA, write "never".`;

it.each<['possible' | 'never', Approach[], string]>([
  ['never', ['redirect'], FREE],
  ['never', ['redirect', 'oauth'], FREE],
  ['never', ['redirect', 'decoupled'], BY_ITSELF],
  ['never', ['decoupled'], BY_ITSELF],
  ['possible', ['redirect'], UNSURE],
  ['possible', ['redirect', 'decoupled'], UNSURE],
])('with SCA %s and %s', (executesWithoutSca, approaches, follows) => {
  const bank = bankFile.parse({
    ...{ interface: 'nextgenpsd2', payments: { executesWithoutSca }, sca: { approaches } },
  });
  expect(proofOf(bank, () => true)).toEqual([
    FIRST,
    `payments.executesWithoutSca is ${executesWithoutSca}.`,
    `sca.approaches is ${approaches.join(', ')}.`,
    follows,
  ]);
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
