import { adorsys } from './platforms/adorsys.ts';
import { atruvia } from './platforms/atruvia.ts';
import { bancaTransilvania } from './platforms/banca-transilvania.ts';
import { bancaTransilvaniaSandbox } from './platforms/banca-transilvania-sandbox.ts';
import { bankVerlag } from './platforms/bank-verlag.ts';
import { bankdata } from './platforms/bankdata.ts';
import { cbiGlobe } from './platforms/cbi-globe.ts';
import { comdirect } from './platforms/comdirect.ts';
import { commerzbank } from './platforms/commerzbank.ts';
import { commerzbankSandbox } from './platforms/commerzbank-sandbox.ts';
import { consorsbank } from './platforms/consorsbank.ts';
import { deutscheBank } from './platforms/deutsche-bank.ts';
import { paysera } from './platforms/paysera.ts';
import { raiffeisenAustria } from './platforms/raiffeisen-austria.ts';
import { saltEdge } from './platforms/salt-edge.ts';
import { santanderConsumer } from './platforms/santander-consumer.ts';
import { sparda } from './platforms/sparda.ts';
import { sparkassen } from './platforms/sparkassen.ts';
import { standard } from './platforms/standard.ts';
import { unicredit } from './platforms/unicredit.ts';
import { wso2 } from './platforms/wso2.ts';
import type { BankFile } from './schema.ts';

/**
 * The platforms that come with psd2, by name: starting points for a bank file. They leave out what the operator has: the base
 * URL, ids and secrets. Nobody has seen them hold at a bank yet: `verifiedOn` is null, or says at what else they were seen to hold.
 */
export const PLATFORMS: Readonly<Record<string, BankFile>> = {
  standard,
  adorsys,
  atruvia,
  'banca-transilvania': bancaTransilvania,
  'banca-transilvania-sandbox': bancaTransilvaniaSandbox,
  'bank-verlag': bankVerlag,
  bankdata,
  'cbi-globe': cbiGlobe,
  comdirect,
  commerzbank,
  'commerzbank-sandbox': commerzbankSandbox,
  consorsbank,
  'deutsche-bank': deutscheBank,
  paysera,
  'raiffeisen-austria': raiffeisenAustria,
  'salt-edge': saltEdge,
  'santander-consumer': santanderConsumer,
  sparda,
  sparkassen,
  unicredit,
  wso2,
};

/** Whether a platform of this name comes with psd2. */
export function isPlatform(name: string): boolean {
  return Object.hasOwn(PLATFORMS, name);
}
