import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { PLATFORMS } from '../../src/bank/interfaces/nextgenpsd2/description/platforms.ts';
import { valuesIn } from '../../src/bank-file/values.ts';

/**
 * What each platform says decides what real banks get, and nothing here can ask them. So whoever changes one looks at its
 * sources again, and then renews its digest with `vitest -u`.
 */
it('each platform says what it said when somebody compared it with its sources', () => {
  const said = Object.entries(PLATFORMS).map(([name, file]) => {
    const values = [...valuesIn(file)].map(([path, value]) => `${path}: ${JSON.stringify(value)}\n`);
    return [name, createHash('sha256').update(values.join('')).digest('hex').slice(0, 16)];
  });
  expect(Object.fromEntries(said)).toMatchInlineSnapshot(`
    { adorsys: "a11df96481ea17d3", argenta: "686bed4af523420b", atruvia: "3fb4bc39de5090f4",
      banca-transilvania: "2c973775a22da6ae", banca-transilvania-sandbox: "a3d567c33f8be234",
      bank-verlag: "c0604861863f0601", bankdata: "3ce132cd387696d1", cbi-globe: "97ed7f45aaa84295",
      comdirect: "4bcfe4113555ef03", commerzbank: "f9f65b16e226842e",
      commerzbank-sandbox: "c1214c420ca3a999", consorsbank: "287674e187516eba",
      deutsche-bank: "2b77678a4392627e", fabrick: "ef0b82ea90c1b170", kbc: "583be6175e090151",
      n26: "133e56dac9ab5f34", paysera: "fcc38ea6e54e7fd2", raiffeisen-austria: "ad00fc0ae9411ce7",
      raiffeisen-romania: "22c9f7cd41cde7fc", redsys: "d8cae808cf95a3b4", salt-edge: "2d2e4e2a3b1864af",
      santander-consumer: "72f98ef257b0ee73", sparda: "66c12548a372c0f9",
      sparkassen: "82da6d133b21455b", standard: "8fd58d8789de7ed8", unicredit: "cd2caaec93ab5c2c",
      volksbank-nl: "9ffcc0e3adf83edb", worldline: "29358cda095254f3", wso2: "dcb2f424a545942c" }
  `);
});
