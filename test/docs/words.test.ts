import { expect, it } from 'vitest';
import { PAGES, readPage } from './pages.ts';

/** What `npm run docs` and `npm run figures` write into a page. */
const GENERATED =
  /<!-- (?:written by npm run docs: begin|figures) -->.*?<!-- (?:written by npm run docs: end|end of figures) -->/gs;

it('the pages that people write have at most 48 000 words', () => {
  const pages = PAGES.filter((page) => page !== 'CHANGELOG.md');
  const words = pages.map((page) => readPage(page).replace(GENERATED, '').trim().split(/\s+/).length);
  expect(
    words.reduce((sum, count) => sum + count, 0),
    'Say each thing once, and link to it from elsewhere.',
  ).toBeLessThanOrEqual(48_000);
});
