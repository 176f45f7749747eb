import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { transactionsAnswerIn } from '../../src/bank/interfaces/nextgenpsd2/wire/accounts.ts';
import {
  DECIMAL_FACTS,
  FACT_NAMES,
  PAYMENTS_FACTS,
  TEXT_FACTS,
  TRANSACTION_FACTS,
} from '../../src/domain/transaction-facts.ts';
import { writeCamt053Statement } from '../../src/statements/camt053.ts';
import { balancesOf, statementOf } from '../statements/statements.ts';
import { amountOf, booking } from './bookings.ts';

const page = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

/** What no element of camt.053 has: the id is psd2's own, and the other side is one of two. */
const NOT_IN_CAMT = ['transactionId', 'entryReference'];

/** All facts, by the kind of their value. */
const TEXTS = [
  ...['transactionId', 'entryReference', 'endToEndId', 'counterpartyName', 'counterpartyIban'],
  ...['counterpartyAccount', 'remittance', 'remittanceStructured', 'bankTransactionCode', 'ultimateDebtor'],
  ...['ultimateCreditor', 'mandateId', 'creditorId', 'purposeCode', 'originalCurrency', 'feeCurrency'],
  ...['customerReference', 'additionalInformation', 'returnReason'],
];
const DECIMALS = ['originalAmount', 'exchangeRate', 'feeAmount'];
const PAYMENTS = ['entryDetails'];
/** Those with null where the bank says nothing. The others are absent then. */
const NULLABLE = [
  ...['transactionId', 'entryReference', 'endToEndId', 'counterpartyName', 'counterpartyIban'],
  ...['remittance', 'bankTransactionCode'],
];

it('each fact is of one kind, and what a kind has is known', () => {
  expect(TEXT_FACTS).toEqual(TEXTS);
  expect(DECIMAL_FACTS).toEqual(DECIMALS);
  expect(PAYMENTS_FACTS).toEqual(PAYMENTS);
  expect(FACT_NAMES.toSorted()).toEqual([...TEXTS, ...DECIMALS, ...PAYMENTS].toSorted());
  expect(FACT_NAMES.filter((name) => 'isNullable' in TRANSACTION_FACTS[name])).toEqual(NULLABLE);
});

describe('a fact of a transaction', () => {
  it.each(FACT_NAMES)('%s has its line in the page of exports', (name) => {
    expect(page('exports.md'), `Name ${name} in the table of docs/exports.md`).toContain(`\`${name}\``);
  });

  it('has a reader', () => {
    const party = { name: 'Shop', account: { iban: 'DE02100100109307118603' } };
    const money = { amount: '7.00', currency: 'USD' };
    const texts = ['transactionId', 'entryReference', 'endToEndId', 'mandateId', 'creditorId', 'purposeCode'];
    const more = ['ultimateDebtor', 'ultimateCreditor', 'customerReference', 'additionalInformation'];
    const row = {
      ...Object.fromEntries(
        [...texts, ...more, 'bankTransactionCode', 'returnReason'].map((name) => [name, name]),
      ),
      ...{ creditorName: party.name, creditorAccount: party.account, bookingDate: '2026-11-20' },
      transactionAmount: { amount: '-1.00', currency: 'EUR' },
      ...{ remittanceInformationUnstructured: 'Rent', remittanceInformationStructured: 'RF18' },
      ...{ originalAmount: money, currencyExchange: [{ exchangeRate: '1.1' }], transactionFees: money },
      entryDetails: [{ endToEndId: 'a' }, { endToEndId: 'b' }],
    };
    const read = transactionsAnswerIn('Europe/Rome').parse({ transactions: { booked: [row] } });
    const [first] = read.transactions?.booked ?? [];
    const { facts, payments = [], creditor, ...own } = first ?? {};
    const named = {
      ...{ ...own, ...facts, entryDetails: payments.length > 0 ? payments : null },
      ...{ counterpartyName: creditor?.name, counterpartyIban: creditor?.iban, counterpartyAccount: '1' },
    };
    const isRead = (name: string) =>
      Reflect.get(named, name) !== null && Reflect.get(named, name) !== undefined;
    expect(FACT_NAMES.filter((name) => !isRead(name))).toEqual([]);
  });

  it.each(FACT_NAMES.filter((name) => !NOT_IN_CAMT.includes(name)))('%s is in camt.053', (name) => {
    const facts = {
      ...{ endToEndId: 'E2E', counterpartyName: 'Shop', counterpartyIban: 'DE02100100109307118603' },
      ...{ remittanceStructured: 'RF18', bankTransactionCode: 'PMNT-RCDT-ESCT', ultimateDebtor: 'A' },
      ...{
        ultimateCreditor: 'B',
        mandateId: 'M',
        creditorId: 'C',
        purposeCode: 'SALA',
        originalCurrency: 'USD',
      },
      ...{ feeCurrency: 'CHF', originalAmount: amountOf('7.00'), exchangeRate: amountOf('1.1') },
      ...{ feeAmount: amountOf('0.40'), customerReference: 'P-1', additionalInformation: 'Words' },
      ...{ returnReason: 'AC04 closed', entryDetails: [{ amount: amountOf('-2.00'), endToEndId: 'E-9' }] },
    };
    // A text and an account of the other side that have no IBAN beside them.
    const others = { remittance: 'Rent', counterpartyAccount: '4711' };
    const { entryDetails, ...alone } = facts;
    const whole = { ...(name === 'entryDetails' ? { entryDetails } : alone), ...others, details: 'Rent' };
    const named = name === 'counterpartyAccount' ? { ...whole, counterpartyIban: null } : whole;
    const write = (of: object) => {
      const statement = statementOf([{ ...booking('2026-01-31', '-1.50'), id: 'a'.repeat(32), ...of }]);
      return writeCamt053Statement(statement, balancesOf(statement));
    };
    const without = name === 'remittance' ? { ...named, details: '' } : { ...named, [name]: null };
    expect(write(named)).not.toBe(write(without));
  });
});
