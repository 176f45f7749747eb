import { type BankCall, type Notice, openCaller } from '../../../../src/bank/call/call.ts';
import { oauthOf } from '../../../../src/bank/interfaces/nextgenpsd2/access/oauth.ts';
import { type BankFile, bankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { type NextGenAnswer, understand } from '../../../../src/bank/interfaces/nextgenpsd2/wire/answer.ts';
import type { Calls } from '../../../../src/bank/interfaces/nextgenpsd2/wire/calls.ts';
import { pathsOf } from '../../../../src/bank/interfaces/nextgenpsd2/wire/paths.ts';
import type { ConsentSource } from '../../../../src/bank/ports/call.ts';
import { Psd2Error } from '../../../../src/errors.ts';
import { APPLICATION_NAME } from '../../recorded-bank.ts';

// The calls of the interface without a connection: the answers are a script, and the requests are not composed.

export const ORIGIN = 'https://bank.example';
export const TPP_REQUEST_ID = 'bbbbbbbb-cccc-4ddd-8eee-ffffffffffff';
export const TRANSACTION_ID = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
/** The ids in each error of a call. */
export const IDS = { tppRequestId: TPP_REQUEST_ID, transactionId: TRANSACTION_ID };
/** The error for a stored payment that somebody has changed. */
export const OTHER_THAN_ORDERED = {
  code: 'config',
  message: 'The stored payment is not the one that was ordered',
  hint: 'Somebody may have changed the store. psd2 has sent nothing. Restore the store from a backup.',
};
/** The error for what no bank of the interface has. */
export const noBankHas = (what: string) => ({
  ...{ code: 'usage', message: `This bank's interface has no ${what}` },
});
/** The error for an answer about another account, consent or payment. */
export const aboutAnother = (what: string, another: string, own: string) => ({
  code: 'bank_answer',
  message: `The bank's answer is about the ${what} ${another}, not about ${own}`,
  hint: 'psd2 did not use the answer. A gateway on the way may mix up answers.',
  transactionId: TRANSACTION_ID,
});
/** The facts of a call that neither reads an account nor logs in. */
export const PLAIN_FACTS = { reads: null, needsConsent: false, login: false } as const;
/** A call that initiates a payment, and one that gets tokens. */
export const PAYING = {
  ...{ method: 'POST', path: '/v1/payments/sepa-credit-transfers', facts: PLAIN_FACTS },
  ...{ transactionId: TRANSACTION_ID, irrevocable: true },
} satisfies BankCall;
export const LOGIN = {
  ...{ method: 'POST', path: '/token', facts: { ...PLAIN_FACTS, login: true } },
  transactionId: TRANSACTION_ID,
} satisfies BankCall;

/** The day on which the scripted bank is called. */
export const NOW = new Date('2026-11-21T12:00:00Z');

export interface Scripted {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** What a bank file says, with the standard for the rest. */
export function described(file: Omit<BankFile, 'interface'> = {}) {
  return bankFile.parse({ interface: 'nextgenpsd2', ...file });
}

/** An answer as psd2 has received it, with what it understood. */
export async function answered(
  call: BankCall,
  { status = 200, headers = {}, body = '' }: Scripted,
  description = described(),
): Promise<NextGenAnswer> {
  const answer = { status, headers, body: typeof body === 'string' ? Buffer.from(body) : body };
  const target = call.path;
  const request = { method: call.method, target, headers: { ...call.headers }, body: bodyOf(call) };
  const said = await understand(answer, call, description, {
    request,
    firstByteAt: new Date(),
    certificateEnds: new Date('2999-01-01'),
    hidden: call.credential ? [call.credential.value] : [],
  });
  const route = { path: '{other}', kind: 'other' } as const;
  return { ...answer, call, route, tppRequestId: TPP_REQUEST_ID, reply: said };
}

function bodyOf({ body }: BankCall): Buffer | undefined {
  if (body === undefined) return undefined;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Calls that get these answers, in this order. */
export function scriptedCalls(
  answers: readonly Scripted[],
  file: Omit<BankFile, 'interface'> = {},
  consents?: ConsentSource,
) {
  const description = described(file);
  const sent: BankCall[] = [];
  const notices: Notice[] = [];
  /** The paths of the calls whose answers psd2 could not use. */
  const unusable: string[] = [];
  const bank = openCaller(
    async (call) => {
      const answer = answers[sent.length];
      const { ids: _inPath, ...plain } = call;
      sent.push(plain);
      if (!answer) throw new TypeError(`The script has no answer to ${call.method} ${call.path}`);
      const wasUnusable = () => void unusable.push(call.path.replace(/\?.*/, ''));
      return { ...(await answered(call, answer, description)), wasUnusable };
    },
    (notice) => void notices.push(notice),
  );
  const base = { origin: ORIGIN, pathPrefix: '', version: description.api.version, links: description.links };
  const identity: Calls['settings']['identity'] = {
    applicationName: APPLICATION_NAME,
    signer: () => Promise.reject(new TypeError('Nothing is signed here')),
    get signingCertificate(): never {
      throw new TypeError('Nothing is signed here');
    },
    get qwacCertificate(): never {
      throw new TypeError('There is no connection here');
    },
    tppCertificate: 'none',
  };
  const calls: Calls = {
    ...{ bank, description, paths: pathsOf(description), base, cards: new Set<string>() },
    list: () => Promise.reject(new TypeError('No list is read here')),
    ibans: new Map<string, string | null>(),
    currencies: new Map<string, string>(),
    odd: {
      unread: new Map<string, number>(),
      rewritten: new Set<string>(),
      foreign: new Map<string, string>(),
    },
    settings: { consents, identity, now: () => NOW },
  };
  return { calls, oauth: oauthOf(bank, description, base), sent, notices, unusable };
}

/** An answer in JSON. */
export function said(body: unknown, status = 200, headers: Record<string, string> = {}): Scripted {
  return { status, headers, body: JSON.stringify(body) };
}

/** A refusal in the standard's form. */
export function refused(code: string, status: number, text = 'No'): Scripted {
  return said({ tppMessages: [{ category: 'ERROR', code, text }] }, status);
}

/** All that an error tells: its code, its message, its advice, and the context of the call. */
export function told(error: unknown): object {
  if (!(error instanceof Psd2Error)) throw error;
  return { code: error.code, message: error.message, ...error.context };
}

/** What the error of a call tells. @throws TypeError if the call succeeds */
export async function failureOf(call: Promise<unknown>): Promise<object> {
  return call.then(
    () => Promise.reject(new TypeError('The call succeeded')),
    (error: unknown) => told(error),
  );
}

/** What the error of some work tells. @throws TypeError if it succeeds */
export function errorOf(work: () => unknown): object {
  try {
    work();
  } catch (error) {
    return told(error);
  }
  throw new TypeError('It succeeded');
}
