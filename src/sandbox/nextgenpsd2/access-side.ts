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
  holdersIn,
  isCustomers,
  isUndone,
  isWaiting,
  payingAccounts,
  paymentsIn,
  plannedSca,
} from './sca/asked.ts';
import type { Authorisation, ScaSubject } from './sca/authorisations.ts';

/** What a customer decides: an authorisation, an authorization request of OAuth, or both; or what another holder has authorised. */
interface Open {
  id: string;
  oauth: PendingRequest | undefined;
  authorisation: Authorisation | undefined;
  matter: Asked | undefined;
  /** Who decides next of a company account. No authorisation of theirs has begun: it begins when they decide, here at the bank. */
  next?: { user: string; subject: ScaSubject };
}

/** Begins the id of what the next holder of an account decides. The rest is the authorisation of the one before. */
const NEXT = 'next-';

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
    shown: (id, customerId) => shownOf(bank, require(id), customerWithId(bank, customerId)),
    approve: (id, customerId, chosen) =>
      decided(approve(bank, require(id), customerWithId(bank, customerId), chosen)),
    refuse: (id) => {
      const open = require(id);
      return decided(refuse(bank, { ...open, authorisation: begun(bank, open) }));
    },
    waiting: (user) =>
      openRequests(bank)
        .filter(
          ({ authorisation, next }) =>
            next?.user === user || (authorisation?.approach === 'decoupled' && authorisation.psuId === user),
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
  const all = authorisations.list();
  // Of what several have authorised, the last one leads on.
  const last = new Map(
    all
      .filter(({ status }) => status === 'finalised' || status === 'exempted')
      .map(({ id, subject }) => [`${subject.kind} ${subject.id}`, `${NEXT}${id}`]),
  );
  const ids = [...logins.open().map(({ id }) => id), ...all.map(({ id }) => id), ...last.values()];
  return ids.flatMap((id) => findOpen(bank, id) ?? []);
}

/** What the other holder of a company account must authorise, once the TPP asks for nobody. */
function findNext(bank: Bank, id: string): Open | undefined {
  const { authorisations } = doorOf(bank);
  const former = authorisations.find(id.slice(NEXT.length));
  const matter = former && askedOf(bank, former.subject);
  if (!former?.approvedBy || !matter || !isUndone(matter) || !isWaiting(bank, matter)) return undefined;
  const { subject, approvedBy } = former;
  if (authorisations.of(subject).some((each) => authorisations.isOpen(each))) return undefined;
  const [missing = ''] = holdersIn(bank, matter, approvedBy).missing;
  const user = bank.customers.find(missing)?.user;
  return user === undefined
    ? undefined
    : { id, oauth: undefined, authorisation: undefined, matter, next: { user, subject } };
}

function findOpen(bank: Bank, id: string): Open | undefined {
  if (id.startsWith(NEXT)) return findNext(bank, id);
  const door = doorOf(bank);
  const oauth = door.logins.find(id);
  const authorisation = door.authorisations.find(oauth?.authorisationId ?? id);
  if (oauth && oauth.authorisationId === undefined)
    return { id, oauth, authorisation: undefined, matter: undefined };
  if (!authorisation || (authorisation.approach === 'oauth' && !oauth)) return undefined;
  // The TPP asks the customer.
  if (authorisation.approach === 'embedded') return undefined;
  const matter = askedOf(bank, authorisation.subject);
  if (oauth && mayLogInAgain(bank, authorisation)) return matter && { id, oauth, authorisation, matter };
  if (!door.authorisations.isOpen(authorisation)) return undefined;
  return matter && isWaiting(bank, matter) ? { id, oauth, authorisation, matter } : undefined;
}

function customerWithId({ customers }: Bank, customerId: string): Customer {
  const customer = customers.find(customerId);
  if (customer) return customer;
  throw new RangeError(`There is no customer ${customerId}`);
}

function requestOf(bank: Bank, { id, authorisation, matter, next }: Open): AccessRequest {
  const consent = matter?.kind === 'consent' ? matter.consent : undefined;
  const isPayment = matter !== undefined && matter.kind !== 'consent';
  return {
    id,
    tppName: bank.tppName,
    user: authorisation?.psuId ?? next?.user,
    consent: consent && {
      id: consent.id,
      forFunds: consent.type === 'funds',
      recurring: consent.recurring,
      until: consent.validUntil,
      frequencyPerDay: consent.frequencyPerDay,
    },
    payments: isPayment
      ? {
          cancels: matter.kind === 'cancellation',
          all: paymentsIn(matter).map((payment) => paymentShown(bank, payment)),
        }
      : undefined,
  };
}

function shownOf(bank: Bank, { matter }: Open, customer: Customer): AccessShown | undefined {
  if (!matter) return { accounts: [], choose: false, authorisedBy: [], alsoNeeded: [] };
  const persons = personsIn(bank, matter, customer);
  if (matter.kind !== 'consent') {
    if (!isCustomers(matter, customer, undefined)) return undefined;
    const choose = paymentsIn(matter).some(({ debtor }) => debtor === undefined);
    const accounts = payingAccounts(customer).map(({ productId, description, iban }) => ({
      productId,
      description,
      number: iban,
      rights: [],
    }));
    return { accounts: choose ? accounts : [], choose, ...persons };
  }
  const { consent } = matter;
  const grants = grantsFor(consent, customer, undefined);
  if (!grants) return undefined;
  return {
    ...persons,
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

/** The names of the other holders of a company account: who has authorised it, and who must besides this customer. */
function personsIn(
  bank: Bank,
  matter: Asked,
  { customerId }: Customer,
): Pick<AccessShown, 'authorisedBy' | 'alsoNeeded'> {
  const { approved, missing } = holdersIn(bank, matter, { customerId, chosen: undefined });
  const namesOf = (ids: readonly string[]) =>
    ids
      .filter((id) => id !== customerId)
      .flatMap((id) => bank.customers.find(id) ?? [])
      .map(({ firstName, lastName }) => `${firstName} ${lastName}`);
  return { authorisedBy: namesOf(approved), alsoNeeded: namesOf(missing) };
}

/** Begins the authorisation of somebody who decides at the bank, and was not sent there. */
function begun(bank: Bank, { next, authorisation }: Open): Authorisation | undefined {
  if (!next) return authorisation;
  const nowhere = { redirectUri: undefined, nokRedirectUri: undefined };
  return doorOf(bank).authorisations.start(next.subject, {
    ...nowhere,
    approach: 'decoupled',
    psuId: next.user,
  });
}

function approve(
  bank: Bank,
  open: Open,
  customer: Customer,
  chosen: readonly string[] | undefined,
): URL | undefined {
  const { oauth, matter, next } = open;
  const { customerId, user } = customer;
  const named = next?.user ?? open.authorisation?.psuId;
  if (named !== undefined && named !== user) throw new RangeError(`The request is not for ${user}`);
  const authorisation = begun(bank, open);
  let redirect = authorisation?.redirectUri === undefined ? undefined : new URL(authorisation.redirectUri);
  if (authorisation && matter) {
    if (!isCustomers(matter, customer, chosen)) throw new RangeError(`${user} does not have these accounts`);
  }
  if (authorisation && matter && doorOf(bank).authorisations.isOpen(authorisation)) {
    chooseDebtor(matter, customer, chosen?.[0]);
    const planned = plannedSca(matter);
    if (planned !== undefined) return undecided(bank, { oauth, authorisation }, planned);
    const isFinished = doorOf(bank).authorisations.approve(authorisation, { customerId, chosen });
    if (isFinished) carryOut(bank, matter, { customerId, chosen });
    const code = authorisation.confirmationCode;
    if (code !== undefined) redirect?.searchParams.append('confirmationCode', code);
  }
  if (oauth) {
    const grant = {
      scope: oauth.scope,
      customerId,
      consentId: matter?.kind === 'consent' ? matter.consent.id : undefined,
      paymentId: paymentOf(matter),
    };
    redirect = doorOf(bank).logins.allow(oauth, grant, doorUrl(bank));
  }
  return redirect;
}

/** The payment, or the basket of payments, that a login is for. */
function paymentOf(matter: Asked | undefined): string | undefined {
  switch (matter?.kind) {
    case 'payment':
    case 'cancellation':
      return matter.payment.id;
    case 'basket':
      return matter.basket.id;
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
