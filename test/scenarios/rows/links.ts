import { expect } from 'vitest';
import * as z from 'zod';
import type { Treatment } from '../../crash/relay.ts';
import { changed, gets, ORDER, RESUME, type Row, rejected, type Step, step } from '../row.ts';

// Links that are not what they seem (NextGenPSD2): psd2 calls its own addresses, whatever a link says.

const EXPLICIT = { sca: { start: 'explicit', pollSeconds: 1 } };
const IMPLICIT = { sca: { pollSeconds: 1 } };
const at = (name: string, bank: object, paid: number, steps: Step[], more: Partial<Row> = {}): Row => ({
  ...{ name, bank: { file: bank }, steps, paid, ...more },
});

const answerShape = z.looseObject({
  paymentId: z.string().optional(),
  consentId: z.string().optional(),
  basketId: z.string().optional(),
  _links: z.record(z.string(), z.looseObject({ href: z.string().optional() })),
});
type LinksOf = (own: (name: string) => string) => Record<string, string | { href: string }>;

/** The bank's own answer with other links. Those that are not named stay. */
const linking = (links: LinksOf): Treatment =>
  changed((body) => {
    const answer = answerShape.parse(body);
    const own = (name: string) => answer._links[name]?.href ?? '';
    return { ...answer, _links: { ...answer._links, ...links(own) } };
  });

/** The links of an answer, for those of another one. */
function seen() {
  let links: (name: string) => string = () => '';
  const remember = linking((own) => {
    links = own;
    return {};
  });
  return { remember, of: (name: string) => links(name) };
}

const PAY = ORDER.with(5, 'IT89F0999001600000010482620');
const SECOND = PAY.map((word) => (word === 'REFERENCE' ? 'REFERENCE-2' : word));
const BRIEFLY = ['--sca-timeout', '1'];
const AWAY = { customer: 'stays away' } as const;
const CANCEL = ['transfer', 'cancel', 'FLOW', '--yes', '--json', ...BRIEFLY];
const ASK = ['consent', 'request', '--json', '--customer', 'REFERENCE'];
const OPEN = expect.stringMatching(/ authorizing$/);
/** What the operator reads of a link that psd2 did not follow. */
const tellsOf = (name: string) => new RegExp(`The bank's link ${name} is not for what it was sent with`);
const STARTED = expect.stringMatching(/^initiate sca( sca-status| status)+$/);
const REQUESTED = expect.stringMatching(/^request sca( sca-status| consent)+$/);

/** The start of an authorisation, by a link that says something else, or the same in another way. */
const STARTS: [what: string, link: (own: string) => string | { href: string }, isOdd: boolean][] = [
  ['to an operator’s page', () => ({ href: '/admin/users' }), true],
  ['to another host', () => ({ href: 'https://evil.example/authorisations' }), true],
  [
    'to a cancellation',
    (own) => ({ href: own.replace('authorisations', 'cancellation-authorisations') }),
    true,
  ],
  ['that is no address', () => ({ href: 'https://' }), true],
  ['on another host, with its own path', (own) => ({ href: `https://evil.example${own}` }), false],
  ['at an inner host, with two versions', (own) => ({ href: `http://xs2a:1/v2/x${own}` }), false],
  ['without a version', (own) => ({ href: own.replace(/^.*\/v1/, '') }), false],
  ['as a plain text', (own) => own, false],
  ['with an id that is encoded three times', (own) => ({ href: own.replaceAll('-', '%25252d') }), false],
];
const starts = STARTS.flatMap(([what, link, isOdd]) => {
  const meets = (call: 'initiate' | 'request') => ({
    [call]: [linking((own) => ({ startAuthorisation: link(own('startAuthorisation')) }))],
  });
  const tells = isOdd ? { tells: tellsOf('startAuthorisation') } : {};
  return [
    at(
      `a link to the start of a payment's authorisation ${what}: the customer authorises the payment`,
      EXPLICIT,
      1,
      [step(PAY, '0 executed', { meets: meets('initiate'), calls: STARTED, ...tells })],
    ),
    at(
      `a link to the start of a consent's authorisation ${what}: the customer grants the consent`,
      EXPLICIT,
      0,
      [step(ASK, '0 confirmed', { meets: meets('request'), calls: REQUESTED, ...tells })],
    ),
  ];
});

const others = [
  (() => {
    const first = seen();
    return at(
      "the link of one payment leads to another's authorisation: the customer pays their own",
      EXPLICIT,
      1,
      [
        step([...PAY, ...BRIEFLY], OPEN, { meets: { initiate: [first.remember] }, ...AWAY }),
        step(SECOND, '0 executed', {
          meets: {
            initiate: [linking(() => ({ startAuthorisation: { href: first.of('startAuthorisation') } }))],
          },
          calls: STARTED,
          tells: tellsOf('startAuthorisation'),
        }),
      ],
    );
  })(),
  (() => {
    const first = seen();
    return at("a status of somebody else's failed authorisation frees no reference", IMPLICIT, 0, [
      step(PAY, expect.stringMatching(/^6 /), { meets: { initiate: [first.remember] }, customer: 'refuses' }),
      step([...SECOND, ...BRIEFLY], OPEN, {
        meets: { initiate: [linking(() => ({ scaStatus: { href: first.of('scaStatus') } }))] },
        ...AWAY,
        calls: expect.not.stringContaining('sca-status'),
        tells: tellsOf('scaStatus'),
      }),
      step([...SECOND, ...BRIEFLY], '2 duplicate_reference'),
    ]);
  })(),
  (() => {
    const first = seen();
    return at("a status of somebody else's failed authorisation ends no consent", IMPLICIT, 0, [
      step(ASK, '6 not_authorised rejected', { meets: { request: [first.remember] }, customer: 'refuses' }),
      step([...ASK, ...BRIEFLY], OPEN, {
        meets: { request: [linking(() => ({ scaStatus: { href: first.of('scaStatus') } }))] },
        ...AWAY,
        calls: expect.not.stringContaining('sca-status'),
        tells: tellsOf('scaStatus'),
      }),
    ]);
  })(),
  (() => {
    const first = seen();
    return at(
      "the link of one consent leads to another's authorisation: the customer grants their own",
      EXPLICIT,
      0,
      [
        step([...ASK, ...BRIEFLY], OPEN, { meets: { request: [first.remember] }, ...AWAY }),
        step(ASK, '0 confirmed', {
          meets: {
            request: [linking(() => ({ startAuthorisation: { href: first.of('startAuthorisation') } }))],
          },
          calls: REQUESTED,
        }),
      ],
    );
  })(),
  (() => {
    const first = seen();
    const toPayment: Treatment = (call, toBank) =>
      gets(202, { _links: { startAuthorisation: { href: first.of('startAuthorisation') } } })(call, toBank);
    return at(
      "a cancellation's link leads to the payment's authorisation: the customer authorises the cancellation",
      EXPLICIT,
      0,
      [
        step([...PAY, ...BRIEFLY], OPEN, { meets: { initiate: [first.remember] }, ...AWAY }),
        step(CANCEL, '0 cancelled', { meets: { cancel: [toPayment] }, tells: tellsOf('startAuthorisation') }),
      ],
    );
  })(),
];

const ADD = ['batch', 'add', 'FILE', '--from', 'IT89F0999001600000010482620', '--json'];
const RUN = ['batch', 'run', 'BATCH', '--yes', '--json', '--as'];
const ADMIN = linking(() => ({ startAuthorisation: { href: '/admin/users' } }));
const together = [
  at(
    'a bulk payment whose start leads to an operator’s page is authorised at its own address',
    { ...EXPLICIT, payments: { products: { 'bulk-payments': ['sepa-credit-transfers'] } } },
    2,
    [
      step(ADD, '0 added'),
      step([...RUN, 'bulk'], '0 executed executed', { meets: { initiate: [ADMIN] }, calls: STARTED }),
    ],
    { payments: ['Ada', 'Bea'] },
  ),
  at(
    'a basket whose start leads to an operator’s page is authorised at its own address',
    EXPLICIT,
    2,
    [
      step(ADD, '0 added'),
      step([...RUN, 'basket'], '0 executed executed', {
        meets: { basket: [ADMIN] },
        calls: expect.stringMatching(/^initiate initiate basket sca( sca-status| status)+$/),
      }),
    ],
    { payments: ['Ada', 'Bea'] },
  ),
];

const listShape = z.looseObject({ transactions: z.looseObject({}) });
/** A page of transactions whose link leads to another one. */
const leadingTo = (next: string): Treatment =>
  changed((body) => {
    const { transactions, ...rest } = listShape.parse(body);
    return { ...rest, transactions: { ...transactions, _links: { next } } };
  });
const pages = [
  ...['/v1/accounts/another/transactions?page=2', 'transactions/..%2f..%2fanother%2ftransactions'].map(
    (href) =>
      at(
        `the next page of transactions is that of another account, by ${href}: it is not read`,
        IMPLICIT,
        0,
        [
          step(ASK, '0 confirmed'),
          step(
            ['accounts', 'transactions', 'IT89F0999001600000010482620', '--json', '--customer', 'REFERENCE'],
            '11 bank_answer',
            {
              meets: { rows: [leadingTo(href)] },
              calls: expect.stringMatching(/ rows$/),
              says: `does not lead to the transactions of`,
            },
          ),
        ],
      ),
  ),
];

const unknown = [
  at('a status that the bank does not know is not looked for elsewhere', IMPLICIT, 1, [
    step(PAY, '0 executed', {
      meets: { 'sca-status': Array(20).fill(rejected(404, 'RESOURCE_UNKNOWN')) },
      calls: expect.stringMatching(/^initiate( sca-status| status)+$/),
    }),
    step(RESUME, '0 executed'),
  ]),
];

export const LINKS: Row[] = [...starts, ...others, ...together, ...pages, ...unknown];
