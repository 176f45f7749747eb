import * as z from 'zod';

// The shapes of `--json` (command contract, "What the data looks like"): these fields and no others.

const decimal = z.string().regex(/^-?\d+\.\d{2,}$/);
const day = z.iso.date();
const time = z.iso.datetime({ offset: true });
const money = z.strictObject({ amount: decimal, currency: z.literal('EUR') });
/** How a person ended a flow; null if nobody did. */
const resolution = z
  .strictObject({
    outcome: z.enum(['executed', 'not-executed']),
    by: z.string().regex(/^[^@]+@.+$/),
    at: time,
    note: z.string().max(500).nullable(),
  })
  .nullable();
const flowTimes = { createdAt: time, updatedAt: time };

export const login = z.strictObject({
  profile: z.string(),
  grantType: z.enum(['authorization_code', 'client_credentials']),
  customerId: z.string().regex(/^\d+$/).nullable(),
  scope: z.string().nullable(),
  accessTokenExpiresAt: time.nullable(),
  refreshTokenExpiresAt: time.nullable(),
});

/** Calls with client credentials are counted, since a bank limits them per day. */
export const applicationLogin = login.extend({ callsToday: z.int(), dailyLimit: z.int().nullable() });

export const customer = z.strictObject({ customerId: z.string().regex(/^\d+$/) });

export const accounts = z.array(
  z.strictObject({
    accountId: z.string().length(10),
    productId: z.string().length(10),
    iban: z.string().nullable(),
    currency: z.string(),
    name: z.string().nullable(),
    productCode: z.string().nullable(),
    productDescription: z.string().nullable(),
  }),
);

export const balance = z.strictObject({
  accountId: z.string().length(10),
  productId: z.string().length(10),
  accountBalance: money.nullable(),
  availableBalance: money.nullable(),
  accountAvailability: money.nullable(),
  accountAvailableCredit: money.nullable(),
  asOf: time.nullable(),
});

export const transaction = z.strictObject({
  index: z.string(),
  status: z.enum(['booked', 'pending']),
  bookingDate: day.nullable(),
  valueDate: day.nullable(),
  amount: decimal,
  currency: z.string().nullable(),
  description: z.string(),
  details: z.string(),
  code: z.string().nullable(),
  transferReference: z.string().nullable(),
  feeCharge: z.boolean().nullable(),
  // Only for a row that is booked for a day to come.
  future: z.literal(true).optional(),
});
export const transactions = z.array(transaction);

/** A row that `psd2 sync` writes. */
export const syncedRow = z.strictObject({ id: z.string(), ...transaction.omit({ index: true }).shape });

export const consent = z.strictObject({
  flow: z.string().startsWith('co-'),
  kind: z.literal('consent'),
  state: z.string(),
  resourceId: z.uuid().nullable(),
  transactionId: z.uuid(),
  customerId: z.string().regex(/^\d+$/),
  categories: z.array(
    z.strictObject({ name: z.string(), products: z.array(z.string()), outcome: z.boolean().nullable() }),
  ),
  resolution,
  ...flowTimes,
});

/** Why a bank has refused or rejected a payment. */
const bankReasons = z.array(
  z.strictObject({
    level: z.string(),
    code: z.string().nullable(),
    proprietary: z.string().nullable(),
    text: z.string().nullable(),
  }),
);

/** Who has authorised an order, at a NextGenPSD2 bank. */
const persons = {
  authorisations: z.array(z.unknown()),
  authorisedBy: z.array(z.string()),
  refusedBy: z.array(z.string()),
  waitsFor: z.array(z.string()).nullable(),
  cancellation: z.array(z.unknown()).nullable(),
};

export const transfer = z.strictObject({
  flow: z.string().startsWith('tr-'),
  kind: z.literal('transfer'),
  state: z.string(),
  resourceId: z.uuid().nullable(),
  transactionId: z.uuid(),
  customerId: z.string().regex(/^\d+$/),
  instant: z.boolean(),
  reference: z.string().nullable(),
  from: z.string().length(10),
  to: z.string(),
  name: z.string(),
  amount: decimal,
  currency: z.literal('EUR'),
  description: z.string(),
  ...persons,
  linkUntil: time.nullable(),
  unreadFees: z.string().optional(),
  remittanceStructured: z.string().nullable(),
  executionDate: day,
  totalAmount: money.nullable(),
  commissions: money.nullable(),
  bankName: z.string().nullable(),
  // At a NextGenPSD2 bank.
  product: z.string().nullable(),
  endToEndId: z.string().nullable(),
  transactionStatus: z.string().nullable(),
  scaStatus: z.string().nullable(),
  messages: z.array(z.string()),
  payeeSource: z.enum(['payer', 'payee']).nullable(),
  payeeCheck: z
    .strictObject({
      result: z.enum(['match', 'close', 'none', 'unavailable']),
      name: z.string().nullable(),
      problem: z.string().nullable(),
    })
    .nullable(),
  authorizationStatus: z.string().nullable(),
  executionStatus: z.string().nullable(),
  executionStatusDescription: z.string().nullable(),
  bankReasons,
  cro: z.string().nullable(),
  resolution,
  ...flowTimes,
});
export const transfers = z.array(transfer);

const decision = { by: z.string(), user: z.string(), machine: z.string(), at: time };
export const batch = z.strictObject({
  batch: z.string().regex(/^[0-9a-f]{64}(-\d+)?$/),
  note: z.string().nullable(),
  sha256: z.string().length(64),
  addedBy: z.string(),
  addedAt: time,
  approvals: z.array(z.strictObject(decision)),
  approvalsNeeded: z.int(),
  rejection: z.strictObject({ ...decision, note: z.string() }).nullable(),
  retryOf: z.string().nullable(),
  state: z.string(),
  lines: z.int(),
  customers: z.array(z.string()),
  totals: z.array(
    z.strictObject({ from: z.string(), currency: z.string(), count: z.int(), amount: decimal }),
  ),
  counts: z.record(z.string(), z.int()),
});
export const batchLine = z.strictObject({
  line: z.int(),
  batch: z.string(),
  reference: z.string().nullable(),
  flow: z.string().nullable(),
  state: z.string(),
  from: z.string().nullable(),
  name: z.string(),
  iban: z.string(),
  amount: decimal,
  currency: z.string(),
  description: z.string(),
  remittanceStructured: z.string().nullable(),
  executionDate: day.nullable(),
  endToEndId: z.string().nullable(),
  payeeCheck: transfer.shape.payeeCheck,
  reason: z.string().nullable(),
  refusedCall: z.nullable(z.string()),
  bankReasons,
  paidAt: time.nullable(),
});
export const batchLines = z.array(batchLine);

export const operation = z.strictObject({
  flow: z.string().startsWith('op-'),
  kind: z.literal('operation'),
  state: z.string(),
  operation: z.string(),
  product: z.string().length(10),
  resourceId: z.uuid().nullable(),
  nextStep: z.string().nullable(),
  transactionId: z.uuid(),
  customerId: z.string().regex(/^\d+$/),
  ...persons,
  totalAmount: money.nullable(),
  commissions: money.nullable(),
  authorizationStatus: z.string().nullable(),
  executionStatus: z.string().nullable(),
  executionStatusDescription: z.string().nullable(),
  bankReasons,
  messages: z.array(z.string()),
  cro: z.string().nullable(),
  resolution,
  ...flowTimes,
});

export const certificate = z.strictObject({
  subject: z.string(),
  issuer: z.string(),
  serialNumber: z.string().regex(/^[0-9a-f]+$/),
  notBefore: time,
  notAfter: time,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  organizationIdentifier: z.string().nullable(),
  qcType: z.enum(['web', 'eseal', 'esign']).nullable(),
  roles: z.array(z.enum(['PSP_AI', 'PSP_PI', 'PSP_IC', 'PSP_AS'])),
  ncaName: z.string().nullable(),
  ncaId: z.string().nullable(),
  keyMatches: z.boolean().nullable(),
});

const check = z.strictObject({
  name: z.string(),
  status: z.enum(['ok', 'warn', 'fail', 'skip']),
  detail: z.string(),
  fix: z.string().nullable(),
});
export const checks = z.strictObject({ ok: z.boolean(), checks: z.array(check) });
export const generated = z.strictObject({
  organizationIdentifier: z.string(),
  roles: z.array(z.string()),
  notAfter: time,
  files: z.strictObject({
    ca: z.string(),
    qwacCertificate: z.string(),
    qwacKey: z.string(),
    qsealCertificate: z.string(),
    qsealKey: z.string(),
  }),
});

/** A document of the bank, saved to a file. */
export const saved = z.strictObject({ file: z.string(), bytes: z.int().positive() });

export const error = z.strictObject({
  event: z.literal('error'),
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    exitCode: z.int(),
    hint: z.string().nullable(),
    next: z.array(z.array(z.string())),
    flow: z.string().nullable(),
    httpStatus: z.int().nullable(),
    bankCode: z.string().nullable(),
    requestId: z.string().nullable(),
    tppRequestId: z.uuid().nullable(),
    transactionId: z.uuid().nullable(),
    differs: z.array(z.string()).optional(),
  }),
});

const accountCheck = z.strictObject({
  takenFor: z.string().nullable(),
  productId: z.string(),
  balanced: z.boolean().nullable(),
  difference: decimal.nullable(),
  complete: z.boolean(),
  certainFrom: day.nullable(),
  certainThrough: day.nullable(),
  ...{ late: z.int(), coming: z.int(), cancelled: z.int(), vanished: z.int(), changed: z.int() },
  replaced: z.int(),
});

export const syncReport = z.strictObject({
  out: z.string().nullable(),
  since: day,
  nextReadsAt: time.nullable(),
  customers: z.array(
    z.strictObject({
      customerId: z.string(),
      status: z.enum(['synced', 'partly', 'waiting', 'failed']),
      accounts: z.int(),
      newTransactions: z.int(),
      pending: z.int(),
      skipped: z.array(z.string()),
      errors: z.array(
        z.strictObject({ productId: z.string().nullable(), code: z.string(), message: z.string() }),
      ),
      checks: z.array(accountCheck),
    }),
  ),
  totals: z.strictObject({
    customers: z.int(),
    synced: z.int(),
    accounts: z.int(),
    newTransactions: z.int(),
    pending: z.int(),
    calls: z.int(),
  }),
});

export const syncStatus = z.strictObject({
  begunAt: time,
  endedAt: time.nullable(),
  due: z.int(),
  atWork: z.int(),
  done: z.strictObject({ synced: z.int(), partly: z.int(), waiting: z.int(), failed: z.int() }),
  failures: z.array(
    z.strictObject({ code: z.string(), customers: z.int(), customerId: z.string(), message: z.string() }),
  ),
  needSca: z.array(z.string()),
  workers: z.array(z.strictObject({ worker: z.string(), customers: z.int() })),
  callsPerSecond: z.number().nullable(),
  customersPerSecond: z.number().nullable(),
  doneAt: time.nullable(),
  doubts: z.array(
    accountCheck.pick({ productId: true, balanced: true, difference: true, complete: true }).extend({
      ...{ customerId: z.string(), at: time, certainFrom: day.nullable(), message: z.string() },
    }),
  ),
});

/** A call of `psd2 log`. */
export const loggedCall = z.strictObject({
  at: z.iso.datetime(),
  profile: z.string(),
  host: z.string(),
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
  path: z.string().regex(/^\/[^?]*$/),
  status: z.int().nullable(),
  failure: z.string().nullable(),
  milliseconds: z.int(),
  tppRequestId: z.uuid(),
  transactionId: z.uuid(),
  requestId: z
    .string()
    .regex(/^\d{24}$/)
    .nullable(),
  apiTrackId: z.string().nullable(),
  connectMs: z.int().optional(),
  firstByteMs: z.int().optional(),
  run: z.string().optional(),
  flow: z.string().nullable(),
});

export const log = z.array(loggedCall);
