import type * as z from 'zod/mini';
import { begunBy, type PersonsAuthorisation, saidOf, startedBy, withoutRefused } from './authorisations.ts';
import { answeredIn, type SentCredential, sentBy } from './embedded.ts';
import type { stepEvent } from './events.ts';

// What changes in a payment when a customer gives psd2 something (embedded SCA): as if they had a link, from the first on.

type StepEvent = z.infer<typeof stepEvent>;
type Of<Type extends StepEvent['type']> = Omit<Extract<StepEvent, { type: Type }>, 'type'>;

/** What of a payment has to do with it. */
interface Payment {
  commits: 'on execute' | 'by the customer';
  links: NonNullable<Of<'sca-started'>['links']> | null;
  authorisations: readonly PersonsAuthorisation[];
  cancellation: readonly PersonsAuthorisation[] | null;
  credentials: readonly SentCredential[];
  cancellationCredentials: readonly SentCredential[];
  cancellationLinks: Payment['links'];
}

interface Changes extends Partial<Payment> {
  state?: 'authorizing';
  returned?: boolean;
  linkIsOut?: boolean;
  mayExecuteWithoutUs?: boolean;
  scaStatus?: string;
}

/** It is about to leave. */
export function sentCredential(payment: Payment, event: Of<'credential-sent'>, at: string): Changes {
  const { credentials, cancellationCredentials, authorisations, links, commits } = payment;
  const { psuId, begins, ofCancellation } = event;
  const sent = sentBy(event);
  if (ofCancellation) return { cancellationCredentials: [...cancellationCredentials, sent] };
  return {
    state: 'authorizing',
    returned: false,
    linkIsOut: true,
    ...(commits === 'by the customer' && { mayExecuteWithoutUs: true }),
    credentials: [...credentials, sent],
    authorisations: begins
      ? begunBy(authorisations, psuId, at)
      : startedBy(authorisations, links?.id, psuId, at),
  };
}

/** No byte of it has left. */
export function withoutCredential(payment: Payment, { ofCancellation }: Of<'credential-not-begun'>): Changes {
  const { credentials, cancellationCredentials, authorisations } = payment;
  if (ofCancellation) return { cancellationCredentials: cancellationCredentials.slice(0, -1) };
  return { credentials: credentials.slice(0, -1), authorisations: withoutRefused(authorisations) };
}

/** The bank has said what became of it. */
export function answeredCredential(payment: Payment, event: Of<'credential-answered'>, at: string): Changes {
  const { credentials, cancellationCredentials, authorisations, cancellation } = payment;
  const { scaStatus, id, links = payment.links } = event;
  const noting = (earlier: Parameters<typeof saidOf>[0], ofId: string | undefined) =>
    scaStatus === null ? earlier : saidOf(earlier, ofId, scaStatus);
  const whose = (sent: readonly SentCredential[]) => sent.at(-1)?.psuId ?? undefined;
  if (event.ofCancellation) {
    const begun = startedBy(cancellation ?? [], id, whose(cancellationCredentials), at);
    return {
      cancellationCredentials: answeredIn(cancellationCredentials),
      cancellation: noting(begun, id),
      ...(event.links && { cancellationLinks: event.links }),
    };
  }
  const begun = startedBy(authorisations, links?.id, whose(credentials), at);
  return {
    state: 'authorizing',
    credentials: answeredIn(credentials),
    links,
    ...(scaStatus !== null && { scaStatus }),
    authorisations: noting(begun, links?.id),
  };
}
