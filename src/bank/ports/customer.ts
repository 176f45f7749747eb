import type { IsoDate } from '../../domain/calendar.ts';
import type { ConsentCategoryRequest, ConsentTerms } from '../../domain/consent.ts';
import type { EmbeddedStep } from '../../domain/embedded.ts';
import type { CertificateName } from '../../domain/flow.ts';
import type { Cost } from '../../domain/operation.ts';
import type { ResourceStatus, ScaProgress } from '../../domain/payment-answers.ts';
import type { Psd2Error } from '../../errors.ts';
import type { Secret } from '../../secret.ts';
import type { BeforeSend, PsuIdentification } from './call.ts';

// What a customer grants: login, consents, SCA.

/** The application as the bank knows it, if it does not choose its own id. */
export interface BankClient {
  clientId: string;
  needsSecret: boolean;
}

/** A client of the bank's OAuth server. */
export interface ClientCredentials {
  clientId: string;
  clientSecret: string;
  /** The address of the OAuth server's metadata (RFC 8414), if the bank has named it with a resource. */
  server?: string;
}

/** Tokens from the bank. Lifetimes are in seconds from now, null if the bank gave none. */
export interface GrantedTokens {
  accessToken: string;
  expiresIn: number | null;
  refreshToken: string | null;
  refreshExpiresIn: number | null;
  scope: string | null;
}

export type Grant =
  | { grant_type: 'authorization_code'; code: string; redirect_uri: string; code_verifier?: string }
  | { grant_type: 'refresh_token'; refresh_token: string }
  | { grant_type: 'client_credentials' };

/** The start of a login. */
export interface LoginStart {
  clientId: string;
  /** Where the customer's browser returns to. */
  redirectUri: string;
  state: string;
  /** The secret that ties the code to this psd2 (RFC 7636), if {@link Login.tiesCodes}. */
  codeVerifier?: string;
  /** Where a token is for readings or for payments: for payments. */
  isForPayments?: boolean;
  transactionId: string;
}

/** How customers and applications log in at a bank. All throw Psd2Error if the bank gives no usable answer. */
export interface Login {
  /** A flow makes a secret for each login, and gives it to `authorize` and with the code (RFC 7636). */
  tiesCodes?: boolean;
  /**
   * Checks who sent the customer's browser back (RFC 9207), before the code is used.
   *
   * @param iss the parameter of that name, or null without one
   * @throws Psd2Error `login_refused`
   */
  assertIssuer?(iss: string | null, server: string | undefined, transactionId: string): Promise<void>;
  /** @returns the address on the bank's customer site that the customer's browser must open */
  authorize(login: LoginStart): Promise<string>;
  /**
   * Makes one call, once, that shows whether the bank accepts the application and its signature, for a diagnosis: the first
   * error matters. At a bank where customers log in, it is `authorize`.
   */
  probe(login: LoginStart): Promise<LoginProbe>;
  /**
   * Gets tokens for a grant. After sending the call, psd2 waits for the answer even after Ctrl-C, because a code or a refresh
   * token works only once.
   */
  tokens(
    client: ClientCredentials,
    grant: Grant,
    transactionId: string,
    beforeSend?: BeforeSend,
  ): Promise<GrantedTokens>;
  /** @returns false if the bank has no such call: its tokens end by themselves */
  revoke(
    client: ClientCredentials,
    token: string,
    kind: 'access_token' | 'refresh_token',
    transactionId: string,
  ): Promise<boolean>;
  /** The id of the token's customer. */
  whose(transactionId: string, how?: { bearer?: string; interruptible?: 'never' }): Promise<string>;
}

export interface LoginProbe {
  /** The bank's `Date` (RFC 9110, section 6.6.1). */
  date: string | undefined;
  /** @throws Psd2Error if the bank does not accept the call */
  judge(): Promise<Verdict>;
}

/** What an answer to a diagnosis shows. */
export interface Verdict {
  /** In words. */
  says: string;
  /** The bank refused something else before it showed what it thinks of the signature. */
  isUnsure?: 'asks for a token' | 'other';
  /** The bank's code of that refusal. Absent: what answered may not be the bank. */
  code?: string;
}

/** A consent as the bank's status shows it. */
export interface ConsentStatus {
  /** The bank's own word. */
  consentStatus: string;
  /** What it means. A word that the interface does not know grants nothing. */
  means: 'open' | 'unknown' | 'valid' | 'rejected' | 'expired' | 'revoked' | 'ended by us';
  /** Somebody has authorised it, and others must. */
  isPartly?: true;
  /** What the bank says to psd2 and to the customer beside it. Absent: nothing. */
  messages?: string[];
}

/** A consent as the bank has it. What the bank does not say is null. */
export interface ConsentDetails extends ConsentStatus {
  validUntil: IsoDate | null;
  frequencyPerDay: number | null;
  recurring: boolean | null;
  /** The bank's own JSON, unread. */
  access: Record<string, unknown> | null;
}

/** A consent that the bank has noted, and that the customer authorises. */
export interface RequestedConsent {
  resourceId: string;
  /** For each category, whether the bank would grant it. */
  outcomes: { name: string; outcome: boolean }[];
  /** With terms: what was asked for, with every default. */
  terms?: ConsentTerms;
  /** With terms: the accounts, and what may be read of them, in the interface's own words. */
  access?: Record<string, unknown>;
  /** The bank's own word for its status, if it has one. */
  bankStatus?: string;
  /** Whether an earlier consent of the customer stays valid beside this one. */
  besideOthers?: boolean;
  /** What is next for SCA, if the answer says it. `Sca.proceed` takes it. */
  links?: ScaLinks;
  /** As in {@link ConsentStatus}. */
  messages?: string[];
  /** The certificate with which it was begun. */
  certificate?: CertificateName;
}

/** What a bank answers to the request to delete a consent. */
export interface ConsentEnd {
  /** Its word for the status once it has ended. */
  bankStatus: string;
  /** The bank still had it, and can be asked how it has ended: perhaps before, and otherwise. */
  wasThere?: true;
  /** The customer must authorise the end: at a page, or elsewhere (null). Absent: it has ended. */
  authorise?: { page: string | null; links: ScaLinks };
}

/** The consents of customers. All throw Psd2Error if the bank gives no usable answer. */
export interface Consents {
  /**
   * Checks terms before a flow begins for them. Absent: the bank has no terms.
   *
   * @throws Psd2Error `usage` or `invalid_date` for terms that the bank does not offer
   */
  checkTerms?(terms: Partial<ConsentTerms>): void;
  /**
   * @returns the resource that the customer authorises, and for each category whether the bank would grant it
   * @throws Psd2Error `usage` for terms that the bank does not offer
   */
  request(consent: {
    customerId: string;
    categories: ConsentCategoryRequest[];
    /** Absent terms are the bank's defaults. */
    terms?: Partial<ConsentTerms>;
    /** Where the customer's browser returns to, at a bank that wants to know it now. */
    redirectUri?: string;
    transactionId: string;
    beforeSend: BeforeSend;
  }): Promise<RequestedConsent>;
  /**
   * Confirms a consent that the customer has authorised.
   *
   * @throws Psd2Error `bank_answer` for an answer that belongs to another request: it decides nothing
   */
  confirm(consent: {
    customerId: string;
    resourceId: string;
    transactionId: string;
    beforeSend: BeforeSend;
  }): Promise<void>;
  /** Has the capability `consent status`. */
  status?(consentId: string, transactionId: string, decides?: Decides): Promise<ConsentStatus>;
  details?(consentId: string, transactionId: string, decides?: Decides): Promise<ConsentDetails>;
  /**
   * Has the capability `consent deletion`: ends the consent at the bank. One that has ended already is no error.
   *
   * @param before whether the bank has taken an earlier request to delete it: then one that it does not know has ended
   * @throws Psd2Error if nothing shows that it has ended. `isNotKnown`: the bank does not know it with this certificate
   */
  delete?(consentId: string, transactionId: string, before: { wasTaken: boolean }): Promise<ConsentEnd>;
  /** The bank's word for the status of a consent that a newer one has ended. Absent: none does. */
  replaced?: string;
}

/**
 * Where a customer authorises a resource, as the bank's answers say (their `_links`). Plain data: a flow keeps it, because
 * psd2 can be stopped in between.
 */
export interface ScaLinks {
  /** The approach that the bank has chosen, if it has said so. */
  approach: 'redirect' | 'decoupled' | 'embedded' | null;
  /** The bank's id of the authorisation that has begun. */
  id?: string;
  /** For the customer's browser. */
  redirect?: string;
  /** The metadata of the OAuth server where the customer logs in. */
  oauth?: string;
  /** Starts an authorisation. */
  start?: string;
  /** Tells how far the authorisation is. */
  status?: string;
  /** As `status`, at the address of the interface. Only flows of earlier versions have it. */
  usualStatus?: string;
  /** Takes the confirmation code that the browser brings back. */
  confirmation?: string;
  /** The customer has nothing to do. */
  isDone?: true;
  /** When the bank made them, by its own clock, ISO 8601. */
  madeAt?: string;
  /** What the bank tells the customer. */
  message?: string;
  /** Why psd2 does not follow them. */
  unusable?: string;
  /** What the customer gives psd2 next, at a bank that wants it from psd2 (embedded SCA). */
  step?: EmbeddedStep;
  /** The link that begins an authorisation with the customer's password. */
  begins?: string;
}

/** The links of a bank that psd2 did not call as they are. */
export interface OddLinks {
  /** The names of those with another host, prefix or version. psd2 called the same at the base URL. */
  rewritten: ReadonlySet<string>;
  /** Those about something else than what they came with, whole, by their names. psd2 followed none. */
  foreign: ReadonlyMap<string, string>;
}

/**
 * The next thing that happens so that a customer authorises a resource. `links` are what a flow keeps from now on; `cost` is what the bank
 * says only now that it costs.
 */
export type ScaTurn = { links: ScaLinks; cost?: Cost } & (
  | { next: 'open'; url: string }
  /** As `open`; then the code that comes back gives tokens (`Login.tokens`, with `server`). */
  | { next: 'log in'; url: string; server: string }
  /** The customer authorises elsewhere, for example in the bank's app. */
  | { next: 'wait' }
  | { next: 'nothing' }
  /** The bank wants it from psd2. `Sca.give` sends it. */
  | { next: 'give'; step: EmbeddedStep }
);

/** What a customer gives psd2 for a step of embedded SCA. */
export type ScaGift =
  | { what: 'password' | 'code'; value: Secret }
  | {
      what: 'method';
      /** Its id at the bank. */
      value: string;
    };

/** The bank's answer to a step of embedded SCA, whatever it is. */
export interface ScaStepAnswer {
  /** What the flow keeps from now on. */
  links: ScaLinks;
  scaStatus: string | null;
  /** What the bank says only now that it costs. */
  cost?: Cost;
  /** Why it is no success: in the bank's words alone. It says nothing of the credential. */
  refusal?: Psd2Error;
}

/** What an authorisation needs, at a bank whose links say what is next. */
export interface ScaAuthorisation {
  resourceId: string;
  /** Null: nothing is known, so psd2 starts an authorisation. */
  links: ScaLinks | null;
  /** Where the customer's browser returns to, with `state`. The same as in the request, unless the authorisation starts now. */
  redirectUri: string;
  /** For a login with the consent: `redirect_uri` without `state`, which OAuth has as a field of its own. */
  login: { clientId: string; redirectUri: string; state: string; codeVerifier: string };
  /** Who authorises, if it is not the customer. */
  psu?: PsuIdentification | undefined;
  transactionId: string;
  beforeSend: BeforeSend;
}

/**
 * What the answer to a question decides: about an `execute`, `confirm` or initiation that was sent; or `an end`, which frees a
 * reference. Then it comes over a connection of its own, and must show that it is the answer to this request, if the bank can.
 */
export type Decides = boolean | 'an end' | undefined;

/** Strong Customer Authentication. All throw Psd2Error if the bank gives no usable answer. */
export interface Sca {
  /**
   * @param sca the resource to authorise, and the address that the customer's browser returns to
   * @returns the address on the bank's customer site
   * @throws Psd2Error `bank_answer` for an approach that psd2 does not support
   */
  start(sca: {
    resourceId: string;
    redirectUri: string;
    transactionId: string;
    beforeSend: BeforeSend;
  }): Promise<string>;
  /**
   * @throws Psd2Error `bank_answer` for a status of another resource
   */
  status(resourceId: string, transactionId: string, decides?: Decides): Promise<ResourceStatus>;
  /** How often the bank may be asked, and how long a link for the customer is good, if its description says so. */
  timing?: { pollSeconds: number; authorisationMinutes: number };
  /**
   * Does what the bank's links say, up to what the customer must do. Absent: `start` is all that the interface has.
   *
   * @throws Psd2Error `bank_answer` for an approach that psd2 does not support
   */
  proceed?(sca: ScaAuthorisation): Promise<ScaTurn>;
  /** Which of the links are odd. Asks nobody. */
  oddLinks?(resourceId: string, links: ScaLinks): OddLinks;
  /** The ids of the authorisations that the bank has of a resource. It may leave out those that are over. */
  authorisations?(resourceId: string, transactionId: string): Promise<string[]>;
  /** How far an authorisation is, if the bank gave no link to ask. Null if the bank lists none. */
  progressWithoutLink?(resourceId: string, transactionId: string): Promise<ScaProgress | null>;
  /** How far an authorisation is. Null if nothing says which one. */
  progress?(
    resourceId: string,
    links: ScaLinks,
    transactionId: string,
    decides?: Decides,
  ): Promise<ScaProgress | null>;
  /** The bank has embedded SCA, by its description: it may have got something of the customer's from psd2. */
  hasEmbedded?: true;
  /** It has no other way: psd2 decides before the first call whether it may take part. */
  isEmbeddedAlone?: true;
  /** The links with which another authorisation begins, of those that a flow has. Null: nothing says how. Asks nobody. */
  anew?(links: ScaLinks | null): ScaLinks | null;
  /** Whether a step of embedded SCA begins an authorisation. Asks nobody. */
  begins?(resourceId: string, links: ScaLinks): boolean;
  /**
   * Sends what the customer gave psd2, once, over a connection of its own. Nothing of it is kept or shown.
   *
   * @throws Psd2Error if there is no answer. A refusal is an answer
   */
  give?(sca: {
    resourceId: string;
    links: ScaLinks;
    gift: ScaGift;
    redirectUri: string;
    psu?: PsuIdentification | undefined;
    transactionId: string;
    beforeSend: BeforeSend;
  }): Promise<ScaStepAnswer>;
  /** Sends the confirmation code that the customer's browser brought back. */
  confirmCode?(sca: {
    resourceId: string;
    links: ScaLinks;
    code: string;
    transactionId: string;
    beforeSend: BeforeSend;
  }): Promise<ScaProgress>;
}
