import { error, errors, type Row } from './judged.ts';

// Words that keep a reference, in texts of a code that is proof by itself, and words that do not.

const [proven, unknown] = ['nothing began', 'unknown'] as const;
const NEVER = { payments: { executesWithoutSca: 'never' } } as const;

const product = (text: string, says: Row['says'], more: Partial<Row> = {}): Row => ({
  ...{ name: text, status: 403, body: errors(error('PRODUCT_INVALID', text)), says },
  ...more,
});

/** They keep it whatever the bank file says. */
const duplicates = [
  // English
  ...[
    'A double order',
    'This is a duplicate',
    'Duplicated request',
    'DUPL',
    'Sent twice',
    'Known already',
    'Do not send again',
  ],
  ...[
    'A repeated order',
    'Replayed request',
    'Order exists',
    'The reference is not unique',
    'Reused id',
    'The same order',
  ],
  ...[
    'An identical order',
    'Another order is there',
    'There are other orders',
    'See the previous order',
    'A conflict',
    'Reference in use',
  ],
  ...[
    'Belongs to an order',
    'The order was processed',
    'The order was received',
    'An order is pending',
    'Resubmitted',
    'Re-sent order',
  ],
  ...[
    'Wrong X-Request-ID',
    'Wrong x_request_id',
    'EndToEndIdentification',
    'end-to-end id',
    'endToEndId',
    'MsgId',
    'PmtInfId',
  ],
  ...['instructionIdentification', 'payment information id', 'The paymentId is 5', 'No idempotency'],
  // In other ways
  ...[
    'PaymentAlreadyExists',
    'ORDER_EXISTS',
    'orderTwiceException',
    '&#97;lready known',
    '&#x61;lready known',
    '&amp;#97;lready known',
  ],
  ...[
    'al\u00adready known',
    'ＡＬＲＥＡＤＹ known',
    'DEJA FAIT',
    "C'est d&eacute;j&agrave; fait",
    "l'autre ordre",
  ],
  // Other languages
  ...[
    'Doppelt',
    'Dublette',
    'Bereits erfasst',
    'Schon da',
    'Mehrfach eingereicht',
    'Auftrag liegt vor',
    'Ein früherer Auftrag',
    'Frueherer Auftrag',
  ],
  ...[
    'Auftrag vorhanden',
    'Auftrag existiert',
    'Gehört zu einem Auftrag',
    'Doublon',
    'Deux fois',
    'À nouveau',
    'Même ordre',
    'Un ordre existe',
  ],
  ...[
    'Dubbel',
    'Reeds ontvangen',
    'Order bestaat',
    'Nog een keer opnieuw',
    'Già fatto',
    'Ordine doppio',
    'Esiste',
    'Due volte',
  ],
  ...[
    'Ya recibido',
    'Duplicado',
    'De nuevo',
    'Allerede modtaget',
    'Findes',
    'Samme ordre',
    'Există',
    'Din nou',
    'Jau gauta',
    'Egzistuoja',
  ],
  ...[
    'Betalningen finns redan',
    'Maksu on jo olemassa',
    'Zlecenie już istnieje',
    'Platba již existuje',
    'Már létezik',
  ],
  ...['Já existe', 'Već postoji', 'Topelt makse'],
];

/** They keep it unless nobody can have authorised it. */
const states = [
  ...[
    'No funds',
    'Low balance',
    'No money',
    'Not enough',
    'Limit reached',
    'Limits',
    'Exceeded',
    'Insufficient',
    'Blocked',
    'Locked',
  ],
  ...[
    'Frozen',
    'Freezing',
    'Suspended',
    'Closed',
    'Not active',
    'Inactive or active',
    'After the cut-off',
    'Cutoff',
    'Cut off',
    'Temporarily',
  ],
  ...[
    'Unavailable',
    'A time-out',
    'Timeout',
    'Time out',
    'Come later',
    'Not today',
    'Daily',
    'Not now',
    'At the moment',
    'Wait a minute',
  ],
  ...[
    'Currently not',
    'Maintenance',
    'Busy',
    'No answer of OCSP',
    'Revoked',
    'Session over',
    'Could not be asked',
    'Per day',
  ],
  ...[
    'Guthaben fehlt',
    'Keine Deckung',
    'Überschritten',
    'Ueberschritten',
    'Gesperrt',
    'Kontosperre',
    'Annahmeschluss',
    'Vorübergehend',
    'Derzeit nicht',
    'Heute nicht',
    'Wartung',
  ],
  ...[
    'Solde bas',
    'Plafond atteint',
    'Indisponible',
    "Pas aujourd'hui",
    'Saldo',
    'Geblokkeerd',
    'Tijdelijk',
    'Vandaag niet',
    'Fondi',
    'Bloccato',
  ],
  ...[
    'Oggi no',
    'Saldo bajo',
    'Bloqueado',
    'Mañana, hoy no',
    'Spærret',
    'Midlertidigt',
    'I dag',
    'Øjeblik',
    'Fonduri',
    'Blocat',
    'Astăzi',
    'Laikinai',
    'Šiandien',
  ],
  ...[
    'Kontot är spärrat',
    'Konto zablokowane',
    'Účet je dočasně uzavřen',
    'Számla zárolt',
    'Conta bloqueada',
  ],
];

const innocent = [
  ...[
    'Against the rules',
    'Not offered here',
    'Does not exist',
    'The product does not exist',
    "It doesn't exist",
    'No such product exists',
    'No product exists',
  ],
  ...[
    'There never existed one',
    'Das Produkt existiert nicht',
    "Le produit n'existe pas",
    'Il prodotto non esiste',
    'No existe',
    'Produkt findes ikke',
    'Product bestaat niet',
  ],
  ...['Nicht vorhanden', 'Unknown', 'Well known', 'The certificate lacks it', 'Not a kind of payment'],
  ...['Produkt nie istnieje', 'Neexistuje'],
  // Each word for "not", alone
  ...['No such payment exists', 'No payment exists', 'It cannot exist', 'Kein Produkt vorhanden'],
  ...["Aucun produit n'existe", "Il n'existe", 'Il ne peut exister', 'Il peut non exister', 'Pas existant'],
  ...['Geen product bestaat', 'Het bestaat niet', 'Nessun prodotto esiste', 'Ningún producto existe'],
  ...['Ingen produkt findes', 'Produktet ikke findes', 'Niciun produs există'],
  ...['Ne egzistuoja', 'Nėra egzistuoja'],
  ...['Inte finns', 'Ej finns', 'Ei olemassa', 'Ne postoji', 'Nem létezik'],
];

/** What only looks as if it did not exist. */
const existing = [
  ...[
    'Not new, the order exists',
    'Not possible because the payment exists',
    'Not booked. Order exists',
    'It exists, not here',
    'No longer exists',
  ],
  ...['Nu findes den', 'Not that it exists'],
];

/** A field that was sent, and words that say nothing beside the length of a text. */
const lengths: [text: string, says: Row['says']][] = [
  ["'creditorName' exceeds the maximum length", proven],
  ["'creditorName' exceeds 70 characters, the limit", proven],
  ["'creditorName' has received 71 characters, more than the limit", proven],
  ["'creditorName': double signs are not valid", proven],
  ["'creditorName': characters of these blocks are not valid", proven],
  ["'creditorName' must be a text with at most 70 symbols, limit exceeded", proven],
  ["'creditorName' exceeds the limit", unknown],
  ["'creditorName' is wrong. Limit exceeded. Check its length", unknown],
  ["'creditorAccount' has wrong digits and it is now blocked", unknown],
  ["'creditorName' has wrong characters; the balance is low", unknown],
  ["'creditorAccount' has wrong digits, was received and is the same", unknown],
];

export const WORDS: readonly Row[] = [
  ...duplicates.map((text) => product(text, unknown)),
  ...duplicates.map((text) => product(text, unknown, { bank: NEVER })),
  ...states.map((text) => product(text, unknown)),
  ...states.map((text) => product(text, proven, { bank: NEVER })),
  ...innocent.map((text) => product(text, proven)),
  ...existing.map((text) => product(text, unknown)),
  ...lengths.map(
    ([text, says]): Row => ({ name: text, status: 400, body: errors(error('FORMAT_ERROR', text)), says }),
  ),
  // What psd2 sent
  product("'Another Double Ltd' has no such product", proven),
  product('Another Double Ltd has no such product', proven),
  product('Another has no such product', unknown),
  product('Not for "Invoice 4711, already due"', proven),
  product('https://tpp.example/back?state=again is not registered', proven),
  // One value begins as another one
  product('Acme 1 already due is not registered', proven, {
    sent: {
      with: { creditorName: 'Acme 1', remittanceInformationUnstructured: 'Acme 1 already due' },
    },
  }),
  product('already', unknown, { sent: { with: { remittanceInformationUnstructured: 'already' } } }),
  product('It is there already', unknown, {
    sent: { with: { remittanceInformationUnstructured: 'already' } },
  }),
  product("The text 'already' is not known", proven, {
    sent: { with: { remittanceInformationUnstructured: 'already' } },
  }),
  product('Duplicate payment', unknown, {
    sent: { with: { remittanceInformationUnstructured: 'Duplicate payment' } },
  }),
  // Where else words stand
  {
    name: 'a code of the bank file with a word',
    status: 400,
    body: errors(error('ORDER_EXISTS')),
    bank: { payments: { refusals: [{ code: 'ORDER_EXISTS' }] } },
    says: unknown,
  },
  {
    name: 'a code of the bank file with a word of a state',
    status: 400,
    body: errors(error('LIMIT_WRONG')),
    bank: { payments: { refusals: [{ code: 'LIMIT_WRONG' }] } },
    says: unknown,
  },
  {
    name: 'a path that names an identifier',
    status: 403,
    body: errors(error('PRODUCT_INVALID', 'No', 'Header.X-Request-ID')),
    says: unknown,
  },
  {
    name: 'a path with a word',
    status: 403,
    body: errors(error('PRODUCT_INVALID', 'No', 'DuplicateOrder')),
    says: unknown,
  },
  {
    name: 'the field of accounts that is called other',
    status: 403,
    body: errors(error('PRODUCT_INVALID', 'No', 'creditorAccount.other')),
    says: proven,
  },
  {
    name: 'a word of a state in a header',
    status: 403,
    body: errors(error('PRODUCT_INVALID')),
    headers: { 'x-error-reason': 'temporary' },
    says: unknown,
  },
  ...(['duplicate_reference', 'outcome_unknown', 'bank_failing', 'too_many_calls'] as const).map(
    (code): Row => ({
      name: `the bank file says ${code} of it`,
      status: 403,
      body: errors(error('PRODUCT_INVALID')),
      bank: { errors: { PRODUCT_INVALID: code } },
      says: unknown,
    }),
  ),
  {
    name: 'the bank file has a name for it',
    status: 403,
    body: errors(error('PRODUCT_INVALID')),
    bank: { errors: { PRODUCT_INVALID: 'forbidden' } },
    says: proven,
  },
];
