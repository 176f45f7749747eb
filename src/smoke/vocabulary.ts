import type { Vocabulary } from './shapes.ts';

// The names of fields beside those that psd2 reads. A key that is neither may be an id or a name of the bank's customers, so it is
// never kept.

const words = (text: string) => text.trim().split(/\s+/);

/** What `cb` was seen to send, and psd2 does not read. */
const CB_OTHERS = words(`
  curies self path flushMessages isPocketAccount preAuthorized showNotAccounting bank beneficiaryName ibanBeneficiary
  moneyTransferAmount moneyTransferExecutionDate currenciesList countriesList target text category customerId input verify execute sca
  totalEnter totalOutput productDescription transactionDescriptions transferReference bankCode flagSepa flagSwift currencies`);

/** What NextGenPSD2 1.3 has, and psd2 does not read. */
const NEXTGEN_OTHERS = words(`
  first last previous self account-details ownerName ownerAddressUnstructured bic linkedAccounts details creditLimit
  lastCommittedTransaction checkId quotationDate contractIdentification additionalInformationStructured standingOrderDetails
  balanceAfterTransaction creditorAgent debtorAgent batchIndicator batchNumberOfTransactions terminalId acceptorTransactionDateTime
  markupFeePercentage cardAcceptorId cardAcceptorAddress cardAcceptorPhone merchantCategoryCode merchantPhone invoiced links scaMethods
  lastActionDate allPsd2 availableAccounts referenceType referenceIssuer street streetName buildingNumber townName postCode country city
  initiationDateTime usage information chosenScaMethod scaStatusLink`);

/** The links and positions of further pages: a list has them or not, as long as it is. */
const OF_PAGES = words('next nextAccounting nextNotAccounting download');

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

/**
 * What psd2 knows of the fields of an interface.
 *
 * @param fieldsRead the names that its readers look at
 */
export function vocabularyOf(name: string, fieldsRead: ReadonlySet<string>): Vocabulary {
  const isStandard = name === 'nextgenpsd2';
  return {
    names: new Set([...fieldsRead, ...(isStandard ? NEXTGEN_OTHERS : CB_OTHERS)]),
    reads: new Set([...fieldsRead].filter((each) => !OF_PAGES.includes(each))),
    required: new Set(isStandard ? NEXTGEN_REQUIRED : []),
    codes: CODES,
  };
}
