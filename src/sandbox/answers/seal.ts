import { createHash, createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import type { RawRequest } from '../strict/raw-request.ts';
import type { OutgoingAnswer } from './outgoing.ts';

/** The `keyId` of the bank's signatures. */
const BANK_KEY_ID = 'sandbox-bank';

/** The flaw that a fault puts into a seal: the digest of other bytes, or a signature over another text. */
export type SealFlaw = 'digest' | 'signature';

/**
 * Signs answers with the bank's seal (draft-cavage-http-signatures-09). As the real bank does, it signs answers to POST and
 * PUT over `(request-target) digest cb-response-id date`, redirects without the digest, and no other answers.
 */
export class AnswerSeal {
  readonly #key: KeyObject;

  /** @param keyPem the private key of the bank's signing certificate */
  constructor(keyPem: string | Buffer) {
    this.#key = createPrivateKey(keyPem);
  }

  /**
   * Adds `Digest`, `cb-response-id`, `Date` and `Signature` to an answer that the bank signs. If there is a flaw, adds them
   * to any answer, so that a client that checks can find it.
   */
  put(answer: OutgoingAnswer, { method, target }: RawRequest, now: Date, flaw?: SealFlaw): void {
    const redirect = answer.status === 302;
    if (!redirect && method !== 'POST' && method !== 'PUT' && flaw === undefined) return;
    const { headers, body } = answer;
    const hash = createHash('sha256').update(body);
    if (flaw === 'digest') hash.update('and more');
    const digest = `SHA-256=${hash.digest('base64')}`;
    const signed: [name: string, value: string][] = [
      ...(redirect ? [] : [['digest', digest] satisfies [string, string]]),
      ['cb-response-id', randomUUID()],
      ['date', now.toUTCString()],
    ];
    for (const [name, value] of signed) headers.set(name, value);
    const lines: [name: string, value: string][] = [
      ['(request-target)', `${method.toLowerCase()} ${target}`],
      ...signed,
    ];
    const signature = sign(
      'RSA-SHA256',
      Buffer.from(lines.map(([name, value]) => `${name}: ${value}`).join(flaw === 'signature' ? '' : '\n')),
      this.#key,
    );
    headers.set(
      'signature',
      [
        `keyId="${BANK_KEY_ID}"`,
        'algorithm="rsa-sha256"',
        `headers="${lines.map(([name]) => name).join(' ')}"`,
        `signature="${signature.toString('base64')}"`,
      ].join(','),
    );
  }
}
