import * as z from 'zod/mini';
import { flag, list, oneOf, text } from '../shared/fields.ts';

export const profile = () =>
  z.object({
    name: text('name of the profile'),
    baseUrl: text("base URL of the bank's interface"),
    current: flag('true if psd2 uses it without --profile'),
  });

export const profiles = () => list(profile());

const SOURCES = ['option', 'environment', 'profile', 'default'] as const;

/** The settings that a command would use, without secrets. */
export const profileSettings = () =>
  z.object({
    name: text('name of the profile'),
    source: oneOf(SOURCES, 'what chose this profile'),
    protected: text('where the key of a protected profile comes from; no if it is not protected'),
    settings: z
      .record(
        z.string(),
        z.object({ value: text('value that psd2 would use'), source: oneOf(SOURCES, 'where it comes from') }),
      )
      .check(z.describe('settings that have a value, by name')),
  });

export const removed = () => z.object({ name: text('name of the profile'), removed: z.literal(true) });

export const protection = () =>
  z.object({
    name: text('name of the profile'),
    protected: text('where the key of a protected profile comes from; no if it is not protected'),
  });
