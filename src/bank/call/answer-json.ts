import { type Envelope, readEnvelope } from '../../wire/envelope.ts';
import { parseJson } from '../../wire/json.ts';
import type { WireAnswer } from '../transport/connection.ts';

const parsed = new WeakMap<Buffer, Promise<unknown>>();

/**
 * The JSON of an answer, with all digits. Undefined for a firewall's page, a truncated or an empty answer. It is parsed
 * once, for the log and for the reader of the answer.
 */
export function jsonOf({ body }: Pick<WireAnswer, 'body'>): Promise<unknown> {
  const known = parsed.get(body);
  if (known) return known;
  const json = parseJson(body.toString('utf8').trim()).catch(() => undefined);
  parsed.set(body, json);
  return json;
}

const opened = new WeakMap<object, Envelope | null>();

/** The envelope of an answer's JSON, or null if there is none. It is also read only once. */
export function envelopeOf(json: unknown): Envelope | null {
  if (typeof json !== 'object' || json === null) return null;
  const known = opened.get(json);
  if (known !== undefined) return known;
  const envelope = readEnvelope(json);
  opened.set(json, envelope);
  return envelope;
}

/**
 * The envelope of an answer, for its last reader: this module then drops it. Entries of a WeakMap outlive minor garbage
 * collections, so a list with many pages would fill the memory.
 */
export async function takeEnvelope(answer: Pick<WireAnswer, 'body'>): Promise<Envelope | null> {
  const json = await jsonOf(answer);
  const envelope = envelopeOf(json);
  parsed.delete(answer.body);
  if (typeof json === 'object' && json !== null) opened.delete(json);
  return envelope;
}
