import { expect, test } from 'vitest';
import { refusedCallIn, withoutCall } from '../../src/domain/refused-call.ts';

const POST = 'POST /private/customers/1048262/moneyTransfer/verify';

test.each([
  [`The bank refused ${POST} (HTTP 417): No money: 1.00 EUR`, 'No money: 1.00 EUR', `${POST} (HTTP 417)`],
  [
    'The bank refused POST /v1.3/a:b (HTTP 400): AC01. See below',
    'AC01. See below',
    'POST /v1.3/a:b (HTTP 400)',
  ],
  ['The bank refused PUT /v1/x (HTTP 400)', 'The bank refused it', 'PUT /v1/x (HTTP 400)'],
  [
    'The bank refused PUT /v1/x (HTTP 400): the answer is text/html',
    'The bank refused it: the answer is text/html',
    'PUT /v1/x (HTTP 400)',
  ],
  ['The bank does not know what GET /v1/x is about (HTTP 404): gone', 'gone', 'GET /v1/x (HTTP 404)'],
  [
    'The bank does not say what became of the transfer: The bank failed on POST /v1/x (HTTP 500): down',
    'The bank does not say what became of the transfer: down',
    'POST /v1/x (HTTP 500)',
  ],
  ['to Ada: The bank refused DELETE /v1/x (HTTP 400): late', 'to Ada: late', 'DELETE /v1/x (HTTP 400)'],
  ['AC01: IBAN does not exist', 'AC01: IBAN does not exist', null],
  ['The bank cannot be reached (HTTP 502)', 'The bank cannot be reached (HTTP 502)', null],
])('%s: people read %j, and the call is %j', (message, words, call) => {
  expect([withoutCall(message), refusedCallIn(message)]).toEqual([words, call]);
});
