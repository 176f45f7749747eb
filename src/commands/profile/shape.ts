import * as z from 'zod/mini';
import { flag, list, oneOf, text } from '../shared/fields.ts';

export const profile = () =>
  z.object({
    name: text('of the profile'),
    baseUrl: text("of the bank's interface"),
    current: flag('whether it is the one that is used without --profile'),
  });

export const profiles = () => list(profile());

const SOURCES = ['option', 'environment', 'profile', 'default'] as const;

/** What a command of a profile would use; never a secret. */
export const profileSettings = () =>
  z.object({
    name: text('of the profile'),
    source: oneOf(SOURCES, 'what chose this profile'),
    protected: text('where the key of a protected profile is; no: it is not protected'),
    settings: z
      .record(
        z.string(),
        z.object({ value: text('what would be used'), source: oneOf(SOURCES, 'where it comes from') }),
      )
      .check(z.describe('each setting that has a value, by its name')),
  });

export const removed = () => z.object({ name: text('of the profile'), removed: z.literal(true) });

export const protection = () =>
  z.object({
    name: text('of the profile'),
    protected: text('where the key of a protected profile is; no: it is not protected'),
  });
