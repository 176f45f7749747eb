// How long the same 100 000 transactions take as camt.053 and as JSON, and how much memory, in turns.
import { fileURLToPath } from 'node:url';
import { figure, median, roundsWithin } from './measure.js';
import { atOwnBank } from './own-bank.js';

const ROWS = 100_000;
const PAGE = 10_000;
const BANK = fileURLToPath(new URL('reporting-bank.js', import.meta.url));

/** @param seconds what all rounds may take */
export function reports(node, version, seconds) {
  return atOwnBank(node, [BANK, String(ROWS), String(PAGE)], (run) => measured(run, version, seconds), {
    ...{ signing: { when: 'never' }, accounts: { cards: 'never', paging: 'page-index' } },
    consent: { frequencyPerDay: 1000 },
  });
}

function measured(run, version, seconds) {
  run('consent', 'request');
  const runs = { json: [], camt: [] };
  let rows;
  for (const round of roundsWithin(seconds, { atMost: 11 })) {
    for (const account of round % 2 === 0 ? ['json', 'camt'] : ['camt', 'json']) {
      const { stdout, ...took } = run('accounts', 'transactions', account);
      rows ??= stdout;
      if (stdout !== rows || JSON.parse(stdout).length !== ROWS)
        throw new Error(`psd2 printed other rows of the account ${account}`);
      runs[account].push(took);
    }
  }
  const what = `psd2 accounts transactions of ${ROWS} rows as camt.053, Node ${version}`;
  return ['seconds', 'megabytes'].map((unit) => {
    const of = (account) => median(runs[account].map((took) => took[unit]));
    const isTime = unit === 'seconds';
    const shown = (value) => (isTime ? `${value.toFixed(1)} s` : `${value.toFixed(0)} MB`);
    return figure({
      what: isTime ? what : `${what}: memory`,
      ratio: median(runs.camt.map((took, round) => took[unit] / runs.json[round][unit])),
      against: 'the same as JSON',
      limit: isTime ? 1.5 : 1.3,
      detail: `${shown(of('camt'))} against ${shown(of('json'))}, in pages of ${PAGE}, medians of ${runs.json.length}`,
    });
  });
}
