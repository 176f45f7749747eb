import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';

type Paging = BankDescription['accounts']['paging'];

/** The rows that a call asks for. */
export interface Page {
  /** How many rows of each kind come before it. */
  offset: number;
  size: number;
}

/** The parameter of the links to further pages. It is part of an address that the client does not look into. */
const CONTINUATION = 'continuation';

const MAX_SIZE = 10_000;

/** The parameters that choose a page (`accounts.paging` of the bank file). */
export function pagingParameters(paging: Paging): string[] {
  if (paging === 'link') return [CONTINUATION];
  if (paging === 'page-index') return ['pageIndex', 'itemsPerPage'];
  return [paging.pageParameter];
}

/**
 * Reads the page that a call asks for. `pageIndex` counts from 0, the parameter of a bank's own paging from 1.
 *
 * @throws DoorRefusal `FORMAT_ERROR`
 */
export function readPage(query: ReadonlyMap<string, string>, paging: Paging, rowsAPage: number): Page {
  if (paging === 'link') {
    const value = query.get(CONTINUATION);
    return { offset: value === undefined ? 0 : offsetOf(value), size: rowsAPage };
  }
  if (paging === 'page-index') {
    const size = readWhole(query, 'itemsPerPage', 1, MAX_SIZE) ?? rowsAPage;
    return { offset: (readWhole(query, 'pageIndex', 0, 10 ** 7) ?? 0) * size, size };
  }
  const page = readWhole(query, paging.pageParameter, 1, 10 ** 7) ?? 1;
  return { offset: (page - 1) * rowsAPage, size: rowsAPage };
}

/** Whether a call asks for a further page of a list, not for the list. */
export function isFurtherPage({ offset }: Page): boolean {
  return offset > 0;
}

/** The query of the next page: that of this page with another continuation. */
export function nextQuery(sent: ReadonlyMap<string, string>, { offset, size }: Page): string {
  const next = new URLSearchParams([...sent].filter(([name]) => name !== CONTINUATION));
  next.set(CONTINUATION, Buffer.from(`rows ${offset + size}`).toString('base64url'));
  return `?${next}`;
}

/** The headers of a page, if the bank says there how many pages there are. @param rows of the longer list */
export function pagingHeaders(paging: Paging, { size }: Page, rows: number): Record<string, string> {
  if (typeof paging === 'string') return {};
  return { [paging.totalPagesHeader]: String(Math.max(1, Math.ceil(rows / size))) };
}

function offsetOf(continuation: string): number {
  const offset = /^rows (\d{1,9})$/.exec(Buffer.from(continuation, 'base64url').toString('latin1'))?.[1];
  if (offset !== undefined) return Number(offset);
  throw new DoorRefusal('FORMAT_ERROR', 'This is no address of a page that the bank gave', '', {
    path: CONTINUATION,
  });
}

function readWhole(
  query: ReadonlyMap<string, string>,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const value = query.get(name);
  if (value === undefined) return undefined;
  const number = /^\d{1,8}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw unexpected('FORMAT_ERROR', name, `${name} is not a number of the bank`, `${least} to ${most}`, value);
}
