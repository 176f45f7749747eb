import type { BankDescription } from './schema.ts';

/** The fields that decide what a refused payment proves (docs/nextgenpsd2.md, "A refused initiation"), the first one first. */
export const DECIDING = ['payments.executesWithoutSca', 'sca.approaches'] as const;

/**
 * What a refused payment proves at a bank, for its operator: the two fields that decide it, what psd2 assumes where nobody has said it,
 * and what follows.
 *
 * @param isSaid whether the bank file, or what it extends, has a field
 * @returns sentences
 */
export function proofOf({ payments, sca }: BankDescription, isSaid: (field: string) => boolean): string[] {
  const [executes, approaches] = DECIDING;
  const values: Readonly<Record<string, string>> = {
    [executes]: payments.executesWithoutSca,
    [approaches]: sca.approaches.join(', '),
  };
  const fields = DECIDING.map((field) =>
    isSaid(field)
      ? `${field} is ${values[field]}.`
      : `${field} is not known: nobody has said it. psd2 assumes ${values[field]}.`,
  );
  return [
    'Two fields of the bank file decide what a refused payment proves.',
    ...fields,
    followsFrom(payments, sca),
  ];
}

function followsFrom(
  { executesWithoutSca }: BankDescription['payments'],
  { approaches }: BankDescription['sca'],
): string {
  if (executesWithoutSca === 'never' && !approaches.includes('decoupled'))
    return "So a refusal of the bank's own means that no payment began, and its reference is free.";
  const rest =
    'So after most refusals the outcome is unknown (exit code 9), the reference stays reserved, and somebody must look at the statement.';
  return executesWithoutSca === 'never'
    ? `With decoupled, the bank asks the customer by itself. ${rest}`
    : `${rest} If the bank's documentation says that no payment runs without SCA, write "never".`;
}
