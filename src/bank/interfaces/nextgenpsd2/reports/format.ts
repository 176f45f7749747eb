import { Psd2Error } from '../../../../errors.ts';
import { type BankCall, usingAnswer } from '../../../call/call.ts';
import type { BankDescription } from '../description/schema.ts';
import { zoneOfAnswer } from '../readings/zone.ts';
import { ibanNamedIn, transactionsAnswerIn } from '../wire/accounts.ts';
import { type NextGenAnswer, readAnswer } from '../wire/answer.ts';
import type { Calls } from '../wire/calls.ts';
import type { ReportReading } from './report.ts';

/** A format of account reports. */
export type ReportFormat = BankDescription['accounts']['reports'][number];

/** The media type of each format. That of JSON is the bank file's. */
const ACCEPT = { camt: 'application/xml', mt940: 'text/plain' } as const;
/** A document behind a link can be anything. */
const ANY = 'application/json, application/xml, text/plain, */*;q=0.1';

/**
 * Asks for a list of transactions in the format that the bank took before, else in each that it may have, until it has one
 * (`accounts.reports`).
 *
 * @param listedCurrency of the account, for a report that names none
 * @returns the call that the bank has answered, and what it says
 * @throws Psd2Error what the last call throws
 */
export async function askForReport(
  calls: Pick<Calls, 'bank' | 'description' | 'settings' | 'ibans'>,
  call: BankCall,
  listedCurrency: string | undefined,
): Promise<{ call: BankCall; answer: ReportReading }> {
  const { consents } = calls.settings;
  const consentId = call.headers?.['consent-id'] ?? '';
  const formats = calls.description.accounts.reports;
  const lastFormat = consents?.reportOf?.(consentId) ?? formats[0];
  const inOrder = formats.toSorted((one, other) => Number(other === lastFormat) - Number(one === lastFormat));
  for (const [index, format] of inOrder.entries()) {
    const formatCall =
      format === 'json' ? call : { ...call, headers: { ...call.headers, accept: ACCEPT[format] } };
    try {
      const answer = await askAnyReport(calls, formatCall, listedCurrency);
      if (format !== lastFormat) await consents?.took?.(consentId, format);
      return { call: formatCall, answer };
    } catch (error) {
      if (index === inOrder.length - 1 || !lacksFormat(error)) throw error;
    }
  }
  throw new TypeError('A bank has one format of account reports at least');
}

/** The bank has no answer in this format (RFC 9110, section 15.5.7). */
export function lacksFormat(error: unknown): boolean {
  return (
    error instanceof Psd2Error && (error.httpStatus === 406 || error.bankCode === 'REQUESTED_FORMATS_INVALID')
  );
}

/** Reads the document behind a link (`_links.download`), whatever its format is. */
export function askForDocument(
  calls: Pick<Calls, 'bank' | 'description' | 'settings' | 'ibans'>,
  call: BankCall,
  listedCurrency: string | undefined,
): Promise<ReportReading> {
  return askAnyReport(calls, { ...call, headers: { ...call.headers, accept: ANY } }, listedCurrency);
}

/**
 * An answer counts by what it is, and not by what was asked for.
 *
 * @param listedCurrency of the account, for a report that names none
 */
export async function askAnyReport(
  calls: Pick<Calls, 'bank' | 'description' | 'settings' | 'ibans'>,
  call: BankCall,
  listedCurrency: string | undefined,
): Promise<ReportReading> {
  const zone = zoneOfAnswer(calls, call);
  const read = await calls.bank.ask(call, (answer) => {
    const format = answer.reply.meaning === null ? reportFormat(answer) : 'json';
    if (format === 'json')
      return readAnswer(answer, transactionsAnswerIn(zone(ibanNamedIn(answer.reply.json))));
    return { answer, format, notices: [] };
  });
  if (!('format' in read)) return read;
  // Most banks have JSON.
  const { readReport } = await import('./read-report.ts');
  const { answer, format } = read;
  return usingAnswer(answer, async () => readReport(answer, format, zone, listedCurrency));
}

function reportFormat({ reply, headers, body }: NextGenAnswer): ReportFormat {
  if (reply.json !== undefined) return 'json';
  const type = headers['content-type'] ?? '';
  const start = body
    .subarray(0, 1000)
    .toString('latin1')
    .replace('\u0001', '')
    .replace(/^(?:\u00ef\u00bb\u00bf)?\s*/, '');
  // A gateway's page is not a report.
  if (/^<(?:\?xml|(?:\w+:)?Document\b)/.test(start) && !/<html|<!doctype html/i.test(start)) return 'camt';
  if (
    /^(?:\{1:|:20:|:2\d[A-Z]?:)/.test(start) ||
    /^:20:.*$[\s\S]*^:2[58][A-Z]?:/m.test(start) ||
    (/^text\/plain/i.test(type) && /^:\d\d[A-Z]?:/m.test(start))
  )
    return 'mt940';
  return /[/+]xml\b/i.test(type) && start.startsWith('<') && !/html/i.test(type) ? 'camt' : 'json';
}
