import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { Secret } from '../e2e/support/secret-search.ts';
import { gets } from '../scenarios/row.ts';
import type { Answer, Call, Treatment } from './relay.ts';

// A bank of embedded SCA whose answers say what it got.

/** What the customer gives psd2, in the order of the steps. */
export type Gift = 'PIN' | 'method' | 'TAN';

/** How the bank answers a gift. @param value what it got @returns undefined: not at all */
export type Answering = (
  value: string,
  call: Call,
  usual: () => Promise<Answer | undefined>,
) => Promise<Answer | undefined>;

export interface QuotingBank {
  treatment: Treatment;
  /** From now on the bank answers these gifts so, and all others as banks do. */
  answers(answers: Partial<Record<Gift, Answering>>): void;
  /** How often a PIN or TAN came. */
  came: Record<'PIN' | 'TAN', number>;
  /** The credentials that came, and the digest and the signature of their calls. */
  secrets(): Secret[];
}

const METHODS = [
  { authenticationType: 'SMS_OTP', authenticationMethodId: '901', name: 'SMS' },
  { authenticationType: 'CHIP_OTP', authenticationMethodId: '902', name: 'chipTAN' },
];
const bodyShape = z.object({
  psuData: z.object({ password: z.string() }).optional(),
  authenticationMethodId: z.string().optional(),
  scaAuthenticationData: z.string().optional(),
});
const BEGUN = {
  consents: { id: 'consentId', fields: { consentStatus: 'received' } },
  'signing-baskets': { id: 'basketId', fields: { transactionStatus: 'RCVD' } },
  payments: { id: 'paymentId', fields: { transactionStatus: 'RCVD' } },
} as const;

/** Opens the bank for one relay. What is no payment, consent or authorisation goes to the bank behind it. */
export function quotingBank(): QuotingBank {
  const done = new Set<string>();
  const came = { PIN: 0, TAN: 0 };
  const secrets: Secret[] = [];
  let answers: Partial<Record<Gift, Answering>> = {};
  let lastPin = '';

  const wantsPin = (place: string) => ({
    _links: { startAuthorisationWithPsuAuthentication: { href: place } },
  });

  function begins({ path }: Call): Answer | Promise<Answer | undefined> | undefined {
    const kind = /\/v1\/(consents|signing-baskets|[a-z-]*payments)(?:\/[^/]+)?$/.exec(path)?.[1];
    if (kind === undefined) return undefined;
    const { id, fields } = kind === 'consents' || kind === 'signing-baskets' ? BEGUN[kind] : BEGUN.payments;
    const own = randomUUID();
    return json(201, { [id]: own, ...fields, ...wantsPin(`${path}/${own}/authorisations`) });
  }

  function takes(call: Call): Promise<Answer | undefined> {
    const { path, body } = call;
    const subject = path.replace(/\/[a-z-]*authorisations.*/, '');
    const own = /authorisations$/.test(path) ? `${path}/${randomUUID()}` : path;
    const next = (name: string) => ({ _links: { [name]: { href: own } } });
    const { psuData, authenticationMethodId, scaAuthenticationData = '' } = bodyShape.parse(JSON.parse(body));
    if (psuData) {
      const fields = { scaStatus: 'psuAuthenticated', scaMethods: METHODS };
      lastPin = psuData.password;
      remember('PIN', lastPin, call);
      return answer('PIN', lastPin, call, () =>
        json(201, { ...fields, ...next('selectAuthenticationMethod') }),
      );
    }
    if (authenticationMethodId !== undefined) {
      const [chosenScaMethod] = METHODS;
      const challengeData = { additionalInformation: 'Sent.<br>Compare.', otpMaxLength: 8 };
      const fields = { scaStatus: 'scaMethodSelected', chosenScaMethod, challengeData };
      return answer('method', lastPin, call, () => json(200, { ...fields, ...next('authoriseTransaction') }));
    }
    remember('TAN', scaAuthenticationData, call);
    return answer('TAN', scaAuthenticationData, call, () => {
      done.add(path.includes('cancellation-') ? `${subject} cancelled` : subject);
      return json(200, { scaStatus: 'finalised' });
    });
  }

  function remember(kind: 'PIN' | 'TAN', value: string, call: Call): void {
    came[kind] += 1;
    secrets.push(...secretsOf(kind, value, call));
  }

  function answer(gift: Gift, value: string, call: Call, usual: Parameters<Answering>[2]) {
    return answers[gift]?.(value, call, usual) ?? usual();
  }

  function tells({ path }: Call): Promise<Answer | undefined> | undefined {
    const subject = path.replace(/\/(?:status|[a-z-]*authorisations.*)$/, '');
    const isDone = done.has(subject);
    const isCancelled = done.has(`${subject} cancelled`);
    if (/authorisations\/[^/]+$/.test(path))
      return json(200, {
        scaStatus: (path.includes('cancellation-') ? isCancelled : isDone)
          ? 'finalised'
          : 'scaMethodSelected',
      });
    if (/authorisations$/.test(path)) return json(200, { authorisationIds: [] });
    if (/\/v1\/consents\/[^/]+\/status$/.test(path))
      return json(200, { consentStatus: isDone ? 'valid' : 'received' });
    if (/\/v1\/consents\/[^/]+$/.test(path))
      return json(200, {
        ...{ access: { allPsd2: 'allAccounts' }, recurringIndicator: true, validUntil: '9999-12-31' },
        ...{ frequencyPerDay: 4, consentStatus: isDone ? 'valid' : 'received' },
      });
    if (/\/status$/.test(path))
      return json(200, { transactionStatus: isCancelled ? 'CANC' : isDone ? 'ACSP' : 'RCVD' });
    return undefined;
  }

  return {
    came,
    secrets: () => secrets,
    answers: (changed) => {
      answers = changed;
    },
    treatment: async (call, toBank) => {
      const { method, path } = call;
      if (method !== 'GET' && /authorisations/.test(path)) return takes(call);
      if (method === 'DELETE') return cancels(call);
      const own = method === 'POST' ? begins(call) : method === 'GET' ? tells(call) : undefined;
      return (await own) ?? toBank();
    },
  };

  function cancels({ path }: Call): Promise<Answer | undefined> {
    if (path.includes('/consents/') || !done.has(path)) {
      done.add(`${path} cancelled`);
      return json(204);
    }
    return json(202, wantsPin(`${path}/cancellation-authorisations`));
  }
}

/** An answer of the bank. */
export async function json(status: number, body: object | string = ''): Promise<Answer | undefined> {
  const type = typeof body === 'string' ? 'text/html' : 'application/json';
  return gets(status, body, { 'content-type': type })(NO_CALL, NOWHERE);
}
const NO_CALL: Call = { method: '', path: '', token: undefined, headers: {}, body: '', connection: {} };
const NOWHERE = () => Promise.reject(new TypeError('There is no bank'));

/** What must be nowhere: the value, its digests, and digest and signature of the call. */
function secretsOf(kind: 'PIN' | 'TAN', value: string, { body, headers }: Call): Secret[] {
  const signature = /signature="([^"]+)"/i.exec(String(headers.signature))?.[1] ?? '';
  return [
    { kind, bytes: Buffer.from(value) },
    { kind: `digest of the ${kind}`, bytes: sha256(value) },
    { kind: `digest of the body with the ${kind}`, bytes: sha256(body) },
    { kind: `signature of the ${kind}`, bytes: Buffer.from(signature, 'base64') },
  ].filter(({ bytes }) => bytes.length > 0);
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();
