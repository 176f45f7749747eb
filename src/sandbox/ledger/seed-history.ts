import type { Customer, Product } from '../customers/seed-customers.ts';
import { seededRandom } from '../seeded-random.ts';
import { addDays, addMonths, bankDay, bookingInstant, daysBetween, type IsoDate } from './bank-time.ts';
import type { Cents } from './cents.ts';
import type { Entry } from './entry.ts';

const HISTORY_MONTHS = 14;
const HOUR_MS = 60 * 60 * 1000;

/** A merchant, and the lowest and highest amount of a purchase. */
type Shop = readonly [name: string, low: Cents, high: Cents];

const shops: readonly [Shop, ...Shop[]] = [
  ['SUPERMERCATO CENTRALE', 12_40, 84_90],
  ['PANIFICIO DEL CORSO', 2_10, 9_80],
  ['FARMACIA SAN MARCO', 6_50, 38_00],
  ['LIBRERIA DELLA TORRE', 8_90, 45_00],
  ['STAZIONE DI SERVIZIO NORD', 25_00, 70_00],
];
const cardShops: readonly [Shop, ...Shop[]] = [
  ['NEGOZIO ONLINE', 15_00, 120_00],
  ['RISTORANTE AL PORTO', 24_00, 86_00],
  ['BIGLIETTERIA FERROVIARIA', 9_90, 64_50],
];

/**
 * The entries of a product until `now`: 14 months of booked ones, up to the day before, and a few pending ones of the last
 * hours. The entries of a day depend only on the product and the day, so histories made on different days agree where they
 * overlap. A transfer between two products of the customer is in both.
 */
export function seedHistory(customer: Customer, product: Product, now: Date): Entry[] {
  const last = addDays(bankDay(now), -1);
  const first = addMonths(bankDay(now), -HISTORY_MONTHS);
  const booked = [...daysBetween(first, last)].flatMap((day) => bookedOn(day, first, customer, product));
  return [...booked, ...pendingAt(now, product)];
}

function bookedOn(day: IsoDate, first: IsoDate, customer: Customer, product: Product): Entry[] {
  switch (product.kind) {
    case 'current':
      return [...purchases(product, day), ...regularPayments(customer, day, first)];
    case 'savings':
      return savingsMovements(customer, product, day);
    case 'card':
      return [...purchases(product, day), ...cardSettlement(product, day, first, 1)];
  }
}

/** The purchases of a day with the account's debit card, or with the credit card. */
function purchases(product: Product, day: IsoDate): Entry[] {
  const random = seededRandom(`${product.productId} ${day}`);
  if (!random.chance(product.kind === 'card' ? 0.2 : 0.55)) return [];
  const [shop, low, high] = product.kind === 'card' ? random.pick(cardShops) : random.pick(shops);
  const amount = -random.between(low, high);
  return [
    entry(day, '43', 'PAGAMENTO TRAMITE POS', `${shop} DEL ${day.split('-').reverse().join('.')}`, amount),
  ];
}

function regularPayments({ monthly, products }: Customer, day: IsoDate, first: IsoDate): Entry[] {
  const month = Number(day.slice(5, 7));
  const period = `${day.slice(5, 7)}/${day.slice(0, 4)}`;
  const card = products.find(({ kind }) => kind === 'card');
  switch (day.slice(8)) {
    case '01':
      return [
        entry(day, '26', 'VOSTRA DISPOSIZIONE', `AFFITTO ${period}`, -monthly.rent, transferReference(day)),
      ];
    case '10':
      return month % 2 === 0
        ? [entry(day, '50', 'PAGAMENTI DIVERSI', `BOLLETTA ENERGIA ${period}`, -electricity(day))]
        : [];
    case '15':
      return card ? cardSettlement(card, day, first, -1) : [];
    case '27':
      return [entry(day, '27', 'EMOLUMENTI', `STIPENDIO ${period}`, monthly.salary)];
    case '28':
      return monthly.saving > 0
        ? [entry(day, '26', 'GIROCONTO', 'VERSO CONTO RISPARMIO', -monthly.saving, transferReference(day))]
        : [];
    case '30':
      return month % 3 === 0
        ? [{ ...entry(day, '16', 'COMMISSIONI', 'CANONE TRIMESTRALE', -7_50), isFee: true }]
        : [];
    default:
      return [];
  }
}

function savingsMovements({ monthly }: Customer, product: Product, day: IsoDate): Entry[] {
  if (day.endsWith('-28'))
    return [entry(day, '48', 'GIROCONTO', 'DA CONTO CORRENTE', monthly.saving, transferReference(day))];
  if (/-(?:03|06|09|12)-30$/.test(day)) {
    const interest = seededRandom(`${product.productId} ${day} interest`).between(8_00, 14_99);
    return [entry(day, '18', 'INTERESSI', 'COMPETENZE TRIMESTRALI', interest)];
  }
  return [];
}

/** On the 15th, the bank charges the card's purchases of the month before to the current account. */
function cardSettlement(card: Product, day: IsoDate, first: IsoDate, sign: 1 | -1): Entry[] {
  if (!day.endsWith('-15')) return [];
  const month = addMonths(day, -1).slice(0, 7);
  const spent = [...daysBetween(`${month}-01`, addDays(`${day.slice(0, 7)}-01`, -1))]
    .filter((bought) => bought >= first)
    .flatMap((bought) => purchases(card, bought))
    .reduce((sum, { amount }) => sum - amount, 0);
  return spent === 0 ? [] : [entry(day, '50', 'ADDEBITO CARTA', `SALDO CARTA ${month}`, sign * spent)];
}

function electricity(day: IsoDate): Cents {
  return seededRandom(`electricity ${day}`).between(58_00, 112_99);
}

function transferReference(day: IsoDate): string {
  return String(seededRandom(`transfer ${day}`).between(1_000_000_000, 9_999_999_999)).padStart(11, '0');
}

function entry(
  day: IsoDate,
  code: string,
  shortDescription: string,
  extendedDescription: string,
  amount: Cents,
  reference = '',
): Entry {
  return {
    amount,
    enteredAt: bookingInstant(day),
    bookedFrom: bookingInstant(day),
    bookingDay: day,
    valueDay: day,
    code,
    shortDescription,
    extendedDescription,
    transferReference: reference,
    isFee: false,
    preAuthorized: false,
  };
}

/** Card payments of the last hours that the shops have not collected yet. */
export function pendingAt(now: Date, product: Product): Entry[] {
  if (product.kind === 'savings') return [];
  return [5, 20, 31].map((hours, index) => {
    const random = seededRandom(`${product.productId} pending ${index}`);
    const [shop, low, high] = product.kind === 'card' ? random.pick(cardShops) : random.pick(shops);
    const enteredAt = new Date(now.getTime() - hours * HOUR_MS - random.between(60, 3000) * 1000);
    const bookingDay = addDays(bankDay(now), 3 - index);
    return {
      ...entry(bookingDay, '43', 'PAGAMENTO TRAMITE POS', shop, -random.between(low, high)),
      enteredAt,
      preAuthorized: true,
    };
  });
}
