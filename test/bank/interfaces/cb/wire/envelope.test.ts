import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../../../src/bank/call/json.ts';
import { readEnvelope } from '../../../../../src/bank/interfaces/cb/answer.ts';

const SUCCESS = { outcome: 'SUCCESS', requestId: '012345678901234567890123' };

async function open(body: string) {
  return readEnvelope(await parseJson(body));
}

it('readEnvelope reads every part of an answer', () => {
  const envelope = readEnvelope({
    result: {
      ...SUCCESS,
      flushMessages: true,
      messages: [{ code: 'OK1', message: 'Done', type: 'INFO', detail: 'well' }],
    },
    data: { customerid: '1234567' },
    resources: { resourceId: 'b1946ac9-2d1c-4f0e-9a57-6f1f3a7c0001' },
    _links: {
      self: { href: 'verify', method: 'POST' },
      next: { href: 'x/execute', method: 'PUT' },
      curies: [{ href: 'https://other.example/api/{rel}', name: 'moneyTransfer' }],
    },
    _embedded: { 'transactions:generatePdf': { href: 'retrieve?exportType=pdf', method: 'GET' } },
  });
  expect(envelope).toMatchInlineSnapshot(`
    { data: { customerid: "1234567" },
      embedded: { transactions:generatePdf: { href: "retrieve?exportType=pdf", method: "GET" } },
      isBanksError: false, messages: [{ code: "OK1", detail: "well", text: "Done", type: "INFO" }],
      next: { href: "x/execute", method: "PUT" }, outcome: "SUCCESS",
      requestId: "012345678901234567890123", resourceId: "b1946ac9-2d1c-4f0e-9a57-6f1f3a7c0001" }
  `);
});

describe('requestId', () => {
  it.each([
    ['{"result":{"outcome":"SUCCESS","requestId":123456789012345678901234}}', '123456789012345678901234'],
    ['{"result":{"outcome":"SUCCESS","requestId":"012345678901234567890123"}}', '012345678901234567890123'],
    ['{"result":{"outcome":"SUCCESS","requestId":42}}', '42'],
    ['{"result":{"outcome":"SUCCESS"}}', null],
    ['{"result":{"outcome":"SUCCESS","requestId":null}}', null],
    ['{"result":{"outcome":"SUCCESS","requestId":{"id":1}}}', null],
    [`{"result":{"outcome":"SUCCESS","requestId":"${'1'.repeat(201)}"}}`, null],
  ])('the requestId of %s is %s', async (body, requestId) => {
    expect((await open(body))?.requestId).toBe(requestId);
  });
});

describe('outcome', () => {
  it.each([
    [{ result: { outcome: 'SUCCESS' } }, 'SUCCESS'],
    [{ result: { outcome: 'ERROR' } }, 'ERROR'],
    [{ result: { outcome: 'PARTIAL' } }, 'ERROR'],
    [{ result: { outcome: 'success' } }, 'ERROR'],
    [{ result: {} }, 'ERROR'],
    [{ result: null }, 'ERROR'],
    [{ result: [] }, 'ERROR'],
    [{ result: { result: { outcome: 'SUCCESS' } } }, 'SUCCESS'],
    [{ result: { result: true, outcome: 'SUCCESS' } }, 'SUCCESS'],
    [{ data: { cro: '1' } }, null],
    [{}, null],
  ])('the outcome of %j is %s', (body, outcome) => {
    expect(readEnvelope(body)?.outcome).toBe(outcome);
  });

  it.each([null, [], 'text', 5, true])('the answer %j has no envelope', (body) => {
    expect(readEnvelope(body)).toBeNull();
  });
});

describe('a nested result', () => {
  const nested = {
    result: {
      ...SUCCESS,
      result: {
        data: { scaRedirectURL: 'https://bank.example/sca-authorize/?resourceId=r1' },
        resources: { resourceId: 'r1' },
        _links: { next: { href: 'r1/execute', method: 'PUT' } },
        _embedded: { polling: { href: 'https://bank.example/poll', method: 'GET' } },
      },
    },
  };

  it('the parts of a nested result are read as if they were outside of it', () => {
    expect(readEnvelope(nested)).toMatchObject({
      outcome: 'SUCCESS',
      data: { scaRedirectURL: 'https://bank.example/sca-authorize/?resourceId=r1' },
      resourceId: 'r1',
      next: { href: 'r1/execute', method: 'PUT' },
      embedded: { polling: { href: 'https://bank.example/poll', method: 'GET' } },
    });
  });

  it('a filled part outside takes precedence over the nested result, an empty one does not', () => {
    expect(readEnvelope({ ...nested, data: { a: 1 } })?.data).toEqual({ a: 1 });
    expect(readEnvelope({ ...nested, data: {} })?.data).toEqual(nested.result.result.data);
    expect(readEnvelope({ ...nested, data: null })?.data).toEqual(nested.result.result.data);
  });
});

describe('messages', () => {
  const messagesOf = (messages: unknown) =>
    readEnvelope({ result: { outcome: 'ERROR', messages } })?.messages;

  it('messages may be plain strings, and incomplete', () => {
    expect(messagesOf(['Something went wrong', { code: 'E1' }, { message: 7, type: null }])).toEqual([
      { code: null, text: 'Something went wrong', type: null, detail: null },
      { code: 'E1', text: '', type: null, detail: null },
      { code: null, text: '7', type: null, detail: null },
    ]);
  });

  it.each([[undefined], [null], ['text'], [{}], [[null, 5, [], true]]])(
    'messages in the form %j count as none',
    (messages) => {
      expect(messagesOf(messages)).toEqual([]);
    },
  );
});

describe('links', () => {
  const nextOf = (_links: unknown) => readEnvelope({ result: SUCCESS, _links })?.next;

  it('links may be missing, blank, or without a method', () => {
    expect(nextOf(undefined)).toBeNull();
    expect(nextOf({ self: { href: ' ' } })).toBeNull();
    expect(nextOf({ next: { href: ' ', method: 'PUT' } })).toEqual({ href: ' ', method: 'PUT' });
    expect(nextOf({ next: { href: 'retrieve?page=2' } })).toEqual({ href: 'retrieve?page=2', method: 'GET' });
  });

  it.each([[[]], ['verify'], [{ next: null }], [{ next: 'verify2' }], [{ next: { method: 'PUT' } }]])(
    'links in the form %j name no next step',
    (links) => {
      expect(nextOf(links)).toBeNull();
    },
  );
});

describe('resources', () => {
  it.each([
    [{ resourceId: 'r1' }, 'r1'],
    [{ resourceId: null }, null],
    [{}, null],
    [null, null],
    [['r1'], null],
    ['r1', null],
  ])('the resources %j have the id %j', (resources, resourceId) => {
    expect(readEnvelope({ result: SUCCESS, resources })?.resourceId).toBe(resourceId);
  });
});

describe('a plain OAuth answer (RFC 6749, section 5)', () => {
  it('a plain OAuth answer that grants is its own data', () => {
    const tokens = { access_token: 't', expires_in: 600 };
    expect(readEnvelope(tokens)).toMatchObject({ outcome: null, data: tokens, messages: [] });
  });

  it('a plain OAuth answer that refuses is an error with its code and description', () => {
    expect(readEnvelope({ error: 'invalid_grant', error_description: 'spent' })).toMatchObject({
      outcome: 'ERROR',
      messages: [{ code: 'invalid_grant', text: 'spent', type: 'ERROR', detail: null }],
    });
    expect(readEnvelope({ error: 'invalid_grant' })?.messages).toMatchObject([{ text: 'invalid_grant' }]);
  });

  it.each([{ error: { code: 1 } }, { error: true }, { error: ['x'] }])(
    'a plain OAuth answer in the form %j is an error too',
    (body) => {
      expect(readEnvelope(body)?.outcome).toBe('ERROR');
    },
  );
});
