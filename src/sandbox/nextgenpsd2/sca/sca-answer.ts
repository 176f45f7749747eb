import type { Href } from '../links.ts';

/** What an answer says of SCA: whether it began, or how the TPP begins it. */
export interface ScaAnswer {
  /** Undefined: the answer does not say. */
  approach: 'REDIRECT' | 'DECOUPLED' | 'EMBEDDED' | undefined;
  links: Readonly<Record<string, Href>>;
  /** What the body has besides. */
  fields: Readonly<Record<string, unknown>>;
}

/** The header for the approach of an answer. */
export function approachHeader({ approach }: Pick<ScaAnswer, 'approach'>): Record<string, string> {
  return approach === undefined ? {} : { 'ASPSP-SCA-Approach': approach };
}
