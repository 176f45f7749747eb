import { object, oneOf, text, type ValueOf } from '../../terminal/output/fields.ts';

/** What `psd2 profile set --all` prints. */
export const changedProfile = object({
  profile: text('name of the profile').as('Profile', { whole: true }),
  result: oneOf(
    ['changed', 'unchanged', 'failed'],
    'unchanged: it did not have the old certificate; failed: it keeps the old one',
  ).as('Result', { kind: 'state' }),
  detail: text('what was changed, or why not').as('Detail'),
});

export type Row = ValueOf<typeof changedProfile>;
