import { nextgenpsd2 } from '../../src/bank/interfaces/nextgenpsd2/description/description.ts';
import { FACTS } from '../../src/bank/interfaces/nextgenpsd2/description/facts.ts';
import { PLATFORMS } from '../../src/bank/interfaces/nextgenpsd2/description/platforms.ts';
import type { BankDescription } from '../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { readBankFile } from '../../src/bank-file/bank-file.ts';
import { type ExplainedValue, explainBank } from '../../src/bank-file/explain.ts';
import { SURENESS } from '../../src/bank-file/facts.ts';

const DESCRIPTIONS = { nextgenpsd2: () => nextgenpsd2 };
const BEGIN = '<!-- written by npm run docs: begin -->';
const END = '<!-- written by npm run docs: end -->';

/** Writes the table of platforms in `docs/banks.md`. @param page as it stands. The rest of it does not change */
export async function writePlatforms(page: string): Promise<string> {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error('docs/banks.md has lost its marks');
  const names = Object.keys(PLATFORMS).filter((name) => name !== 'standard');
  const rows = await Promise.all(names.toSorted().map(rowOf));
  const head = [
    'platform',
    'who is behind it',
    'reading',
    'paying',
    'SCA',
    'funds',
    'psd2 cannot',
    'how sure',
  ];
  const table = [`| ${head.join(' | ')} |`, `|${head.map(() => '---|').join('')}`, ...rows];
  return `${before}${BEGIN}\n\n${table.join('\n')}\n\n${END}${after}`;
}

async function rowOf(name: string): Promise<string> {
  const read = await readBankFile(name, DESCRIPTIONS);
  const { consent, payments } = read.description;
  const values = await explainBank(read, DESCRIPTIONS);
  const {
    behind,
    says = ['readings', 'payments'],
    cannot = '',
    facts,
  } = FACTS[name] ?? { behind: '', facts: {} };
  const isSaid = (path: string) =>
    values.some(({ field, from }) => field.startsWith(path) && from !== 'default');
  const told = (what: 'readings' | 'payments' | 'funds', path: string, words: string) => {
    if (!says.includes(what)) return 'no source describes it';
    return isSaid(path) ? words : STANDARD;
  };
  const cells = [
    name,
    behind,
    told('readings', 'consent.types', consent.types.join(', ')),
    told('payments', 'payments.products', paying(payments)),
    isSaid('sca.approaches') || isSaid('oauth.mode') ? nextgenpsd2.login(read.description) : STANDARD,
    told('funds', 'funds', STANDARD),
    cannot,
    sureness(
      values,
      Object.entries(facts).flatMap(([path, [, word]]) => (word === 'contested' ? [path] : [])),
    ),
  ];
  return `| ${cells.join(' | ')} |`;
}

const STANDARD = 'as the standard has it';

function paying({ products }: BankDescription['payments']): string {
  const kinds = [
    products.payments.some((name) => !name.startsWith('instant')) && 'single',
    products.payments.some((name) => name.startsWith('instant')) && 'instant',
    products['bulk-payments'].length > 0 && 'bulk',
    products['periodic-payments'].length > 0 && 'standing orders',
  ];
  return kinds.filter(Boolean).join(', ');
}

/** How many values have which sureness, and which ones are contested. */
function sureness(values: readonly ExplainedValue[], contested: readonly string[]): string {
  const counts = SURENESS.flatMap((word) => {
    const fields = values.filter(({ sureness, field }) => sureness === word && field !== 'banks');
    return word === 'contested' || fields.length === 0 ? [] : [`${fields.length} ${word}`];
  });
  const names = contested.map((path) => `\`${path}\``);
  return [...counts, ...(names.length > 0 ? [`contested: ${names.join(', ')}`] : [])].join('; ');
}
