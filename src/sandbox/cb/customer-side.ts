import type { Bank } from '../bank.ts';
import type { BankSide, SandboxLogin, ScaRequest } from '../customer-site/bank-side.ts';
import type { Customer } from '../customers/seed-customers.ts';
import { bankDay } from '../ledger/bank-time.ts';
import { money } from '../ledger/cents.ts';
import { totalOf } from '../operations/transfer.ts';
import { endOfConsent } from './consents.ts';
import type { Resource } from './orders/resource.ts';
import { scheduleText } from './orders/standing-order.ts';

/** The bank as its customer site sees it. */
export function customerSide(bank: Bank): BankSide {
  /** Tells the console that the customer decided. */
  const decided = (returnTo: URL): URL => {
    bank.calls.tellChange();
    return returnTo;
  };
  return {
    logins: () => bank.customers.shown.map(siteLogin),
    loginRequest: (id) => {
      const login = bank.logins.find(id);
      return login && { id, tppName: bank.tppName, applicationName: login.application.applicationName };
    },
    authenticate: (user, password) => {
      const customer = bank.customers.byUser(user);
      return customer?.password === password ? siteLogin(customer) : undefined;
    },
    allowLogin: (id, customerId) => {
      const login = bank.logins.require(id);
      return decided(bank.logins.allow(login, { application: login.application, customerId }));
    },
    refuseLogin: (id) => decided(bank.logins.refuse(bank.logins.require(id))),
    scaRequest: (resourceId) => {
      const resource = bank.resources.find(resourceId);
      return (
        resource?.sca && { request: scaRequestOf(bank, resource), state: bank.resources.scaState(resource) }
      );
    },
    approveSca: (resourceId) => decided(bank.resources.decide(resourceId, 'AUTHORIZED')),
    refuseSca: (resourceId) => decided(bank.resources.decide(resourceId, 'NOT_AUTHORIZED')),
  };
}

function siteLogin(customer: Customer): SandboxLogin {
  const { user, password, customerId } = customer;
  return { user, password, name: fullName(customer), customerId };
}

function fullName({ firstName, lastName }: Customer): string {
  return `${firstName} ${lastName}`;
}

function scaRequestOf({ tppName, now }: Bank, resource: Resource): ScaRequest {
  const common = { resourceId: resource.id, tppName, customerName: fullName(resource.customer) };
  if (resource.kind === 'consent')
    return {
      ...common,
      kind: 'consent',
      until: bankDay(endOfConsent(now())),
      categories: resource.categories
        .filter(({ outcome }) => outcome)
        .map(({ name, products }) => ({
          name,
          products: products.map(({ productId, description, iban }) => ({ productId, description, iban })),
        })),
    };
  const { product } = resource;
  if (resource.kind === 'inquiry') {
    const { productId, description, iban } = product;
    return { ...common, kind: 'inquiry', product: { productId, description, iban }, from: resource.from };
  }
  const { order } = resource;
  return {
    ...common,
    kind: 'payment',
    operation: resource.kind,
    instant: resource.kind === 'moneyTransfer' && resource.order.instant,
    beneficiaryName: order.beneficiaryName,
    beneficiaryIban: order.beneficiaryIban,
    amount: money(order.amount),
    commissions: money(order.commissions),
    total: money(totalOf(order)),
    executionDate: resource.kind === 'moneyTransfer' ? resource.order.executionDay : resource.order.firstDay,
    ...(resource.kind === 'standingOrder' && { schedule: scheduleText(resource.order) }),
    description: order.description,
    debitAccount: { productId: product.productId, iban: product.iban },
  };
}
