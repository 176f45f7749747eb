import * as z from 'zod/mini';
import { text } from './fields.ts';

/** A HAL link. `href` is what the bank sent: it can be relative, blank, or on a host that must not be trusted. */
export const link = z.object({
  href: text,
  method: z.pipe(
    z.nullish(z.string()),
    z.transform((m) => m ?? 'GET'),
  ),
});
export type Link = z.infer<typeof link>;

/** One of the bank's messages. A plain string becomes its text. */
const message = z.pipe(
  z.union([
    z.string(),
    z.object({
      code: z.nullish(text),
      message: z.nullish(text),
      type: z.nullish(text),
      detail: z.nullish(text),
    }),
  ]),
  z.transform((value) =>
    typeof value === 'string'
      ? { code: null, text: value, type: null, detail: null }
      : {
          code: value.code ?? null,
          text: value.message ?? '',
          type: value.type ?? null,
          detail: value.detail ?? null,
        },
  ),
);
export type BankMessage = z.infer<typeof message>;

/** The parsed envelope of a bank's answer (interface specification, "Response envelope"). */
export interface Envelope {
  /** Null for an answer without an envelope, such as plain OAuth (RFC 6749, section 5.1). Then the HTTP status decides. */
  outcome: 'SUCCESS' | 'ERROR' | null;
  /**
   * The refusal is certainly the bank's own: `result.outcome` is exactly `ERROR`. A gateway's JSON can also have the outcome
   * `ERROR` above, but does not count here.
   */
  isBanksError: boolean;
  /** With all digits. Null if the answer has none. */
  requestId: string | null;
  messages: BankMessage[];
  /** The content of the answer, not checked yet. */
  data: unknown;
  resourceId: string | null;
  next: Link | null;
  embedded: Record<string, Link>;
}

/** The bank's ids have 24 digits. Longer than 200 characters counts as none, because psd2 shows and logs the id. */
const requestId = z.pipe(text, z.string().check(z.maxLength(200)));

type JsonObject = Record<string, unknown>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Parses the envelope of an answer. The bank nests a second `result`, sometimes with `data` and `_links` beside it, so this
 * takes each part from the outermost place that has it. A message, link or resource in an unknown form counts as absent. The
 * caller checks `data`.
 *
 * @param body the parsed JSON
 * @returns null if `body` is not an object
 */
export function readEnvelope(body: unknown): Envelope | null {
  if (!isObject(body)) return null;
  const levels: JsonObject[] = [];
  for (let level: unknown = body; isObject(level) && levels.length < 4; level = level.result)
    levels.push(level);
  const find = (name: string): unknown =>
    levels
      .map((level) => level[name])
      .find((value) => value !== undefined && value !== null && !isEmpty(value));

  const outcome = find('outcome');
  const plainError = 'result' in body ? null : (body.error ?? null);
  const oauthError = read(text, plainError);
  const links = find('_links');
  const resources = find('resources');
  const data = find('data');
  return {
    isBanksError: levels.slice(1).some((level) => level.outcome === 'ERROR'),
    outcome: outcome === 'SUCCESS' ? 'SUCCESS' : 'result' in body || plainError !== null ? 'ERROR' : null,
    requestId: read(requestId, find('requestId')),
    messages:
      oauthError === null
        ? asArray(find('messages')).flatMap((item) => read(message, item) ?? [])
        : [
            {
              code: oauthError,
              text: read(text, body.error_description) ?? oauthError,
              type: 'ERROR',
              detail: null,
            },
          ],
    data: data ?? ('result' in body ? {} : body),
    resourceId: isObject(resources) ? read(text, resources.resourceId) : null,
    next: isObject(links) ? read(link, links.next) : null,
    embedded: Object.fromEntries(
      Object.entries(asObject(find('_embedded'))).flatMap(([name, value]) => {
        const found = read(link, value);
        return found ? [[name, found]] : [];
      }),
    ),
  };
}

function read<T>(schema: z.ZodMiniType<T>, value: unknown): T | null {
  const result = schema.safeParse(value);
  return result.success ? result.data : null;
}

function isEmpty(value: unknown): boolean {
  return isObject(value) ? Object.keys(value).length === 0 : Array.isArray(value) && value.length === 0;
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
