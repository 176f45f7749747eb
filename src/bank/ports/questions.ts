import type { IsoDate } from '../../domain/calendar.ts';
import type { Covered } from '../../domain/consent.ts';
import type { Psd2Error } from '../../errors.ts';
import type { BeforeSend, PsuIdentification } from './call.ts';
import type { ClientCredentials, ConsentDetails, ScaLinks } from './customer.ts';

// Questions to a bank that nobody has described yet. Each is one call, sent once. None of them can begin a payment that anybody can
// authorise.

/** What an answer shows of a bank that nobody has described yet. Each interface judges that in one place. */
export type QuestionVerdict =
  /** A success in the interface's own form. */
  | 'takes it'
  /** The bank does not have the product, the service or the call. */
  | 'is not there'
  | 'minds the content'
  | 'minds the signature'
  | 'minds the certificate'
  | 'minds the consent'
  | 'minds the state'
  | 'wants a token'
  /** The bank or its gateway forbids it, or has no time: psd2 asks no more. */
  | 'minds being asked'
  | 'fails'
  | 'is down'
  /** The bank's own word, about none of these. */
  | 'minds something else'
  /** Nobody's word, so it shows nothing of the bank. */
  | 'says nothing';

/** What the answer to a reading with a consent that does not exist shows of the signature. */
export type SignatureVerdict =
  /** The bank has looked at the consent, so it accepts the certificates and the signature. */
  | 'accepted'
  /** It wants a token first, so nothing is known of the signature. */
  | 'wants a token'
  | 'not shown';

/** What a bank answered to a question, whatever it was. */
export interface Heard {
  /** `POST /v1/consents` */
  asked: string;
  /** What the answer shows, as the interface judges it. */
  verdict: QuestionVerdict;
  /** The code of a refusal that is the bank's own. */
  code: string | null;
  /** The header or field that the refusal is about, in small letters. */
  path: string | null;
  /** The codes, paths and texts of a refusal, in small letters. */
  about: string;
  /** Status and code, for a list of answers. */
  brief: string;
  /** What a person reads: status, code, and the bank's words. */
  says: string;
  /** Null for a success. */
  refusal: Psd2Error | null;
  /** The answer has an `X-Request-ID` of the bank's, and not that of the request. */
  hasOwnId: boolean;
  /** What is neither JSON nor empty may come from a website or a gateway. */
  form: 'json' | 'step interface' | 'empty' | 'other';
}

/** What a bank answered to a request that may have begun something. */
export interface Begun extends Heard {
  /** The bank's id of what it has begun. Null: it has begun nothing, or does not say what. */
  id: string | null;
  /** The answer shows that nothing began. */
  beganNothing: boolean;
}

/** What a bank answered to the request to end what a question has begun. */
export interface Ended extends Heard {
  /** It has ended, by the bank's word. Else it stays: the bank refuses, wants the customer for it, or does not say. */
  isGone: boolean;
  /** The bank does not know it with this certificate, so nobody can end it. It may stay. */
  isNotKnown: boolean;
}

/** A payment that a question has begun. */
export interface BegunPayment {
  service: string;
  product: string;
  paymentId: string;
  /** As for any other payment: the bank may want to know it. */
  redirectUri: string;
}

export interface BegunConsent extends Begun {
  links: ScaLinks | null;
}

/** What a new consent is to be. */
export interface AskedConsent {
  access: Covered;
  validUntil: IsoDate;
  frequencyPerDay: number;
  recurring: boolean;
  redirectUri: string;
}

/** Which transactions a question asks for. */
export interface AskedTransactions {
  consentId: string;
  bookingStatus: string;
  dateFrom: IsoDate;
}

/** What goes with a question. */
export interface With {
  psu?: PsuIdentification | undefined;
  /** The token of the application. */
  bearer?: string;
  /** For a question that may begin something. */
  beforeSend?: BeforeSend;
}

/** An OAuth server, as its metadata tell (RFC 8414). */
export interface OAuthFacts {
  /** Absolute address of the metadata. */
  address: string;
  /** Null: the metadata do not say. */
  grantTypes: string[] | null;
  clientAuth: string[] | null;
  hasAuthorization: boolean;
}

export interface Questions {
  /** Reads the accounts with a consent that does not exist. */
  reading(more?: With): Promise<Heard & { signature: SignatureVerdict }>;
  consent(asked: AskedConsent, more?: With): Promise<BegunConsent>;
  /** How the consent is. `details` is null if the answer does not show it. */
  details(consentId: string, more?: With): Promise<Heard & { details: ConsentDetails | null }>;
  status(consentId: string, more?: With): Promise<Heard>;
  /** Starts the authorisation of a consent, of which nobody gets the link. */
  authorisation(consentId: string, more?: With): Promise<Heard & { links: ScaLinks | null }>;
  /** Asks for transactions of an account that does not exist, with a consent that nobody has authorised. */
  transactions(asked: AskedTransactions, more?: With): Promise<Heard>;
  /** Also after Ctrl-C. */
  deleteConsent(consentId: string, more?: With): Promise<Ended>;
  /** An empty object to a payment product: no bank can make a payment of it. */
  product(service: string, product: string, more?: With): Promise<Begun>;
  /**
   * For a bank that made something of an empty object all the same. If the customer is to authorise the cancellation, the bank is asked
   * once for the payment's status. Also after Ctrl-C.
   */
  cancelPayment(payment: BegunPayment, more?: With): Promise<Ended>;
  /** An empty object to the consents for confirmations of funds. */
  fundsConsent(more?: With): Promise<Begun>;
  /** Also after Ctrl-C. */
  deleteFundsConsent(consentId: string, more?: With): Promise<Ended>;
  /** The OAuth server where the standard has its metadata. Null: there is none. */
  oauthServer(named?: string): Promise<(Heard & { server: OAuthFacts | null }) | null>;
  /** @returns a token of the application. @throws Psd2Error if the bank gives none */
  applicationToken(client: ClientCredentials): Promise<string>;
}
