import { urlFrom } from '../../domain/url.ts';
import { Psd2Error } from '../../errors.ts';
import { generatedPassword, numberOfUser } from '../customers/generated-customers.ts';
import {
  addressOf,
  Browse,
  type Form,
  type Page,
  type PageAnswer,
  type PageRequest,
  readPage,
  submit,
} from './browse.ts';

const MAX_STEPS = 10;
const YES = ['allow', 'approve'];
const NO = 'refuse';

interface CustomerOptions {
  /** Refuse on the first page that has a button for it. */
  refuse?: boolean;
  /** The user that logs in. Default: the first customer on the login page. */
  user?: string;
  /** Default: the password that the login page shows for the user. */
  password?: string;
  signal?: AbortSignal;
}

/** The pages that the customer saw. */
interface CustomerWalk {
  /**
   * The address that they were sent back to: without the query, which can contain a code, if it was opened. Otherwise whole,
   * because a browser would go there.
   */
  finalUrl: string;
  /** Whether the address was opened. */
  opened: boolean;
  /** The titles of all pages, including the last one. */
  pages: string[];
}

/**
 * Plays the customer of the sandbox without a browser: logs in, then allows, approves or refuses. Ends at the first page
 * on another host than that of `url`: the callback of the TPP. Or, if no browser goes back, at a page with nothing more to decide.
 * Once the customer has decided, it does not matter whether anybody answers there.
 *
 * @param url a login or SCA address of the sandbox's customer site; `http:` or `https:` on loopback.
 * @throws Psd2Error `sandbox`: an address is not on this computer, a page has no form to continue with, an answer is not
 *   2xx, or there are more than ten pages and redirects. Rejects with the signal's reason if it aborts.
 */
export async function playCustomer(url: string, options: CustomerOptions = {}): Promise<CustomerWalk> {
  const first = urlFrom(url);
  if (!first) throw new Psd2Error('sandbox', 'The sandbox customer needs an absolute URL to open');
  const browse = new Browse();
  const site = first.host;
  const pages: string[] = [];
  let request: PageRequest = { url: first };
  let hasDecided = false;
  for (let step = 0; step < MAX_STEPS; step++) {
    const back = request.url.host !== site;
    const sent = browse.send(request, options.signal);
    const answer = await (back && hasDecided ? sent.catch(ignoreFailure) : sent);
    if (answer === undefined) return { finalUrl: request.url.href, pages, opened: false };
    if (!back && isRedirect(answer)) {
      request = { url: redirectOf(answer, request.url) };
      continue;
    }
    const page = readPage(answer.html, request.url);
    // A callback may redirect into the TPP's application. The customer has nothing to do there.
    if (!isPage(answer) && !(back && (hasDecided || isRedirect(answer))))
      throw new Psd2Error('sandbox', `${addressOf(request.url)} answered ${answer.status}: ${page.message}`);
    pages.push(page.title);
    if (back) return { finalUrl: addressOf(request.url), pages, opened: true };
    const decision = decide(page, options);
    if (!decision && hasDecided) return { finalUrl: addressOf(request.url), pages, opened: true };
    if (!decision)
      throw new Psd2Error(
        'sandbox',
        `${addressOf(request.url)} has no form to continue with: ${page.message}`,
      );
    hasDecided ||= decision.isFinal;
    request = decision.request;
  }
  throw new Psd2Error('sandbox', `The customer site led to more than ${MAX_STEPS} pages and redirects`);
}

/** Nobody has to answer at the callback. */
function ignoreFailure(error: unknown): undefined {
  if (!(error instanceof Psd2Error)) throw error;
}

function isPage({ status }: PageAnswer): boolean {
  return status >= 200 && status <= 299;
}

function isRedirect({ status }: PageAnswer): boolean {
  return [301, 302, 303].includes(status);
}

function redirectOf({ redirect, status }: PageAnswer, from: URL): URL {
  if (redirect) return redirect;
  throw new Psd2Error('sandbox', `${addressOf(from)} answered ${status} without an address to redirect to`);
}

interface Decision {
  request: PageRequest;
  /** The customer said yes or no, and did not only log in. */
  isFinal: boolean;
}

/** Chooses the form and the button for a page. Undefined: the page has none. */
function decide(page: Page, options: CustomerOptions): Decision | undefined {
  const refusal = options.refuse && press(page.forms, (value) => value === NO);
  if (refusal) return { request: refusal, isFinal: true };
  const login = page.forms.find(({ fields }) => fields.some(({ type }) => type === 'password'));
  if (login) return { request: logIn(login, page, options), isFinal: false };
  const approval = press(page.forms, (value) => YES.includes(value));
  return approval && { request: approval, isFinal: true };
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
      hint: users === '' ? 'Give the user and the password.' : `It has these users: ${users}.`,
    });
  }
  return submit(form, button, { user, password });
}
