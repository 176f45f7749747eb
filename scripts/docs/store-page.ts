import {
  BOOKED_COLUMNS,
  MARK_COLUMNS,
  PENDING_COLUMNS,
} from '../../src/store/postgres/transaction-columns.ts';
import { BLOCK, table } from './generated-table.ts';

/** Writes the tables of transactions in `docs/store.md`. @param page as it stands. The rest of it does not change */
export function writeStorePage(page: string): string {
  const head = ['column', 'type', 'meaning'];
  const columns = [...BOOKED_COLUMNS, ...MARK_COLUMNS].map(
    ({ name, type, means }) => `| \`${name}\` | ${type} | ${means} |`,
  );
  const booked = [
    '| `profile`, `customer_id`, `product_id` | text | part of the primary key |',
    '| `month` | date | first day of the month of booking, or of the value day where there is no other |',
    ...columns,
    '| `synced_at` | timestamptz | |',
  ];
  const names = PENDING_COLUMNS.map(({ name }) => `\`${name}\``);
  const pending = [
    '| `profile`, `customer_id`, `product_id`, `n` | text, integer | primary key; `n` counts the rows of an account |',
    `| ${names.join(', ')}, \`synced_at\` | | |`,
  ];
  const tables = [table(head, booked), table(head, pending)];
  if (page.match(BLOCK)?.length !== tables.length) throw new Error('docs/store.md has lost its marks');
  return page.replace(BLOCK, () => tables.shift() ?? '');
}
