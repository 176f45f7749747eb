import { en } from 'zod/locales';
import * as z from 'zod/mini';
import { expectedAndReceived } from '../answers/bank-refusal.ts';
import { Refusal, wrongValue } from '../answers/refusal.ts';
import { header } from './headers.ts';
import { parametersOf } from './query.ts';
import type { RawRequest } from './raw-request.ts';

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Without it, zod/mini calls every value that a rule forbids "Invalid input". */
const { localeError } = en();

/** Holds a value against a schema. */
export function hold<T>(schema: z.ZodMiniType<T>, value: unknown): z.core.util.SafeParseResult<T> {
  return schema.safeParse(value, { error: localeError });
}

/**
 * Checks that POST and PUT have a body, and that other methods have none. A call without parameters sends `{}`.
 *
 * @throws Refusal `BODY_NOT_ALLOWED`, `BODY_MISSING`
 */
export function checkBodyPresence({ method, body }: RawRequest): void {
  const due = method === 'POST' || method === 'PUT';
  if (!due && body.length > 0)
    throw wrongValue(
      'BODY_NOT_ALLOWED',
      `A ${method} must not have a body`,
      'no body',
      `${body.length} bytes`,
    );
  if (due && body.length === 0)
    throw wrongValue(
      'BODY_MISSING',
      `A ${method} must have a body`,
      'JSON, or {} if the call takes no parameters',
      'no body',
    );
}

/**
 * Reads the body as JSON in the shape of `schema`.
 *
 * @throws Refusal `CONTENT_TYPE_UNSUPPORTED`, `BODY_MALFORMED`, `FIELD_INVALID`
 */
export function readJsonBody<T>(request: RawRequest, schema: z.ZodMiniType<T>): T {
  requireContentType(request, [JSON_TYPE]);
  return inShape(schema, parseBody(request));
}

/**
 * Reads the body of the token call: JSON as in {@link readJsonBody}, or a form with each field at most once.
 *
 * @throws Refusal `CONTENT_TYPE_UNSUPPORTED`, `BODY_MALFORMED`, `FIELD_INVALID`
 */
export function readJsonOrFormBody<T>(request: RawRequest, schema: z.ZodMiniType<T>): T {
  const type = requireContentType(request, [JSON_TYPE, FORM_TYPE]);
  return inShape(schema, type === FORM_TYPE ? parseForm(request) : parseBody(request));
}

const empty = z.strictObject({});

/**
 * Checks that the body is `{}`, the body of a call without parameters.
 *
 * @throws Refusal `CONTENT_TYPE_UNSUPPORTED`, `BODY_MALFORMED`, `FIELD_INVALID`
 */
export function requireEmptyBody(request: RawRequest): void {
  readJsonBody(request, empty);
}

function requireContentType(request: RawRequest, allowed: readonly string[]): string {
  const value = header(request, 'content-type');
  const type = value?.split(';')[0]?.trim().toLowerCase();
  if (type !== undefined && allowed.includes(type)) return type;
  throw wrongValue(
    'CONTENT_TYPE_UNSUPPORTED',
    'This endpoint does not accept the Content-Type of the body',
    allowed.join(' or '),
    value ?? 'no Content-Type',
  );
}

function parseBody(request: RawRequest): unknown {
  try {
    return JSON.parse(decodeUtf8(request));
  } catch {
    // The parser's own message would quote the body, which can contain a secret.
    throw new Refusal('BODY_MALFORMED', 'The body is not JSON in UTF-8');
  }
}

function parseForm(request: RawRequest): unknown {
  const twice = (name: string) => new Refusal('BODY_MALFORMED', `The form has the field ${name} twice`);
  return Object.fromEntries(parametersOf(decodeUtf8(request), twice));
}

/** @throws Refusal `BODY_MALFORMED` */
export function decodeUtf8({ body }: Pick<RawRequest, 'body'>): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw new Refusal('BODY_MALFORMED', 'The body is not UTF-8');
  }
}

function inShape<T>(schema: z.ZodMiniType<T>, value: unknown): T {
  const result = hold(schema, value);
  if (result.success) return result.data;
  throw new Refusal(
    'FIELD_INVALID',
    'The body does not have the shape that this endpoint expects',
    result.error.issues.map((issue) => describeIssue(issue, value)).join(' '),
  );
}

/** Names the field and the types, but not the value, which can be a secret. */
function describeIssue(issue: z.core.$ZodIssue, body: unknown): string {
  const field = issue.path.length === 0 ? 'the body' : issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') return `${field} has no field ${issue.keys.join(', ')}.`;
  const received = issue.path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    body,
  );
  if (received === undefined) return `${field} is missing.`;
  if (issue.code === 'invalid_type')
    return `${field}: ${expectedAndReceived(issue.expected, typeName(received))}`;
  return `${field}: ${issue.message}.`;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
