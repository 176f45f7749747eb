import { randomBytes, randomUUID } from 'node:crypto';
import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import type { CustomerMethod } from '../../customers/sca-methods.ts';
import { Shelf } from '../../shelf.ts';
import { type ConsentKind, type DoorConsent, kindOfConsent } from '../consents/consent.ts';
import type { DoorRules } from '../door-rules.ts';

/** How the customer authorises (NextGenPSD2, "SCA approaches"). */
export type Approach = 'redirect' | 'oauth' | 'decoupled' | 'embedded';

/** The states of an authorisation (NextGenPSD2, `scaStatus`) that the sandbox has. */
export type ScaStatus =
  | 'received'
  | 'psuIdentified'
  | 'psuAuthenticated'
  | 'scaMethodSelected'
  | 'started'
  | 'unconfirmed'
  | 'finalised'
  | 'exempted'
  | 'failed';

/** The words for what a customer has authorised, with SCA or without it. */
const DONE: readonly ScaStatus[] = ['finalised', 'exempted'];

/** Whether an authorisation has ended. */
export function isOver(status: ScaStatus): boolean {
  return status === 'failed' || DONE.includes(status);
}

/** How far the customer has come whom the TPP asks (embedded SCA). */
export interface EmbeddedProgress {
  method: CustomerMethod | undefined;
  /** What the answer to the chosen method says. */
  challengeData: Readonly<Record<string, unknown>> | undefined;
  /** The TAN that is right now. It is used once. */
  tan: string | undefined;
  wrongTans: number;
  /** The TPP has not begun it: its challenge came with what it authorises. */
  isPrepared: boolean;
  /** A fault: it failed, and the payment stays as it is. */
  leavesOpen: boolean;
}

/** What a customer authorises: it has authorisations of its own, below its own path. */
export interface ScaSubject {
  kind: ConsentKind | 'payment' | 'cancellation' | 'basket';
  /** Of the consent, the payment or the basket. */
  id: string;
  /** The values in the paths of its calls. */
  path: Readonly<Record<string, string>>;
}

/** A consent as what a customer authorises. */
export function subjectOfConsent(consent: Pick<DoorConsent, 'id' | 'type'>): ScaSubject {
  const { id } = consent;
  return { kind: kindOfConsent(consent), id, path: { consentId: id } };
}

/** A signing basket as what a customer authorises. */
export function subjectOfBasket({ id }: { id: string }): ScaSubject {
  return { kind: 'basket', id, path: { basketId: id } };
}

/** An authorisation of a consent, of a payment or its cancellation, or of a signing basket. */
export interface Authorisation {
  readonly id: string;
  readonly subject: ScaSubject;
  /** Embedded SCA becomes decoupled, if the customer chooses to approve in the app. */
  approach: Approach;
  readonly startedAt: Date;
  /** Where the customer's browser goes back to. Undefined: there is no browser to send back. */
  readonly redirectUri: string | undefined;
  /** Where it goes instead if the customer refuses. */
  readonly nokRedirectUri: string | undefined;
  /** The user whom the TPP named: only this one can authorise. */
  psuId: string | undefined;
  /** Lapsing is not written here: `Authorisations.statusOf` knows it. */
  status: ScaStatus;
  /** What the TPP must send back, if the bank wants a confirmation. */
  confirmationCode: string | undefined;
  /** Who approved it, and the product ids that they chose, if the bank offers the accounts. */
  approvedBy: { customerId: string; chosen: readonly string[] | undefined } | undefined;
  readonly embedded: EmbeddedProgress;
}

/** How long a customer can authorise something. */
export function lifetimeMs(
  minutes: BankDescription['sca']['authorisationMinutes'],
  kind: ScaSubject['kind'],
): number {
  if (typeof minutes === 'number') return minutes * 60_000;
  return (kind === 'consent' ? minutes.consents : minutes.payments) * 60_000;
}

/** The authorisations of the second door. One that is not finished lapses after `sca.authorisationMinutes`. */
export class Authorisations extends Shelf<Authorisation> {
  readonly #now: () => Date;
  readonly #minutes: BankDescription['sca']['authorisationMinutes'];
  readonly #withCodes: boolean;

  constructor({ now, description, variations }: { now: () => Date } & DoorRules) {
    super(({ approvedBy }) => [approvedBy?.customerId]);
    this.#now = now;
    this.#minutes = description.sca.authorisationMinutes;
    this.#withCodes = variations.includes('confirmation-codes');
  }

  start(
    subject: ScaSubject,
    {
      approach,
      redirectUri,
      nokRedirectUri,
      psuId,
    }: Pick<Authorisation, 'approach' | 'redirectUri' | 'nokRedirectUri' | 'psuId'>,
  ): Authorisation {
    return this.keep<Authorisation>({
      id: randomUUID(),
      approach,
      redirectUri,
      nokRedirectUri,
      psuId,
      subject,
      startedAt: this.#now(),
      status: psuId === undefined ? 'received' : 'psuIdentified',
      confirmationCode: undefined,
      approvedBy: undefined,
      embedded: {
        method: undefined,
        challengeData: undefined,
        tan: undefined,
        wrongTans: 0,
        isPrepared: false,
        leavesOpen: false,
      },
    });
  }

  /** The authorisations of a consent, a payment, a cancellation or a basket, oldest first. */
  of({ kind, id }: Pick<ScaSubject, 'kind' | 'id'>): Authorisation[] {
    return this.list().filter(({ subject }) => subject.kind === kind && subject.id === id);
  }

  /** Whether the customer refused, or let the time pass, in each authorisation that was started. */
  haveFailed(subject: Pick<ScaSubject, 'kind' | 'id'>): boolean {
    const started = this.of(subject);
    return (
      started.length > 0 &&
      started.every((one) => this.statusOf(one) === 'failed' && !one.embedded.leavesOpen)
    );
  }

  /** The ids of the customers who have authorised something. */
  approvedBy(subject: Pick<ScaSubject, 'kind' | 'id'>): string[] {
    const done = this.of(subject).filter(({ status }) => DONE.includes(status));
    return done.flatMap(({ approvedBy }) => approvedBy?.customerId ?? []);
  }

  statusOf({ status, startedAt, subject }: Authorisation): ScaStatus {
    const isLate = this.#now().getTime() - startedAt.getTime() > lifetimeMs(this.#minutes, subject.kind);
    return isLate && !DONE.includes(status) ? 'failed' : status;
  }

  /** Whether the customer can decide now. */
  isOpen(authorisation: Authorisation): boolean {
    const status = this.statusOf(authorisation);
    return !isOver(status) && status !== 'unconfirmed';
  }

  /** The authorisation that the answer to what it authorises had a challenge of, until the TPP begins it. */
  takePrepared(subject: Pick<ScaSubject, 'kind' | 'id'>): Authorisation | undefined {
    const prepared = this.of(subject).findLast((one) => one.embedded.isPrepared && this.isOpen(one));
    if (prepared) prepared.embedded.isPrepared = false;
    return prepared;
  }

  /** The customer needs no SCA for what they have authorised. */
  exempt(authorisation: Authorisation, by: NonNullable<Authorisation['approvedBy']>): void {
    authorisation.approvedBy = by;
    authorisation.status = 'exempted';
  }

  /** The customer approves. @returns whether that finishes it: the bank may also want a confirmation code */
  approve(authorisation: Authorisation, by: NonNullable<Authorisation['approvedBy']>): boolean {
    authorisation.approvedBy = by;
    // Only a redirect carries a code back to the TPP.
    if (!this.#withCodes || authorisation.approach !== 'redirect') {
      authorisation.status = 'finalised';
      return true;
    }
    authorisation.status = 'unconfirmed';
    authorisation.confirmationCode = randomBytes(6).toString('hex');
    return false;
  }

  /** The TPP confirms. A wrong code ends the authorisation. @returns whether the code was right */
  confirm(authorisation: Authorisation, code: string): boolean {
    const right = code === authorisation.confirmationCode;
    authorisation.status = right ? 'finalised' : 'failed';
    return right;
  }
}
