import { expect, it } from 'vitest';
import { urlFrom } from '../../src/domain/url.ts';

it.each<[text: string, base: string | undefined, href: string | undefined]>([
  ['https://bänk.example/x', undefined, 'https://xn--bnk-qla.example/x'],
  ['/ä?b', 'https://bank.example/x', 'https://bank.example/%C3%A4?b'],
  ['x', undefined, undefined],
  ['http://[', 'https://bank.example', undefined],
])('%s at %s is %s, however often it is asked', (text, base, href) => {
  // V8 optimises a function after some thousand calls.
  const hrefs = new Set(Array.from({ length: 20_000 }, () => urlFrom(text, base)?.href));
  expect([...hrefs]).toEqual([href]);
});
