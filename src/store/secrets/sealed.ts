import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import * as z from 'zod/mini';

const bytes = (length: number) =>
  z.string().check(z.refine((text) => Buffer.from(text, 'base64').length === length));

/** A text that is encrypted with AES-256-GCM (NIST SP 800-38D). The parts are base64. */
export const sealed = z.lazy(() =>
  z.object({
    v: z.literal(1),
    cipher: z.literal('aes-256-gcm'),
    nonce: bytes(12),
    tag: bytes(16),
    data: z.string(),
  }),
);
export type Sealed = z.infer<typeof sealed>;

/** What a sealed text belongs to. The place is authenticated, so the text cannot be decrypted for another place. */
export type Place = readonly string[];

export const KEY_BYTES = 32;

/** @param key 32 bytes */
export function seal(key: Buffer, place: Place, text: string): Sealed {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(authenticated(place));
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return {
    v: 1,
    cipher: 'aes-256-gcm',
    nonce: nonce.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
    data: data.toString('base64'),
  };
}

/** @returns undefined if the text was changed or belongs to another place, or the key is wrong */
export function unseal(key: Buffer, place: Place, { nonce, tag, data }: Sealed): string | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64'), { authTagLength: 16 })
    .setAAD(authenticated(place))
    .setAuthTag(Buffer.from(tag, 'base64'));
  const text = decipher.update(Buffer.from(data, 'base64'));
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

function authenticated(place: Place): Buffer {
  return Buffer.from(JSON.stringify(['psd2', 1, ...place]));
}

/** What tokens belong to: this generation of this holder (null: the application), at the bank that granted them. */
export interface TokensOf {
  holder: string | null;
  baseUrl: string;
  generation: number;
}

/** The place that tokens are sealed for. */
export function placeOfTokens({ holder, baseUrl, generation }: TokensOf): Place {
  return ['tokens', holder === null ? 'client-credentials' : `customer-${holder}`, baseUrl, `${generation}`];
}
