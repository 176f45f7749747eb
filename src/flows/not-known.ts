import type { Bank } from '../bank/ports/bank.ts';
import type { CertificateName } from '../domain/flow.ts';
import { Psd2Error } from '../errors.ts';
import type { Told } from './refusals.ts';

/** Whether the bank itself does not know what it was asked about, with this certificate and at this minute. That is not gone. */
export function isNotKnown(error: unknown): error is Psd2Error & { readonly isNotKnown: true } {
  return error instanceof Psd2Error && error.isNotKnown === true;
}

/**
 * What a command says of a consent or a payment that the bank does not know, although psd2 has not ended it: it may live, and nothing
 * ends here.
 *
 * @param error the bank's word
 * @returns `certificate` if it was begun with another certificate than that of this connection, else `outcome_unknown`
 */
export function notKnownThere(
  { kind, flow, transactionId, certificate }: Told & { certificate: CertificateName | null },
  bank: Pick<Bank, 'certificate'>,
  error: Psd2Error,
): Psd2Error {
  const mayLive = kind === 'consent' ? 'it may be in force' : 'the bank may execute it';
  const now = bank.certificate?.();
  const isAnother = certificate !== null && now !== undefined && now.sha256 !== certificate.sha256;
  const next = [[kind, 'status', flow]];
  if (isAnother) {
    const says = `The bank does not know the ${kind} ${flow} with the certificate ${now.name}, but psd2 began it with another one: ${certificate.name}`;
    return error.restated('certificate', says).with({
      hint: `Nothing has ended: ${mayLive}. Ask again with that certificate:`,
      next,
      flow,
      transactionId,
    });
  }
  const says = `The bank does not know the ${kind} ${flow} with this certificate, but psd2 has not ended it, so ${mayLive}`;
  return error.restated('outcome_unknown', `${says}. ${error.message}`).with({
    hint: "Nothing has ended here. Ask again later, or ask the bank's support:",
    next,
    flow,
    transactionId,
  });
}
