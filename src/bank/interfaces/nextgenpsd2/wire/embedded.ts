import * as z from 'zod/mini';
import type { ScaChallenge, ScaMethod } from '../../../../domain/embedded.ts';
import { textOf } from '../../../../domain/odd-values.ts';
import { id, listOf, optionalWords } from './fields.ts';

// What a bank says of methods and challenges, where it wants the customer's credentials from psd2 (the standard, "Authentication Object"
// and "Challenge"). All of it may be missing, and none of it makes an answer unreadable.

/** More than any bank tells a customer. */
const LONGEST_INFORMATION = 10_000;
/** A PNG of 512 KiB in base64. */
const LONGEST_IMAGE = 700_000;

/** A text with its lines. */
const information = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value) => {
    const text = textOf(value)
      ?.slice(0, LONGEST_INFORMATION)
      .replace(/\r\n?/g, '\n')
      .replace(/[^\P{C}\n\u00ad\u200b-\u200d]/gu, ' ')
      .trim();
    return text === undefined || text === '' ? null : text;
  }),
);

const image = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value) => {
    const text = typeof value === 'string' ? value.replace(/\s/g, '') : '';
    return text.length <= LONGEST_IMAGE && /^[A-Za-z0-9+/]+=*$/.test(text) ? text : null;
  }),
);

/** A list of texts, or one. */
const data = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value) => {
    const texts = [value].flat().flatMap((each) => optionalWords.parse(each) ?? []);
    return texts.length > 0 ? texts : null;
  }),
);

const method = z.pipe(
  z.object({
    authenticationMethodId: id,
    authenticationType: optionalWords,
    authenticationVersion: optionalWords,
    name: optionalWords,
    explanation: optionalWords,
  }),
  z.transform(
    ({
      authenticationMethodId,
      authenticationType,
      authenticationVersion,
      name,
      explanation,
    }): ScaMethod => ({
      id: authenticationMethodId,
      type: authenticationType ?? '',
      ...(authenticationVersion !== null && { version: authenticationVersion }),
      ...(name !== null && { name }),
      ...(explanation !== null && { explanation }),
    }),
  ),
);

/** One without an id cannot be chosen. */
const methods = z.catch(
  z.nullish(
    z.pipe(
      listOf(z.catch(z.nullable(method), null)),
      z.transform((all) => all.filter((each) => each !== null)),
    ),
  ),
  null,
);

const challenge = z.catch(
  z.nullish(
    z.pipe(
      z.object({
        additionalInformation: information,
        data,
        image,
        otpMaxLength: optionalWords,
        otpFormat: optionalWords,
      }),
      z.transform(
        (words): ScaChallenge => ({
          ...(words.additionalInformation !== null && { information: words.additionalInformation }),
          ...(words.data !== null && { data: words.data }),
          ...(words.image !== null && { image: words.image }),
          ...(words.otpMaxLength !== null && { otpMaxLength: words.otpMaxLength }),
          ...(words.otpFormat !== null && { otpFormat: words.otpFormat }),
        }),
      ),
    ),
  ),
  null,
);

/** What an answer says of methods and a challenge. */
export const embeddedPart = {
  scaMethods: methods,
  chosenScaMethod: z.catch(z.nullish(method), null),
  challengeData: challenge,
};

/** What the members of {@link embeddedPart} say. */
export interface SaidOfMethods {
  scaMethods?: ScaMethod[] | null | undefined;
  chosenScaMethod?: ScaMethod | null | undefined;
  challengeData?: ScaChallenge | null | undefined;
}
