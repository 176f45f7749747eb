import { html } from 'hono/html';
import type { Money } from './bank-side.ts';
import { type Html, row } from './page.ts';
import { dateText, ibanText, moneyText } from './texts.ts';

/** A payment as the customer sees it before they authorise it (dynamic linking: RTS (EU) 2018/389, article 5). */
export interface PaymentShown {
  /** In words. */
  kind: string;
  /** Undefined: the customer chooses it. */
  debit: { productId: string; iban: string } | undefined;
  /** One, or those of a bulk payment. */
  orders: readonly { name: string; iban: string; amount: Money; description: string }[];
  /** What the payees get, all together. */
  sum: Money;
  fee: Money;
  total: Money;
  /** The day of the payment, or of the first one: `YYYY-MM-DD`. */
  date: string;
  /** It arrives within seconds. */
  isInstant: boolean;
  /** How often and until when. Only for a standing order. */
  schedule?: string;
}

/** The whole payment: the sum first, then payee and amount of each transfer. */
export function paymentDetails(payment: PaymentShown): Html {
  const { kind, debit, orders, sum, fee, total, date, isInstant, schedule } = payment;
  const [first, ...others] = orders;
  const payee = others.length === 0 ? html`<bdi>${first?.name ?? ''}</bdi>` : html`${orders.length} payees`;
  return html`
<p class="sum"><strong>${moneyText(sum)}</strong> <span>to ${payee}</span></p>
<dl>${others.length === 0 && first ? onePayee(first) : ''}
${row('Fee', moneyText(fee))}
<div class="total"><dt>Total</dt><dd>${moneyText(total)}</dd></div>
${row('Type', html`<bdi>${kind}</bdi>`)}
${row('Date', isInstant ? `${dateText(date)}, immediately` : dateText(date))}
${schedule === undefined ? '' : row('Schedule', schedule)}
${others.length === 0 && first ? row('Description', descriptionText(first)) : ''}
${debit === undefined ? '' : row('From your account', html`<span class="digits">${ibanText(debit.iban)}</span><br>${debit.productId}`)}
${others.length === 0 ? '' : orders.map(oneOfMany)}
</dl>
${isInstant ? html`<p class="note after">An instant payment arrives within seconds and can’t be reversed.</p>` : ''}`;
}

type Order = PaymentShown['orders'][number];

function onePayee({ name, iban, amount }: Order): Html {
  return html`
${row('Payee', html`<bdi>${name}</bdi>`)}
${row('IBAN', html`<span class="digits">${ibanText(iban)}</span>`)}
${row('Amount', moneyText(amount))}`;
}

function oneOfMany(order: Order): Html {
  const { name, iban, amount, description } = order;
  const about = description === '' ? '' : html`<br>${descriptionText(order)}`;
  return row(
    moneyText(amount),
    html`<bdi>${name}</bdi><br><span class="digits">${ibanText(iban)}</span>${about}`,
  );
}

function descriptionText({ description }: Order): Html | string {
  return description === '' ? 'None' : html`<bdi>${description}</bdi>`;
}
