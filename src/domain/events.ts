import * as z from 'zod/mini';
import { REASON_LEVELS } from './bank-reason.ts';
import { type IsoDate, isIsoDate } from './calendar.ts';
import { CONSENT_CATEGORIES } from './consent-category.ts';
import { type Decimal, isDecimal } from './decimal.ts';
import type { AccountId } from './identifiers.ts';
import type { Iban } from './order/iban.ts';
import { PAYEE_RESULTS, PAYEE_SOURCES } from './order/payee-check.ts';
import { FREQUENCIES } from './order/terms.ts';

// What can happen to a flow: the lines of its journal. The types of events and orders are inferred from here. You may add a
// field. Never change what a field means: psd2 must always read old journals.
// Only the store imports these values, and `z.lazy` builds a schema when the first line is read: most commands only look
// whether a flow is unfinished, and completion reads no flow.

const isString = (value: unknown): value is string => typeof value === 'string';
export const decimal = z.custom<Decimal>((value) => isString(value) && isDecimal(value));
export const isoDate = z.custom<IsoDate>((value) => isString(value) && isIsoDate(value));
export const iban = z.custom<Iban>(isString);
export const productId = z.custom<AccountId>(isString);
const money = z.object({ amount: decimal, currency: z.string() });
const textOrNull = z.nullable(z.string());

/** The first event of every flow has these. The transaction id goes into a header of each call. */
const created = {
  type: z.literal('created'),
  flow: z.string(),
  transactionId: z.string().check(z.regex(/^[\x21-\x7e]+$/)),
};

/**
 * An intent: `…-sent`. It is on disk before its request leaves, with the request's `TPP-Request-ID` and the `Digest` header,
 * which a GET does not have.
 */
const intent = { requestId: z.string(), digest: textOrNull };

const scaMethod = z.object({
  id: z.string(),
  type: z.string(),
  version: z.exactOptional(z.string()),
  name: z.exactOptional(z.string()),
  explanation: z.exactOptional(z.string()),
});

/** What the customer needs for a TAN. It is no secret, and useless without them. */
const scaChallenge = z.object({
  information: z.exactOptional(z.string()),
  data: z.exactOptional(z.array(z.string())),
  image: z.exactOptional(z.string()),
  otpMaxLength: z.exactOptional(z.string()),
  otpFormat: z.exactOptional(z.string()),
});

const giftKind = z.enum(['password', 'method', 'code']);

/** What the customer gives psd2 next, at a bank that wants it from psd2 (docs/embedded.md). A journal has only what it is. */
export const scaStep = z.object({
  next: giftKind,
  link: z.exactOptional(z.string()),
  methods: z.exactOptional(z.array(scaMethod)),
  chosen: z.exactOptional(scaMethod),
  challenge: z.exactOptional(scaChallenge),
});

/** Where the customer authorises a consent or a payment, as the bank's links say. */
const scaLinks = z.object({
  approach: z.nullable(z.enum(['redirect', 'decoupled', 'embedded'])),
  id: z.exactOptional(z.string()),
  redirect: z.exactOptional(z.string()),
  oauth: z.exactOptional(z.string()),
  start: z.exactOptional(z.string()),
  status: z.exactOptional(z.string()),
  usualStatus: z.exactOptional(z.string()),
  confirmation: z.exactOptional(z.string()),
  isDone: z.exactOptional(z.literal(true)),
  /** When the bank made them, by its own clock (`Date`), ISO 8601. */
  madeAt: z.exactOptional(z.string()),
  message: z.exactOptional(z.string()),
  unusable: z.exactOptional(z.string()),
  step: z.exactOptional(scaStep),
  /** The link that begins an authorisation with the customer's password. */
  begins: z.exactOptional(z.string()),
});

/** What the customer gives psd2 for an authorisation. What it is, no line has. */
const ofCredentials = [
  /** It is about to leave. From here on, what they authorise may have an effect without psd2. */
  z.object({
    type: z.literal('credential-sent'),
    what: giftKind,
    ...intent,
    /** It begins an authorisation. */
    begins: z.exactOptional(z.literal(true)),
    psuId: z.exactOptional(z.string()),
    /** They authorise the cancellation of the payment. */
    ofCancellation: z.exactOptional(z.literal(true)),
    /** It had left before, and the log of calls alone knew it: this journal was restored from an older state. */
    isFound: z.exactOptional(z.literal(true)),
  }),
  /** No byte of it has left. */
  z.object({
    type: z.literal('credential-not-begun'),
    ofCancellation: z.exactOptional(z.literal(true)),
  }),
  /** The bank has said what became of it, and what is next. `id`: of the authorisation of a cancellation. */
  z.object({
    type: z.literal('credential-answered'),
    scaStatus: textOrNull,
    links: z.exactOptional(scaLinks),
    id: z.exactOptional(z.string()),
    ofCancellation: z.exactOptional(z.literal(true)),
  }),
] as const;

/** The links that are left: the bank does not know the others. */
const linksLeft = z.object({ type: z.literal('links-left'), links: scaLinks });

/** The customer was sent to the bank. `psuId`: who the bank was told that it is. */
const scaStarted = z.object({
  type: z.literal('sca-started'),
  links: z.exactOptional(scaLinks),
  psuId: z.exactOptional(z.string()),
});

/** What the bank says that a payment costs: its fees, and what leaves the account with them. */
export const cost = z.object({
  totalAmount: z.nullable(money),
  commissions: z.nullable(money),
  /** What the bank says of fees that psd2 cannot read or add. */
  unreadFees: z.exactOptional(z.string()),
});

/** What the bank says to psd2 and to the customer beside what it was asked. */
const messages = z.exactOptional(z.array(z.string()));

/** The bank's own words for a payment and its authorisation, at a bank that has them. */
const bankWords = z.object({
  transactionStatus: textOrNull,
  scaStatus: textOrNull,
  /** What it says then that the payment costs. */
  cost: z.exactOptional(cost),
  messages,
});
const bank = z.exactOptional(bankWords);

/** Why the bank has rejected or refused it, the reason that counts first. The description beside them has the same in words. */
const reasons = z.exactOptional(
  z.array(
    z.object({
      level: z.enum(REASON_LEVELS),
      code: textOrNull,
      proprietary: textOrNull,
      text: textOrNull,
    }),
  ),
);

/** The customer's decision, with the bank's own status. */
export const authorization = z.object({
  type: z.literal('authorization'),
  /** The meaning of the bank's status. Any unknown value means pending. */
  status: z.enum(['AUTHORIZED', 'NOT_AUTHORIZED', 'EXPIRED', 'PENDING']),
  bankStatus: z.string(),
  /** Why the bank has rejected what the customer has refused, in its words. */
  description: z.exactOptional(z.string()),
  reasons,
  bank,
});

/** A person resolved a flow (command contract, "A person can end an unknown"). The journal's line has the time. */
export const resolved = z.object({
  type: z.literal('resolved'),
  /** For a consent, `executed` means confirmed. */
  outcome: z.enum(['executed', 'not-executed']),
  /** The operating system's user and the host's name: `ada@pisp-1`. */
  by: z.string(),
  /** The reason, in the person's own words. */
  note: textOrNull,
});

/**
 * The certificate of the connection with which a consent or a payment was begun. To another one, the bank may say that it does not know
 * it. Absent: an older psd2 began it, or the interface has no use for it.
 */
export const certificateName = z.object({
  /** Its subject and serial number, for people. */
  name: z.string(),
  /** Its SHA-256 fingerprint. */
  sha256: z.string(),
});
const certificate = z.exactOptional(certificateName);

/** The bank's answer to the verification of an order. */
export const verification = z.object({
  resourceId: z.string(),
  ...cost.shape,
  bankName: textOrNull,
  /** The next step that the bank expects, as the last part of its path: `execute` or `verify<N>`. */
  nextStep: z.string(),
  bank,
  links: z.exactOptional(scaLinks),
  /** For example of the payee's name. */
  messages,
});

/** The meaning of an execution status. */
export const settlement = z.object({
  status: z.enum(['OK', 'KO', 'PENDING']),
  description: textOrNull,
  reasons,
  bank,
});

/** The events of an operation that say nothing more. */
const bareStep = z.enum([
  /** The request never left, or the bank refused it without processing it (401, 420). */
  'verify-not-begun',
  /** Resumed after a further step without an answer: psd2 verifies the order again, as a new resource. */
  'verify-again',
  'accepted',
  /** The operator has seen the fees that the bank has told so far. */
  'fees-accepted',
  /** The bank has refused to begin another authorisation. */
  'approach-refused',
  /** Nobody can authorise the payment whose answer was lost: psd2 initiates it again, as a new resource. */
  'initiate-again',
  'sca-returned',
  /** The bank has taken the request to cancel the payment: from now on, "unknown" means that it is gone. */
  'cancel-taken',
  /** The bank has the request to cancel the payment, and wants somebody to authorise that. */
  'cancel-begun',
  /** The bulk payment of a transfer never reached the bank. Or its signing basket is none, so it can be authorised otherwise. */
  'bulk-left',
  /** The link that a customer had when the bank cancelled the payment works no more. */
  'link-over',
  /** Resumed while the bank still waits: psd2 sends the customer to SCA again. */
  'sca-again',
  /** No byte of the request left. `execute` may be sent again. */
  'execute-not-begun',
  /**
   * The bank says that it refused the request unread (401, 420, 429). A gateway may have delivered it twice, so psd2
   * asks for the status before it sends `execute` again.
   */
  'execute-turned-away',
]);

/** `description`: why psd2 gave it up. `linkUntil`: a customer has a link that may work until then, by the bank's clock. */
const cancelled = z.object({
  type: z.literal('cancelled'),
  description: z.exactOptional(z.string()),
  reasons,
  bank,
  linkUntil: z.exactOptional(z.string()),
});

/** What happens while the bank is asked to cancel the payment. */
const ofCancellation = [
  /** The customer, or another person, gets the links to authorise the cancellation. */
  z.object({
    type: z.literal('cancel-sca-started'),
    id: z.exactOptional(z.string()),
    psuId: z.exactOptional(z.string()),
    /** Only where the customer gives psd2 something: a cancellation that was stopped goes on with them. */
    links: z.exactOptional(scaLinks),
  }),
  /** How far an authorisation of the cancellation is, in the bank's word. */
  z.object({ type: z.literal('cancel-noted'), id: z.exactOptional(z.string()), scaStatus: z.string() }),
  /** What the bank says beside its answer to the request. */
  z.object({ type: z.literal('cancel-told'), messages: z.array(z.string()) }),
] as const;

/** Its outcome is not known. `description`: the refusal that does not decide it. */
const unanswered = z.object({
  type: z.literal('execute-unanswered'),
  description: z.optional(z.string()),
  reasons,
  bank,
  /** The bank has rejected it because it has another one like it. */
  isDuplicate: z.exactOptional(z.literal(true)),
  /** The bank says that it has cancelled it, and that the customer has authorised it since. */
  isPaidByLink: z.exactOptional(z.literal(true)),
});

/** `isFinal`: the bank has settled it (the standard, `payments.final`). */
const executed = z.object({
  type: z.literal('executed'),
  cro: textOrNull,
  bank,
  isFinal: z.exactOptional(z.literal(true)),
});

/** All events of an operation (a transfer is one) after the creation. */
export const stepEvent = z.lazy(() =>
  z.discriminatedUnion('type', [
    z.object({
      type: z.enum([
        'verify-sent',
        'further-verify-sent',
        'approach-sent',
        'execute-sent',
        /** The confirmation code of SCA; the request that the bank cancels a payment. */
        'code-sent',
        'cancel-sent',
      ]),
      ...intent,
      /** With `approach-sent`: the person whose authorisation begins. */
      psuId: z.exactOptional(z.string()),
      /** With the initiation of a payment that may be repeated: the bank's own time just before, ISO 8601. */
      bankTime: z.exactOptional(z.string()),
    }),
    z.object({ type: z.enum(['verified', 'further-verified']), ...verification.shape, certificate }),
    /** The operator gave the data of the further steps later. */
    z.object({ type: z.literal('further-data'), data: z.array(z.string()) }),
    z.object({ type: bareStep }),
    ...ofCancellation,
    ...ofCredentials,
    /**
     * The bank has deleted its signing basket, whose link a customer has had: the payment is alone again, and may run all the same.
     * `linkUntil`: the link may work until then, by the bank's clock.
     */
    z.object({ type: z.literal('basket-deleted'), linkUntil: z.exactOptional(z.string()) }),
    /** The transfer goes with a bulk payment or a signing basket: the operation `bulk`. psd2 sends that next. */
    z.object({ type: z.literal('bulk-joined'), bulk: z.string() }),
    cancelled,
    scaStarted,
    linksLeft,
    /** The bank tells the cost with the authorisation that has begun, before the customer has the link. */
    z.object({ type: z.literal('cost-told'), ...cost.shape }),
    /** The account that the customer has chosen at the bank, as the bank names it. Null: psd2 has forgotten the customer. */
    z.object({ type: z.literal('debtor-named'), account: textOrNull }),
    z.object({ type: z.literal('verify-refused'), description: z.optional(z.string()), reasons }),
    z.object({
      type: z.literal('payee-checked'),
      result: z.enum(PAYEE_RESULTS),
      name: textOrNull,
      problem: textOrNull,
      source: z.optional(z.enum(PAYEE_SOURCES)),
    }),
    authorization,
    executed,
    /** The bank will execute what the customer has authorised. */
    z.object({ type: z.literal('ordered'), bank }),
    z.object({ type: z.literal('execute-refused'), description: z.string(), reasons }),
    unanswered,
    z.object({ type: z.literal('settlement'), ...settlement.shape }),
    resolved,
  ]),
);

/**
 * How psd2 creates a payment that the customer authorises by links, with what the bank file said of it then: a later edit changes
 * nothing of an open flow.
 */
export const initiation = z.object({
  service: z.enum(['payments', 'periodic-payments', 'bulk-payments', 'signing-baskets']),
  /** Empty for a signing basket. */
  product: z.string(),
  /** Of a bulk payment or a signing basket, the id that psd2 gave it. Empty: the bank takes none. */
  endToEndId: z.string(),
  /** The bytes of the body. */
  body: z.string(),
  /** Where the customer's browser returns to, and what ties the return to this flow. */
  returnAddress: z.string(),
  returnState: z.string(),
  /** For so long the same bytes with the same id give the same payment. Null: they may give another one. */
  repeatMinutes: z.nullable(z.number()),
  /** The customer can authorise only with the link in the bank's answer. */
  needsLink: z.boolean(),
  executesWithoutSca: z.enum(['possible', 'never']),
  /** It goes into a signing basket, so psd2 asks the bank to start no authorisation with it. */
  forBasket: z.exactOptional(z.literal(true)),
});

/** The events of an operation with orders of one kind. */
const operationEvent = <Order extends z.ZodMiniType>(order: Order) =>
  z.union([
    z.object({
      ...created,
      /** Who takes the step that cannot be undone. */
      commits: z.enum(['on execute', 'by the customer']),
      order,
      furtherData: z.optional(z.array(z.string())),
      /** Absent if the customer authorises it by a call. */
      initiation: z.exactOptional(initiation),
    }),
    stepEvent,
  ]);

/** An address in parts. SEPA wants the town, too; some banks take a country alone. */
const postalAddress = z.object({
  street: z.exactOptional(z.string()),
  building: z.exactOptional(z.string()),
  postcode: z.exactOptional(z.string()),
  town: z.exactOptional(z.string()),
  country: z.string(),
});

/** The payee's reference in place of a text (ISO 20022 `CdtrRefInf`). */
export const creditorReference = z.object({ reference: z.string(), type: z.string(), issuer: textOrNull });

/** How often a standing order pays. Its first day is the execution date. */
const standingTerms = z.object({
  frequency: z.enum(FREQUENCIES),
  end: z.nullable(isoDate),
  /** Day of the month, 1 to 31. */
  day: z.nullable(z.number()),
});

/**
 * The fields of every order: the customer, and the product of the operation. Null: the customer chooses the account to debit at
 * the bank.
 */
const target = { customerId: z.string(), from: z.nullable(productId) };

/** The order is what the operator ordered. */
export const transferEvent = z.lazy(() =>
  operationEvent(
    z.object({
      ...target,
      to: iban,
      name: z.string(),
      amount: decimal,
      currency: z.string(),
      description: z.string(),
      instant: z.boolean(),
      /** The wire field `type`. Null if it is not sent. */
      type: textOrNull,
      executionDate: isoDate,
      /** The execution date is after the day of the order, so an instant transfer is not executed at once. */
      futureDated: z.boolean(),
      urgent: z.boolean(),
      /** The operator's own reference, used once per profile. */
      reference: textOrNull,
      /** The IBAN of the debited account, if it was known. */
      fromIban: z.optional(z.string()),
      /** Of several accounts with this IBAN, the one in this currency. */
      fromCurrency: z.exactOptional(z.string()),
      /** The same of the payee's. */
      toCurrency: z.exactOptional(z.string()),
      /** Who gave the payee's name and IBAN, if the operator said so. */
      payeeSource: z.optional(z.enum(PAYEE_SOURCES)),
      payeeAddress: z.exactOptional(postalAddress),
      creditorReference: z.exactOptional(creditorReference),
      /** In a bulk payment, whether the bank shall book the sum of all. Absent: nobody said it. */
      batchBooking: z.exactOptional(z.boolean()),
      standing: z.exactOptional(standingTerms),
      /** The most that it may take from the account, with the bank's fees. Absent: only the profile has a limit. */
      maxCost: z.exactOptional(decimal),
      /** The batch and the line of it that this transfer pays, if it is one of a batch. */
      batch: z.optional(z.object({ batch: z.string(), line: z.number() })),
    }),
  ),
);

export const genericEvent = z.lazy(() =>
  operationEvent(
    z.object({
      ...target,
      /** The operation's name, for example `standingOrder`. */
      operation: z.string(),
      /** The `data` of the verify request: JSON from the operator, unchanged. */
      data: z.string(),
    }),
  ),
);

/** What a consent covers. Accounts are IBANs, or the bank's other names for them. */
const covered = z.discriminatedUnion('type', [
  // Exactly these. Balances and transactions are among the accounts.
  z.object({
    type: z.literal('dedicated'),
    accounts: z.array(z.string()),
    balances: z.array(z.string()),
    transactions: z.array(z.string()),
  }),
  // The customer chooses the accounts at the bank.
  z.object({ type: z.literal('bank-offered'), balances: z.boolean(), transactions: z.boolean() }),
  z.object({ type: z.enum(['all-accounts', 'list-only', 'list-with-balances']) }),
  // One account, and a card that its money pays for. Numbers of cards are masked.
  z.object({
    type: z.literal('funds'),
    account: z.string(),
    cardNumber: z.exactOptional(z.string()),
    cardExpiryDate: z.exactOptional(isoDate),
    cardInformation: z.exactOptional(z.string()),
    /** What the operator has agreed with the customer. */
    registrationInformation: z.exactOptional(z.string()),
  }),
]);
/** What the operator asks for, at a bank where the customer's SCA alone grants a consent. Absent terms are the bank's. */
const consentTerms = z.object({
  access: covered,
  validUntil: isoDate,
  frequencyPerDay: z.number(),
  /** False: for one reading. */
  recurring: z.boolean(),
});
/** What a consent covers, in the interface's own words. */
const bankAccess = z.exactOptional(z.looseObject({}));
/** The bank has the customer's word. What it says of the terms counts. */
const granted = z.object({
  type: z.literal('granted'),
  bankStatus: z.string(),
  validUntil: z.nullable(isoDate),
  frequencyPerDay: z.nullable(z.number()),
  recurring: z.nullable(z.boolean()),
  /** What the customer has granted. Absent: the bank does not say. */
  access: bankAccess,
  messages,
});
/** The bank has another word for it, and the customer has not decided: another person must authorise it, too. */
const noted = z.object({
  type: z.literal('noted'),
  bankStatus: z.string(),
  /** How far the authorisation is that psd2 began last. */
  scaStatus: z.exactOptional(z.string()),
  messages,
});
/** The bank has ended it, or the customer has refused it or taken it back. */
const ended = z.object({
  type: z.literal('ended'),
  state: z.enum(['rejected', 'expired', 'cancelled', 'revoked']),
  bankStatus: textOrNull,
  /** As in {@link noted}. */
  scaStatus: z.exactOptional(z.string()),
  messages,
});

const requested = z.object({
  type: z.literal('requested'),
  resourceId: z.string(),
  outcomes: z.array(z.object({ name: z.string(), outcome: z.boolean() })),
  /** The terms that were asked for, with the bank's defaults. */
  terms: z.exactOptional(consentTerms),
  /** What was asked for. */
  access: bankAccess,
  /** The bank's own word for its status. */
  bankStatus: z.exactOptional(z.string()),
  /** Earlier consents of the customer stay valid. */
  besideOthers: z.exactOptional(z.boolean()),
  links: z.exactOptional(scaLinks),
  messages,
  certificate,
});

export const consentEvent = z.lazy(() =>
  z.discriminatedUnion('type', [
    z.object({
      ...created,
      customerId: z.string(),
      categories: z.array(z.object({ name: z.enum(CONSENT_CATEGORIES), products: z.array(productId) })),
      /** The customer's SCA alone grants it: nobody confirms it. Absent at a bank where psd2 confirms. */
      terms: z.exactOptional(
        z.object({
          access: z.exactOptional(covered),
          validUntil: z.exactOptional(isoDate),
          frequencyPerDay: z.exactOptional(z.number()),
          recurring: z.exactOptional(z.boolean()),
        }),
      ),
      /** What ties the return of the customer's browser to this flow. */
      returnState: z.exactOptional(z.string()),
    }),
    z.object({ type: z.enum(['request-sent', 'approach-sent', 'confirm-sent']), ...intent }),
    requested,
    scaStarted,
    ...ofCredentials,
    linksLeft,
    granted,
    noted,
    ended,
    /** The bank has taken the request to delete it: from now on, "unknown" means that it is gone. */
    z.object({ type: z.literal('delete-taken'), bankStatus: z.string() }),
    z.object({
      type: z.enum([
        /** The request never left, or the bank refused it without processing it (401, 420). */
        'request-not-begun',
        'request-refused',
        /** The bank would grant none of the categories. */
        'all-refused',
        'sca-returned',
        /** No byte of the request left. `confirm` may be sent again. */
        'confirm-not-begun',
        /**
         * The bank says that it refused the request unread (401, 420, 429), or that it came too early. A gateway may have
         * delivered it twice, so psd2 asks for the status before it sends `confirm` again.
         */
        'confirm-turned-away',
        'confirmed',
        'confirm-refused',
        'confirm-unanswered',
        /** The operator cancelled it, or no request ever reached the bank. */
        'cancelled',
      ]),
    }),
    authorization,
    resolved,
  ]),
);
