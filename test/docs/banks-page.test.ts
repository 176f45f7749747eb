import { expect, it } from 'vitest';
import { OPERATIONS } from '../../src/bank/interfaces/nextgenpsd2/description/operations.ts';
import { allFields, fieldsAt } from '../bank-file/described.ts';
import { readPage } from './pages.ts';

/** The names in the table of fields. */
const fields = [...readPage('docs/banks.md').matchAll(/^\| `([\w.-]+)` \|/gm)].map(([, name]) => name);

it('the page has a row for every field of a bank file, in the order of the schema', () => {
  const known = allFields().filter((path) => path === 'accounts.paging' || !fieldsAt(path.split('.')));
  expect(fields).toEqual(known);
});

/** The rows of the tables that say how psd2 covers the standard: what, command, rule of the sandbox. */
const covered = readPage('docs/banks.md')
  .split('\n')
  .filter((line) => /^\| (`(GET|POST|PUT|DELETE) |header [A-Z])/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));
const named = (pattern: RegExp) => covered.flatMap(([what = '']) => pattern.exec(what)?.[1] ?? []);

it('the page has a row for every operation of the standard, with its path', () => {
  expect(named(/\(`(\w+)`\)$/).toSorted()).toEqual(Object.keys(OPERATIONS).toSorted());
  for (const [what = ''] of covered.filter(([first = '']) => first.startsWith('`'))) {
    const [, method, path, id = ''] = /^`(\w+) (\S+)` \(`(\w+)`\)$/.exec(what) ?? [];
    expect(Object.entries(OPERATIONS).find(([known]) => known === id)?.[1]).toMatchObject({ method, path });
  }
});

/** The headers of requests and answers of the standard that concern psd2. */
const HEADERS = [
  ...['X-Request-ID', 'Digest', 'Signature', 'TPP-Signature-Certificate', 'Consent-ID', 'Authorization'],
  ...['PSU-IP-Address', 'PSU-ID', 'PSU-ID-Type', 'PSU-Corporate-ID', 'PSU-Corporate-ID-Type'],
  ...['TPP-Redirect-URI', 'TPP-Nok-Redirect-URI', 'TPP-Redirect-Preferred', 'TPP-Decoupled-Preferred'],
  ...['TPP-Explicit-Authorisation-Preferred', 'TPP-Brand-Logging-Information', 'TPP-Notification-URI'],
  ...['PSU-IP-Port', 'PSU-Accept-Language', 'PSU-User-Agent', 'PSU-Device-ID', 'PSU-Geo-Location'],
  ...['Accept', 'Content-Type', 'Date', 'ASPSP-SCA-Approach', 'ASPSP-Multiple-Consent-Support'],
];

it('the page has every header', () => {
  const rows = named(/^header (.*)$/).flatMap((names) => names.split(/, | and /));
  for (const header of HEADERS) expect(rows).toContain(header);
});
