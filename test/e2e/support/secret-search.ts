import { createPrivateKey, createPublicKey } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';

/** A value that must be found only where it belongs. */
export interface Secret {
  /** Its name in a finding: `access token`. */
  kind: string;
  bytes: Buffer;
}

/** Something that was printed, given as an argument, or stored. */
export interface Trace {
  /** The name of the place in a finding. */
  where: string;
  content: Buffer;
}

/** Shorter values would be found in any text. */
const SHORTEST = 8;

export function secretOf(kind: string, text: string): Secret[] {
  const bytes = Buffer.from(text);
  return bytes.length < SHORTEST ? [] : [{ kind, bytes }];
}

/** The lines of all private keys in a text, without those that are in the public key too. */
export function keysIn(text: string): Secret[] {
  return [...text.matchAll(PRIVATE_KEY)].flatMap(([pem, lines = '']) => {
    const published = publicPartOf(pem.replaceAll('\\n', '\n'));
    return lines
      .split(/\\n|\n/)
      .filter((line) => line.length > 20)
      .map((line) => Buffer.from(line, 'base64'))
      .filter((bytes) => !published.includes(bytes))
      .map((bytes) => ({ kind: 'private key', bytes }));
  });
}

const PRIVATE_KEY = /-----BEGIN (?:\w+ )*PRIVATE KEY-----([^-]+)-----END (?:\w+ )*PRIVATE KEY-----/g;

function publicPartOf(pem: string): Buffer {
  try {
    return createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'der' });
  } catch {
    // The key is encrypted or not whole: all of it is secret.
    return Buffer.alloc(0);
  }
}

/** The places with secrets in plain text, base64, hex, percent-encoding or JSON; never the secrets themselves. */
export function findSecrets(secrets: readonly Secret[], traces: readonly Trace[]): string[] {
  const find = finderOf(
    secrets.flatMap(({ kind, bytes }) => [...formsOf(bytes)].map((form) => ({ form, kind }))),
  );
  return traces.flatMap(({ where, content }) => {
    const text = content.toString('latin1');
    // A narrow terminal breaks lines, and moves the cursor between them.
    const found = [text, stripVTControlCharacters(text).replace(/\s+/g, '')].flatMap(find);
    return [...new Set(found.map((kind) => `${kind} in ${where}`))];
  });
}

/** Finds the kinds of thousands of forms in one walk over a text: almost no place begins as one of them does. */
function finderOf(forms: readonly { form: string; kind: string }[]): (text: string) => string[] {
  const length = Math.min(...forms.map(({ form }) => form.length));
  const byStart = new Map<string, { form: string; kind: string }[]>();
  const isStart = new Uint8Array(1 << (SHIFT * MARKED));
  for (const each of forms) {
    const start = each.form.slice(0, length);
    byStart.set(start, [...(byStart.get(start) ?? []), each]);
    const mark = Array.from({ length: MARKED }, (_, at) => start.charCodeAt(at)).reduce(markWith, 0);
    isStart[mark] = 1;
  }
  return (text) => {
    const found: string[] = [];
    let mark = 0;
    for (let end = 0; end < text.length; end += 1) {
      mark = markWith(mark, text.charCodeAt(end));
      if (isStart[mark] !== 1) continue;
      const at = end + 1 - MARKED;
      for (const { form, kind } of byStart.get(text.slice(at, at + length)) ?? [])
        if (text.startsWith(form, at)) found.push(kind);
    }
    return found;
  };
}

/** A mark stands for the last four letters of a Latin-1 text. Some others have the same. */
const [MARKED, SHIFT] = [4, 5];

/** The mark after one more letter: the letter of five places ago has no part in it any more. */
const markWith = (mark: number, letter: number) => ((mark << SHIFT) ^ letter) & ((1 << (SHIFT * MARKED)) - 1);

/** The ways to write bytes, as Latin-1 text. */
function formsOf(bytes: Buffer): Set<string> {
  const text = bytes.toString('utf8');
  const base64 = [0, 1, 2].map((shift) => base64Of(bytes, shift));
  return new Set([
    bytes.toString('latin1'),
    bytes.toString('latin1').replace(/\s+/g, ''),
    encodeURIComponent(text),
    Buffer.from(JSON.stringify(text).slice(1, -1)).toString('latin1'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64,
    ...base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
  ]);
}

/** The base64 letters that depend only on these bytes, if `shift` other bytes come before them. */
function base64Of(bytes: Buffer, shift: number): string {
  const whole = Buffer.concat([Buffer.alloc(shift), bytes]);
  return whole.toString('base64').slice(Math.ceil((shift * 8) / 6), Math.floor((whole.length * 8) / 6));
}
