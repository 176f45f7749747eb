import { list, object, oneOf, text, type ValueOf } from '../../terminal/output/fields.ts';

/** What `psd2 profile set --all` prints. */
export const changedProfiles = list(
  object({
    profile: text('name of the profile'),
    result: oneOf(
      ['changed', 'unchanged', 'failed'],
      'unchanged: it did not have the old certificate; failed: it keeps the old one',
    ),
    detail: text('what was changed, or why not'),
  }),
);

export type Row = ValueOf<typeof changedProfiles>[number];
