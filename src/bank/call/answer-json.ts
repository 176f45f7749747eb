import { type Envelope, readEnvelope } from '../../wire/envelope.ts';
import { parseJson } from '../../wire/json.ts';
import type { WireAnswer } from '../transport/connection.ts';

const parsed = new WeakMap<Buffer, Promise<unknown>>();

/**
 * The JSON of an answer, every digit kept; undefined for a firewall's page, a cut or an empty answer. It is
 * parsed once, for the log and for who reads the answer.
 */
export function jsonOf({ body }: Pick<WireAnswer, 'body'>): Promise<unknown> {
  const known = parsed.get(body);
  if (known) return known;
  const json = parseJson(body.toString('utf8').trim()).catch(() => undefined);
  parsed.set(body, json);
  return json;
}

const opened = new WeakMap<object, Envelope | null>();

/** The envelope of an answer's JSON, taken off once, too; null where there is none. */
export function envelopeOf(json: unknown): Envelope | null {
  if (typeof json !== 'object' || json === null) return null;
  const known = opened.get(json);
  if (known !== undefined) return known;
  const envelope = readEnvelope(json);
  opened.set(json, envelope);
  return envelope;
}

/**
 * The envelope of an answer, for who reads it last: nothing is kept of it here after that. What a WeakMap holds
 * outlives the quick collections of garbage, and a list of many pages would pile up.
 */
export async function takeEnvelope(answer: Pick<WireAnswer, 'body'>): Promise<Envelope | null> {
  const json = await jsonOf(answer);
  const envelope = envelopeOf(json);
  parsed.delete(answer.body);
  if (typeof json === 'object' && json !== null) opened.delete(json);
  return envelope;
}
