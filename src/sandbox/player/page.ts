import { type HTMLElement, parse } from 'node-html-parser';
import type { PageRequest } from './browse.ts';

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
      fields: form.querySelectorAll('input').flatMap(fieldOf),
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

function fieldOf(input: HTMLElement): Field[] {
  const name = input.getAttribute('name');
  const type = input.getAttribute('type')?.toLowerCase() ?? 'text';
  const value = input.getAttribute('value') ?? '';
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
