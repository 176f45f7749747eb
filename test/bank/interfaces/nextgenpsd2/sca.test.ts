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
  it('a page for the customer, without a call', async () => {
    expect(await proceed({ approach: 'redirect', redirect: SITE })).toEqual({
      next: 'open',
      url: SITE,
      links: { approach: 'redirect', redirect: SITE },
    });
  });

  it.each([
    ['the link that the bank gave', { approach: null, start: '/v1/special/start' }, '/v1/special/start'],
    ['a relative link', { approach: null, start: 'v1/special/start' }, '/v1/special/start'],
    ['the standard’s path without links', { approach: null }, START],
    ['the standard’s path if nothing is known', null, START],
  ] as const)('psd2 starts the authorisation: %s', async (_name, links, path) => {
    const answer = {
      scaStatus: 'received',
      authorisationId: 'z',
      _links: { scaRedirect: href(SITE), scaStatus: href(`${START}/z`), confirmation: href(`${START}/z`) },
    };
    bank.expect('POST', path, json(answer, 201));
    expect(await proceed(links)).toEqual({
      next: 'open',
      url: SITE,
      links: { approach: null, id: 'z', redirect: SITE, status: `${START}/z`, confirmation: `${START}/z` },
    });
    expect(bank.lastJson).toEqual({});
  });

  it('the start says where the browser returns to, and who the customer is', async () => {
    bank.expect('POST', START, json({ _links: { scaRedirect: href(SITE) } }, 201));
    await proceed(null, { psu: { id: 'PSU-1', idType: undefined, corporateId: undefined } });
    expect(bank.last.headers).toMatchObject({
      'tpp-redirect-uri': 'http://127.0.0.1:8910/callback?state=s1',
      'psu-id': 'PSU-1',
    });
  });

  it('the customer authorises in another way, and the bank says how', async () => {
    const headers = { 'ASPSP-SCA-Approach': 'DECOUPLED' };
    const answer = {
      scaStatus: 'received',
      psuMessage: 'Use\u0007 your app',
      _links: { scaStatus: href(`${START}/z`) },
    };
    bank.expect('POST', START, json(answer, 201, headers));
    expect(await proceed(null)).toEqual({
      next: 'wait',
      links: { approach: 'decoupled', id: 'z', status: `${START}/z`, message: 'Use  your app' },
    });
    expect(await proceed({ approach: 'decoupled' })).toMatchObject({ next: 'wait' });
    const file = { sca: { approaches: ['decoupled' as const] } };
    expect(await proceed({ approach: null, status: '/v1/z' }, { file })).toMatchObject({ next: 'wait' });
  });

  it('a link that a flow cannot keep counts as none', async () => {
    const tooLong = href(`/v1/${'x'.repeat(9000)}`);
    const _links = { scaRedirect: href(SITE), scaStatus: tooLong, confirmation: href('/v1/\u0000') };
    bank.expect('POST', START, json({ _links }, 201));
    expect((await proceed(null))?.links).toEqual({ approach: null, redirect: SITE });
  });

  it('nothing, if the bank exempts the customer', async () => {
    bank.expect('POST', START, json({ scaStatus: 'exempted' }, 201));
    expect(await proceed(null)).toMatchObject({ next: 'nothing' });
  });

  it('psd2 never takes the customer’s password', async () => {
    for (const [links, headers] of [
      [{ startAuthorisationWithPsuAuthentication: href('/x') }, {}],
      [{ updatePsuAuthentication: href('/x'), scaStatus: href('/y') }, {}],
      [{ scaStatus: href('/y') }, { 'ASPSP-SCA-Approach': 'EMBEDDED' }],
    ] as const) {
      bank.expect('POST', START, json({ scaStatus: 'received', _links: links }, 201, headers));
      await expect(proceed(null)).rejects.toMatchObject({
        code: 'bank_answer',
        message: expect.stringContaining('embedded'),
      });
    }
  });

  it('a start that leads nowhere is an error, and is not repeated', async () => {
    bank.expect(
      'POST',
      '/v1/s',
      json({ scaStatus: 'received', _links: { startAuthorisation: href('/v1/s') } }, 201),
    );
    await expect(proceed({ approach: null, start: '/v1/s' })).rejects.toMatchObject({ code: 'bank_answer' });
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

  it.each(['scaStatus', 'confirmation'])(
    'the customer gets no page if psd2 could not call %s afterwards',
    async (name) => {
      const links = { scaRedirect: href(SITE), [name]: href('https://evil.example/v1/x') };
      bank.expect('POST', START, json({ _links: links }, 201));
      await expect(proceed(null)).rejects.toMatchObject({
        code: 'bank_answer',
        message: `The bank's link ${name} leads to another host: https://evil.example/v1/x`,
      });
    },
  );

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

  it('without a link nobody knows', async () => {
    expect(await open().bank.sca.progress?.({ approach: null }, TRANSACTION_ID)).toBeNull();
  });

  it('the code that came back with the browser confirms it', async () => {
    bank.expect('PUT', `${START}/z`, json({ scaStatus: 'finalised' }));
    const links = { approach: null, confirmation: `${START}/z` };
    const sent = { links, code: 'C0DE', transactionId: TRANSACTION_ID, beforeSend: silent };
    expect(await open().bank.sca.confirmCode?.(sent)).toMatchObject({ means: 'done' });
    expect(bank.lastJson).toEqual({ confirmationCode: 'C0DE' });
  });
});

describe('the start that all interfaces have', () => {
  it('starts an authorisation and gives the page', async () => {
    bank.expect('POST', START, json({ _links: { scaRedirect: href(SITE) } }, 201));
    const sca = {
      resourceId: 'c1',
      redirectUri: 'http://127.0.0.1/',
      transactionId: TRANSACTION_ID,
      beforeSend: silent,
    };
    expect(await open().bank.sca.start(sca)).toBe(SITE);
    bank.expect('POST', START, json({ psuMessage: 'Use your app' }, 201));
    await expect(open().bank.sca.start(sca)).rejects.toMatchObject({ code: 'bank_answer' });
  });
});
