import { type Refusal, wrongValue } from '../answers/refusal.ts';

/** The parts of a `Signature` header (draft-cavage-http-signatures-09, section 4.1). */
export interface SignatureHeader {
  keyId: string;
  algorithm: string;
  /** The list of signed headers, separated by single spaces. */
  headers: string;
  /** The signature's bytes. */
  signature: Buffer;
}

const partNames = ['keyId', 'algorithm', 'headers', 'signature'] as const;
const example = 'keyId="<application name>",algorithm="rsa-sha256",headers="...",signature="<base64>"';

/**
 * Reads a `Signature` header: four quoted parts, each once, separated by commas without spaces.
 *
 * @throws Refusal `SIGNATURE_MALFORMED`
 */
export function parseSignatureHeader(value: string): SignatureHeader {
  const parts = splitParts(value);
  const unknown = [...parts.keys()].find((name) => !partNames.some((each) => each === name));
  if (unknown !== undefined) throw malformed(`The Signature header has the unknown part ${unknown}`, value);
  const take = (name: (typeof partNames)[number]): string => {
    const content = parts.get(name);
    if (!content) throw malformed(`The Signature header has no ${name}`, value);
    return content;
  };
  return {
    keyId: take('keyId'),
    algorithm: take('algorithm'),
    headers: take('headers'),
    signature: base64(take('signature')),
  };
}

function splitParts(value: string): Map<string, string> {
  const parts = new Map<string, string>();
  const part = /([A-Za-z]+)="([^"]*)"(?:,(?!$)|$)/y;
  while (part.lastIndex < value.length) {
    const at = part.lastIndex;
    const [, name, content] = part.exec(value) ?? [];
    if (name === undefined || content === undefined)
      throw malformed(
        'The Signature header is not a list of name="value", separated by commas without spaces',
        value.slice(at),
      );
    if (parts.has(name)) throw malformed(`The Signature header has ${name} twice`, value);
    parts.set(name, content);
  }
  return parts;
}

function base64(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw malformed('The signature is not base64', text);
  return bytes;
}

function malformed(message: string, received: string): Refusal {
  return wrongValue('SIGNATURE_MALFORMED', message, example, received);
}
