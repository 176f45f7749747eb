import { describe, expect, onTestFinished, test } from 'vitest';
import { addressOf, Browse, type Form, readPage, submit } from '../../../src/sandbox/player/browse.ts';
import { freePort } from '../../support/free-port.ts';
import { serve } from '../fake-bank.ts';

const HERE = new URL('http://127.0.0.1:1/at/page?code=secret');

test.each([
  ['http://127.0.0.1:1/at/page?code=secret#x', 'http://127.0.0.1:1/at/page'],
  ['https://tpp.example', 'https://tpp.example/'],
])('the address of %s is %s', (url, address) => {
  expect(addressOf(new URL(url))).toBe(address);
});

describe('a page', () => {
  test.each<[html: string, title: string, message: string]>([
    ['<title>T</title><h1>H</h1><p role=alert>A</p>', 'T', 'A'],
    ['<title>T</title><h1>H</h1><p role=alert> </p>', 'T', 'H'],
    ['<title>T</title><h1>H</h1>', 'T', 'H'],
    ['<title>T</title>', 'T', 'T'],
    ['<title> a\n\t b </title><h1> c &amp;\n d </h1>', 'a b', 'c & d'],
    ['', '', ''],
  ])('%s has the title %s and says %s', (html, title, message) => {
    expect(readPage(html, HERE)).toEqual({ title, message, forms: [] });
  });

  const form = (html: string) => readPage(`<form>${html}</form>`, HERE).forms[0] ?? expect.unreachable();
  const fields = (html: string) =>
    form(html).fields.map(({ name, type, value }) => `${name} ${type} ${value}`);
  test.each<[html: string, fields: string[]]>([
    ['<input name=a value=1>', ['a text 1']],
    ['<input name=a>', ['a text ']],
    ['<input value=1>', []],
    ['<input name=a type=HIDDEN value=1><input name=b type=password>', ['a hidden 1', 'b password ']],
    ['<input name=a value="&lt;&quot;">', ['a text <"']],
    ...['submit', 'button', 'reset', 'image', 'file', 'Submit'].map((type): [string, string[]] => [
      `<input name=a type=${type} value=1>`,
      [],
    ]),
    [
      '<input type=radio name=a value=1><input type=radio name=a value=2 checked><input type=radio name=a value=3>',
      ['a radio 2'],
    ],
    ['<input type=checkbox name=a value=1>', ['a checkbox 1']],
  ])('the form of %s sends %j', (html, sent) => {
    expect(fields(html)).toEqual(sent);
  });

  test.each<[html: string, buttons: object[]]>([
    ['<button>Go</button>', [{ name: '', value: '' }]],
    ['<button name=a value=1>Go</button>', [{ name: 'a', value: '1' }]],
    ['<button type=submit name=a>Go</button>', [{ name: 'a', value: '' }]],
    ['<button type=button name=a>Go</button>', []],
    ['<button type=reset>Go</button>', []],
    [
      '<button name=a value=1></button><button name=a value=2></button>',
      [
        { name: 'a', value: '1' },
        { name: 'a', value: '2' },
      ],
    ],
  ])('the form of %s has the buttons %j', (html, buttons) => {
    expect(form(html).buttons).toEqual(buttons);
  });

  test.each<[attributes: string, action: string, post: boolean]>([
    ['', HERE.href, false],
    ['action=""', HERE.href, false],
    ['action=next', 'http://127.0.0.1:1/at/next', false],
    ['action=/next method=post', 'http://127.0.0.1:1/next', true],
    ['action=https://tpp.example/ method=POST', 'https://tpp.example/', true],
    ['method=get', HERE.href, false],
    ['method=dialog', HERE.href, false],
  ])('the form <form %s> goes to %s (with POST: %s)', (attributes, action, post) => {
    const [one, ...others] = readPage(`<form ${attributes}></form>`, HERE).forms;
    expect([one?.action.href, one?.post, others]).toEqual([action, post, []]);
  });

  test('has each form with its own fields, in order', () => {
    const { forms } = readPage('<form><input name=a></form><input name=x><form><input name=b></form>', HERE);
    expect(forms.map((one) => one.fields.map(({ name }) => name))).toEqual([['a'], ['b']]);
  });
});

describe('a form that is sent', () => {
  const form = (changes: Partial<Form> = {}): Form => ({
    fields: [
      { name: 'a', type: 'text', value: '1 &' },
      { name: 'b', type: 'password', value: '' },
    ],
    buttons: [],
    action: new URL('http://127.0.0.1:1/go?old=1'),
    post: true,
    ...changes,
  });
  const NAMED = { name: 'd', value: 'approve' };

  test.each<
    [
      what: string,
      form: Form,
      button: typeof NAMED,
      filled: Record<string, string>,
      url: string,
      body: string | undefined,
    ]
  >([
    ['with POST', form(), NAMED, {}, 'http://127.0.0.1:1/go?old=1', 'a=1+%26&b=&d=approve'],
    ['with GET', form({ post: false }), NAMED, {}, 'http://127.0.0.1:1/go?a=1+%26&b=&d=approve', undefined],
    [
      'with a button without a name',
      form(),
      { name: '', value: 'x' },
      {},
      'http://127.0.0.1:1/go?old=1',
      'a=1+%26&b=',
    ],
    [
      'with what the customer fills in',
      form(),
      NAMED,
      { b: 'p', c: 'x' },
      'http://127.0.0.1:1/go?old=1',
      'a=1+%26&b=p&d=approve',
    ],
    [
      'with an empty text filled in',
      form(),
      NAMED,
      { a: '' },
      'http://127.0.0.1:1/go?old=1',
      'a=&b=&d=approve',
    ],
    [
      'with a name twice',
      form({
        fields: [
          { name: 'a', type: 'hidden', value: '1' },
          { name: 'a', type: 'hidden', value: '2' },
        ],
      }),
      ...([NAMED, {}, 'http://127.0.0.1:1/go?old=1', 'a=1&a=2&d=approve'] as const),
    ],
  ])('%s', (_, sent, button, filled, url, body) => {
    const request = submit(sent, button, filled);
    expect([request.url.href, request.form?.toString()]).toEqual([url, body]);
    expect(sent.action.href).toBe('http://127.0.0.1:1/go?old=1');
  });
});

describe('the browser', () => {
  /** A site that notes each call, and answers with these headers in turn. */
  async function site(...answers: Record<string, string | string[]>[]) {
    const calls: string[] = [];
    const { origin, close } = await serve((request, response) => {
      const { accept, cookie = 'none', 'content-type': type = 'none' } = request.headers;
      calls.push(`${request.method} ${request.url}: ${accept}, ${type}, ${cookie}`);
      const { status = '200', ...headers } = answers[calls.length - 1] ?? {};
      response.writeHead(Number(status), headers).end('<title>ü</title>');
    });
    onTestFinished(close);
    return { calls, at: (path = '/') => ({ url: new URL(path, origin) }), origin };
  }

  test('sends a link with GET, and a form with POST', async () => {
    const { calls, at } = await site();
    const browse = new Browse();
    const page = await browse.send(at('/a?b=1'), undefined);
    await browse.send({ ...at('/c'), form: new URLSearchParams({ d: '1' }) }, undefined);
    expect([page, calls]).toEqual([
      { status: 200, redirect: undefined, html: '<title>ü</title>' },
      ['GET /a?b=1: text/html, none, none', 'POST /c: text/html, application/x-www-form-urlencoded, none'],
    ]);
  });

  test.each([
    ['/next', '{origin}/next'],
    ['next?a=1', '{origin}/at/next?a=1'],
    ['https://tpp.example/', 'https://tpp.example/'],
    ['http://[', undefined],
  ])('is sent on to %s: %s', async (location, address) => {
    const { at, origin } = await site({ status: '303', location });
    const { status, redirect } = await new Browse().send(at('/at/page'), undefined);
    expect([status, redirect?.href]).toEqual([303, address?.replace('{origin}', origin)]);
  });

  test.each<[what: string, cookies: string[][], sent: string]>([
    ['no cookie', [[]], 'none'],
    ['two', [['a=1; Path=/', 'b=2']], 'a=1; b=2'],
    ['another value', [['a=1', 'b=2'], ['a=3']], 'a=3; b=2'],
    ['one that ends', [['a=1', 'b=2'], ['a=x; Max-Age=0']], 'b=2'],
    ['one that has ended', [['a=1', 'b=2'], ['a=x;max-age=-1']], 'b=2'],
    ['one that lives', [['a=1; Max-Age=10']], 'a=1'],
    ['an empty one', [['a=; HttpOnly', 'b=2']], 'a=; b=2'],
    ['one with blanks', [[' a = 1 ; Path=/']], 'a=1'],
    ['what is none', [['a', '=1', 'b=2']], 'b=2'],
    ['the last of all', [['a=1'], ['a=; Max-Age=0']], 'none'],
  ])('keeps %s', async (_, cookies, sent) => {
    const { calls, at } = await site(...cookies.map((lines) => ({ 'set-cookie': lines })));
    const browse = new Browse();
    for (const _each of [...cookies, []]) await browse.send(at(), undefined);
    expect(calls.at(-1)).toBe(`GET /: text/html, none, ${sent}`);
  });

  test('keeps the cookies of each address apart', async () => {
    const [one, other] = [await site({ 'set-cookie': 'a=1' }), await site({ 'set-cookie': 'b=2' })];
    const browse = new Browse();
    for (const each of [one, other, one, other]) await browse.send(each.at(), undefined);
    expect([one, other].map(({ calls }) => calls[1])).toEqual([
      'GET /: text/html, none, a=1',
      'GET /: text/html, none, b=2',
    ]);
  });

  test('opens nothing on another computer', async () => {
    const url = new URL('https://tpp.example/callback?code=secret');
    await expect(new Browse().send({ url }, undefined)).rejects.toMatchObject({
      ...{ code: 'sandbox', hint: 'Open the address in a browser.' },
      message: 'The sandbox customer does not open https://tpp.example: it is not on this computer',
    });
  });

  test('says what does not answer, without the query', async () => {
    const url = new URL(`http://127.0.0.1:${await freePort()}/callback?code=secret`);
    await expect(new Browse().send({ url }, undefined)).rejects.toMatchObject({
      ...{ code: 'sandbox', message: `${addressOf(url)} does not answer`, cause: expect.any(Error) },
      hint: 'Check that the sandbox, and the command that waits for the customer, still run.',
    });
  });

  test.each([
    [1_048_576, undefined],
    [1_048_577, 'The customer site sent a page larger than 1 MiB'],
  ])('reads a page of %i bytes: %s', async (length, message) => {
    const { origin, close } = await serve((_, response) => response.end('x'.repeat(length)));
    onTestFinished(close);
    const sent = new Browse().send({ url: new URL(origin) }, undefined).then(
      ({ html }) => html.length,
      (error: Error) => error.message,
    );
    expect(await sent).toBe(message ?? length);
  });
});
