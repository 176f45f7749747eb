import { Psd2Error } from '../../errors.ts';
import { generatedPassword, numberOfUser } from '../customers/generated-customers.ts';
import { Browse, type PageAnswer, type PageRequest, placeOf } from './browse.ts';
import { type Form, type Page, readPage, submit } from './page.ts';

const MAX_STEPS = 10;
const YES = ['allow', 'approve'];
const NO = 'refuse';

export interface CustomerOptions {
  /** Refuse at the first page that offers it. */
  refuse?: boolean;
  /** Who logs in. Default: the first customer that the login page shows. */
  user?: string;
  /** Default: the one that the login page shows for the user. */
  password?: string;
  signal?: AbortSignal;
}

/** How the customer went. */
export interface CustomerWalk {
  /** Where they were sent back to, without the query, which can hold a code. */
  finalUrl: string;
  /** The titles of the pages that they saw, the last one included. */
  pages: string[];
}

/**
 * Plays the customer of the sandbox without a browser: logs in, allows or approves (or refuses), and ends at the
 * first page of another host than the one that `url` is on, the callback of the third-party provider.
 *
 * @param url a login or SCA address of the sandbox's customer site; `http:` or `https:` on loopback.
 * @throws Psd2Error `sandbox`: an address that is not on this computer, a page without a form to go on with,
 *   an answer other than 2xx, more than ten pages and redirects. Rejects with the signal's reason when it aborts.
 */
export async function playCustomer(url: string, options: CustomerOptions = {}): Promise<CustomerWalk> {
  if (!URL.canParse(url))
    throw new Psd2Error('sandbox', 'The sandbox customer needs an absolute URL to open');
  const browse = new Browse();
  const site = new URL(url).host;
  const pages: string[] = [];
  let request: PageRequest = { url: new URL(url) };
  for (let step = 0; step < MAX_STEPS; step++) {
    const answer = await browse.send(request, options.signal);
    const back = request.url.host !== site;
    if (!back && isRedirect(answer)) {
      request = { url: redirectOf(answer, request.url) };
      continue;
    }
    const page = readPage(answer.html, request.url);
    // A callback may lead on into the provider's application, where the customer's part is over.
    if (!isPage(answer) && !(back && isRedirect(answer))) {
      throw new Psd2Error('sandbox', `${placeOf(request.url)} answered ${answer.status}: ${page.message}`);
    }
    pages.push(page.title);
    if (back) return { finalUrl: placeOf(request.url), pages };
    request = decide(page, request.url, options);
  }
  throw new Psd2Error('sandbox', `The customer site led to more than ${MAX_STEPS} pages and redirects`);
}

function isPage({ status }: PageAnswer): boolean {
  return status >= 200 && status <= 299;
}

function isRedirect({ status }: PageAnswer): boolean {
  return [301, 302, 303].includes(status);
}

function redirectOf({ redirect, status }: PageAnswer, from: URL): URL {
  if (redirect) return redirect;
  throw new Psd2Error('sandbox', `${placeOf(from)} answered ${status} without an address to go on to`);
}

/** The form that the customer fills and the button that they press on a page. */
function decide(page: Page, url: URL, options: CustomerOptions): PageRequest {
  const refusal = options.refuse && press(page.forms, (value) => value === NO);
  if (refusal) return refusal;
  const login = page.forms.find(({ fields }) => fields.some(({ type }) => type === 'password'));
  if (login) return logIn(login, page, options);
  const approval = press(page.forms, (value) => YES.includes(value));
  if (approval) return approval;
  throw new Psd2Error('sandbox', `${placeOf(url)} shows no form to go on with: ${page.message}`);
}

function press(forms: Form[], wanted: (value: string) => boolean): PageRequest | undefined {
  for (const form of forms) {
    const button = form.buttons.find(({ value }) => wanted(value));
    if (button) return submit(form, button);
  }
  return undefined;
}

function logIn(form: Form, page: Page, options: CustomerOptions): PageRequest {
  const shown = page.forms.flatMap(({ fields }) => {
    const hidden = (wanted: string) =>
      fields.find(({ name, type }) => name === wanted && type === 'hidden')?.value;
    const [user, password] = [hidden('user'), hidden('password')];
    return user !== undefined && password !== undefined ? [{ user, password }] : [];
  });
  const user = options.user ?? shown[0]?.user;
  const password =
    options.password ??
    shown.find((customer) => customer.user === user)?.password ??
    (numberOfUser(user ?? '') === undefined ? undefined : generatedPassword(user ?? ''));
  const button = form.buttons.find(({ value }) => value !== NO);
  if (user === undefined || password === undefined || !button) {
    const users = shown.map((customer) => customer.user).join(', ');
    throw new Psd2Error('sandbox', `The login page shows no password for ${user ?? 'any user'}`, {
      hint: users === '' ? 'Give the user and the password.' : `It shows: ${users}.`,
    });
  }
  return submit(form, button, { user, password });
}
