import * as z from 'zod';

// The fields of `--json` that tests read. After each test, the schemas of psd2 say what else may be there, and nothing more
// (schemas.ts).

const decimal = z.string().regex(/^-?\d+\.\d{2,}$/);
const time = z.iso.datetime({ offset: true });
const text = z.string().nullable();
const money = z.object({ amount: decimal, currency: z.literal('EUR') }).nullable();

export const login = z.looseObject({ customerId: text, accessTokenExpiresAt: time.nullable() });
export const applicationLogin = login.extend({ callsToday: z.int(), dailyLimit: z.int().nullable() });
export const customer = z.looseObject({ customerId: z.string() });

export const accounts = z.array(z.looseObject({ accountId: z.string(), productId: z.string(), iban: text }));
export const balance = z.looseObject({
  productId: z.string(),
  accountBalance: money,
  availableBalance: money,
});
export const transaction = z.looseObject({
  status: z.enum(['booked', 'pending']),
  bookingDate: z.iso.date().nullable(),
  valueDate: z.iso.date().nullable(),
  amount: decimal,
  currency: text,
  details: z.string(),
});
export const transactions = z.array(transaction.extend({ index: z.string() }));
/** A row that `psd2 sync` writes. */
export const syncedRow = transaction.extend({ id: z.string() });

const flow = z.looseObject({
  flow: z.string(),
  state: z.string(),
  resourceId: z.uuid().nullable(),
  transactionId: z.uuid(),
});
export const consent = flow.extend({ kind: z.literal('consent') });
export const operation = flow.extend({ kind: z.literal('operation') });
export const transfer = flow.extend({
  kind: z.literal('transfer'),
  reference: text,
  createdAt: time,
  amount: decimal,
  totalAmount: money,
  commissions: money,
});
export const transfers = z.array(transfer);
export const batch = z.looseObject({ batch: z.string() });
export const batchLines = z.array(z.looseObject({ flow: text, state: z.string() }));

export const certificate = z.looseObject({ subject: z.string(), keyMatches: z.boolean().nullable() });
/** Certificates that psd2 has made. */
export const generated = z.looseObject({
  roles: z.array(z.string()),
  files: z.record(z.enum(['ca', 'qwacCertificate', 'qwacKey', 'qsealCertificate', 'qsealKey']), z.string()),
});
/** The results of `doctor`. */
export const checks = z.looseObject({
  ok: z.boolean(),
  checks: z.array(z.looseObject({ name: z.string(), status: z.string(), detail: z.string(), fix: text })),
});
/** A document of the bank, saved to a file. */
export const saved = z.looseObject({ bytes: z.int().positive() });

/** The last line of stderr. These fields and no others are the contract of each error. */
export const error = z.strictObject({
  event: z.literal('error'),
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    exitCode: z.int(),
    hint: text,
    next: z.array(z.array(z.string())),
    flow: text,
    httpStatus: z.int().nullable(),
    bankCode: text,
    requestId: text,
    tppRequestId: z.uuid().nullable(),
    transactionId: z.uuid().nullable(),
    differs: z.array(z.string()).optional(),
  }),
});

export const syncReport = z.looseObject({
  since: z.iso.date(),
  customers: z.array(
    z.looseObject({
      customerId: z.string(),
      status: z.enum(['synced', 'partly', 'waiting', 'failed']),
      newTransactions: z.int(),
      errors: z.array(z.unknown()),
      checks: z.array(z.looseObject({ productId: z.string() })),
    }),
  ),
  totals: z.looseObject({
    customers: z.int(),
    synced: z.int(),
    newTransactions: z.int(),
    calls: z.int(),
  }),
});
export const syncStatus = z.looseObject({ workers: z.array(z.unknown()) });

/** A call of `psd2 log`. */
export const loggedCall = z.looseObject({
  method: z.string(),
  // The query of an address can have a secret.
  path: z.string().regex(/^\/[^?]*$/),
  requestId: text,
  tppRequestId: z.uuid(),
  flow: text,
});
export const log = z.array(loggedCall);
