import * as z from 'zod/mini';
import { bankDate, money, optionalText, text, words } from './fields.ts';

const flag = z.pipe(
  z.nullish(z.boolean()),
  z.transform((value) => value ?? null),
);
const textOrNull = z.pipe(
  z.nullish(text),
  z.transform((value) => value || null),
);
const wordsOrNull = z.pipe(
  z.nullish(words),
  z.transform((value) => value || null),
);
const list = <T extends z.ZodMiniType>(item: T) =>
  z.pipe(
    z.nullish(z.array(item)),
    z.transform((items) => items ?? []),
  );

/** `data` of `moneyTransfer/prepare`: all of it optional information. */
export const prepareAnswer = z.object({
  abi: textOrNull,
  ABI: textOrNull,
  sepa: flag,
  SEPA: flag,
  swift: flag,
  SWIFT: flag,
  today: bankDate,
  executionDateMinimumWireTransferAtBank: bankDate,
  executionDateMinimumWireTransferInternal: bankDate,
  executionDateLimit: bankDate,
  holidays: list(bankDate),
  flagUrgency: flag,
  addBeneficiary: flag,
  editBeneficiary: flag,
  currency: z.nullish(
    z.object({
      currencyList: list(z.object({ label: optionalText, value: text, rate: optionalText })),
      selected: textOrNull,
    }),
  ),
  countries: list(z.object({ label: optionalText, value: text })),
});

/** The fee, whose amount has the name of the field around it. */
const commissions = z.pipe(
  z.pipe(
    z.nullish(z.object({ commissions: z.nullish(text), amount: z.nullish(text), currency: optionalText })),
    z.transform(
      (fee): z.input<typeof money> =>
        fee && { amount: fee.commissions ?? fee.amount ?? '', currency: fee.currency },
    ),
  ),
  money,
);

/** `data` of a verify step's answer. */
export const verifyAnswer = z.object({
  totalAmount: money,
  commissions,
  bankName: wordsOrNull,
});

/** The `data` that `moneyTransfer/verify` takes. */
export interface VerifyOrder {
  moneyTransferAmount: { currency: string; amount: string };
  flagUrgency: boolean;
  type?: string;
  /** `DD/MM/YYYY` */
  moneyTransferExecutionDate: string;
  ibanBeneficiary: string;
  beneficiaryName: string;
  description: string;
}

/** `data` of an execute answer. Money has moved by then, so a `cro` in an odd form must not look like a failure. */
export const executeAnswer = z.catch(z.object({ cro: z.catch(wordsOrNull, null) }), { cro: null });

/** `data` of the execution status of an instant transfer. */
export const executionStatusAnswer = z.object({
  executionStatus: words,
  executionStatusDescription: wordsOrNull,
});
