import type { Vocabulary } from './shapes.ts';

// The names of fields, by interface. A key that is not here may be an id or a name of the bank's customers, so it is never kept.

const words = (text: string) => text.trim().split(/\s+/);

/** The fields that psd2 reads at its first bank. */
const CB_READS = words(`
  data result requestId outcome messages code description href _links _embedded next totalEnter totalOutput accounts accountId product
  iban currency name productDescription accountBalance availableBalance accountAvailability accountAvailableCredit amount value date
  hour transactionsAccounting transactionsNotAccounting numberTransactionsAccounting numberTransactionsNotAccounting index
  amountTransaction dateAccountingCurrency dateLiquidationValue shortDescription extendedDescription transactionDescriptions
  codeDescription isFeeCharge idMoneyTransfer transferReference bankCode flagSepa flagSwift flagUrgency today holidays countries currencies
  commissions totalAmount bankName executionStatus executionStatusDescription authorizationStatus authenticationState resourceId cro`);
/** Others that this bank was seen to send. */
const CB_OTHERS = words(`
  curies self method type label path detail flushMessages isPocketAccount preAuthorized showNotAccounting nextAccounting
  nextNotAccounting abi ABI SEPA SWIFT sepa swift urgent bank beneficiaryName ibanBeneficiary moneyTransferAmount
  moneyTransferExecutionDate executionDateLimit executionDateMinimumWireTransferAtBank executionDateMinimumWireTransferInternal
  currencyList currenciesList countriesList editBeneficiary addBeneficiary target text category customerId rate input verify execute sca`);

/** The fields of NextGenPSD2 1.3 that psd2 reads. */
const NEXTGEN_READS = words(`
  accounts cardAccounts account cardAccount resourceId iban bban pan maskedPan msisdn currency name displayName product cashAccountType
  status usage balances balanceAmount amount balanceType lastChangeDateTime referenceDate transactions booked pending information
  transactionId entryReference endToEndId transactionAmount bookingDate valueDate creditorName creditorAccount debtorName debtorAccount
  remittanceInformationUnstructured remittanceInformationStructured bankTransactionCode proprietaryBankTransactionCode
  additionalInformation cardTransactions _links next href consentStatus consentId validUntil recurringIndicator frequencyPerDay access
  transactionStatus paymentId scaStatus psuMessage tppMessages category code text path transactionFees transactionFee currencyConversionFee currencyConversionFees
  estimatedTotalAmount fundsAvailable authorisationIds chosenScaMethod scaRedirect scaOAuth scaStatusLink startAuthorisation`);
const NEXTGEN_OTHERS = words(`
  first last previous self download account-details ownerName ownerAddressUnstructured bic linkedAccounts details creditLimit
  creditLimitIncluded lastCommittedTransaction mandateId checkId creditorId ultimateCreditor ultimateDebtor currencyExchange
  sourceCurrency exchangeRate unitCurrency targetCurrency quotationDate contractIdentification remittanceInformationUnstructuredArray
  remittanceInformationStructuredArray additionalInformationStructured standingOrderDetails purposeCode balanceAfterTransaction
  creditorAgent debtorAgent batchIndicator batchNumberOfTransactions cardTransactionId terminalId transactionDate acceptorTransactionDateTime
  originalAmount markupFee markupFeePercentage cardAcceptorId cardAcceptorAddress cardAcceptorPhone merchantCategoryCode
  merchantPhone transactionDetails invoiced links scaMethods lastActionDate allPsd2 availableAccounts reference referenceType
  referenceIssuer street streetName buildingNumber townName postCode country city transactionFeeIndicator initiationDateTime`);

/** What the OpenAPI description of NextGenPSD2 1.3 requires in an answer. */
const NEXTGEN_REQUIRED = words(`
  accounts balances balanceAmount balanceType transactionAmount amount transactionStatus paymentId consentStatus consentId fundsAvailable`);

const CODES: Vocabulary['codes'] = {
  transactionStatus: new Set(words('ACCC ACCP ACSC ACSP ACTC ACWC ACWP RCVD PDNG RJCT CANC ACFC PATC PART')),
  scaStatus: new Set(
    words(
      'received psuIdentified psuAuthenticated scaMethodSelected started unconfirmed finalised failed exempted',
    ),
  ),
  consentStatus: new Set(
    words('received rejected partiallyAuthorised valid revokedByPsu expired terminatedByTpp replaced'),
  ),
  balanceType: new Set(
    words(
      'closingBooked expected openingBooked interimAvailable interimBooked forwardAvailable nonInvoiced authorised',
    ),
  ),
  outcome: new Set(words('SUCCESS WARNING ERROR INFO')),
};

/** What psd2 knows of the fields of an interface. */
export function vocabularyOf(name: string): Vocabulary {
  const isStandard = name === 'nextgenpsd2';
  const [reads, others] = isStandard ? [NEXTGEN_READS, NEXTGEN_OTHERS] : [CB_READS, CB_OTHERS];
  const required = new Set(isStandard ? NEXTGEN_REQUIRED : []);
  return { names: new Set([...reads, ...others]), reads: new Set(reads), required, codes: CODES };
}
