import { finding } from '../shared/checks.ts';
import type { Subject } from './check.ts';

/** The groups of fields that the call of a diagnosis shows to the bank. */
const IN_THE_CALL = ['signing', 'headers', 'api', 'psu', 'oauth'];

/** Those that a code of the bank is about. One that is not here may be about any of them. */
function groupsOf(code: string): readonly string[] {
  if (/^(SIGNATURE|CERTIFICATE|KID|TIMESTAMP)_/.test(code)) return ['signing', 'headers'];
  if (code.startsWith('TOKEN_')) return ['oauth'];
  if (code.startsWith('PSU_')) return ['psu'];
  return IN_THE_CALL;
}

/** After the bank has refused the call of a diagnosis: says what the sources of the platform contest, and what may be the reason. */
export async function sayContested({ context, diagnosis, refusal: code }: Subject): Promise<void> {
  if (code === undefined) return;
  const { bank } = (await context.unsealed()).settings;
  if (bank === undefined) return;
  const { contestedOf } = await import('../open/bank-file.ts');
  const groups = groupsOf(code);
  const contested = (await contestedOf(bank)).filter(({ field }) =>
    groups.includes(field.split('.')[0] ?? ''),
  );
  if (contested.length === 0) return;
  const says = [...new Set(contested.map(({ differs }) => differs))].map((differs) => {
    const fields = contested.flatMap((each) => (each.differs === differs ? [each.field] : []));
    return `${commonPath(fields)} (others have: ${differs})`;
  });
  const hint = 'Compare it with the documentation of the bank, and write what the bank wants into its file.';
  await diagnosis.make('contested', async () =>
    finding('warn', `sources differ about what may be the reason: ${says.join('; ')}`, { hint }),
  );
}

/** The field or the group that several fields are in. */
function commonPath(fields: readonly string[]): string {
  const [first = [], ...others] = fields.map((field) => field.split('.'));
  return first.filter((part, at) => others.every((other) => other[at] === part)).join('.');
}
