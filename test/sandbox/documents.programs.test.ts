import { expect, test } from 'vitest';
import { workbook } from '../../src/sandbox/documents/statement.ts';
import { launchChromium } from '../support/chromium.ts';

test('an independent XML reader finds texts as texts and decimals as numbers in a sheet', async () => {
  const texts = ['<x> & "y"', "it's", 'più 😀', ''];
  const xml = workbook('A & B', [texts, [{ decimal: '-12.30' }]]).toString('utf8');
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    const cells: unknown = await page.evaluate(`(() => {
      const document = new DOMParser().parseFromString(${JSON.stringify(xml)}, 'application/xml');
      const namespace = 'urn:schemas-microsoft-com:office:spreadsheet';
      return [...document.getElementsByTagNameNS(namespace, 'Row')].map((row) =>
        [...row.getElementsByTagNameNS(namespace, 'Data')].map((data) => [
          data.getAttributeNS(namespace, 'Type'),
          data.textContent,
        ]),
      );
    })()`);
    expect(cells).toEqual([texts.map((text) => ['String', text]), [['Number', '-12.30']]]);
  } finally {
    await browser.close();
  }
});
