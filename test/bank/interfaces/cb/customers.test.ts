import { describe, expect, it } from 'vitest';
import { parseDate } from '../../../../src/domain/calendar.ts';
import { isDecimal } from '../../../../src/domain/decimal.ts';
import { parseProductId } from '../../../../src/domain/identifiers.ts';
import { currencyOf } from '../../../../src/flows/reading/transaction-reading.ts';
import { success } from '../../answers.ts';
import { TOKEN, useClients } from '../../client.ts';
import { useRecordedBank } from '../../recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';

const ACCOUNTS = '/private/customers/1234567/accounts';
const NOTHING = { iban: null, name: null, productCode: null, productDescription: null };

describe('customer data', () => {
  it('psd2 reads which customer a token belongs to', async () => {
    const body =
      '{"result":{"outcome":"SUCCESS","requestId":123456789012345678901234,"result":true},"data":{"customerid":"0012345"}}';
    recorded.expect('GET', '/private/customers/customerid-info', { status: 200, body });
    expect(await openClient().bank.login.whose(transactionId)).toBe('0012345');
    expect(recorded.last.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it("psd2 reads the accounts, where a card has its account's IBAN and no name", async () => {
    const accounts =
      '{"accountId":"0000012345","product":{"code":"0602","description":"Conto"},"currency":"EUR","iban":"IT60X0542811101000000123456","name":"Casa"},' +
      '{"accountId":"CARD000001","product":{"code":"CA30","description":"Carta"},"currency":"EUR","iban":"IT60X0542811101000000123456","name":"","new":1}';
    recorded.expect('GET', ACCOUNTS, success(`{"accounts":[${accounts}]}`));
    expect(await openClient().bank.accounts.list('1234567', transactionId)).toMatchInlineSnapshot(`
      [{ accountId: "0000012345", currency: "EUR", iban: "IT60X0542811101000000123456", name: "Casa",
         productCode: "0602", productDescription: "Conto", productId: "0000012345" },
       { accountId: "CARD000001", currency: "EUR", iban: "IT60X0542811101000000123456", name: null,
         productCode: "CA30", productDescription: "Carta", productId: "CARD000001" }]
    `);
  });

  it('a product may be without a name, an IBAN, a code and a description, and is there once if the bank lists it twice', async () => {
    const accounts =
      '{"accountId":"0000012345","currency":""},{"accountId":"0000012346","product":{},"currency":"USD","iban":""},{"accountId":" 0000012345","currency":"CHF"}';
    recorded.expect('GET', ACCOUNTS, success(`{"accounts":[${accounts}]}`));
    expect(await openClient().bank.accounts.list('1234567', transactionId)).toEqual([
      { ...NOTHING, accountId: '0000012345', productId: '0000012345', currency: '' },
      { ...NOTHING, accountId: '0000012346', productId: '0000012346', currency: 'USD' },
    ]);
  });

  it.each([
    ['USD', 'CHF', 'USD'],
    ['USD', null, 'USD'],
    ['', 'CHF', 'CHF'],
    ['', '', 'EUR'],
    ['', null, 'EUR'],
  ])('an account in %j whose balance is in %j has the currency %s', (currency, ofBalance, expected) => {
    const account = { ...NOTHING, accountId: '0000012345', productId: '0000012345', currency };
    const amount = '1.000';
    if (!isDecimal(amount)) throw new TypeError('no decimal');
    expect(currencyOf(account, ofBalance === null ? null : { amount, currency: ofBalance })).toBe(expected);
  });

  it.each([
    ['"date":"30/06/2026","hour":"10:15"', '2026-06-30T10:15:00+02:00'],
    ['"date":"2026-01-30","hour":"10:15"', '2026-01-30T10:15:00+01:00'],
    ['"date":"30/06/2026","hour":""', '2026-06-30'],
    ['"date":"30/06/2026","hour":"23:59:59"', '2026-06-30T23:59:59+02:00'],
    ['"date":"30/06/2026","hour":"20:00:00"', '2026-06-30T20:00:00+02:00'],
    ['"date":"30/06/2026","hour":"24:61"', '2026-06-30'],
    ['"date":"30/06/2026","hour":"24:00"', '2026-06-30'],
    ['"date":"30/06/2026","hour":"10:60"', '2026-06-30'],
    ['"date":"30/06/2026","hour":"10:15:60"', '2026-06-30'],
    ['"date":"30/06/2026","hour":"110:15"', '2026-06-30'],
    ['"date":"30/06/2026","hour":"10:15 h"', '2026-06-30'],
    ['"hour":"10:15"', null],
  ])('psd2 reads the time of a balance from %s', async (time, asOf) => {
    const balances =
      '"accountBalance":{"amount":"1234.560","currency":"EUR"},"availableBalance":{"amount":-0.5,"currency":"EUR"}';
    const path = '/private/customers/1234567/products/0000012345/balance/retrieve';
    recorded.expect('GET', path, success(`{${balances},${time}}`));
    expect(await openClient().bank.accounts.balance('1234567', '0000012345', transactionId)).toEqual({
      ...{ accountId: '0000012345', productId: '0000012345', asOf },
      accountBalance: { amount: '1234.560', currency: 'EUR' },
      availableBalance: { amount: '-0.5', currency: 'EUR' },
      ...{ accountAvailability: null, accountAvailableCredit: null },
      // All rows up to the moment of an earlier day are in it.
      ...(asOf !== null && { bookedDay: asOf.slice(0, 10) }),
    });
  });

  it.each([
    ['29/06/2026', '2026-06-29T12:00:00Z', undefined],
    ['29/06/2026', '2026-06-29T21:59:59Z', undefined],
    // At the bank the next day has begun.
    ['29/06/2026', '2026-06-29T22:00:00Z', '2026-06-29'],
    ['29/06/2026', '2026-06-30T12:00:00Z', '2026-06-29'],
    ['30/06/2026', '2026-06-29T12:00:00Z', undefined],
    ['28/06/2026', '2026-06-29T12:00:00Z', '2026-06-28'],
  ])('a balance of %s that the bank gives at %s has all rows of %s', async (date, at, bookedDay) => {
    const path = '/private/customers/1234567/products/0000012345/balance/retrieve';
    const answer = success(`{"accountBalance":{"amount":"1.00","currency":"EUR"},"date":"${date}"}`);
    recorded.expect('GET', path, { ...answer, headers: { date: new Date(at).toUTCString() } });
    const balance = await openClient().bank.accounts.balance('1234567', '0000012345', transactionId);
    expect(balance.bookedDay).toBe(bookedDay);
  });

  it('ids are percent-encoded in the path, so none of them leads to another path', async () => {
    recorded.expect('GET', '/private/customers/a%2F..%3Fb/accounts', success('{"accounts":[]}'));
    expect(await openClient().bank.accounts.list('a/..?b', transactionId)).toEqual([]);
  });
});

describe('a document', () => {
  const PDF = Buffer.from([0x25, 0x50, 0x44, 0x46, 0x00, 0xff, 0xfe, 0x0a]);
  const pdf = { status: 200, headers: { 'content-type': 'application/pdf' }, body: PDF };
  const RECEIPT = '/private/customers/1234567/products/0000012345/common/printer/r1/retrieve';

  const target = { customerId: '1234567', from: parseProductId('0000012345') };

  it('a receipt arrives byte for byte', async () => {
    recorded.expect('GET', RECEIPT, pdf);
    expect(await openClient().bank.payments.receipt(target, 'r1', transactionId)).toEqual(PDF);
  });

  it("the document of a range's transactions arrives byte for byte", async () => {
    const path = '/private/customers/1234567/products/0000012345/transactions/retrieve';
    recorded.expect('GET', `${path}?dateFrom=01%2F06%2F2026&dateTo=30%2F06%2F2026&exportType=pdf`, pdf);
    const range = { from: parseDate('--from', '2026-06-01'), to: parseDate('--to', '2026-06-30') };
    const query = { customerId: '1234567', productId: '0000012345', ...range, transactionId };
    expect(await openClient().bank.accounts.document(query, 'pdf')).toEqual(PDF);
  });

  it('psd2 refuses an envelope as a document', async () => {
    recorded.expect('GET', RECEIPT, success('{}'));
    const receipt = openClient().bank.payments.receipt(target, 'r1', transactionId);
    await expect(receipt).rejects.toMatchObject({ code: 'bank_answer' });
  });
});
