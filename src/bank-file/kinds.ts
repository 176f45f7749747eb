import * as z from 'zod/mini';
import { isLoopback } from '../domain/local-address.ts';
import { urlFrom } from '../domain/url.ts';

// The kinds of value in a bank file. The message of each check says what is allowed, and follows the path of the field.

/** A part of an address: no character that has a meaning there. */
export const URL_NAME = /^[A-Za-z0-9][A-Za-z0-9._~-]*$/;
/** A part of a path. Dots alone would lead out of the base URL's prefix. */
export const PATH_PART = '(?!\\.{1,2}(?:/|$))[A-Za-z0-9._~-]+';
/** The name of a header (RFC 9110 section 5.1). */
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** A value that a header can have without any coding: visible ASCII, with blanks inside. */
const FIELD_VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;
/** The name of a variable after `env:`. Only these are the bank's: a bank file is somebody else's, and must not get any other. */
const VARIABLE = /^PSD2_BANK_[A-Za-z0-9_]+$/;
const FROM_ENVIRONMENT = 'env:';

/** A field with a description. */
export function noted<Type extends z.ZodMiniType>(type: Type, what: string): Type {
  return type.check(z.describe(what));
}

/** A text that is not empty. */
export function text(what?: string) {
  const type = z.string().check(z.regex(/\S/, 'must not be empty'));
  return what === undefined ? type : noted(type, what);
}

/** An OAuth scope, in which one word in braces may stand for an id. */
export function template(placeholder: string | undefined, what: string) {
  const allowed =
    placeholder === undefined ? 'must have no braces' : `must have no braces but those of ${placeholder}`;
  return text(what).check(
    z.regex(/^[\x20-\x7e]*$/, 'must be ASCII text'),
    z.refine(
      (value) => !/[{}]/.test(placeholder === undefined ? value : value.replaceAll(placeholder, '')),
      allowed,
    ),
  );
}

/** True or false. */
export function flag(what: string) {
  return noted(z.boolean(), what);
}

/** A whole number. */
export function whole(what: string, least: number, most: number) {
  return z.int().check(z.minimum(least), z.maximum(most), z.describe(what));
}

/** One of a few words. */
export function oneOf<const Word extends string>(words: readonly Word[], what: string) {
  return noted(z.enum(words), what);
}

/** A list in which nothing stands twice. */
export function orderedSet<Of extends z.ZodMiniType<string>>(of: Of, what: string, least = 0) {
  const list = least === 0 ? z.array(of) : z.array(of).check(z.minLength(least));
  return list.check(
    z.refine((words) => new Set(words).size === words.length, 'must not name the same thing twice'),
    z.describe(what),
  );
}

/** The name of a header. */
export function headerName(what?: string) {
  const type = z.string().check(z.regex(TOKEN, 'must be the name of a header'));
  return what === undefined ? type : noted(type, what);
}

/** The value of a header. `env:NAME` must name a variable. */
export function headerValue(what?: string) {
  const type = z.string().check(
    z.regex(FIELD_VALUE, 'must be the value of a header: ASCII, without line breaks'),
    z.refine(
      (value) => !value.startsWith(FROM_ENVIRONMENT) || variableOf(value) !== undefined,
      'must name a variable that begins with PSD2_BANK_ after "env:", for example "env:PSD2_BANK_API_KEY"',
    ),
  );
  return what === undefined ? type : noted(type, what);
}

/**
 * The variable of the environment that has the value of a header, if the bank file says `env:NAME`. The variable's value is a
 * secret.
 */
export function variableOf(value: string): string | undefined {
  if (!value.startsWith(FROM_ENVIRONMENT)) return undefined;
  const name = value.slice(FROM_ENVIRONMENT.length);
  return VARIABLE.test(name) ? name : undefined;
}

/** A text within the quotation marks of a parameter of the header Signature. */
export function parameterValue(what: string) {
  return z
    .string()
    .check(
      z.regex(
        /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/,
        'must be ASCII text without quotation marks and backslashes',
      ),
      z.describe(what),
    );
}

/** An address that secrets may be sent to: https, or http on this computer. */
export function address(what: string, form?: 'with query') {
  const others = form === undefined ? 'user, query and fragment' : 'user and fragment';
  return z.string().check(
    z.refine(
      (value) => isSafeAddress(value, form === undefined ? /[\s?#]/ : /[\s#]/),
      `must be an https address without ${others}; http only on this computer`,
    ),
    z.describe(what),
  );
}

function isSafeAddress(value: string, never: RegExp): boolean {
  const url = urlFrom(value);
  if (!url || never.test(value)) return false;
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || isLoopback(url);
}
