import * as z from 'zod/mini';
import { list, oneOf, text } from '../shared/fields.ts';

/** What `psd2 profile set --all` prints. */
export const changedProfiles = () =>
  list(
    z.object({
      profile: text('name of the profile'),
      result: oneOf(
        ['changed', 'unchanged', 'failed'],
        'unchanged: it did not have the old certificate; failed: it keeps the old one',
      ),
      detail: text('what was changed, or why not'),
    }),
  );

export type Row = z.output<ReturnType<typeof changedProfiles>>[number];
