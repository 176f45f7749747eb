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

/** `data` of `moneyTransfer/prepare`. All of it is optional. */
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

/** The fee. The field with its amount is called `commissions` too. */
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

/** `data` of the answer to a verify step. */
export const verifyAnswer = z.object({
  totalAmount: money,
  commissions,
  /** The bank has made a resource. A name that cannot be read must not make it unusable, unlike an amount. */
  bankName: z.catch(wordsOrNull, null),
});

/** `data` of the request `moneyTransfer/verify`. */
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

/** `data` of an execute answer. The money has moved, so an invalid `cro` must not look like a failure. */
export const executeAnswer = z.catch(z.object({ cro: z.catch(wordsOrNull, null) }), { cro: null });

/** `data` of the execution status of an instant transfer. */
export const executionStatusAnswer = z.object({
  executionStatus: words,
  executionStatusDescription: wordsOrNull,
});
