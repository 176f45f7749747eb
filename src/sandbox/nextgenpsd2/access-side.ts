import type { Bank } from '../bank.ts';
import type {
  AccessRequest,
  AccessShown,
  AccessSide,
  Decided,
  GivenConsent,
} from '../customer-site/access-side.ts';
import type { Customer } from '../customers/seed-customers.ts';
import { grantsFor } from './consents/consent.ts';
import { doorOf } from './door-state.ts';
import { doorUrl } from './links.ts';
import { authorize, mayLogInAgain } from './oauth/authorize.ts';
import type { PendingRequest } from './oauth/grant.ts';
import { namedPaths } from './oauth/metadata.ts';
import { paymentShown } from './payments/payment-view.ts';
import { referenceOf } from './readings/account-view.ts';
import {
  type Asked,
  askedOf,
  carryOut,
  chooseDebtor,
  isCustomers,
  isWaiting,
  payingAccounts,
  paymentsOf,
  plannedSca,
} from './sca/asked.ts';
import type { Authorisation } from './sca/authorisations.ts';

/** What a customer decides: an authorisation, an authorization request of OAuth, or both. */
interface Open {
  id: string;
  oauth: PendingRequest | undefined;
  authorisation: Authorisation | undefined;
  asked: Asked | undefined;
}

/** The second door as its pages of the customer site see it. */
export function accessSide(bank: Bank): AccessSide {
  const require = (id: string): Open => {
    const open = findOpen(bank, id);
    if (open) return open;
    throw new RangeError(`There is no open request with the id ${id}`);
  };
  const decided = (returnTo: URL | undefined): Decided => {
    bank.calls.tellChange();
    return { returnTo };
  };
  return {
    authorizePaths: [
      '/nextgenpsd2/authorize',
      ...namedPaths(bank.rules.description, 'authorizationEndpoint'),
    ],
    authorize: (query) => authorize(bank, query),
    accessRequest: (id) => {
      const open = findOpen(bank, id);
      return open && requestOf(bank, open);
    },
    shown: (id, customerId) => shownOf(require(id), customerOf(bank, customerId)),
    approve: (id, customerId, chosen) =>
      decided(approve(bank, require(id), customerOf(bank, customerId), chosen)),
    refuse: (id) => decided(refuse(bank, require(id))),
    waiting: (user) =>
      openRequests(bank)
        .filter(
          ({ authorisation }) => authorisation?.approach === 'decoupled' && authorisation.psuId === user,
        )
        .map((open) => requestOf(bank, open)),
    open: () => openRequests(bank).map((open) => requestOf(bank, open)),
    given: (customerId) => givenBy(bank, customerId),
    revoke: (consentId) => {
      const consent = doorOf(bank).consents.find(consentId);
      if (!consent || doorOf(bank).consents.statusOf(consent) !== 'valid') return false;
      doorOf(bank).consents.end(consent, 'revokedByPsu');
      bank.calls.tellChange();
      return true;
    },
  };
}

/** An authorisation with OAuth is decided in its authorization request, so that the client gets its code. */
function openRequests(bank: Bank): Open[] {
  const { logins, authorisations } = doorOf(bank);
  const ids = [...logins.open().map(({ id }) => id), ...authorisations.list().map(({ id }) => id)];
  return ids.flatMap((id) => findOpen(bank, id) ?? []);
}

function findOpen(bank: Bank, id: string): Open | undefined {
  const door = doorOf(bank);
  const oauth = door.logins.find(id);
  const authorisation = door.authorisations.find(oauth?.authorisationId ?? id);
  if (oauth && oauth.authorisationId === undefined)
    return { id, oauth, authorisation: undefined, asked: undefined };
  if (!authorisation || (authorisation.approach === 'oauth' && !oauth)) return undefined;
  const asked = askedOf(bank, authorisation.subject);
  if (oauth && mayLogInAgain(bank, authorisation)) return asked && { id, oauth, authorisation, asked };
  if (!door.authorisations.isOpen(authorisation)) return undefined;
  return asked && isWaiting(bank, asked) ? { id, oauth, authorisation, asked } : undefined;
}

function customerOf({ customers }: Bank, customerId: string): Customer {
  const customer = customers.find(customerId);
  if (customer) return customer;
  throw new RangeError(`There is no customer ${customerId}`);
}

function requestOf(bank: Bank, { id, authorisation, asked }: Open): AccessRequest {
  const consent = asked?.kind === 'consent' ? asked.consent : undefined;
  const isPayment = asked !== undefined && asked.kind !== 'consent';
  return {
    id,
    tppName: bank.tppName,
    user: authorisation?.psuId,
    consent: consent && {
      id: consent.id,
      forFunds: consent.type === 'funds',
      recurring: consent.recurring,
      until: consent.validUntil,
      frequencyPerDay: consent.frequencyPerDay,
    },
    payments: isPayment
      ? { cancels: asked.kind === 'cancellation', all: paymentsOf(asked).map(paymentShown) }
      : undefined,
  };
}

function shownOf({ asked }: Open, customer: Customer): AccessShown | undefined {
  if (!asked) return { accounts: [], choose: false };
  if (asked.kind !== 'consent') {
    if (!isCustomers(asked, customer, undefined)) return undefined;
    const choose = paymentsOf(asked).some(({ debtor }) => debtor === undefined);
    const accounts = payingAccounts(customer).map(({ productId, description, iban }) => ({
      ...{ productId, description, number: iban, rights: [] },
    }));
    return { accounts: choose ? accounts : [], choose };
  }
  const { consent } = asked;
  const grants = grantsFor(consent, customer, undefined);
  if (!grants) return undefined;
  return {
    choose: consent.type === 'bank-offered',
    accounts: customer.products.flatMap((product) => {
      const rights = grants.get(product.productId);
      const { iban, maskedPan } = referenceOf(product);
      const { productId, description } = product;
      const shown = consent.type === 'funds' ? ['funds'] : [...(rights ?? [])];
      return rights ? [{ productId, description, number: iban ?? maskedPan ?? '', rights: shown }] : [];
    }),
  };
}

function approve(
  bank: Bank,
  { oauth, authorisation, asked }: Open,
  customer: Customer,
  chosen: readonly string[] | undefined,
): URL | undefined {
  const { customerId, user } = customer;
  if (authorisation?.psuId !== undefined && authorisation.psuId !== user)
    throw new RangeError(`The request is not for ${user}`);
  let redirect = authorisation?.redirectUri === undefined ? undefined : new URL(authorisation.redirectUri);
  if (authorisation && asked) {
    if (!isCustomers(asked, customer, chosen)) throw new RangeError(`${user} does not have these accounts`);
  }
  if (authorisation && asked && doorOf(bank).authorisations.isOpen(authorisation)) {
    chooseDebtor(asked, customer, chosen?.[0]);
    const planned = plannedSca(asked);
    if (planned !== undefined) return undecided(bank, { oauth, authorisation }, planned);
    const isFinished = doorOf(bank).authorisations.approve(authorisation, { customerId, chosen });
    if (isFinished) carryOut(bank, asked, { customerId, chosen });
    const code = authorisation.confirmationCode;
    if (code !== undefined) redirect?.searchParams.append('confirmationCode', code);
  }
  if (oauth) {
    const grant = {
      scope: oauth.scope,
      customerId,
      consentId: asked?.kind === 'consent' ? asked.consent.id : undefined,
      paymentId: paymentOf(asked),
    };
    redirect = doorOf(bank).logins.allow(oauth, grant, doorUrl(bank));
  }
  return redirect;
}

/** The payment, or the basket of payments, that a login is for. */
function paymentOf(asked: Asked | undefined): string | undefined {
  switch (asked?.kind) {
    case 'payment':
    case 'cancellation':
      return asked.payment.id;
    case 'basket':
      return asked.basket.id;
    default:
      return undefined;
  }
}

/** The payee's name plans that the SCA fails, or never ends, though the customer approves. */
function undecided(
  bank: Bank,
  { oauth, authorisation }: { oauth: PendingRequest | undefined; authorisation: Authorisation },
  planned: NonNullable<ReturnType<typeof plannedSca>>,
): URL | undefined {
  if (planned !== 'PENDING') return refuse(bank, { oauth, authorisation });
  return authorisation.redirectUri === undefined ? undefined : new URL(authorisation.redirectUri);
}

function refuse(
  bank: Bank,
  { oauth, authorisation }: Pick<Open, 'oauth' | 'authorisation'>,
): URL | undefined {
  if (authorisation && doorOf(bank).authorisations.isOpen(authorisation)) authorisation.status = 'failed';
  if (oauth) return doorOf(bank).logins.refuse(oauth, doorUrl(bank));
  const back = authorisation?.nokRedirectUri ?? authorisation?.redirectUri;
  return back === undefined ? undefined : new URL(back);
}

function givenBy(bank: Bank, customerId: string): GivenConsent[] {
  const { consents } = doorOf(bank);
  return consents
    .list()
    .filter((consent) => consent.customerId === customerId && consents.statusOf(consent) === 'valid')
    .map(({ id, type, validUntil, grants }) => {
      const until = type === 'funds' ? undefined : validUntil;
      return { id, tppName: bank.tppName, until, accounts: grants.size };
    });
}
