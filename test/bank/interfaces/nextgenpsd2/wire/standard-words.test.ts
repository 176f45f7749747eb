import { describe, expect, it } from 'vitest';
import { balancesAnswer } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/accounts.ts';
import {
  consentStatusAnswer,
  scaStatusAnswer,
  startAnswer,
} from '../../../../../src/bank/interfaces/nextgenpsd2/wire/consent.ts';
import {
  bulkAnswer,
  paymentStatusAnswer,
} from '../../../../../src/bank/interfaces/nextgenpsd2/wire/payment.ts';

// The words of the standard, each list whole. Banks write them in other letters. A word that psd2 does not know decides nothing, so a
// payment that is paid, or a consent that has ended, would stay open.

/** Reads each word as it is, and in other spellings. */
function knows(words: string, read: (word: string) => unknown) {
  describe.each(words.trim().split(/\s+/))('%s', (word) => {
    it('is known in any spelling, and no longer word is', () => {
      expect([word, word.toUpperCase(), word.toLowerCase(), ` ${word} `].map(read)).toEqual([
        word,
        word,
        word,
        word,
      ]);
      const other = `${word}X`.toUpperCase();
      expect(read(other)).toBe(other);
    });
  });
}

describe('the status of a payment', () => {
  const words = 'RCVD PDNG PATC ACTC ACCP ACFC ACWC ACWP ACSP ACSC ACCC PART RJCT CANC';
  knows(words, (transactionStatus) => paymentStatusAnswer.parse({ transactionStatus }).transactionStatus);
  it('is the same in a bulk payment and its entries', () => {
    const transactionStatus = 'acsc';
    expect(bulkAnswer.parse({ transactionStatus, payments: [{ transactionStatus }, {}] })).toMatchObject({
      transactionStatus: 'ACSC',
      payments: [{ transactionStatus: 'ACSC' }, { transactionStatus: null }],
    });
  });
});

describe('the status of a consent', () => {
  const words = 'received rejected partiallyAuthorised valid revokedByPsu expired terminatedByTpp';
  const read = (consentStatus: string) => consentStatusAnswer.parse({ consentStatus }).consentStatus;
  knows(words, read);
  it('may be in American English', () => {
    expect(read('partiallyAuthorized')).toBe('partiallyAuthorised');
  });
});

describe('the status of an authorisation', () => {
  const words =
    'received psuIdentified psuAuthenticated scaMethodSelected started unconfirmed finalised failed exempted';
  const read = (scaStatus: string) => scaStatusAnswer.parse({ scaStatus }).scaStatus;
  knows(words, read);
  it('may be in American English', () => {
    expect(read('FINALIZED')).toBe('finalised');
  });
});

describe('the type of a balance', () => {
  const words =
    'closingBooked expected openingBooked interimAvailable interimBooked forwardAvailable nonInvoiced authorised available openingAvailable closingAvailable';
  const balanceAmount = { currency: 'EUR', amount: '1.00' };
  knows(words, (balanceType) => {
    const { balances } = balancesAnswer.parse({ balances: [{ balanceType, balanceAmount }] });
    return Object.values(balances).flat()[0]?.balanceType;
  });
});

describe('a link of an authorisation', () => {
  const href = 'https://bank.example/x';
  const links = (value: object) => startAnswer.parse({ _links: value })._links;
  it.each(
    `scaRedirect scaOAuth startAuthorisation startAuthorisationWithPsuIdentification scaStatus confirmation updatePsuIdentification
    startAuthorisationWithPsuAuthentication startAuthorisationWithEncryptedPsuAuthentication
    startAuthorisationWithAuthenticationMethodSelection startAuthorisationWithTransactionAuthorisation updatePsuAuthentication
    updateEncryptedPsuAuthentication updateAdditionalPsuAuthentication updateAdditionalEncryptedPsuAuthentication
    selectAuthenticationMethod authoriseTransaction`
      .trim()
      .split(/\s+/),
  )('%s is read', (name) => {
    expect(links({ [name]: { href } })).toMatchObject({ [name]: href });
    expect(links({ [name]: href })).toMatchObject({ [name]: href });
  });

  it.each([
    ['a longest', `https://bank.example/${'x'.repeat(8_192 - 21)}`, true],
    ['a longer one', `https://bank.example/${'x'.repeat(8_193 - 21)}`, false],
    ['one with a control character', 'https://bank.example/\u0007', false],
  ])('%s is kept: %s', (_, address, isKept) => {
    expect(links({ scaRedirect: { href: address } })?.scaRedirect ?? null).toBe(isKept ? address : null);
  });
});
