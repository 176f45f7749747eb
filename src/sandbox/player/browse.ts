import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type HTMLElement, parse } from 'node-html-parser';
import { isLoopback } from '../../domain/local-address.ts';
import { urlFrom } from '../../domain/url.ts';
import { Psd2Error } from '../../errors.ts';
import { beginTimeLimit } from '../../time-limit.ts';

const TIMEOUT_MS = 10_000;
const MAX_PAGE_BYTES = 1_048_576;

/** What a browser sends when a link is followed or a form submitted. */
export interface PageRequest {
  url: URL;
  /** The form's fields, sent with POST. Undefined: GET. */
  form?: URLSearchParams;
}

export interface PageAnswer {
  status: number;
  /** `Location`, resolved. */
  redirect: URL | undefined;
  html: string;
}

/** A minimal browser: requests, forms, and cookies for each host. It connects only to this computer. */
export class Browse {
  readonly #cookies = new Map<string, Map<string, string>>();

  /**
   * Sends one request. Does not follow redirects.
   *
   * @throws Psd2Error `sandbox`: the address is on another computer, nothing answers, or the page is too large. The message
   *   never contains the query.
   */
  async send({ url, form }: PageRequest, signal: AbortSignal | undefined): Promise<PageAnswer> {
    if (!isLoopback(url))
      throw new Psd2Error(
        'sandbox',
        `The sandbox customer does not open ${url.origin}: it is not on this computer`,
        { hint: 'Open the address in a browser.' },
      );
    const limit = beginTimeLimit(TIMEOUT_MS, signal);
    try {
      const answer = await this.#exchange(url, form, limit.signal);
      this.#keepCookies(url, answer.headers['set-cookie'] ?? []);
      const location = answer.headers.location;
      return {
        status: answer.statusCode ?? 0,
        redirect: location === undefined ? undefined : urlFrom(location, url),
        html: await answerBody(answer),
      };
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof Psd2Error) throw cause;
      throw new Psd2Error('sandbox', `${addressOf(url)} does not answer`, {
        hint: 'Check that the sandbox, and the command that waits for the customer, still run.',
        cause,
      });
    } finally {
      limit.clear();
    }
  }

  #exchange(url: URL, form: URLSearchParams | undefined, signal: AbortSignal): Promise<IncomingMessage> {
    const cookies = [...(this.#cookies.get(url.host) ?? [])].map(([name, value]) => `${name}=${value}`);
    const headers = {
      Accept: 'text/html',
      ...(cookies.length > 0 ? { Cookie: cookies.join('; ') } : {}),
      ...(form ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {}),
    };
    const options = { method: form ? 'POST' : 'GET', headers, signal, agent: false };
    return new Promise((resolve, reject) => {
      // An https callback on this computer has a self-signed certificate. The customer accepts it.
      const request =
        url.protocol === 'https:'
          ? httpsRequest(url, { ...options, rejectUnauthorized: false }, resolve)
          : httpRequest(url, options, resolve);
      request.on('error', reject).end(form?.toString());
    });
  }

  #keepCookies(url: URL, lines: string[]): void {
    const jar = this.#cookies.get(url.host) ?? new Map<string, string>();
    for (const line of lines) {
      const [, name, value] = /^\s*([^=;]+?)\s*=\s*([^;]*)/.exec(line) ?? [];
      if (name === undefined || value === undefined) continue;
      if (/;\s*max-age=(0|-)/i.test(line)) jar.delete(name);
      else jar.set(name, value.trim());
    }
    this.#cookies.set(url.host, jar);
  }
}

/** An address without its query, which can contain a code. */
export function addressOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

async function answerBody(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MAX_PAGE_BYTES)
      throw new Psd2Error('sandbox', 'The customer site sent a page larger than 1 MiB');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface Field {
  name: string;
  value: string;
  type: string;
}

interface Button {
  name: string;
  value: string;
}

/** A form of a page, and the values that it would send. */
export interface Form {
  fields: Field[];
  buttons: Button[];
  action: URL;
  post: boolean;
}

/** A page of the customer site. */
export interface Page {
  title: string;
  /** The page's error message, or else its heading. */
  message: string;
  forms: Form[];
}

/** Reads a page and its forms (the part of HTML section 4.10.21, "Form submission", that the site uses). */
export function readPage(html: string, url: URL): Page {
  const root = parse(html);
  const textOf = (selector: string) => root.querySelector(selector)?.text.replace(/\s+/g, ' ').trim() ?? '';
  return {
    title: textOf('title'),
    message: textOf('[role=alert]') || textOf('h1') || textOf('title'),
    forms: root.querySelectorAll('form').map((form) => ({
      fields: form.querySelectorAll('input').flatMap(formFields),
      buttons: form
        .querySelectorAll('button')
        .filter((button) => (button.getAttribute('type') ?? 'submit') === 'submit')
        .map((button) => ({
          name: button.getAttribute('name') ?? '',
          value: button.getAttribute('value') ?? '',
        })),
      action: new URL(form.getAttribute('action') ?? '', url),
      post: form.getAttribute('method')?.toLowerCase() === 'post',
    })),
  };
}

function formFields(input: HTMLElement): Field[] {
  const name = input.getAttribute('name');
  const type = input.getAttribute('type')?.toLowerCase() ?? 'text';
  const value = input.getAttribute('value') ?? '';
  // Of the choices of a question, the one that is made is sent.
  if (type === 'radio' && input.getAttribute('checked') === undefined) return [];
  return name === undefined || ['submit', 'button', 'reset', 'image', 'file'].includes(type)
    ? []
    : [{ name, type, value }];
}

/** The request that a form sends when a button is pressed. Values in `filled` replace those of the fields. */
export function submit(form: Form, button: Button, filled: Record<string, string> = {}): PageRequest {
  const sent = new URLSearchParams();
  for (const { name, value } of form.fields) sent.append(name, filled[name] ?? value);
  if (button.name !== '') sent.append(button.name, button.value);
  if (form.post) return { url: form.action, form: sent };
  const url = new URL(form.action);
  url.search = sent.toString();
  return { url };
}
