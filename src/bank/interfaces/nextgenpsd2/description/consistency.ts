import type { BankProblem } from '../../../../bank-file/description.ts';
import { allFields } from '../../../../bank-file/fields.ts';
import { listed } from '../../../../bank-file/problems.ts';
import { didYouMean } from '../../../../did-you-mean.ts';
import { OPERATIONS, type OperationId, parametersOf } from './operations.ts';
import { type BankDescription, bankFile } from './schema.ts';

/** Headers that psd2 makes for each request, in lower case, and the field that changes them. */
const MADE_BY_PSD2: Readonly<Record<string, string>> = {
  digest: 'signing',
  signature: 'signing',
  'tpp-signature-certificate': 'signing.certificate',
  'x-request-id': '',
  'consent-id': '',
  'psu-ip-address': 'psu.ip',
  date: 'headers.date',
  host: '',
  connection: '',
  'content-length': '',
  'transfer-encoding': '',
};

/** Of a part that is not one parameter, something beside parameters and dots is fixed, so that no value can make it "..". */
const PATH_TEMPLATE = /^(\/(\{[^{}]*\}|(?!(\.{1,2}|\.*(\{[^{}]*\}\.*)+)(\/|$))[A-Za-z0-9._~{}-]+))+$/;

const AUTHORISATION = '{authorisationId}';

/** Finds what does not fit together in a bank whose fields are all valid. */
export function inconsistencies(bank: BankDescription): BankProblem[] {
  return [
    ...problemsOfBanks(bank.banks),
    ...problemsOfLearned(bank.learned),
    ...problemsOfPaths(bank.api.paths),
    ...problemsOfHeaders('headers.static', bank.headers.static),
    ...Object.entries(bank.headers.perOperation).flatMap(([operation, headers]) => [
      ...problemsOfOperation('headers.perOperation', operation),
      ...problemsOfHeaders(`headers.perOperation.${operation}`, headers),
    ]),
    ...problemsOfHeaders(
      'headers.names',
      Object.fromEntries(Object.entries(bank.headers.names).map(([name, its]) => [its, name])),
    ),
    ...problemsOfSigning(bank.signing),
    ...problemsOfConstants(bank.payments.constant),
    ...problemsOfOAuth(bank.oauth),
    ...problemsOfRepeat(bank.payments),
    ...problemsOfIntegrated(bank),
    ...problemsOfEmbedded(bank.sca),
  ];
}

function problemsOfBanks(banks: BankDescription['banks']): BankProblem[] {
  return banks.flatMap(({ bankCode, country }, index) => {
    const path = `banks[${index}].country`;
    return bankCode === undefined || country !== undefined
      ? []
      : [{ path, message: `${path} is missing: a bankCode is one of a country` }];
  });
}

function isOperation(name: string): name is OperationId {
  return Object.hasOwn(OPERATIONS, name);
}

function problemsOfOperation(within: string, name: string): BankProblem[] {
  if (isOperation(name)) return [];
  const path = `${within}.${name}`;
  const meant = didYouMean(name, Object.keys(OPERATIONS));
  return [
    {
      path,
      message: [`${path} is not an operation of the standard`, meant].filter(Boolean).join('. ').trim(),
    },
  ];
}

function problemsOfLearned(learned: BankDescription['learned'] = {}): BankProblem[] {
  const fields = allFields(bankFile);
  return Object.keys(learned)
    .filter((field) => !fields.includes(field))
    .map((field) => ({
      path: `learned.${field}`,
      message: [`learned.${field} is not a field of a bank file`, didYouMean(field, fields).trim()]
        .filter(Boolean)
        .join('. '),
    }));
}

function problemsOfPaths(paths: Readonly<Record<string, string>>): BankProblem[] {
  return Object.entries(paths).flatMap(([operation, template]) => {
    const path = `api.paths.${operation}`;
    if (!isOperation(operation)) return problemsOfOperation('api.paths', operation);
    if (!PATH_TEMPLATE.test(template))
      return [{ path, message: `${path} must be a path: parts that each begin with "/", without a query` }];
    const wanted = parametersOf(OPERATIONS[operation].path);
    const parameters = parametersOf(template).join();
    // Some banks need nothing but the id of an authorisation.
    const isOfId = wanted.includes(AUTHORISATION) && parameters === AUTHORISATION;
    if (isOfId || parameters === wanted.join()) return [];
    const all = `each of ${wanted.join(', ')} once, and no other parameter`;
    const orAlone = wanted.includes(AUTHORISATION) ? `, or ${AUTHORISATION} alone` : '';
    const what = wanted.length === 0 ? 'no parameters' : `${all}${orAlone}`;
    return [{ path, message: `${path} must have ${what}` }];
  });
}

function problemsOfHeaders(within: string, headers: Readonly<Record<string, string>>): BankProblem[] {
  const seen = new Set<string>();
  return Object.entries(headers).flatMap(([name, value]) => {
    const path = `${within}.${name}`;
    const lower = name.toLowerCase();
    const isTwice = seen.has(lower);
    seen.add(lower);
    if (isTwice) return [{ path, message: `${path} is there twice: headers have no upper and lower case` }];
    const field = Object.hasOwn(MADE_BY_PSD2, lower) ? MADE_BY_PSD2[lower] : undefined;
    if (field !== undefined)
      return [{ path, message: `${path}: psd2 makes this header${field === '' ? '' : `; see ${field}`}` }];
    if (lower === 'authorization' && !value.startsWith('env:'))
      return [
        { path, message: `${path} is a secret: name a variable of the environment, as "env:PSD2_BANK_NAME"` },
      ];
    return [];
  });
}

function problemsOfSigning({ headers, ifSent }: BankDescription['signing']): BankProblem[] {
  return ifSent
    .filter((name) => headers.includes(name))
    .map((name) => ({
      path: 'signing.ifSent',
      message: `signing.ifSent names ${name}, which signing.headers already names`,
    }));
}

/** What psd2 makes of the order. A constant in its place would change who is paid, how much or when. */
const ORDERED = [
  'debtorAccount',
  'instructedAmount',
  'creditorAccount',
  'creditorName',
  'creditorAgent',
  'payments',
  'requestedExecutionDate',
  'startDate',
  'endDate',
  'frequency',
  'dayOfExecution',
  'executionRule',
  'endToEndIdentification',
  'remittanceInformationUnstructured',
  'remittanceInformationStructured',
];

function problemsOfConstants(constant: BankDescription['payments']['constant']): BankProblem[] {
  return Object.entries(constant).flatMap(([name, value]) => {
    const path = `payments.constant.${name}`;
    if (ORDERED.includes(name.split('.')[0] ?? ''))
      return [{ path, message: `${path} is a part of the order, so it cannot be the same in every payment` }];
    return value.startsWith('env:')
      ? [{ path, message: `${path} must be a text: psd2 keeps payments, and no secrets in them` }]
      : [];
  });
}

/** With `integrated`, the bank's answer has the address of the metadata. */
function problemsOfOAuth(oauth: BankDescription['oauth']): BankProblem[] {
  if (oauth.mode === 'none' || oauth.mode === 'integrated' || oauth.metadata !== undefined) return [];
  const needed =
    oauth.mode === 'pre-step'
      ? (['authorizationEndpoint', 'tokenEndpoint'] as const)
      : (['tokenEndpoint'] as const);
  const missing = needed.filter((name) => oauth[name] === undefined);
  return missing.map((name) => ({
    path: `oauth.${name}`,
    message: `oauth.${name} is missing: with oauth.mode "${oauth.mode}", psd2 needs oauth.metadata or ${listed(needed.map((each) => `oauth.${each}`)).replace(' or ', ' and ')}`,
  }));
}

/** What only a login with the consent gives. */
function problemsOfIntegrated({ oauth, consent }: BankDescription): BankProblem[] {
  const asks: [path: string, isAsked: boolean][] = [
    ['oauth.applicationToken', oauth.applicationToken],
    ['consent.status', consent.status === 'none'],
  ];
  return asks.flatMap(([path, isAsked]) =>
    isAsked && oauth.mode !== 'integrated'
      ? [{ path, message: `${path} is only possible with oauth.mode "integrated"` }]
      : [],
  );
}

/** A customer gives psd2 a credential only where the bank has no other way (docs/embedded.md). */
function problemsOfEmbedded({ approaches, first }: BankDescription['sca']): BankProblem[] {
  const place = approaches.indexOf('embedded');
  if (place === -1)
    return first === undefined
      ? []
      : [{ path: 'sca.first', message: 'sca.first is only possible with "embedded" in sca.approaches' }];
  if (place === approaches.length - 1) return [];
  const path = `sca.approaches[${place}]`;
  return [
    {
      path,
      message: `${path}: "embedded" must be the last one, because psd2 takes a credential only where the bank has no other way`,
    },
  ];
}

function problemsOfRepeat({ repeat, repeatMinutes }: BankDescription['payments']): BankProblem[] {
  const path = 'payments.repeatMinutes';
  if (repeat === 'same-answer')
    return repeatMinutes === undefined
      ? [{ path, message: `${path} is missing: payments.repeat "same-answer" needs it` }]
      : [];
  return repeatMinutes === undefined
    ? []
    : [{ path, message: `${path} is only possible with payments.repeat "same-answer"` }];
}

// What no bank file can say, because psd2 would need code for it. docs/banks.md has the list.

const EMBEDDED = 'embedded SCA is a value of sca.approaches, always the last one';
const CREDENTIAL =
  "a customer's password or TAN does not belong in a bank file: psd2 asks the customer for it";
const APP_TOKEN =
  "ING's application token is not possible: the bank wants a signature of another form for it";
const PRE_AUTHORISATION =
  "DKB's pre-authorisation is not possible: psd2 takes a password of the customer only for embedded SCA";
const RANGE = 'pages by the header Range are not possible: psd2 follows links, or numbers of pages';
const SECRET =
  'a secret does not belong in a bank file: give it to the profile, or name a variable as env:PSD2_BANK_NAME';

/** By the words of an operator, in lower case and without hyphens and underscores. */
const SENTENCES: Readonly<Record<string, string>> = {
  embedded: EMBEDDED,
  password: CREDENTIAL,
  psupassword: CREDENTIAL,
  psudata: CREDENTIAL,
  scaauthenticationdata: CREDENTIAL,
  updatepsuauthentication: CREDENTIAL,
  apptoken: APP_TOKEN,
  applicationtoken: APP_TOKEN,
  applicationaccesstoken: APP_TOKEN,
  preauth: PRE_AUTHORISATION,
  preauthorisation: PRE_AUTHORISATION,
  preauthorization: PRE_AUTHORISATION,
  range: RANGE,
  secret: SECRET,
  clientsecret: SECRET,
};

/** Why no bank file can have a field or a value of this name; undefined if psd2 knows no reason. */
export function whyNotPossible(word: unknown): string | undefined {
  if (typeof word !== 'string') return undefined;
  const plain = word.toLowerCase().replace(/[-_ ]/g, '');
  return Object.hasOwn(SENTENCES, plain) ? SENTENCES[plain] : undefined;
}
