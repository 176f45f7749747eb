import { describe, expect, it } from 'vitest';
import type { ScaLinks } from '../../../../src/bank/ports/customer.ts';
import { json, type NextGenOptions, silent, TRANSACTION_ID, useNextGen, useNextGenBank } from './client.ts';

const bank = useNextGenBank();
const open = useNextGen(bank);

const SITE = 'https://customers.bank.example/sca?x=1&y=%2F';
const START = '/v1/consents/c1/authorisations';
const LOGIN = {
  clientId: 'PSDIT-1',
  redirectUri: 'http://127.0.0.1:8910/callback',
  state: 's1',
  codeVerifier: 'v'.repeat(43),
};

function proceed(links: ScaLinks | null, options: NextGenOptions = {}) {
  return open(options).bank.sca.proceed?.({
    resourceId: 'c1',
    links,
    redirectUri: 'http://127.0.0.1:8910/callback?state=s1',
    login: LOGIN,
    transactionId: TRANSACTION_ID,
    beforeSend: silent,
  });
}

const href = (to: string) => ({ href: to });

describe('what is next', () => {
  it('the start says where the browser returns to, and who the customer is', async () => {
    bank.expect('POST', START, json({ _links: { scaRedirect: href(SITE) } }, 201));
    await proceed(null, { psu: { id: 'PSU-1', idType: undefined, corporateId: undefined } });
    expect(bank.last.headers).toMatchObject({
      'tpp-redirect-uri': 'http://127.0.0.1:8910/callback?state=s1',
      'psu-id': 'PSU-1',
    });
  });

  it('a link that a flow cannot keep counts as none', async () => {
    const tooLong = href(`/v1/${'x'.repeat(9000)}`);
    const _links = { scaRedirect: href(SITE), scaStatus: tooLong, confirmation: href('/v1/\u0000') };
    bank.expect('POST', START, json({ _links }, 201));
    expect((await proceed(null))?.links).toEqual({ approach: null, redirect: SITE });
  });
});

it('the bank file says how often the bank is asked, and how long a link is good', () => {
  expect(open().bank.sca.timing).toEqual({ pollSeconds: 3, authorisationMinutes: 10 });
  const file = { sca: { pollSeconds: 7, authorisationMinutes: 30 } };
  expect(open({ file }).bank.sca.timing).toEqual({ pollSeconds: 7, authorisationMinutes: 30 });
  const ofKinds = { sca: { authorisationMinutes: { payments: 15, consents: 1440 } } };
  expect(open({ file: ofKinds }).bank.sca.timing).toMatchObject({ authorisationMinutes: 1440 });
});

describe('links are not trusted', () => {
  it.each(['http://customers.bank.example/', 'javascript:alert(1)', 'ftp://x', 'https://', 'https://a b'])(
    'psd2 does not open %s',
    async (redirect) => {
      await expect(proceed({ approach: null, redirect })).rejects.toMatchObject({ code: 'bank_answer' });
      bank.expect('POST', START, json({ _links: { scaRedirect: href(redirect) } }, 201));
      await expect(proceed(null)).rejects.toMatchObject({ code: 'bank_answer' });
    },
  );

  it.each(['http://127.0.0.1:9/x', 'http://localhost/x', '/sca/page'])('psd2 opens %s', async (redirect) => {
    const turn = await proceed({ approach: null, redirect });
    expect(turn).toMatchObject({ next: 'open', url: new URL(redirect, bank.baseUrl).href });
  });

  it('calls go to the bank’s own host', async () => {
    const elsewhere = 'https://evil.example/v1/x';
    await expect(proceed({ approach: null, start: elsewhere })).rejects.toMatchObject({
      code: 'bank_answer',
    });
    const { sca } = open().bank;
    const links = { approach: null, status: elsewhere, confirmation: elsewhere };
    await expect(sca.progress?.(links, TRANSACTION_ID)).rejects.toMatchObject({ code: 'bank_answer' });
    const code = { links, code: '1', transactionId: TRANSACTION_ID, beforeSend: silent };
    await expect(sca.confirmCode?.(code)).rejects.toMatchObject({ code: 'bank_answer' });
  });
});

describe('how far an authorisation is', () => {
  it.each([
    ['received', 'going on'],
    ['psuIdentified', 'going on'],
    ['started', 'going on'],
    ['unconfirmed', 'needs code'],
    ['finalised', 'done'],
    ['exempted', 'done'],
    ['failed', 'failed'],
    ['toString', 'going on'],
  ])('%s', async (scaStatus, means) => {
    bank.expect('GET', `${START}/z`, json({ scaStatus, psuMessage: 'Wait' }));
    const links = { approach: null, status: `${START}/z` };
    expect(await open().bank.sca.progress?.(links, TRANSACTION_ID)).toEqual({
      scaStatus,
      means,
      message: 'Wait',
    });
  });
});
